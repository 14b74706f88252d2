//! Local ports: which endpoint has which port, and which ports are free.

use super::packet::Socket;
use ropewalk_units::{Duration, Instant};

/// No endpoint has the port.
pub(crate) const NOBODY: u32 = u32::MAX;

/// First of the ports that a host hands out by itself (RFC 6335 §6).
const FIRST_EPHEMERAL: u16 = 49_152;

/// How long a 4-tuple rests after its end: twice the maximum segment lifetime (RFC 9293 §3.4.2). What is left of
/// it in the network, and most often at the peer, is gone then.
const REST: Duration = Duration::from_secs(240);

/// Endpoint index by local port: two levels of 256, so that a host with one connection needs 3 kB, and a look-up is
/// two loads.
#[derive(Debug, Default)]
pub(crate) struct PortTable {
    pages: Vec<Option<Box<[u32; 256]>>>,
}

impl PortTable {
    /// The endpoint at a port, or [`NOBODY`].
    #[inline]
    pub(crate) fn get(&self, port: u16) -> u32 {
        let page = self.pages.get(usize::from(port >> 8)).and_then(Option::as_ref);
        page.map_or(NOBODY, |page| page[usize::from(port & 0xff)])
    }

    /// Gives a port to an endpoint.
    pub(crate) fn insert(&mut self, port: u16, endpoint: u32) {
        let page = usize::from(port >> 8);
        if self.pages.len() <= page {
            self.pages.resize_with(page + 1, || None);
        }
        self.pages[page].get_or_insert_with(|| Box::new([NOBODY; 256]))[usize::from(port & 0xff)] = endpoint;
    }

    /// The first port that is nobody's: from `first` up, and then from the bottom. 0 is no port.
    pub(crate) fn free_from(&self, first: u16) -> Option<u16> {
        (first..=u16::MAX).chain(1..first).find(|&port| port > 0 && self.get(port) == NOBODY)
    }

    /// Gives an endpoint a port that is nobody's.
    pub(crate) fn claim(&mut self, endpoint: u32) -> Option<u16> {
        let port = self.free_from(FIRST_EPHEMERAL)?;
        self.insert(port, endpoint);
        Some(port)
    }
}

/// The local ports of one endpoint, and the 4-tuples that it must not use again yet.
#[derive(Debug)]
pub(crate) struct OwnPorts {
    own: Vec<u16>,
    /// Local end, remote end, and when they may be used again.
    resting: Vec<(Socket, Socket, Instant)>,
}

impl OwnPorts {
    /// With one port.
    pub(crate) fn new(port: u16) -> Self {
        Self { own: vec![port], resting: Vec::new() }
    }

    /// All of them, in the order in which they came.
    pub(crate) fn own(&self) -> &[u16] {
        &self.own
    }

    /// Another one.
    pub(crate) fn add(&mut self, port: u16) {
        self.own.push(port);
    }

    /// A 4-tuple's subflow is gone.
    pub(crate) fn rest(&mut self, now: Instant, local: Socket, remote: Socket) {
        self.resting.push((local, remote, now.saturating_add(REST)));
    }

    /// Was the 4-tuple in use a short while ago?
    pub(crate) fn rests(&self, local: Socket, remote: Socket) -> bool {
        self.resting.iter().any(|resting| (resting.0, resting.1) == (local, remote))
    }

    /// Those that have rested long enough are as new.
    pub(crate) fn forget(&mut self, now: Instant) {
        self.resting.retain(|resting| resting.2 > now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_are_found_again_and_others_are_nobodys() {
        let mut table = PortTable::default();
        for (port, endpoint) in [(0, 1), (255, 2), (256, 3), (65_535, 4)] {
            assert_eq!(table.get(port), NOBODY);
            table.insert(port, endpoint);
            assert_eq!(table.get(port), endpoint);
        }
        assert_eq!(table.get(1), NOBODY);
    }
}
