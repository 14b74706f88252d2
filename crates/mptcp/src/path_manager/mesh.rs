//! Full mesh, full mesh of backups, and several ports over one path. Each is a fixed list of wanted subflows. A client
//! opens a subflow at once, and opens it again with back-off when it fails. A server announces its other addresses.

use super::rule::{Action, Event, PathManagerRule};
use crate::config::{Config, PathManager};
use crate::id::{self, Path, of_one_family};
use ropewalk_units::{Duration, Instant};
use std::net::{IpAddr, SocketAddr};

/// First wait before a failed subflow is opened again; doubled with every failure in a row.
const RETRY_FIRST: Duration = Duration::from_secs(1);
/// Longest wait.
const RETRY_LONGEST: Duration = Duration::from_secs(60);
/// More pairs than this are not made from announcements: a peer must not make this end open subflows without bound.
pub(super) const PAIRS_MOST: usize = 32;

/// One subflow that ought to exist.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Wanted {
    path: Path,
    path_index: u32,
    backup: bool,
    /// The announcement that it comes from.
    address_id: Option<u8>,
    state: State,
    failures: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    /// To be opened then.
    Due(Instant),
    /// Opening or open.
    Open,
    /// Ended in order, or its address is gone.
    Done,
}

/// The wanted subflows.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Mesh {
    wanted: Vec<Wanted>,
    paths: u32,
    /// Of every subflow but the first.
    others: Priority,
    announcements: Announcements,
    /// A server's other addresses, to be announced.
    own: Vec<SocketAddr>,
    established: bool,
}

/// What new data go by first (RFC 8684 §3.3.8).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Priority {
    Regular,
    Backup,
}

/// What an announced address does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Announcements {
    /// It makes a pair with every local address.
    Followed,
    Ignored,
}

impl PathManagerRule for Mesh {
    fn client(config: &Config, paths: &[Path]) -> Self {
        match config.path_manager {
            PathManager::Ndiffports { subflows } => Self::ports(paths, subflows),
            PathManager::Backup => Self::full(paths, Priority::Backup),
            _ => Self::full(paths, Priority::Regular),
        }
    }

    fn server(config: &Config, addresses: &[SocketAddr], initial: Path) -> Self {
        let own = match config.path_manager {
            PathManager::Ndiffports { .. } => Vec::new(),
            _ => addresses.iter().copied().filter(|a| a.ip() != initial.local.ip()).collect(),
        };
        Self { own, ..Self::new(Vec::new(), 0, Priority::Regular, Announcements::Ignored) }
    }

    fn on(&mut self, now: Instant, event: Event) -> Vec<Action> {
        match event {
            Event::Established => {
                self.established = true;
                let mut actions = self.open_due(now);
                actions.extend(self.own.iter().map(|&address| Action::Announce { address }));
                return actions;
            }
            Event::SubflowEstablished { path_index, .. } => self.succeeded(path_index),
            Event::SubflowClosed { path_index, failed, .. } => self.closed(now, path_index, failed),
            Event::AddressAnnounced { address, address_id } => self.announced(now, address, address_id),
            Event::AddressRemoved { address_id } => self.removed(address_id),
            Event::Tick | Event::AnnouncementDone | Event::SubflowLeaving { .. } => {}
        }
        self.open_due(now)
    }

    fn next_tick(&self) -> Option<Instant> {
        if !self.established {
            return None;
        }
        let due =
            self.wanted.iter().filter_map(|w| if let State::Due(at) = w.state { Some(at) } else { None });
        due.min()
    }
}

impl Mesh {
    /// Every path named, all except the first with the priority of `others`.
    fn full(paths: &[Path], others: Priority) -> Self {
        let priority = |index| if index > 0 { others } else { Priority::Regular };
        let wanted = paths.iter().enumerate().map(|(index, &path)| wanted(path, index, priority(index)));
        Self::new(wanted.collect(), paths.len(), others, Announcements::Followed)
    }

