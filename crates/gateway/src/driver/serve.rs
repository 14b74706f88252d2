//! The loop. It waits for the TUN interface, sockets, timers, requests and signals, and hands on
//! what comes.

mod change;
mod names;

use super::clock::{Came, now, timespec};
use super::confine::{Confinement, confine};
use super::filter::Seccomp;
use super::inside::{Inside, Read};
use super::outside::{Arena, Outlet, Unsent};
use super::recorded::Recorded;
use super::request::{Happened, Peer, Report, Request};
use super::resolver::{LookupUser, Resolver};
use super::signals::ends;
use super::spent::{self, SpentFile};
use super::watch::Watch;
use crate::bond::{Core, Drops, HUB, Level, Notice, PastSpendings, Reason, Way};
use crate::config::{Config, Line, Offload, Part};
use crate::packet::FlowHasher;
use crate::record::{Recorder, Shared, noted};
use nix::sys::signalfd::SignalFd;
use ropewalk_bonding::PathState;
use ropewalk_units::{Duration, Instant};
use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

/// System calls for packets of one source before the next source is looked at.
const BATCH: usize = 32;
/// The most events that the status tells.
const EVENTS: usize = 200;
/// The longest IP packet that is tried on a path that is added at run time.
const ETHERNET: u16 = 1500;
/// The least MTU of the TUN interface: with less IPv6 does not use it (RFC 8200 §5).
const LEAST_MTU: u16 = 1280;
/// Longest time that the loop sleeps.
const LONGEST_WAIT: Duration = Duration::from_secs(1);

/// Why it cannot run.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The TUN interface, its addresses or routes.
    #[error("the interface {name}: {source}")]
    Inside {
        /// Its name.
        name: String,
        /// Why.
        source: io::Error,
    },
    /// The operating system refuses something.
    #[error("{what}: {source}")]
    System {
        /// What it was for.
        what: &'static str,
        /// Why.
        source: io::Error,
    },
}

/// Hands requests to the loop and wakes it.
#[derive(Clone)]
pub struct Start {
    sender: Sender<Request>,
    wake: Arc<OwnedFd>,
}

impl Start {
    /// Hands a request to the loop.
    pub fn ask(&self, request: Request) {
        // A loop that has ended does not answer. Then a waiting caller sees that the sender is
        // gone.
        let _ = self.sender.send(request);
        let _ = rustix::io::write(&self.wake, &1u64.to_ne_bytes());
    }
}

/// What has something to read.
struct Ready {
    inside: bool,
    wake: bool,
    signals: bool,
    watch: bool,
    names: bool,
    sockets: Vec<bool>,
}

pub(super) fn system(what: &'static str) -> impl Fn(io::Error) -> Error {
    move |source| Error::System { what, source }
}

fn with_record(record: Option<&Shared>, entropy: crate::bond::Entropy) -> crate::bond::Entropy {
    match record {
        Some(record) => noted(Rc::clone(record), entropy),
        None => entropy,
    }
}

fn entropy() -> crate::bond::Entropy {
    Box::new(|octets| getrandom::fill(octets).expect("the kernel has random octets"))
}

/// Opens the file for what is spent of quotas. Without it quotas begin anew with each process.
fn open_spent(path: &Path) -> Option<(SpentFile, PastSpendings)> {
    SpentFile::open(path)
        .inspect_err(|error| {
            let file = path.display();
            tracing::warn!(%file, reason = %error, "what is spent of quotas is forgotten when this process ends");
        })
        .ok()
}

struct Loop {
    core: Recorded,
    inside: Inside,
    outlets: Vec<Outlet>,
    lines: Vec<Line>,
    requests: Receiver<Request>,
    wake: Arc<OwnedFd>,
    signals: SignalFd,
    watch: Watch,
    /// The process that looks the hub's name up. `None`: there is no name.
    resolver: Option<Resolver>,
    /// The file for what was spent of quotas, and when it is written next.
    spent: Option<(SpentFile, Instant)>,
    events: VecDeque<Happened>,
    began_at: Instant,
    tun: String,
    mtu: u16,
    mark: u32,
    offload: Offload,
    is_site: bool,
    arena: Arena,
    /// Buffer of the datagram that is sent.
    out: Vec<u8>,
}

