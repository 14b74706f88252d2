//! A deterministic discrete-event network simulator. It knows no protocol.
//!
//! A [`World`] holds [`Node`]s and the links between them, and may hold one shared [`Medium`]. Events are totally ordered by time and insertion; every
//! random draw comes from a stream named after its component ([`Streams`]); packets live in an arena and move by
//! [`PacketId`]. The world is generic over its nodes and over who listens ([`Tap`]): nothing is dispatched at run
//! time.

mod agenda;
mod config;
mod event_queue;
mod ids;
mod link;
mod medium;
mod node;
mod packet;
mod random;
mod tap;
mod trace;
mod world;

pub use config::{
    Change, CodelConfig, DirectionConfig, FqCodelConfig, Jitter, Loss, Queue, QueueLimit, RedConfig, Trace,
    codel_keys, fq_codel_keys,
};
pub use event_queue::EventQueue;
pub use ids::{LinkId, NodeId, Port};
pub use link::{LinkSetup, LinkStats};
pub use medium::{Medium, MediumContext, NoMedium};
pub use node::{Context, Node};
pub use packet::{Packet, PacketId};
pub use random::{Stream, Streams};
pub use tap::{DropReason, NoTap, Tap};
pub use trace::{TraceError, TraceProblem};
pub use world::World;
