//! One end of a bond, and the keys of its session.

use super::drops::{Drops, Reason};
use super::notice::Notice;
use super::search::{BASE, LEAST, Probe, Search};
use crate::packet::{FlowHasher, Header, Packet, clamp_mss, too_long};
use crate::session::message::Transport as TransportHeader;
use crate::session::message::{OVERHEAD, TRANSPORT_HEADER};
use crate::session::transport::{Opened, Transport};
use ropewalk_bonding::{
    Class, CompactHeader, Config, ConfigError, Control, Datagram, Endpoint, Event, FlowKey, MAX_PATHS,
    PathConfig, PathId, PathState, Quota,
};
use ropewalk_units::Instant;
use std::collections::{BTreeMap, VecDeque};
use std::net::{IpAddr, SocketAddr};

/// Upper half of the first octet of the session's own messages. The bond's control packets have 1 there, and
/// its data packets 8 or more.
const SESSION: u8 = 0;
/// A message of the session: it ends.
const CLOSE: u8 = 1;
/// A message of the session: a probe of the path's MTU.
const PROBE: u8 = 2;
/// A message of the session: the answer to a probe.
const PROBE_ANSWER: u8 = 3;
/// Octets of a probe and of its answer without padding.
const PROBE_SAYS: usize = 6;
/// The most answers that wait to be sent.
const ANSWERS: usize = 16;
/// Octets of UDP's header.
const UDP: usize = 8;
/// Octets of a train's packet without padding.
const TRAIN_SAYS: usize = 12;

/// Where datagrams of a path go: by which of the driver's sockets, and to whom.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Way {
    /// The socket's number.
    pub socket: usize,
    /// The other end's address there.
    pub to: SocketAddr,
    /// The own address that the other end sends to, if the socket has several. Answers leave from
    /// it: a translator of addresses lets in nothing from another.
    pub from: Option<IpAddr>,
}

impl Way {
    /// By a socket of one address.
    pub const fn new(socket: usize, to: SocketAddr) -> Self {
        Self { socket, to, from: None }
    }
}

/// Why a session ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Ending {
    /// The other end's process ends.
    Over,
    /// Another process with the same key has begun.
    Displaced,
}

/// How packets of the inside are treated.
#[derive(Clone, Debug)]
pub struct Inside {
    /// The class of each code point.
    pub classes: [Class; 64],
    /// The hash that names flows.
    pub hasher: FlowHasher,
    /// The longest packet in octets, if all paths carry what is configured.
    pub mtu: u16,
}

/// What is known of a path's lengths: octets of whole IP packets.
struct Length {
    search: Search,
    /// What the other end has found for its direction.
    peers: u16,
}

/// A bond's end, its keys, and where its paths lead.
pub(super) struct Tunnel {
    endpoint: Endpoint<Packet>,
    names: Vec<String>,
    transport: Transport,
    last: Option<Transport>,
    ways: [Option<Way>; MAX_PATHS],
    lengths: Vec<Length>,
    answers: VecDeque<(PathId, u16)>,
    probes: VecDeque<(PathId, Probe)>,
    /// Packets of this end for the inside: ICMP messages that a packet was too long.
    back: VecDeque<Packet>,
    /// When something authentic came last.
    pub(super) heard_at: Instant,
    began_at: Instant,
    /// What came from the inside, and what went there.
    offered: Count,
    handed_over: Count,
    /// Octets that a packet costs on a path beside its own.
    overhead: u32,
    notices: VecDeque<Notice>,
    pub(super) drops: Drops,
}

/// Packets of the inside.
#[derive(Clone, Copy, Debug, Default)]
struct Count {
    packets: u64,
    octets: u64,
}

impl Count {
    fn add(&mut self, octets: usize) {
        self.packets += 1;
        self.octets += octets as u64;
    }
}

