//! Frames that fail although nothing interferes: `[[wifi.errors]]`.

use super::super::link::{BernoulliTable, NoKeys};
use super::super::quantity::{BufferSize, Chance, Name, Quantity, Time};
use super::super::tagged::tagged;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};

/// Data frames that fail on their way from one station to another, each attempt by itself. ACK, CTS and RTS never do.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ErrorsTable {
    /// The station that sends.
    pub(crate) from: Name,
    /// The station that receives.
    pub(crate) to: Name,
    /// The channel (default: all that both have).
    pub(crate) channel: Option<u8>,
    /// In the other direction too? (default false)
    pub(crate) both_ways: Option<bool>,
    /// How attempts fail.
    pub(crate) loss: FrameLossTable,
    /// Only frames that carry IP packets of more octets fail (default 0 B: all data frames).
    pub(crate) above: Option<BufferSize>,
}

tagged! {
    /// How attempts fail; a probability alone, such as "5 %", is that of each.
    enum FrameLossTable by "model",
    expected "a loss from 0 to 1 such as \"5 %\", or { model = \"bursts\", mean_loss = \"5 %\", mean_burst = 8.0 }",
    short short_loss as chance_schema;
    /// They do not.
    "none" => None(NoKeys),
    /// Each with the same probability.
    "bernoulli" => Bernoulli(BernoulliTable),
    /// In bursts: a Gilbert–Elliott chain that loses all in its bad state and nothing in its good one.
    "bursts" => Bursts(BurstTable),
    /// Two states, good and bad.
    "gilbert-elliott" => GilbertElliott(StatesTable),
    /// Any number of states, with a change before each attempt.
    "hidden-markov" => HiddenMarkov(HiddenMarkovTable),
}

fn short_loss(value: Result<&str, f64>) -> Option<FrameLossTable> {
    let probability = match value {
        Ok(text) => Chance::from_text(text)?,
        Err(number) => Chance::from_number(number)?,
    };
    Some(FrameLossTable::Bernoulli(BernoulliTable { probability }))
}

fn chance_schema(generator: &mut SchemaGenerator) -> Option<Schema> {
    Some(generator.subschema_for::<Chance>())
}

/// When a chain moves.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum PerName {
    /// Before each attempt that can fail, whatever time lies between them.
    Attempt,
    /// Each time `step` has passed.
    Time,
}

/// Keys of bursts.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct BurstTable {
    /// The part of the attempts that fails in the long run.
    pub(crate) mean_loss: Chance,
    /// Mean number of failures in a row, at least 1; with `per = "time"` in steps.
    pub(crate) mean_burst: f64,
    /// When the chain moves (default attempt).
    pub(crate) per: Option<PerName>,
    /// Time between two moves, with `per = "time"` (default 1 ms).
    pub(crate) step: Option<Time>,
}

/// Keys of the Gilbert–Elliott model.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct StatesTable {
    /// p: probability of going from the good to the bad state at a step.
    pub(crate) good_to_bad: Chance,
    /// r: probability of going back.
    pub(crate) bad_to_good: Chance,
    /// Part of the attempts that fails in the good state (default 0).
    pub(crate) loss_good: Option<Chance>,
    /// Part of the attempts that fails in the bad state (default 1).
    pub(crate) loss_bad: Option<Chance>,
    /// When the chain moves (default attempt).
    pub(crate) per: Option<PerName>,
    /// Time between two moves, with `per = "time"` (default 1 ms).
    pub(crate) step: Option<Time>,
}

/// Keys of a hidden Markov model.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct HiddenMarkovTable {
    /// For each state the probabilities of going to each state; a row adds up to 1.
    pub(crate) transitions: Vec<Vec<f64>>,
    /// For each state the part of the attempts that fails in it, from 0 to 1.
    pub(crate) loss: Vec<f64>,
}
