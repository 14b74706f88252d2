//! The TUN interface with its addresses and routes. Rules would outlive the process, so they are
//! removed when this value is dropped.

mod batch;
mod joined;
mod queue;
mod threads;

pub(super) use queue::Read;

use super::lock::MarkLock;
use crate::config::{Offload, Tun};
use crate::netlink::Netlink;
use crate::packet::FlowHasher;
use ipnet::IpNet;
use joined::Split;
use netlink_packet_route::AddressFamily;
use queue::Queue;
use rustix::event::{EventfdFlags, eventfd};
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use threads::Threads;
use tun_rs::{DeviceBuilder, DeviceBuilderGuard, SyncDevice};

/// Packets that wait for this process before the kernel drops some.
const QUEUE: u32 = 1000;
const FAMILIES: [AddressFamily; 2] = [AddressFamily::Inet, AddressFamily::Inet6];

/// The open TUN interface.
pub(super) struct Inside {
    /// Empty when `threads` work.
    queues: Vec<Queue>,
    /// For the threads: later none can be made.
    event: OwnedFd,
    threads: Option<Threads>,
    index: u32,
    netlink: Netlink,
    mark: u32,
    _lock: MarkLock,
}

fn family(net: &IpNet) -> AddressFamily {
    if net.addr().is_ipv4() { AddressFamily::Inet } else { AddressFamily::Inet6 }
}

fn builder(tun: &Tun) -> DeviceBuilder {
    DeviceBuilder::new().name(&tun.name).mtu(tun.mtu).tx_queue_len(QUEUE).enable(false)
}

/// What a device is made with.
#[derive(Clone, Copy)]
struct Wanted {
    offload: bool,
    many_queues: bool,
}

impl Wanted {
    /// This, and what is left of it if the kernel refuses a part.
    fn choices(self) -> impl Iterator<Item = Self> {
        let all = [(true, true), (true, false), (false, true), (false, false)];
        let all = all.map(|(offload, many_queues)| Self { offload, many_queues });
        all.into_iter()
            .filter(move |choice| choice.offload <= self.offload && choice.many_queues <= self.many_queues)
    }

    fn device(self, tun: &Tun) -> io::Result<SyncDevice> {
        let set = |options: &mut DeviceBuilderGuard<'_>| {
            options.offload(self.offload).multi_queue(self.many_queues);
        };
        builder(tun).with(set).build_sync()
    }
}

/// Makes the device with what is wanted and this kernel has.
fn best_device(tun: &Tun, wanted: Wanted) -> io::Result<SyncDevice> {
    let mut refusal = io::Error::other("nothing was tried");
    for choice in wanted.choices() {
        match choice.device(tun) {
            Err(error) => refusal = error,
            Ok(device) => {
                for (is_missing, what) in [
                    (wanted.offload && !choice.offload, "offloads"),
                    (wanted.many_queues && !choice.many_queues, "several queues"),
                ] {
                    if is_missing {
                        tracing::info!(reason = %refusal, "the TUN interface is made without {what}");
                    }
                }
                return Ok(device);
            }
        }
    }
    Err(refusal)
}

/// The first queue, and as many more as are wanted and this kernel gives.
fn all_queues(first: SyncDevice, wanted: usize, mtu: u16) -> io::Result<Vec<Queue>> {
    let mut devices = vec![first];
    while devices.len() < wanted {
        match devices[0].try_clone() {
            Ok(another) => devices.push(another),
            Err(error) => {
                let count = devices.len();
                tracing::info!(reason = %error, count, "the TUN interface has fewer queues than wanted");
                break;
            }
        }
    }
    devices.into_iter().map(|device| Queue::new(device, mtu)).collect()
}

impl Inside {
    /// Makes the interface. What a killed process has left is removed first.
    pub(super) fn open(tun: &Tun, mark: u32, offload: Offload) -> io::Result<Self> {
        let lock = MarkLock::take(mark)?;
        let wanted = Wanted { offload: offload.tun, many_queues: offload.queues > 1 };
        let first = best_device(tun, wanted)?;
        let (index, has_offloads) = (first.if_index()?, first.tcp_gso());
        let queues = all_queues(first, usize::from(offload.queues), tun.mtu)?;
        let event = eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC)?;
        let mut inside =
            Self { queues, event, threads: None, index, netlink: Netlink::open()?, mark, _lock: lock };
        inside.remove_rules();
        let netlink = &mut inside.netlink;
        if has_offloads {
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

    /// Starts the threads of the queues, if there are several. They have what privileges this
    /// thread has left.
    pub(super) fn begin(&mut self, hasher: FlowHasher) -> io::Result<()> {
        if self.queues.len() > 1 {
            let event = self.event.try_clone()?;
            self.threads = Some(Threads::begin(std::mem::take(&mut self.queues), hasher, event)?);
        }
        Ok(())
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
        match &self.threads {
            Some(threads) => threads.fd(),
            None => self.queues[0].source.fd(),
        }
    }

    /// Passes on some of the packets that wait.
    pub(super) fn receive(&mut self, take: impl FnMut(&mut [u8])) -> io::Result<Read> {
        match &mut self.threads {
            Some(threads) => threads.receive(take),
            None => self.queues[0].source.receive(take),
        }
    }

    /// Adds a packet to those that go to the kernel with the next [`Self::flush`], or earlier.
    pub(super) fn send(&mut self, packet: &[u8]) {
        match &mut self.threads {
            Some(threads) => threads.send(packet),
            None => self.queues[0].sink.send(packet),
        }
    }

    /// Hands the packets that wait to the kernel. Returns how many system calls it has refused.
    pub(super) fn flush(&mut self) -> u64 {
        match &mut self.threads {
            Some(threads) => threads.flush(),
            None => self.queues[0].sink.flush(),
        }
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
