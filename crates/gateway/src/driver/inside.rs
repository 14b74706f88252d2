//! The TUN interface with its addresses and routes. What would outlive the process goes with this value.

use crate::config::Tun;
use crate::netlink::Netlink;
use ipnet::IpNet;
use netlink_packet_route::AddressFamily;
use std::io;
use std::os::fd::AsFd;
use std::os::fd::BorrowedFd;
use tun_rs::{DeviceBuilder, SyncDevice};

/// Packets that wait for this process before the kernel drops some.
const QUEUE: u32 = 1000;
const FAMILIES: [AddressFamily; 2] = [AddressFamily::Inet, AddressFamily::Inet6];

/// The inside.
pub(super) struct Inside {
    device: SyncDevice,
    netlink: Netlink,
    mark: u32,
}

fn family(net: &IpNet) -> AddressFamily {
    if net.addr().is_ipv4() { AddressFamily::Inet } else { AddressFamily::Inet6 }
}

impl Inside {
    /// Makes it. What a killed process has left is removed before.
    pub(super) fn open(tun: &Tun, mark: u32) -> io::Result<Self> {
        let device = DeviceBuilder::new()
            .name(&tun.name)
            .mtu(tun.mtu)
            .tx_queue_len(QUEUE)
            .enable(false)
            .build_sync()?;
        device.set_nonblocking(true)?;
        let index = device.if_index()?;
        let mut inside = Self { device, netlink: Netlink::open()?, mark };
        inside.remove_rules();
        let netlink = &mut inside.netlink;
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

    fn remove_rules(&mut self) {
        FAMILIES.into_iter().for_each(|family| self.netlink.remove_rules(family, self.mark));
    }

    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.device.as_fd()
    }

    /// The next packet into the buffer, and its length; `None`: there is none.
    pub(super) fn receive(&self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        match self.device.recv(buffer) {
            Ok(len) => Ok(Some(len)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Hands a packet to the kernel. It may refuse one that it does not understand.
    pub(super) fn send(&self, packet: &[u8]) -> io::Result<()> {
        self.device.send(packet).map(drop)
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        // Addresses and routes go with the interface.
        self.remove_rules();
    }
}
