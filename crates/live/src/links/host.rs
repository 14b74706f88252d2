//! A kernel at the edge: its interfaces are where packets enter the links and leave them.

use super::entrance::enter;
use super::joined::Joined;
use super::lateness::Lateness;
use super::packet::Octets;
use crate::clock::Clock;
use crate::interface::Interface;
use ropewalk_sim::{Context, PacketId, Port};
use ropewalk_units::Duration;
use std::sync::Arc;
use tun_rs::SyncDevice;

/// Packets taken from one interface before the next one is looked at.
const BATCH: usize = 64;
/// What is read later than the links' time by more than this enters them when it was read. Else it would come out of them before its time.
const PUNCTUAL: Duration = Duration::from_micros(100);

/// Whose packets a kernel gets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Takes {
    /// A host's interface gets what is for its own address, as in simulation.
    Own,
    /// A gateway's interface gets all packets: it forwards those of others.
    All,
}

/// A host or a gateway of the scenario that runs on a kernel.
pub(crate) struct Host {
    takes: Takes,
    interfaces: Vec<Interface>,
    /// By interface.
    joined: Vec<Option<Joined>>,
    /// By interface: packets that were read and do not enter the links yet.
    early: Vec<Vec<Octets>>,
    clock: Clock,
    lateness: Lateness,
}

impl Host {
    /// A host with these interfaces, in the order of its links.
    pub(crate) fn new(clock: Clock, interfaces: Vec<Interface>, takes: Takes) -> Self {
        let joined = interfaces.iter().map(Joined::of).collect();
        let early = interfaces.iter().map(|_| Vec::new()).collect();
        Self { takes, interfaces, joined, early, clock, lateness: Lateness::default() }
    }

    /// What is at a port.
    pub(super) fn device(&self, port: Port) -> Arc<SyncDevice> {
        Arc::clone(&self.interfaces[port.0 as usize].device)
    }

    /// How late its packets were.
    pub(super) const fn lateness(&self) -> &Lateness {
        &self.lateness
    }

    /// A packet has come out of a link: the kernel gets it.
    pub(super) fn deliver(&mut self, context: &mut Context<'_, Octets>, port: Port, id: PacketId) {
        let interface = &self.interfaces[port.0 as usize];
        let packet = context.packet(id);
        if self.takes == Takes::All || packet.destination() == interface.address {
            self.lateness.record(self.clock.now().saturating_since(context.now()));
            match &mut self.joined[port.0 as usize] {
                Some(joined) => joined.keep(&interface.device, packet.octets()),
                // A kernel that takes no packet loses it, as any host does.
                None => drop(interface.device.send(packet.octets())),
            }
        }
        context.drop_packet(id);
    }

    /// Gives the kernel the packets that were kept to be given together.
    pub(super) fn flush(&mut self) {
        for (joined, interface) in self.joined.iter_mut().zip(&self.interfaces) {
            let _ = joined.as_mut().map(|joined| joined.flush(&interface.device));
        }
    }

    /// Forwards what the kernel sends at an interface into the link there. What is read later than
    /// the links' time shows waits until it does.
    pub(super) fn forward(&mut self, context: &mut Context<'_, Octets>, port: Port) {
        let place = port.0 as usize;
        self.early[place].drain(..).for_each(|packet| context.send(port, packet));
        for _ in 0..BATCH {
            let Some(count) = self.read(context, place) else { return };
            let read_at = self.clock.now();
            let is_early = read_at > context.now() + PUNCTUAL;
            let early = is_early.then_some(&mut self.early[place]);
            match &self.joined[place] {
                Some(joined) => joined.enter(context, port, count, early),
                None if count > 0 => enter(context, port, early),
                None => {}
            }
            if is_early {
                context.set_timer(read_at, port.0);
                return;
            }
        }
    }

    /// Reads once from an interface. Returns how many packets it was, which may be none: what is no
    /// packet is left out. `None`: nothing was there.
    fn read(&mut self, context: &mut Context<'_, Octets>, place: usize) -> Option<usize> {
        let interface = &self.interfaces[place];
        if let Some(joined) = &mut self.joined[place] {
            return joined.read(&interface.device);
        }
        let packet = context.place().get_or_insert_with(|| Octets::with_room(interface.mtu));
        let len = interface.device.recv(packet.room(interface.mtu)).ok()?;
        Some(usize::from(packet.read(len)))
    }
}
