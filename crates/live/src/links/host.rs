//! A kernel at the edge: its interfaces are where packets enter the links and leave them.

use super::joined::Joined;
use super::lateness::Lateness;
use super::packet::Octets;
use crate::clock::Clock;
use crate::interface::Interface;
use ropewalk_sim::{Context, PacketId, Port};
use std::sync::Arc;
use tun_rs::SyncDevice;

/// Packets taken from one interface before the next one is looked at.
const BATCH: usize = 64;

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
    clock: Clock,
    lateness: Lateness,
}

impl Host {
    /// A host with these interfaces, in the order of its links.
    pub(crate) fn new(clock: Clock, interfaces: Vec<Interface>, takes: Takes) -> Self {
        let joined = interfaces.iter().map(Joined::of).collect();
        Self { takes, interfaces, joined, clock, lateness: Lateness::default() }
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

    /// Forwards what the kernel sends at an interface into the link there.
    pub(super) fn forward(&mut self, context: &mut Context<'_, Octets>, port: Port) {
        let interface = &self.interfaces[port.0 as usize];
        let joined = &mut self.joined[port.0 as usize];
        for _ in 0..BATCH {
            if let Some(joined) = joined {
                if !joined.forward(&interface.device, context, port) {
                    return;
                }
                continue;
            }
            let packet = context.place().get_or_insert_with(|| Octets::with_room(interface.mtu));
            let Ok(len) = interface.device.recv(packet.room(interface.mtu)) else { return };
            if packet.read(len) {
                context.send_placed(port);
            }
        }
    }
}
