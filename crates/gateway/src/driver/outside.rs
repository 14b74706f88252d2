//! UDP sockets, each bound to its interface and address. One that cannot be had yet is tried again.

use crate::config::Line;
use ropewalk_units::{Duration, Instant};
use rustix::io::Errno;
use rustix::net::sockopt::{
    Ipv4PathMtuDiscovery, Ipv6PathMtuDiscovery, set_ip_mtu_discover, set_ipv6_mtu_discover,
};
use socket2::{Domain, Protocol, Socket, Type};
use std::io;
use std::net::{SocketAddr, UdpSocket};

/// A socket that is not there is tried again after so long.
const RETRY: Duration = Duration::from_secs(1);
/// What waits for this process before the kernel drops some.
const BUFFER: usize = 4 << 20;

/// One of the outside's sockets.
pub(super) struct Outlet {
    interface: Option<String>,
    local: SocketAddr,
    mark: u32,
    socket: Option<UdpSocket>,
    retry_at: Instant,
    /// What was told last, so that it is told once.
    told: Option<String>,
}

/// What became of a datagram.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Sent {
    /// The kernel has it.
    Yes,
    /// It does not.
    No,
    /// It is longer than the path takes.
    TooLong,
}

impl Outlet {
    /// Of a site's path.
    pub(super) fn of_line(line: &Line, mark: u32, now: Instant) -> Self {
        Self::new(line.interface.clone(), line.local, mark, now)
    }

    /// Bound to an address, and an interface if it is given.
    pub(super) fn new(interface: Option<String>, local: SocketAddr, mark: u32, now: Instant) -> Self {
        let mut outlet = Self { interface, local, mark, socket: None, retry_at: now, told: None };
        outlet.retry(now);
        outlet
    }

    fn open(&self) -> io::Result<UdpSocket> {
        let domain = Domain::for_address(self.local);
        let socket = Socket::new(domain, Type::DGRAM, Some(Protocol::UDP))?;
        socket.set_nonblocking(true)?;
        socket.set_mark(self.mark)?;
        if let Some(interface) = &self.interface {
            socket.bind_device(Some(interface.as_bytes()))?;
        }
        // Nothing is fragmented: what is too long is told.
        if self.local.is_ipv6() {
            socket.set_only_v6(true)?;
            set_ipv6_mtu_discover(&socket, Ipv6PathMtuDiscovery::DO)?;
        } else {
            set_ip_mtu_discover(&socket, Ipv4PathMtuDiscovery::DO)?;
        }
        // Without privilege the kernel gives less; that is no reason not to run.
        let _ = socket.set_recv_buffer_size(BUFFER);
        let _ = socket.set_send_buffer_size(BUFFER);
        socket.bind(&self.local.into())?;
        Ok(socket.into())
    }

    /// Tries again if it is time.
    pub(super) fn retry(&mut self, now: Instant) {
        if self.socket.is_some() || now < self.retry_at {
            return;
        }
        match self.open() {
            Ok(socket) => {
                if self.told.take().is_some() {
                    tracing::info!(interface = self.interface, local = %self.local, "the path's socket is there again");
                }
                self.socket = Some(socket);
            }
            Err(error) => self.lose(now, &error),
        }
    }

    fn lose(&mut self, now: Instant, error: &io::Error) {
        self.socket = None;
        self.retry_at = now + RETRY;
        let text = error.to_string();
        if self.told.as_ref() != Some(&text) {
            tracing::warn!(interface = self.interface, local = %self.local, reason = text, "no socket for a path; it is tried again");
            self.told = Some(text);
        }
    }

    /// When it is tried again, if it is not there.
    pub(super) fn retry_at(&self) -> Instant {
        if self.socket.is_some() { Instant::MAX } else { self.retry_at }
    }

    pub(super) const fn socket(&self) -> Option<&UdpSocket> {
        self.socket.as_ref()
    }

    /// The next datagram into the buffer: its length, and who sent it.
    pub(super) fn receive(&mut self, now: Instant, buffer: &mut [u8]) -> Option<(usize, SocketAddr)> {
        let received = self.socket.as_ref()?.recv_from(buffer);
        match received {
            Ok((len, from)) => Some((len, from)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => None,
            Err(error) => {
                self.judge(now, &error);
                None
            }
        }
    }

    pub(super) fn send(&mut self, now: Instant, datagram: &[u8], to: SocketAddr) -> Sent {
        let Some(socket) = &self.socket else { return Sent::No };
        match socket.send_to(datagram, to) {
            Ok(_) => Sent::Yes,
            Err(error) if error.raw_os_error() == Some(Errno::MSGSIZE.raw_os_error()) => Sent::TooLong,
            Err(error) => {
                self.judge(now, &error);
                Sent::No
            }
        }
    }

    /// An interface that has gone takes its socket with it. Other errors pass: a full queue, no route for a while, a refusal told by ICMP.
    fn judge(&mut self, now: Instant, error: &io::Error) {
        let gone = [Errno::NODEV, Errno::NXIO, Errno::ADDRNOTAVAIL, Errno::INVAL];
        if gone.iter().any(|errno| error.raw_os_error() == Some(errno.raw_os_error())) {
            self.lose(now, error);
        }
    }
}
