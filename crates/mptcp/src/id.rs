//! Names of subflows and of the address pairs they run over.

use std::fmt;
use std::net::SocketAddr;

/// A subflow of one connection: a dense index in order of creation, never reused.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct SubflowId(pub u32);

impl fmt::Display for SubflowId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The two ends of a subflow. Port 0 at the local end of a path that is not open yet means "any".
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Path {
    /// This host's end.
    pub local: SocketAddr,
    /// The peer's end.
    pub remote: SocketAddr,
}
