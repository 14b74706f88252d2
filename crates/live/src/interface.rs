//! The interface of a kernel at the edge of the links.

use std::net::IpAddr;
use std::sync::Arc;
use tun_rs::SyncDevice;

/// One interface.
#[derive(Clone)]
pub(crate) struct Interface {
    /// The kernel's address there.
    pub(crate) address: IpAddr,
    /// Octets of its longest packet.
    pub(crate) mtu: usize,
    /// What it sends and receives.
    pub(crate) device: Arc<SyncDevice>,
}
