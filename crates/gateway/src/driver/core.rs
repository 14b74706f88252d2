//! A site or a hub, as the loop sees them.

use crate::bond::{Drops, Hub, Notice, Reason, Site, TunnelStatus, Way};
use crate::packet::Packet;
use ropewalk_units::Instant;

/// What decides.
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
    pub(super) fn handle_packet(&mut self, now: Instant, octets: &mut [u8]) {
        both!(self, core => core.handle_packet(now, octets));
    }

    pub(super) fn handle_datagram(&mut self, now: Instant, way: Way, datagram: &mut [u8]) {
        both!(self, core => core.handle_datagram(now, way, datagram));
    }

    pub(super) fn handle_timeout(&mut self, now: Instant) {
        both!(self, core => core.handle_timeout(now));
    }

    pub(super) fn poll_timeout(&self, now: Instant) -> Instant {
        both!(self, core => core.poll_timeout(now))
    }

    pub(super) fn poll_transmit(&mut self, now: Instant, out: &mut Vec<u8>) -> Option<Way> {
        both!(self, core => core.poll_transmit(now, out))
    }

    pub(super) fn poll_deliver(&mut self, now: Instant) -> Option<Packet> {
        both!(self, core => core.poll_deliver(now))
    }

    pub(super) fn note_drop(&mut self, reason: Reason) {
        both!(self, core => core.note_drop(reason));
    }

    pub(super) fn drops(&self) -> Drops {
        both!(self, core => core.drops())
    }

    pub(super) fn end(&mut self) {
        both!(self, core => core.end());
    }

    /// What has happened, with the name of the site at a hub.
    pub(super) fn poll_notice(&mut self) -> Option<(String, Notice)> {
        match self {
            Self::Site(site) => site.poll_notice().map(|notice| ("hub".to_owned(), notice)),
            Self::Hub(hub) => {
                let (subject, notice) = hub.poll_notice()?;
                Some((subject.map(|site| hub.site_name(site).to_owned()).unwrap_or_default(), notice))
            }
        }
    }

    /// Bonds by the name of the other end.
    pub(super) fn status(&self, now: Instant) -> Vec<(String, Option<TunnelStatus>)> {
        match self {
            Self::Site(site) => vec![("hub".to_owned(), site.status(now))],
            Self::Hub(hub) => {
                hub.status(now).into_iter().map(|(name, status)| (name.to_owned(), status)).collect()
            }
        }
    }
}
