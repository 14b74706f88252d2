//! Packets that cross the TUN interface together. The kernel gives several packets of a flow as
//! one, and takes them in the same way.

use std::io;
use tun_rs::{GROTable, SyncDevice, VIRTIO_NET_HDR_LEN};

/// Octets of room above the MTU, in case the interface's MTU is raised by hand.
const SPARE: usize = 256;
/// The most packets that are written together.
const MOST: usize = 64;
/// Octets of the longest joined packet.
const LONGEST: usize = 65_535;

/// Cuts what the kernel has joined into packets.
pub(super) struct Split {
    packets: Vec<Vec<u8>>,
    lens: Vec<usize>,
}

impl Split {
    /// The most packets that the kernel may join into one. It is told so.
    pub(super) const MOST: usize = 128;

    /// For packets of at most `mtu` octets.
    pub(super) fn new(mtu: u16) -> Self {
        let len = usize::from(mtu) + SPARE;
        Self { packets: vec![vec![0; len]; Self::MOST], lens: vec![0; Self::MOST] }
    }

    /// Makes one system call and passes on each packet.
    pub(super) fn receive(
        &mut self,
        device: &SyncDevice,
        buffer: &mut [u8],
        mut take: impl FnMut(&mut [u8]),
    ) -> io::Result<()> {
        let count = device.recv_multiple(buffer, &mut self.packets, &mut self.lens, 0)?;
        let packets = self.packets.iter_mut().zip(&self.lens).take(count);
        packets.for_each(|(packet, &len)| take(&mut packet[..len]));
        Ok(())
    }
}

/// Packets that wait to be written. Those of a flow are joined, as the kernel's GRO would do.
pub(super) struct Joined {
    table: GROTable,
    packets: Vec<Vec<u8>>,
    count: usize,
}

impl Default for Joined {
    fn default() -> Self {
        let packet = || Vec::with_capacity(LONGEST + VIRTIO_NET_HDR_LEN);
        Self { table: GROTable::new(), packets: (0..MOST).map(|_| packet()).collect(), count: 0 }
    }
}

impl Joined {
    /// Adds a packet to the others, and writes all if there are many.
    pub(super) fn push(&mut self, device: &SyncDevice, packet: &[u8]) -> io::Result<()> {
        let own = &mut self.packets[self.count];
        own.clear();
        own.resize(VIRTIO_NET_HDR_LEN, 0);
        own.extend_from_slice(packet);
        self.count += 1;
        if self.count == MOST { self.flush(device) } else { Ok(()) }
    }

    /// Writes all.
    pub(super) fn flush(&mut self, device: &SyncDevice) -> io::Result<()> {
        let packets = &mut self.packets[..self.count];
        self.count = 0;
        if packets.is_empty() {
            return Ok(());
        }
        device.send_multiple(&mut self.table, packets, VIRTIO_NET_HDR_LEN).map(drop)
    }
}
