//! The receiving half's data: reassembly, what to acknowledge and when, and the window.

pub(crate) mod acknowledge;
pub(crate) mod limits;
pub(crate) mod pieces;
pub(crate) mod reassembly;
pub(crate) mod sack;
pub(crate) mod timestamps;
pub(crate) mod window;

pub(crate) use acknowledge::{AckPolicy, InOrder};
pub(crate) use limits::Limits;
pub use pieces::Pieces;
pub(crate) use reassembly::Reassembly;
pub use reassembly::{OutOfOrder, Received};
pub(crate) use sack::SackGenerator;
pub(crate) use timestamps::{Freshness, PeerClock};
pub(crate) use window::{Filling, ReceiveWindow};
