//! UDP sockets, each bound to its interface and address. One that cannot be opened yet is tried
//! again.

mod arena;
mod batch;

pub(super) use arena::Arena;

use super::clock::now;
use crate::bond::Way;
use crate::config::{Line, Offload};
use batch::{Batch, Carrier};
use nix::net::if_::if_nametoindex;
use nix::sys::socket::setsockopt;
use nix::sys::socket::sockopt::UdpGroSegment;
use quinn_udp::UdpSocketState;
use ropewalk_units::{Duration, Instant};
use rustix::io::Errno;
use rustix::net::sockopt::{
    Ipv4PathMtuDiscovery, Ipv6PathMtuDiscovery, set_ip_mtu_discover, set_ipv6_mtu_discover,
    set_socket_recv_buffer_size_force, set_socket_send_buffer_size_force,
};
use socket2::{Domain, Protocol, Socket, Type};
use std::io;
use std::net::{IpAddr, SocketAddr, UdpSocket};

/// A socket that cannot be opened is tried again after this time.
const RETRY: Duration = Duration::from_secs(1);
/// Octets of each buffer of a socket. When it is full the kernel drops datagrams.
const BUFFER: usize = 4 << 20;

/// One of the outside's sockets.
pub(super) struct Outlet {
    interface: Option<String>,
    local: SocketAddr,
    mark: u32,
    offload: Offload,
    socket: Option<Opened>,
    batch: Batch,
    retry_at: Instant,
    /// The last warning, which is given once.
    warned: Option<String>,
    /// Its path was removed.
    is_retired: bool,
    /// It is bound to all of a hub's addresses, and answers from the one that was asked.
    has_many: bool,
}

/// A socket, and what the kernel does for it.
struct Opened {
    socket: UdpSocket,
    /// The number of its interface, if it is bound to one.
    index: Option<u32>,
    /// `None`: a system call for each datagram.
    state: Option<UdpSocketState>,
}

/// Datagrams that did not leave.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Unsent {
    /// The kernel did not take them.
    pub(super) refused: u64,
    /// Longer than the interface takes.
    pub(super) too_long: u64,
}

impl Outlet {
    /// The socket of a site's path.
    pub(super) fn of_line(line: &Line, mark: u32, offload: Offload, now: Instant) -> Self {
        Self::new(line.interface.clone(), line.local, mark, offload, now)
    }

    /// A socket of a hub.
    pub(super) fn of_hub(local: SocketAddr, mark: u32, offload: Offload, now: Instant) -> Self {
        Self { has_many: local.ip().is_unspecified(), ..Self::new(None, local, mark, offload, now) }
    }

    /// A socket bound to an address, and to an interface if it is given.
    fn new(interface: Option<String>, local: SocketAddr, mark: u32, offload: Offload, now: Instant) -> Self {
        let mut outlet = Self {
            interface,
            local,
            mark,
            offload,
            socket: None,
            batch: Batch::default(),
            retry_at: now,
            warned: None,
            is_retired: false,
            has_many: false,
        };
        outlet.retry(now);
        outlet
    }

    /// Its path was removed. A session from before may still use the socket, but it is not opened
    /// again.
    pub(super) fn retire(&mut self) {
        self.is_retired = true;
    }

    fn open(&self) -> io::Result<Opened> {
        let domain = Domain::for_address(self.local);
        let socket = Socket::new(domain, Type::DGRAM, Some(Protocol::UDP))?;
        socket.set_nonblocking(true)?;
        socket.set_mark(self.mark)?;
        if let Some(interface) = &self.interface {
            socket.bind_device(Some(interface.as_bytes()))?;
        }
        // Nothing is fragmented, and the kernel's own path MTU is ignored: the path is probed
        // (RFC 8899 §3).
        if self.local.is_ipv6() {
            socket.set_only_v6(true)?;
            set_ipv6_mtu_discover(&socket, Ipv6PathMtuDiscovery::PROBE)?;
        } else {
            set_ip_mtu_discover(&socket, Ipv4PathMtuDiscovery::PROBE)?;
        }
        enlarge(&socket);
        socket.bind(&self.local.into())?;
        let socket = UdpSocket::from(socket);
        let state = self.offloads(&socket)?;
        Ok(Opened { socket, index: self.index(), state })
    }

    /// Switches on what is wanted of the kernel.
    fn offloads(&self, socket: &UdpSocket) -> io::Result<Option<UdpSocketState>> {
        if !self.offload.send && !self.offload.receive {
            return Ok(None);
        }
        let state = UdpSocketState::new(socket.into())?;
        // It asks for joined datagrams, too. A kernel that has none refuses both.
        if !self.offload.receive {
            let _ = setsockopt(socket, UdpGroSegment, &false);
        }
        Ok(Some(state))
    }

    /// The number that its interface has at the moment.
    fn index(&self) -> Option<u32> {
        self.interface.as_deref().and_then(|name| if_nametoindex(name).ok())
    }

