//! An ideal path: nothing is repaired.

use super::{deliver, seconds, transfer};
use ropewalk_tcp::{Config, Event, State};
use ropewalk_testnet::{Finish, Line, Prediction, Stack, both_ways, tcp_network};
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

#[test]
fn nearly_every_segment_of_a_stream_is_expected() {
    let lines = both_ways(Line::ideal(Duration::from_millis(10)));
    let mut network = transfer([Config::linux(), Config::linux()], 1_000_000, lines, 1);
    (0..2).for_each(|side| network.host_mut(side).prediction = Some(Prediction::default()));
    deliver(&mut network, 1_000_000, seconds(60));
    for host in network.hosts() {
        let Prediction { expected, others } = host.prediction.expect("asked for");
        assert!(
            expected > 300 && others * 10 < expected,
            "{expected} segments were expected, {others} were not"
        );
    }
}
