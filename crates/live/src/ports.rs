//! TUN interfaces, and the loop between them and a host.

use crate::clock::Clock;
use crate::wait::wait;
use ropewalk_host::Host;
use ropewalk_units::{Duration, Instant};
use rustix::event::{PollFd, PollFlags};
use std::io;
use std::net::{IpAddr, UdpSocket};
use std::os::fd::AsFd;
use std::thread;
use tun_rs::{DeviceBuilder, SyncDevice};

/// Packets that wait between a kernel and us, before it drops some: enough for all that a window
/// sends at once.
pub(crate) const QUEUE: u32 = 20_000;
/// Octets of the longest IP packet.
const LONGEST: usize = 65_535;
/// Packets taken from one device before the next one is looked at.
const BATCH: usize = 64;
/// How often it is looked whether an address can be used, and the pause between.
const ADDRESS_LOOKS: u32 = 1_000;
const ADDRESS_PAUSE: std::time::Duration = std::time::Duration::from_millis(2);

/// Why a device does not work.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It cannot be opened.
    #[error("the TUN interface {name} cannot be opened: {source}")]
    Open {
        /// Its name.
        name: String,
        /// Why.
        source: io::Error,
    },
    /// It cannot be read, written or waited for.
    #[error("a TUN interface: {0}")]
    Io(#[from] io::Error),
}

/// Which way a packet goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Way {
    /// From the kernel to the host.
    In,
    /// From the host to the kernel.
    Out,
}

/// What stands between the kernel and the host: it is given each packet, with the port's number,
/// and appends what goes on.
type Middlebox = Box<dyn FnMut(Instant, Way, usize, &[u8], &mut Vec<Vec<u8>>)>;

struct Port {
    /// The host's address there.
    address: IpAddr,
    device: SyncDevice,
}

/// A host's TUN interfaces and its clock.
pub struct Ports {
    ports: Vec<Port>,
    clock: Clock,
    middlebox: Option<Middlebox>,
    buffer: Vec<u8>,
}

/// An address of IPv6 is nobody's until a thread of the kernel has looked whether others have it (RFC 4862 §5.4). A busy machine runs
/// that thread late.
#[expect(clippy::disallowed_methods, reason = "the kernel tells nobody when it is done")]
fn wait_until_usable(address: IpAddr) -> io::Result<()> {
    for _ in 0..ADDRESS_LOOKS {
        match UdpSocket::bind((address, 0)) {
            Err(error) if error.kind() == io::ErrorKind::AddrNotAvailable => thread::sleep(ADDRESS_PAUSE),
            other => return other.map(drop),
        }
    }
    UdpSocket::bind((address, 0)).map(drop)
}

impl Ports {
    /// No interface yet; time begins.
    #[expect(clippy::new_without_default, reason = "it starts a clock")]
    pub fn new() -> Self {
        Self { ports: Vec::new(), clock: Clock::new(), middlebox: None, buffer: Vec::new() }
    }

    /// Opens a TUN interface on which the kernel has one address, of a network of 256 in IPv4 and
    /// of 64 bits in IPv6, and the host another.
    ///
    /// # Errors
    /// [`Error::Open`]
    pub fn open(&mut self, name: &str, mtu: u16, kernel: IpAddr, host: IpAddr) -> Result<(), Error> {
        let builder = DeviceBuilder::new().name(name).mtu(mtu).tx_queue_len(QUEUE);
        let builder = match kernel {
            IpAddr::V4(kernel) => builder.ipv4(kernel, 24u8, None),
            IpAddr::V6(kernel) => builder.ipv6(kernel, 64u8),
        };
        let device = builder.build_sync().and_then(|device| {
            device.set_nonblocking(true)?;
            wait_until_usable(kernel)?;
            Ok(device)
        });
        let device = device.map_err(|source| Error::Open { name: name.to_owned(), source })?;
        self.ports.push(Port { address: host, device });
        Ok(())
    }

    /// Sends each packet through `middlebox`. It is given the time, the way, the port's number and
    /// the packet, and appends what goes on in its place.
    pub fn set_middlebox(
        &mut self,
        middlebox: impl FnMut(Instant, Way, usize, &[u8], &mut Vec<Vec<u8>>) + 'static,
    ) {
        self.middlebox = Some(Box::new(middlebox));
    }

    /// The host's addresses.
    pub fn addresses(&self) -> Vec<IpAddr> {
        self.ports.iter().map(|port| port.address).collect()
    }

    /// The time.
    pub fn now(&self) -> Instant {
        self.clock.now()
    }

    /// Sends what the host has to send, waits for a packet or the host's next timer, for `most` at
    /// the longest, and hands on what came.
    ///
    /// # Errors
    /// [`Error::Io`]
    pub fn turn(&mut self, host: &mut Host, most: Duration) -> Result<(), Error> {
        self.send(host)?;
        self.wait(host, most)?;
        for number in 0..self.ports.len() {
            self.receive(host, number)?;
        }
        let now = self.now();
        if host.poll_timeout().is_some_and(|due| due <= now) {
            host.handle_timeout(now);
        }
        self.send(host)
    }

    fn wait(&self, host: &Host, most: Duration) -> Result<(), Error> {
        let now = self.now();
        let until = host.poll_timeout().map_or(most, |due| due.saturating_since(now).min(most));
        let fds = self.ports.iter().map(|port| port.device.as_fd());
        let mut fds = fds.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN)).collect::<Vec<_>>();
        wait(&mut fds, until)?;
        Ok(())
    }

    fn receive(&mut self, host: &mut Host, number: usize) -> Result<(), Error> {
        for _ in 0..BATCH {
            self.buffer.resize(LONGEST, 0);
            let len = match self.ports[number].device.recv(&mut self.buffer) {
                Ok(len) => len,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error.into()),
            };
            self.buffer.truncate(len);
            let now = self.now();
            for packet in self.pass(now, Way::In, number) {
                host.handle_packet(now, &packet);
                self.send(host)?;
            }
        }
        Ok(())
    }

    fn send(&mut self, host: &mut Host) -> Result<(), Error> {
        loop {
            let now = self.now();
            self.buffer.clear();
            let Some(from) = host.poll_transmit(now, &mut self.buffer) else { return Ok(()) };
            let number = self.ports.iter().position(|port| port.address == from);
            let Some(number) = number else { continue };
            for packet in self.pass(now, Way::Out, number) {
                match self.ports[number].device.send(&packet) {
                    Ok(_) => {}
                    // A full device drops, as every queue does.
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                    Err(error) => return Err(error.into()),
                }
            }
        }
    }

    /// What goes on in place of the packet in the buffer.
    fn pass(&mut self, now: Instant, way: Way, number: usize) -> Vec<Vec<u8>> {
        let packet = std::mem::take(&mut self.buffer);
        let Some(middlebox) = &mut self.middlebox else { return vec![packet] };
        let mut packets = Vec::new();
        middlebox(now, way, number, &packet, &mut packets);
        packets
    }
}
