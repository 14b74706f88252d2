//! The in-kernel path manager of Multipath TCP: the generic netlink family `mptcp_pm`
//! (`uapi/linux/mptcp_pm.h`).

use super::Netlink;
use super::attribute::{find, push, push_nested};
use super::raw::Raw;
use netlink_sys::protocols::NETLINK_GENERIC;
use ropewalk_mptcp::KernelLimits;
use std::io;
use std::net::IpAddr;

/// The family that knows the numbers of the others (`uapi/linux/genetlink.h`).
mod control {
    pub(super) const FAMILY: u16 = 0x10;
    pub(super) const GET_FAMILY: u8 = 3;
    pub(super) const ID: u16 = 1;
    pub(super) const NAME: u16 = 2;
}

/// Commands and attributes of `mptcp_pm`.
mod pm {
    pub(super) const NAME: &[u8] = b"mptcp_pm\0";
    pub(super) const ADD_ADDRESS: u8 = 1;
    pub(super) const DELETE_ADDRESS: u8 = 2;
    pub(super) const SET_LIMITS: u8 = 5;
    pub(super) const SET_FLAGS: u8 = 7;
    pub(super) const ADDRESS: u16 = 1;
    pub(super) const ACCEPTED: u16 = 2;
    pub(super) const SUBFLOWS: u16 = 3;
}

/// Attributes of an address.
mod address {
    pub(super) const FAMILY: u16 = 1;
    pub(super) const ID: u16 = 2;
    pub(super) const ADDRESS4: u16 = 3;
    pub(super) const ADDRESS6: u16 = 4;
    pub(super) const PORT: u16 = 5;
    pub(super) const FLAGS: u16 = 6;
}

const AF_INET: u16 = 2;
const AF_INET6: u16 = 10;
/// Version of both families.
const VERSION: u8 = 1;

/// What an endpoint is for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(crate) struct EndpointFlags(u32);

impl EndpointFlags {
    pub(crate) const SIGNAL: Self = Self(1);
    pub(crate) const SUBFLOW: Self = Self(1 << 1);
    pub(crate) const BACKUP: Self = Self(1 << 2);
    pub(crate) const FULLMESH: Self = Self(1 << 3);
    pub(crate) const LAMINAR: Self = Self(1 << 5);

    /// With these too.
    #[must_use]
    pub(crate) const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// One line of `ip mptcp endpoint`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Endpoint {
    pub(crate) address: IpAddr,
    /// 0: the kernel gives the next one.
    pub(crate) id: u8,
    /// Where the kernel listens for it, if that is not the connection's own port.
    pub(crate) port: Option<u16>,
    pub(crate) flags: EndpointFlags,
}

/// A family and an address of it.
fn push_address(octets: &mut Vec<u8>, address: IpAddr) {
    match address {
        IpAddr::V4(address) => {
            push(octets, address::FAMILY, &AF_INET.to_ne_bytes());
            push(octets, address::ADDRESS4, &address.octets());
        }
        IpAddr::V6(address) => {
            push(octets, address::FAMILY, &AF_INET6.to_ne_bytes());
            push(octets, address::ADDRESS6, &address.octets());
        }
    }
}

/// The path manager of the namespace in which it was opened.
pub(crate) struct MptcpPm {
    netlink: Netlink,
    family: u16,
}

impl MptcpPm {
    pub(crate) fn open() -> io::Result<Self> {
        let mut netlink = Netlink::open(NETLINK_GENERIC)?;
        let mut octets = vec![control::GET_FAMILY, VERSION, 0, 0];
        push(&mut octets, control::NAME, pm::NAME);
        let answers = netlink.request(Raw { kind: control::FAMILY, octets }, 0)?;
        let id = answers.first().and_then(|answer| find(answer.octets.get(4..)?, control::ID));
        let id = id.and_then(|id| id.try_into().ok()).map(u16::from_ne_bytes);
        let family = id.ok_or_else(|| io::Error::other("mptcp_pm has no number"))?;
        Ok(Self { netlink, family })
    }

    fn command(&mut self, command: u8, attributes: &[u8]) -> io::Result<()> {
        let mut octets = vec![command, VERSION, 0, 0];
        octets.extend(attributes);
        self.netlink.request(Raw { kind: self.family, octets }, 0).map(drop)
    }

    /// `ip mptcp endpoint add`.
    pub(crate) fn add(&mut self, endpoint: &Endpoint) -> io::Result<()> {
        let mut inner = Vec::new();
        push_address(&mut inner, endpoint.address);
        push(&mut inner, address::FLAGS, &endpoint.flags.0.to_ne_bytes());
        if endpoint.id > 0 {
            push(&mut inner, address::ID, &[endpoint.id]);
        }
        if let Some(port) = endpoint.port {
            push(&mut inner, address::PORT, &port.to_ne_bytes());
        }
        self.of_endpoint(pm::ADD_ADDRESS, &inner)
    }

    /// `ip mptcp endpoint delete`; number 0 stands for the address of first subflows, which is
    /// given then.
    pub(crate) fn delete(&mut self, id: u8, address: Option<IpAddr>) -> io::Result<()> {
        let mut inner = Vec::new();
        push(&mut inner, address::ID, &[id]);
        // A family stands only before an address.
        if let Some(address) = address {
            push_address(&mut inner, address);
        }
        self.of_endpoint(pm::DELETE_ADDRESS, &inner)
    }

    /// `ip mptcp endpoint change`.
    pub(crate) fn change(&mut self, id: u8, flags: EndpointFlags) -> io::Result<()> {
        let mut inner = Vec::new();
        push(&mut inner, address::ID, &[id]);
        push(&mut inner, address::FLAGS, &flags.0.to_ne_bytes());
        self.of_endpoint(pm::SET_FLAGS, &inner)
    }

    fn of_endpoint(&mut self, command: u8, inner: &[u8]) -> io::Result<()> {
        let mut attributes = Vec::new();
        push_nested(&mut attributes, pm::ADDRESS, inner);
        self.command(command, &attributes)
    }

    /// `ip mptcp limits set`.
    pub(crate) fn set_limits(&mut self, limits: KernelLimits) -> io::Result<()> {
        let mut attributes = Vec::new();
        push(&mut attributes, pm::ACCEPTED, &u32::from(limits.add_addr_accepted).to_ne_bytes());
        push(&mut attributes, pm::SUBFLOWS, &u32::from(limits.subflows).to_ne_bytes());
        self.command(pm::SET_LIMITS, &attributes)
    }
}
