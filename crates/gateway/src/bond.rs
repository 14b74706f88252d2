//! What a site and a hub do with packets and datagrams, without sockets, clocks or randomness of
//! their own.
//!
//! A driver hands in what arrives, and calls `handle_timeout` at the time that `poll_timeout`
//! gives. After that it polls datagrams, then packets, then notices, each until there are none.

mod core;
mod drops;
mod entropy;
mod hub;
mod lookup;
mod notice;
mod path_row;
mod pending;
mod prefixes;
mod search;
mod site;
mod spending;
mod tunnel;

#[cfg(test)]
mod tests;

pub use core::Core;
pub use drops::{Drops, Reason};
pub use entropy::Entropy;
pub use hub::{Hub, HubConfig, Member, check_alone};
pub use notice::{Level, Notice, Subject};
pub use path_row::{PathKeys, PathRow, SitePathChange};
pub use prefixes::Prefixes;
pub(crate) use site::SILENCE;
pub use site::{Path, Site, SiteConfig};
pub use spending::{PastSpendings, PathSpending};
pub use tunnel::{Inside, PathStatus, TunnelStatus, Way};

/// The name of a site's other end, in notices and in the status.
pub(crate) const HUB: &str = "hub";
