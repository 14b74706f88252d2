//! The wireless network: `[wifi]`.

mod broadcast;
mod deployment;
mod errors;
mod propagation;

pub(crate) use broadcast::BroadcastTable;
pub(crate) use deployment::{
    ConditionName, DeploymentTable, EndTable, GridLayoutTable, LayoutTable, TieName,
};
pub(crate) use errors::{ErrorsTable, FrameLossTable, PerName};
pub(crate) use propagation::{DiskTable, LogDistanceTable, PropagationTable};

use super::link::NoKeys;
use super::quantity::{Angle, BitRate, BufferSize, Limit, Name, Point, Quantity, Rectangle, Speed, Time};
use super::table::table;
use super::tagged::tagged;
use ropewalk_units::Duration;
use ropewalk_wifi::mobility::{GaussMarkov, RandomWaypoint, Start};
use ropewalk_wifi::position::Area;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserializer, Error, Unexpected, Visitor};
use serde::{Deserialize, Serialize, Serializer};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

/// A wireless network of IEEE 802.11 stations. Its routes are links between hosts and routers, as wires are.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WifiTable {
    /// The physical layer (default 802.11b).
    pub(crate) standard: Option<StandardName>,
    /// The preamble of 802.11b (default long).
    pub(crate) preamble: Option<PreambleName>,
    /// The rate of data frames, or "minstrel" (default: the standard's highest).
    pub(crate) data_rate: Option<DataRate>,
    /// The rates every station receives; ACK and CTS go at the highest of them that is not above the data rate
    /// (default: those every station must have: 1, 2, 5.5 and 11 Mbit/s; 802.11a and g: 6, 12 and 24).
    pub(crate) basic_rates: Option<Vec<BitRate>>,
    /// The rate of ACK, CTS and RTS, whatever the basic rates say.
    pub(crate) ack_rate: Option<BitRate>,
    /// The rate of broadcasts (default: the lowest basic rate).
    pub(crate) broadcast_rate: Option<BitRate>,
    /// Longer data frames (36 octets more than the IP packet) are sent after RTS and CTS (default: none is).
    pub(crate) rts_threshold: Option<BufferSize>,
    /// How often a frame up to the RTS threshold is sent at most, and an RTS (default 7).
    pub(crate) short_retry_limit: Option<u32>,
    /// How often a longer frame is sent at most (default 4).
    pub(crate) long_retry_limit: Option<u32>,
    /// The least contention window in slots (default: the standard's).
    pub(crate) cw_min: Option<u32>,
    /// The greatest contention window in slots (default: the standard's).
    pub(crate) cw_max: Option<u32>,
    /// How long a sender waits for an ACK or CTS (default: SIFS, a slot and a preamble).
    pub(crate) response_timeout: Option<Time>,
    /// How many frames wait at each radio (default 1000 packets).
    pub(crate) queue: Option<Limit>,
    /// How long a frame may wait and be served at each radio (default: for ever).
    pub(crate) lifetime: Option<Time>,
    /// How signals fade, and what becomes of frames that overlap.
    pub(crate) propagation: PropagationTable,
    /// Do signals travel at the speed of light? (default false: they arrive as they leave; at 25 m that is 83 ns)
    pub(crate) propagation_delay: Option<bool>,
    /// Does a receiver leave a frame for a stronger later one? Log-distance only. (default false)
    pub(crate) recapture: Option<bool>,
    /// The channels every station has a radio on, unless it says otherwise (default [1]; 802.11a: [36]).
    pub(crate) channels: Option<Vec<u8>>,
    /// Stations by name. A station with the name of a host or router is that node; others only relay.
    #[serde(default)]
    pub(crate) stations: BTreeMap<Name, StationTable>,
    /// Stations placed at random, or as a file says.
    pub(crate) deployment: Option<DeploymentTable>,
    /// How all stations move that say nothing else (default: not at all).
    pub(crate) mobility: Option<MobilityTable>,
    /// A movement file of ns-2.
    pub(crate) movement: Option<MovementTable>,
    /// Moving stations are moved this often (default 100 ms).
    pub(crate) update_interval: Option<Time>,
    /// Routes with `find` are looked for anew this often (default: never).
    pub(crate) route_interval: Option<Time>,
    /// Routes by name: each is a link between its two ends.
    #[serde(default)]
    pub(crate) routes: BTreeMap<Name, WirelessRouteTable>,
    /// Frames that fail although nothing interferes.
    #[serde(default)]
    pub(crate) errors: Vec<ErrorsTable>,
    /// What stations tell all that hear them, by name.
    #[serde(default)]
    pub(crate) broadcasts: BTreeMap<Name, BroadcastTable>,
}

