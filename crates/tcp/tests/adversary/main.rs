//! An attacker beside two honest ends.

mod blind;
mod on_path;
mod settings;
