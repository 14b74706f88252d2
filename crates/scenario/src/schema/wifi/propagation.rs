//! How signals fade.

use super::super::loss::NoKeys;
use super::super::quantity::{Decibels, Length, Power};
use super::super::table::{Value, named_value, table};
use super::super::tagged::tagged;
use ropewalk_wifi::propagation::{Disk, Fading, Overlap, Reception};
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
    /// Free space up to where the reflection from the ground takes as much as it gives, the fourth power of the distance beyond.
    "two-ray-ground" => TwoRayGround(TwoRayTable),
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
            /// How the power of single frames differs from the mean.
            fading: Fading as FadingTable = Fading::None;
            /// What decides whether a frame survives noise and interference.
            reception: Reception as ReceptionName = Reception::Threshold;
        }
    }
}

table! {
    /// Keys of two-ray ground: free space up to 4π h² / λ, d⁻⁴ beyond.
    TwoRayTable =>
    /// Two-ray ground, and what a receiver makes of a power.
    #[derive(Clone, PartialEq, Debug)]
    pub(crate) struct TwoRayKeys {
        computed {
            /// Thermal noise and the receiver's own (default: a typical card's).
            noise: f64 as Power;
            /// From here on the medium is busy (default: a typical card's).
            carrier_sense: f64 as Power;
        }
        keys {
            /// Transmitted power, antenna gains included.
            power: f64 as Power = 16.0;
            /// h, of all antennas above the ground.
            antenna_height: f64 as Length = 1.5;
            /// Standard deviation of the shadowing, drawn for each pair of stations.
            shadowing: f64 as Decibels = 0.0;
            /// How the power of single frames differs from the mean.
            fading: Fading as FadingTable = Fading::None;
            /// What decides whether a frame survives noise and interference.
            reception: Reception as ReceptionName = Reception::Threshold;
        }
    }
}

named_value!(Reception as ReceptionName { Threshold, Nist, Yans });

/// What decides whether a frame survives noise and interference.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ReceptionName {
    /// A ratio for each rate: above it every frame is received, below it none.
    Threshold,
    /// Error rates by ratio and length, for OFDM as in Pei and Henderson 2010.
    Nist,
    /// Error rates by ratio and length, for OFDM as in Lacage and Henderson 2006.
    Yans,
}

tagged! {
    /// How the power of single frames differs from the mean.
    enum FadingTable by "model",
    expected "a fading such as \"rayleigh\" or { model = \"nakagami\", m = 2.0 }",
    short no_fading as no_schema;
    /// Not at all.
    "none" => None(NoKeys),
    /// The power is exponential: many paths, none without obstacles.
    "rayleigh" => Rayleigh(NoKeys),
    /// The power has a gamma distribution.
    "nakagami" => Nakagami(NakagamiTable),
}

fn no_fading(_: Result<&str, f64>) -> Option<FadingTable> {
    None
}

table! {
    /// Keys of Nakagami's fading.
    NakagamiTable =>
    /// Nakagami's fading.
    #[derive(Clone, PartialEq, Debug)]
    pub(crate) struct NakagamiKeys {
        keys {
            /// From 0.5 on; 1 is Rayleigh's. The larger, the less fading.
            m: f64 = 1.0;
        }
    }
}

impl Value<FadingTable> for Fading {
    fn read(form: &FadingTable) -> Self {
        match form {
            FadingTable::None(_) => Self::None,
            FadingTable::Rayleigh(_) => Self::Rayleigh,
            FadingTable::Nakagami(table) => Self::Nakagami { m: table.read().m },
        }
    }

    fn show(&self) -> Option<FadingTable> {
        Some(match *self {
            Self::None => FadingTable::None(NoKeys {}),
            Self::Rayleigh => FadingTable::Rayleigh(NoKeys {}),
            Self::Nakagami { m } => FadingTable::Nakagami(NakagamiTable::show(&NakagamiKeys { m })?),
        })
    }
}
