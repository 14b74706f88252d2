//! Two hosts whose packets are carried by hand: late, lost, twice, and with strangers' packets
//! among them.

use super::opening::BACKLOG;
use super::*;
use crate::cookie;
use proptest::prelude::*;
use ropewalk_units::Duration;
use std::net::Ipv4Addr;

const PORT: u16 = 5001;
/// Bits of the octet of flags.
const FIN: u8 = 1;
const RST: u8 = 4;
const ACK: u8 = 16;

fn address(host: u8, path: u8) -> IpAddr {
    Ipv4Addr::new(10, 0, path, host).into()
}

fn host(number: u8, paths: u8) -> Host {
    let addresses = (0..paths).map(|path| address(number, path)).collect();
    Host::new(addresses, [1, 2, 3, u64::from(number)])
}

/// What happens to the packet of this number.
#[derive(Clone, Copy, Debug)]
enum Fate {
    Arrives,
    Lost,
    Twice,
    Late,
}

/// Both hosts, and what is on its way to each: when, in which order, and the octets. Not the test
/// network, because the tests look into sockets and change octets on their way.
struct Pair {
    hosts: [Host; 2],
    flying: BTreeMap<(Instant, u64), (usize, Vec<u8>)>,
    now: Instant,
    fates: Vec<Fate>,
    sent: usize,
    narrow: Option<Narrow>,
    /// What arrives in so short a time arrives together.
    window: Duration,
}

/// A router on the way that carries no more than this.
struct Narrow {
    mtu: usize,
    says: bool,
    /// It begins once so many packets have gone, from either side.
    after: usize,
    dropped: usize,
}

impl Pair {
    fn new(paths: u8, protocol: &Protocol, fates: Vec<Fate>) -> Self {
        let mut hosts = [host(1, paths), host(2, paths)];
        hosts[1].listen(PORT, protocol.clone());
        Self {
            hosts,
            flying: BTreeMap::new(),
            now: Instant::ZERO,
            fates,
            sent: 0,
            narrow: None,
            window: Duration::ZERO,
        }
    }

    fn connect(&mut self, protocol: &Protocol) -> SocketId {
        let remote = SocketAddr::new(address(2, 0), PORT);
        self.hosts[0].connect(self.now, address(1, 0), remote, protocol).expect("a free port")
    }

    fn carry(&mut self) {
        for from in 0..2 {
            let mut packet = Vec::new();
            while self.hosts[from].poll_transmit(self.now, &mut packet).is_some() {
                let sent = self.sent;
                let drops = |narrow: &&mut Narrow| packet.len() > narrow.mtu && sent >= narrow.after;
                if let Some(narrow) = self.narrow.as_mut().filter(drops) {
                    narrow.dropped += 1;
                    if narrow.says {
                        let message = too_big(&packet, narrow.mtu as u32, 28);
                        let at = self.now + Duration::from_millis(2);
                        self.flying.insert((at, self.sent as u64 * 2), (from, message));
                    }
                    self.sent += 1;
                    packet.clear();
                    continue;
                }
                let fate =
                    self.fates.get(self.sent % self.fates.len().max(1)).copied().unwrap_or(Fate::Arrives);
                let copies: &[u64] = match fate {
                    Fate::Arrives => &[5],
                    Fate::Lost => &[],
                    Fate::Twice => &[5, 6],
                    Fate::Late => &[9],
                };
                for delay in copies {
                    let at = self.now + Duration::from_millis(*delay);
                    self.flying.insert((at, self.sent as u64 * 2 + delay % 2), (1 - from, packet.clone()));
                }
                self.sent += 1;
                packet.clear();
            }
        }
    }

    /// This packet arrives, with others for the same host.
    fn arrive_together(&mut self, to: usize, first: Vec<u8>) {
        let mut packets = vec![first];
        while let Some(next) = self.flying.first_entry()
            && next.key().0 <= self.now + self.window
            && next.get().0 == to
        {
            packets.push(next.remove().1);
        }
        self.hosts[to].handle_packets(self.now, packets.iter().map(Vec::as_slice));
    }

    /// When the next packet arrives, and the next thing at all happens.
    fn next(&self) -> (Option<Instant>, Option<Instant>) {
        let packet = self.flying.first_key_value().map(|((at, _), _)| *at);
        let timer = self.hosts.iter().filter_map(Host::poll_timeout).min();
        (packet, packet.into_iter().chain(timer).min())
    }

    /// Lets the next thing happen; `false` if there is none.
    fn step(&mut self) -> bool {
        self.step_until(Instant::MAX)
    }

    /// Like [`Self::step`], but `false` also if it happens after `end`.
    fn step_until(&mut self, end: Instant) -> bool {
        self.carry();
        let (packet, next) = self.next();
        let Some(next) = next.filter(|at| *at <= end) else { return false };
        self.now = self.now.max(next);
        if packet == Some(next)
            && let Some((_, (to, octets))) = self.flying.pop_first()
        {
            if self.window.is_zero() {
                self.hosts[to].handle_packet(self.now, &octets);
            } else {
                self.arrive_together(to, octets);
            }
        }
        self.hosts.iter_mut().for_each(|host| host.handle_timeout(self.now));
        true
    }
}

/// Sends `stream` from the client to the server and back; returns what both saw.
fn echo(pair: &mut Pair, protocol: &Protocol, stream: &[u8]) -> [Vec<u8>; 2] {
    let client = pair.connect(protocol);
    let (mut server, mut written, mut finished) = (None, [0, 0], [false, false]);
    let mut seen = [Vec::new(), Vec::new()];
    while pair.now < Instant::ZERO + Duration::from_secs(600) {
        let ids = [Some(client), server];
        for (side, id) in ids.into_iter().enumerate() {
            let Some(id) = id else { continue };
            let host = &mut pair.hosts[side];
            host.read(pair.now, id, usize::MAX, &mut seen[side]);
            written[side] += host.write(pair.now, id, &stream[written[side]..]);
            if written[side] == stream.len() && !finished[side] {
                finished[side] = true;
                host.finish(pair.now, id);
            }
        }
        if !pair.step() {
            break;
        }
        while let Some(event) = pair.hosts[1].poll_event() {
            if let Event::Accepted(id) = event {
                server = server.or(Some(id));
            }
        }
        while pair.hosts[0].poll_event().is_some() {}
    }
    seen
}

