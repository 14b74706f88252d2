//! Links: `[links.NAME]`.

use super::jitter::JitterTable;
use super::loss::LossTable;
use super::quantity::{BitRate, Chance, Name, Time};
use super::queue::QueueTable;
use super::table::{Value, form, said, table};
use ropewalk_sim::{Change, DirectionConfig, Jitter, Loss, Queue, QueueLimit, Trace};
use ropewalk_units::{Duration, Probability};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// MTU of a link that names none: Ethernet's.
pub(crate) const DEFAULT_MTU: u32 = 1500;

/// Makes the tables of links and their changes: of the keys that say a direction's capacity, and of those that
/// [`ropewalk_sim::direction_keys`] declares.
macro_rules! link_tables {
    (
        capacity { $($(#[$capacity_doc:meta])* $capacity:ident: $capacity_type:ty;)* }
        $($(#[$doc:meta])* $key:ident: $variant:ident($type:ty $(as $form:ty)?) = $default:expr;)*
    ) => {
        table! {
            /// A link between two nodes. Keys of a direction given here hold for both directions.
            LinkTable =>
            /// The keys of a link beside those of its directions.
            #[derive(Clone, PartialEq, Debug)]
            pub(crate) struct LinkKeys {
                own {
                    /// So many of them, called NAME-1, NAME-2, …. Without it, as many as the groups that it joins have members.
                    count: u32;
                    /// Keys that differ from the first node to the second.
                    forward: DirectionTable;
                    /// Keys that differ from the second node to the first.
                    backward: DirectionTable;
                    $($(#[$capacity_doc])* $capacity: $capacity_type;)*
                }
                inner {
                    /// Timed changes.
                    changes: Vec<ChangeTable>;
                }
                required {
                    /// The two nodes it joins; `forward` is from the first to the second.
                    between: [String; 2] as [Name; 2];
                }
                keys {
                    /// Greatest IP packet in octets.
                    mtu: u32 = DEFAULT_MTU;
                }
                other {
                    $($(#[$doc])* $key: $type $(as $form)? = $default;)*
                }
            }
        }

        /// One direction of a link.
        #[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub(crate) struct DirectionTable {
            $($(#[$capacity_doc])* pub(crate) $capacity: Option<$capacity_type>,)*
            $(
                $(#[$doc])*
                #[schemars(extend("default" = (said::<$type, form!($type $(, $form)?)>($default))))]
                pub(crate) $key: Option<form!($type $(, $form)?)>,
            )*
        }

        /// A change of a link at a given time. At least one thing changes.
        #[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub(crate) struct ChangeTable {
            /// When, from the start of the simulation.
            pub(crate) at: Time,
            /// In which direction (default: both).
            pub(crate) direction: Option<Direction>,
            /// Down, or up again.
            pub(crate) state: Option<LinkState>,
            $($(#[$capacity_doc])* pub(crate) $capacity: Option<$capacity_type>,)*
            $($(#[$doc])* pub(crate) $key: Option<form!($type $(, $form)?)>,)*
        }

        impl LinkTable {
            /// The keys that hold for both directions.
            pub(crate) fn both(&self) -> DirectionTable {
                DirectionTable {
                    $($capacity: self.$capacity.clone(),)*
                    $($key: self.$key.clone(),)*
                }
            }
        }

        impl DirectionTable {
            /// Every key of a direction; a trace by its `name`.
            pub(crate) fn explicit(
                config: &DirectionConfig,
                name: impl Fn(&Trace) -> Option<String>,
            ) -> Self {
                Self {
                    rate: config.trace.is_none().then_some(BitRate(config.rate)),
                    trace: config.trace.as_ref().and_then(name),
                    $($key: config.$key.show(),)*
                }
            }
        }

        impl ChangeTable {
            /// What is said of a change in a direction; a trace by its `name`.
            pub(crate) fn explicit(
                at: Time,
                direction: Direction,
                change: &Change,
                name: impl Fn(&Trace) -> Option<String>,
            ) -> Self {
                let direction = Some(direction);
                let mut table = Self { at, direction, state: None, $($capacity: None,)* $($key: None,)* };
                match change {
                    Change::Rate(rate) => table.rate = Some(BitRate(*rate)),
                    Change::Trace(trace) => table.trace = trace.as_ref().and_then(name),
                    $(Change::$variant(value) => table.$key = value.show(),)*
                    Change::Down => table.state = Some(LinkState::Down),
                    Change::Up => table.state = Some(LinkState::Up),
                }
                table
            }
        }
    };
}

macro_rules! tables_with_capacity {
    ($($keys:tt)*) => {
        link_tables! {
            capacity {
                /// Transmission rate. A link has a rate or a trace.
                rate: BitRate;
                /// Capacity from a Mahimahi trace instead of a rate: a file, its path relative to the scenario's.
                trace: String;
            }
            $($keys)*
        }
    };
}

ropewalk_sim::direction_keys!(tables_with_capacity);

impl LinkTable {
    /// The keys of one direction (0 forward, 1 backward) alone.
    pub(crate) fn only(&self, direction: usize) -> Option<&DirectionTable> {
        [&self.forward, &self.backward][direction].as_ref()
    }
}

/// One of the two directions of a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Direction {
    /// From the first node of `between` to the second.
    Forward,
    /// From the second to the first.
    Backward,
}

/// Whether a link carries anything.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum LinkState {
    /// Nothing passes.
    Down,
    /// As before.
    Up,
}
