//! Hosts on Linux's devices, in real time. Opening a device needs root, or CAP_NET_ADMIN.
//!
//! [`Ports`]: a [`Host`](ropewalk_host::Host) of our own whose packets go in and out by TUN
//! interfaces. [`run`]: a whole scenario whose hosts are Linux's, each a network namespace, with
//! the simulator's links between them.

#![cfg(target_os = "linux")]

mod application;
mod board;
mod changes;
mod clock;
mod collect;
mod command;
mod doctor;
mod error;
mod gateway;
mod interface;
mod lease;
mod links;
mod machine;
mod namespace;
mod netlink;
mod observer;
mod ports;
mod processes;
mod processor;
mod refuse;
mod run;
mod settings;
mod site;
mod urgency;
mod wait;
mod wakeful;

pub use clock::Clock;
pub use doctor::{Finding, clean, examine};
pub use error::{Error as RunError, Step};
pub use machine::Machine;
pub use ports::{Error, Ports, Way};
pub use run::{check, run};