    /// `subflows` in all over the first path.
    fn ports(paths: &[Path], subflows: u32) -> Self {
        let first = paths.first().copied();
        let wanted = first
            .into_iter()
            .flat_map(|path| (0..subflows.max(1)).map(move |_| wanted(path, 0, Priority::Regular)));
        Self::new(wanted.collect(), paths.len(), Priority::Regular, Announcements::Ignored)
    }

    fn new(mut wanted: Vec<Wanted>, paths: usize, others: Priority, announcements: Announcements) -> Self {
        if let Some(initial) = wanted.first_mut() {
            initial.state = State::Open;
        }
        let own = Vec::new();
        Self { wanted, paths: paths as u32, others, announcements, own, established: false }
    }

    fn open_due(&mut self, now: Instant) -> Vec<Action> {
        if !self.established {
            return Vec::new();
        }
        let mut actions = Vec::new();
        for wanted in &mut self.wanted {
            if matches!(wanted.state, State::Due(at) if at <= now) {
                wanted.state = State::Open;
                let Wanted { path_index, path, backup, .. } = *wanted;
                actions.push(Action::Open(id::Wanted { path, path_index, backup }));
            }
        }
        actions
    }

    fn succeeded(&mut self, path_index: u32) {
        for wanted in self.wanted.iter_mut().filter(|w| w.path_index == path_index && w.state == State::Open)
        {
            wanted.failures = 0;
        }
    }

    fn closed(&mut self, now: Instant, path_index: u32, failed: bool) {
        let open = |w: &&mut Wanted| w.path_index == path_index && w.state == State::Open;
        let Some(wanted) = self.wanted.iter_mut().find(open) else { return };
        if !failed {
            wanted.state = State::Done;
            return;
        }
        let factor = 1u64 << wanted.failures.min(16);
        wanted.failures += 1;
        wanted.state = State::Due(now + RETRY_FIRST.saturating_mul(factor).min(RETRY_LONGEST));
    }

    /// Full mesh: the new address with every local one, unless a pair with it is there already.
    fn announced(&mut self, now: Instant, address: SocketAddr, address_id: u8) {
        if self.announcements == Announcements::Ignored {
            return;
        }
        if self.revive(now, address, address_id) {
            return;
        }
        for local in self.local_addresses().into_iter().filter(|&local| of_one_family(local, address)) {
            if self.wanted.len() >= PAIRS_MOST {
                return;
            }
            let index = (self.paths as usize).max(self.next_index());
            let path = Path { local: SocketAddr::new(local, 0), remote: address };
            let pair = Wanted {
                address_id: Some(address_id),
                state: State::Due(now),
                ..wanted(path, index, self.others)
            };
            self.wanted.push(pair);
        }
    }

    /// Known pairs with this address count as announced; those whose address had been removed are wanted again.
    fn revive(&mut self, now: Instant, address: SocketAddr, address_id: u8) -> bool {
        let mut known = false;
        for wanted in self.wanted.iter_mut().filter(|w| w.path.remote == address) {
            known = true;
            let was_removed = wanted.address_id.is_some() && wanted.state == State::Done;
            wanted.address_id = Some(address_id);
            if was_removed {
                wanted.state = State::Due(now);
            }
        }
        known
    }

    fn removed(&mut self, address_id: u8) {
        for wanted in self.wanted.iter_mut().filter(|w| w.address_id == Some(address_id)) {
            wanted.state = State::Done;
        }
    }

    fn next_index(&self) -> usize {
        self.wanted.iter().map(|w| w.path_index as usize + 1).max().unwrap_or(0)
    }

    fn local_addresses(&self) -> Vec<IpAddr> {
        let mut addresses = Vec::new();
        for wanted in &self.wanted {
            if !addresses.contains(&wanted.path.local.ip()) {
                addresses.push(wanted.path.local.ip());
            }
        }
        addresses
    }
}

fn wanted(path: Path, index: usize, priority: Priority) -> Wanted {
    let (state, backup) = (State::Due(Instant::ZERO), priority == Priority::Backup);
    Wanted { path, path_index: index as u32, backup, address_id: None, state, failures: 0 }
}