/// One path, for observers. Octets are those of datagrams with all headers.
#[derive(Clone, Debug, serde::Serialize)]
pub struct PathStatus {
    /// Its name.
    pub name: String,
    /// `up`, `suspected` or `down`.
    pub state: &'static str,
    /// The other end's address. `None`: it is not known yet.
    pub remote: Option<SocketAddr>,
    /// Data packets sent.
    pub sent_packets: u64,
    /// Their octets.
    pub sent_bytes: u64,
    /// Data packets received.
    pub received_packets: u64,
    /// Their octets.
    pub received_bytes: u64,
    /// Packets that the other end sent and that were lost.
    pub lost_received: u64,
    /// Packets that this end sent and that were lost, as the other end reports.
    pub lost_sent: u64,
    /// Packets that were lost and sent again.
    pub repaired: u64,
    /// The scheduler's weight.
    pub weight: u32,
    /// Smoothed round-trip time in ms.
    pub rtt_ms: Option<f64>,
    /// How long a packet waits in queues on the way, in ms.
    pub queueing_ms: f64,
    /// Delivery rate, in Mbit/s.
    pub rate_mbps: f64,
    /// In-flight bound: octets that may be on their way, with all headers; `None`: any number.
    pub in_flight_bound: Option<u32>,
    /// The longest IP packet that it carries in this direction, in octets.
    pub mtu: u16,
    /// Octets that may go over it in a period, if there is a bound.
    pub quota: Option<u64>,
    /// Octets that count for it in the period that runs, both directions.
    pub quota_spent: u64,
}

/// A bond, for observers.
#[derive(Clone, Debug, serde::Serialize)]
pub struct TunnelStatus {
    /// Its paths.
    pub paths: Vec<PathStatus>,
    /// Packets that came from the inside.
    pub offered: u64,
    /// Their octets.
    pub offered_bytes: u64,
    /// Packets that came out of the bond at this end.
    pub delivered: u64,
    /// Octets of those that were handed to the inside.
    pub delivered_bytes: u64,
    /// Packets dropped while they waited for a path.
    pub dropped_waiting: u64,
    /// Acknowledgements of TCP that did not leave: later ones told all that they told before a path could take them.
    pub superseded: u64,
    /// Packets held back for order.
    pub held_back: u32,
    /// The most packets held back at once.
    pub held_back_most: u32,
    /// Mean time that a packet was held back, in ms.
    pub held_back_ms: f64,
    /// The longest time that a packet was held back, in ms.
    pub held_back_most_ms: f64,
    /// Second and further copies that came.
    pub duplicates: u64,
    /// Packets that came too late.
    pub late: u64,
    /// Missing packets that were given up.
    pub given_up: u64,
    /// Seconds since the bond began.
    pub age_s: f64,
    /// Seconds since the last authentic datagram.
    pub silent_s: f64,
    /// The longest inner packet that fits through every path, in octets.
    pub inner_mtu: u16,
    /// Octets that a packet costs on a path beside its own.
    pub overhead: u32,
}

impl Tunnel {
    /// A tunnel over paths that carry IP packets of at most these lengths, in octets.
    pub(super) fn new(
        config: Config,
        lengths: impl IntoIterator<Item = u16>,
        transport: Transport,
        now: Instant,
    ) -> Result<Self, ConfigError> {
        let lengths = lengths.into_iter().map(|most| Length { search: Search::new(most, now), peers: most });
        Ok(Self {
            lengths: lengths.take(config.paths.len()).collect(),
            answers: VecDeque::new(),
            probes: VecDeque::new(),
            back: VecDeque::new(),
            offered: Count::default(),
            handed_over: Count::default(),
            overhead: config.overhead,
            names: config.paths.iter().map(|path| path.name.clone()).collect(),
            endpoint: Endpoint::new(config, now)?,
            transport,
            last: None,
            ways: [None; MAX_PATHS],
            heard_at: now,
            began_at: now,
            notices: VecDeque::new(),
            drops: Drops::default(),
        })
    }

    /// What its paths have spent of their quotas, by their names.
    pub(super) fn quotas(&self) -> impl Iterator<Item = (String, Quota)> {
        (0..).zip(&self.names).map(|(place, name)| (name.clone(), self.endpoint.quota(PathId(place))))
    }

    /// Counts on from what earlier tunnels have spent of quotas.
    pub(super) fn resume(&mut self, spent: &BTreeMap<String, Quota>) {
        for (place, name) in (0..).zip(&self.names) {
            if let Some(before) = spent.get(name) {
                self.endpoint.resume_quota(PathId(place), before);
            }
        }
    }

    /// Its paths with their keys.
    pub(super) fn paths(&self) -> &[PathConfig] {
        &self.endpoint.config().paths
    }

    /// Gives its paths other keys, while packets flow.
    pub(super) fn set_path_keys(&mut self, now: Instant, paths: Vec<PathConfig>) -> Result<(), ConfigError> {
        self.endpoint.set_path_keys(now, paths)
    }

