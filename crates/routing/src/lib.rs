//! Random wireless deployments and the disjoint routes across them.
//!
//! [`Search`] scatters nodes by a [`Layout`] until enough deployments meet a [`Condition`]; a [`Deployment`] is
//! nodes, the disk [`Graph`] of who hears whom, a source and a destination. [`Deployment::greedy`] has the greedy
//! link-, node- and zone-disjoint algorithms of the papers 000 and 003. The papers do not say which of equally short
//! routes is taken; a [`TieRule`] does. [`Deployment::optimal`] finds the optimal sets, which the greedy algorithms
//! may miss. [`metrics`] and [`ConflictGraph`] judge routes over several channels, each hop on the channel of an
//! [`Assignment`]. [`ChannelGraph`] finds routes of least ETT, WCETT or MIC; [`optimal_routes_by`] finds sets of
//! least ETT. Deployments are read from CSV, JSON and GraphML ([`read`]) and written as JSON and GraphML
//! ([`Report`]).
//!
//! ```
//! use ropewalk_routing::{Disjoint, Effort, Search, TieRule};
//!
//! // 32 nodes in 100 m × 100 m that hear 20 m far, as in the papers.
//! let search = Search::papers(32, 1);
//! let found = search.run(10, Effort::default(), |deployment| {
//!     deployment.greedy(Disjoint::Node, TieRule::LowestNode, 1).map(|routes| routes.len())
//! })?;
//! assert!(found.drawn > 100, "connected deployments are rare");
//! assert!(found.items.into_iter().all(|routes| routes.is_ok_and(|routes| routes >= 1)));
//! # Ok::<(), ropewalk_routing::RoutingError>(())
//! ```

mod assignment;
mod condition;
mod conflict;
mod deployment;
mod disjoint;
mod error;
mod graph;
mod greedy;
mod input;
mod judge;
mod layout;
pub mod metrics;
mod multichannel;
mod names;
mod optimal;
mod output;
mod position;
mod pruned;
mod quality;
mod radio;
mod random;
mod record;
mod route;
mod search;
mod shortest;
mod sieve;

pub use assignment::Assignment;
pub use condition::Condition;
pub use conflict::{ConflictGraph, Interference, RouteLink};
pub use deployment::{Deployment, End, Nodes};
pub use disjoint::Disjoint;
pub use error::RoutingError;
pub use graph::Graph;
pub use input::{Format, Topology, read};
pub use layout::Layout;
pub use multichannel::{ChannelGraph, ChannelRoute, Criterion, Metric};
pub use optimal::{optimal_routes, optimal_routes_by};
pub use output::Report;
pub use position::Position;
pub use quality::{LinkQualities, LinkQuality};
pub use radio::Radio;
pub use record::{Method, Record, SetRecord, Sets};
pub use route::Route;
pub use search::{Effort, Found, Progress, Search};
pub use shortest::TieRule;
