//! Scenario files: from TOML to a validated plan, from the plan to a world, from the world to results.
//!
//! [`load`] reads a file whole and checks everything before anything runs; what it returns can draw itself
//! ([`Scenario::explain`]), name itself ([`Scenario::hash`]) and holds the [`Plan`] that a world is built from.

pub mod plan;

pub use plan::Plan;
