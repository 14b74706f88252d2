//! The bond as a daemon: a TUN interface inside, a UDP socket for each path outside, and between them an
//! [`Endpoint`](ropewalk_bonding::Endpoint) behind sealed sessions.
//!
//! `session` and `bond` decide, and have no socket, clock or randomness of their own. `driver` has these, and decides nothing.

#![cfg(target_os = "linux")]

pub mod bond;
pub mod config;
pub mod control;
pub mod demo;
pub mod driver;
pub mod examine;
pub mod gre;
pub mod key;
pub mod netlink;
pub mod packet;
pub mod record;
pub mod session;
