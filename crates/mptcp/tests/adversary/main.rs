//! An attacker beside two honest ends of a Multipath TCP connection.

mod blind;
mod host;
mod settings;
mod world;
