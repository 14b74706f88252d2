//! The TUN interface with its addresses and routes. Rules would outlive the process, so they are
//! removed when this value is dropped.

mod joined;

use crate::config::{Offload, Tun};
use crate::netlink::Netlink;
use ipnet::IpNet;
use joined::{Joined, Split};
use netlink_packet_route::AddressFamily;
use std::io;
use std::os::fd::AsFd;
use std::os::fd::BorrowedFd;
use tun_rs::{DeviceBuilder, DeviceBuilderGuard, SyncDevice};

/// Packets that wait for this process before the kernel drops some.
const QUEUE: u32 = 1000;
/// The longest IP packet.
const LONGEST: usize = 65_535;
const FAMILIES: [AddressFamily; 2] = [AddressFamily::Inet, AddressFamily::Inet6];

/// The open TUN interface.
pub(super) struct Inside {
    device: SyncDevice,
    index: u32,
    netlink: Netlink,
    mark: u32,
    buffer: Vec<u8>,
    /// `None`: a system call for each packet.
    offload: Option<(Split, Joined)>,
}

/// What was read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Read {
    /// Packets.
    Some,
    /// There are none.
    Nothing,
    /// Something that is no packet.
    Unknown,
}

fn family(net: &IpNet) -> AddressFamily {
    if net.addr().is_ipv4() { AddressFamily::Inet } else { AddressFamily::Inet6 }
}

fn builder(tun: &Tun) -> DeviceBuilder {
    DeviceBuilder::new().name(&tun.name).mtu(tun.mtu).tx_queue_len(QUEUE).enable(false)
}

fn offloading_device(tun: &Tun) -> io::Result<SyncDevice> {
    let with_offloads = |options: &mut DeviceBuilderGuard<'_>| {
        options.offload(true);
    };
    builder(tun).with(with_offloads).build_sync()
}

/// Makes the device, with offloads if they are wanted and this kernel has them.
fn best_device(tun: &Tun, offload: Offload) -> io::Result<SyncDevice> {
    if !offload.tun {
        return builder(tun).build_sync();
    }
    offloading_device(tun).or_else(|error| {
        let plain = builder(tun).build_sync()?;
        tracing::info!(reason = %error, "the kernel has no offloads for the TUN interface: they are left out");
        Ok(plain)
    })
}

impl Inside {
    /// Makes the interface. What a killed process has left is removed first.
    pub(super) fn open(tun: &Tun, mark: u32, offload: Offload) -> io::Result<Self> {
        let device = best_device(tun, offload)?;
        device.set_nonblocking(true)?;
        let index = device.if_index()?;
        let offload = device.tcp_gso().then(|| (Split::new(tun.mtu), Joined::default()));
        let buffer = vec![0; LONGEST + tun_rs::VIRTIO_NET_HDR_LEN];
        let mut inside = Self { device, index, netlink: Netlink::open()?, mark, buffer, offload };
        inside.remove_rules();
        let netlink = &mut inside.netlink;
        if inside.offload.is_some() {
            netlink.set_most_segments(index, Split::MOST as u32)?;
        }
        netlink.set_up(index)?;
        tun.addresses.iter().try_for_each(|address| netlink.add_address(index, address))?;
        tun.routes.iter().try_for_each(|route| netlink.add_route(index, route, mark))?;
        for wanted in FAMILIES {
            if tun.routes.iter().any(|route| family(route) == wanted) {
                netlink.add_rules(wanted, mark)?;
            }
        }
        Ok(inside)
    }

    /// Lets the packets of the user whose number is the mark pass by the tunnel.
    pub(super) fn let_pass(&mut self, tun: &Tun) -> io::Result<()> {
        let mut wanted =
            FAMILIES.into_iter().filter(|one| tun.routes.iter().any(|route| family(route) == *one));
        wanted.try_for_each(|family| self.netlink.add_pass(family, self.mark))
    }

    fn remove_rules(&mut self) {
        FAMILIES.into_iter().for_each(|family| self.netlink.remove_rules(family, self.mark));
    }

    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.device.as_fd()
    }

    /// Passes on what one system call gives: one packet, or those that the kernel has joined into
    /// one.
    pub(super) fn receive(&mut self, mut take: impl FnMut(&mut [u8])) -> io::Result<Read> {
        let read = match &mut self.offload {
            Some((split, _)) => split.receive(&self.device, &mut self.buffer, take),
            None => self.device.recv(&mut self.buffer).map(|len| take(&mut self.buffer[..len])),
        };
        match read {
            Ok(()) => Ok(Read::Some),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(Read::Nothing),
            Err(error) if error.raw_os_error().is_none() => Ok(Read::Unknown),
            Err(error) => Err(error),
        }
    }

    /// Hands a packet to the kernel, or adds it to those that are written together. The kernel may
    /// refuse a packet that it does not understand.
    pub(super) fn send(&mut self, packet: &[u8]) -> io::Result<()> {
        match &mut self.offload {
            Some((_, joined)) => joined.push(&self.device, packet),
            None => self.device.send(packet).map(drop),
        }
    }

    /// Hands the packets that wait to the kernel.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.offload.as_mut().map_or(Ok(()), |(_, joined)| joined.flush(&self.device))
    }

    /// Sets the MTU of the interface, in octets.
    pub(super) fn set_mtu(&mut self, mtu: u16) -> io::Result<()> {
        self.netlink.set_mtu(self.index, u32::from(mtu))
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        // Addresses and routes go with the interface.
        self.remove_rules();
    }
}
