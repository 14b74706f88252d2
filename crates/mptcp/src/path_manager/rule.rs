//! What a path manager is: the events that it gets, the actions that it returns, and which joins it admits.

use crate::config::Config;
use crate::id::{Path, Wanted};
use ropewalk_units::Instant;
use std::net::SocketAddr;

/// Events for a path manager.
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
    /// [`PathManagerRule::next_tick`]'s time has come. Early ticks are harmless.
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

/// A path manager with its state, of one connection.
pub(crate) trait PathManagerRule: Sized {
    /// A client's: `paths` are the scenario's, the first that of the initial subflow.
    fn client(config: &Config, paths: &[Path]) -> Self;

    /// A server's: `addresses` are its local ones, `initial` the ends of the initial subflow.
    fn server(config: &Config, addresses: &[SocketAddr], initial: Path) -> Self;

    /// The actions that follow from `event`, in order.
    fn on(&mut self, now: Instant, event: Event) -> Vec<Action>;

    /// When [`Event::Tick`] is due.
    fn next_tick(&self) -> Option<Instant> {
        None
    }

    /// The peer lets nobody join at the address and port of the initial subflow (RFC 8684 §3.1: flag C). Subflows to
    /// there are not opened, whatever the rule asks for.
    fn deny_initial(&mut self) {}

    /// May a subflow that the peer opens come up?
    fn admits(&self) -> bool {
        true
    }

    /// Does the host listen there for joins of this connection?
    fn listens_at(&self, _local: SocketAddr) -> bool {
        true
    }

    /// Does the peer know of this address by what it was sent, so that it may join there?
    fn has_announced(&self, _local: SocketAddr) -> bool {
        true
    }

    /// Are subflows that the peer opens to this address backups for us?
    fn is_backup(&self, _local: SocketAddr) -> bool {
        false
    }
}

/// The paths that a server has to its client: from each of its addresses.
pub(super) fn of_server(addresses: &[SocketAddr], initial: Path) -> Vec<Path> {
    addresses.iter().map(|&local| Path { local, remote: initial.remote }).collect()
}

impl<R: PathManagerRule> PathManagerRule for Box<R> {
    fn client(config: &Config, paths: &[Path]) -> Self {
        Self::new(R::client(config, paths))
    }

    fn server(config: &Config, addresses: &[SocketAddr], initial: Path) -> Self {
        Self::new(R::server(config, addresses, initial))
    }

    fn on(&mut self, now: Instant, event: Event) -> Vec<Action> {
        (**self).on(now, event)
    }

    fn next_tick(&self) -> Option<Instant> {
        (**self).next_tick()
    }

    fn deny_initial(&mut self) {
        (**self).deny_initial();
    }

    fn admits(&self) -> bool {
        (**self).admits()
    }

    fn listens_at(&self, local: SocketAddr) -> bool {
        (**self).listens_at(local)
    }

    fn has_announced(&self, local: SocketAddr) -> bool {
        (**self).has_announced(local)
    }

    fn is_backup(&self, local: SocketAddr) -> bool {
        (**self).is_backup(local)
    }
}
