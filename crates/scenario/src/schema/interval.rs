//! Times that are always the same, or drawn.

use super::jitter::{ExponentialTable, time_schema};
use super::quantity::{Quantity, Time};
use super::table::Value;
use super::tagged::tagged;
use ropewalk_units::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A time that is the same always, or drawn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Interval {
    /// Always this.
    Constant(Duration),
    /// Exponentially distributed with this mean.
    Exponential(Duration),
}

impl Interval {
    /// Its mean.
    pub const fn mean(self) -> Duration {
        match self {
            Self::Constant(time) | Self::Exponential(time) => time,
        }
    }

    fn new(table: &IntervalTable) -> Self {
        match table {
            IntervalTable::Constant(table) => Self::Constant(table.time.0),
            IntervalTable::Exponential(table) => Self::Exponential(table.mean.0),
        }
    }

    fn explicit(self) -> IntervalTable {
        match self {
            Self::Constant(time) => IntervalTable::Constant(ConstantTable { time: Time(time) }),
            Self::Exponential(mean) => IntervalTable::Exponential(ExponentialTable { mean: Time(mean) }),
        }
    }

    /// In words.
    pub(crate) fn describe(self) -> String {
        match self {
            Self::Constant(time) => time.to_string(),
            Self::Exponential(mean) => format!("about {mean} (exponential)"),
        }
    }
}

tagged! {
    /// A time that is always the same, or drawn; a time alone is always the same.
    enum IntervalTable by "distribution",
    expected "a time such as \"1 s\" or { distribution = \"exponential\", mean = \"1 s\" }",
    short short_interval as time_schema;
    /// Always the same.
    "constant" => Constant(ConstantTable),
    /// Exponentially distributed.
    "exponential" => Exponential(ExponentialTable),
}

fn short_interval(text: Result<&str, f64>) -> Option<IntervalTable> {
    Some(IntervalTable::Constant(ConstantTable { time: Time::from_text(text.ok()?)? }))
}

/// Keys of a constant time.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ConstantTable {
    /// The time.
    pub(crate) time: Time,
}

impl Value<IntervalTable> for Interval {
    fn read(form: &IntervalTable) -> Self {
        Self::new(form)
    }

    fn show(&self) -> Option<IntervalTable> {
        Some(self.explicit())
    }
}
