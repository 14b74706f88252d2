//! Which subflows a connection opens, announces and closes: a pure state machine.
//!
//! A client opens, a server announces. A subflow that failed is opened again with back-off, for ever while the
//! connection lives: a restored path is used again.

mod kernel;
mod mesh;
mod rule;
mod scripted;

#[cfg(test)]
mod tests;

pub(crate) use rule::{Action, Event};

use crate::config::{self, Config};
use crate::id::Path;
use ropewalk_units::Instant;
use rule::PathManagerRule;
use std::net::SocketAddr;

macro_rules! path_manager_rules {
    (
        $(
            $(#[$doc:meta])*
            $name:ident $({ $($(#[$field_doc:meta])* $field:ident: $type:ty = $default:expr,)* })? = $rule:ty;
        )*
    ) => {
        /// A rule with its state.
        #[derive(Clone, PartialEq, Debug)]
        enum Rules {
            $($(#[$doc])* $name($rule),)*
        }

        impl Rules {
            fn client(config: &Config, paths: &[Path]) -> Self {
                match config.path_manager {
                    $(config::PathManager::$name { .. } => Self::$name(<$rule>::client(config, paths)),)*
                }
            }

            fn server(config: &Config, addresses: &[SocketAddr], initial: Path) -> Self {
                match config.path_manager {
                    $(
                        config::PathManager::$name { .. } =>
                            Self::$name(<$rule>::server(config, addresses, initial)),
                    )*
                }
            }

            fn deny_initial(&mut self) {
                match self {
                    $(Self::$name(rule) => rule.deny_initial(),)*
                }
            }

            fn on(&mut self, now: Instant, event: Event) -> Vec<Action> {
                match self {
                    $(Self::$name(rule) => rule.on(now, event),)*
                }
            }

            fn next_tick(&self) -> Option<Instant> {
                match self {
                    $(Self::$name(rule) => rule.next_tick(),)*
                }
            }

            fn admits(&self) -> bool {
                match self {
                    $(Self::$name(rule) => rule.admits(),)*
                }
            }

            fn listens_at(&self, local: SocketAddr) -> bool {
                match self {
                    $(Self::$name(rule) => rule.listens_at(local),)*
                }
            }

            fn has_announced(&self, local: SocketAddr) -> bool {
                match self {
                    $(Self::$name(rule) => rule.has_announced(local),)*
                }
            }

            fn is_backup(&self, local: SocketAddr) -> bool {
                match self {
                    $(Self::$name(rule) => rule.is_backup(local),)*
                }
            }
        }
    };
}

path_managers!(path_manager_rules);

/// The path manager of one connection.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct PathManager {
    rules: Rules,
    /// The peer's address and port of the initial subflow.
    initial: SocketAddr,
    /// The peer lets nobody join there.
    denied: bool,
}

impl PathManager {
    /// A client's: `paths` are the scenario's, the first that of the initial subflow.
    pub(crate) fn client(config: &Config, paths: &[Path]) -> Self {
        Self { rules: Rules::client(config, paths), initial: paths[0].remote, denied: false }
    }

    /// A server's: `addresses` are its local ones, `initial` the ends of the initial subflow.
    pub(crate) fn server(config: &Config, addresses: &[SocketAddr], initial: Path) -> Self {
        Self { rules: Rules::server(config, addresses, initial), initial: initial.remote, denied: false }
    }

    /// The peer lets nobody join at the address and port of the initial subflow (RFC 8684 §3.1: flag C).
    pub(crate) fn deny_initial(&mut self) {
        self.denied = true;
        self.rules.deny_initial();
    }

    /// The actions that follow from `event`, in order.
    pub(crate) fn on(&mut self, now: Instant, event: Event) -> Vec<Action> {
        let mut actions = self.rules.on(now, event);
        if self.denied {
            actions.retain(
                |action| !matches!(action, Action::Open(wanted) if wanted.path.remote == self.initial),
            );
        }
        actions
    }

    /// When [`Event::Tick`] is due.
    pub(crate) fn next_tick(&self) -> Option<Instant> {
        self.rules.next_tick()
    }

    /// May a subflow that the peer opens come up?
    pub(crate) fn admits(&self) -> bool {
        self.rules.admits()
    }

    /// Does the host listen there for joins of this connection?
    pub(crate) fn listens_at(&self, local: SocketAddr) -> bool {
        self.rules.listens_at(local)
    }

    /// Does the peer know of this address by what it was sent, so that it may join there?
    pub(crate) fn has_announced(&self, local: SocketAddr) -> bool {
        self.rules.has_announced(local)
    }

    /// Are subflows that the peer opens to this address backups for us?
    pub(crate) fn is_backup(&self, local: SocketAddr) -> bool {
        self.rules.is_backup(local)
    }
}
