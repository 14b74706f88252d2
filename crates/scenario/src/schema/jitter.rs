//! Random delay of a link.

use super::loss::NoKeys;
use super::quantity::{Quantity, Time};
use super::table::{Value, table};
use super::tagged::tagged;
use ropewalk_sim::Jitter;
use ropewalk_units::Duration;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};

tagged! {
    /// Random additional delay; a time alone, such as "2 ms", is uniform from 0 to that time.
    enum JitterTable by "distribution",
    expected "a jitter such as \"2 ms\" or { distribution = \"normal\", deviation = \"1 ms\" }",
    short short_jitter as time_schema;
    /// None.
    "none" => None(NoKeys),
    /// Uniform between zero and `max`.
    "uniform" => Uniform(UniformTable),
    /// Normal around the propagation delay, the sum never below zero.
    "normal" => Normal(NormalTable),
    /// Exponential.
    "exponential" => Exponential(ExponentialTable),
    /// Wandering slowly between zero and `max`, the same for all packets of a moment.
    "wander" => Wander(WanderTable),
}

fn short_jitter(text: Result<&str, f64>) -> Option<JitterTable> {
    Some(JitterTable::Uniform(UniformTable { max: Time::from_text(text.ok()?)? }))
}

pub(super) fn time_schema(generator: &mut SchemaGenerator) -> Option<Schema> {
    Some(generator.subschema_for::<Time>())
}

/// Keys of uniform jitter.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct UniformTable {
    /// Greatest additional delay.
    pub(crate) max: Time,
}

table! {
    /// Keys of a delay that wanders, as a cellular line's does.
    WanderTable =>
    /// Keys of a delay that wanders.
    #[derive(Clone, Copy, PartialEq, Debug)]
    pub(crate) struct WanderKeys {
        required {
            /// Greatest additional delay.
            max: Duration as Time;
        }
        keys {
            /// A new target, uniform between zero and `max`, is drawn each time this has passed; the delay moves there in a
            /// straight line.
            interval: Duration as Time = Duration::from_secs(1);
        }
    }
}

/// Keys of normal jitter.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NormalTable {
    /// Standard deviation.
    pub(crate) deviation: Time,
}

/// Keys of exponential jitter.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExponentialTable {
    /// Mean additional delay.
    pub(crate) mean: Time,
}

impl Value<JitterTable> for Jitter {
    fn read(form: &JitterTable) -> Self {
        match form {
            JitterTable::None(_) => Self::None,
            JitterTable::Uniform(table) => Self::Uniform(table.max.0),
            JitterTable::Normal(table) => Self::Normal(table.deviation.0),
            JitterTable::Exponential(table) => Self::Exponential(table.mean.0),
            JitterTable::Wander(table) => {
                let WanderKeys { max, interval } = table.read();
                Self::Wander { max, interval }
            }
        }
    }

    fn show(&self) -> Option<JitterTable> {
        Some(match *self {
            Self::None => JitterTable::None(NoKeys {}),
            Self::Uniform(max) => JitterTable::Uniform(UniformTable { max: Time(max) }),
            Self::Normal(deviation) => JitterTable::Normal(NormalTable { deviation: Time(deviation) }),
            Self::Exponential(mean) => JitterTable::Exponential(ExponentialTable { mean: Time(mean) }),
            Self::Wander { max, interval } => {
                JitterTable::Wander(WanderTable::show(&WanderKeys { max, interval })?)
            }
        })
    }
}