    /// Interfaces or addresses have changed. A missing socket is tried again. A socket is given up
    /// if its interface has gone, or is another one of the same name.
    pub(super) fn look_again(&mut self, now: Instant) {
        if self.socket.as_ref().is_some_and(|opened| self.interface.is_some() && opened.index != self.index())
        {
            self.lose(now, &io::Error::other("its interface has gone"));
        }
        self.retry_at = self.retry_at.min(now);
        self.retry(now);
    }

    /// Has it a port that only root may bind?
    pub(super) fn has_low_port(&self) -> bool {
        (1..1024).contains(&self.local.port())
    }

    /// Tries again if it is time.
    pub(super) fn retry(&mut self, now: Instant) {
        if self.is_retired || self.socket.is_some() || now < self.retry_at {
            return;
        }
        match self.open() {
            Ok(opened) => {
                if self.warned.take().is_some() {
                    tracing::info!(interface = self.interface, local = %self.local, "the path's socket is there again");
                }
                self.note_refusals(&opened);
                self.socket = Some(opened);
            }
            Err(error) => self.lose(now, &error),
        }
    }

    /// Logs the offloads that were asked for and that this kernel does not have.
    fn note_refusals(&self, opened: &Opened) {
        let Some(state) = &opened.state else { return };
        let (send, receive) = (state.max_gso_segments() == 1, state.gro_segments() == 1);
        for (is_refused, what) in
            [(self.offload.send && send, "UDP_SEGMENT"), (self.offload.receive && receive, "UDP_GRO")]
        {
            if is_refused {
                tracing::info!(local = %self.local, "the kernel has no {what}: it is left out");
            }
        }
    }

    fn lose(&mut self, now: Instant, error: &io::Error) {
        self.socket = None;
        self.retry_at = now + RETRY;
        if self.is_retired {
            return;
        }
        let text = error.to_string();
        if self.warned.as_ref() != Some(&text) {
            tracing::warn!(interface = self.interface, local = %self.local, reason = text, "no socket for a path; it is tried again");
            self.warned = Some(text);
        }
    }

    /// When it is tried again, if it is not open.
    pub(super) fn retry_at(&self) -> Instant {
        if self.is_retired || self.socket.is_some() { Instant::MAX } else { self.retry_at }
    }

    pub(super) fn socket(&self) -> Option<&UdpSocket> {
        self.socket.as_ref().map(|opened| &opened.socket)
    }

    /// Passes on some of the datagrams that wait, with the address of the sender and, if there are
    /// several, the own one that it was sent to. Returns whether there were any.
    pub(super) fn receive(
        &mut self,
        arena: &mut Arena,
        mut take: impl FnMut(&mut [u8], SocketAddr, Option<IpAddr>),
    ) -> bool {
        let Some(opened) = &self.socket else { return false };
        let state = opened.state.as_ref().filter(|_| self.offload.receive);
        let has_many = self.has_many;
        let take =
            |datagram: &mut [u8], from, own: Option<IpAddr>| take(datagram, from, own.filter(|_| has_many));
        match arena.receive(&opened.socket, state, take) {
            Ok(()) => true,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => false,
            Err(error) => {
                self.judge(now(), &error);
                false
            }
        }
    }

    /// Adds a datagram to the batch. Sends the batch if it is full, or if batches are switched off.
    pub(super) fn push(&mut self, now: Instant, datagram: &[u8], way: &Way) -> Unsent {
        self.batch.push(datagram, way.to, way.from);
        if self.batch.is_full() || !self.offload.send { self.flush(now) } else { Unsent::default() }
    }

    /// Sends the batch.
    pub(super) fn flush(&mut self, now: Instant) -> Unsent {
        if self.batch.is_empty() {
            return Unsent::default();
        }
        let Some(opened) = &self.socket else {
            return Unsent { refused: self.batch.discard(), too_long: 0 };
        };
        let carrier = Carrier { socket: &opened.socket, state: opened.state.as_ref() };
        let could_segment = carrier.segments();
        let (unsent, last) = self.batch.send(&carrier);
        if could_segment && !carrier.segments() {
            tracing::info!(local = %self.local, "the kernel refuses UDP_SEGMENT here: it is left out");
        }
        if let Some(error) = last {
            self.judge(now, &error);
        }
        unsent
    }

    /// Gives the socket up if its interface or address has gone. Other errors pass: a full queue,
    /// no route for a while, a refusal told by ICMP.
    fn judge(&mut self, now: Instant, error: &io::Error) {
        let gone = [Errno::NODEV, Errno::NXIO, Errno::ADDRNOTAVAIL, Errno::INVAL];
        if gone.iter().any(|errno| error.raw_os_error() == Some(errno.raw_os_error())) {
            self.lose(now, error);
        }
    }
}

/// Enlarges the socket's buffers. Without privileges the kernel gives less, which is no error.
fn enlarge(socket: &Socket) {
    if set_socket_recv_buffer_size_force(socket, BUFFER).is_err() {
        let _ = socket.set_recv_buffer_size(BUFFER);
    }
    if set_socket_send_buffer_size_force(socket, BUFFER).is_err() {
        let _ = socket.set_send_buffer_size(BUFFER);
    }
}
