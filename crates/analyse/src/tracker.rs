//! Assigns packets to subflows, and subflows to connections.

use crate::capture::{Ending, Frame};
use crate::connection::ConnectionState;
use crate::report::{Direction, Kind, Report, Settings};
use ropewalk_units::{Instant, Seq};
use ropewalk_wire::read::{IpPacket, TcpPacket};
use ropewalk_wire::{Flags, Join, MptcpOption, Options, Segment};
use std::collections::BTreeMap;
use std::net::SocketAddr;

/// Where a subflow is kept, by its ends.
#[derive(Clone, Copy, Debug)]
struct Place {
    connection: usize,
    subflow: usize,
    /// The sequence number of its SYN. A SYN with another number begins another subflow between the
    /// same ends.
    syn: Option<Seq>,
}

/// Follows every connection of a capture.
#[derive(Debug)]
pub(crate) struct Tracker<'a> {
    settings: &'a Settings,
    start: Option<Instant>,
    last: Instant,
    packets: u64,
    other_packets: u64,
    connections: Vec<ConnectionState>,
    /// By the ends, lower one first.
    places: BTreeMap<(SocketAddr, SocketAddr), Place>,
}

impl<'a> Tracker<'a> {
    pub(crate) fn new(settings: &'a Settings) -> Self {
        Self {
            settings,
            start: None,
            last: Instant::ZERO,
            packets: 0,
            other_packets: 0,
            connections: Vec::new(),
            places: BTreeMap::new(),
        }
    }

    /// Takes the next packet.
    pub(crate) fn process(&mut self, frame: &Frame<'_>) {
        self.packets += 1;
        let start = *self.start.get_or_insert(frame.time);
        let now = Instant::ZERO + frame.time.saturating_since(start);
        self.last = self.last.max(now);
        let read = IpPacket::read(frame.packet).and_then(|ip| Ok((ip, TcpPacket::read(&ip)?)));
        match read {
            Ok((ip, tcp)) => self.on_segment(now, &ip, &tcp),
            Err(_) => self.other_packets += 1,
        }
    }

    fn on_segment(&mut self, now: Instant, ip: &IpPacket<'_>, tcp: &TcpPacket<'_>) {
        let from = SocketAddr::new(ip.header.source, tcp.header.source_port);
        let to = SocketAddr::new(ip.header.destination, tcp.header.destination_port);
        let place = self.place(now, from, to, tcp);
        let connection = &mut self.connections[place.connection];
        let is_up = connection.subflows[place.subflow].client == from;
        let direction = if is_up { Direction::Up } else { Direction::Down };
        let segment = tcp.segment(connection.expected(direction));
        connection.process(now, place.subflow, direction, &segment, self.settings);
    }

    /// The subflow of a packet; a new one for a SYN that is not the last one's.
    fn place(&mut self, now: Instant, from: SocketAddr, to: SocketAddr, tcp: &TcpPacket<'_>) -> Place {
        let ends = (from.min(to), from.max(to));
        let is_syn = tcp.header.flags.contains(Flags::SYN) && !tcp.header.flags.contains(Flags::ACK);
        let syn = is_syn.then_some(tcp.header.seq);
        match self.places.get(&ends) {
            Some(place) if syn.is_none() || place.syn == syn => *place,
            _ => {
                let place = self.open(now, from, to, syn, tcp);
                self.places.insert(ends, place);
                place
            }
        }
    }

    /// A subflow that the capture shows for the first time: of a known connection, or of a new one.
    fn open(
        &mut self,
        now: Instant,
        from: SocketAddr,
        to: SocketAddr,
        syn: Option<Seq>,
        tcp: &TcpPacket<'_>,
    ) -> Place {
        let segment = tcp.segment(Default::default());
        let joined = joining(&segment).and_then(|token| self.by_token(token));
        let (connection, (client, server)) = match joined {
            Some((connection, Direction::Up)) => (connection, (from, to)),
            Some((connection, Direction::Down)) => (connection, (to, from)),
            None => {
                // Without a SYN the sender of a SYN/ACK is the server; else whoever speaks first
                // counts as client.
                let is_answer = tcp.header.flags.contains(Flags::SYN | Flags::ACK);
                self.connections.push(ConnectionState::new(kind(&segment), now));
                (self.connections.len() - 1, if is_answer { (to, from) } else { (from, to) })
            }
        };
        let subflow = self.connections[connection].add_subflow(client, server, now);
        Place { connection, subflow, syn }
    }

    /// The latest connection with this token at one of its hosts, and the direction in which the
    /// host that joins it sends.
    fn by_token(&self, token: u32) -> Option<(usize, Direction)> {
        let of = |(number, connection): (usize, &ConnectionState)| {
            let has = |direction: &Direction| connection.token(*direction) == Some(token);
            [Direction::Up, Direction::Down].into_iter().find(has).map(|direction| (number, direction))
        };
        self.connections.iter().enumerate().rev().find_map(of)
    }

    pub(crate) fn report(self, ending: Ending) -> Report {
        let (settings, last) = (self.settings, self.last);
        Report {
            start: self.start.unwrap_or(Instant::ZERO),
            duration: self.last.saturating_since(Instant::ZERO),
            packets: self.packets,
            other_packets: self.other_packets,
            truncated: ending.truncated,
            connections: self.connections.into_iter().map(|each| each.report(last, settings)).collect(),
        }
    }
}

/// The token that a SYN joins by (RFC 8684 §3.2).
fn joining(segment: &Segment) -> Option<u32> {
    segment.options.mptcp.rare().iter().find_map(|option| match option {
        MptcpOption::Join(Join::Syn { token, .. }) => Some(*token),
        _ => None,
    })
}

/// What the first packet of a subflow that joins nothing known says of its connection.
fn kind(segment: &Segment) -> Kind {
    let asks = |options: &Options| {
        options.mptcp.rare().iter().any(|option| matches!(option, MptcpOption::Capable { .. }))
    };
    let joins = segment.options.mptcp.rare().iter().any(|option| matches!(option, MptcpOption::Join(_)));
    if asks(&segment.options) {
        // Until the answer shows that both ends speak it.
        Kind::FellBack
    } else if joins || segment.options.mptcp.dss.is_some() {
        Kind::LooseSubflow
    } else {
        Kind::Tcp
    }
}
