//! A GRE tunnel between a TUN interface and raw sockets, one for each path.

mod path;

use super::clock::{now, timespec};
use super::confine::{Confinement, confine};
use super::filter::Seccomp;
use super::inside::{Inside, Read};
use super::serve::{Error, system};
use super::signals::ends;
use crate::config::{GreConfig, Offload};
use crate::gre::Bond;
use nix::sys::signalfd::SignalFd;
use path::{LOOK, PathSocket};
use rustix::event::{PollFd, PollFlags, poll};
use std::io::{self, Read as _};
use std::os::fd::AsFd;

/// IP's protocol number of GRE (RFC 2784 §4).
const GRE: i32 = 47;
/// The longest IP packet.
const LONGEST: usize = 65_535;
/// System calls for packets of one source before the next source is looked at.
const BATCH: usize = 32;

/// What follows the IP header. A raw socket gives IPv4 packets with that header, and IPv6 packets
/// without it (`man 7 raw`, RFC 3542 §3).
fn behind_header(octets: &[u8], is_v4: bool) -> &[u8] {
    let len = if is_v4 { octets.first().map_or(0, |first| usize::from(first & 15) * 4) } else { 0 };
    octets.get(len..).unwrap_or_default()
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
    let socket = |path| PathSocket::new(path, config.mark, now());
    let sockets = config.paths.iter().map(socket).collect();
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
            let now = now();
            self.sockets.iter_mut().for_each(|path| path.look(now));
            self.bond.handle_timeout(now);
            while let Some(packet) = self.bond.poll_deliver() {
                self.inside.send(&packet);
            }
            self.unsent += self.inside.flush();
        }
    }

    /// Waits. Returns what has something to read: the inside, then the paths.
    fn wait(&self) -> io::Result<Vec<bool>> {
        let until = self.bond.poll_timeout().saturating_since(now()).min(LOOK);
        // A missing socket is never ready. The signals stand for it: they are read after each wait.
        let signals = self.signals.as_fd();
        let sockets = self.sockets.iter().map(|path| path.get().map_or(signals, AsFd::as_fd));
        let fds = std::iter::once(self.inside.fd()).chain(sockets).chain([signals]);
        let mut fds = fds.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN)).collect::<Vec<_>>();
        match poll(&mut fds, Some(&timespec(until))) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        Ok(fds.iter().map(|fd| !fd.revents().is_empty()).collect())
    }

    fn receive_outside(&mut self, place: usize) {
        for _ in 0..BATCH {
            let path = &self.sockets[place];
            // An error tells that something sent before did not arrive, or that there is nothing to
            // read.
            let Some(Ok(len)) = path.get().map(|mut socket| socket.read(&mut self.buffer)) else { return };
            // What is dropped is counted in the bond.
            let _ = self.bond.handle_datagram(now(), behind_header(&self.buffer[..len], path.is_v4()));
        }
    }

    fn receive_inside(&mut self) -> io::Result<()> {
        let (mut out, bond, sockets) = (Vec::with_capacity(2048), &mut self.bond, &self.sockets);
        let mut unsent = 0;
        for _ in 0..BATCH {
            let read = self.inside.receive(|packet| {
                if let Ok(path) = bond.handle_packet(packet, &mut out) {
                    unsent += u64::from(sockets[path].get().is_none_or(|socket| socket.send(&out).is_err()));
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
