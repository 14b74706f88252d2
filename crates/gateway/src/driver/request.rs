//! What the loop is asked while it runs, and what it answers.

use crate::bond::{PathKeys, TunnelStatus};
use serde::{Deserialize, Serialize};
use std::net::{IpAddr, SocketAddr};
use std::sync::mpsc::Sender;

/// A change of a site's paths.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case")]
pub enum PathChange {
    /// Another path.
    Add {
        /// Its name.
        name: String,
        /// The interface that it is bound to.
        interface: Option<String>,
        /// The address that it is bound to.
        address: Option<IpAddr>,
        /// The hub's address on it; else that of the first path.
        remote: Option<SocketAddr>,
        /// What the scheduler and its quota have for it.
        #[serde(flatten)]
        keys: PathKeys,
    },
    /// One path less.
    Remove {
        /// Its name.
        name: String,
    },
    /// Other keys of a path.
    Set {
        /// Its name.
        name: String,
        /// Those that change.
        #[serde(flatten)]
        keys: PathKeys,
    },
}

/// Something asked, and where the answer goes.
#[derive(Debug)]
pub enum Request {
    /// How is it?
    Status(Sender<Report>),
    /// Other paths; what is wrong with them.
    Change(PathChange, Sender<Result<(), String>>),
}

/// Something that happened.
#[derive(Clone, Debug, Serialize)]
pub struct Happened {
    /// Seconds since the process began.
    pub at_s: f64,
    /// Whom it is about.
    pub peer: String,
    /// What.
    pub what: String,
    /// Is it something to be looked after?
    pub is_warning: bool,
}

/// Whom this end is bonded with.
#[derive(Clone, Debug, Serialize)]
pub struct Peer {
    /// Its name.
    pub name: String,
    /// The bond, if there is a session.
    pub bond: Option<TunnelStatus>,
}

/// How it is.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// `site` or `hub`.
    pub role: &'static str,
    /// The TUN interface.
    pub tun: String,
    /// The longest inner packet.
    pub mtu: u16,
    /// Seconds since the process began.
    pub uptime_s: f64,
    /// The other ends.
    pub peers: Vec<Peer>,
    /// What was dropped, by reason.
    pub drops: Vec<(&'static str, u64)>,
    /// What happened of late, the oldest first.
    pub events: Vec<Happened>,
}
