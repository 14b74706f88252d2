//! What an operator may want to know, and why it happened.

use crate::session::offer::Refused;
use ropewalk_bonding::PathState;
use std::fmt;
use std::net::SocketAddr;

/// The site that a notice concerns, by its number at the hub. `None` at a site.
pub type Subject = Option<usize>;

/// Something that happened.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Notice {
    /// A session has begun, with a new bond.
    Begun,
    /// New keys are in use.
    Rekeyed,
    /// The other end has said that it ends.
    Closed,
    /// The session's keys are too old, and the site has not asked for new ones.
    Expired,
    /// Nothing came from the other end for a while: new keys are asked for.
    Silent,
    /// The hub refuses.
    Refused(Refused),
    /// Another gateway with this key has taken over.
    Displaced,
    /// Another process uses a site's key.
    TakenOver {
        /// Was the earlier process alive until then?
        was_alive: bool,
    },
    /// The other end of a path has another address.
    Roamed {
        /// Its name.
        path: String,
        /// The old address. `None`: there was none.
        from: Option<SocketAddr>,
        /// The new address.
        to: SocketAddr,
    },
    /// The hub's name stands for another address, which is tried, too.
    Renamed {
        /// The name of the path that leads there.
        path: String,
        /// The known address.
        from: SocketAddr,
        /// The other address.
        to: SocketAddr,
    },
    /// The hub has answered at the other address, which is used from now on.
    Moved {
        /// The name of the path that leads there.
        path: String,
        /// The old address.
        from: SocketAddr,
        /// The new address.
        to: SocketAddr,
    },
    /// The state of a path has changed.
    Path {
        /// Its name.
        path: String,
        /// The old state.
        from: PathState,
        /// The new state.
        to: PathState,
    },
    /// Every path is down.
    NoPath,
}

impl Notice {
    /// One word for programs that read logs.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Begun => "begun",
            Self::Rekeyed => "rekeyed",
            Self::Closed => "closed",
            Self::Expired => "expired",
            Self::Silent => "silent",
            Self::Refused(_) => "refused",
            Self::Displaced => "displaced",
            Self::TakenOver { .. } => "taken-over",
            Self::Roamed { .. } => "roamed",
            Self::Renamed { .. } => "renamed",
            Self::Moved { .. } => "moved",
            Self::Path { .. } => "path",
            Self::NoPath => "no-path",
        }
    }

    /// The name of the path that it concerns.
    pub fn path(&self) -> Option<&str> {
        match self {
            Self::Roamed { path, .. }
            | Self::Renamed { path, .. }
            | Self::Moved { path, .. }
            | Self::Path { path, .. } => Some(path),
            _ => None,
        }
    }

    /// The state of the path before and after.
    pub const fn states(&self) -> Option<[PathState; 2]> {
        if let Self::Path { from, to, .. } = self { Some([*from, *to]) } else { None }
    }

    /// How much it matters to the operator.
    pub const fn level(&self) -> Level {
        match self {
            Self::Expired | Self::Silent | Self::Refused(_) | Self::Displaced | Self::NoPath => {
                Level::Warning
            }
            Self::TakenOver { was_alive: true } | Self::Path { to: PathState::Down, .. } => Level::Warning,
            _ => Level::Information,
        }
    }
}

/// How much a notice matters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Level {
    /// It happens in ordinary use.
    Information,
    /// The operator has to look at it.
    Warning,
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Begun => f.write_str("a session has begun, with a new bond"),
            Self::Rekeyed => f.write_str("new keys are in use"),
            Self::Closed => f.write_str("the other end has ended the session"),
            Self::Expired => f.write_str("the session has ended: its keys are too old, and the site asked for no new ones"),
            Self::Silent => f.write_str("nothing came from the hub for a while: asking for a new session"),
            Self::Refused(reason) => write!(f, "the hub refuses: {reason}"),
            Self::Displaced => f.write_str(
                "another gateway with this key has taken over; this one waits until that is silent. Each site needs a key of its own",
            ),
            Self::TakenOver { was_alive: true } => f.write_str(
                "another process took the site's place while it was alive: it was restarted, or two gateways have one key",
            ),
            Self::TakenOver { was_alive: false } => f.write_str("the site was restarted"),
            Self::Roamed { path, from: None, to } => write!(f, "path {path}: the other end is at {to}"),
            Self::Roamed { path, from: Some(from), to } => {
                write!(f, "path {path}: the other end was at {from} and sends from {to} now")
            }
            Self::Renamed { path, from, to } => {
                write!(f, "path {path}: the hub's name stands for {to} now, which is tried beside {from}")
            }
            Self::Moved { path, from, to } => write!(f, "path {path}: the hub has moved from {from} to {to}"),
            Self::Path { path, to: PathState::Up, from: PathState::Down } => {
                write!(f, "path {path} is used again: keepalives were answered in a row")
            }
            Self::Path { path, to: PathState::Up, .. } => write!(f, "path {path} is used again: it shows signs of life"),
            Self::Path { path, to: PathState::Suspected, .. } => {
                write!(f, "path {path} is suspected: no sign of life for too long; it is used only if no other is up")
            }
            Self::Path { path, to: PathState::Down, .. } => {
                write!(f, "path {path} is down: no sign of life; only keepalives go by it")
            }
            Self::NoPath => f.write_str("every path is down"),
        }
    }
}
