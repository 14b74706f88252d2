//! Sockets, the TUN interface, the clock: what moves packets, and decides nothing.

mod clock;
mod core;
mod inside;
mod outside;
mod request;
mod serve;

pub use core::Core;
pub use request::{PathChange, Report, Request};
pub use serve::{Error, Start, run};
