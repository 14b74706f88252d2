//! A reduction that another subflow's ACKs caused ([`crate::Quirks::duplicates_blame`]).

use ropewalk_congestion::Snapshot;
use ropewalk_units::{Instant, Mark};

/// What is kept to take it back.
#[derive(Clone, Debug)]
pub(crate) struct Blamed {
    /// What was outstanding first.
    pub(crate) head: Mark,
    /// When.
    pub(crate) at: Instant,
    /// Before it.
    pub(crate) before: Snapshot,
}