    /// Where a path leads until its packets say otherwise.
    pub(super) fn way(&self, path: usize) -> Option<Way> {
        self.ways.get(path).copied().flatten()
    }

    /// Is this path taken for dead? One with a spent quota is not.
    pub(super) fn is_down(&self, path: usize) -> bool {
        let id = PathId(path as u8);
        path < self.names.len()
            && self.endpoint.state(id) == PathState::Down
            && !self.endpoint.quota(id).is_spent()
    }

    pub(super) fn set_way(&mut self, path: usize, way: Way) {
        self.ways[path] = Some(way);
    }

    /// New keys; the old ones open what is still on its way.
    pub(super) fn rekey(&mut self, transport: Transport) {
        self.last = Some(std::mem::replace(&mut self.transport, transport));
    }

    /// The keys in use.
    pub(super) const fn transport(&self) -> &Transport {
        &self.transport
    }

    /// This end's names of the session in use and of the one before.
    pub(super) fn locals(&self) -> impl Iterator<Item = u32> + use<> {
        [Some(self.transport.local), self.last.as_ref().map(|last| last.local)].into_iter().flatten()
    }

    /// A packet of the inside.
    pub(super) fn handle_packet(
        &mut self,
        now: Instant,
        header: &Header,
        octets: &mut [u8],
        inside: &Inside,
    ) {
        self.offered.add(octets.len());
        clamp_mss(octets, usize::from(inside.mtu.min(self.inner_mtu_of_both())));
        if octets.len() > usize::from(self.inner_mtu()) {
            self.refuse(octets);
            return;
        }
        let class = inside.classes[usize::from(header.dscp & 63)];
        let flow = FlowKey {
            hash: inside.hasher.hash(header, octets),
            class,
            opens: header.opens_connection(octets),
            is_ack: header.is_ack(octets),
        };
        self.endpoint.handle_packet(now, Packet::new(octets), flow);
    }

    /// Drops a packet that does not fit through every path. Its sender is told how long it may be.
    fn refuse(&mut self, octets: &[u8]) {
        self.drops.count(Reason::TooLong);
        self.back.extend(too_long(octets, self.inner_mtu()).as_deref().map(Packet::new));
    }

    fn inner_of(&self, length: impl Fn(&Length) -> u16) -> u16 {
        let paths = self.lengths.iter().zip(&self.ways);
        let inner = |(own, way): (&Length, &Option<Way>)| {
            let headers = way.map_or(outer(SocketAddr::from(([0; 16], 0))), |way| outer(way.to));
            length(own).saturating_sub((headers + OVERHEAD) as u16 + CompactHeader::LEN as u16)
        };
        paths.map(inner).min().unwrap_or(u16::MAX)
    }

    /// The longest inner packet that fits through every path, in octets.
    pub(super) fn inner_mtu(&self) -> u16 {
        self.inner_of(|length| length.search.limit())
    }

    /// The longest inner packet that fits through every path in both directions.
    fn inner_mtu_of_both(&self) -> u16 {
        self.inner_of(|length| length.search.limit().min(length.peers))
    }

    /// Opens a sealed datagram of one of its sessions. Returns how the session ends, if the other
    /// end ends it.
    pub(super) fn handle_sealed(
        &mut self,
        now: Instant,
        header: TransportHeader,
        datagram: &mut [u8],
        way: Way,
    ) -> Option<Ending> {
        let transport = if header.receiver == self.transport.local {
            &mut self.transport
        } else {
            match &mut self.last {
                Some(last) if last.local == header.receiver => last,
                _ => {
                    self.drops.count(Reason::UnknownSession);
                    return None;
                }
            }
        };
        match transport.open(now, header, datagram) {
            Ok(opened) => self.handle_opened(now, &opened, way),
            Err(unopened) => {
                self.drops.count(unopened.into());
                None
            }
        }
    }

    /// Handles what a datagram held. Returns the same as [`Self::handle_sealed`].
    pub(super) fn handle_opened(&mut self, now: Instant, opened: &Opened<'_>, way: Way) -> Option<Ending> {
        self.heard_at = now;
        if opened.is_newest {
            self.follow(opened.path, way);
        }
        let first = opened.plain.first().copied().unwrap_or(0);
        if first >> 4 == SESSION {
            return self.hear(now, opened.path, opened.plain);
        }
        let taken = self.process(now, opened.path, opened.plain);
        if let Err(reason) = taken {
            self.drops.count(reason);
        }
        None
    }