/// TCP, Multipath TCP, and the same with checksums.
fn protocols() -> [Protocol; 3] {
    let mptcp = |checksum| Protocol::Mptcp(Arc::new(mptcp::Config { checksum, ..mptcp::Config::linux() }));
    [Protocol::Tcp(Arc::new(tcp::Config::linux())), mptcp(false), mptcp(true)]
}

fn noise(len: usize) -> Vec<u8> {
    let mut random = Random::new([7, len as u64]);
    (0..len).map(|_| random.next() as u8).collect()
}

#[test]
fn a_port_where_nobody_listens_answers_with_a_reset() {
    for protocol in protocols() {
        let mut pair = Pair::new(1, &protocol, vec![Fate::Arrives]);
        let remote = SocketAddr::new(address(2, 0), PORT + 1);
        pair.hosts[0].connect(pair.now, address(1, 0), remote, &protocol).expect("a free port");
        while pair.now < Instant::ZERO + Duration::from_secs(1) && pair.step() {}
        let closed = std::iter::from_fn(|| pair.hosts[0].poll_event());
        assert!(closed.into_iter().any(|event| matches!(event, Event::Closed(_, Some(_)))));
        assert_eq!(pair.hosts[1].counters().unexpected, 1);
    }
}

/// A SYN to the server's port, as it leaves the client.
fn syn(protocol: &Protocol) -> (Pair, Vec<u8>) {
    let mut pair = Pair::new(1, protocol, Vec::new());
    pair.connect(protocol);
    let mut syn = Vec::new();
    pair.hosts[0].poll_transmit(pair.now, &mut syn).expect("a SYN");
    (pair, syn)
}

/// Puts a source into an IPv4 packet without options, and leaves both checksums right.
fn set_source(packet: &mut [u8], source: [u8; 4]) {
    let word = |packet: &[u8], at: usize| u32::from(u16::from_be_bytes([packet[at], packet[at + 1]]));
    let before = word(packet, 12) + word(packet, 14);
    packet[12..16].copy_from_slice(&source);
    let after = word(packet, 12) + word(packet, 14);
    // RFC 1624: the IP header's checksum, and TCP's by its pseudo header.
    for at in [10, 20 + 16] {
        let mut sum = (!word(packet, at) & 0xffff) + 2 * 0xffff - before + after;
        while sum > 0xffff {
            sum = (sum & 0xffff) + (sum >> 16);
        }
        packet[at..at + 2].copy_from_slice(&(!(sum as u16)).to_be_bytes());
    }
}

/// RFC 9293, MUST-63 and MUST-57: no answer goes to many, and none comes from an address of many.
#[test]
fn a_syn_from_or_to_an_address_of_no_host_is_dropped_in_silence() {
    for protocol in protocols() {
        let (mut pair, syn) = syn(&protocol);
        for source in [[255; 4], [224, 0, 0, 1], [239, 255, 255, 250], [0; 4]] {
            let mut packet = syn.clone();
            set_source(&mut packet, source);
            pair.hosts[1].handle_packet(pair.now, &packet);
        }
        for destination in [[255; 4], [224, 0, 0, 1]] {
            let mut packet = syn.clone();
            packet[16..20].copy_from_slice(&destination);
            pair.hosts[1].handle_packet(pair.now, &packet);
        }
        let server = &mut pair.hosts[1];
        assert_eq!((server.sockets(), server.counters().ignored, server.counters().malformed), (0, 6, 0));
        assert_eq!(server.poll_transmit(pair.now, &mut Vec::new()), None);
        let mut honest = syn;
        set_source(&mut honest, [10, 0, 0, 77]);
        server.handle_packet(pair.now, &honest);
        assert_eq!((server.sockets(), server.counters().malformed), (1, 0), "the checksums are right");
    }
}

/// RFC 9293, MUST-3.
#[test]
fn a_segment_with_a_flipped_bit_is_dropped() {
    for protocol in protocols() {
        let (mut pair, syn) = syn(&protocol);
        let server = &mut pair.hosts[1];
        for at in 20..syn.len() {
            let mut packet = syn.clone();
            packet[at] ^= 1 << (at % 8);
            server.handle_packet(pair.now, &packet);
        }
        let flipped = (syn.len() - 20) as u64;
        assert_eq!((server.sockets(), server.counters().malformed), (0, flipped));
        server.handle_packet(pair.now, &syn);
        assert_eq!(server.sockets(), 1);
    }
}

#[test]
fn nothing_is_left_of_a_connection_that_is_over() {
    for protocol in protocols() {
        let mut pair = Pair::new(2, &protocol, vec![Fate::Arrives]);
        let stream = noise(3_000_000);
        let seen = echo(&mut pair, &protocol, &stream);
        assert!(seen.iter().all(|seen| *seen == stream));
        for host in &pair.hosts {
            assert_eq!(
                (host.sockets(), host.tuples.len(), host.tokens.len(), host.timers.len()),
                (0, 0, 0, 0)
            );
        }
    }
}

/// RFC 9293, MUST-46.
#[test]
fn no_connection_is_opened_to_an_address_of_no_host() {
    for protocol in protocols() {
        let mut host = host(1, 1);
        for remote in ["255.255.255.255:80", "224.0.0.1:80", "0.0.0.0:80"] {
            let remote = remote.parse().expect("an address");
            assert_eq!(host.connect(Instant::ZERO, address(1, 0), remote, &protocol), None);
        }
        assert_eq!(host.poll_transmit(Instant::ZERO, &mut Vec::new()), None);
    }
}

