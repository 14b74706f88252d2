//! What people and programs ask a gateway: status, metrics, health, other paths. Over a Unix socket, and over HTTP on an address that
//! the configuration names.

mod client;
mod metrics;
mod server;

pub use client::{ClientError, call};
pub use server::Listener;
