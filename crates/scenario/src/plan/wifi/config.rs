//! Radios and propagation, from the file's keys.

use crate::error::ScenarioError;
use crate::plan::context::Context;
use crate::schema::quantity::{BitRate, Point};
use crate::schema::wifi::{
    DataRate, LogDistanceTable, PreambleName, PropagationTable, StandardName, WifiTable,
};
use ropewalk_sim::QueueLimit;
use ropewalk_wifi::phy::{Rate, RateSet, Standard};
use ropewalk_wifi::position::Position;
use ropewalk_wifi::propagation::{Channel, LogDistance, Propagation, Receiver, free_space_loss_db};
use ropewalk_wifi::{MacConfig, RateControl, check_propagation};

/// Transmitted power in dBm and exponent of the path loss, unless the file says otherwise.
pub(crate) const DEFAULT_POWER_DBM: f64 = 16.0;
pub(crate) const DEFAULT_EXPONENT: f64 = 3.0;

pub(super) fn position(Point([x, y]): Point) -> Position {
    Position::new(x.0, y.0)
}

fn standard(context: &Context<'_>, table: &WifiTable) -> Result<Standard, ScenarioError> {
    let standard = match table.standard {
        None | Some(StandardName::B) => {
            Standard::Dsss { short_preamble: table.preamble == Some(PreambleName::Short) }
        }
        Some(StandardName::A) => Standard::OfdmA,
        Some(StandardName::G) => Standard::OfdmG,
    };
    match (table.preamble, standard) {
        (Some(_), Standard::OfdmA | Standard::OfdmG) => {
            let message = format!("{} has one preamble", standard.name());
            Err(context.misplaced("wifi.preamble", message, "no key `preamble`, or 802.11b"))
        }
        _ => Ok(standard),
    }
}

/// A rate of the standard.
fn rate(context: &Context<'_>, key: &str, standard: Standard, given: BitRate) -> Result<Rate, ScenarioError> {
    let known = standard.rates();
    let found = Rate::from_bits_per_sec(given.0.bits_per_sec()).filter(|&rate| known.contains(rate));
    found.ok_or_else(|| {
        let listed: Vec<String> = known.iter().map(|rate| rate.as_mbps().to_string()).collect();
        let message = format!("{} is no rate of {}", given.0, standard.name());
        context.wrong(key, message, format!("one of {} Mbit/s", listed.join(", ")))
    })
}

/// Physical layer and MAC of every radio.
pub(super) fn mac(context: &Context<'_>, table: &WifiTable) -> Result<MacConfig, ScenarioError> {
    let standard = standard(context, table)?;
    let rates = standard.rates();
    let highest = rates.iter().last().unwrap_or(standard.lowest_rate());
    let mut mac = MacConfig::new(standard, highest);
    match table.data_rate {
        None => {}
        Some(DataRate::Fixed(given)) => {
            mac.rate = RateControl::Fixed(rate(context, "wifi.data_rate", standard, given)?);
        }
        Some(DataRate::Minstrel) => mac.rate = RateControl::Minstrel { rates },
    }
    if let Some(given) = &table.basic_rates {
        let each = given.iter().enumerate();
        let each = each.map(|(n, &given)| rate(context, &format!("wifi.basic_rates[{n}]"), standard, given));
        mac.basic_rates = each.collect::<Result<RateSet, _>>()?;
    }
    if let Some(given) = table.ack_rate {
        mac.control_rate = Some(rate(context, "wifi.ack_rate", standard, given)?);
    }
    if let Some(given) = table.broadcast_rate {
        mac.broadcast_rate = Some(rate(context, "wifi.broadcast_rate", standard, given)?);
    }
    mac.rts_threshold = table.rts_threshold.map(|size| size.0);
    mac.short_retry_limit = table.short_retry_limit.unwrap_or(mac.short_retry_limit);
    mac.long_retry_limit = table.long_retry_limit.unwrap_or(mac.long_retry_limit);
    let timing = standard.timing();
    mac.cw_min = Some(table.cw_min.unwrap_or(timing.cw_min));
    mac.cw_max = Some(table.cw_max.unwrap_or(timing.cw_max));
    mac.response_timeout = table.response_timeout.map(|time| time.0);
    mac.lifetime = table.lifetime.map(|time| time.0);
    if let Some(limit) = table.queue {
        mac.queue_limit = Some(match limit.0 {
            QueueLimit::Packets(packets) => packets,
            QueueLimit::Bytes(_) => {
                let message = format!("{limit}: a radio's queue counts frames");
                return Err(context.wrong("wifi.queue", message, "a number such as \"100 packets\""));
            }
        });
    }
    Ok(mac)
}

pub(super) fn propagation(
    context: &Context<'_>,
    table: &WifiTable,
    mac: &MacConfig,
    channels: &[u8],
) -> Result<Propagation, ScenarioError> {
    let propagation = match &table.propagation {
        PropagationTable::Disk(table) => Propagation::Disk(table.read(table.reception.0, table.reception.0)),
        PropagationTable::LogDistance(table) => Propagation::LogDistance(log_distance(table, mac, channels)),
    };
    // Before anything is placed by the ranges that come of it.
    check_propagation(&propagation).map_err(|error| {
        let (message, expected) = split(&error.problem);
        context.wrong(&format!("wifi.{}", error.key), message, expected)
    })?;
    Ok(propagation)
}

/// The network's words: what was expected stands behind the problem.
pub(super) fn split(problem: &str) -> (&str, &str) {
    match problem.split_once("; ") {
        Some((message, expected)) => (message, expected.trim_start_matches("expected ")),
        None => (problem, ""),
    }
}

fn log_distance(table: &LogDistanceTable, mac: &MacConfig, channels: &[u8]) -> LogDistance {
    let typical = Receiver::typical(mac.standard);
    // A channel that does not exist is refused with the stations.
    let first = channels.first().and_then(|&number| Channel::new(mac.standard, number).ok());
    let free_space = || free_space_loss_db(first.map_or(2_412.0, |channel| f64::from(channel.centre_mhz())));
    LogDistance {
        power_dbm: table.power.map_or(DEFAULT_POWER_DBM, |power| power.0),
        reference_loss_db: table.reference_loss.map_or_else(free_space, |loss| loss.0),
        reference_distance: table.reference_distance.map_or(1.0, |length| length.0),
        exponent: table.exponent.unwrap_or(DEFAULT_EXPONENT),
        shadowing_db: table.shadowing.map_or(0.0, |loss| loss.0),
        receiver: Receiver {
            noise_dbm: table.noise.map_or(typical.noise_dbm, |power| power.0),
            carrier_sense_dbm: table.carrier_sense.map_or(typical.carrier_sense_dbm, |power| power.0),
            ..typical
        },
    }
}
