//! Scenario files: from TOML to a validated plan, from the plan to a world, from the world to results.
//!
//! A scenario file is read whole and everything in it is checked before anything runs ([`load`]); a mistake is
//! a [`ScenarioError`] that names file, line, column and key. What is read ([`Scenario`]) explains itself and
//! holds the [`Plan`] that a world is built from.

pub mod application;
mod canonical;
mod document;
mod error;
mod explain;
mod load;
mod memory;
mod outcome;
pub mod plan;
mod references;
mod scenario;
mod schema;
mod suggest;
mod unfold;
mod watch;
mod world;

pub use error::{Diagnostic, ScenarioError};
pub use load::{load, load_as};
pub use memory::Memory;
pub use outcome::{
    BondEgress, BondPathSample, BondRow, BondSeries, BondSeriesRow, BondTotals, BondTraffic, BroadcastRow,
    CommandRow, ConnectionRow, DatagramCounts, ENGINE_VERSION, EventPlace, EventRow, FrameRow, HopRow,
    LatenessRow, LinkRow, LinkSeriesRow, MptcpSample, MptcpSeriesRow, Outcome, ProcessRow, Provenance,
    RadioRow, RouteChangeRow, RouteRow, SeriesRow, SocketRow, SubflowRow, SubflowSample, columns_reference,
};
pub use plan::Plan;
pub use references::{Multipath, Reference};
pub use ropewalk_routing::Progress;
pub use ropewalk_wifi::RadioStats;
pub use scenario::Scenario;
pub use schema::{keys_reference, schema};
pub use watch::Watch;
pub use world::{RunError, RunOptions, link_rows, run, run_plan};
