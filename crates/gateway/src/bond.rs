//! What a site and a hub do with packets and datagrams, without sockets, clocks or randomness of their own.
//!
//! A driver hands in what comes, calls `handle_timeout` at the time that `poll_timeout` names, and after each polls deliveries,
//! datagrams and notices until there are none.

mod core;
mod drops;
mod hub;
mod notice;
mod pending;
mod prefixes;
mod search;
mod site;
mod tunnel;

#[cfg(test)]
mod tests;

pub use core::Core;
pub use drops::{Drops, Reason};
pub use hub::{Hub, HubConfig, Member};
pub use notice::{Level, Notice, Subject};
pub use prefixes::Prefixes;
pub use site::{Path, Site, SiteConfig};
pub use tunnel::{Inside, PathStatus, TunnelStatus, Way};

/// A site's path, as it can be changed while it runs.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub struct PathRow {
    /// Its name.
    pub name: String,
    /// Its rank of cost.
    pub cost: Option<u32>,
    /// The driver's socket.
    pub socket: usize,
    /// Where it leads until the hub's packets say otherwise.
    pub remote: std::net::SocketAddr,
    /// The longest IP packet that it may carry, in octets.
    pub mtu: u16,
}

/// Fills a slice with random octets that nobody can foresee.
pub type Entropy = Box<dyn FnMut(&mut [u8])>;
