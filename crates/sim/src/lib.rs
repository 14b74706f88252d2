//! A deterministic discrete-event network simulator. It knows no protocol.

mod config;

pub use config::{
    Change, CodelConfig, DirectionConfig, FqCodelConfig, Jitter, Loss, Queue, QueueLimit, RedConfig, Trace,
};
