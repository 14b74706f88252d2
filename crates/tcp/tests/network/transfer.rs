//! An ideal path: nothing is repaired.

use ropewalk_tcp::{Config, Event, State};
use ropewalk_testnet::{Finish, Line, Stack, both_ways, tcp_network};
use ropewalk_units::{Duration, Instant};

#[test]
fn a_stream_crosses_an_ideal_path() {
    let mut classic = Config::classic();
    // The delayed ACK of the single first segment must come before the least RTO.
    classic.delayed_ack.timeout = Duration::from_millis(100);
    for config in [Config::linux(), classic] {
        let lines = both_ways(Line::ideal(Duration::from_millis(10)));
        let mut network = tcp_network([config.clone(), config], [100_000, 0], lines, 1);
        network.host_mut(1).application_mut().finish = Finish::AfterPeer;
        network.run(Instant::MAX);
        let [client, server] = network.hosts();
        assert_eq!(server.application().received, 100_000);
        assert!(server.application().is_complete());
        assert_eq!(client.connection().state(), State::Closed);
        assert_eq!(server.connection().state(), State::Closed);
        let stats = client.connection().stats();
        assert_eq!(stats.retransmissions, 0, "{stats:?}");
        assert_eq!(client.events()[0], Event::Established);
    }
}
