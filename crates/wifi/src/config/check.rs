//! What is refused before anything is built.

use super::{ConfigError, MacConfig, NetworkConfig, RadioConfig, RateControl, StationConfig};
use crate::phy::{Rate, RateSet};
use crate::propagation::{Breakpoint, Channel, Disk, Fading, LogDistance, Propagation};

type Checked = Result<(), ConfigError>;

/// The greatest carrier sense range with a propagation delay: a slot has no room for more.
pub(crate) const FARTHEST_METRES: f64 = 1_000.0;

/// Checks a network's configuration.
pub(crate) fn check(config: &NetworkConfig) -> Checked {
    propagation(config)?;
    for (index, station) in config.stations.iter().enumerate() {
        if config.stations[..index].iter().any(|other| other.name == station.name) {
            return Err(ConfigError::new(
                format!("stations.{}", station.name),
                format!("there are two stations `{}`", station.name),
            ));
        }
        self::station(station)?;
    }
    Ok(())
}

/// Checks the values of a propagation model.
///
/// # Errors
/// The key, `propagation.` and the name of a value that makes no sense, and why.
pub fn check_propagation(propagation: &Propagation) -> Checked {
    match propagation {
        Propagation::Disk(disk) => self::disk(disk),
        Propagation::LogDistance(model) => log_distance(model),
    }
}

fn disk(disk: &Disk) -> Checked {
    for (name, range) in [
        ("reception", disk.reception),
        ("carrier_sense", disk.carrier_sense),
        ("interference", disk.interference),
    ] {
        if !range.is_finite() || range <= 0.0 {
            let problem = format!("a range of {range} m reaches nobody; expected a range above zero");
            return Err(ConfigError::new(format!("propagation.{name}"), problem));
        }
    }
    if disk.carrier_sense < disk.reception {
        let problem = format!(
            "{} m is less than the reception range of {} m: who receives a frame senses it",
            disk.carrier_sense, disk.reception
        );
        return Err(ConfigError::new("propagation.carrier_sense", problem));
    }
    Ok(())
}

/// The greatest exponent: beyond any that was measured (2 in the open, up to 6 through walls).
const STEEPEST: f64 = 20.0;

/// The greatest shape: beyond this a frame's power hardly differs from its mean.
const MOST_SHAPE: f64 = 1_000.0;

fn log_distance(model: &LogDistance) -> Checked {
    let Breakpoint { distance, exponent } = model
        .breakpoint
        .unwrap_or(Breakpoint { distance: model.reference_distance, exponent: model.exponent });
    let shape = match model.fading {
        Fading::Nakagami { m } => m,
        Fading::None | Fading::Rayleigh => 1.0,
    };
    let values = [
        ("power", model.power_dbm, f64::MIN..=f64::MAX, "a number of dBm"),
        ("exponent", model.exponent, f64::MIN_POSITIVE..=STEEPEST, "a number above 0, at most 20"),
        ("reference_loss", model.reference_loss_db, f64::MIN..=f64::MAX, "a number of dB"),
        (
            "reference_distance",
            model.reference_distance,
            f64::MIN_POSITIVE..=f64::MAX,
            "a distance above zero",
        ),
        ("shadowing", model.shadowing_db, 0.0..=f64::MAX, "a standard deviation of 0 dB or more"),
        (
            "breakpoint",
            distance,
            model.reference_distance..=f64::MAX,
            "a distance not below the reference distance",
        ),
        ("breakpoint.exponent", exponent, f64::MIN_POSITIVE..=STEEPEST, "a number above 0, at most 20"),
        ("fading.m", shape, 0.5..=MOST_SHAPE, "a number from 0.5 to 1000"),
        ("noise", model.receiver.noise_dbm, f64::MIN..=f64::MAX, "a number of dBm"),
        ("carrier_sense", model.receiver.carrier_sense_dbm, f64::MIN..=f64::MAX, "a number of dBm"),
    ];
    match values.iter().find(|(_, value, allowed, _)| !allowed.contains(value)) {
        Some((name, value, _, expected)) => {
            let problem = format!("{value} does not fit here; expected {expected}");
            Err(ConfigError::new(format!("propagation.{name}"), problem))
        }
        None => Ok(()),
    }
}

