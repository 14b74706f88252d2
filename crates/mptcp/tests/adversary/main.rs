//! An attacker beside two honest ends of a Multipath TCP connection.

mod blind;
mod host;
mod on_path;
mod settings;
mod world;
