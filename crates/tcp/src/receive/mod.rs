//! The receiving half's data: reassembly, what to acknowledge and when, and the window.

pub(crate) mod acknowledge;
pub(crate) mod pieces;
pub(crate) mod reassembly;
pub(crate) mod sack;
pub(crate) mod window;

pub(crate) use acknowledge::AckPolicy;
pub use pieces::Pieces;
pub(crate) use reassembly::Reassembly;
pub use reassembly::Received;
pub(crate) use sack::SackGenerator;
pub(crate) use window::ReceiveWindow;
