//! One queue of the TUN interface: its two directions may work on two threads.

use super::joined::{Joined, Split};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use tun_rs::{SyncDevice, VIRTIO_NET_HDR_LEN};

/// The longest IP packet.
const LONGEST: usize = 65_535;

/// What was read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::driver) enum Read {
    /// Packets.
    Some,
    /// There are none.
    Nothing,
    /// Something that is no packet.
    Unknown,
}

/// A queue. If its device has offloads, packets cross it together.
pub(super) struct Queue {
    pub(super) source: Source,
    pub(super) sink: Sink,
}

/// The direction from the kernel.
pub(super) struct Source {
    device: Arc<SyncDevice>,
    buffer: Vec<u8>,
    /// `None`: a system call for each packet.
    split: Option<Split>,
}

/// The direction to the kernel.
pub(super) struct Sink {
    device: Arc<SyncDevice>,
    /// `None`: a system call for each packet.
    joined: Option<Joined>,
    refused: u64,
}

impl Queue {
    /// Packets have at most `mtu` octets.
    pub(super) fn new(device: SyncDevice, mtu: u16) -> io::Result<Self> {
        device.set_nonblocking(true)?;
        let (split, joined) = device.tcp_gso().then(|| (Split::new(mtu), Joined::default())).unzip();
        let device = Arc::new(device);
        let buffer = vec![0; LONGEST + VIRTIO_NET_HDR_LEN];
        Ok(Self {
            source: Source { device: Arc::clone(&device), buffer, split },
            sink: Sink { device, joined, refused: 0 },
        })
    }
}

impl Source {
    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.device.as_fd()
    }

    /// Passes on what one system call gives: one packet, or those that the kernel has joined into
    /// one.
    pub(super) fn receive(&mut self, mut take: impl FnMut(&mut [u8])) -> io::Result<Read> {
        let read = match &mut self.split {
            Some(split) => split.receive(&self.device, &mut self.buffer, take),
            None => self.device.recv(&mut self.buffer).map(|len| take(&mut self.buffer[..len])),
        };
        match read {
            Ok(()) => Ok(Read::Some),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(Read::Nothing),
            Err(error) if error.raw_os_error().is_none() => Ok(Read::Unknown),
            Err(error) => Err(error),
        }
    }
}

impl Sink {
    /// Hands a packet to the kernel, or adds it to those that are written together.
    pub(super) fn send(&mut self, packet: &[u8]) {
        let sent = match &mut self.joined {
            Some(joined) => joined.push(&self.device, packet),
            None => self.device.send(packet).map(drop),
        };
        self.refused += u64::from(sent.is_err());
    }

    /// Hands the packets that wait to the kernel. Returns how many calls the kernel has refused
    /// since the flush before: it may not understand a packet.
    pub(super) fn flush(&mut self) -> u64 {
        let flushed = self.joined.as_mut().map_or(Ok(()), |joined| joined.flush(&self.device));
        std::mem::take(&mut self.refused) + u64::from(flushed.is_err())
    }
}
