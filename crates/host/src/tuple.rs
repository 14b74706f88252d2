//! The name of a TCP connection or subflow.

use ropewalk_mptcp::Path;
use std::net::SocketAddr;

/// Both ends of a TCP connection or subflow.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct FourTuple {
    /// This host's end.
    pub local: SocketAddr,
    /// The other end.
    pub remote: SocketAddr,
}

impl From<Path> for FourTuple {
    fn from(path: Path) -> Self {
        Self { local: path.local, remote: path.remote }
    }
}

impl From<FourTuple> for Path {
    fn from(tuple: FourTuple) -> Self {
        Self { local: tuple.local, remote: tuple.remote }
    }
}
