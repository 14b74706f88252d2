//! What travels: typed TCP segments with their options, their lengths on the wire, and their bytes.
//!
//! Protocols and the simulator pass the typed values ([`Segment`], [`Options`], [`MptcpOption`]) around;
//! only a TUN device or a capture file turns them into bytes, and [`read`] turns bytes into them.

mod checksum;
mod codes;
mod datagram;
mod emit_error;
mod ip;
mod mptcp;
mod options;
mod packet;
pub mod pcapng;
pub mod read;
mod segment;
mod stream;
mod tcp;
mod tcp_header;

pub use checksum::{Sum, dss_checksum};
pub use codes::protocol;
pub use datagram::Datagram;
pub use emit_error::EmitError;
pub use ip::{IpHeader, is_of_one_host};
pub use mptcp::{
    AddAddress, DataAck, Dss, FastClose, Join, Key, Mapping, MptcpOption, MptcpOptions, Nonce, Priority,
    RemoveAddress, ResetReason, Token,
};
pub use packet::PacketHeader;
pub use segment::{Ecn, Flags, Options, Payload, SackBlocks, Segment, Timestamps};
pub use stream::{Generated, Octets, fill_stream, stream_byte, stream_sum};
pub use tcp_header::TcpHeader;
