//! Radios and propagation, from the file's keys.

use crate::error::ScenarioError;
use crate::plan::context::Context;
use crate::schema::quantity::Limit;
use crate::schema::wifi::{
    DataRate, DiskTable, LogDistanceTable, PreambleName, PropagationTable, StandardName, TwoRayTable,
    WifiKeys, WifiTable,
};
use ropewalk_sim::QueueLimit;
use ropewalk_units::Rate as Bits;
use ropewalk_wifi::phy::{Rate, RateSet, Standard};
use ropewalk_wifi::propagation::{
    Breakpoint, Channel, LogDistance, Propagation, Receiver, free_space_loss_db,
};
use ropewalk_wifi::{MacConfig, RateControl, check_propagation};

fn standard(context: &Context<'_>, keys: &mut WifiKeys) -> Result<Standard, ScenarioError> {
    let standard = match keys.standard {
        StandardName::B => {
            let preamble = keys.preamble.get_or_insert(PreambleName::Long);
            return Ok(Standard::Dsss { short_preamble: *preamble == PreambleName::Short });
        }
        StandardName::A => Standard::OfdmA,
        StandardName::G => Standard::OfdmG,
    };
    if keys.preamble.is_some() {
        let message = format!("{} has one preamble", standard.name());
        return Err(context.misplaced("wifi.preamble", message, "no key `preamble`, or 802.11b"));
    }
    Ok(standard)
}

/// A rate of the standard.
fn rate(context: &Context<'_>, key: &str, standard: Standard, given: Bits) -> Result<Rate, ScenarioError> {
    let known = standard.rates();
    let found = Rate::from_bits_per_sec(given.bits_per_sec()).filter(|&rate| known.contains(rate));
    found.ok_or_else(|| {
        let listed: Vec<String> = known.iter().map(|rate| rate.as_mbps().to_string()).collect();
        let message = format!("{given} is no rate of {}", standard.name());
        context.wrong(key, message, format!("one of {} Mbit/s", listed.join(", ")))
    })
}

fn bits(rate: Rate) -> Bits {
    Bits::from_bits_per_sec(rate.bits_per_sec())
}

/// Physical layer and MAC of every radio; into `keys` goes what their defaults come to.
pub(super) fn mac(
    context: &Context<'_>,
    table: &WifiTable,
    keys: &mut WifiKeys,
) -> Result<MacConfig, ScenarioError> {
    check_queue(context, table)?;
    let standard = standard(context, keys)?;
    let timing = standard.timing();
    keys.cw_min.get_or_insert(timing.cw_min);
    keys.cw_max.get_or_insert(timing.cw_max);
    let rates = standard.rates();
    let highest = rates.iter().last().unwrap_or(standard.lowest_rate());
    let mut mac = MacConfig::new(standard, highest);
    keys.put(&mut mac);
    let chosen = *keys.data_rate.get_or_insert(DataRate::Fixed(bits(highest)));
    mac.rate = rate_control(context, "wifi.data_rate", standard, chosen)?;
    if let Some(given) = &keys.basic_rates {
        let each = given.iter().enumerate();
        let each = each.map(|(n, &given)| rate(context, &format!("wifi.basic_rates[{n}]"), standard, given));
        mac.basic_rates = each.collect::<Result<RateSet, _>>()?;
    }
    keys.basic_rates = Some(mac.basic_rates.iter().map(bits).collect());
    let one = |key: &str, given: Option<Bits>| {
        given.map(|given| rate(context, &format!("wifi.{key}"), standard, given)).transpose()
    };
    mac.control_rate = one("ack_rate", keys.ack_rate)?;
    mac.broadcast_rate = one("broadcast_rate", keys.broadcast_rate)?;
    Ok(mac)
}

/// Who chooses the rate of data frames, by a key of the network or of a station.
pub(super) fn rate_control(
    context: &Context<'_>,
    key: &str,
    standard: Standard,
    given: DataRate,
) -> Result<RateControl, ScenarioError> {
    Ok(match given {
        DataRate::Fixed(given) => RateControl::Fixed(rate(context, key, standard, given)?),
        DataRate::Minstrel => RateControl::Minstrel { rates: standard.rates() },
    })
}

