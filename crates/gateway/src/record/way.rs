//! Where a datagram goes or comes from, as a record has it: socket (2), port (2), address (16).

use crate::bond::Way;
use std::net::SocketAddr;

pub(super) fn way_octets(way: Way) -> [u8; 20] {
    let mut octets = [0; 20];
    octets[..2].copy_from_slice(&(way.socket as u16).to_be_bytes());
    octets[2..4].copy_from_slice(&way.to.port().to_be_bytes());
    let address = match way.to {
        SocketAddr::V4(address) => address.ip().to_ipv6_mapped(),
        SocketAddr::V6(address) => *address.ip(),
    };
    octets[4..].copy_from_slice(&address.octets());
    octets
}