fn propagation(config: &NetworkConfig) -> Checked {
    check_propagation(&config.propagation)?;
    let range = config.propagation.carrier_sense_range();
    if config.propagation_delay && range > FARTHEST_METRES {
        let problem = format!(
            "signals are sensed up to {range:.0} m; with a propagation delay at most {FARTHEST_METRES:.0} m, for the slot \
             allows for no more"
        );
        return Err(ConfigError::new("propagation_delay", problem));
    }
    Ok(())
}

fn station(station: &StationConfig) -> Checked {
    let key = |name: &str| format!("stations.{}.{name}", station.name);
    if !station.position.x.is_finite() || !station.position.y.is_finite() {
        let problem = format!("({}, {}) is no place", station.position.x, station.position.y);
        return Err(ConfigError::new(key("position"), problem));
    }
    if station.radios.is_empty() {
        return Err(ConfigError::new(key("radios"), "expected at least one"));
    }
    for (index, radio) in station.radios.iter().enumerate() {
        let key = |name: &str| key(&format!("radios[{index}].{name}"));
        if station.radios[..index].iter().any(|other| other.channel == radio.channel) {
            let problem = format!("another radio of the station is on channel {} too", radio.channel);
            return Err(ConfigError::new(key("channel"), problem));
        }
        self::radio(radio).map_err(|(name, problem)| ConfigError::new(key(name), problem))?;
    }
    Ok(())
}

type Refused = (&'static str, String);

fn radio(radio: &RadioConfig) -> Result<(), Refused> {
    let mac = &radio.mac;
    Channel::new(mac.standard, radio.channel).map_err(|unknown| ("channel", unknown.to_string()))?;
    rates(mac)?;
    if let Some(power) = radio.power_dbm
        && !power.is_finite()
    {
        return Err(("power", format!("{power} does not fit here; expected a number of dBm")));
    }
    for (name, limit) in
        [("short_retry_limit", mac.short_retry_limit), ("long_retry_limit", mac.long_retry_limit)]
    {
        if limit == 0 {
            return Err((name, "0: a frame is sent at least once; expected 1 or more".to_owned()));
        }
    }
    let timing = mac.standard.timing();
    let (smallest, largest) = (mac.cw_min.unwrap_or(timing.cw_min), mac.cw_max.unwrap_or(timing.cw_max));
    if largest < smallest || largest > 65_535 {
        return Err(("cw_max", format!("{largest}; expected at least cw_min ({smallest}), at most 65535")));
    }
    if mac.queue == Some(0) {
        return Err(("queue", "0: no frame could ever be sent; expected 1 or more".to_owned()));
    }
    if let Some(timeout) = mac.response_timeout
        && timeout <= timing.sifs
    {
        let problem = format!("{timeout}: a response comes after SIFS, {}; expected more", timing.sifs);
        return Err(("response_timeout", problem));
    }
    if let Some(lifetime) = mac.lifetime
        && lifetime.is_zero()
    {
        return Err(("lifetime", "0: no frame could ever be sent".to_owned()));
    }
    Ok(())
}

fn rates(mac: &MacConfig) -> Result<(), Refused> {
    let known = mac.standard.rates();
    let listed = || known.iter().map(|rate| rate.as_mbps().to_string()).collect::<Vec<_>>().join(", ");
    let member = |name: &'static str, rate: Option<Rate>| match rate {
        Some(rate) if !known.contains(rate) => {
            let problem =
                format!("{rate} is no rate of {}; expected one of {}", mac.standard.name(), listed());
            Err((name, problem))
        }
        _ => Ok(()),
    };
    match mac.rate {
        RateControl::Fixed(rate) => member("rate", Some(rate))?,
        RateControl::Minstrel { rates } if rates.intersection(known).is_empty() => {
            let problem = format!("none of them is {}'s; expected some of {}", mac.standard.name(), listed());
            return Err(("rates", problem));
        }
        RateControl::Minstrel { .. } => {}
    }
    member("control_rate", mac.control_rate)?;
    member("broadcast_rate", mac.broadcast_rate)?;
    if mac.basic_rates.is_empty() || mac.basic_rates.difference(known) != RateSet::EMPTY {
        let problem =
            format!("expected one or more of {}'s rates ({} Mbit/s)", mac.standard.name(), listed());
        return Err(("basic_rates", problem));
    }
    Ok(())
}
