//! Sans-IO layer-3 bonding: several lines laid into one.
//!
//! Two gateways face each other over up to [`MAX_PATHS`] paths; each holds an [`Endpoint`]. Its *ingress* numbers every
//! packet from the LAN (globally, per flow bucket and per path), lets a scheduler choose the path, and hands out a
//! [`Dispatch`]. Its *egress* takes what came over the paths, refuses duplicates, puts flows back into order, counts
//! what each path lost, and reports that to the peer, whose schedulers live on it. Reports and keepalives travel the paths
//! like any packet and may be lost like any packet. What a path loses the egress may ask for, and the ingress sends it again.
//!
//! Nothing here owns a clock, a socket or a random number: a driver hands in packets and `now`, and polls packets, timers
//! and events out. Models, equations and limits: `docs/models/bonding.md`. The algorithm that this generalises:
//! Bednarek, Barrenetxea Kobas, Kühlewind, Trammell, "Multipath bonding at Layer 3", ANRW 2016.

mod clock;
mod config;
mod control;
mod endpoint;
mod event;
mod flow;
mod header;
mod id;
mod incoming;
mod keep;
mod liveness;
mod outgoing;
mod replay;
mod resequencer;
mod scheduler;
mod view;

pub use config::{
    Config, ConfigError, Conflict, CostFirstConfig, DecrementPace, FlowAwareConfig, KeepaliveConfig,
    LossUnit, Order, PathConfig, RateAwareConfig, ResequencerConfig, SchedulerConfig, Turns,
    WeightArithmetic, WrrConfig,
};
pub use control::{Control, Keepalive, KeepaliveReply, Missing, MissingRange, PathReport, Probe, Report};
pub use endpoint::{Dispatch, Endpoint, Refusal, Refused};
pub use event::{Event, PathState, TimerKind};
pub use flow::{Class, FlowKey};
pub use header::{DataHeader, DecodeError, Transmission};
pub use id::{FlowSeq, GlobalSeq, MAX_PATHS, PathId, PathSeq};
pub use keep::Keep;
pub use view::{PathView, ResequencerView};
