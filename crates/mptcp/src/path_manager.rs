//! Which subflows a connection opens, announces and closes: a pure state machine.
//!
//! A client opens, a server announces. A subflow that failed is opened again with back-off, for ever while the
//! connection lives: a restored path is used again.

mod kernel;
mod mesh;
mod scripted;

#[cfg(test)]
mod tests;

use crate::config::{Config, PathManager as Kind};
use crate::id::{Path, Wanted};
use crate::role::Role;
use kernel::Kernel;
use mesh::{Mesh, Priority};
use ropewalk_units::Instant;
use scripted::Script;
use std::net::SocketAddr;

/// What a path manager hears of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Event {
    /// The connection is established and may be joined (RFC 8684 §3.2). Once.
    Established,
    /// An announcement of ours was echoed, or was repeated in vain.
    AnnouncementDone,
    /// A subflow with this path index is established.
    SubflowEstablished {
        /// As in [`Action::Open`]; 0 for the initial subflow.
        path_index: u32,
        /// Its ends.
        path: Path,
    },
    /// A subflow has ended.
    SubflowClosed {
        /// As in [`Action::Open`].
        path_index: u32,
        /// It ended by timeout, reset or refusal, and may be tried again. False for an orderly end (FIN on both
        /// sides, or asked for), and for one that the peer calls permanent.
        failed: bool,
        /// Its ends.
        path: Path,
    },
    /// ADD_ADDR, checked and echoed.
    AddressAnnounced {
        /// Address and port at which the peer listens.
        address: SocketAddr,
        /// RFC 8684 §3.4.1.
        address_id: u8,
    },
    /// REMOVE_ADDR. (The connection itself closes the subflows that used the address, §3.4.2.)
    AddressRemoved {
        /// RFC 8684 §3.4.2.
        address_id: u8,
    },
    /// The connection closes a subflow, as the peer has withdrawn its address. [`Event::SubflowClosed`] follows.
    SubflowLeaving {
        /// Its ends.
        path: Path,
    },
    /// [`PathManager::next_tick`]'s time has come. Early ticks are harmless.
    Tick,
}

/// What a path manager wants done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Action {
    /// Open a subflow with MP_JOIN, from a local port that the driver picks.
    Open(Wanted),
    /// This local address has this identifier from now on, unless another one has it.
    Name {
        /// RFC 8684 §3.4.1.
        address_id: u8,
        /// With the one port that is meant, or 0 for all.
        address: SocketAddr,
    },
    /// Announce this local address with ADD_ADDR.
    Announce {
        /// Which.
        address: SocketAddr,
    },
    /// Withdraw it with REMOVE_ADDR.
    Withdraw {
        /// Which.
        address: SocketAddr,
    },
    /// A local address is gone: the peer hears it by REMOVE_ADDR if it knows the address by an announcement or a
    /// subflow, and the subflows from there get a FIN at once.
    Remove {
        /// As in [`Action::Name`].
        address: SocketAddr,
        /// It was announced.
        announced: bool,
    },
    /// Close the subflows from this local address with FIN.
    CloseFrom {
        /// As in [`Action::Name`].
        address: SocketAddr,
    },
    /// Send MP_PRIO on the first subflow from this local address.
    SetBackupFrom {
        /// As in [`Action::Name`].
        address: SocketAddr,
        /// B.
        backup: bool,
    },
    /// Send MP_PRIO on the subflows of this path.
    SetBackup {
        /// Which path.
        path_index: u32,
        /// B.
        backup: bool,
    },
    /// Close the subflows of this path with FIN.
    Close {
        /// Which path.
        path_index: u32,
    },
    /// Reset the subflows of this path.
    Reset {
        /// Which path.
        path_index: u32,
    },
}

/// The path manager of one connection.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct PathManager {
    kind: Machine,
    /// The peer's address and port of the initial subflow.
    initial: SocketAddr,
    /// The peer lets nobody join there.
    denied: bool,
}

#[derive(Clone, PartialEq, Debug)]
enum Machine {
    Mesh(Mesh),
    Scripted(Script),
    Announcer { others: Vec<SocketAddr> },
    Kernel(Box<Kernel>),
}

