//! The wireless network: `[wifi]`.

mod broadcast;
mod deployment;
mod errors;
mod propagation;

pub use broadcast::BroadcastPlan;
pub(crate) use broadcast::BroadcastTable;
pub use deployment::EndPlan;
pub(crate) use deployment::{DeploymentKeys, DeploymentTable, EndTable, GridKeys, LayoutTable, TieName};
pub(crate) use errors::{
    BurstKeys, BurstTable, ErrorKeys, ErrorsTable, FrameLossTable, PerName, StatesKeys, StatesTable,
};
pub(crate) use propagation::{DiskTable, LogDistanceTable, PropagationTable, TwoRayTable};

use super::link::DEFAULT_MTU;
use super::loss::NoKeys;
use super::quantity::{
    Angle, BitRate, BufferSize, Limit, Name, Point, Power, Quantity, Rectangle, Speed, Time,
};
use super::table::{Value, named_value, plain_value, table};
use super::tagged::tagged;
use ropewalk_routing::TieRule;
use ropewalk_units::{Duration, Rate};
use ropewalk_wifi::mobility::{GaussMarkov, RandomWaypoint, Start};
use ropewalk_wifi::position::{Area, Position};
use ropewalk_wifi::{AccessAfterReception, MacConfig};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserializer, Error, Unexpected, Visitor};
use serde::{Deserialize, Serialize, Serializer};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

