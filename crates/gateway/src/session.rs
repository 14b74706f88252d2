//! The session of a site and its hub: datagrams as octets, the handshake, the guard before it, and
//! sealed transport. It has no sockets, clocks or randomness of its own.

pub mod cookie;
pub mod message;
pub mod noise;
pub mod offer;
pub mod replay;
pub mod transport;

#[cfg(test)]
mod vectors;
