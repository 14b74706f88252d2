//! Bonds: `[bonds.NAME]`.

use super::loss::NoKeys;
use super::quantity::{Name, Size, Time};
use super::table::{Value, form, named_value, plain_value, table};
use super::tagged::tagged;
use ropewalk_bonding::{
    Class, Config, CostFirstConfig, DecrementPace, FlowAwareConfig, KeepaliveConfig, LossUnit, Order,
    PathConfig, ResequencerConfig, SchedulerConfig, Turns, WeightArithmetic, WrrConfig,
};
use ropewalk_units::Duration;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::{MapAccessDeserializer, StrDeserializer};
use serde::de::{Deserializer, Error, MapAccess, Visitor};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt;

/// Makes the table of a bond, with the keys that [`ropewalk_bonding::config_keys`] declares.
macro_rules! bond_table {
    ($($(#[$doc:meta])* $key:ident: $type:ty $(as $form:ty)? = $default:expr;)*) => {
        table! {
            /// Several links between two routers, laid into one: what is routed over it is bonded at layer 3. Where a bond and
            /// another link are ways of the same length, packets take the bond.
            BondTable =>
            /// The keys of a bond beside those of its gateways.
            #[derive(Clone, PartialEq, Debug)]
            pub(crate) struct BondKeys {
                own {
                    $($(#[$doc])* $key: form!($type $(, $form)?);)*
                }
                inner {
                    /// How order is restored.
                    resequencer: ResequencerTable;
                    /// How paths are found dead and alive.
                    keepalive: KeepaliveTable;
                    /// Code points whose packets are treated specially; all others are normal.
                    classes: Vec<ClassTable>;
                }
                required {
                    /// The two routers that become its gateways; `forward` is from the first to the second.
                    between: [String; 2] as [Name; 2];
                    /// Its paths: the links at the first gateway that they begin with, by name alone or with more keys.
                    paths: Vec<MemberTable>;
                }
                computed {
                    /// How long it has been up when the scenario begins, at most 1 min, without traffic and over its lines as they are
                    /// at the beginning (default 5 s; 0 s if a costlier path of weighted-round-robin has a weight at first); with 0 s
                    /// its gateways begin with the scenario.
                    run_up: Duration as Time;
                }
                other {
                    /// Which packet goes by which path.
                    scheduler: SchedulerConfig as SchedulerTable = SchedulerConfig::RateAware;
                }
            }
        }

        impl BondTable {
            /// What both gateways run, as far as the file says it; not checked yet.
            pub(crate) fn config(&self) -> Config {
                let paths = self.paths.iter().map(|member| member.fields.config()).collect();
                let scheduler = self.scheduler.as_ref().map_or(SchedulerConfig::RateAware, SchedulerConfig::read);
                let mut config = Config::new(paths, scheduler);
                config.resequencer = self.resequencer.read();
                config.keepalive = self.keepalive.read();
                $(if let Some(form) = &self.$key {
                    config.$key = Value::read(form);
                })*
                config
            }

            /// A bond that says what its gateways run.
            pub(crate) fn explicit(keys: &BondKeys, config: &Config) -> Option<Self> {
                Some(Self {
                    scheduler: config.scheduler.show(),
                    resequencer: ResequencerTable::show(&config.resequencer)?,
                    keepalive: KeepaliveTable::show(&config.keepalive)?,
                    $($key: config.$key.show(),)*
                    ..Self::show(keys)?
                })
            }
        }
    };
}

ropewalk_bonding::config_keys!(bond_table);

plain_value! {
    MemberTable,
}

/// A path of a bond: the name of a link, or a table.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct MemberTable {
    fields: MemberFields,
    name_alone: bool,
}

/// Makes the table of a path of a bond, with the keys that [`ropewalk_bonding::path_keys`] declares.
macro_rules! member_table {
    ($($(#[$doc:meta])* $key:ident: $type:ty $(as $form:ty)? = $default:expr;)*) => {
        /// Keys of a path of a bond.
        #[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub(crate) struct MemberFields {
            /// The link at the first gateway that it begins with.
            pub(crate) link: Name,
            /// The links behind it, in order, up to the second gateway (default: the way with the least delay, then with the
            /// fewest links, then with the fewest that paths before it have). The way back is the same.
            pub(crate) via: Option<Vec<Name>>,
            $($(#[$doc])* pub(crate) $key: Option<form!($type $(, $form)?)>,)*
        }

        impl MemberFields {
            /// A link's name alone.
            const fn named(link: Name) -> Self {
                Self { link, via: None, $($key: None,)* }
            }

            fn config(&self) -> PathConfig {
                let name = self.link.0.clone();
                PathConfig { name, $($key: self.$key.as_ref().map_or($default, Value::read),)* }
            }
        }

        impl MemberTable {
            /// With every key.
            pub(crate) fn explicit(path: PathConfig, via: Option<Vec<Name>>) -> Self {
                let fields = MemberFields { $($key: path.$key.show(),)* link: Name(path.name), via };
                Self { fields, name_alone: false }
            }
        }
    };
}

ropewalk_bonding::path_keys!(member_table);

impl MemberTable {
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
        Ok(MemberTable { fields: MemberFields::named(link), name_alone: true })
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<MemberTable, A::Error> {
        let fields = MemberFields::deserialize(MapAccessDeserializer::new(map))?;
        Ok(MemberTable { fields, name_alone: false })
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

impl Value<SchedulerTable> for SchedulerConfig {
    fn read(form: &SchedulerTable) -> Self {
        match form {
            SchedulerTable::WeightedRoundRobin(table) => Self::WeightedRoundRobin(table.read()),
            SchedulerTable::CostFirst(table) => Self::CostFirst(table.read()),
            SchedulerTable::RateAware(_) => Self::RateAware,
            SchedulerTable::Redundant(_) => Self::Redundant,
            SchedulerTable::FlowAware(table) => Self::FlowAware(table.read()),
        }
    }

    fn show(&self) -> Option<SchedulerTable> {
        Some(match self {
            Self::WeightedRoundRobin(config) => {
                SchedulerTable::WeightedRoundRobin(WeightedRoundRobinTable::show(config)?)
            }
            Self::CostFirst(config) => SchedulerTable::CostFirst(CostFirstTable::show(config)?),
            Self::RateAware => SchedulerTable::RateAware(NoKeys {}),
            Self::Redundant => SchedulerTable::Redundant(NoKeys {}),
            Self::FlowAware(config) => SchedulerTable::FlowAware(FlowAwareTable::show(config)?),
        })
    }
}

fn no_short(_: Result<&str, f64>) -> Option<SchedulerTable> {
    None
}

fn no_schema(_: &mut SchemaGenerator) -> Option<Schema> {
    None
}

macro_rules! weighted_round_robin_table {
    ($($keys:tt)*) => {
        table! {
            /// Keys of weighted-round-robin.
            #[derive(Default)]
            WeightedRoundRobinTable of WrrConfig {
                keys { $($keys)* }
            }
        }
    };
}

ropewalk_bonding::weighted_round_robin_keys!(weighted_round_robin_table);

/// How fast a weight falls while nothing is lost.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum PaceName {
    /// By one at each report.
    EachReport,
    /// By one each `decrement_delay`.
    EachDelay,
}

named_value!(DecrementPace as PaceName { EachReport, EachDelay });

/// What loss is counted in.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum LossUnitName {
    /// Packets lost over packets sent.
    Packets,
    /// Octets lost over octets sent.
    Bytes,
}

named_value!(LossUnit as LossUnitName { Packets, Bytes });

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

named_value!(WeightArithmetic as ArithmeticName { Whole, Rounded, Fractional });

/// How the packets of one round are laid out over the paths.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum TurnsName {
    /// Each path's as evenly as possible.
    Spread,
    /// First all of one path, then all of the next.
    Consecutive,
}

named_value!(Turns as TurnsName { Spread, Consecutive });

macro_rules! cost_first_table {
    ($($keys:tt)*) => {
        table! {
            /// Keys of cost-first.
            #[derive(Default)]
            CostFirstTable of CostFirstConfig {
                keys { $($keys)* }
            }
        }
    };
}

ropewalk_bonding::cost_first_keys!(cost_first_table);

macro_rules! flow_aware_table {
    ($($keys:tt)*) => {
        table! {
            /// Keys of flow-aware.
            #[derive(Default)]
            FlowAwareTable of FlowAwareConfig {
                keys { $($keys)* }
            }
        }
    };
}

ropewalk_bonding::flow_aware_keys!(flow_aware_table);

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

named_value!(Order as OrderName { PerFlow, Global, Off });

macro_rules! resequencer_table {
    ($($keys:tt)*) => {
        table! {
            /// Keys of the resequencer.
            #[derive(Default)]
            ResequencerTable of ResequencerConfig {
                keys { $($keys)* }
            }
        }
    };
}

ropewalk_bonding::resequencer_keys!(resequencer_table);

macro_rules! keepalive_table {
    ($($keys:tt)*) => {
        table! {
            /// Keys of keepalives.
            #[derive(Default)]
            KeepaliveTable of KeepaliveConfig {
                keys { $($keys)* }
            }
        }
    };
}

ropewalk_bonding::keepalive_keys!(keepalive_table);

table! {
    /// How packets of a code point are treated.
    ClassTable =>
    /// How packets of a code point are treated.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct ClassPlan {
        required {
            /// The code point, 0 to 63, as `dscp` of connections.
            dscp: u8;
            /// How its packets are treated.
            treatment: Class as Treatment;
        }
    }
}

/// How packets are treated.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Treatment {
    /// Kept in order.
    Normal,
    /// Kept in order, and sent first, by the path on which it arrives first, as long as the flow is thin.
    LowDelay,
    /// Delivered as they come.
    Unordered,
    /// A copy on every path; kept in order.
    Duplicated,
    /// A copy on every path; delivered as they come.
    DuplicatedUnordered,
}

named_value!(Class as Treatment { Normal, LowDelay, Unordered, Duplicated, DuplicatedUnordered });
