//! What a run returns: a summary and tables, each with its provenance.

mod bond_series;
mod columns;
mod events;
mod rows;
mod summary;
mod tables;

pub use bond_series::{BondSeries, BondTotals};
pub use events::{EventPlace, EventRow};
pub use rows::{
    BondEgress, BondPathSample, BondTraffic, DatagramCounts, LatenessRow, MptcpSample, SubflowSample,
};
pub use tables::{
    BondRow, BondSeriesRow, BroadcastRow, CommandRow, ConnectionRow, FrameRow, HopRow, LinkRow,
    LinkSeriesRow, MptcpSeriesRow, ProcessRow, RadioRow, RouteChangeRow, RouteRow, SeriesRow, SocketRow,
    SubflowRow, columns_reference,
};

use ropewalk_units::Duration;

/// Version of the engine: part of a result's identity, since results may change between versions.
pub const ENGINE_VERSION: &str = env!("CARGO_PKG_VERSION");

/// What a result came from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Provenance {
    /// The scenario's name.
    pub scenario: String,
    /// [`crate::Scenario::hash`].
    pub scenario_hash: String,
    /// The seed of the run.
    pub seed: u64,
}

/// The result of one run.
#[derive(Clone, PartialEq, Debug)]
pub struct Outcome {
    /// What it came from.
    pub provenance: Provenance,
    /// Simulated time.
    pub duration: Duration,
    /// One row per connection, in the scenario's order.
    pub connections: Vec<ConnectionRow>,
    /// One row per subflow (a TCP or UDP connection has one), by connection.
    pub subflows: Vec<SubflowRow>,
    /// One row per link direction.
    pub links: Vec<LinkRow>,
    /// Time series, by time; empty unless asked for.
    pub series: Vec<SeriesRow>,
    /// Connections of Multipath TCP over time; empty unless asked for.
    pub mptcp_series: Vec<MptcpSeriesRow>,
    /// For each bond and direction a row of the whole, then one per path.
    pub bonds: Vec<BondRow>,
    /// Their time series, by time; empty unless asked for.
    pub bond_series: Vec<BondSeriesRow>,
    /// One row per station and channel of the wireless network.
    pub radios: Vec<RadioRow>,
    /// What became of the data frames between stations.
    pub hops: Vec<HopRow>,
    /// One row per broadcast, sending station and station that hears it.
    pub broadcasts: Vec<BroadcastRow>,
    /// Frames of voice and video, by connection.
    pub frames: Vec<FrameRow>,
    /// One row per wireless route.
    pub routes: Vec<RouteRow>,
    /// One row per way that a wireless route has taken, by time.
    pub route_changes: Vec<RouteChangeRow>,
    /// Programs of Linux hosts, by host and name.
    pub commands: Vec<CommandRow>,
    /// Their TCP sockets, and all others that are of no connection, by host.
    pub sockets: Vec<SocketRow>,
    /// Of an emulation: what shared the machine. Empty for a simulation.
    pub processes: Vec<ProcessRow>,
    /// The links' time series, by time; empty unless asked for.
    pub link_series: Vec<LinkSeriesRow>,
    /// What happened and why, by time: the kinds that the scenario asks for.
    pub happenings: Vec<EventRow>,
    /// Events the engine has processed: a measure of the work, the same on every machine.
    pub events: u64,
    /// Of an emulation: how late its packets were. `None` for a simulation, which is never late.
    pub lateness: Option<LatenessRow>,
}