    fn process(&mut self, now: Instant, path: PathId, plain: &[u8]) -> Result<(), Reason> {
        let datagram = read(&self.endpoint, plain).ok_or(Reason::NotUnderstood)?;
        let named = match &datagram {
            Datagram::Data(..) => None,
            Datagram::Control(control) => control.path(),
        };
        if path.index() >= self.names.len() || named.is_some_and(|named| named != path) {
            return Err(Reason::NotUnderstood);
        }
        self.endpoint.handle_datagram(now, path, datagram).map_err(Reason::from)
    }

    /// Handles a message of the session itself. Returns how the session ends, if it does.
    fn hear(&mut self, now: Instant, path: PathId, plain: &[u8]) -> Option<Ending> {
        let length = self.lengths.get_mut(path.index());
        match (plain, length) {
            ([CLOSE, 0, ..], _) => Some(Ending::Over),
            ([CLOSE, 1, ..], _) => Some(Ending::Displaced),
            ([PROBE, _, _, _, _, _, ..], Some(length)) => {
                let (number, found) = (field(plain, 2), field(plain, 4));
                length.peers = found.max(LEAST);
                if self.answers.len() < ANSWERS {
                    self.answers.push_back((path, number));
                }
                None
            }
            ([PROBE_ANSWER, _, _, _, _, _, ..], Some(length)) => {
                length.search.handle_answer(now, field(plain, 2));
                None
            }
            _ => {
                self.drops.count(Reason::NotUnderstood);
                None
            }
        }
    }

    /// A path's packets go where its newest authentic one came from.
    fn follow(&mut self, path: PathId, way: Way) {
        let Some(name) = self.names.get(path.index()) else { return };
        let known = &mut self.ways[path.index()];
        if *known != Some(way) {
            let from = known.map(|known| known.to);
            if from != Some(way.to) {
                self.notices.push_back(Notice::Roamed { path: name.clone(), from, to: way.to });
            }
            *known = Some(way);
        }
    }

    /// Says that the session ends, by every path. Keys that are too old say nothing.
    pub(super) fn end(&mut self, now: Instant, ending: Ending) -> Vec<(Way, Vec<u8>)> {
        let code = match ending {
            Ending::Over => 0,
            Ending::Displaced => 1,
        };
        let ways = self.ways.iter().zip(0..).filter_map(|(way, path)| Some((PathId(path), (*way)?)));
        let ways = ways.collect::<Vec<_>>();
        let seal = |(path, way)| {
            let mut datagram = vec![0; TRANSPORT_HEADER];
            datagram.extend_from_slice(&[CLOSE, code]);
            self.transport.seal(now, path, &mut datagram).then_some((way, datagram))
        };
        ways.into_iter().filter_map(seal).collect()
    }

    /// The next datagram, into `out`.
    pub(super) fn poll_transmit(&mut self, now: Instant, out: &mut Vec<u8>) -> Option<Way> {
        if !self.transport.is_alive(now) {
            return None;
        }
        if let Some(way) = self.next_probe(now, out) {
            return Some(way);
        }
        loop {
            let (path, datagram) = self.endpoint.poll_transmit(now)?;
            let Some(way) = self.ways[path.index()] else {
                self.drops.count(Reason::NoWay);
                continue;
            };
            out.clear();
            out.resize(TRANSPORT_HEADER, 0);
            let most = self.lengths.get(path.index()).map_or(BASE, |length| length.search.limit());
            write(&datagram, way.to, most, out);
            return self.transport.seal(now, path, out).then_some(way);
        }
    }

    /// The next answer to a probe, or the next probe.
    fn next_probe(&mut self, now: Instant, out: &mut Vec<u8>) -> Option<Way> {
        if let Some((path, number)) = self.answers.pop_front() {
            let says = [PROBE_ANSWER, 0, (number >> 8) as u8, number as u8, 0, 0];
            return self.seal_own(now, path, &says, PROBE_SAYS, out);
        }
        let (path, probe) = self.probes.pop_front()?;
        let to = self.ways[path.index()]?.to;
        let [n0, n1] = probe.number.to_be_bytes();
        let [l0, l1] = self.lengths[path.index()].search.limit().to_be_bytes();
        let len = usize::from(probe.len).saturating_sub(outer(to) + OVERHEAD);
        self.seal_own(now, path, &[PROBE, 0, n0, n1, l0, l1], len, out)
    }

