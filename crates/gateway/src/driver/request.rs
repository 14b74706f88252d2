//! What the loop is asked while it runs, and what it answers.

use crate::bond::{HUB, PathKeys, SILENCE, TunnelStatus};
use serde::{Deserialize, Serialize};
use std::net::{IpAddr, SocketAddr};
use std::sync::mpsc::Sender;

/// A change of paths: of a site's own, or of their keys at the hub's end.
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
        /// At a hub: the site whose path it is. A site has none.
        #[serde(default)]
        site: Option<String>,
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
    /// One word for it, as `path` when a path's state has changed.
    pub kind: &'static str,
    /// The path that it concerns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The path's state before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<&'static str>,
    /// The path's state now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<&'static str>,
    /// What happened and why, as a sentence.
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
    /// What was dropped of its sessions, by reason.
    pub drops: Vec<(&'static str, u64)>,
}

impl Report {
    /// Is there somebody to talk to? A hub waits for its sites, and is well without any.
    pub fn is_well(&self) -> bool {
        let hears =
            |peer: &Peer| peer.bond.as_ref().is_some_and(|bond| bond.silent_s < SILENCE.as_secs_f64());
        self.role == HUB || self.peers.iter().any(hears)
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_site_without_a_session_is_not_well_and_a_hub_is() {
        let report = |role| Report {
            role,
            tun: "bond0".into(),
            mtu: 1400,
            uptime_s: 1.0,
            peers: vec![Peer { name: HUB.into(), bond: None, drops: Vec::new() }],
            drops: Vec::new(),
            events: Vec::new(),
        };
        assert!(!report("site").is_well());
        assert!(report(HUB).is_well());
    }
}
