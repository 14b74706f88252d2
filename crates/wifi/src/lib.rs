//! IEEE 802.11 on the simulator.
//!
//! A [`Network`] of stations is a [`ropewalk_sim::Medium`]: their radios contend by the distributed
//! coordination function, and routes over them look like links to the nodes of the world.
//! Equations, settings and limits: `docs/models/wifi.md`.

mod air;
mod backoff;
mod carrier;
mod config;
mod engine;
mod frame;
mod monitor;
mod network;
mod queue;
mod radio;
mod route;
mod sniff;
mod stats;
mod token;
mod topology;

pub mod errors;
pub mod minstrel;
pub mod mobility;
pub mod phy;
pub mod position;
pub mod propagation;

pub use config::{
    AccessAfterReception, ConfigError, MacConfig, NetworkConfig, Ns2Rules, RadioConfig, RateControl,
    RouteConfig, StationConfig, StationId, check_propagation,
};
pub use frame::{FrameKind, MAX_PACKET};
pub use monitor::{Collision, FrameRecord};
pub use network::Network;
pub use route::RouteId;
pub use sniff::Sniffed;
pub use stats::{HopStats, RadioStats, RouteStats};