/// RFC 9293, MUST-43 and MUST-45: a connection's packets come from the address that it was opened
/// from.
#[test]
fn a_connection_keeps_the_address_that_it_was_opened_from() {
    let protocol = &protocols()[0];
    let mut pair = Pair::new(3, protocol, Vec::new());
    let remote = SocketAddr::new(address(2, 0), PORT);
    let client = pair.hosts[0].connect(pair.now, address(1, 2), remote, protocol).expect("a free port");
    let (mut sources, mut written) = (BTreeSet::new(), 0);
    let stream = noise(100_000);
    while pair.step_until(Instant::ZERO + Duration::from_secs(1)) {
        written += pair.hosts[0].write(pair.now, client, &stream[written..]);
        let to_server = pair.flying.values().filter(|(to, _)| *to == 1);
        sources.extend(to_server.map(|(_, octets)| octets[12..16].to_vec()));
    }
    assert_eq!((written, sources), (stream.len(), BTreeSet::from([vec![10, 0, 2, 1]])));
}

/// RFC 9293, MUST-41 and MUST-42: a port where a connection is being opened can be listened at, and
/// the connection goes on.
#[test]
fn to_listen_at_a_port_does_not_touch_the_connections_there() {
    for protocol in protocols() {
        let mut pair = Pair::new(1, &protocol, Vec::new());
        let client = pair.connect(&protocol);
        let (local, _) = pair.hosts[0].ends(client).expect("there");
        pair.hosts[0].listen(local.port(), protocol.clone());
        let from = address(2, 0);
        pair.hosts[1].connect(pair.now, from, local, &protocol).expect("a free port");
        while pair.step_until(Instant::ZERO + Duration::from_secs(1)) {}
        let events: Vec<_> = std::iter::from_fn(|| pair.hosts[0].poll_event()).collect();
        assert!(events.contains(&Event::Established(client)), "{events:?}");
        let accepted = events.iter().filter(|event| matches!(event, Event::Accepted(_))).count();
        assert_eq!((accepted, pair.hosts[0].sockets(), pair.hosts[1].sockets()), (1, 2, 2));
    }
}

/// RFC 8684 §3.2: a SYN with MP_JOIN finds its connection by the token, whatever port it goes to.
#[test]
fn a_join_finds_its_connection_by_the_token() {
    let protocol = &protocols()[1];
    let mut pair = Pair::new(2, protocol, Vec::new());
    pair.connect(protocol);
    while pair.step_until(Instant::ZERO + Duration::from_secs(1)) {
        // Nobody listens at the port of the joins.
        if pair.hosts[1].sockets() == 1 {
            pair.hosts[1].listeners.clear();
        }
    }
    let server = pair.hosts[1].mptcp(SocketId(0)).expect("a connection");
    assert!(server.subflows().filter(|subflow| subflow.is_usable()).count() > 1);
    assert_eq!(pair.hosts[1].sockets(), 1);
}

/// RFC 9293 §3.6.1: a peer that uses a 4-tuple again while it is in TIME-WAIT here comes through
/// with its second SYN.
#[test]
fn a_syn_in_time_wait_is_challenged_and_the_next_one_accepted() {
    let protocol = &protocols()[0];
    let mut pair = Pair::new(1, protocol, Vec::new());
    pair.connect(protocol);
    while pair.step_until(Instant::ZERO + Duration::from_secs(1)) {}
    pair.hosts[1].finish(pair.now, SocketId(0));
    while pair.step_until(Instant::ZERO + Duration::from_secs(2)) {}
    pair.hosts[0].finish(pair.now, SocketId(0));
    while pair.step_until(Instant::ZERO + Duration::from_secs(3)) {}
    assert_eq!(pair.hosts[1].tcp(SocketId(0)).map(tcp::Connection::state), Some(tcp::State::TimeWait));
    pair.hosts[0] = host(1, 1);
    let again = pair.connect(protocol);
    while pair.step_until(Instant::ZERO + Duration::from_secs(6)) {}
    assert!(std::iter::from_fn(|| pair.hosts[0].poll_event()).any(|e| e == Event::Established(again)));
}

/// RFC 9293 §3.10.7.4: the new connection's numbers begin above those of the old one, however many
/// those were; RFC 6191: the peer's clock says that its SYN is new, though its numbers begin below.
#[test]
fn a_connection_after_time_wait_begins_above_the_old_numbers() {
    let protocol = &protocols()[0];
    let mut pair = Pair::new(1, protocol, Vec::new());
    let client = pair.connect(protocol);
    let (stream, mut written, mut out) = (noise(4_000_000), 0, Vec::new());
    while written < stream.len() && pair.step() {
        written += pair.hosts[1].write(pair.now, SocketId(0), &stream[written..]);
        pair.hosts[0].read(pair.now, client, usize::MAX, &mut out);
    }
    pair.hosts[1].finish(pair.now, SocketId(0));
    while pair.step_until(pair.now + Duration::from_millis(200)) {
        pair.hosts[0].read(pair.now, client, usize::MAX, &mut out);
    }
    pair.hosts[0].finish(pair.now, client);
    while pair.step_until(pair.now + Duration::from_millis(200)) {}
    let old = pair.hosts[1].tcp(SocketId(0)).expect("in TIME-WAIT");
    assert_eq!(old.state(), tcp::State::TimeWait);
    let (last, expected) = (old.snd_nxt(), old.rcv_nxt());
    let stamp = old.recent_timestamp().expect("Linux has timestamps");
    let (local, remote) = pair.hosts[0]
        .ends(client)
        .unwrap_or((SocketAddr::new(address(1, 0), 0), SocketAddr::new(address(2, 0), PORT)));
    let header = PacketHeader {
        source: local.ip(),
        destination: remote.ip(),
        source_port: pair.hosts[1].ends(SocketId(0)).expect("there").1.port(),
        destination_port: PORT,
        identification: 0,
        ttl: TTL,
        dscp: 0,
    };
    let mut answers = |stamp: u32| {
        let timestamps = Some(ropewalk_wire::Timestamps { value: stamp, echo: 0 });
        let options = ropewalk_wire::Options { mss: Some(1460), timestamps, ..Default::default() };
        let seq = expected - 5_000;
        let syn = Segment { seq, flags: Flags::SYN, window: 1_000, options, ..Segment::default() };
        let mut packet = Vec::new();
        header.emit_segment_with(&syn, &[], &mut packet).expect("a SYN");
        pair.hosts[1].handle_packet(pair.now, &packet);
        let mut answer = Vec::new();
        pair.hosts[1].poll_transmit(pair.now, &mut answer).expect("an answer");
        let ip = IpPacket::read(&answer).expect("a packet");
        TcpPacket::read(&ip).expect("a segment").segment(ropewalk_units::Dsn::new(0))
    };
    assert_eq!(answers(stamp - 1).flags, Flags::ACK, "an old SYN");
    let answer = answers(stamp + 1);
    assert_eq!(answer.flags, Flags::SYN | Flags::ACK);
    assert!(answer.seq.after(last), "{:?} is not above {last:?}", answer.seq);
}

