//! How signals fade.

use super::super::quantity::{Decibels, Length, Power};
use super::super::table::{named_value, table};
use super::super::tagged::tagged;
use ropewalk_wifi::propagation::{Disk, Overlap};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};

tagged! {
    /// How signals fade, and what survives interference.
    enum PropagationTable by "model",
    expected "a propagation such as { model = \"disk\", reception = \"25 m\" } or { model = \"log-distance\", exponent = 3.0 }",
    short no_short as no_schema;
    /// Everything within a range is heard alike, and nothing beyond.
    "disk" => Disk(DiskTable),
    /// Path loss by the logarithm of the distance, with shadowing; frames survive a signal-to-interference ratio.
    "log-distance" => LogDistance(LogDistanceTable),
}

fn no_short(_: Result<&str, f64>) -> Option<PropagationTable> {
    None
}

fn no_schema(_: &mut SchemaGenerator) -> Option<Schema> {
    None
}

table! {
    /// Keys of disks.
    DiskTable of Disk {
        required {
            /// Up to here frames are received.
            reception: f64 as Length;
        }
        computed {
            /// Up to here the medium is sensed busy (default: as `reception`).
            carrier_sense: f64 as Length;
            /// Up to here a signal spoils frames it overlaps with (default: as `reception`).
            interference: f64 as Length;
        }
        keys {
            /// What becomes of frames that overlap.
            overlap: Overlap as OverlapName = Overlap::DestroysAll;
        }
    }
}

named_value!(Overlap as OverlapName { DestroysAll, FirstWins });

/// What becomes of frames that overlap at a receiver.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum OverlapName {
    /// All of them are lost.
    DestroysAll,
    /// The first is received unharmed, the others are lost.
    FirstWins,
}

table! {
    /// Keys of log-distance path loss: PL(d) = PL(d0) + 10 n lg(d/d0) + X.
    LogDistanceTable =>
    /// Log-distance path loss, and what a receiver makes of a power.
    #[derive(Clone, PartialEq, Debug)]
    pub(crate) struct LogDistanceKeys {
        computed {
            /// Loss at the reference distance (default: that of free space on the first channel).
            reference_loss: f64 as Decibels;
            /// Thermal noise and the receiver's own (default: a typical card's).
            noise: f64 as Power;
            /// From here on the medium is busy (default: a typical card's).
            carrier_sense: f64 as Power;
        }
        keys {
            /// Transmitted power, antenna gains included.
            power: f64 as Power = 16.0;
            /// n: 2 in the open, 3 to 4 in buildings and towns.
            exponent: f64 = 3.0;
            /// The reference distance; nearer, the loss stays the same.
            reference_distance: f64 as Length = 1.0;
            /// Standard deviation of X, drawn for each pair of stations.
            shadowing: f64 as Decibels = 0.0;
        }
    }
}
