//! The bond as a daemon. Inside it has a TUN interface, outside a UDP socket for each path. Between
//! them is an [`Endpoint`](ropewalk_bonding::Endpoint) behind sealed sessions.
//!
//! The modules `session`, `bond` and `gre` decide what is sent. They have no sockets, clock or
//! randomness of their own. The module `driver` has these, and decides nothing.

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
