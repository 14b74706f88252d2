//! The raw socket of a path. One that is missing is tried again.

use super::GRE;
use crate::config::GrePath;
use nix::net::if_::if_nametoindex;
use ropewalk_units::{Duration, Instant};
use rustix::net::sockopt::{
    Ipv4PathMtuDiscovery, Ipv6PathMtuDiscovery, set_ip_mtu_discover, set_ipv6_mtu_discover,
};
use socket2::{Domain, Protocol, SockAddr, Socket, Type};
use std::io;
use std::net::SocketAddr;

/// Its interface is looked at, and a missing socket is tried again, after this time.
pub(super) const LOOK: Duration = Duration::from_secs(1);

pub(super) struct PathSocket {
    path: GrePath,
    mark: u32,
    /// With the number of its interface, if it is bound to one.
    opened: Option<(Socket, Option<u32>)>,
    look_at: Instant,
    /// The last warning, which is given once.
    warned: Option<String>,
}

impl PathSocket {
    pub(super) fn new(path: &GrePath, mark: u32, now: Instant) -> Self {
        let mut own = Self { path: path.clone(), mark, opened: None, look_at: now, warned: None };
        own.look(now);
        own
    }

    pub(super) fn get(&self) -> Option<&Socket> {
        self.opened.as_ref().map(|(socket, _)| socket)
    }

    /// Does the kernel give packets with their outer headers?
    pub(super) fn is_v4(&self) -> bool {
        self.path.local.is_ipv4()
    }

    /// Gives the socket up if its interface has gone, or is another one of the same name. Opens a
    /// missing one.
    pub(super) fn look(&mut self, now: Instant) {
        if now < self.look_at {
            return;
        }
        self.look_at = now + LOOK;
        if self.opened.as_ref().is_some_and(|(_, index)| *index != self.index()) {
            self.lose("its interface has gone".into());
        }
        if self.opened.is_none() {
            match self.open() {
                Ok(socket) => self.use_socket(socket),
                Err(error) => self.lose(error.to_string()),
            }
        }
    }

    fn use_socket(&mut self, socket: Socket) {
        self.opened = Some((socket, self.index()));
        if self.warned.take().is_some() {
            tracing::info!(interface = self.path.interface, local = %self.path.local, "the path's socket is there again");
        }
    }

    fn lose(&mut self, reason: String) {
        self.opened = None;
        if self.warned.as_ref() != Some(&reason) {
            tracing::warn!(interface = self.path.interface, local = %self.path.local, reason, "no socket for a path; it is tried again");
            self.warned = Some(reason);
        }
    }

    /// The number that its interface has at the moment.
    fn index(&self) -> Option<u32> {
        self.path.interface.as_deref().and_then(|name| if_nametoindex(name).ok())
    }

    /// Opens the socket. The kernel gives it only packets from the other end, writes the outer
    /// headers, and fragments nothing.
    fn open(&self) -> io::Result<Socket> {
        let local = SocketAddr::new(self.path.local, 0);
        let socket = Socket::new(Domain::for_address(local), Type::RAW, Some(Protocol::from(GRE)))?;
        socket.set_nonblocking(true)?;
        socket.set_mark(self.mark)?;
        if let Some(interface) = &self.path.interface {
            socket.bind_device(Some(interface.as_bytes()))?;
        }
        if local.is_ipv4() {
            set_ip_mtu_discover(&socket, Ipv4PathMtuDiscovery::PROBE)?;
        } else {
            set_ipv6_mtu_discover(&socket, Ipv6PathMtuDiscovery::PROBE)?;
        }
        socket.bind(&SockAddr::from(local))?;
        socket.connect(&SockAddr::from(SocketAddr::new(self.path.remote, 0)))?;
        Ok(socket)
    }
}
