//! Two connections and a delay: what needs private state. Whole networks are in `tests/network`.

use super::{Accepting, Connecting, Connection};
use crate::keys::INITIAL_DSN;
use crate::{Config, Event, Path, Secret, SubflowId};
use ropewalk_units::{Dsn, Duration, Instant, Seq};
use ropewalk_wire::Segment;
use std::collections::VecDeque;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

const DELAY: Duration = Duration::from_millis(10);

/// What is on its way, with the number of its subflow, which is the same at both ends.
type OnWay = VecDeque<(Instant, SubflowId, Segment)>;

/// One end, and what is on its way to it. Not the test network, because the tests look into the connection.
struct End {
    connection: Connection,
    coming: OnWay,
    /// Segments sent; one in some with data is lost.
    sent: u64,
    to_write: u64,
    read: u64,
    closed: bool,
}

impl End {
    fn new(connection: Connection, to_write: u64) -> Self {
        Self { connection, coming: VecDeque::new(), sent: 0, to_write, read: 0, closed: false }
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
        if self.to_write == 0 {
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

fn address(path: u8, host: u8, port: u16) -> SocketAddr {
    SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, 0, path, host)), port)
}

/// Both directions carry so many octets over two subflows.
fn exchange(config: &Config, octets: u64) {
    let path = Path { local: address(0, 1, 40_000), remote: address(0, 2, 5001) };
    let second = Path { local: address(1, 1, 0), remote: address(1, 2, 5001) };
    let connecting = Connecting { paths: vec![path, second], iss: Seq::new(1), secret: Secret([7; 32]) };
    let client = Connection::connect(config.clone(), connecting, Instant::ZERO);
    let (mut client, mut now) = (End::new(client, octets), Instant::ZERO);
    let mut to_server = OnWay::new();
    client.step(now, &mut to_server);
    let (_, _, syn) = to_server.pop_front().expect("a SYN");
    let path = Path { local: path.remote, remote: path.local };
    let local_addresses = vec![path.local, second.remote];
    let accepting = Accepting { path, local_addresses, iss: Seq::new(2), secret: Secret([9; 32]) };
    let server = Connection::accept(config.clone(), accepting, &syn, now);
    let mut server = End::new(server, octets);
    while !(client.closed && server.closed) {
        server.step(now, &mut client.coming);
        client.step(now, &mut server.coming);
        now = now.max(client.next().min(server.next()));
        assert!(now < Instant::ZERO + Duration::from_secs(300), "it hangs");
    }
    assert_eq!((client.read, server.read), (octets, octets));
    let carried = |id| client.connection.subflow(SubflowId(id)).map(|flow| flow.tcp().stats().bytes_acked);
    assert!(carried(0) > Some(100_000) && carried(1) > Some(100_000), "{:?} {:?}", carried(0), carried(1));
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
