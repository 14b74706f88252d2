//! A GRE tunnel between a TUN interface and raw sockets, one for each path.

use super::clock::{now, timespec};
use super::confine::{Confinement, confine};
use super::filter::Seccomp;
use super::inside::{Inside, Read};
use super::serve::{Error, system};
use super::signals::ends;
use crate::config::{GreConfig, GrePath, Offload};
use crate::gre::Bond;
use nix::sys::signalfd::SignalFd;
use ropewalk_units::Duration;
use rustix::event::{PollFd, PollFlags, poll};
use socket2::{Domain, Protocol, SockAddr, Socket, Type};
use std::io::{self, Read as _};
use std::net::SocketAddr;
use std::os::fd::AsFd;

/// IP's protocol number of GRE (RFC 2784 §4).
const GRE: i32 = 47;
/// The longest IP packet.
const LONGEST: usize = 65_535;
/// System calls for packets of one source before the next source is looked at.
const BATCH: usize = 32;
/// Longest time that the loop sleeps.
const LONGEST_WAIT: Duration = Duration::from_secs(1);

/// Opens the raw socket of a path. The kernel gives it only packets from the other end, writes the
/// outer headers, and fragments nothing.
fn open(path: &GrePath, mark: u32) -> io::Result<Socket> {
    let local = SocketAddr::new(path.local, 0);
    let socket = Socket::new(Domain::for_address(local), Type::RAW, Some(Protocol::from(GRE)))?;
    socket.set_nonblocking(true)?;
    socket.set_mark(mark)?;
    if let Some(interface) = &path.interface {
        socket.bind_device(Some(interface.as_bytes()))?;
    }
    if path.local.is_ipv4() {
        rustix::net::sockopt::set_ip_mtu_discover(
            &socket,
            rustix::net::sockopt::Ipv4PathMtuDiscovery::PROBE,
        )?;
    } else {
        rustix::net::sockopt::set_ipv6_mtu_discover(
            &socket,
            rustix::net::sockopt::Ipv6PathMtuDiscovery::PROBE,
        )?;
    }
    socket.bind(&SockAddr::from(local))?;
    socket.connect(&SockAddr::from(SocketAddr::new(path.remote, 0)))?;
    Ok(socket)
}

/// What follows the IP header. A raw socket gives IPv4 packets with that header, and IPv6 packets
/// without it (`man 7 raw`, RFC 3542 §3).
fn behind_header(octets: &[u8], is_v4: bool) -> &[u8] {
    let len = if is_v4 { octets.first().map_or(0, |first| usize::from(first & 15) * 4) } else { 0 };
    octets.get(len..).unwrap_or_default()
}

/// The socket of a path.
struct PathSocket {
    socket: Socket,
    /// The kernel gives IPv4 packets with their outer headers.
    is_v4: bool,
}

struct Loop {
    bond: Bond,
    inside: Inside,
    sockets: Vec<PathSocket>,
    signals: SignalFd,
    buffer: Vec<u8>,
    unsent: u64,
}

/// Runs a GRE tunnel until a signal ends it.
///
/// # Errors
/// [`Error`]: what cannot be opened or made. What was made before is removed then.
pub fn run_gre(config: &GreConfig) -> Result<(), Error> {
    let signals = ends().map_err(system("signals"))?;
    // One packet for each system call: joined packets would have to be cut before they are
    // numbered.
    let offload = Offload { tun: false, send: false, receive: false, queues: 1 };
    let name = &config.tun.name;
    let inside = Inside::open(&config.tun, config.mark, offload)
        .map_err(|source| Error::Inside { name: name.clone(), source })?;
    let socket =
        |path: &GrePath| Ok(PathSocket { socket: open(path, config.mark)?, is_v4: path.local.is_ipv4() });
    let sockets = config.paths.iter().map(socket).collect::<io::Result<Vec<_>>>();
    let sockets = sockets.map_err(system("a raw socket for GRE"))?;
    let seccomp = if config.seccomp { Seccomp::On } else { Seccomp::Off };
    confine(&Confinement { user: &config.user, has_low_ports: false, folder: None, seccomp })
        .map_err(system("giving up what is not needed"))?;
    tracing::warn!(
        tun = name,
        key = config.bond.key,
        "a GRE tunnel: nothing in it is sealed, and anybody on the way may send into it"
    );
    let bond = Bond::new(&config.bond);
    let mut own = Loop { bond, inside, sockets, signals, buffer: vec![0; LONGEST], unsent: 0 };
    own.run().map_err(system("waiting for packets"))?;
    let (counts, unsent) = (own.bond.counts(), own.unsent);
    tracing::info!(?counts, unsent, "the GRE tunnel ends");
    Ok(())
}

impl Loop {
    fn run(&mut self) -> io::Result<()> {
        loop {
            let ready = self.wait()?;
            if self.signals.read_signal()?.is_some() {
                return Ok(());
            }
            for place in (0..self.sockets.len()).filter(|place| ready[1 + place]) {
                self.receive_outside(place);
            }
            if ready[0] {
                self.receive_inside()?;
            }
            self.bond.handle_timeout(now());
            while let Some(packet) = self.bond.poll_deliver() {
                self.inside.send(&packet);
            }
            self.unsent += self.inside.flush();
        }
    }

    /// Waits. Returns what has something to read: the inside, then the paths, then the signals.
    fn wait(&self) -> io::Result<Vec<bool>> {
        let now = now();
        let until = self.bond.poll_timeout().saturating_since(now).min(LONGEST_WAIT);
        let fds =
            std::iter::once(self.inside.fd()).chain(self.sockets.iter().map(|path| path.socket.as_fd()));
        let fds = fds.chain(std::iter::once(self.signals.as_fd()));
        let mut fds = fds.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN)).collect::<Vec<_>>();
        match poll(&mut fds, Some(&timespec(until))) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        Ok(fds.iter().map(|fd| !fd.revents().is_empty()).collect())
    }

    fn receive_outside(&mut self, place: usize) {
        for _ in 0..BATCH {
            let PathSocket { socket, is_v4 } = &self.sockets[place];
            // An error tells that something sent before did not arrive, or that there is nothing to
            // read.
            let Ok(len) = (&*socket).read(&mut self.buffer) else { return };
            // What is dropped is counted in the bond.
            let _ = self.bond.handle_datagram(now(), behind_header(&self.buffer[..len], *is_v4));
        }
    }

    fn receive_inside(&mut self) -> io::Result<()> {
        let (mut out, bond, sockets) = (Vec::with_capacity(2048), &mut self.bond, &self.sockets);
        let mut unsent = 0;
        for _ in 0..BATCH {
            let read = self.inside.receive(|packet| {
                if let Ok(path) = bond.handle_packet(packet, &mut out) {
                    unsent += u64::from(sockets[path].socket.send(&out).is_err());
                }
            })?;
            if read == Read::Nothing {
                break;
            }
        }
        self.unsent += unsent;
        Ok(())
    }
}
