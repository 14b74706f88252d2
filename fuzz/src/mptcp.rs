//! Segments to a Multipath TCP connection of several subflows: it does not panic, answers with measure, and invents
//! no octet.

use super::source::Octets;
use ropewalk_adversary::{Knowledge, Numbers, Source, Target, segment};
use ropewalk_mptcp::{Accepting, Config, Connection, Event, Path, Secret, SubflowId, keys};
use ropewalk_units::{Dsn, Duration, Instant, Seq, Ssn};
use ropewalk_wire::{DataAck, Dss, Flags, Join, Key, Mapping, MptcpOption, Payload, Segment, Timestamps};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

/// Answers to one segment or timeout, at most.
const BURST: u32 = 20_000;
/// The peer's key.
const KEY: Key = 0x0123_4567_89ab_cdef;
const FIRST: SubflowId = SubflowId(0);
/// The initial sequence number of every subflow: soon past the wrap.
const ISS: Seq = Seq::new(0xffff_f000);

struct Endpoint {
    mptcp: Connection,
    now: Instant,
    own_key: Option<Key>,
    /// Subflows, and the nonce of the SYN/ACK of a joined one.
    subflows: Vec<(SubflowId, u32)>,
    received: u64,
    read: u64,
    next_port: u16,
}

/// Accepts a connection, and does with it what the octets say.
pub fn run(octets: &[u8]) {
    let mut source = Octets::new(octets);
    let mut endpoint = Endpoint::accept(&mut source);
    while !source.is_empty() {
        endpoint.act(&mut source);
        endpoint.pump();
        assert!(endpoint.read <= endpoint.received, "more was read than came");
    }
}

fn address(host: u8, port: u16) -> SocketAddr {
    SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, 0, 0, host)), port)
}

fn config(source: &mut Octets<'_>) -> Config {
    let mut config = if source.one_in(4) { Config::classic() } else { Config::linux() };
    config.tcp.timestamps ^= source.one_in(4);
    config.tcp.sack ^= source.one_in(4);
    config.checksum ^= source.one_in(2);
    config.receive_buffer = if source.one_in(4) { 3_000 } else { 200_000 };
    config.send_buffer = 200_000;
    config
}

fn capable(receiver_key: Option<Key>, sender_key: Option<Key>) -> MptcpOption {
    MptcpOption::Capable {
        checksum_required: false,
        no_more_subflows: false,
        sender_key,
        receiver_key,
        data: None,
    }
}

fn syn(option: MptcpOption, seq: u32) -> Segment {
    let mut syn = Segment { seq: Seq::new(seq), flags: Flags::SYN, window: 65_535, ..Segment::default() };
    syn.options.mss = Some(1460);
    syn.options.window_scale = Some(7);
    syn.options.timestamps = Some(Timestamps { value: 1, echo: 0 });
    syn.options.mptcp.push(option);
    syn
}

impl Endpoint {
    fn accept(source: &mut Octets<'_>) -> Self {
        let path = Path { local: address(2, 5001), remote: address(1, 40_000) };
        let local = vec![path.local, address(4, 5001)];
        let opening = syn(capable(None, None), source.next() as u32);
        let secret = Secret([7; 32]);
        let accepting = Accepting { path, local_addresses: local, iss: ISS, secret };
        let mptcp = Connection::accept(config(source), accepting, &opening, Instant::ZERO);
        let (now, subflows) = (Instant::ZERO, vec![(FIRST, 0)]);
        let mut endpoint =
            Self { mptcp, now, own_key: None, subflows, received: 0, read: 0, next_port: 1000 };
        endpoint.pump();
        if !source.one_in(8) {
            endpoint.shake_hands();
        }
        endpoint
    }

    /// The third ACK, and a first octet that confirms the connection.
    fn shake_hands(&mut self) {
        let mut third = self.honest(FIRST);
        third.options.mptcp.push(capable(self.own_key, Some(KEY)));
        self.mptcp.handle_segment(self.now, FIRST, &third);
        let mut data = self.honest(FIRST);
        data.payload = Payload { offset: 0, len: 1 };
        // RFC 8684 §3.3.1 leaves it out where no checksums are used.
        let mapping = Mapping { dsn: self.dsn(0), ssn: Ssn::new(1), len: 1, checksum: None };
        data.options.mptcp.dss = Some(Dss::new(Some(DataAck::Long(self.data_ack())), Some(mapping)));
        self.received += 1;
        self.mptcp.handle_segment(self.now, FIRST, &data);
        self.pump();
    }

    fn dsn(&self, position: u64) -> Dsn {
        keys::initial_dsn(KEY) + 1 + position
    }

    fn data_ack(&self) -> Dsn {
        keys::initial_dsn(self.own_key.unwrap_or(0)) + 1 + self.mptcp.stats().bytes_acked
    }

