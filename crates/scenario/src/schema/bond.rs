//! Bonds: `[bonds.NAME]`.

use super::link::NoKeys;
use super::quantity::{Name, Time};
use super::tagged::tagged;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::{MapAccessDeserializer, StrDeserializer};
use serde::de::{Deserializer, Error, MapAccess, Visitor};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt;

/// Several links between two routers, laid into one: what is routed over it is bonded at layer 3. Where a bond and
/// another link are ways of the same length, packets take the bond.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct BondTable {
    /// The two routers that become its gateways; `forward` is from the first to the second.
    pub(crate) between: [Name; 2],
    /// Its paths: the links at the first gateway that they begin with, by name alone or with more keys.
    pub(crate) paths: Vec<MemberTable>,
    /// Which packet goes by which path (default rate-aware).
    pub(crate) scheduler: Option<SchedulerTable>,
    /// What order packets leave the bond in (default per-flow).
    pub(crate) order: Option<OrderName>,
    /// How that order is restored.
    #[serde(default)]
    pub(crate) resequencer: ResequencerTable,
    /// Time between reports of one gateway to the other, 1 ms to 1 s (default 20 ms; weighted-round-robin 50 ms).
    pub(crate) report_interval: Option<Time>,
    /// A packet counts as lost on its path this long after a later one came, at most 10 s (default 10 ms;
    /// weighted-round-robin 50 ms).
    pub(crate) loss_timeout: Option<Time>,
    /// Is what a path loses sent again? Of flows that are kept in order and not duplicated (default: true for rate-aware, else false).
    pub(crate) repair: Option<bool>,
    /// How paths are found dead and alive.
    #[serde(default)]
    pub(crate) keepalive: KeepaliveTable,
    /// How long it has been up when the scenario begins, at most 1 min, without traffic and over its lines as they are at the
    /// beginning (default 5 s; 0 s if a costlier path of weighted-round-robin has a weight at first); with 0 s its gateways begin
    /// with the scenario.
    pub(crate) run_up: Option<Time>,
    /// Code points whose packets are treated specially; all others are normal.
    #[serde(default)]
    pub(crate) classes: Vec<ClassTable>,
}

/// A path of a bond: the name of a link, or a table.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct MemberTable {
    fields: MemberFields,
    name_alone: bool,
}

/// Keys of a path of a bond.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct MemberFields {
    /// The link at the first gateway that it begins with.
    pub(crate) link: Name,
    /// The links behind it, in order, up to the second gateway (default: the way with the least delay, then with the
    /// fewest links, then with the fewest that paths before it have). The way back is the same.
    pub(crate) via: Option<Vec<Name>>,
    /// Its rank of cost, the cheapest lowest. Required by cost-first and weighted-round-robin;
    /// flow-aware fills in its order if given, others do not use it.
    pub(crate) cost: Option<u32>,
    /// Its weight at the start, with weighted-round-robin only: of the cheapest path always (default 50), of a costlier
    /// one at first (default 0), from which it falls while nothing is lost, in `run_up` too.
    pub(crate) weight: Option<u32>,
    /// Its greatest weight: of a costlier path of weighted-round-robin (default 50); with cost-first the greatest
    /// share of the packets in per cent (default 100). Not with other schedulers.
    pub(crate) max_weight: Option<u32>,
}

impl MemberTable {
    /// With every key.
    pub(crate) const fn explicit(fields: MemberFields) -> Self {
        Self { fields, name_alone: false }
    }

    /// Its keys.
    pub(crate) const fn fields(&self) -> &MemberFields {
        &self.fields
    }

    /// Was only the link's name given?
    pub(crate) const fn is_name(&self) -> bool {
        self.name_alone
    }
}

impl Serialize for MemberTable {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.fields.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for MemberTable {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(MemberVisitor)
    }
}

struct MemberVisitor;

impl<'de> Visitor<'de> for MemberVisitor {
    type Value = MemberTable;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a link, or a table such as { link = \"dsl\", cost = 1 }")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<MemberTable, E> {
        let link = Name::deserialize(StrDeserializer::new(text))?;
        let fields = MemberFields { link, via: None, cost: None, weight: None, max_weight: None };
        Ok(MemberTable { fields, name_alone: true })
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<MemberTable, A::Error> {
        MemberFields::deserialize(MapAccessDeserializer::new(map)).map(MemberTable::explicit)
    }
}

impl JsonSchema for MemberTable {
    fn schema_name() -> Cow<'static, str> {
        "MemberTable".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let name = generator.subschema_for::<Name>();
        let fields = generator.subschema_for::<MemberFields>();
        json_schema!({ "description": "A path of a bond: a link's name, or a table.", "anyOf": [name, fields] })
    }
}

