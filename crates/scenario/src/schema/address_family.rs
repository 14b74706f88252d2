//! Which version of IP the hosts of a scenario speak.

use super::table::plain_value;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The first octets of all IPv6 addresses: a network of its own (RFC 4193 §3), whose global ID is "ropew".
const NETWORK: [u16; 3] = [0xfd72, 0x6f70, 0x6577];

/// The version of IP that all hosts speak.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AddressFamily {
    /// Headers of 20 octets. The link with index i has the network 10.x.y.0/24, with i = 256 x + y.
    #[default]
    Ipv4,
    /// Headers of 40 octets (RFC 8200). The link with index i has the network fd72:6f70:6577:i::/64.
    Ipv6,
}

plain_value! {
    AddressFamily,
}

impl AddressFamily {
    /// Octets of a header without options or extensions.
    pub const fn header(self) -> u32 {
        match self {
            Self::Ipv4 => 20,
            Self::Ipv6 => 40,
        }
    }

    /// The addresses of the link with this index, below 65536.
    pub(crate) const fn of_link(self, index: usize) -> [IpAddr; 2] {
        [self.address(index as u16, 1), self.address(index as u16, 2)]
    }

    const fn address(self, link: u16, host: u8) -> IpAddr {
        match self {
            Self::Ipv4 => {
                let [high, low] = link.to_be_bytes();
                IpAddr::V4(Ipv4Addr::new(10, high, low, host))
            }
            Self::Ipv6 => {
                let [a, b, c] = NETWORK;
                IpAddr::V6(Ipv6Addr::new(a, b, c, link, 0, 0, 0, host as u16))
            }
        }
    }

    /// The address of nobody.
    pub(crate) const fn nobody(self) -> IpAddr {
        match self {
            Self::Ipv4 => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
            Self::Ipv6 => IpAddr::V6(Ipv6Addr::UNSPECIFIED),
        }
    }

    /// The address of all who hear a frame: all nodes on the link (RFC 4291 §2.7.1) in IPv6.
    pub(crate) const fn everybody(self) -> IpAddr {
        match self {
            Self::Ipv4 => IpAddr::V4(Ipv4Addr::BROADCAST),
            Self::Ipv6 => IpAddr::V6(Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0, 0, 1)),
        }
    }
}
