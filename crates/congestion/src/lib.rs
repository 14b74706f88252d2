//! Congestion control on delivered octets and times. It knows no protocol: TCP's connections and a bond's paths use
//! the same controllers.
//!
//! A [`Controller`] is one algorithm with the window that it moves. To add an algorithm: a file for it, which implements
//! `Algorithm`, and a line in `registry.rs`.
//!
//! A path of numbered datagrams, as a bond's, has a [`PathController`] instead, within a [`ControlledPath`].

#[macro_use]
mod registry;

mod ack_sample;
mod aggregation;
mod algorithm;
mod bbr;
mod config;
mod controller;
mod coupled;
mod coupling;
mod cubic;
mod dctcp;
mod delivery_rate;
mod hystart;
mod newreno;
mod pacing;
mod path;
mod rate_sample;
mod signals;
mod smoothed_rtt;
mod window;

pub use ack_sample::AckSample;
pub use bbr::{MIN_RTT_FILTER_LEN, STARTUP_GAIN};
pub use config::{Config, CongestionControl, HyStart};
pub use controller::{Controller, Snapshot, Timeout};
pub use coupling::Coupling;
pub use delivery_rate::DeliveryRate;
pub use pacing::{Pacer, pacing_rate, send_quantum};
pub use path::{
    BASE_HISTORY, ControlledPath, CopaTuning, INITIAL_WINDOW, PathBbr, PathController, PathCopa, PathSample,
    Spread, Transparent, UNKNOWN,
};
pub use rate_sample::{LostPacket, PacketState, RateSample, RateSampler};
pub use signals::{Acknowledgements, LimitedBy, LossRange};
pub use smoothed_rtt::SmoothedRtt;

#[cfg(test)]
mod tests;
