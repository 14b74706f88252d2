//! A host of ours at the edge: its packets go into the links without a kernel.

use super::lateness::Lateness;
use super::packet::Octets;
use crate::application::OwnEnd;
use crate::board::Board;
use crate::clock::Clock;
use ropewalk_host::{Event, Host};
use ropewalk_sim::{Context, PacketId, Port};
use ropewalk_units::{Duration, Instant};
use std::net::IpAddr;
use std::sync::Arc;

/// The least time between two reports of its subflows.
const REPORT_EVERY: Duration = Duration::from_millis(10);
/// Its only timer.
const TIMER: u32 = 0;

/// A host with our stack, and the ends of connections that it has.
pub(crate) struct OwnHost {
    host: Host,
    /// By port.
    addresses: Vec<IpAddr>,
    ends: Vec<OwnEnd>,
    board: Arc<Board>,
    reported_at: Instant,
    /// When it is woken; [`Instant::MAX`]: never.
    woken_at: Instant,
    octets: Vec<u8>,
    clock: Clock,
    lateness: Lateness,
}

impl OwnHost {
    /// A host with these addresses, in the order of its links. `secret` is what its sequence
    /// numbers and keys are made of.
    pub(crate) fn new(
        (addresses, secret): (Vec<IpAddr>, [u64; 4]),
        ends: Vec<OwnEnd>,
        board: Arc<Board>,
        clock: Clock,
    ) -> Self {
        let mut host = Host::new(addresses.clone(), secret);
        ends.iter().for_each(|end| end.prepare(&mut host));
        let (reported_at, woken_at) = (Instant::ZERO, Instant::MAX);
        let lateness = Lateness::default();
        Self { host, addresses, ends, board, reported_at, woken_at, octets: Vec::new(), clock, lateness }
    }

    /// How late its packets were.
    pub(super) const fn lateness(&self) -> &Lateness {
        &self.lateness
    }

    /// A packet has come out of a link. As at a kernel, an interface takes what is for its own
    /// address only.
    pub(super) fn deliver(&mut self, context: &mut Context<'_, Octets>, port: Port, id: PacketId) {
        let packet = context.packet(id);
        let is_own = packet.destination() == self.addresses[port.0 as usize];
        if is_own {
            self.lateness.record(self.clock.now().saturating_since(context.now()));
            self.host.handle_packet(context.now(), packet.octets());
        }
        context.drop_packet(id);
        if is_own {
            self.settle(context);
        }
    }

    /// Something is due, or time begins.
    pub(super) fn wake(&mut self, context: &mut Context<'_, Octets>) {
        let now = context.now();
        if self.woken_at <= now {
            self.woken_at = Instant::MAX;
        }
        self.host.handle_timeout(now);
        self.settle(context);
    }

    /// Everything that follows from a packet or from time.
    fn settle(&mut self, context: &mut Context<'_, Octets>) {
        let now = context.now();
        loop {
            let news = self.handle_events();
            self.ends.iter_mut().for_each(|end| end.work(&mut self.host, now));
            let sent = self.transmit(context);
            if !news && !sent {
                break;
            }
        }
        if now.saturating_since(self.reported_at) >= REPORT_EVERY {
            self.report();
            self.reported_at = now;
        }
        self.arm(context);
    }

    /// Handles the host's events. Was there any?
    fn handle_events(&mut self) -> bool {
        let mut any = false;
        while let Some(event) = self.host.poll_event() {
            any = true;
            match event {
                Event::Accepted(id) => {
                    let Some((local, _)) = self.host.ends(id) else { continue };
                    let _ = self.ends.iter_mut().any(|end| end.accept(id, local.port()));
                }
                Event::Closed(id, error) => {
                    // Its counts go with it, so they are reported first.
                    self.report();
                    self.ends.iter_mut().for_each(|end| end.close(id, error.clone()));
                }
                Event::Established(_) | Event::Mptcp(..) => {}
            }
        }
        any
    }

    /// Sends all that may leave. Was there anything?
    fn transmit(&mut self, context: &mut Context<'_, Octets>) -> bool {
        let mut any = false;
        while let Some(from) = self.host.poll_transmit(context.now(), &mut self.octets) {
            any = true;
            if let Some(port) = self.addresses.iter().position(|address| *address == from) {
                let packet = context.place().get_or_insert_with(|| Octets::with_room(self.octets.len()));
                packet.room(self.octets.len()).copy_from_slice(&self.octets);
                if packet.read(self.octets.len()) {
                    context.send_placed(Port(port as u32));
                }
            }
            self.octets.clear();
        }
        any
    }

    /// Puts on the board what its subflows have counted.
    pub(super) fn report(&self) {
        self.ends.iter().filter_map(|end| end.report(&self.host)).for_each(|(index, report)| {
            self.board.write(index, report);
        });
    }

    fn arm(&mut self, context: &mut Context<'_, Octets>) {
        let ends = self.ends.iter().filter_map(OwnEnd::deadline);
        let Some(next) = ends.chain(self.host.poll_timeout()).min() else { return };
        if next < self.woken_at {
            self.woken_at = next;
            context.set_timer(next, TIMER);
        }
    }
}
