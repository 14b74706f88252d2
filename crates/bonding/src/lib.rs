//! Sans-IO layer-3 bonding: several lines are used as one.
//!
//! Two gateways face each other over up to [`MAX_PATHS`] paths. Each holds an [`Endpoint`]. What
//! comes from the LAN waits in the endpoint, in one FQ-CoDel queue, until a path's congestion
//! controller has room and the scheduler picks that path. Only then the packet is numbered:
//! globally, per flow bucket and per path. The other end takes what comes over the paths, refuses
//! copies and puts flows back into order. It counts what each path lost, and reports that to the
//! peer's controllers. Reports and keepalives travel the paths like any packet and may be lost like
//! any packet. The receiver may ask for what a path lost, and the sender sends it again.
//!
//! Nothing here owns a clock, a socket or a source of random numbers. A driver hands in packets and
//! `now`, and polls packets, timers and events out. Models, equations and limits:
//! `docs/models/bonding.md`. The algorithm that this generalises is that of "the paper": Bednarek,
//! Barrenetxea Kobas, Kühlewind, Trammell, "Multipath bonding at Layer 3", ANRW 2016.

mod clock;
mod config;
mod demand;
mod ecn;
mod endpoint;
mod event;
mod flow;
mod id;
mod path;
mod queue;
mod receive;
mod scheduler;
mod tuning;
mod view;
mod ways;
mod wire;

pub use config::{
    Config, ConfigError, Conflict, CostFirstConfig, DecrementPace, FlowAwareConfig, KeepaliveConfig,
    LossUnit, Order, PathConfig, ResequencerConfig, SchedulerConfig, Turns, WeightArithmetic, WrrConfig,
};
pub use ecn::Ecn;
pub use endpoint::{Datagram, Endpoint, Refusal};
pub use event::{Event, PathState, TimerKind};
pub use flow::{Class, FlowKey};
pub use id::{FlowSeq, GlobalSeq, MAX_PATHS, PathId, PathSeq};
pub use path::{Quota, Spending};
pub use queue::Payload;
pub use scheduler::Reason;
pub use tuning::{BondTuning, Tuning};
pub use view::{PathView, ResequencerView};
pub use wire::compact::{CompactHeader, Nearby};
pub use wire::control::{
    Control, Keepalive, KeepaliveReply, Missing, MissingRange, PathReport, Report, TrainPacket,
};
pub use wire::header::{DataHeader, DecodeError, Transmission};
