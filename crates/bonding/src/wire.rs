//! What goes over the paths: the header before every packet, and what the gateways tell each other.

pub(crate) mod compact;
pub(crate) mod control;
pub(crate) mod header;

/// Octets on the wire of a full packet.
pub(crate) const FULL_PACKET: u32 = 1_548;
/// The most ranges of one request for what is missing.
const MAX_RANGES: usize = 8;
