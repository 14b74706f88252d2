//! Sockets, the TUN interface, the clock: what moves packets, and decides nothing.

mod clock;
mod confine;
mod filter;
mod gre;
mod inside;
mod lock;
mod outside;
mod recorded;
mod request;
mod resolver;
mod serve;
mod signals;
mod spent;
mod watch;

pub(crate) use clock::now;
pub use confine::give_up_capabilities;
pub use filter::Seccomp;
pub use gre::run_gre;
pub use request::{PathChange, Peer, Report, Request};
pub use resolver::{LookupUser, look_names_up};
pub use serve::{Error, Start, run};
