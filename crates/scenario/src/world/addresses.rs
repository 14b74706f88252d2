//! Interface addresses by index and as IP addresses.

use super::packet::Socket;
use crate::plan::{AddressIndex, Plan};
use ropewalk_mptcp as mptcp;
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

/// One path of a connection, as this end sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EndPath {
    /// This end.
    pub(crate) local: Socket,
    /// The other end.
    pub(crate) remote: Socket,
}

/// Every interface's address by its index; behind them the two that broadcasts know: nobody's, and everybody's.
pub(crate) fn all(plan: &Plan) -> Vec<Ipv4Addr> {
    let addresses = plan.links.iter().flat_map(|link| link.addresses);
    addresses.chain([Ipv4Addr::UNSPECIFIED, Ipv4Addr::BROADCAST]).collect()
}

/// The address of a station that has none.
pub(crate) fn nobody(plan: &Plan) -> AddressIndex {
    AddressIndex(2 * plan.links.len())
}

/// The address of all stations that hear a frame.
pub(crate) fn everybody(plan: &Plan) -> AddressIndex {
    AddressIndex(2 * plan.links.len() + 1)
}

/// Both directions of the mapping. Consulted when a connection or a subflow opens, never per packet.
#[derive(Debug)]
pub(crate) struct AddressBook {
    addresses: Vec<Ipv4Addr>,
    indices: BTreeMap<IpAddr, AddressIndex>,
}

impl AddressBook {
    /// `addresses[i]` is the address with index i.
    pub(crate) fn new(addresses: Vec<Ipv4Addr>) -> Self {
        let indices =
            addresses.iter().enumerate().map(|(i, ip)| (IpAddr::V4(*ip), AddressIndex(i))).collect();
        Self { addresses, indices }
    }

    /// The IP address with this index.
    pub(crate) fn ip(&self, address: AddressIndex) -> Ipv4Addr {
        self.addresses[address.0]
    }

    /// With an IP address.
    pub(crate) fn socket(&self, socket: Socket) -> SocketAddr {
        SocketAddr::new(self.ip(socket.address()).into(), socket.port())
    }

    fn index(&self, socket: SocketAddr) -> Socket {
        let address = self.indices.get(&socket.ip()).expect("protocols use only addresses they were told");
        Socket::new(*address, socket.port())
    }

    /// As Multipath TCP knows a path.
    pub(crate) fn mptcp_path(&self, path: EndPath) -> mptcp::Path {
        mptcp::Path { local: self.socket(path.local), remote: self.socket(path.remote) }
    }

    /// Back from there.
    pub(crate) fn end_path(&self, path: mptcp::Path) -> EndPath {
        EndPath { local: self.index(path.local), remote: self.index(path.remote) }
    }
}
