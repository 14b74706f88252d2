//! Interface addresses by index and as IP addresses.

use super::packet::Socket;
use crate::plan::{AddressFamily, AddressIndex, Plan};
use ropewalk_mptcp as mptcp;
use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

/// One path of a connection, as this end sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EndPath {
    /// This end.
    pub(crate) local: Socket,
    /// The other end.
    pub(crate) remote: Socket,
}

/// Every interface's address by its index; behind them the two that broadcasts know: nobody's, and everybody's.
pub(crate) fn all(plan: &Plan) -> Vec<IpAddr> {
    let family = plan.settings.address_family;
    let addresses = plan.links.iter().flat_map(|link| link.addresses);
    addresses.chain([family.nobody(), family.everybody()]).collect()
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
    family: AddressFamily,
    addresses: Vec<IpAddr>,
    indices: BTreeMap<IpAddr, AddressIndex>,
}

impl AddressBook {
    /// `addresses[i]` is the address with index i; all are of one family.
    pub(crate) fn new(family: AddressFamily, addresses: Vec<IpAddr>) -> Self {
        let indices = addresses.iter().enumerate().map(|(i, ip)| (*ip, AddressIndex(i))).collect();
        Self { family, addresses, indices }
    }

    /// The IP address with this index.
    pub(crate) fn ip(&self, address: AddressIndex) -> IpAddr {
        self.addresses[address.0]
    }

    /// With an IP address.
    pub(crate) fn socket(&self, socket: Socket) -> SocketAddr {
        SocketAddr::new(self.ip(socket.address()), socket.port())
    }

    fn index(&self, socket: SocketAddr) -> Socket {
        let address = self.indices.get(&socket.ip()).expect("protocols use only addresses they were told");
        Socket::new(self.family, *address, socket.port())
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
