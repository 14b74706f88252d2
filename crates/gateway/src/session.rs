//! The session of a site and its hub, without sockets, clocks or randomness of its own: datagrams as octets, the handshake, the
//! guard before it, sealed transport.

pub mod cookie;
pub mod message;
pub mod noise;
pub mod offer;
pub mod replay;
pub mod transport;

#[cfg(test)]
mod vectors;
