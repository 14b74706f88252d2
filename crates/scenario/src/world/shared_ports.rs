//! Ports of `ip mptcp endpoint`: a host's connections share them, and tell their subflows apart by both ends.

use super::addresses::EndPath;
use super::packet::Socket;
use std::collections::{BTreeMap, BTreeSet};

/// The port table's entry of a port that connections share.
pub(crate) const SHARED: u32 = u32::MAX - 1;

/// The shared ports of a host, and the subflows there.
#[derive(Debug, Default)]
pub(crate) struct SharedPorts {
    /// The endpoints that may be joined at a port.
    listeners: BTreeMap<u16, BTreeSet<u32>>,
    /// The endpoint that has the subflow between these ends.
    subflows: BTreeMap<(Socket, Socket), u32>,
}

impl SharedPorts {
    /// This endpoint may be joined at this port.
    pub(crate) fn add(&mut self, port: u16, endpoint: u32) {
        self.listeners.entry(port).or_default().insert(endpoint);
    }

    /// The endpoint that has the subflow between these ends.
    pub(crate) fn owner(&self, path: EndPath) -> Option<u32> {
        self.subflows.get(&(path.local, path.remote)).copied()
    }

    /// The endpoints that may be joined at this port.
    pub(crate) fn listeners(&self, port: u16) -> impl Iterator<Item = u32> + '_ {
        self.listeners.get(&port).into_iter().flatten().copied()
    }

    /// The endpoint has the subflow between these ends from now on.
    pub(crate) fn bind(&mut self, path: EndPath, endpoint: u32) {
        self.subflows.insert((path.local, path.remote), endpoint);
    }
}
