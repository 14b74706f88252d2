//! Where hosts of ours leave what they know of their subflows, for the observer.

use crate::netlink::TcpInfo;
use ropewalk_scenario::MptcpSample;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A subflow at the sender of the data.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen {
    pub(crate) local: SocketAddr,
    pub(crate) remote: SocketAddr,
    /// As it was when it was seen last.
    pub(crate) info: TcpInfo,
    /// Octets of payload acknowledged.
    pub(crate) bytes: u64,
}

/// What a host of ours knows of the subflows of a connection whose data it sends.
#[derive(Debug, Default)]
pub(crate) struct Report {
    pub(crate) subflows: Vec<Seen>,
    /// The connection of Multipath TCP above them.
    pub(crate) multipath: Option<MptcpSample>,
    /// Is that connection open?
    pub(crate) is_open: bool,
}

/// The latest report of each connection.
#[derive(Debug, Default)]
pub(crate) struct Board(Mutex<BTreeMap<usize, Report>>);

impl Board {
    /// A thread that has panicked leaves reports that still hold.
    fn lock(&self) -> MutexGuard<'_, BTreeMap<usize, Report>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Replaces the report of a connection.
    pub(crate) fn write(&self, connection: usize, report: Report) {
        self.lock().insert(connection, report);
    }

    /// The latest report of each connection.
    pub(crate) fn read(&self, mut each: impl FnMut(usize, &Report)) {
        self.lock().iter().for_each(|(&connection, report)| each(connection, report));
    }
}
