//! Names of subflows and of the address pairs they run over.

use std::fmt;
use std::net::{IpAddr, SocketAddr};

/// A subflow of one connection: counted in order of creation, never used again.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct SubflowId(pub u32);

impl fmt::Display for SubflowId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The two ends of a subflow. The local port of a path that is not open yet has no meaning.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Path {
    /// This host's end.
    pub local: SocketAddr,
    /// The peer's end.
    pub remote: SocketAddr,
}

/// Can packets go from one to the other?
pub(crate) fn of_one_family(local: IpAddr, remote: SocketAddr) -> bool {
    local.is_ipv4() == remote.is_ipv4()
}

/// A subflow that the path manager wants to open.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Wanted {
    /// Its ends; the local port is for the driver to choose.
    pub path: Path,
    /// Index of its path in the scenario's list; beyond the list for pairs made from announced addresses.
    pub path_index: u32,
    /// B.
    pub backup: bool,
}
