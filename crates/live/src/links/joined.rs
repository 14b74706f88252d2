//! Segments that cross a kernel's interface as one (TSO, GRO). The links have each by itself.

use super::entrance::enter;
use super::packet::Octets;
use crate::interface::{Interface, MOST_IN_ONE};
use ropewalk_sim::{Context, Port};
use std::io;
use tun_rs::{GROTable, SyncDevice, VIRTIO_NET_HDR_LEN};

/// The longest IP packet.
const LONGEST: usize = 65_535;
/// Packets that are given to a kernel together at the most.
const MOST: usize = 64;

/// What crosses an interface as one.
pub(super) struct Joined {
    /// What was read.
    whole: Vec<u8>,
    /// The packets in it.
    parts: Vec<Vec<u8>>,
    lens: Vec<usize>,
    /// What waits to be given to the kernel, behind room for its header.
    waiting: Vec<Vec<u8>>,
    count: usize,
    table: GROTable,
}

impl Joined {
    /// For an interface with offloads; `None` for others.
    pub(super) fn of(interface: &Interface) -> Option<Self> {
        interface.device.tcp_gso().then(|| Self {
            whole: vec![0; LONGEST + VIRTIO_NET_HDR_LEN],
            parts: vec![vec![0; interface.mtu]; MOST_IN_ONE],
            lens: vec![0; MOST_IN_ONE],
            waiting: (0..MOST).map(|_| Vec::with_capacity(LONGEST + VIRTIO_NET_HDR_LEN)).collect(),
            count: 0,
            table: GROTable::new(),
        })
    }

    /// Reads once. Returns how many packets were in it. `None`: there was nothing.
    pub(super) fn read(&mut self, device: &SyncDevice) -> Option<usize> {
        let read = device.recv_multiple(&mut self.whole, &mut self.parts, &mut self.lens, 0);
        // What is no packet is left out; an error of the system, of which "nothing there" is one,
        // ends it.
        read.map_or_else(|error| error.raw_os_error().is_none().then_some(0), Some)
    }

    /// Puts each of the `count` packets that were read last into the link by itself, or keeps them
    /// with those that are `early`.
    pub(super) fn enter(
        &self,
        context: &mut Context<'_, Octets>,
        port: Port,
        count: usize,
        mut early: Option<&mut Vec<Octets>>,
    ) {
        for (part, &len) in self.parts.iter().zip(&self.lens).take(count) {
            let packet = context.place().get_or_insert_with(|| Octets::with_room(len));
            packet.room(len).copy_from_slice(&part[..len]);
            if packet.read(len) {
                enter(context, port, early.as_deref_mut());
            }
        }
    }

    /// Keeps a packet for the kernel until [`Self::flush`], or until there are many.
    pub(super) fn keep(&mut self, device: &SyncDevice, packet: &[u8]) {
        let place = &mut self.waiting[self.count];
        place.clear();
        place.resize(VIRTIO_NET_HDR_LEN, 0);
        place.extend_from_slice(packet);
        self.count += 1;
        if self.count == MOST {
            // A kernel that takes no packet loses it, as any host does.
            let _ = self.flush(device);
        }
    }

    /// Gives the kernel what waits.
    pub(super) fn flush(&mut self, device: &SyncDevice) -> io::Result<()> {
        let waiting = &mut self.waiting[..std::mem::take(&mut self.count)];
        if waiting.is_empty() {
            return Ok(());
        }
        device.send_multiple(&mut self.table, waiting, VIRTIO_NET_HDR_LEN).map(drop)
    }
}
