//! What a node's own time is like: `[routers.NAME.clock]`, and `jitter` of hosts and routers.

use super::quantity::{Shift, Size, Time};
use super::table::table;
use ropewalk_units::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The clock that a gateway's bonds read. Timers run by it, too: they wait for a time, and not until one.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ClockTable {
    /// How far it is ahead of the simulation's at the beginning (default 0 s).
    pub(crate) offset: Option<Time>,
    /// How much faster it runs, in parts per million, from -100000 to 100000; slower if negative (default 0).
    pub(crate) drift: Option<f64>,
    /// Where it jumps (default: nowhere).
    pub(crate) steps: Option<Vec<StepTable>>,
}

/// A jump of a clock.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct StepTable {
    /// When, in simulated time.
    pub(crate) at: Time,
    /// How far, back if negative.
    pub(crate) by: Shift,
}

table! {
    /// How late a node is with its work. What it handles late carries the time at which it was handled.
    #[derive(Default)]
    JitterTable =>
    /// How late a node is with its work.
    #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
    pub struct JitterPlan {
        keys {
            /// Each timer fires late by an exponential time of this mean.
            timers: Duration as Time = Duration::ZERO;
            /// Mean of the exponential time from the first arrival until the node wakes up and handles all that came by
            /// then.
            arrivals: Duration as Time = Duration::ZERO;
            /// Arrivals are held for so long after the first, as by a network interface that coalesces its interrupts,
            coalesce: Duration as Time = Duration::ZERO;
            /// or until so many octets have come, which makes the node wake up (default: no bound; needs `coalesce`).
            coalesce_bytes: Option<u64> as Size = None;
        }
    }
}