/// Runs a gateway until a signal ends it.
///
/// `open` is called when the interface and the sockets are there. Then the process gives up its
/// privileges. After that `ready` is called with what `open` has returned, and with the [`Start`]
/// that takes requests. `record` is a new file for a record of the run.
///
/// # Errors
/// [`Error`]: what cannot be opened or made. What was made before is removed then.
pub fn run<T>(
    config: Config,
    record: Option<PathBuf>,
    open: impl FnOnce() -> T,
    ready: impl FnOnce(T, Start),
) -> Result<(), Error> {
    let signals = ends().map_err(system("signals"))?;
    let wake = eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC);
    let wake = Arc::new(wake.map_err(|errno| system("an event")(errno.into()))?);
    let (sender, requests) = channel();
    let record = record.map(|path| Recorder::create(&path)).transpose().map_err(system("the record"))?;
    let (user, folder) = (config.user.clone(), config.control.parent().map(PathBuf::from));
    // It begins first, so that it has none of this process's files.
    let lookups = names::resolver(&config);
    let seccomp = if config.seccomp { Seccomp::On } else { Seccomp::Off };
    let flow_key = config.flow_key;
    let mut own = Loop::new(config, record, requests, Arc::clone(&wake), signals, lookups)?;
    let opened = open();
    let has_low_ports = own.outlets.iter().any(Outlet::has_low_port);
    confine(&Confinement { user: &user, has_low_ports, folder: folder.as_deref(), seccomp })
        .map_err(system("giving up what is not needed"))?;
    own.inside.begin(FlowHasher::new(flow_key)).map_err(system("threads for the interface"))?;
    ready(opened, Start { sender, wake });
    own.run().map_err(system("waiting for packets"))
}

impl Loop {
    fn new(
        config: Config,
        record: Option<Recorder>,
        requests: Receiver<Request>,
        wake: Arc<OwnedFd>,
        signals: SignalFd,
        lookups: Option<(Resolver, LookupUser)>,
    ) -> Result<Self, Error> {
        let opened = if config.has_quota() { open_spent(&config.state) } else { None };
        let (now, mark, offload, mut tun) = (now(), config.mark, config.offload, config.tun);
        if let Part::Hub { config, .. } = &config.part {
            tun.routes.extend(config.sites.iter().flat_map(|site| site.prefixes.iter().copied()));
            tun.routes.sort_unstable();
            tun.routes.dedup();
        }
        let mut inside = Inside::open(&tun, mark, offload)
            .map_err(|source| Error::Inside { name: tun.name.clone(), source })?;
        if let Some((_, LookupUser::Number(_))) = &lookups {
            inside.let_pass(&tun).map_err(|source| Error::Inside { name: tun.name.clone(), source })?;
        }
        let record = record.map(|mut recorder| {
            recorder.begin(now, config.flow_key, &config.names);
            Rc::new(RefCell::new(recorder))
        });
        let entropy = || with_record(record.as_ref(), entropy());
        let (core, outlets, lines, is_site) = match config.part {
            Part::Site { config, lines } => {
                let site = Core::site(*config, entropy(), now).expect("the bond was checked");
                let outlets =
                    lines.iter().map(|line| Outlet::of_line(line, mark, offload, now)).collect::<Vec<_>>();
                (site, outlets, lines, true)
            }
            Part::Hub { config, listen } => {
                let outlets =
                    listen.iter().map(|local| Outlet::of_hub(*local, mark, offload, now)).collect::<Vec<_>>();
                (Core::hub(*config, entropy(), now), outlets, Vec::new(), false)
            }
        };
        let mut core = Recorded::new(core, record);
        let spent = opened.map(|(file, past)| {
            core.resume_spendings(now, &past);
            (file, now + spent::INTERVAL)
        });
        Ok(Self {
            core,
            spent,
            inside,
            outlets,
            lines,
            requests,
            wake,
            signals,
            watch: Watch::open().map_err(system("changes of interfaces"))?,
            resolver: lookups.map(|(resolver, _)| resolver),
            events: VecDeque::new(),
            began_at: now,
            tun: tun.name,
            mtu: tun.mtu,
            mark,
            offload,
            is_site,
            arena: Arena::default(),
            out: Vec::with_capacity(2048),
        })
    }

