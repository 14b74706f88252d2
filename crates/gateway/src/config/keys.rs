//! The keys of a bond, as `ropewalk-bonding` declares them. So a file of the gateway takes the same
//! keys as a scenario.

use ropewalk_bonding::{
    Config, CostFirstConfig, DecrementPace, FlowAwareConfig, KeepaliveConfig, LossUnit, Order, PathConfig,
    ResequencerConfig, SchedulerConfig, Turns, WeightArithmetic, WrrConfig,
};
use ropewalk_units::{Bytes, Duration};
use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error, MapAccess, Visitor};
use std::fmt;
use std::ops::Range;
use toml::Spanned;

/// What a file says for a value.
trait Form<T> {
    fn value(&self) -> T;
}

impl<T: Copy> Form<T> for T {
    fn value(&self) -> T {
        *self
    }
}

impl<T: Copy> Form<Option<T>> for T {
    fn value(&self) -> Option<T> {
        Some(*self)
    }
}

/// Declares a value that is a text with its unit.
macro_rules! quantity {
    ($(#[$doc:meta])* $name:ident of $value:ty: $read:expr, $expected:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub(super) struct $name($value);

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Text;
                impl Visitor<'_> for Text {
                    type Value = $name;

                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str($expected)
                    }

                    fn visit_str<E: Error>(self, text: &str) -> Result<$name, E> {
                        let read: fn(&str) -> Option<$value> = $read;
                        read(text).map($name).ok_or_else(|| E::custom(concat!("expected ", $expected)))
                    }
                }
                deserializer.deserialize_str(Text)
            }
        }

        impl Form<$value> for $name {
            fn value(&self) -> $value {
                self.0
            }
        }

        impl Form<Option<$value>> for $name {
            fn value(&self) -> Option<$value> {
                Some(self.0)
            }
        }
    };
}

quantity!(
    /// A time.
    Time of Duration: |text| text.parse().ok(), "a time with its unit, as \"50 ms\""
);
quantity!(
    /// A number of octets.
    Size of u64: |text| text.parse::<Bytes>().ok().map(Bytes::get), "a size with its unit, as \"5 GB\""
);

impl Time {
    pub(super) const fn get(self) -> Duration {
        self.0
    }
}

/// Declares names of values.
macro_rules! names {
    ($($name:ident of $value:ident { $($variant:ident),* })*) => {$(
        #[derive(Clone, Copy, Debug, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub(super) enum $name { $($variant),* }

        impl Form<$value> for $name {
            fn value(&self) -> $value {
                match self {
                    $(Self::$variant => $value::$variant),*
                }
            }
        }
    )*};
}

names! {
    OrderName of Order { PerFlow, Global, Off }
    PaceName of DecrementPace { EachReport, EachDelay }
    LossUnitName of LossUnit { Packets, Bytes }
    ArithmeticName of WeightArithmetic { Whole, Rounded, Fractional }
    TurnsName of Turns { Spread, Consecutive }
}

macro_rules! form {
    ($type:ty, $form:ty) => {
        $form
    };
    ($type:ty) => {
        $type
    };
}

