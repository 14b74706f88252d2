//! A site or a hub of which a record may be kept.

use crate::bond::{
    Core, Drops, Notice, PastSpendings, PathRow, PathSpending, Reason, SitePathChange, TunnelStatus, Way,
};
use crate::packet::Packet;
use crate::record::Shared;
use ropewalk_units::Instant;
use std::net::SocketAddr;

/// A site or a hub, and the record of what it is told and of what it answers.
pub(super) struct Recorded {
    core: Core,
    record: Option<Shared>,
}

impl Recorded {
    pub(super) const fn new(core: Core, record: Option<Shared>) -> Self {
        Self { core, record }
    }

    pub(super) fn handle_packet(&mut self, now: Instant, octets: &mut [u8]) {
        if let Some(record) = &self.record {
            record.borrow_mut().packet(now, octets);
        }
        self.core.handle_packet(now, octets);
    }

    pub(super) fn handle_datagram(&mut self, now: Instant, way: Way, datagram: &mut [u8]) {
        if let Some(record) = &self.record {
            record.borrow_mut().datagram(now, way, datagram);
        }
        self.core.handle_datagram(now, way, datagram);
    }

    pub(super) fn handle_timeout(&mut self, now: Instant) {
        if let Some(record) = &self.record {
            record.borrow_mut().timeout(now);
        }
        self.core.handle_timeout(now);
    }

    pub(super) fn poll_transmit(&mut self, now: Instant, out: &mut Vec<u8>) -> Option<Way> {
        let way = self.core.poll_transmit(now, out);
        if let Some(record) = &self.record {
            record.borrow_mut().sent(now, way.map(|way| (way, out.as_slice())));
        }
        way
    }

    pub(super) fn poll_deliver(&mut self, now: Instant) -> Option<Packet> {
        let packet = self.core.poll_deliver(now);
        if let Some(record) = &self.record {
            record.borrow_mut().delivered(now, packet.as_ref().map(Packet::octets));
        }
        packet
    }

    pub(super) fn set_paths(&mut self, now: Instant, rows: &[PathRow]) -> Result<(), String> {
        // A change that cannot be written into the record is not made.
        let json = self.record.as_ref().map(|_| serde_json::to_string(rows)).transpose();
        let json = json.map_err(|error| error.to_string())?;
        self.core.set_paths(now, rows).map_err(|error| error.to_string())?;
        if let (Some(record), Some(json)) = (&self.record, json) {
            record.borrow_mut().change(now, &json);
        }
        Ok(())
    }

    pub(super) fn set_site_path(&mut self, now: Instant, change: &SitePathChange) -> Result<(), String> {
        let json = self.record.as_ref().map(|_| serde_json::to_string(change)).transpose();
        let json = json.map_err(|error| error.to_string())?;
        self.core.set_site_path(now, change)?;
        if let (Some(record), Some(json)) = (&self.record, json) {
            record.borrow_mut().site_change(now, &json);
        }
        Ok(())
    }

    pub(super) const fn poll_lookup(&mut self) -> bool {
        self.core.poll_lookup()
    }

    pub(super) fn handle_addresses(&mut self, now: Instant, found: &[(usize, SocketAddr)]) {
        if let Some(record) = &self.record {
            record.borrow_mut().found(now, found);
        }
        self.core.handle_addresses(now, found);
    }

    pub(super) fn resume_spendings(&mut self, now: Instant, past: &PastSpendings) {
        if let Some(record) = &self.record
            && let Ok(json) = serde_json::to_string(&(&past.paths, past.ago.as_nanos()))
        {
            record.borrow_mut().spent(now, &json);
        }
        self.core.resume_spendings(now, past);
    }

    pub(super) fn spendings(&self, now: Instant) -> Vec<PathSpending> {
        self.core.spendings(now)
    }

    pub(super) fn end(&mut self, now: Instant) {
        if let Some(record) = &self.record {
            record.borrow_mut().end(now);
        }
        self.core.end(now);
    }

    pub(super) fn poll_timeout(&self, now: Instant) -> Instant {
        self.core.poll_timeout(now)
    }

    pub(super) fn note_drop(&mut self, reason: Reason) {
        self.core.note_drop(reason);
    }

    pub(super) fn drops(&self) -> Drops {
        self.core.drops()
    }

    pub(super) fn peer_drops(&self) -> Vec<Drops> {
        self.core.peer_drops()
    }

    pub(super) fn poll_notice(&mut self) -> Option<(String, Notice)> {
        self.core.poll_notice()
    }

    pub(super) fn status(&self, now: Instant) -> Vec<(String, Option<TunnelStatus>)> {
        self.core.status(now)
    }

    pub(super) fn paths(&self) -> Option<Vec<PathRow>> {
        self.core.paths()
    }

    pub(super) fn inner_mtu(&self) -> Option<u16> {
        self.core.inner_mtu()
    }
}
