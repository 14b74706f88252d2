//! Sans-IO Multipath TCP, version 1 (RFC 8684): one [`Connection`] over many subflows, each a
//! [`ropewalk_tcp::Connection`].

#[macro_use]
mod registry;

mod config;
mod connection;
mod coupling;
mod event;
mod id;
pub mod keys;
mod mapping;
mod memory;
mod path_manager;
mod reassembly;
mod role;
mod scheduler;
mod send_queue;
mod silence;
mod subflow;
mod upkeep;
mod view;

pub use config::{
    Config, Coupling, EndpointFlags, GuardConfig, KernelChange, KernelCommand, KernelEndpoint, KernelHost,
    KernelLimits, Limits, PathManager, ReinjectAfterTimeout, Scheduler, ScriptedAction, ScriptedStep,
};
pub use connection::{Accepting, Connecting, Connection, Position, is_join};
pub use event::{Event, FailureReason, FallbackReason, Refusal, Stats, SubflowCloseReason, TimerKind};
pub use id::{Path, SubflowId, Wanted};
pub use keys::Secret;
pub use subflow::Subflow;
