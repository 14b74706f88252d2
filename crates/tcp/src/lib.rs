//! Sans-IO TCP: one [`Connection`], which is also one subflow of Multipath TCP.

mod config;
mod connection;
mod context;
mod event;
mod handshake;
pub mod memory;
mod outbox;
mod outgoing;
mod quirks;
mod receive;
mod receiver;
mod recovery;
mod rtt;
mod send;
mod sender;
mod spans;
mod state;
mod stats;
mod timers;
mod timestamp;

pub use config::{Config, DelayedAck, LossRecovery, SpuriousResponse, WindowOwner};
pub use connection::{Acceptance, Connection};
pub use event::Event;
pub use quirks::{Blame, Quirks, SubflowAcks};
pub use receive::{OutOfOrder, Pieces, Received};
pub use ropewalk_congestion::{CongestionControl, Coupling, HyStart, congestion_controls};
pub use sender::{Room, TooBig};
pub use state::{CloseReason, State, TimerKind};
pub use stats::Stats;