/// Makes a table of keys that may be left out, beside `own` ones.
macro_rules! table {
    (
        $(#[$meta:meta])* $name:ident of $config:ident { $($own:tt)* }
        $($(#[$doc:meta])* $key:ident: $type:ty $(as $form:ty)? = $default:expr;)*
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub(super) struct $name {
            $($own)*
            $($key: Option<Spanned<form!($type $(, $form)?)>>,)*
        }

        impl $name {
            /// Sets the keys that the file has.
            pub(super) fn set(&self, config: &mut $config) {
                $(if let Some(form) = &self.$key {
                    config.$key = Form::<$type>::value(form.get_ref());
                })*
            }

            /// The place of a key in the file.
            pub(super) fn span(&self, key: &str) -> Option<Range<usize>> {
                $(if key == stringify!($key) {
                    return self.$key.as_ref().map(Spanned::span);
                })*
                None
            }
        }
    };
}

macro_rules! bond_table {
    ($($keys:tt)*) => {
        table! {
            /// How packets take their paths.
            #[derive(Default)]
            BondTable of Config {
                #[serde(default)]
                pub(super) scheduler: SchedulerTable,
                #[serde(default)]
                pub(super) resequencer: ResequencerTable,
                #[serde(default)]
                pub(super) keepalive: KeepaliveTable,
                #[serde(default)]
                pub(super) classes: Vec<super::class::ClassTable>,
            }
            $($keys)*
        }
    };
}

ropewalk_bonding::config_keys!(bond_table);

macro_rules! resequencer_table {
    ($($keys:tt)*) => {
        table! {
            /// How order is restored.
            #[derive(Default)]
            ResequencerTable of ResequencerConfig {}
            $($keys)*
        }
    };
}

ropewalk_bonding::resequencer_keys!(resequencer_table);

macro_rules! keepalive_table {
    ($($keys:tt)*) => {
        table! {
            /// How paths are found dead and alive.
            #[derive(Default)]
            KeepaliveTable of KeepaliveConfig {}
            $($keys)*
        }
    };
}

ropewalk_bonding::keepalive_keys!(keepalive_table);

macro_rules! path_table {
    ($($keys:tt)*) => {
        table! {
            /// A site's path.
            PathTable of PathConfig {
                pub(super) name: Spanned<String>,
                pub(super) interface: Option<String>,
                pub(super) address: Option<std::net::IpAddr>,
                #[serde(default)]
                pub(super) port: u16,
                pub(super) remote: Option<Spanned<super::endpoint::Endpoint>>,
                #[serde(default = "super::defaults::ethernet")]
                pub(super) mtu: u16,
            }
            $($keys)*
        }
    };
}

ropewalk_bonding::path_keys!(path_table);

macro_rules! site_path_table {
    ($($keys:tt)*) => {
        table! {
            /// What a hub has for a path of a site.
            SitePathTable of PathConfig {
                pub(super) name: Spanned<String>,
            }
            $($keys)*
        }
    };
}

ropewalk_bonding::path_keys!(site_path_table);

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum SchedulerName {
    #[default]
    RateAware,
    CostFirst,
    Redundant,
    FlowAware,
    WeightedRoundRobin,
}

macro_rules! scheduler_keys {
    ($($keys:tt)*) => {
        table! {
            /// The keys of all schedulers. Those that the kind does not have are refused.
            WeightedTable of WrrConfig {
                kind: SchedulerName,
                queue_target: Option<Spanned<Time>>,
                idle_after: Option<Spanned<Time>>,
            }
            $($keys)*
        }
    };
}

ropewalk_bonding::weighted_round_robin_keys!(scheduler_keys);

/// A scheduler: its name, or a table with its `kind` and keys.
#[derive(Clone, Debug, Default)]
pub(super) struct SchedulerTable {
    kind: SchedulerName,
    keys: Option<Box<WeightedTable>>,
}

impl<'de> Deserialize<'de> for SchedulerTable {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NameOrTable;
        impl<'de> Visitor<'de> for NameOrTable {
            type Value = SchedulerTable;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(
                    "a scheduler such as \"rate-aware\" or { kind = \"weighted-round-robin\", gain = 0.5 }",
                )
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<SchedulerTable, E> {
                let kind = SchedulerName::deserialize(serde::de::value::StrDeserializer::new(text))?;
                Ok(SchedulerTable { kind, keys: None })
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<SchedulerTable, A::Error> {
                let keys = WeightedTable::deserialize(MapAccessDeserializer::new(map))?;
                Ok(SchedulerTable { kind: keys.kind, keys: Some(Box::new(keys)) })
            }
        }
        deserializer.deserialize_any(NameOrTable)
    }
}

/// A key of the scheduler that another kind has, and where it is.
pub(super) type Foreign = (&'static str, Range<usize>);

impl SchedulerTable {
    /// The scheduler that it describes.
    ///
    /// # Errors
    /// A key that another kind has.
    pub(super) fn read(&self) -> Result<SchedulerConfig, Foreign> {
        let time = |key: fn(&WeightedTable) -> &Option<Spanned<Time>>| {
            self.keys.as_ref().and_then(|keys| key(keys).as_ref()).map(|time| time.get_ref().0)
        };
        let queue_target = time(|keys| &keys.queue_target);
        let (taken, scheduler): (&[&str], _) = match self.kind {
            SchedulerName::RateAware => (&[], SchedulerConfig::RateAware),
            SchedulerName::Redundant => (&[], SchedulerConfig::Redundant),
            SchedulerName::CostFirst => {
                let usual = CostFirstConfig::default();
                let config = CostFirstConfig { queue_target: queue_target.unwrap_or(usual.queue_target) };
                (&["queue_target"], SchedulerConfig::CostFirst(config))
            }
            SchedulerName::FlowAware => {
                let usual = FlowAwareConfig::default();
                let config = FlowAwareConfig {
                    queue_target: queue_target.unwrap_or(usual.queue_target),
                    idle_after: time(|keys| &keys.idle_after).unwrap_or(usual.idle_after),
                };
                (&["queue_target", "idle_after"], SchedulerConfig::FlowAware(config))
            }
            SchedulerName::WeightedRoundRobin => {
                let mut config = WrrConfig::default();
                self.keys.iter().for_each(|keys| keys.set(&mut config));
                (&WEIGHTED, SchedulerConfig::WeightedRoundRobin(config))
            }
        };
        let all = WEIGHTED.into_iter().chain(["queue_target", "idle_after"]);
        let foreign = all.filter(|key| !taken.contains(key)).find_map(|key| Some((key, self.place(key)?)));
        foreign.map_or(Ok(scheduler), Err)
    }

    /// The place of a key in the file.
    pub(super) fn place(&self, key: &str) -> Option<Range<usize>> {
        let keys = self.keys.as_ref()?;
        match key {
            "queue_target" => keys.queue_target.as_ref().map(Spanned::span),
            "idle_after" => keys.idle_after.as_ref().map(Spanned::span),
            _ => keys.span(key),
        }
    }
}

macro_rules! key_names {
    ($($(#[$doc:meta])* $key:ident: $type:ty $(as $form:ty)? = $default:expr;)*) => {
        /// Keys of weighted round robin.
        const WEIGHTED: [&str; [$(stringify!($key)),*].len()] = [$(stringify!($key)),*];
    };
}

ropewalk_bonding::weighted_round_robin_keys!(key_names);