    /// Queues the probes that are due.
    fn probe(&mut self, now: Instant) {
        for (place, length) in self.lengths.iter_mut().enumerate() {
            let path = PathId(place as u8);
            if self.ways[place].is_some() && now >= length.search.due() {
                // A path with a spent quota is not probed, as one that is not up.
                let may_carry = !self.endpoint.quota(path).is_spent();
                let is_up = may_carry && self.endpoint.path(path).state == PathState::Up;
                if is_up {
                    self.probes.extend(length.search.handle_timeout(now).map(|probe| (path, probe)));
                } else {
                    length.search.postpone(now);
                }
            }
        }
    }

    /// Seals a message of the session, filled up with zeros.
    fn seal_own(
        &mut self,
        now: Instant,
        path: PathId,
        says: &[u8],
        len: usize,
        out: &mut Vec<u8>,
    ) -> Option<Way> {
        let way = self.ways[path.index()]?;
        out.clear();
        out.resize(TRANSPORT_HEADER, 0);
        out.extend_from_slice(says);
        out.resize(TRANSPORT_HEADER + len.max(says.len()), 0);
        self.endpoint.note_octets(path, (out.len() + outer(way.to) + OVERHEAD - TRANSPORT_HEADER) as u32);
        self.transport.seal(now, path, out).then_some(way)
    }

    /// The next packet for the inside that came from the other end.
    pub(super) fn poll_deliver(&mut self, now: Instant) -> Option<Packet> {
        let packet = self.endpoint.poll_deliver(now)?;
        self.handed_over.add(packet.octets().len());
        Some(packet)
    }

    /// The next packet for the inside that is this end's own: an ICMP message.
    pub(super) fn poll_back(&mut self) -> Option<Packet> {
        self.back.pop_front()
    }

    pub(super) fn handle_timeout(&mut self, now: Instant) {
        if self.endpoint.poll_timeout().is_some_and(|(at, _)| at <= now) {
            self.endpoint.handle_timeout(now);
        }
        self.probe(now);
    }

    pub(super) fn poll_timeout(&self) -> Instant {
        let bond = self.endpoint.poll_timeout().map_or(Instant::MAX, |(at, _)| at);
        let known = self.lengths.iter().zip(&self.ways).filter(|(_, way)| way.is_some());
        known.map(|(length, _)| length.search.due()).fold(bond, Instant::min)
    }

    pub(super) fn poll_notice(&mut self) -> Option<Notice> {
        while let Some(event) = self.endpoint.poll_event() {
            let notice = match event {
                Event::PathStateChanged { path, from, to } => {
                    Notice::Path { path: self.names[path.index()].clone(), from, to }
                }
                Event::NoPath => Notice::NoPath,
                Event::WeightChanged { .. }
                | Event::GaveUp { .. }
                | Event::Dropped { .. }
                | Event::Overrun { .. } => continue,
            };
            self.notices.push_back(notice);
        }
        self.notices.pop_front()
    }

    pub(super) fn status(&self, now: Instant) -> TunnelStatus {
        let resequencer = self.endpoint.resequencer();
        let paths = self.endpoint.paths().zip(&self.names).zip(&self.ways).zip(&self.lengths);
        let paths = paths.map(|(((view, name), way), length)| PathStatus {
            mtu: length.search.limit(),
            quota: self.endpoint.quota(view.id).limit(),
            quota_spent: self.endpoint.quota_spent(view.id),
            name: name.clone(),
            state: view.state.name(),
            remote: way.map(|way| way.to),
            sent_packets: view.sent_packets,
            sent_bytes: view.sent_bytes,
            received_packets: view.received_packets,
            received_bytes: view.received_bytes,
            lost_received: view.lost_received,
            lost_sent: view.lost_reported,
            repaired: view.repaired,
            weight: view.weight,
            rtt_ms: view.srtt.map(|rtt| rtt.as_secs_f64() * 1e3),
            queueing_ms: view.queueing_delay.as_secs_f64() * 1e3,
            rate_mbps: view.delivery_rate.as_mbps(),
            in_flight_bound: (view.inflight_bound < u32::MAX).then_some(view.inflight_bound),
        });
        TunnelStatus {
            paths: paths.collect(),
            offered: self.offered.packets,
            offered_bytes: self.offered.octets,
            delivered: resequencer.delivered,
            delivered_bytes: self.handed_over.octets,
            dropped_waiting: self.endpoint.dropped(),
            superseded: self.endpoint.superseded(),
            held_back: resequencer.depth_packets,
            held_back_most: resequencer.max_depth_packets,
            held_back_ms: resequencer.mean_added_delay.as_secs_f64() * 1e3,
            held_back_most_ms: resequencer.max_added_delay.as_secs_f64() * 1e3,
            duplicates: resequencer.duplicates,
            late: resequencer.late,
            given_up: resequencer.given_up,
            inner_mtu: self.inner_mtu(),
            overhead: self.overhead,
            age_s: now.saturating_since(self.began_at).as_secs_f64(),
            silent_s: now.saturating_since(self.heard_at).as_secs_f64(),
        }
    }
}