/// The physical layer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) enum StandardName {
    /// DSSS and CCK up to 11 Mbit/s at 2.4 GHz.
    #[serde(rename = "802.11b")]
    B,
    /// OFDM up to 54 Mbit/s at 5 GHz.
    #[serde(rename = "802.11a")]
    A,
    /// OFDM up to 54 Mbit/s at 2.4 GHz, without 802.11b stations.
    #[serde(rename = "802.11g")]
    G,
}

/// The preamble of 802.11b.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum PreambleName {
    /// 192 µs with the header.
    Long,
    /// 96 µs, but for frames at 1 Mbit/s.
    Short,
}

/// The rate of data frames.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum DataRate {
    /// Always this.
    Fixed(BitRate),
    /// The rate that delivers most, found by trying.
    Minstrel,
}

const MINSTREL: &str = "minstrel";

impl Serialize for DataRate {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Fixed(rate) => rate.serialize(serializer),
            Self::Minstrel => serializer.serialize_str(MINSTREL),
        }
    }
}

impl<'de> Deserialize<'de> for DataRate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct RateVisitor;

        impl Visitor<'_> for RateVisitor {
            type Value = DataRate;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a rate such as \"11 Mbit/s\", or \"minstrel\"")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<DataRate, E> {
                if text == MINSTREL {
                    return Ok(DataRate::Minstrel);
                }
                let rate = BitRate::from_text(text).map(DataRate::Fixed);
                rate.ok_or_else(|| E::invalid_value(Unexpected::Str(text), &self))
            }
        }

        deserializer.deserialize_any(RateVisitor)
    }
}

impl JsonSchema for DataRate {
    fn schema_name() -> Cow<'static, str> {
        "DataRate".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let rate = generator.subschema_for::<BitRate>();
        json_schema!({
            "description": "A rate such as \"11 Mbit/s\", or \"minstrel\".",
            "anyOf": [rate, { "const": MINSTREL }],
        })
    }
}

/// A station.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct StationTable {
    /// Where it is, or where its movement begins. Required unless it moves: then it is drawn.
    pub(crate) position: Option<Point>,
    /// The channels it has a radio on (default: those of the network).
    pub(crate) channels: Option<Vec<u8>>,
    /// How it moves (default: as the network's stations do).
    pub(crate) mobility: Option<MobilityTable>,
}

tagged! {
    /// How a station moves.
    enum MobilityTable by "model",
    expected "a mobility such as { model = \"random-waypoint\", area = [\"100 m\", \"100 m\"], speed_max = \"2 m/s\" }",
    short no_short as no_schema;
    /// Not at all.
    "none" => None(NoKeys),
    /// Straight to a point drawn uniformly, at a speed drawn uniformly, a pause, and on (Johnson and Maltz 1996).
    "random-waypoint" => RandomWaypoint(RandomWaypointTable),
    /// Speed and direction that remember what they were (Liang and Haas 1999; Camp, Boleng, Davies 2002).
    "gauss-markov" => GaussMarkov(GaussMarkovTable),
}

pub(super) fn no_short(_: Result<&str, f64>) -> Option<MobilityTable> {
    None
}

pub(super) fn no_schema(_: &mut SchemaGenerator) -> Option<Schema> {
    None
}

table! {
    /// Keys of random waypoint. A station without a position begins in the distribution of the long run.
    RandomWaypointTable of RandomWaypoint {
        required {
            /// Width and height of the area, whose corner is the origin.
            area: Area as Rectangle;
            /// Greatest speed.
            speed_max: f64 as Speed;
        }
        keys {
            /// Least speed, above zero.
            speed_min: f64 as Speed = 0.5;
            /// Stay at each point.
            pause: Duration as Time = Duration::ZERO;
        }
        fixed {
            start: Start::Stationary;
        }
    }
}

