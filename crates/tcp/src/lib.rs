//! Sans-IO TCP: one [`Connection`], which is also one subflow of Multipath TCP.

mod config;
mod congestion;
mod delivery_rate;
mod prr;
mod rtt;
mod spurious;

pub use config::{Config, CongestionControl, DelayedAck, LossRecovery, SpuriousResponse, WindowOwner};
pub use congestion::Coupling;
