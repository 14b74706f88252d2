//! IEEE 802.11 on the simulator.

pub mod errors;
pub mod minstrel;
pub mod mobility;
pub mod phy;
pub mod position;
pub mod propagation;
