//! Two connections and a delay: what needs private state. Whole networks are in `tests/network`.

use super::{Accepting, Connecting, Connection};
use crate::config::Coupling;
use crate::keys::INITIAL_DSN;
use crate::{Config, Event, Path, Secret, SubflowId};
use proptest::prelude::*;
use ropewalk_tcp::Acceptance;
use ropewalk_units::{Dsn, Duration, Instant, Seq};
use ropewalk_wire::{Generated, Segment};
use std::collections::VecDeque;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

const DELAY: Duration = Duration::from_millis(10);

/// What is on its way, with the number of its subflow, which is the same at both ends.
type OnWay = VecDeque<(Instant, SubflowId, Segment)>;

/// One end, and what is on its way to it.
struct End {
    connection: Connection,
    coming: OnWay,
    /// Segments sent; one in some with data is lost.
    sent: u64,
    to_write: u64,
    read: u64,
    closed: bool,
    /// It finishes when it has read so much.
    finish_after: u64,
    /// Each segment is taken both ways, and so many were expected.
    compares: bool,
    expected: u32,
}

impl End {
    fn new(connection: Connection, to_write: u64) -> Self {
        Self {
            connection,
            coming: VecDeque::new(),
            sent: 0,
            to_write,
            read: 0,
            closed: false,
            finish_after: 0,
            compares: false,
            expected: 0,
        }
    }

    fn next(&self) -> Instant {
        let arrival = self.coming.front().map_or(Instant::MAX, |(at, ..)| *at);
        arrival.min(self.connection.deadline())
    }

    /// What is due by now, then the application, then what leaves.
    fn step(&mut self, now: Instant, peer: &mut OnWay) {
        while self.coming.front().is_some_and(|(at, ..)| *at <= now) {
            let (_, id, segment) = self.coming.pop_front().expect("just seen");
            if self.connection.subflow(id).is_some() {
                if self.compares {
                    self.expected += u32::from(is_the_same_both_ways(&self.connection, now, id, &segment));
                }
                self.connection.handle_segment(now, id, &segment);
            } else {
                let path = Path { local: address(1, 2, 5001), remote: address(1, 1, 50_000) };
                let joined = self.connection.accept_join(now, path, &segment, Seq::new(3));
                assert_eq!(joined.ok(), Some(id), "{segment:?}");
            }
        }
        if self.connection.deadline() <= now {
            self.connection.handle_timeout(now);
        }
        while let Some(piece) = self.connection.read(u64::MAX) {
            assert_eq!(piece.offset, self.read, "whole, once and in order");
            self.read += u64::from(piece.len);
        }
        let space = self.connection.send_space().min(self.to_write);
        self.connection.push(space);
        self.to_write -= space;
        if self.to_write == 0 && self.read >= self.finish_after {
            self.connection.finish();
        }
        while let Some(event) = self.connection.poll_event() {
            self.closed |= event == Event::Closed;
            if let Event::SubflowWanted(wanted) = event {
                self.connection.open_subflow(now, wanted, Some((50_000, Seq::new(4))));
            }
        }
        while let Some((id, segment)) = self.connection.poll_transmit(now) {
            self.sent += 1;
            if segment.payload.len == 0 || !self.sent.is_multiple_of(101) {
                peer.push_back((now + DELAY, id, segment));
            }
        }
    }
}

/// Takes a segment in a copy as expected, if it is, and in another one the long way. After reading and polling both are the same
/// in every part. Was it expected?
fn is_the_same_both_ways(connection: &Connection, now: Instant, id: SubflowId, segment: &Segment) -> bool {
    let Some(at) = connection.subflows.place_of(id) else { return false };
    let (mut short, mut long) = (connection.clone(), connection.clone());
    let mut judge = |connection: &mut Connection| connection.subflows[at].tcp.judge(now, segment);
    let acceptance = judge(&mut long);
    if judge(&mut short) != Acceptance::Current || !short.take_expected(now, at, segment) {
        return false;
    }
    long.process_judged(&Generated, now, at, segment, acceptance);
    let settle = |connection: &mut Connection| -> Vec<_> {
        while connection.read(u64::MAX).is_some() {}
        std::iter::from_fn(|| connection.poll_transmit(now)).collect()
    };
    assert_eq!(settle(&mut short), settle(&mut long), "{segment:?}");
    assert_eq!(format!("{short:?}"), format!("{long:?}"), "{segment:?}");
    true
}

