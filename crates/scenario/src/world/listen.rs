//! Listening to links: captures, and events of packets.

use super::capture::{CaptureTap, Comment};
use super::packet::{Body, Packet, Socket};
use super::sacked::Scoreboards;
use crate::plan::{EventKind, EventKinds, NodeKind, Plan};
use ropewalk_sim::{DropReason, LinkId, NoTap, Packet as _, Tap};
use ropewalk_units::Instant;
use ropewalk_wifi::Sniffed;
use ropewalk_wire::{Payload, Segment};

/// A tap that is told when the world pauses: everything up to now has been heard.
pub(super) trait PausingTap: Tap<Packet> {
    /// What happened to packets since the last call.
    fn take_heard(&mut self) -> Vec<Heard> {
        Vec::new()
    }

    /// Are comments wanted?
    fn has_capture(&self) -> bool {
        false
    }

    /// Are frames on the air wanted?
    fn has_air(&self) -> bool {
        false
    }

    /// These frames have begun since the last call.
    fn write_air(&mut self, _frames: Vec<Sniffed>) {}

    /// The world has reached the end of a stretch; these comments tell of events in it.
    fn pause(&mut self, _comments: Vec<Comment>) {}
}

impl PausingTap for NoTap {}

/// What happened to a packet on a link.
#[derive(Clone, Copy, Debug)]
pub(super) struct Heard {
    pub(super) at: Instant,
    pub(super) link: LinkId,
    pub(super) what: Happened,
    /// Its ends; of a packet in a bond's tunnel those of the packet inside.
    pub(super) source: Socket,
    pub(super) destination: Socket,
    /// Octets of the whole packet.
    pub(super) len: u32,
    /// What it carries of the connection's stream.
    pub(super) payload: Option<Payload>,
}

/// What can happen to a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Happened {
    Sent,
    Marked,
    Dropped(DropReason),
    /// Of data: its sender was told that it has arrived beyond a hole.
    Sacked,
}

/// Hears what the scenario asks for.
#[derive(Debug)]
pub(super) struct EventTap {
    kinds: EventKinds,
    /// By link id: does a host send into it?
    from_host: Vec<bool>,
    /// By link id: does it lead to a host?
    to_host: Vec<bool>,
    boards: Scoreboards,
    heard: Vec<Heard>,
}

impl EventTap {
    /// Nothing heard yet.
    pub(super) fn new(plan: &Plan) -> Self {
        let is_host = |node: usize| plan.nodes[node].kind == NodeKind::Host;
        let wires = || plan.links.iter().filter(|link| link.bond().is_none());
        Self {
            kinds: plan.settings.events,
            from_host: wires().flat_map(|link| link.ends.map(is_host)).collect(),
            to_host: wires().flat_map(|link| [link.ends[1], link.ends[0]].map(is_host)).collect(),
            boards: Scoreboards::default(),
            heard: Vec::new(),
        }
    }

    /// A packet has left a link's transmitter.
    fn transmitted(&mut self, at: Instant, link: LinkId, packet: &Packet) {
        if !packet.is_data() || !is_one(&self.from_host, link) {
            return;
        }
        if self.kinds.contains(EventKind::Segment) {
            self.hear(at, link, packet, Happened::Sent);
        }
        if self.kinds.contains(EventKind::Sack)
            && let Body::Tcp(segment) = &packet.body
        {
            self.boards.sent((packet.source, packet.destination), segment);
        }
    }

    /// A packet has reached the end of a link.
    fn delivered(&mut self, at: Instant, link: LinkId, packet: &Packet) {
        if self.kinds.contains(EventKind::Sack)
            && is_one(&self.to_host, link)
            && let Body::Tcp(segment) = &packet.body
        {
            self.hear_sack(at, link, packet, segment);
        }
    }

    fn hear_sack(&mut self, at: Instant, link: LinkId, packet: &Packet, segment: &Segment) {
        let (source, destination) = (packet.destination, packet.source);
        for payload in self.boards.acknowledged((source, destination), segment) {
            let (what, len) = (Happened::Sacked, payload.len);
            self.heard.push(Heard { at, link, what, source, destination, len, payload: Some(payload) });
        }
    }

    fn hear(&mut self, at: Instant, link: LinkId, packet: &Packet, what: Happened) {
        let inner = innermost(packet);
        let payload = match &inner.body {
            Body::Tcp(segment) => Some(segment.payload),
            Body::Udp(datagram) => Some(datagram.payload),
            Body::Bonded(_) | Body::BondControl(_) => None,
        };
        let payload = payload.filter(|payload| payload.len > 0);
        let (source, destination, len) = (inner.source, inner.destination, packet.wire_len());
        self.heard.push(Heard { at, link, what, source, destination, len, payload });
    }
}

/// Is this link among those?
fn is_one(links: &[bool], link: LinkId) -> bool {
    links.get(link.0 as usize).is_some_and(|is_one| *is_one)
}

/// The packet within all tunnels.
fn innermost(packet: &Packet) -> &Packet {
    match &packet.body {
        Body::Bonded(bonded) => innermost(&bonded.inner),
        _ => packet,
    }
}

/// A capture, events, or both.
#[derive(Debug)]
pub(super) struct Listeners {
    pub(super) capture: Option<CaptureTap>,
    pub(super) events: Option<EventTap>,
}

impl PausingTap for Listeners {
    fn take_heard(&mut self) -> Vec<Heard> {
        self.events.as_mut().map(|events| std::mem::take(&mut events.heard)).unwrap_or_default()
    }

    fn has_capture(&self) -> bool {
        self.capture.is_some()
    }

    fn has_air(&self) -> bool {
        self.capture.as_ref().is_some_and(CaptureTap::has_air)
    }

    fn write_air(&mut self, frames: Vec<Sniffed>) {
        if let Some(capture) = &mut self.capture {
            capture.write_air(frames);
        }
    }

    fn pause(&mut self, comments: Vec<Comment>) {
        if let Some(capture) = &mut self.capture {
            capture.comment(comments);
            capture.write_pending();
        }
    }
}

impl Tap<Packet> for Listeners {
    const ACTIVE: bool = true;

    fn transmitted(&mut self, at: Instant, link: LinkId, packet: &Packet) {
        if let Some(capture) = &mut self.capture {
            capture.transmitted(at, link, packet);
        }
        if let Some(events) = &mut self.events {
            events.transmitted(at, link, packet);
        }
    }

    fn aired(&mut self, at: Instant, packet: &Packet) {
        if let Some(capture) = &mut self.capture {
            capture.aired(at, packet);
        }
    }

    fn delivered(&mut self, at: Instant, link: LinkId, packet: &Packet) {
        if let Some(capture) = &mut self.capture {
            capture.delivered(at, link, packet);
        }
        if let Some(events) = &mut self.events {
            events.delivered(at, link, packet);
        }
    }

    fn dropped(&mut self, at: Instant, link: LinkId, packet: &Packet, reason: DropReason) {
        if let Some(capture) = &mut self.capture {
            capture.dropped(at, link, packet, reason);
        }
        if let Some(events) = &mut self.events
            && events.kinds.contains(EventKind::Drop)
        {
            events.hear(at, link, packet, Happened::Dropped(reason));
        }
    }

    fn marked(&mut self, at: Instant, link: LinkId, packet: &Packet) {
        if let Some(events) = &mut self.events
            && events.kinds.contains(EventKind::Mark)
        {
            events.hear(at, link, packet, Happened::Marked);
        }
    }
}