/// RFC 6056 §3.3.3: the first port differs by host and by peer. The next one follows it, so that no
/// port is used again soon.
#[test]
fn local_ports_cannot_be_told_from_outside() {
    let protocol = &protocols()[0];
    let mut firsts = BTreeSet::new();
    for number in 0..20 {
        let mut host = Host::new(vec![address(1, 0)], [number, 2, 3, 4]);
        for peer in 1..=2 {
            let remote = SocketAddr::new(address(peer, 0), PORT);
            let mut open = || {
                let id = host.connect(Instant::ZERO, address(1, 0), remote, protocol).expect("a free port");
                host.ends(id).expect("there").0.port()
            };
            let (first, next) = (open(), open());
            assert!(next == first + 1 || (first, next) == (u16::MAX, 49_152), "{first} {next}");
            firsts.insert(first);
        }
    }
    assert!(firsts.len() > 35, "{firsts:?}");
}

/// An attacker begins handshakes under other addresses and finishes none: an honest peer comes
/// through all the same.
#[test]
fn a_flood_of_syns_keeps_no_honest_peer_out() {
    for protocol in protocols() {
        let mut pair = Pair::new(1, &protocol, Vec::new());
        let (_, syn) = syn(&protocol);
        for number in 0..2 * BACKLOG as u32 {
            let mut forged = syn.clone();
            set_source(&mut forged, [10, 1, (number >> 8) as u8, number as u8]);
            pair.hosts[1].handle_packet(pair.now, &forged);
            // A hundred a second; their answers go nowhere.
            pair.now += Duration::from_millis(10);
            while pair.hosts[1].poll_transmit(pair.now, &mut Vec::new()).is_some() {}
            assert!(pair.hosts[1].sockets() <= BACKLOG);
        }
        let client = pair.connect(&protocol);
        let soon = pair.now + Duration::from_millis(20);
        while pair.step_until(soon) {}
        let events: Vec<_> = std::iter::from_fn(|| pair.hosts[0].poll_event()).collect();
        assert!(events.contains(&Event::Established(client)), "{events:?}");
        let server = &pair.hosts[1];
        assert_eq!((server.tuples.len(), server.opening.len()), (server.sockets(), server.sockets() - 1));
        let tokens = server.tokens.len();
        assert!(tokens == 0 || tokens == server.sockets());
    }
}

#[test]
fn what_is_acknowledged_is_forgotten() {
    for protocol in protocols() {
        let mut pair = Pair::new(1, &protocol, Vec::new());
        let client = pair.connect(&protocol);
        let (stream, mut written, mut out) = (noise(8 << 20), 0, Vec::new());
        while pair.step() && written < stream.len() {
            written += pair.hosts[0].write(pair.now, client, &stream[written..]);
            pair.hosts[1].read(pair.now, SocketId(0), usize::MAX, &mut out);
            let unsent = pair.hosts[0].sockets[&client].unforgotten();
            assert!(unsent <= (4 << 20) + READY + 64 * 1024, "{unsent} octets");
        }
    }
}

/// What arrives together is taken together: the streams are whole whatever is lost, and there are
/// fewer acknowledgements. Segments of our Multipath TCP have mappings of their own, and stay
/// alone.
#[test]
fn segments_that_arrive_together_are_taken_as_one() {
    let stream = noise(400_000);
    for protocol in protocols() {
        let mixed = vec![Fate::Arrives, Fate::Late, Fate::Arrives, Fate::Twice];
        for fates in [vec![Fate::Arrives], mixed, losses()] {
            let mut sent = [0; 2];
            for (together, sent) in sent.iter_mut().enumerate() {
                let mut pair = Pair::new(1, &protocol, fates.clone());
                pair.window = Duration::from_millis(together as u64);
                let seen = echo(&mut pair, &protocol, &stream);
                assert!(seen.iter().all(|seen| *seen == stream), "{} and {}", seen[0].len(), seen[1].len());
                let coalesced = pair.hosts.iter().map(|host| host.counters().coalesced).sum::<u64>();
                let multipath = matches!(protocol, Protocol::Mptcp(_));
                assert_eq!(coalesced > 20, together == 1 && !multipath, "{coalesced} of {}", pair.sent);
                *sent = pair.sent;
            }
            assert!(fates.len() > 1 || sent[1] <= sent[0], "{sent:?} packets");
        }
    }
}

/// One packet of twenty is lost.
fn losses() -> Vec<Fate> {
    (0..20).map(|sent| if sent == 13 { Fate::Lost } else { Fate::Arrives }).collect()
}

