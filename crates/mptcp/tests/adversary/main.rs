//! An attacker beside two honest ends of a Multipath TCP connection.

mod blind;
mod on_path;
mod settings;
