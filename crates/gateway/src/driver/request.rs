//! What the loop is asked while it runs, and what it answers.

use crate::bond::{PathKeys, TunnelStatus};
use serde::{Deserialize, Serialize};
use std::net::{IpAddr, SocketAddr};
use std::sync::mpsc::Sender;

/// A change of a site's paths.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case")]
pub enum PathChange {
    /// Adds a path.
    Add {
        /// Its name.
        name: String,
        /// The interface that it is bound to.
        interface: Option<String>,
        /// The address that it is bound to.
        address: Option<IpAddr>,
        /// The hub's address on it. `None`: that of the first path.
        remote: Option<SocketAddr>,
        /// The name that this address was found by, with the port.
        #[serde(default)]
        host: Option<String>,
        /// Its keys for the scheduler and its quota.
        #[serde(flatten)]
        keys: PathKeys,
    },
    /// Removes a path.
    Remove {
        /// Its name.
        name: String,
    },
    /// Changes keys of a path.
    Set {
        /// Its name.
        name: String,
        /// Those that change.
        #[serde(flatten)]
        keys: PathKeys,
    },
}

/// A request to the loop, and where the answer goes.
#[derive(Debug)]
pub enum Request {
    /// Asks for the status.
    Status(Sender<Report>),
    /// Changes the paths. The answer tells what is wrong with them.
    Change(PathChange, Sender<Result<(), String>>),
}

/// Something that happened.
#[derive(Clone, Debug, Serialize)]
pub struct Happened {
    /// Seconds since the process began.
    pub at_s: f64,
    /// The name of the other end that it concerns.
    pub peer: String,
    /// What happened, as a sentence.
    pub what: String,
    /// Does the operator have to look at it?
    pub is_warning: bool,
}

/// Another end, with which this one is bonded.
#[derive(Clone, Debug, Serialize)]
pub struct Peer {
    /// Its name.
    pub name: String,
    /// The bond, if there is a session.
    pub bond: Option<TunnelStatus>,
}

/// The status of a gateway.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// `site` or `hub`.
    pub role: &'static str,
    /// The TUN interface.
    pub tun: String,
    /// The longest inner packet, in octets.
    pub mtu: u16,
    /// Seconds since the process began.
    pub uptime_s: f64,
    /// The other ends.
    pub peers: Vec<Peer>,
    /// What was dropped, by reason.
    pub drops: Vec<(&'static str, u64)>,
    /// The latest events, the oldest first.
    pub events: Vec<Happened>,
}
