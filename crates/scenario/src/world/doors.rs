//! Ports of endpoints: a host's connections share them, and tell their subflows apart by both ends.

use super::addresses::EndPath;
use super::packet::Socket;
use std::collections::{BTreeMap, BTreeSet};

/// The endpoint table's entry of a port that is a door.
pub(crate) const DOOR: u32 = u32::MAX - 1;

/// The doors of a host.
#[derive(Debug, Default)]
pub(crate) struct Doors {
    /// Who may be joined at a port.
    behind: BTreeMap<u16, BTreeSet<u32>>,
    /// Who has the subflow between these ends.
    through: BTreeMap<(Socket, Socket), u32>,
}

impl Doors {
    /// This port is one of this connection's.
    pub(crate) fn add(&mut self, port: u16, endpoint: u32) {
        self.behind.entry(port).or_default().insert(endpoint);
    }

    /// Who has the subflow.
    pub(crate) fn owner(&self, path: EndPath) -> Option<u32> {
        self.through.get(&(path.local, path.remote)).copied()
    }

    /// Who may be joined at this port.
    pub(crate) fn behind(&self, port: u16) -> impl Iterator<Item = u32> + '_ {
        self.behind.get(&port).into_iter().flatten().copied()
    }

    /// A subflow has come through.
    pub(crate) fn let_in(&mut self, path: EndPath, endpoint: u32) {
        self.through.insert((path.local, path.remote), endpoint);
    }
}