/// Octets of the IP and UDP headers of a datagram to this address.
pub(super) const fn outer(to: SocketAddr) -> usize {
    UDP + if to.is_ipv4() { 20 } else { 40 }
}

fn field(plain: &[u8], at: usize) -> u16 {
    plain.get(at..).and_then(|rest| rest.first_chunk()).map_or(0, |chunk| u16::from_be_bytes(*chunk))
}

/// Writes a message of the bond behind what `out` holds. A train's packets stand for full packets.
/// Sealing makes them longer, so they are cut to the length that they stand for, or to `most`.
fn write(datagram: &Datagram<Packet>, to: SocketAddr, most: u16, out: &mut Vec<u8>) {
    match datagram {
        Datagram::Data(header, packet) => {
            out.extend_from_slice(&CompactHeader::encode(header));
            out.extend_from_slice(packet.octets());
        }
        Datagram::Control(control) => {
            let start = out.len();
            control.encode(out);
            if let Control::Train(_) = control {
                let full = control.wire_len() as usize + outer(SocketAddr::from(([0, 0, 0, 0], 0)));
                let full = full.min(usize::from(most));
                out.truncate(start + (full - outer(to) - OVERHEAD).max(TRAIN_SAYS));
            }
        }
    }
}

/// Reads a message of the bond. `None`: it is not understood. Never panics.
fn read(endpoint: &Endpoint<Packet>, plain: &[u8]) -> Option<Datagram<Packet>> {
    if CompactHeader::is_first_of(plain) {
        let header = endpoint.complete(&CompactHeader::decode(plain).ok()?)?;
        return Some(Datagram::Data(header, Packet::new(&plain[CompactHeader::LEN as usize..])));
    }
    read_control(plain)
}

/// Reads a control packet. `None`: it is none. Never panics.
fn read_control(plain: &[u8]) -> Option<Datagram<Packet>> {
    match Control::decode(plain) {
        Ok(control) => Some(Datagram::Control(control)),
        // A train's packet may have been cut, so it is filled up with zeros.
        Err(_) if plain.len() >= TRAIN_SAYS => {
            let mut full = [0; 1500];
            let len = plain.len().min(full.len());
            full[..len].copy_from_slice(&plain[..len]);
            match Control::decode(&full) {
                Ok(control @ Control::Train(_)) => Some(Datagram::Control(control)),
                _ => None,
            }
        }
        Err(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use ropewalk_bonding::{PathConfig, SchedulerConfig};

    fn config() -> Config {
        let paths = ["dsl", "lte"].map(|name| PathConfig::new(name, None)).to_vec();
        Config::new(paths, SchedulerConfig::RateAware)
    }

    proptest! {
        #[test]
        fn no_octets_make_it_panic(kind in 0u8..8, mut plain in prop::collection::vec(any::<u8>(), 0..1600)) {
            let endpoint = Endpoint::new(config(), Instant::ZERO).expect("a bond");
            for upper in [0x10, 0x80] {
                if let Some(first) = plain.first_mut() {
                    *first = upper | kind;
                }
                let _ = read(&endpoint, &plain);
            }
        }
    }

    #[test]
    fn a_train_is_as_long_on_the_line_as_what_it_stands_for() {
        use ropewalk_bonding::TrainPacket;
        let control = Control::Train(TrainPacket { path: PathId(1), number: 3, timestamp: 4 });
        for to in ["192.0.2.1:1", "[2001:db8::1]:1"] {
            let to = to.parse().expect("an address");
            let mut out = Vec::new();
            write(&Datagram::Control(control), to, 1500, &mut out);
            assert_eq!(out.len() + OVERHEAD + outer(to), 1500);
            assert!(matches!(read_control(&out), Some(Datagram::Control(read)) if read == control));
        }
    }
}
