//! A host without IO: the layer between packets and connections.
//!
//! Octets of IP packets come in, octets of IP packets go out. Between them stand [`ropewalk_tcp`]
//! and [`ropewalk_mptcp`], and what only a host knows: which 4-tuple belongs to whom, which ports
//! are free, who listens, and the application's octets. Time and randomness are arguments.

mod cookie;
mod gro;
mod host;
mod identity;
mod octets;
mod path_mtu;
mod reset;
mod socket;
mod time_wait;
mod tuple;

pub use cookie::CookiePolicy;
pub use host::{Counters, Event, Host, Protocol, SocketId};
pub use identity::Identity;
pub use reset::reset_for;
pub use tuple::FourTuple;
