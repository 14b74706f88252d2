//! Frames that fail although nothing interferes: `[[wifi.errors]]`.

use super::super::loss::{BernoulliTable, NoKeys};
use super::super::quantity::{BufferSize, Chance, Name, Time};
use super::super::table::{plain_value, table};
use super::super::tagged::tagged;
use ropewalk_units::{Duration, Probability};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

table! {
    /// Data frames that fail on their way from one station to another, each attempt by itself. ACK, CTS and RTS never do.
    ErrorsTable =>
    /// Data frames that fail on their way from one station to another.
    #[derive(Clone, PartialEq, Debug)]
    pub(crate) struct ErrorKeys {
        required {
            /// The station that sends.
            from: String as Name;
            /// The station that receives.
            to: String as Name;
            /// How attempts fail.
            loss: FrameLossTable;
        }
        keys {
            /// The channel (default: all that both have).
            channel: Option<u8> as u8 = None;
            /// In the other direction too?
            both_ways: bool = false;
            /// Only frames that carry IP packets of more octets fail.
            above: u32 as BufferSize = 0;
        }
    }
}

plain_value! {
    FrameLossTable,
    PerName,
}

tagged! {
    /// How attempts fail; a probability alone, such as "5 %", is that of each.
    enum FrameLossTable by "model",
    expected "a loss from 0 to 1 such as \"5 %\", or { model = \"bursts\", mean_loss = \"5 %\", mean_burst = 8.0 }",
    short short_loss as Chance::short_schema;
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
    Some(FrameLossTable::Bernoulli(BernoulliTable { probability: Chance::short(value)? }))
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

table! {
    /// Keys of bursts.
    BurstTable =>
    /// Failures in bursts.
    #[derive(Clone, PartialEq, Debug)]
    pub(crate) struct BurstKeys {
        required {
            /// The part of the attempts that fails in the long run.
            mean_loss: Probability as Chance;
            /// Mean number of failures in a row, at least 1; with `per = "time"` in steps.
            mean_burst: f64;
        }
        keys {
            /// When the chain moves.
            per: PerName = PerName::Attempt;
            /// Time between two moves, with `per = "time"` (default 1 ms).
            step: Option<Duration> as Time = None;
        }
    }
}

table! {
    /// Keys of the Gilbert–Elliott model.
    StatesTable =>
    /// A Gilbert–Elliott chain.
    #[derive(Clone, PartialEq, Debug)]
    pub(crate) struct StatesKeys {
        required {
            /// p: probability of going from the good to the bad state at a step.
            good_to_bad: Probability as Chance;
            /// r: probability of going back.
            bad_to_good: Probability as Chance;
        }
        keys {
            /// Part of the attempts that fails in the good state.
            loss_good: Probability as Chance = Probability::ZERO;
            /// Part of the attempts that fails in the bad state.
            loss_bad: Probability as Chance = Probability::ONE;
            /// When the chain moves.
            per: PerName = PerName::Attempt;
            /// Time between two moves, with `per = "time"` (default 1 ms).
            step: Option<Duration> as Time = None;
        }
    }
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
