//! Sans-IO TCP: one [`Connection`], which is also one subflow of Multipath TCP.

mod config;

pub use config::{Config, CongestionControl, DelayedAck, LossRecovery, SpuriousResponse, WindowOwner};
