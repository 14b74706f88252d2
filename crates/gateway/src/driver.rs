//! Sockets, the TUN interface, the clock: what moves packets, and decides nothing.

mod clock;
mod confine;
mod inside;
mod outside;
mod recorded;
mod request;
mod serve;
mod watch;

pub use request::{PathChange, Report, Request};
pub use serve::{Error, Start, run};
