//! The interface of a kernel at the edge of the links.

use std::net::IpAddr;
use std::sync::Arc;
use tun_rs::SyncDevice;

/// Packets that a kernel hands over as one, at most. The kernel is told of it.
pub(crate) const MOST_IN_ONE: usize = 128;

/// One interface. A kernel that has been told of offloads ([`SyncDevice::tcp_gso`]) leaves segments
/// of a flow in one.
#[derive(Clone)]
pub(crate) struct Interface {
    /// The kernel's address there.
    pub(crate) address: IpAddr,
    /// Octets of its longest packet.
    pub(crate) mtu: usize,
    /// What it sends and receives.
    pub(crate) device: Arc<SyncDevice>,
}