/// RFC 9293, MUST-13: a FIN that comes again in TIME-WAIT is acknowledged, and the port is not used
/// for another connection.
#[test]
fn a_fin_that_comes_again_in_time_wait_is_acknowledged() {
    for protocol in protocols() {
        let mut pair = Pair::new(1, &protocol, Vec::new());
        let client = pair.connect(&protocol);
        let mut server = None;
        while pair.step_until(Instant::ZERO + Duration::from_secs(1)) {
            if let Some(Event::Accepted(id)) = pair.hosts[1].poll_event() {
                server = Some(id);
            }
        }
        pair.hosts[0].finish(pair.now, client);
        pair.hosts[1].finish(pair.now, server.expect("a connection"));
        let mut last_fin = Vec::new();
        while pair.step_until(Instant::ZERO + Duration::from_secs(10)) {
            let to_client = pair.flying.values().filter(|(to, octets)| *to == 0 && octets[33] & FIN != 0);
            last_fin = to_client.map(|(_, octets)| octets.clone()).next_back().unwrap_or(last_fin);
        }
        let client = &mut pair.hosts[0];
        assert_eq!((client.sockets(), client.tuples.len(), client.counters().unexpected), (1, 1, 0));
        client.handle_packet(pair.now, &last_fin);
        let mut answer = Vec::new();
        client.poll_transmit(pair.now, &mut answer).expect("an answer");
        assert_eq!(answer[33] & (RST | ACK), ACK, "{answer:?}");
        while pair.step() {}
        assert_eq!((pair.hosts[0].sockets(), pair.hosts[0].tuples.len()), (0, 0));
    }
}

#[test]
fn what_is_not_read_is_bounded_by_the_receive_buffer_and_repeats_by_what_a_sweep_waits_for() {
    let config = mptcp::Config { receive_buffer: 1 << 20, ..mptcp::Config::linux() };
    let protocol = Protocol::Mptcp(Arc::new(config));
    let mut pair = Pair::new(2, &protocol, vec![Fate::Twice, Fate::Late, Fate::Arrives]);
    let client = pair.connect(&protocol);
    let stream = noise(8 << 20);
    let mut written = 0;
    while pair.now < Instant::ZERO + Duration::from_secs(20) && pair.step() {
        written += pair.hosts[0].write(pair.now, client, &stream[written..]);
        let kept = pair.hosts[1].sockets.values().map(Socket::kept).max().unwrap_or(0);
        assert!(kept <= 3 * (1 << 20) + READY, "{kept} octets");
    }
    assert!(written < stream.len());
}

