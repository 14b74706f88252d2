//! Standard encapsulation for trusted networks: GRE (RFC 2784) with key and sequence number
//! (RFC 2890), over several paths by fixed weights.
//!
//! No octet is sealed or authenticated. The two ends tell each other nothing: no path is found
//! dead, no rate is measured, nothing is sent again. This module has no sockets and no clock.

mod bond;
mod header;
mod order;

pub use bond::{Bond, BondConfig, Counts, Dropped};
pub use header::{Header, LEN, Malformed, Protocol};