tagged! {
    /// Which packet goes by which path of a bond.
    enum SchedulerTable by "kind",
    expected "a scheduler such as \"rate-aware\" or { kind = \"weighted-round-robin\", gain = 0.5 }",
    short no_short as no_schema;
    /// Weighted round robin of two or more paths by cost: weights follow reported loss (Bednarek and others 2016, §3).
    "weighted-round-robin" => WeightedRoundRobin(WeightedRoundRobinTable),
    /// Fill the paths in the order of their costs, each up to the rate it is measured to deliver.
    "cost-first" => CostFirst(CostFirstTable),
    /// Each packet takes the path that will deliver it first.
    "rate-aware" => RateAware(NoKeys),
    /// A copy on every path; the first to arrive counts.
    "redundant" => Redundant(NoKeys),
    /// A flow stays on the first path as long as it fits there.
    "flow-aware" => FlowAware(FlowAwareTable),
}

fn no_short(_: Result<&str, f64>) -> Option<SchedulerTable> {
    None
}

fn no_schema(_: &mut SchemaGenerator) -> Option<Schema> {
    None
}

/// Keys of weighted-round-robin.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WeightedRoundRobinTable {
    /// k: how steeply a costlier path's weight rises with the loss of the one before, above 0 and at most 100
    /// (default 0.5).
    pub(crate) gain: Option<f64>,
    /// T_dwd: time without reported loss before such a weight falls (default 250 ms).
    pub(crate) decrement_delay: Option<Time>,
    /// How fast it then falls (default each-report).
    pub(crate) decrement_pace: Option<PaceName>,
    /// What loss is counted in (default packets).
    pub(crate) loss_unit: Option<LossUnitName>,
    /// Do weights have fractions? (default whole: they are cut off)
    pub(crate) arithmetic: Option<ArithmeticName>,
    /// How the packets of a round are laid out (default spread).
    pub(crate) turns: Option<TurnsName>,
}

/// How fast a weight falls while nothing is lost.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum PaceName {
    /// By one at each report.
    EachReport,
    /// By one each `decrement_delay`.
    EachDelay,
}

/// What loss is counted in.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum LossUnitName {
    /// Packets lost over packets sent.
    Packets,
    /// Octets lost over octets sent.
    Bytes,
}

/// Whether weights have fractions.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ArithmeticName {
    /// Fractions are cut off at every step.
    Whole,
    /// Every step is rounded to the nearest.
    Rounded,
    /// Fractions accumulate.
    Fractional,
}

/// How the packets of one round are laid out over the paths.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum TurnsName {
    /// Each path's as evenly as possible.
    Spread,
    /// First all of one path, then all of the next.
    Consecutive,
}

/// Keys of cost-first.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CostFirstTable {
    /// How much queue a path may build before the next costlier one is used, 1 ms to 1 s (default 8 ms).
    pub(crate) queue_target: Option<Time>,
}

/// Keys of flow-aware.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FlowAwareTable {
    /// How much queue a path may build before a flow too large for it overflows, 1 ms to 1 s (default 8 ms).
    pub(crate) queue_target: Option<Time>,
    /// A flow that was silent for so long is placed anew, at most 1 min (default 500 ms).
    pub(crate) idle_after: Option<Time>,
}

/// What order packets leave a bond in.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum OrderName {
    /// Each flow's own, except for flows that do not want it.
    PerFlow,
    /// That of all packets together (Bednarek and others 2016, §4).
    Global,
    /// None: as they come, once each.
    Off,
}

/// Keys of the resequencer.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ResequencerTable {
    /// How long a packet may wait for a missing one, at most 10 s (default: derived from the measured delays).
    pub(crate) timeout: Option<Time>,
    /// The least derived timeout (default 5 ms).
    pub(crate) min_timeout: Option<Time>,
    /// The greatest derived timeout, at most 10 s (default 500 ms).
    pub(crate) max_timeout: Option<Time>,
    /// The most packets held back, 16 to 65536 (default 8192).
    pub(crate) max_packets: Option<u32>,
    /// Flow buckets, a power of two from 1 to 4096 (default 1024).
    pub(crate) flow_buckets: Option<u32>,
    /// How many later packets must have come on a path, at least, before one missing there is not waited for, 1 to 8 (default 3).
    /// A path that reorders is given the time that it was seen to need, too.
    pub(crate) path_reordering: Option<u8>,
}

/// Keys of keepalives.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct KeepaliveTable {
    /// Time between keepalives on each path, 5 ms to 10 s (default 50 ms).
    pub(crate) interval: Option<Time>,
    /// Without a sign of life for so long, less half a round trip, a path is suspected (default 130 ms; more than two intervals).
    pub(crate) suspect_after: Option<Time>,
    /// Without a sign of life for so long, less half a round trip, it is down, at most 1 min (default 240 ms).
    pub(crate) down_after: Option<Time>,
    /// So many keepalives in a row are answered before a path that was down is used, 1 to 100 (default 3).
    pub(crate) answers_to_return: Option<u32>,
}

/// How packets of a code point are treated.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ClassTable {
    /// The code point, 0 to 63, as `dscp` of connections.
    pub(crate) dscp: u8,
    /// How its packets are treated.
    pub(crate) treatment: Treatment,
}

/// How packets are treated.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Treatment {
    /// Kept in order.
    Normal,
    /// Delivered as they come.
    Unordered,
    /// A copy on every path; kept in order.
    Duplicated,
    /// A copy on every path; delivered as they come.
    DuplicatedUnordered,
}
