//! What a node's own time is like: `[routers.NAME.clock]`, and `jitter` of hosts and routers.

use super::quantity::{Size, Time, TimeShift};
use super::table::{Value, table};
use ropewalk_units::{Duration, Instant};

table! {
    /// The clock that a gateway's bonds read. Timers run by it, too: they wait for a time, and not until one.
    ClockTable =>
    /// The clock that a gateway's bonds read.
    #[derive(Clone, PartialEq, Eq, Debug, Default)]
    pub struct ClockPlan {
        keys {
            /// How far it is ahead of the simulation's at the beginning.
            offset: Duration as Time = Duration::ZERO;
            /// How much faster it runs, in parts per million, from -100000 to 100000; slower if negative.
            drift: Drift as f64 = Drift { ppb: 0 };
            /// Where it jumps, in order of the time.
            steps: Vec<ClockStep> as Vec<StepTable> = Vec::new();
        }
    }
}

table! {
    /// A jump of a clock.
    StepTable =>
    /// A jump of a clock.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct ClockStep {
        required {
            /// When, in simulated time.
            at: Instant as Time;
            /// How far, back if negative.
            by: i64 as TimeShift;
        }
    }
}

/// How much faster a clock runs than time passes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Drift {
    /// In parts per 10^9.
    pub ppb: i64,
}

impl Value<f64> for Drift {
    fn read(ppm: &f64) -> Self {
        // The conversion cuts off what the half has carried over.
        Self { ppb: (ppm * 1e3 + 0.5_f64.copysign(*ppm)) as i64 }
    }

    fn show(&self) -> Option<f64> {
        Some(self.ppb as f64 / 1e3)
    }
}

table! {
    /// How late a node is with its work. What it handles late carries the time at which it was handled.
    #[derive(Default)]
    LatenessTable =>
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
