//! What travels: typed TCP segments with their options, their lengths on the wire, and their bytes.
//!
//! Protocols and the simulator pass the typed values ([`Segment`], [`Options`], [`MptcpOption`]) around;
//! only a TUN device or a capture file turns them into bytes.

mod mptcp;
mod segment;

pub use mptcp::{
    AddAddress, DataAck, Dss, FastClose, Join, Key, Mapping, MptcpOption, MptcpOptions, Nonce, Priority,
    RemoveAddress, ResetReason, Token,
};
pub use segment::{Ecn, Flags, Options, Payload, SackBlocks, Segment, Timestamps};
