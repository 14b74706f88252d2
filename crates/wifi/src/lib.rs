//! IEEE 802.11 on the simulator.

pub mod phy;
pub mod position;
pub mod propagation;
