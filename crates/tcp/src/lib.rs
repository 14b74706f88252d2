//! Sans-IO TCP: one [`Connection`], which is also one subflow of Multipath TCP.

mod config;
mod congestion;
mod connection;
mod delivery_rate;
mod event;
mod prr;
mod rack;
mod receive;
mod rtt;
mod send;
mod spurious;
mod state;
mod stats;
mod timers;
mod timestamp;

pub use config::{Config, CongestionControl, DelayedAck, LossRecovery, SpuriousResponse, WindowOwner};
pub use congestion::Coupling;
pub use connection::{Connection, Room};
pub use event::Event;
pub use receive::Received;
pub use state::{CloseReason, State, TimerKind};
pub use stats::Stats;

#[cfg(test)]
mod tests;
