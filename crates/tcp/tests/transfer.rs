//! Two connections joined back to back.

use ropewalk_tcp::{Config, Connection, Event, State};
use ropewalk_units::{Duration, Instant, Seq};
use ropewalk_wire::Payload;
use std::collections::VecDeque;

#[test]
fn a_stream_crosses_an_ideal_path() {
    let mut classic = Config::classic();
    // The delayed ACK of the single first segment must come before the least RTO.
    classic.delayed_ack.timeout = Duration::from_millis(100);
    for config in [Config::linux(), classic] {
        let delay = Duration::from_millis(10);
        let mut now = Instant::ZERO;
        let mut client = Connection::connect(config.clone(), Seq::new(77), now);
        let mut server: Option<Connection> = None;
        let mut to_server = VecDeque::new();
        let mut to_client = VecDeque::new();
        client.push(Payload { offset: 0, len: 100_000 });
        client.finish();
        let mut received = 0;
        for _ in 0..10_000 {
            while let Some(segment) = client.poll_transmit(now) {
                to_server.push_back((now + delay, segment));
            }
            if let Some(server) = &mut server {
                while let Some(piece) = server.read(u64::MAX) {
                    assert_eq!(piece.payload.offset, received);
                    assert_eq!(u64::from(piece.ssn.get()), received + 1);
                    received += u64::from(piece.payload.len);
                }
                if server.peer_finished() {
                    server.finish();
                }
                while let Some(segment) = server.poll_transmit(now) {
                    to_client.push_back((now + delay, segment));
                }
            }
            let next = [
                to_server.front().map(|(at, _)| *at),
                to_client.front().map(|(at, _)| *at),
                client.poll_timeout().map(|(at, _)| at),
                server.as_ref().and_then(Connection::poll_timeout).map(|(at, _)| at),
            ];
            let Some(next) = next.into_iter().flatten().min() else { break };
            now = now.max(next);
            if to_server.front().is_some_and(|(at, _)| *at <= now) {
                let (_, segment) = to_server.pop_front().unwrap();
                match &mut server {
                    Some(server) => server.handle_segment(now, &segment),
                    None => server = Some(Connection::accept(config.clone(), &segment, Seq::new(9), now)),
                }
            } else if to_client.front().is_some_and(|(at, _)| *at <= now) {
                let (_, segment) = to_client.pop_front().unwrap();
                client.handle_segment(now, &segment);
            } else {
                client.handle_timeout(now);
                if let Some(server) = &mut server {
                    server.handle_timeout(now);
                }
            }
        }
        assert_eq!(received, 100_000);
        assert_eq!(client.state(), State::Closed);
        assert_eq!(server.unwrap().state(), State::Closed);
        assert_eq!(client.stats().retransmissions, 0, "{:?}", client.stats());
        assert_eq!(client.poll_event(), Some(Event::Established));
    }
}
