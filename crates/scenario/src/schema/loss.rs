//! Loss on a link's medium.

use super::quantity::Chance;
use super::table::{Value, table};
use super::tagged::tagged;
use ropewalk_sim::Loss;
use ropewalk_units::Probability;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

tagged! {
    /// Loss on the medium, after the transmitter; a probability alone, such as "0.5 %", is per packet.
    enum LossTable by "model",
    expected "a loss from 0 to 1 such as 0.005 or \"0.5 %\", or { model = \"gilbert-elliott\", … }",
    short short_loss as Chance::short_schema;
    /// No loss.
    "none" => None(NoKeys),
    /// Each packet with the same probability.
    "bernoulli" => Bernoulli(BernoulliTable),
    /// Each bit with the same probability.
    "bit-errors" => BitErrors(BernoulliTable),
    /// Two states, good and bad, with a change before each packet.
    "gilbert-elliott" => GilbertElliott(GilbertElliottTable),
    /// Exactly the data packets listed.
    "exact" => Exact(ExactTable),
}

fn short_loss(value: Result<&str, f64>) -> Option<LossTable> {
    Some(LossTable::Bernoulli(BernoulliTable { probability: Chance::short(value)? }))
}

/// No keys beside the tag.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NoKeys {}

/// Keys of independent loss.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct BernoulliTable {
    /// Probability of the loss of one packet, or of the error of one bit.
    pub(crate) probability: Chance,
}

table! {
    /// Keys of the Gilbert–Elliott model.
    GilbertElliottTable =>
    /// Keys of the Gilbert–Elliott model.
    #[derive(Clone, Copy, PartialEq, Debug)]
    pub(crate) struct GilbertElliottKeys {
        required {
            /// p: probability, per packet, of going from the good to the bad state.
            good_to_bad: Probability as Chance;
            /// r: probability, per packet, of going back.
            bad_to_good: Probability as Chance;
        }
        keys {
            /// Loss in the good state.
            loss_good: Probability as Chance = Probability::ZERO;
            /// Loss in the bad state.
            loss_bad: Probability as Chance = Probability::ONE;
        }
    }
}

/// Keys of exact loss.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExactTable {
    /// Numbers of the data packets that are lost, counted from 1 as they leave the transmitter.
    pub(crate) packets: Vec<i64>,
}

/// Numbers of exact loss are from 1 and in order: what is not is refused before it is read.
impl Value<LossTable> for Loss {
    fn read(form: &LossTable) -> Self {
        match form {
            LossTable::None(_) => Self::None,
            LossTable::Bernoulli(table) if table.probability.0 == Probability::ZERO => Self::None,
            LossTable::Bernoulli(table) => Self::Bernoulli(table.probability.0),
            LossTable::BitErrors(table) => Self::BitErrors(table.probability.0),
            LossTable::GilbertElliott(table) => {
                let GilbertElliottKeys { good_to_bad, bad_to_good, loss_good, loss_bad } = table.read();
                Self::GilbertElliott { good_to_bad, bad_to_good, loss_good, loss_bad }
            }
            LossTable::Exact(table) => {
                let mut packets: Vec<u64> =
                    table.packets.iter().map(|number| number.unsigned_abs()).collect();
                packets.sort_unstable();
                packets.dedup();
                Self::Exact(packets.into())
            }
        }
    }

    fn show(&self) -> Option<LossTable> {
        let same = |probability: &Probability| BernoulliTable { probability: Chance(*probability) };
        Some(match self {
            Self::None => LossTable::None(NoKeys {}),
            Self::Bernoulli(probability) => LossTable::Bernoulli(same(probability)),
            Self::BitErrors(probability) => LossTable::BitErrors(same(probability)),
            &Self::GilbertElliott { good_to_bad, bad_to_good, loss_good, loss_bad } => {
                let keys = GilbertElliottKeys { good_to_bad, bad_to_good, loss_good, loss_bad };
                LossTable::GilbertElliott(GilbertElliottTable::show(&keys)?)
            }
            Self::Exact(packets) => {
                let number = |&number: &u64| i64::try_from(number).unwrap_or(i64::MAX);
                LossTable::Exact(ExactTable { packets: packets.iter().map(number).collect() })
            }
        })
    }
}
