//! Hosts on Linux's devices: a [`Host`](ropewalk_host::Host) whose packets go in and out by TUN interfaces, at the real
//! time. Opening a device needs root, or CAP_NET_ADMIN.

mod clock;
mod ports;

pub use clock::Clock;
pub use ports::{Error, Ports, Way};