    fn run(&mut self) -> io::Result<()> {
        loop {
            self.flush();
            let ready = self.wait()?;
            if ready.signals && self.signals.read_signal()?.is_some() {
                self.core.end(now());
                self.flush();
                self.note_spent(now());
                return Ok(());
            }
            if ready.wake {
                let _ = rustix::io::read(&self.wake, &mut [0u8; 8]);
                while let Ok(request) = self.requests.try_recv() {
                    self.answer(request);
                }
            }
            if ready.watch {
                self.watch.drain();
                let now = now();
                self.outlets.iter_mut().for_each(|outlet| outlet.look_again(now));
            }
            if ready.names {
                self.take_answers();
            }
            self.receive_outside(&ready.sockets);
            if ready.inside {
                self.receive_inside()?;
            }
            let now = now();
            self.outlets.iter_mut().for_each(|outlet| outlet.retry(now));
            if self.spent.as_ref().is_some_and(|(_, due)| *due <= now) {
                self.note_spent(now);
            }
            if self.core.poll_timeout(now) <= now {
                self.core.handle_timeout(now);
                self.follow_mtu();
                self.look_up();
            }
        }
    }

    /// Writes what was spent of quotas to the file.
    fn note_spent(&mut self, now: Instant) {
        let spendings = self.core.spendings(now);
        let Some((file, due)) = &mut self.spent else { return };
        *due = now + spent::INTERVAL;
        if let Err(error) = file.write(spendings) {
            tracing::warn!(reason = %error, "what was spent of quotas is not noted");
        }
    }

