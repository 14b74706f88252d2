//! Sans-IO Multipath TCP, version 1 (RFC 8684).

mod config;
#[cfg_attr(not(test), expect(dead_code, reason = "driven by the connection"))]
mod coupling;
mod id;
#[cfg_attr(not(test), expect(dead_code, reason = "driven by the connection"))]
mod path_manager;
#[cfg_attr(not(test), expect(dead_code, reason = "driven by the connection"))]
mod scheduler;
mod view;

pub use config::{Config, Coupling, GuardConfig, PathManager, Scheduler, ScriptedAction, ScriptedStep};
pub use id::{Path, SubflowId};
