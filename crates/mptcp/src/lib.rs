//! Sans-IO Multipath TCP, version 1 (RFC 8684).

mod config;

pub use config::{Config, Coupling, GuardConfig, PathManager, Scheduler, ScriptedAction, ScriptedStep};