fn address(path: u8, host: u8, port: u16) -> SocketAddr {
    SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, 0, path, host)), port)
}

/// Both directions carry so many octets over two subflows.
fn exchange(config: &Config, octets: u64) {
    let [client, server] = ends(config, [octets; 2], false);
    assert_eq!((client.read, server.read), (octets, octets));
    let carried = |id| client.connection.subflow(SubflowId(id)).map(|flow| flow.tcp().stats().bytes_acked);
    assert!(carried(0) > Some(100_000) && carried(1) > Some(100_000), "{:?} {:?}", carried(0), carried(1));
}

/// The ends of a connection over two subflows that the client and the server have written so much to.
fn ends(config: &Config, octets: [u64; 2], compares: bool) -> [End; 2] {
    let path = Path { local: address(0, 1, 40_000), remote: address(0, 2, 5001) };
    let second = Path { local: address(1, 1, 0), remote: address(1, 2, 5001) };
    let connecting = Connecting { paths: vec![path, second], iss: Seq::new(1), secret: Secret([7; 32]) };
    let client = Connection::connect(config.clone(), connecting, Instant::ZERO);
    let (mut client, mut now) = (End::new(client, octets[0]), Instant::ZERO);
    (client.compares, client.finish_after) = (compares, if compares { octets[1] / 2 } else { 0 });
    let mut to_server = OnWay::new();
    client.step(now, &mut to_server);
    let (_, _, syn) = to_server.pop_front().expect("a SYN");
    let path = Path { local: path.remote, remote: path.local };
    let local_addresses = vec![path.local, second.remote];
    let accepting = Accepting { path, local_addresses, iss: Seq::new(2), secret: Secret([9; 32]) };
    let server = Connection::accept(config.clone(), accepting, &syn, now);
    let mut server = End::new(server, octets[1]);
    server.compares = compares;
    while !(client.closed && server.closed) {
        server.step(now, &mut client.coming);
        client.step(now, &mut server.coming);
        now = now.max(client.next().min(server.next()));
        assert!(now < Instant::ZERO + Duration::from_secs(300), "it hangs");
    }
    [client, server]
}

/// The first DSN is the initial one plus one.
#[test]
fn data_sequence_numbers_may_begin_anywhere_and_wrap() {
    let low_bits_wrap = (7 << 32) - 700_000;
    for initial in [0, u64::MAX, u64::MAX - 1, u64::MAX - 700_000, u64::MAX / 2 - 700_000, low_bits_wrap] {
        INITIAL_DSN.set(Some(Dsn::new(initial)));
        for checksum in [false, true] {
            exchange(&Config { checksum, ..Config::linux() }, 1_500_000);
        }
    }
    INITIAL_DSN.set(None);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// The short way for expected segments is only shorter. Losses leave holes on the subflows, two subflows leave them in the connection.
    #[test]
    fn what_is_expected_leaves_the_connection_as_the_long_way_does(
        octets in [0u64..300_000, 100_000u64..400_000],
        coupled in any::<bool>(),
        timestamps in any::<bool>(),
        trace in any::<bool>(),
        receive_buffer in 20_000u32..500_000,
    ) {
        let coupling = if coupled { Coupling::Lia } else { Coupling::Uncoupled };
        // While there is more to write, no DATA_FIN is due.
        let mut config = Config { coupling, trace, receive_buffer, send_buffer: 30_000, ..Config::linux() };
        config.tcp.timestamps = timestamps;
        let [client, server] = ends(&config, octets, true);
        prop_assert_eq!([server.read, client.read], octets);
        prop_assert!(client.expected > 20, "{} and {}", client.expected, server.expected);
    }
}