#[test]
fn a_flood_of_syns_leaves_so_many_handshakes_and_nothing_when_they_are_given_up() {
    for protocol in protocols() {
        let mut pair = Pair::new(1, &protocol, Vec::new());
        for _ in 0..3 * BACKLOG {
            pair.connect(&protocol);
        }
        let mut syn = Vec::new();
        while pair.hosts[0].poll_transmit(pair.now, &mut syn).is_some() {
            pair.hosts[1].handle_packet(pair.now, &syn);
            syn.clear();
        }
        let server = &mut pair.hosts[1];
        assert_eq!((server.sockets(), server.counters().overflows), (BACKLOG, 2 * BACKLOG as u64));
        // Nobody hears its answers.
        while server.poll_transmit(pair.now, &mut syn).is_some() {}
        while let Some(due) = server.poll_timeout() {
            pair.now = due;
            server.handle_timeout(due);
            while server.poll_transmit(due, &mut syn).is_some() {}
        }
        assert_eq!((server.sockets(), server.opening.len(), server.tuples.len()), (0, 0, 0));
        pair.hosts[0] = host(1, 1);
        let client = pair.connect(&protocol);
        while pair.hosts[1].opening.is_empty() && pair.step() {}
        while !pair.hosts[1].opening.is_empty() && pair.step() {}
        let events = std::iter::from_fn(|| pair.hosts[0].poll_event()).collect::<Vec<_>>();
        assert!(events.contains(&Event::Established(client)), "{events:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn streams_arrive_whole_whatever_happens_to_packets(
        len in 0usize..300_000,
        paths in 1u8..4,
        protocol in 0usize..3,
        fates in prop::collection::vec(
            prop_oneof![8 => Just(Fate::Arrives), 1 => Just(Fate::Lost), 1 => Just(Fate::Twice), 1 => Just(Fate::Late)],
            20..200,
        ),
        narrow in prop::option::of((552usize..1_500, 0usize..200)),
    ) {
        let protocol = &protocols()[protocol];
        let mut pair = Pair::new(paths, protocol, fates);
        pair.narrow = narrow.map(|(mtu, after)| Narrow { mtu, says: true, after, dropped: 0 });
        let stream = noise(len);
        let seen = echo(&mut pair, protocol, &stream);
        prop_assert!(seen[0] == stream, "the client saw {} of {len} octets", seen[0].len());
        prop_assert!(seen[1] == stream, "the server saw {} of {len} octets", seen[1].len());
    }

    #[test]
    fn octets_that_are_no_packet_change_nothing(octets in prop::collection::vec(any::<u8>(), 0..200), own in any::<bool>()) {
        let mut host = host(1, 1);
        host.listen(PORT, protocols()[1].clone());
        let mut packet = octets;
        if own && packet.len() >= 40 {
            // An IPv4 header for this host, with TCP behind it.
            packet[0] = 0x45;
            packet[9] = 6;
            packet[16..20].copy_from_slice(&[10, 0, 0, 1]);
        }
        host.handle_packet(Instant::ZERO, &packet);
        prop_assert_eq!((host.sockets(), host.poll_timeout()), (0, None));
    }
}

/// A flood of SYNs that nobody goes on with; then an honest client.
#[test]
fn beyond_the_backlog_syns_leave_nothing_behind_and_who_goes_on_gets_a_connection() {
    for protocol in protocols() {
        let mut pair = Pair::new(1, &protocol, Vec::new());
        let mut flood = Host::new(vec![address(5, 0)], [5; 4]);
        let remote = SocketAddr::new(address(2, 0), PORT);
        for _ in 0..BACKLOG + 50 {
            flood.connect(pair.now, address(5, 0), remote, &protocol).expect("a free port");
        }
        let mut syn = Vec::new();
        while flood.poll_transmit(pair.now, &mut syn).is_some() {
            pair.hosts[1].handle_packet(pair.now, &syn);
            syn.clear();
        }
        let server = &pair.hosts[1];
        assert_eq!(
            (server.sockets(), server.tuples.len(), server.counters().cookies_sent),
            (BACKLOG, BACKLOG, 50)
        );
        let tokens = server.tokens.len();
        while pair.hosts[1].poll_transmit(pair.now, &mut syn).is_some() {}
        while pair.hosts[1].poll_event().is_some() {}
        let stream = noise(200_000);
        let seen = echo(&mut pair, &protocol, &stream);
        assert!(seen[0] == stream && seen[1] == stream, "{} and {} octets", seen[0].len(), seen[1].len());
        assert_eq!(pair.hosts[1].counters().cookies_accepted, 1);
        assert!(pair.hosts[1].tokens.len() <= tokens);
    }
}

/// RFC 8684 §3.1: the third segment has both keys, or the first data has, where the third one is
/// lost. Each packet of the beginning is lost once.
#[test]
fn a_cookie_that_comes_back_opens_multipath_tcp() {
    for protocol in &protocols()[1..] {
        for lost in 0..6 {
            let fates = (0..10_000).map(|sent| if sent == lost { Fate::Lost } else { Fate::Arrives });
            let mut pair = Pair::new(2, protocol, fates.collect());
            pair.hosts[1].set_cookies(CookiePolicy::Always);
            let client = pair.connect(protocol);
            let (stream, mut written) = (noise(500_000), 0);
            while pair.step_until(Instant::ZERO + Duration::from_secs(5)) {
                written += pair.hosts[0].write(pair.now, client, &stream[written..]);
            }
            let mut seen = Vec::new();
            pair.hosts[1].read(pair.now, SocketId(0), usize::MAX, &mut seen);
            let server = pair.hosts[1].mptcp(SocketId(0)).expect("a connection");
            assert!(!server.is_fallen_back(), "{lost} lost: it fell back");
            let usable = server.subflows().filter(|subflow| subflow.is_usable()).count();
            assert!(usable > 1, "{lost} lost: {usable} subflows, {:?}", server.stats());
            assert!(stream.starts_with(&seen) && !seen.is_empty(), "{lost} lost: {} octets", seen.len());
            assert_eq!(pair.hosts[1].counters().cookies_accepted, 1, "{lost} lost");
        }
    }
}

/// A token is given to nobody twice: neither one that is in use when the SYN comes, nor one that
/// another connection has got since the SYN/ACK left.
#[test]
fn a_cookie_whose_token_is_in_use_opens_tcp() {
    let protocol = &protocols()[1];
    for arrivals in [0, 1] {
        let mut pair = Pair::new(1, protocol, Vec::new());
        pair.hosts[1].set_cookies(CookiePolicy::Always);
        let client = pair.connect(protocol);
        pair.carry();
        let syn = pair.flying.first_key_value().expect("a SYN").1.1.clone();
        let ip = IpPacket::read(&syn).expect("a packet");
        let syn = TcpPacket::read(&ip).expect("a segment").segment(ropewalk_units::Dsn::new(0));
        let local = pair.hosts[0].mptcp(client).expect("there").subflows().next().expect("one").path().local;
        let tuple = FourTuple { local: SocketAddr::new(address(2, 0), PORT), remote: local };
        for _ in 0..arrivals {
            pair.step();
        }
        let server = &mut pair.hosts[1];
        let (_, cookie) = Cookies::default().make(pair.now, &server.identity, tuple, &syn);
        let taken = cookie::secret(&server.identity, tuple, syn.seq, cookie);
        assert!(server.identity.claim(&taken));
        while pair.step_until(Instant::ZERO + Duration::from_secs(1)) {}
        let stream = noise(100_000);
        let written = pair.hosts[0].write(pair.now, client, &stream);
        while pair.step_until(Instant::ZERO + Duration::from_secs(3)) {}
        let mut seen = Vec::new();
        pair.hosts[1].read(pair.now, SocketId(0), usize::MAX, &mut seen);
        assert_eq!((seen.len(), seen == stream[..written]), (written, true));
        for (host, id) in [(0, client), (1, SocketId(0))] {
            assert!(pair.hosts[host].mptcp(id).is_some_and(mptcp::Connection::is_fallen_back), "{host}");
        }
    }
}

#[test]
fn who_guesses_cookies_gets_resets_and_opens_nothing() {
    let protocol = &protocols()[0];
    let mut pair = Pair::new(1, protocol, Vec::new());
    pair.hosts[1].set_cookies(CookiePolicy::Always);
    pair.connect(protocol);
    while pair.hosts[1].counters().cookies_accepted == 0 && pair.step() {}
    assert_eq!(pair.hosts[1].sockets(), 1);
    // Somebody else's ACKs, from an address whose SYN never came.
    let mut random = Random::new([3, 3]);
    for port in 0..2_000 {
        let header = PacketHeader {
            source: address(7, 0),
            destination: address(2, 0),
            source_port: 1024 + port,
            destination_port: PORT,
            identification: 0,
            ttl: TTL,
            dscp: 0,
        };
        let (seq, ack) = (Seq::new(random.next() as u32), Seq::new(random.next() as u32));
        let segment = Segment { seq, ack, flags: Flags::ACK, window: 100, ..Segment::default() };
        let mut packet = Vec::new();
        header.emit_segment_with(&segment, &[], &mut packet).expect("a segment");
        pair.hosts[1].handle_packet(pair.now, &packet);
    }
    let counters = pair.hosts[1].counters();
    assert_eq!((pair.hosts[1].sockets(), counters.cookies_accepted, counters.unexpected), (1, 1, 2_000));
}

/// What a router would say of a packet of a host's, in the packet's own family.
fn too_big(packet: &[u8], mtu: u32, quotes: usize) -> Vec<u8> {
    let lost = IpPacket::read(packet).expect("a packet of a host's");
    let ip = ropewalk_wire::IpHeader {
        // Any router.
        source: if lost.header.source.is_ipv4() {
            address(99, 9)
        } else {
            "fd00::99".parse().expect("an address")
        },
        destination: lost.header.source,
        dscp: 0,
        ecn: ropewalk_wire::Ecn::NotEct,
        ttl: 60,
        identification: 0,
        dont_fragment: false,
        flow_label: 0,
    };
    let mut out = Vec::new();
    Icmp::PacketTooBig { mtu, quoted: &packet[..quotes.min(packet.len())] }
        .emit(&ip, &mut out)
        .expect("a message");
    out
}

/// Both hosts, with one path whose router drops what is longer than `mtu`, and says so, or does
/// not.
fn transfer_over(mtu: usize, says: bool, protocol: &Protocol, stream: &[u8]) -> ([Vec<u8>; 2], Pair) {
    let mut pair = Pair::new(1, protocol, Vec::new());
    pair.narrow = Some(Narrow { mtu, says, after: 0, dropped: 0 });
    let seen = echo(&mut pair, protocol, stream);
    (seen, pair)
}

#[test]
fn a_path_that_carries_less_is_found_and_nothing_is_lost() {
    let stream = noise(300_000);
    for protocol in protocols() {
        let (seen, pair) = transfer_over(1_200, true, &protocol, &stream);
        assert!(seen.iter().all(|seen| *seen == stream), "{} and {}", seen[0].len(), seen[1].len());
        let dropped = pair.narrow.as_ref().map_or(0, |narrow| narrow.dropped);
        // An initial window from either side, and no more.
        assert!((2..=20).contains(&dropped), "{dropped} packets were too long");
        assert!(pair.hosts.iter().all(|host| host.counters().too_big > 0));
        assert!(pair.now < Instant::ZERO + Duration::from_secs(70), "TIME-WAIT and less: {:?}", pair.now);
    }
}

/// RFC 1191 §6.3: ten minutes after the router's word the path carries full packets again, of
/// Multipath TCP too.
#[test]
fn a_path_that_has_become_wider_carries_full_packets_again() {
    for protocol in protocols() {
        let mut pair = Pair::new(1, &protocol, Vec::new());
        pair.narrow = Some(Narrow { mtu: 1_200, says: true, after: 0, dropped: 0 });
        let client = pair.connect(&protocol);
        let stream = noise(400_000);
        let mut longest = [0; 2];
        let mut written = 0;
        for (period, longest) in longest.iter_mut().enumerate() {
            let end = Instant::ZERO + Duration::from_secs(700 * period as u64 + 5);
            loop {
                let until = 200_000 * (period + 1);
                written += pair.hosts[0].write(pair.now, client, &stream[written..until]);
                if !pair.step_until(end) {
                    break;
                }
                pair.hosts[1].read(pair.now, SocketId(0), usize::MAX, &mut Vec::new());
                let to_server = pair.flying.values().filter(|(to, _)| *to == 1);
                *longest = to_server.map(|(_, octets)| octets.len()).max().unwrap_or(0).max(*longest);
            }
            assert_eq!(written, 200_000 * (period + 1));
            pair.narrow = None;
            pair.now = Instant::ZERO + Duration::from_secs(700);
        }
        assert!(longest[0] <= 1_200 && longest[1] > 1_400, "{longest:?}");
    }
}

#[test]
fn without_the_router_s_word_it_is_not_found() {
    let stream = noise(30_000);
    let (seen, _) = transfer_over(1_200, false, &protocols()[0], &stream);
    assert!(seen.iter().all(|seen| seen.len() < stream.len()));
}

/// A connection over which full segments have gone, and the last packet that the client sent: it is
/// on its way.
fn busy(protocol: &Protocol) -> (Pair, SocketId, Vec<u8>) {
    let mut pair = Pair::new(1, protocol, Vec::new());
    let client = pair.connect(protocol);
    let stream = noise(70_000);
    while pair.now < Instant::ZERO + Duration::from_millis(100) && pair.step() {}
    assert_eq!(pair.hosts[0].write(pair.now, client, &stream[..40_000]), 40_000);
    while pair.now < Instant::ZERO + Duration::from_millis(200) && pair.step() {}
    assert_eq!(pair.hosts[0].write(pair.now, client, &stream[40_000..]), 30_000);
    let mut packet = Vec::new();
    pair.hosts[0].poll_transmit(pair.now, &mut packet).expect("a full segment");
    assert_eq!(packet.len(), 1500);
    (pair, client, packet)
}

fn smss(pair: &Pair, id: SocketId) -> u32 {
    let host = &pair.hosts[0];
    host.tcp(id).map_or_else(
        || {
            host.mptcp(id)
                .and_then(|connection| connection.subflows().next())
                .expect("a subflow")
                .tcp()
                .smss()
        },
        tcp::Connection::smss,
    )
}

/// RFC 5927 §4.1: whoever cannot see the connection has to guess its sequence numbers.
#[test]
fn a_message_about_what_is_not_on_its_way_is_ignored() {
    for protocol in protocols() {
        let (mut pair, client, packet) = busy(&protocol);
        let before = smss(&pair, client);
        let with = |at: usize, octets: &[u8]| {
            let mut changed = packet.clone();
            changed[at..at + octets.len()].copy_from_slice(octets);
            changed
        };
        let number = u32::from_be_bytes([packet[24], packet[25], packet[26], packet[27]]);
        let beyond = with(24, &number.wrapping_add(2_000_000).to_be_bytes());
        let below = with(24, &number.wrapping_sub(1).to_be_bytes());
        let (other_port, udp) = (with(20, &[0xc0, 0x77]), with(9, &[17]));
        let small = with(2, &600u16.to_be_bytes());
        let mut messages = vec![
            too_big(&beyond, 1_000, 28),
            too_big(&below, 1_000, 28),
            too_big(&other_port, 1_000, 28),
            too_big(&udp, 1_000, 28),
            // It was no longer than what the path carries, by its own header and by the claim.
            too_big(&small, 1_000, 28),
            too_big(&packet, 1_500, 28),
            too_big(&packet, 9_000, 28),
            // Too little is quoted.
            too_big(&packet, 1_000, 27),
        ];
        let mut damaged = too_big(&packet, 1_000, 28);
        *damaged.last_mut().expect("octets") ^= 1;
        messages.push(damaged);
        for (index, message) in messages.iter().enumerate() {
            pair.hosts[0].handle_packet(pair.now, message);
            assert_eq!(smss(&pair, client), before, "message {index}");
        }
        let counters = pair.hosts[0].counters();
        assert_eq!((counters.too_big, counters.ignored, counters.malformed), (0, 8, 1));
    }
}

/// RFC 5927 §7.2: an attacker on the way sees the numbers, but segments of this length have arrived
/// before. Its messages change nothing while they go on arriving.
#[test]
fn a_message_against_what_was_seen_to_arrive_waits_for_a_timeout() {
    for protocol in protocols() {
        let (mut pair, client, packet) = busy(&protocol);
        let before = smss(&pair, client);
        pair.hosts[0].handle_packet(pair.now, &too_big(&packet, 600, 28));
        assert_eq!((smss(&pair, client), pair.hosts[0].counters().too_big), (before, 1));
        // The segment arrives after all.
        pair.hosts[1].handle_packet(pair.now, &packet);
        while pair.now < Instant::ZERO + Duration::from_secs(5) && pair.step() {}
        assert_eq!(smss(&pair, client), before);
        // This one does not, and no other one does.
        let (mut pair, client, packet) = busy(&protocol);
        pair.hosts[0].handle_packet(pair.now, &too_big(&packet, 600, 28));
        pair.fates = vec![Fate::Lost];
        while smss(&pair, client) == before
            && pair.now < Instant::ZERO + Duration::from_secs(5)
            && pair.step()
        {}
        assert_eq!(smss(&pair, client), before - 900);
        pair.fates = Vec::new();
        while pair.now < Instant::ZERO + Duration::from_secs(20) && pair.step() {}
        let id = *pair.hosts[1].sockets.keys().next().expect("the server's");
        assert_eq!(pair.hosts[1].readable(id), 70_000, "all of it arrived");
    }
}

/// The handshake is over, and the client writes: its first packet with data, kept from the server.
fn full_segment(pair: &mut Pair, client: SocketId) -> Vec<u8> {
    while pair.now < Instant::ZERO + Duration::from_millis(100) && pair.step() {}
    pair.hosts[0].write(pair.now, client, &noise(20_000));
    let mut packet = Vec::new();
    pair.hosts[0].poll_transmit(pair.now, &mut packet).expect("a full segment");
    packet
}

#[test]
fn no_message_makes_segments_shorter_than_the_floor() {
    let mut pair = Pair::new(1, &protocols()[0], Vec::new());
    let client = pair.connect(&protocols()[0]);
    let packet = full_segment(&mut pair, client);
    pair.hosts[0].handle_packet(pair.now, &too_big(&packet, 68, 28));
    // 552 less 40 of headers and 12 of timestamps.
    assert_eq!(smss(&pair, client), 500);
    pair.hosts[0].handle_packet(pair.now, &too_big(&packet, 68, 28));
    assert_eq!(smss(&pair, client), 500);
}

#[test]
fn over_ipv6_the_floor_is_what_every_link_carries() {
    let ends = ["fd00::1", "fd00::2"].map(|text| text.parse::<IpAddr>().expect("an address"));
    let protocol = &protocols()[0];
    let mut pair = Pair::new(1, protocol, Vec::new());
    pair.hosts = ends.map(|end| Host::new(vec![end], [8; 4]));
    pair.hosts[1].listen(PORT, protocol.clone());
    let remote = SocketAddr::new(ends[1], PORT);
    let client = pair.hosts[0].connect(pair.now, ends[0], remote, protocol).expect("a free port");
    let packet = full_segment(&mut pair, client);
    let before = smss(&pair, client);
    // RFC 8201 §4: no link has less.
    pair.hosts[0].handle_packet(pair.now, &too_big(&packet, 1_279, 48));
    assert_eq!(smss(&pair, client), before);
    pair.hosts[0].handle_packet(pair.now, &too_big(&packet, 1_280, 48));
    assert_eq!(smss(&pair, client), 1_280 - 60 - 12);
}

#[test]
fn a_router_that_does_not_tell_its_mtu_has_a_likely_one() {
    let mut pair = Pair::new(1, &protocols()[0], Vec::new());
    let client = pair.connect(&protocols()[0]);
    let packet = full_segment(&mut pair, client);
    pair.hosts[0].handle_packet(pair.now, &too_big(&packet, 0, 28));
    assert_eq!(smss(&pair, client), 1_492 - 40 - 12);
}

/// RFC 9293 §3.9.2.2 (MUST-55, MUST-56): Source Quench is ignored, and soft errors end no
/// connection.
#[test]
fn other_messages_of_routers_change_nothing() {
    for protocol in protocols() {
        let (mut pair, client, packet) = busy(&protocol);
        let ip = ropewalk_wire::IpHeader {
            source: address(99, 9),
            destination: address(1, 0),
            dscp: 0,
            ecn: ropewalk_wire::Ecn::NotEct,
            ttl: 60,
            identification: 0,
            dont_fragment: false,
            flow_label: 0,
        };
        let quoted = &packet[..28];
        const SOURCE_QUENCH: u8 = 4;
        let quench = [&[0; 4], quoted].concat();
        let messages = [
            Icmp::Other { kind: SOURCE_QUENCH, code: 0, body: &quench },
            Icmp::Unreachable { code: 0, quoted },
            Icmp::Unreachable { code: 1, quoted },
            Icmp::Unreachable { code: 3, quoted },
            Icmp::TimeExceeded { code: 0, quoted },
        ];
        let before = smss(&pair, client);
        for message in messages {
            let mut octets = Vec::new();
            message.emit(&ip, &mut octets).expect("a message");
            pair.hosts[0].handle_packet(pair.now, &octets);
        }
        assert_eq!((smss(&pair, client), pair.hosts[0].counters().ignored), (before, 5));
        pair.hosts[1].handle_packet(pair.now, &packet);
        while pair.now < Instant::ZERO + Duration::from_secs(5) && pair.step() {}
        let server = *pair.hosts[1].sockets.keys().next().expect("the server's");
        assert_eq!(pair.hosts[1].readable(server), 70_000);
    }
}