    fn wait(&self) -> io::Result<Ready> {
        let now = now();
        let retry = self.outlets.iter().map(Outlet::retry_at).min().unwrap_or(Instant::MAX);
        let until = self.core.poll_timeout(now).min(retry).saturating_since(now).min(LONGEST_WAIT);
        let own = [self.inside.fd(), self.wake.as_fd(), self.signals.as_fd(), self.watch.fd()];
        let sockets = self.outlets.iter().filter_map(Outlet::socket).map(AsFd::as_fd);
        let names = self.resolver.as_ref().and_then(Resolver::fd);
        let fds = own.into_iter().chain(names).chain(sockets);
        let mut fds = fds.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN)).collect::<Vec<_>>();
        match poll(&mut fds, Some(&timespec(until))) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let mut ready = fds.iter().map(|fd| !fd.revents().is_empty());
        let mut next = || ready.next().unwrap_or(false);
        let [inside, wake, signals, watch] = [next(), next(), next(), next()];
        let names = names.is_some() && next();
        let sockets = self.outlets.iter().map(|outlet| outlet.socket().is_some() && next()).collect();
        Ok(Ready { inside, wake, signals, watch, names, sockets })
    }

    fn receive_outside(&mut self, ready: &[bool]) {
        for socket in (0..ready.len()).filter(|&socket| ready[socket]) {
            for _ in 0..BATCH {
                let (core, mut came) = (&mut self.core, Came::default());
                let take = |datagram: &mut [u8], to, from| {
                    core.handle_datagram(came.at(), Way { socket, to, from }, datagram);
                };
                if !self.outlets[socket].receive(&mut self.arena, take) {
                    break;
                }
                self.flush();
            }
        }
    }

    fn receive_inside(&mut self) -> io::Result<()> {
        for _ in 0..BATCH {
            let (core, mut came) = (&mut self.core, Came::default());
            match self.inside.receive(|packet| core.handle_packet(came.at(), packet))? {
                Read::Some => {}
                Read::Nothing => break,
                Read::Unknown => self.core.note_drop(Reason::NotIp),
            }
        }
        Ok(())
    }

    /// Sends, delivers and tells what follows from an input.
    fn flush(&mut self) {
        self.send_outside();
        let now = now();
        while let Some(packet) = self.core.poll_deliver(now) {
            self.inside.send(packet.octets());
        }
        (0..self.inside.flush()).for_each(|_| self.core.note_drop(Reason::NotSent));
        while let Some((peer, notice)) = self.core.poll_notice() {
            self.note(peer, &notice);
        }
    }

    fn send_outside(&mut self) {
        let now = now();
        while let Some(way) = self.core.poll_transmit(now, &mut self.out) {
            let outlet = self.outlets.get_mut(way.socket);
            let unsent = outlet.map(|outlet| outlet.push(now, &self.out, &way));
            self.note_unsent(unsent.unwrap_or(Unsent { refused: 1, too_long: 0 }));
        }
        for socket in 0..self.outlets.len() {
            let unsent = self.outlets[socket].flush(now);
            self.note_unsent(unsent);
        }
    }

    /// Gives the interface the MTU that the paths carry. A hub's interface keeps its MTU, since
    /// sites differ: ICMP messages tell senders what fits.
    fn follow_mtu(&mut self) {
        let Some(mtu) = self.core.inner_mtu().map(|mtu| mtu.max(LEAST_MTU)) else { return };
        if mtu != self.mtu {
            match self.inside.set_mtu(mtu) {
                Ok(()) => tracing::info!(mtu, was = self.mtu, "the longest inner packet is another"),
                Err(error) => tracing::warn!(mtu, reason = %error, "the interface keeps its MTU"),
            }
            self.mtu = mtu;
        }
    }

    fn note_unsent(&mut self, unsent: Unsent) {
        (0..unsent.refused).for_each(|_| self.core.note_drop(Reason::NotSent));
        (0..unsent.too_long).for_each(|_| self.core.note_drop(Reason::TooLong));
    }

    /// Tells of something that the driver has seen of the hub.
    fn tell(&mut self, kind: &'static str, what: String, level: Level) {
        let (at_s, is_warning) = (self.age(), level == Level::Warning);
        let (path, from, to) = (None, None, None);
        self.keep(Happened { at_s, peer: HUB.to_owned(), kind, path, from, to, what, is_warning });
    }

    /// Tells of something that the core has seen.
    fn note(&mut self, peer: String, notice: &Notice) {
        let states = notice.states().map(|states| states.map(PathState::name));
        self.keep(Happened {
            at_s: self.age(),
            peer,
            kind: notice.kind(),
            path: notice.path().map(str::to_owned),
            from: states.map(|[from, _]| from),
            to: states.map(|[_, to]| to),
            what: notice.to_string(),
            is_warning: notice.level() == Level::Warning,
        });
    }

    /// Logs what happened, and keeps it for the status.
    fn keep(&mut self, event: Happened) {
        let Happened { peer, kind, path, from, to, what, .. } = &event;
        let path = path.as_deref();
        if event.is_warning {
            tracing::warn!(peer, kind, path, from, to, "{what}");
        } else {
            tracing::info!(peer, kind, path, from, to, "{what}");
        }
        if self.events.len() == EVENTS {
            self.events.pop_front();
        }
        self.events.push_back(event);
    }

    /// Seconds since the process began.
    fn age(&self) -> f64 {
        now().saturating_since(self.began_at).as_secs_f64()
    }

    fn answer(&mut self, request: Request) {
        match request {
            // It does not matter if nobody waits for the answer any more.
            Request::Status(reply) => drop(reply.send(self.report())),
            Request::Change(change, reply) => drop(reply.send(self.change(change))),
        }
    }

    fn report(&self) -> Report {
        let now = now();
        let labelled =
            |drops: &Drops| drops.iter().map(|(reason, count)| (reason.label(), count)).collect::<Vec<_>>();
        let peers = self.core.status(now).into_iter().zip(self.core.peer_drops());
        let peers = peers.map(|((name, bond), drops)| Peer { name, bond, drops: labelled(&drops) });
        Report {
            role: if self.is_site { "site" } else { HUB },
            tun: self.tun.clone(),
            mtu: self.mtu,
            uptime_s: self.age(),
            peers: peers.collect(),
            drops: labelled(&self.core.drops()),
            events: self.events.iter().cloned().collect(),
        }
    }
}
