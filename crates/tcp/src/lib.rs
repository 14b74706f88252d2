//! Sans-IO TCP: one [`Connection`], which is also one subflow of Multipath TCP.

mod config;
mod connection;
mod event;
mod prr;
mod rack;
mod receive;
mod rtt;
mod send;
mod spans;
mod spurious;
mod state;
mod stats;
mod timers;
mod timestamp;

pub use config::{Config, DelayedAck, LossRecovery, SpuriousResponse, WindowOwner};
pub use connection::{Acceptance, Connection, Room};
pub use event::Event;
pub use receive::{Pieces, Received};
pub use ropewalk_congestion::{CongestionControl, Coupling, HyStart};
pub use state::{CloseReason, State, TimerKind};
pub use stats::Stats;
