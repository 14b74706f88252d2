//! A segment with its addresses, as links carry it.

use ropewalk_mptcp::Path;
use ropewalk_sim::Packet;
use ropewalk_wire::{Ecn, Segment};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

/// Octets of the IP header.
const IP_HEADER: u32 = 20;

/// A segment on its way.
#[derive(Clone, Debug)]
pub(crate) struct Datagram {
    /// As its receiver sees it.
    pub(crate) path: Path,
    pub(crate) segment: Segment,
}

impl Packet for Datagram {
    fn wire_len(&self) -> u32 {
        self.segment.wire_len() + IP_HEADER
    }

    fn is_data(&self) -> bool {
        self.segment.payload.len > 0
    }

    fn ecn_capable(&self) -> bool {
        self.segment.ecn != Ecn::NotEct
    }

    fn mark_ce(&mut self) {
        self.segment.ecn = Ecn::Ce;
    }

    fn flow_hash(&self) -> u32 {
        u32::from(self.path.local.port()) << 16 | u32::from(self.path.remote.port())
    }

    fn duplicate(&self) -> Self {
        self.clone()
    }
}

/// The address of a host (1: the client, 2: the server) on a line.
pub fn address(line: usize, host: u8, port: u16) -> SocketAddr {
    SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, 1, line as u8 + 1, host)), port)
}

/// The line of `lines` that a segment between these ends takes. Between addresses of two lines, the
/// sender's counts.
pub fn line_of(path: Path, lines: usize) -> usize {
    let index = |end: SocketAddr| match end.ip() {
        IpAddr::V4(ip) => usize::from(ip.octets()[2]).wrapping_sub(1),
        IpAddr::V6(_) => usize::MAX,
    };
    [index(path.local), index(path.remote)].into_iter().find(|index| *index < lines).unwrap_or(0)
}

/// The path as its other end sees it.
pub fn reversed(path: Path) -> Path {
    Path { local: path.remote, remote: path.local }
}
