//! Frames that fail although nothing interferes.

use super::WifiPlan;
use crate::error::ScenarioError;
use crate::plan::context::{Context, both, every};
use crate::schema::wifi::{ErrorsTable, FrameLossTable, PerName, WifiTable};
use ropewalk_units::{Duration, Probability};
use ropewalk_wifi::errors::{ErrorModel, FrameErrors, GilbertElliott, HiddenMarkov, Step};

/// A model of frame errors from one station to another, on some channels.
#[derive(Clone, PartialEq, Debug)]
pub struct ErrorPlan {
    /// Its table in the file: `wifi.errors[0]`.
    pub key: String,
    /// The station that sends.
    pub from: String,
    /// The station that receives.
    pub to: String,
    /// The channels.
    pub channels: Vec<u8>,
    /// Which frames fail, and how.
    pub errors: FrameErrors,
}

/// All models: both directions of a link are two.
pub(super) fn errors(
    context: &Context<'_>,
    plan: &WifiPlan,
    table: &WifiTable,
) -> Result<Vec<ErrorPlan>, ScenarioError> {
    let plans = every(table.errors.iter().enumerate().map(|(index, table)| {
        let base = format!("wifi.errors[{index}]");
        let keys = table.read();
        let (channels, model) =
            both(channels(context, plan, &base, table), model(context, &format!("{base}.loss"), &keys.loss))?;
        let errors = FrameErrors { model, above: keys.above };
        let one = |from: &str, to: &str| ErrorPlan {
            key: base.clone(),
            from: from.to_owned(),
            to: to.to_owned(),
            channels: channels.clone(),
            errors: errors.clone(),
        };
        let back = keys.both_ways.then(|| one(&keys.to, &keys.from));
        Ok([Some(one(&keys.from, &keys.to)), back])
    }))?;
    Ok(plans.into_iter().flatten().flatten().collect())
}

fn channels(
    context: &Context<'_>,
    plan: &WifiPlan,
    base: &str,
    table: &ErrorsTable,
) -> Result<Vec<u8>, ScenarioError> {
    let mut ends = Vec::new();
    for (key, name) in [("from", &table.from), ("to", &table.to)] {
        let found = plan.channels_of(name.as_str());
        ends.push(
            found.ok_or_else(|| super::routes::unknown(context, plan, &format!("{base}.{key}"), name))?,
        );
    }
    if table.from == table.to {
        let message = format!("`{}` sends nothing to itself", table.from.as_str());
        return Err(context.wrong(&format!("{base}.to"), message, "two different stations"));
    }
    let common: Vec<u8> = ends[0].iter().copied().filter(|channel| ends[1].contains(channel)).collect();
    match table.channel {
        None => Ok(common),
        Some(channel) if common.contains(&channel) => Ok(vec![channel]),
        Some(channel) => {
            let (from, to) = (table.from.as_str(), table.to.as_str());
            let message = format!("`{from}` and `{to}` do not both have a radio on channel {channel}");
            let listed: Vec<String> = common.iter().map(u8::to_string).collect();
            Err(context.wrong(&format!("{base}.channel"), message, format!("one of {}", listed.join(", "))))
        }
    }
}

/// The time between two moves of a chain that moves with time.
pub(super) fn step_time(per: PerName, given: Option<Duration>) -> Option<Duration> {
    (per == PerName::Time).then(|| given.unwrap_or(Duration::from_millis(1)))
}

fn step(
    context: &Context<'_>,
    key: &str,
    per: PerName,
    given: Option<Duration>,
) -> Result<Step, ScenarioError> {
    let key = format!("{key}.step");
    match (step_time(per, given), given) {
        (None, None) => Ok(Step::Attempt),
        (None, Some(_)) => {
            let message = "a step per attempt has no duration";
            Err(context.misplaced(&key, message, "no key `step`, or `per = \"time\"`"))
        }
        (Some(step), _) if step.is_zero() => Err(context.wrong(&key, "no time passes", "a time above zero")),
        (Some(step), _) => Ok(Step::Every(step)),
    }
}

fn model(context: &Context<'_>, key: &str, table: &FrameLossTable) -> Result<ErrorModel, ScenarioError> {
    Ok(match table {
        FrameLossTable::None(_) => ErrorModel::None,
        FrameLossTable::Bernoulli(table) if table.probability.0 == Probability::ZERO => ErrorModel::None,
        FrameLossTable::Bernoulli(table) => ErrorModel::Bernoulli(table.probability.0),
        FrameLossTable::Bursts(table) => {
            let keys = table.read();
            let step = step(context, key, keys.per, keys.step)?;
            let chain = GilbertElliott::with_mean_burst(keys.mean_loss.get(), keys.mean_burst, step);
            let expected = "bursts of at least one failure, long enough for the mean loss";
            ErrorModel::GilbertElliott(
                chain.map_err(|e| context.wrong(&format!("{key}.mean_burst"), e.to_string(), expected))?,
            )
        }
        FrameLossTable::GilbertElliott(table) => {
            let keys = table.read();
            ErrorModel::GilbertElliott(GilbertElliott {
                good_to_bad: keys.good_to_bad,
                bad_to_good: keys.bad_to_good,
                loss_good: keys.loss_good,
                loss_bad: keys.loss_bad,
                step: step(context, key, keys.per, keys.step)?,
            })
        }
        FrameLossTable::HiddenMarkov(table) => {
            let chain = HiddenMarkov::new(&table.transitions, &table.loss);
            let expected = "a row of probabilities for each state, adding up to 1";
            ErrorModel::HiddenMarkov(
                chain.map_err(|e| context.wrong(&format!("{key}.transitions"), e.to_string(), expected))?,
            )
        }
    })
}
