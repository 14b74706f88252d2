//! A station's part in broadcasts: it sends its own, and counts those that it hears.

use super::packet::{Body, Datagram, Packet, Socket};
use crate::application::draw;
use crate::plan::Interval;
use ropewalk_sim::{Context, PacketId, Port, Stream};
use ropewalk_units::{Duration, Instant};
use ropewalk_wire::Payload;
use std::collections::BTreeMap;

/// First port that broadcasts go to: the k-th of the plan has the k-th from here.
const FIRST_PORT: u16 = 6001;

/// One broadcast of one station.
#[derive(Debug)]
pub(crate) struct Announcement {
    /// Its index in the plan.
    pub(crate) broadcast: u16,
    /// Payload octets.
    pub(crate) packet: u32,
    /// From one datagram to the next.
    pub(crate) interval: Interval,
    /// The next one.
    pub(crate) next: Instant,
    /// None is sent from here on.
    pub(crate) stop: Instant,
    /// What random intervals are drawn from.
    pub(crate) stream: Stream,
    /// How many were sent.
    pub(crate) sent: u64,
}

/// Datagrams of one broadcast that a station has heard from another.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Heard {
    /// How many.
    pub(crate) datagrams: u64,
    /// The sum of their one-way delays.
    pub(crate) delay: Duration,
}

/// The radio of a station on a channel with broadcasts. It is no host: a relay has one, too.
#[derive(Debug)]
pub(crate) struct Announcer {
    /// Its station: the port that its datagrams come from.
    station: u16,
    /// What it writes into its packets: its own address, and that of everybody.
    addresses: [Socket; 2],
    port: Port,
    own: Vec<Announcement>,
    /// By broadcast and station.
    heard: BTreeMap<(u16, u16), Heard>,
}

impl Announcer {
    /// It has sent and heard nothing yet. `addresses`: its own, and that of everybody.
    pub(crate) fn new(station: u16, addresses: [Socket; 2], own: Vec<Announcement>) -> Self {
        // An announcer is attached to the medium and to nothing else.
        Self { station, addresses, port: Port(0), own, heard: BTreeMap::new() }
    }

    /// What it sends.
    pub(crate) fn own(&self) -> &[Announcement] {
        &self.own
    }

    /// What it has heard of a broadcast of another station.
    pub(crate) fn heard(&self, broadcast: u16, station: u16) -> Heard {
        self.heard.get(&(broadcast, station)).copied().unwrap_or_default()
    }

    /// A datagram has been heard.
    pub(crate) fn handle_packet(&mut self, context: &mut Context<'_, Packet>, id: PacketId) {
        let (now, packet) = (context.now(), context.packet(id));
        if let Body::Udp(datagram) = &packet.body {
            let broadcast = packet.destination.port() - FIRST_PORT;
            let heard = self.heard.entry((broadcast, packet.source.port())).or_default();
            heard.datagrams += 1;
            heard.delay += now - datagram.sent;
        }
        context.drop_packet(id);
    }

    /// The time of one of its own has come: `token` tells which.
    pub(crate) fn handle_timer(&mut self, context: &mut Context<'_, Packet>, token: u32) {
        let own = &mut self.own[token as usize];
        let now = context.now();
        if now >= own.stop {
            return;
        }
        let payload = Payload { offset: own.sent * u64::from(own.packet), len: own.packet };
        let body = Body::Udp(Datagram { number: own.sent, sent: now, payload });
        let [source, destination] = self.addresses;
        let source = source.with_port(self.station);
        let destination = destination.with_port(FIRST_PORT + own.broadcast);
        own.sent += 1;
        context.send(self.port, Packet::new(source, destination, body));
        own.next = now.saturating_add(draw(own.interval, &mut own.stream));
        context.set_timer(own.next, token);
    }
}