impl PathManager {
    /// A client's: `paths` are the scenario's, the first that of the initial subflow.
    pub(crate) fn client(config: &Config, paths: &[Path]) -> Self {
        let kind = match &config.path_manager {
            Kind::FullMesh => Machine::Mesh(Mesh::full(paths, Priority::Regular)),
            Kind::Backup => Machine::Mesh(Mesh::full(paths, Priority::Backup)),
            Kind::Ndiffports { subflows } => Machine::Mesh(Mesh::ports(paths, *subflows)),
            Kind::Scripted { steps } => {
                Machine::Scripted(Script::new(steps.clone(), paths.to_vec(), Role::Client))
            }
            Kind::Kernel { client, .. } => {
                Machine::Kernel(Box::new(Kernel::new(client.clone(), Role::Client, paths[0], paths)))
            }
        };
        Self { kind, initial: paths[0].remote, denied: false }
    }

    /// A server's: `addresses` are its local ones, `initial` the ends of the initial subflow. Scripted steps that a
    /// server can do (announce, withdraw, set the priority, close, reset) refer to `addresses` in order.
    pub(crate) fn server(config: &Config, addresses: &[SocketAddr], initial: Path) -> Self {
        let kind = match &config.path_manager {
            Kind::FullMesh | Kind::Backup => Machine::Announcer {
                others: addresses.iter().copied().filter(|a| a.ip() != initial.local.ip()).collect(),
            },
            Kind::Ndiffports { .. } => Machine::Announcer { others: Vec::new() },
            Kind::Scripted { steps } => {
                let paths = addresses.iter().map(|&local| Path { local, remote: initial.remote }).collect();
                Machine::Scripted(Script::new(steps.clone(), paths, Role::Server))
            }
            Kind::Kernel { server, .. } => {
                let paths: Vec<Path> =
                    addresses.iter().map(|&local| Path { local, remote: initial.remote }).collect();
                Machine::Kernel(Box::new(Kernel::new(server.clone(), Role::Server, initial, &paths)))
            }
        };
        Self { kind, initial: initial.remote, denied: false }
    }

    /// The peer lets nobody join at the address and port of the initial subflow (RFC 8684 §3.1: flag C).
    pub(crate) fn deny_initial(&mut self) {
        self.denied = true;
        if let Machine::Kernel(kernel) = &mut self.kind {
            kernel.deny_initial();
        }
    }

    /// The actions that follow from `event`, in order.
    pub(crate) fn on(&mut self, now: Instant, event: Event) -> Vec<Action> {
        let mut actions = match &mut self.kind {
            Machine::Mesh(mesh) => mesh.on(now, event),
            Machine::Scripted(script) => script.on(now, event),
            Machine::Announcer { others } => match event {
                Event::Established => others.iter().map(|&address| Action::Announce { address }).collect(),
                _ => Vec::new(),
            },
            Machine::Kernel(kernel) => kernel.on(now, event),
        };
        if self.denied {
            actions.retain(
                |action| !matches!(action, Action::Open(wanted) if wanted.path.remote == self.initial),
            );
        }
        actions
    }

    /// When [`Event::Tick`] is due.
    pub(crate) fn next_tick(&self) -> Option<Instant> {
        match &self.kind {
            Machine::Mesh(mesh) => mesh.next_tick(),
            Machine::Scripted(script) => script.next_tick(),
            Machine::Kernel(kernel) => kernel.next_tick(),
            Machine::Announcer { .. } => None,
        }
    }

    /// May a subflow that the peer opens come up?
    pub(crate) fn admits(&self) -> bool {
        match &self.kind {
            Machine::Kernel(kernel) => kernel.admits(),
            _ => true,
        }
    }

    /// Does the host listen there for joins of this connection?
    pub(crate) fn listens_at(&self, local: SocketAddr) -> bool {
        match &self.kind {
            Machine::Kernel(kernel) => kernel.listens_at(local),
            _ => true,
        }
    }

    /// May the peer join there, as far as it was told?
    pub(crate) fn has_told_of(&self, local: SocketAddr) -> bool {
        match &self.kind {
            Machine::Kernel(kernel) => kernel.has_told_of(local),
            _ => true,
        }
    }

    /// Are subflows that the peer opens to this address backups for us?
    pub(crate) fn is_backup(&self, local: SocketAddr) -> bool {
        match &self.kind {
            Machine::Kernel(kernel) => kernel.is_backup(local),
            _ => false,
        }
    }
}