/// Makes the table of the keys that [`ropewalk_wifi::mac_keys`] declares for each radio, and of those of the network.
macro_rules! wifi_table {
    ($($(#[$doc:meta])* $key:ident: $type:ty $(as $form:ident)? = $default:expr;)*) => {
        table! {
            /// A wireless network of IEEE 802.11 stations. Its routes are links between hosts and routers, as wires are.
            WifiTable =>
            /// The keys of a wireless network beside its tables.
            #[derive(Clone, PartialEq, Debug)]
            pub(crate) struct WifiKeys {
                own {
                    /// Stations placed at random, or as a file says.
                    deployment: DeploymentTable;
                    /// A movement file of ns-2.
                    movement: MovementTable;
                }
                inner {
                    /// Stations by name. A station with the name of a host or router is that node; others only relay.
                    stations: BTreeMap<Name, StationTable>;
                    /// Routes by name: each is a link between its two ends.
                    routes: BTreeMap<Name, WirelessRouteTable>;
                    /// Frames that fail although nothing interferes.
                    errors: Vec<ErrorsTable>;
                    /// What stations tell all that hear them, by name.
                    broadcasts: BTreeMap<Name, BroadcastTable>;
                }
                required {
                    /// How signals fade, and what becomes of frames that overlap.
                    propagation: PropagationTable;
                }
                computed {
                    /// The channels every station has a radio on, unless it says otherwise (default [1]; 802.11a: [36]).
                    channels: Vec<u8>;
                }
                keys {
                    /// The physical layer.
                    standard: StandardName = StandardName::B;
                    /// The preamble of 802.11b (default long).
                    preamble: Option<PreambleName> as PreambleName = None;
                    /// The rate of data frames, or "minstrel" (default: the standard's highest).
                    data_rate: Option<DataRate> as DataRate = None;
                    /// The rates every station receives. ACK and CTS go at the highest of them that is not above the
                    /// data rate. By default those that every station must have: 1, 2, 5.5 and 11 Mbit/s; 802.11a and g:
                    /// 6, 12 and 24.
                    basic_rates: Option<Vec<Rate>> as Vec<BitRate> = None;
                    /// The rate of ACK, CTS and RTS, whatever the basic rates say.
                    ack_rate: Option<Rate> as BitRate = None;
                    /// The rate of broadcasts (default: the lowest basic rate).
                    broadcast_rate: Option<Rate> as BitRate = None;
                    $($(#[$doc])* $key: $type $(as $form)? = $default;)*
                    /// Do signals travel at the speed of light? Otherwise they arrive as they leave; at 25 m that is 83 ns.
                    propagation_delay: bool = false;
                    /// Does a receiver leave a frame for a stronger later one? Log-distance only.
                    recapture: bool = false;
                    /// How all stations move that say nothing else.
                    mobility: MobilityPlan as MobilityTable = MobilityPlan::None;
                    /// Moving stations are moved this often.
                    update_interval: Duration as Time = Duration::from_millis(100);
                    /// Routes with `find` are looked for anew this often (default: never).
                    route_interval: Option<Duration> as Time = None;
                }
            }
        }

        impl WifiKeys {
            /// Takes the settings of each radio's MAC over.
            pub(crate) fn put(&self, mac: &mut MacConfig) {
                $(mac.$key = self.$key;)*
            }
        }
    };
}

ropewalk_wifi::mac_keys!(wifi_table);

plain_value! {
    StandardName,
    PreambleName,
    DataRate,
    PropagationTable,
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

named_value!(AccessAfterReception as AccessName { Backoff, Immediate });

/// Whether a frame that is queued in the very instant in which a reception ends takes a backoff.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum AccessName {
    /// It does: the medium was busy until then (IEEE 802.11-2020 §10.3.4.2).
    Backoff,
    /// It does not, and is sent as soon as the medium has been idle for DIFS, as in ns-3. For comparisons.
    Immediate,
}

/// The rate of data frames.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum DataRate {
    /// Always this.
    Fixed(Rate),
    /// The rate that delivers most, found by trying.
    Minstrel,
}

const MINSTREL: &str = "minstrel";

impl Serialize for DataRate {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Fixed(rate) => BitRate(*rate).serialize(serializer),
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
                let rate = BitRate::from_text(text).map(|rate| DataRate::Fixed(rate.0));
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

table! {
    /// A station.
    #[derive(Default)]
    StationTable =>
    /// A station.
    #[derive(Clone, PartialEq, Debug)]
    pub struct StationPlan {
        computed {
            /// The channels it has a radio on (default: those of the network).
            channels: Vec<u8>;
            /// How it moves (default: as the network's stations do).
            mobility: MobilityPlan as MobilityTable;
        }
        keys {
            /// Where it is, or where its movement begins. Required unless it moves: then it is drawn.
            position: Option<Position> as Point = None;
            /// Transmitted power, antenna gains included (default: that of the propagation). Not on disks.
            power: Option<f64> as Power = None;
            /// The rate of data frames, or "minstrel" (default: that of the network).
            data_rate: Option<DataRate> as DataRate = None;
        }
        fixed {
            /// Its name: that of a host or router, if it is one.
            name: String = String::new();
        }
    }
}

/// How a station moves; where it begins is the station's to say.
#[derive(Clone, PartialEq, Debug)]
pub enum MobilityPlan {
    /// Not at all.
    None,
    /// Random waypoint.
    RandomWaypoint(RandomWaypoint),
    /// Gauss–Markov.
    GaussMarkov(GaussMarkov),
}

impl Value<MobilityTable> for MobilityPlan {
    fn read(form: &MobilityTable) -> Self {
        match form {
            MobilityTable::None(_) => Self::None,
            MobilityTable::RandomWaypoint(table) => Self::RandomWaypoint(table.read()),
            MobilityTable::GaussMarkov(table) => Self::GaussMarkov(table.read(table.speed.0 / 4.0)),
        }
    }

    fn show(&self) -> Option<MobilityTable> {
        Some(match self {
            Self::None => MobilityTable::None(NoKeys {}),
            Self::RandomWaypoint(model) => MobilityTable::RandomWaypoint(RandomWaypointTable::show(model)?),
            Self::GaussMarkov(model) => MobilityTable::GaussMarkov(GaussMarkovTable::show(model)?),
        })
    }
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

table! {
    /// A way through the network, which is a link between its two ends: relays forward by themselves.
    WirelessRouteTable =>
    /// A way through the network.
    #[derive(Clone, PartialEq, Debug)]
    pub(crate) struct WirelessRouteKeys {
        required {
            /// The host or router at which it begins, a station too; `forward` is from here.
            from: String as Name;
            /// The host or router at which it ends.
            to: String as Name;
        }
        keys {
            /// The stations between, in order.
            via: Vec<String> as Vec<Name> = Vec::new();
            /// Find the stations between, instead of `via`.
            find: Option<FindKeys> as FindTable = None;
            /// The channel of all hops (default: the first that both ends have; found by a metric, those that suit it
            /// best).
            channel: Option<u8> as u8 = None;
            /// The channel of each hop, instead of `channel`; with `via` only.
            channels: Option<Vec<u8>> as Vec<u8> = None;
            /// Greatest IP packet in octets.
            mtu: u32 = DEFAULT_MTU;
        }
    }
}

table! {
    /// How a route is found.
    FindTable =>
    /// How a route is found.
    #[derive(Clone, PartialEq, Debug)]
    pub(crate) struct FindKeys {
        keys {
            /// Which set of routes it is one of.
            algorithm: AlgorithmName = AlgorithmName::Shortest;
            /// Which of the set, in the order in which they are found, from 1.
            number: u32 = 1;
            /// Which of several routes with equally few hops is taken.
            ties: TieRule as TieName = TieRule::LowestNode;
            /// By what routes are chosen. By ETT, WCETT or MIC a hop uses any channel on which both its stations have a
            /// radio, unless the route has a `channel`.
            metric: MetricName = MetricName::Hops;
            /// The weight of the busiest channel in WCETT, from 0 to 1 (default 0.5).
            beta: Option<f64> as f64 = None;
            /// What a change of channel costs in MIC, where keeping it costs 1 (default 0.5).
            switch_cost: Option<f64> as f64 = None;
        }
    }
}

plain_value! {
    AlgorithmName,
    MetricName,
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