    /// A pure ACK of all that was sent on a subflow.
    fn honest(&self, id: SubflowId) -> Segment {
        let mut ack = Segment { flags: Flags::ACK, window: 65_535, ..Segment::default() };
        if let Some(subflow) = self.mptcp.subflow(id) {
            (ack.seq, ack.ack) = (subflow.tcp().rcv_nxt(), subflow.tcp().snd_nxt());
        }
        ack.options.timestamps = Some(Timestamps { value: self.now.as_millis() as u32 + 1, echo: 1 });
        ack
    }

    fn act(&mut self, source: &mut Octets<'_>) {
        match source.below(16) {
            0 => self.mptcp.push(self.mptcp.send_space().min(source.below(10_000))),
            1 => self.wait(Duration::from_micros(source.below(3_000_000))),
            2 if source.one_in(8) => self.mptcp.finish(),
            3 if source.one_in(32) => self.mptcp.abort(),
            4 => self.join(source),
            _ => self.take(source),
        }
    }

    /// A MP_JOIN, completed nearly always.
    fn join(&mut self, source: &mut Octets<'_>) {
        let Some(own_key) = self.own_key else { return };
        let (token, nonce) = (keys::token(own_key), source.next() as u32);
        let (backup, address_id) = (source.one_in(4), source.below(4) as u8);
        let opening =
            syn(MptcpOption::Join(Join::Syn { backup, address_id, token, nonce }), source.next() as u32);
        self.next_port += 1;
        let path = Path { local: address(2, 5001), remote: address(3, self.next_port) };
        let Ok(id) = self.mptcp.accept_join(self.now, path, &opening, ISS) else { return };
        self.subflows.push((id, 0));
        self.pump();
        let answered =
            self.subflows.iter().rev().find(|(subflow, _)| *subflow == id).map(|(_, nonce)| *nonce);
        if let Some(own_nonce) = answered.filter(|_| !source.one_in(8)) {
            let hmac = keys::leftmost_160(&keys::join_hmac(KEY, own_key, nonce, own_nonce));
            let mut third = self.honest(id);
            third.options.mptcp.push(MptcpOption::Join(Join::Ack { hmac }));
            self.mptcp.handle_segment(self.now, id, &third);
        }
    }

    fn take(&mut self, source: &mut Octets<'_>) {
        let place = source.below(self.subflows.len() as u64) as usize;
        let (id, _) = self.subflows[place];
        let honest = self.honest(id);
        let ssn = self.mptcp.subflow(id).map_or(0, |subflow| honest.seq.since(subflow.tcp().irs()));
        let knowledge = Knowledge {
            timestamps: honest.options.timestamps,
            dsn: self.dsn(self.mptcp.stats().bytes_delivered),
            ssn: Ssn::new(ssn),
            data_ack: self.data_ack(),
            keys: (Some(KEY), self.own_key),
            token: self.own_key.map(keys::token),
        };
        let numbers = Numbers::Near { seq: honest.seq, ack: honest.ack, spread: 100_000 };
        let mut drawn = segment(source, &Target { knowledge, numbers, multipath: true });
        if !source.one_in(4) {
            // TCP accepts it, so that the options are what counts.
            (drawn.seq, drawn.ack, drawn.flags) = (honest.seq, honest.ack, Flags::ACK);
            drawn.options.timestamps = honest.options.timestamps;
        }
        self.received += u64::from(drawn.payload.len);
        self.mptcp.handle_segment(self.now, id, &drawn);
    }

    fn wait(&mut self, duration: Duration) {
        let end = self.now + duration;
        while let Some((at, _)) = self.mptcp.poll_timeout().filter(|(at, _)| *at <= end) {
            self.now = self.now.max(at);
            self.mptcp.handle_timeout(self.now);
            self.pump();
        }
        self.now = end;
    }

    fn pump(&mut self) {
        self.events();
        while let Some(piece) = self.mptcp.read(u64::MAX) {
            self.read += u64::from(piece.len);
        }
        let mut burst = 0;
        while let Some((id, segment)) = self.mptcp.poll_transmit(self.now) {
            burst += 1;
            assert!(burst <= BURST, "an endless burst");
            assert!(segment.options.wire_len() <= 40, "options fit: {segment:?}");
            self.learn(id, &segment);
            self.events();
        }
        self.events();
    }

    /// The own key, and the nonces of SYN/ACKs.
    fn learn(&mut self, id: SubflowId, segment: &Segment) {
        for option in segment.options.mptcp.rare() {
            match option {
                MptcpOption::Capable { sender_key: Some(key), .. } => self.own_key = Some(*key),
                MptcpOption::Join(Join::SynAck { nonce, .. }) => {
                    let joined = self.subflows.iter_mut().filter(|(subflow, _)| *subflow == id);
                    joined.for_each(|(_, known)| *known = *nonce);
                }
                _ => {}
            }
        }
    }

    /// Subflows that the path manager wants are opened.
    fn events(&mut self) {
        while let Some(event) = self.mptcp.poll_event() {
            if let Event::SubflowWanted(wanted) = event {
                self.next_port += 1;
                let opened = self.mptcp.open_subflow(self.now, wanted, Some((self.next_port, ISS)));
                self.subflows.extend(opened.map(|id| (id, 0)));
            }
        }
    }
}
