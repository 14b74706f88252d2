//! What people and programs ask a gateway: status, metrics, health, changes of paths. They ask over
//! a Unix socket, and over HTTP on an address that the configuration names.

mod client;
mod http;
mod metrics;
mod server;

pub use client::{ClientError, call};
pub use server::Listener;