fn check_queue(context: &Context<'_>, table: &WifiTable) -> Result<(), ScenarioError> {
    match table.queue {
        Some(limit @ Limit(QueueLimit::Bytes(_))) => {
            let message = format!("{limit}: a radio's queue counts frames");
            Err(context.wrong("wifi.queue", message, "a number such as \"100 packets\""))
        }
        _ => Ok(()),
    }
}

/// How signals fade; into `keys` goes what the defaults come to.
pub(super) fn propagation(
    context: &Context<'_>,
    mac: &MacConfig,
    keys: &mut WifiKeys,
) -> Result<Propagation, ScenarioError> {
    let (full, propagation) = match &keys.propagation {
        PropagationTable::Disk(table) => {
            let disk = table.read(table.reception.0, table.reception.0);
            (DiskTable::show(&disk).map(PropagationTable::Disk), Propagation::Disk(disk))
        }
        PropagationTable::LogDistance(table) => {
            let (full, model) = log_distance(table, mac, &keys.channels);
            (full.map(PropagationTable::LogDistance), Propagation::LogDistance(model))
        }
        PropagationTable::TwoRayGround(table) => {
            let (full, model) = two_ray(table, mac, &keys.channels);
            (full.map(PropagationTable::TwoRayGround), Propagation::LogDistance(model))
        }
    };
    keys.propagation = full.unwrap_or_else(|| keys.propagation.clone());
    // Before anything is placed by the ranges that come of it.
    check_propagation(&propagation).map_err(|error| {
        if error.key == "propagation.breakpoint" {
            let message = "the reflection from the ground takes as much as it gives within a metre";
            return context.wrong("wifi.propagation.antenna_height", message, "antennas that stand higher");
        }
        let (message, expected) = split(&error.problem);
        context.wrong(&format!("wifi.{}", error.key), message, expected)
    })?;
    Ok(propagation)
}

/// A message of the network, followed by what it expected.
pub(super) fn split(problem: &str) -> (&str, &str) {
    match problem.split_once("; ") {
        Some((message, expected)) => (message, expected.trim_start_matches("expected ")),
        None => (problem, ""),
    }
}

fn log_distance(
    table: &LogDistanceTable,
    mac: &MacConfig,
    channels: &[u8],
) -> (Option<LogDistanceTable>, LogDistance) {
    let typical = Receiver::typical(mac.standard);
    let free_space = free_space_loss_db(centre_mhz(mac, channels));
    let keys = table.read(free_space, typical.noise_dbm, typical.carrier_sense_dbm);
    let model = LogDistance {
        power_dbm: keys.power,
        reference_loss_db: keys.reference_loss,
        reference_distance: keys.reference_distance,
        exponent: keys.exponent,
        breakpoint: None,
        shadowing_db: keys.shadowing,
        fading: keys.fading,
        receiver: Receiver { noise_dbm: keys.noise, carrier_sense_dbm: keys.carrier_sense, ..typical }
            .with(keys.reception),
    };
    (LogDistanceTable::show(&keys), model)
}

fn two_ray(table: &TwoRayTable, mac: &MacConfig, channels: &[u8]) -> (Option<TwoRayTable>, LogDistance) {
    let typical = Receiver::typical(mac.standard);
    let frequency = centre_mhz(mac, channels);
    let keys = table.read(typical.noise_dbm, typical.carrier_sense_dbm);
    let model = LogDistance {
        power_dbm: keys.power,
        reference_loss_db: free_space_loss_db(frequency),
        reference_distance: 1.0,
        exponent: 2.0,
        breakpoint: Some(Breakpoint::two_ray(keys.antenna_height, frequency)),
        shadowing_db: keys.shadowing,
        fading: keys.fading,
        receiver: Receiver { noise_dbm: keys.noise, carrier_sense_dbm: keys.carrier_sense, ..typical }
            .with(keys.reception),
    };
    (TwoRayTable::show(&keys), model)
}

/// Of the first channel. One that does not exist is refused with the stations.
fn centre_mhz(mac: &MacConfig, channels: &[u8]) -> f64 {
    let first = channels.first().and_then(|&number| Channel::new(mac.standard, number).ok());
    first.map_or(2_412.0, |channel| f64::from(channel.centre_mhz()))
}
