//! A site or a hub, as a driver sees them.

use super::drops::{Drops, Reason};
use super::hub::{Hub, HubConfig};
use super::notice::Notice;
use super::path_row::{PathKeys, PathRow, SitePathChange};
use super::site::{Path, Site, SiteConfig};
use super::spending::{PastSpendings, PathSpending};
use super::tunnel::{TunnelStatus, Way};
use super::{Entropy, HUB};
use crate::packet::Packet;
use ropewalk_bonding::{ConfigError, PathConfig};
use ropewalk_units::Instant;
use std::net::SocketAddr;

/// A site or a hub.
#[expect(clippy::large_enum_variant, reason = "there is one")]
pub enum Core {
    /// A site.
    Site(Site),
    /// A hub.
    Hub(Hub),
}

macro_rules! both {
    ($self:ident, $core:ident => $call:expr) => {
        match $self {
            Self::Site($core) => $call,
            Self::Hub($core) => $call,
        }
    };
}

impl Core {
    /// A site that begins at `now`.
    ///
    /// # Errors
    /// What is wrong with the bond.
    pub fn site(config: SiteConfig, entropy: Entropy, now: Instant) -> Result<Self, ConfigError> {
        Site::new(config, entropy, now).map(Self::Site)
    }

    /// A hub that begins at `now`.
    pub fn hub(config: HubConfig, entropy: Entropy, now: Instant) -> Self {
        Self::Hub(Hub::new(config, entropy, now))
    }

    /// A site's paths; a hub has none of its own.
    pub fn paths(&self) -> Option<Vec<PathRow>> {
        let Self::Site(site) = self else { return None };
        let rows = site.bond().paths.iter().zip(site.paths());
        let row = |(config, path): (&PathConfig, &Path)| PathRow {
            name: config.name.clone(),
            keys: PathKeys::of(config),
            socket: path.way.socket,
            remote: path.way.to,
            mtu: path.mtu,
        };
        Some(rows.map(row).collect())
    }

    /// Replaces the paths of a site. A hub ignores this.
    ///
    /// # Errors
    /// What is wrong with the paths. Then the old ones stay.
    pub fn set_paths(&mut self, now: Instant, rows: &[PathRow]) -> Result<(), ConfigError> {
        let Self::Site(site) = self else { return Ok(()) };
        let mut bond = site.bond().clone();
        let known = |row: &PathRow| {
            let known = site.bond().paths.iter().find(|path| path.name == row.name).cloned();
            row.keys.set(known.unwrap_or_else(|| PathConfig::new(&row.name, None)))
        };
        bond.paths = rows.iter().map(known).collect();
        let path = |row: &PathRow| Path { way: Way::new(row.socket, row.remote), mtu: row.mtu };
        site.set_paths(now, bond, rows.iter().map(path).collect())
    }

    /// Gives a site's path other keys at the hub's end. A site has no such end.
    ///
    /// # Errors
    /// What is wrong with the change. Then all stays as it was.
    pub fn set_site_path(&mut self, now: Instant, change: &SitePathChange) -> Result<(), String> {
        match self {
            Self::Site(_) => Err("no --site at a site: its paths have one end here".into()),
            Self::Hub(hub) => hub.set_path(now, change),
        }
    }

    /// Is the hub's name to be looked up? Each wish is told once. A hub never wishes it.
    pub const fn poll_lookup(&mut self) -> bool {
        match self {
            Self::Site(site) => site.poll_lookup(),
            Self::Hub(_) => false,
        }
    }

    /// Takes the addresses that a site's names stand for now, each with the socket of its path. A
    /// hub ignores this.
    pub fn handle_addresses(&mut self, now: Instant, found: &[(usize, SocketAddr)]) {
        if let Self::Site(site) = self {
            site.handle_addresses(now, found);
        }
    }

    /// What was spent of each quota that a path has.
    pub fn spendings(&self, now: Instant) -> Vec<PathSpending> {
        both!(self, core => core.spendings(now))
    }

    /// New bonds count on from what an earlier process has spent of quotas.
    pub fn resume_spendings(&mut self, now: Instant, past: &PastSpendings) {
        both!(self, core => core.resume_spendings(now, past));
    }

    /// The longest packet that a site's inside may send, in octets. `None` at a hub: its sites
    /// differ.
    pub fn inner_mtu(&self) -> Option<u16> {
        match self {
            Self::Site(site) => Some(site.inner_mtu()),
            Self::Hub(_) => None,
        }
    }

    /// Takes a packet from the inside. Its octets may be changed.
    pub fn handle_packet(&mut self, now: Instant, octets: &mut [u8]) {
        both!(self, core => core.handle_packet(now, octets));
    }

    /// Takes a datagram from the outside. It is opened in place.
    pub fn handle_datagram(&mut self, now: Instant, way: Way, datagram: &mut [u8]) {
        // Nobody can be answered there (RFC 768), and an answer would be an error of the socket.
        if way.to.port() == 0 {
            return self.note_drop(Reason::Malformed);
        }
        both!(self, core => core.handle_datagram(now, way, datagram));
    }

    /// To be called when the time of [`Self::poll_timeout`] has come.
    pub fn handle_timeout(&mut self, now: Instant) {
        both!(self, core => core.handle_timeout(now));
    }

    /// When [`Self::handle_timeout`] is to be called next.
    pub fn poll_timeout(&self, now: Instant) -> Instant {
        both!(self, core => core.poll_timeout(now))
    }

    /// Writes the next datagram into `out`. Returns where it goes. `None`: there is none.
    pub fn poll_transmit(&mut self, now: Instant, out: &mut Vec<u8>) -> Option<Way> {
        both!(self, core => core.poll_transmit(now, out))
    }

    /// The next packet for the inside. To be called when [`Self::poll_transmit`] gives nothing
    /// more.
    pub fn poll_deliver(&mut self, now: Instant) -> Option<Packet> {
        both!(self, core => core.poll_deliver(now))
    }

    /// Counts a drop that the driver has seen.
    pub fn note_drop(&mut self, reason: Reason) {
        both!(self, core => core.note_drop(reason));
    }

    /// What was dropped, by reason.
    pub fn drops(&self) -> Drops {
        both!(self, core => core.drops())
    }

    /// The process ends: the other ends are told.
    pub fn end(&mut self, now: Instant) {
        both!(self, core => core.end(now));
    }

    /// The next notice, with the name of the other end that it concerns.
    pub fn poll_notice(&mut self) -> Option<(String, Notice)> {
        match self {
            Self::Site(site) => site.poll_notice().map(|notice| (HUB.to_owned(), notice)),
            Self::Hub(hub) => {
                let (subject, notice) = hub.poll_notice()?;
                Some((subject.map(|site| hub.site_name(site).to_owned()).unwrap_or_default(), notice))
            }
        }
    }

    /// What was dropped of the sessions with each other end, in the order of [`Self::status`]. A
    /// site has but one.
    pub fn peer_drops(&self) -> Vec<Drops> {
        match self {
            Self::Site(site) => vec![site.drops()],
            Self::Hub(hub) => hub.peer_drops(),
        }
    }

    /// The bond with each other end, by its name. `None`: there is no session.
    pub fn status(&self, now: Instant) -> Vec<(String, Option<TunnelStatus>)> {
        match self {
            Self::Site(site) => vec![(HUB.to_owned(), site.status(now))],
            Self::Hub(hub) => {
                hub.status(now).into_iter().map(|(name, status)| (name.to_owned(), status)).collect()
            }
        }
    }
}