table! {
    /// Keys of Gauss–Markov. A station without a position begins anywhere in the area.
    GaussMarkovTable of GaussMarkov {
        required {
            /// Width and height of the area, whose corner is the origin; stations are reflected at its edges.
            area: Area as Rectangle;
            /// Mean speed.
            speed: f64 as Speed;
        }
        computed {
            /// Standard deviation of the speed (default a quarter of its mean).
            speed_deviation: f64 as Speed;
        }
        keys {
            /// From 0 (no memory) to 1 (no change).
            memory: f64 = 0.75;
            /// Standard deviation of the direction around its mean.
            direction_deviation: f64 as Angle = 0.4;
            /// How often speed and direction change.
            interval: Duration as Time = Duration::from_secs(1);
        }
        fixed {
            from: None;
        }
    }
}

/// A movement file of ns-2.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct MovementTable {
    /// The file, its path relative to the scenario's.
    pub(crate) file: String,
    /// The stations that its nodes 0, 1, … are.
    pub(crate) stations: Vec<Name>,
}

/// A way through the network, which is a link between its two ends: relays forward by themselves.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WirelessRouteTable {
    /// The host or router at which it begins, a station too; `forward` is from here.
    pub(crate) from: Name,
    /// The host or router at which it ends.
    pub(crate) to: Name,
    /// The stations between, in order (default: none).
    pub(crate) via: Option<Vec<Name>>,
    /// Find the stations between, instead of `via`.
    pub(crate) find: Option<FindTable>,
    /// The channel of all hops (default: the first that both ends have; found by a metric, those that suit it best).
    pub(crate) channel: Option<u8>,
    /// The channel of each hop, instead of `channel`; with `via` only.
    pub(crate) channels: Option<Vec<u8>>,
    /// Greatest IP packet in octets (default 1500).
    pub(crate) mtu: Option<u32>,
}

/// How a route is found.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FindTable {
    /// Which set of routes it is one of (default shortest).
    pub(crate) algorithm: Option<AlgorithmName>,
    /// Which of the set, in the order in which they are found, from 1 (default 1).
    pub(crate) number: Option<u32>,
    /// Which of several routes with equally few hops is taken (default lowest-node).
    pub(crate) ties: Option<TieName>,
    /// By what routes are chosen (default hops). By ETT, WCETT or MIC a hop uses any channel on which both its stations have
    /// a radio, unless the route has a `channel`.
    pub(crate) metric: Option<MetricName>,
    /// The weight of the busiest channel in WCETT, from 0 to 1 (default 0.5).
    pub(crate) beta: Option<f64>,
    /// What a change of channel costs in MIC, where keeping it costs 1 (default 0.5).
    pub(crate) switch_cost: Option<f64>,
}

/// By what routes are chosen.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum MetricName {
    /// The fewest hops.
    Hops,
    /// The sum of the expected transmission times of the hops (Draves, Padhye, Zill 2004): of a packet of 1500 octets, by the
    /// losses of `[[wifi.errors]]` in both directions and the rate that both ends receive.
    Ett,
    /// The weighted cumulative expected transmission time (Draves, Padhye, Zill 2004).
    Wcett,
    /// The metric of interference and channel switching (Yang, Wang, Kravets 2005).
    Mic,
}

/// A set of routes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum AlgorithmName {
    /// One with the fewest hops.
    Shortest,
    /// The shortest, then the shortest without its links, and so on.
    LinkDisjoint,
    /// The shortest, then the shortest without its relays, and so on.
    NodeDisjoint,
    /// The shortest, then the shortest without its relays and their neighbours, and so on.
    ZoneDisjoint,
    /// The greatest set without a common link, with the fewest hops in all; or the least ETT.
    OptimalLinkDisjoint,
    /// The greatest set without a common relay, with the fewest hops in all; or the least ETT.
    OptimalNodeDisjoint,
}
