//! What a station hears of another: disks, or path loss with shadowing and a signal-to-interference
//! ratio.
//!
//! Powers are milliwatts where they are added and dBm where they are configured. A medium works out
//! each pair's [`Signal`] once, as long as no station moves, and asks [`Propagation::receives`] at
//! the end of a frame.

mod decibels;
mod error_rates;
mod fading;
mod overlap;
mod receiver;

pub(crate) use error_rates::Curves;
pub use error_rates::Reception;
pub use fading::Fading;
pub use overlap::{Channel, UnknownChannel};
pub use receiver::Receiver;

use crate::phy::Rate;
pub use decibels::{dbm_from_mw, mw_from_dbm};
use ropewalk_sim::Streams;

/// How signals weaken, and what survives interference.
#[derive(Clone, PartialEq, Debug)]
pub enum Propagation {
    /// Ranges in metres; powers play no part.
    Disk(Disk),
    /// Log-distance path loss with log-normal shadowing.
    LogDistance(LogDistance),
}

/// Everything within a range is heard alike, and nothing beyond.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Disk {
    /// Up to here frames can be received, in metres.
    pub reception: f64,
    /// Up to here the medium is sensed busy, in metres; not below the reception range.
    pub carrier_sense: f64,
    /// Up to here a signal spoils frames it overlaps with, in metres.
    pub interference: f64,
    /// What becomes of a frame another one overlaps with.
    pub overlap: Overlap,
}

/// What becomes of frames that overlap at a receiver, on [`Disk`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Overlap {
    /// All of them are lost.
    DestroysAll,
    /// The receiver stays with the one whose preamble it has locked on to and receives it unharmed.
    FirstWins,
}

/// Path loss PL(d) = PL(d0) + 10 n lg(d/d0) + X, with X normal in dB and constant for a pair of
/// stations.
#[derive(Clone, PartialEq, Debug)]
pub struct LogDistance {
    /// Transmitted power, antenna gains included, in dBm.
    pub power_dbm: f64,
    /// Path loss at the reference distance, in dB; for free space [`free_space_loss_db`].
    pub reference_loss_db: f64,
    /// The reference distance, in metres; nearer, the loss stays the same.
    pub reference_distance: f64,
    /// n: 2 in the open, 3 to 4 in buildings and towns.
    pub exponent: f64,
    /// From some distance on power falls faster; `None`: nowhere.
    pub breakpoint: Option<Breakpoint>,
    /// Standard deviation of the shadowing, in dB; 0 for none.
    pub shadowing_db: f64,
    /// How the power of single frames differs from the mean.
    pub fading: Fading,
    /// What a radio makes of a power.
    pub receiver: Receiver,
}

/// Where power begins to fall by another exponent.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Breakpoint {
    /// The distance, in metres; not below the reference distance.
    pub distance: f64,
    /// The exponent beyond.
    pub exponent: f64,
}

impl Breakpoint {
    /// Two-ray ground: beyond 4π h² / λ the reflection from the ground cancels most of the direct
    /// signal, and power falls as d⁻⁴ (Rappaport, "Wireless Communications", §4.6). Below it free
    /// space holds. `antenna_height` is in metres.
    pub fn two_ray(antenna_height: f64, frequency_mhz: f64) -> Self {
        let wavelength = METRES_PER_MICROSECOND / frequency_mhz;
        let distance = 4.0 * std::f64::consts::PI * antenna_height * antenna_height / wavelength;
        Self { distance, exponent: 4.0 }
    }
}

/// What one station hears when another sends. The same in both directions.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Signal {
    /// Its power, as a signal and as interference, in mW. On [`Disk`] 1 or 0: it interferes or not.
    pub power_mw: f64,
    /// Can its preamble be locked on to, without interference? If not, it is only noise.
    pub is_decodable: bool,
    /// Does it make the medium busy?
    pub is_sensed: bool,
}

/// What a radio makes of a signal's power.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Heard {
    /// Its preamble can be locked on to.
    pub(crate) locks_on: bool,
    /// The medium is busy.
    pub(crate) is_sensed: bool,
}

impl Signal {
    /// Too far to matter.
    pub const NONE: Self = Self { power_mw: 0.0, is_decodable: false, is_sensed: false };
}

impl Propagation {
    /// What is heard over this distance (metres), with this much shadowing (dB, from
    /// [`Self::shadowing_db`]), by a radio on the channel `heard_on` of a transmission on the
    /// channel `sent_on`.
    ///
    /// On another channel a signal is only interference: it is never decoded. On a [`Disk`],
    /// channels that overlap at all interfere like the same channel.
    pub fn signal(&self, distance: f64, shadowing_db: f64, sent_on: Channel, heard_on: Channel) -> Signal {
        self.signal_through(sent_on.overlap(heard_on), sent_on == heard_on, distance, shadowing_db)
    }

    /// [`Self::signal`] with the channels' [`Channel::overlap`] given, since that is an integral.
    pub(crate) fn signal_through(
        &self,
        overlap: f64,
        is_own: bool,
        distance: f64,
        shadowing_db: f64,
    ) -> Signal {
        if overlap == 0.0 {
            return Signal::NONE;
        }
        match self {
            Self::Disk(disk) => Signal {
                power_mw: if distance <= disk.interference { 1.0 } else { 0.0 },
                is_decodable: is_own && distance <= disk.reception,
                is_sensed: distance <= disk.carrier_sense,
            },
            Self::LogDistance(model) => {
                let power_mw = mw_from_dbm(model.received_dbm(distance, shadowing_db)) * overlap;
                Signal {
                    power_mw,
                    is_decodable: is_own && model.receiver.locks_on(power_mw),
                    is_sensed: model.receiver.senses(power_mw),
                }
            }
        }
    }

    /// Is a frame at `rate` received whose signal has this power, while the other signals' powers
    /// sum up to `interference_mw` at their worst? The frame must have been decodable and locked on
    /// to.
    #[inline(always)]
    pub fn receives(&self, rate: Rate, signal_mw: f64, interference_mw: f64) -> bool {
        match self {
            Self::Disk(disk) => disk.overlap == Overlap::FirstWins || interference_mw == 0.0,
            Self::LogDistance(model) => model.receiver.receives(rate, signal_mw, interference_mw),
        }
    }

    /// The shadowing between two stations, in dB (more is weaker); 0 on [`Disk`]. It is drawn from
    /// a stream named after both stations. So it is the same in both directions, and does not
    /// depend on other stations.
    pub fn shadowing_db(&self, streams: &Streams, a: &str, b: &str) -> f64 {
        match self {
            Self::LogDistance(model) if model.shadowing_db > 0.0 => {
                let (first, second) = if a <= b { (a, b) } else { (b, a) };
                let mut stream = streams.stream(&format!("wifi/shadowing/{first}/{second}"));
                stream.normal(0.0, model.shadowing_db)
            }
            _ => 0.0,
        }
    }

    /// How the power of single frames differs from the mean; on [`Disk`] not at all.
    pub(crate) fn fading(&self) -> Fading {
        match self {
            Self::Disk(_) => Fading::None,
            Self::LogDistance(model) => model.fading,
        }
    }

    /// The curves of frames that survive, if that is how reception is decided.
    pub(crate) fn curves(&self) -> Option<Curves> {
        match self {
            Self::LogDistance(model) if model.receiver.reception != Reception::Threshold => {
                Some(Curves::new(model.receiver.reception))
            }
            _ => None,
        }
    }

    /// The ratio of a signal to noise and interference, in dB; none on [`Disk`].
    pub(crate) fn sinr_db(&self, signal_mw: f64, interference_mw: f64) -> Option<f64> {
        match self {
            Self::Disk(_) => None,
            Self::LogDistance(model) => Some(model.receiver.sinr_db(signal_mw, interference_mw)),
        }
    }

    /// What a radio makes of a signal of its channel that has this power after fading.
    pub(crate) fn heard_at(&self, power_mw: f64) -> Heard {
        match self {
            Self::Disk(_) => Heard { locks_on: true, is_sensed: true },
            Self::LogDistance(model) => Heard {
                locks_on: model.receiver.locks_on(power_mw),
                is_sensed: model.receiver.senses(power_mw),
            },
        }
    }

    /// The distance up to which frames at `rate` are received, without shadowing and interference,
    /// in metres.
    pub fn reception_range(&self, rate: Rate) -> f64 {
        match self {
            Self::Disk(disk) => disk.reception,
            Self::LogDistance(model) => model.range(model.receiver.sensitivity_dbm(rate)),
        }
    }

    /// The distance up to which the medium is sensed busy, without shadowing, in metres.
    pub fn carrier_sense_range(&self) -> f64 {
        match self {
            Self::Disk(disk) => disk.carrier_sense,
            Self::LogDistance(model) => model.range(model.receiver.carrier_sense_dbm),
        }
    }
}

impl LogDistance {
    /// The power received over a distance (metres), in dBm.
    pub fn received_dbm(&self, distance: f64, shadowing_db: f64) -> f64 {
        let decades = |from: f64, to: f64| libm::log10(to.max(from) / from);
        let bend = self.breakpoint.map_or(f64::INFINITY, |point| point.distance);
        let near = 10.0 * self.exponent * decades(self.reference_distance, distance.min(bend));
        let far = self.breakpoint.map_or(0.0, |point| 10.0 * point.exponent * decades(bend, distance));
        self.power_dbm - self.reference_loss_db - near - far - shadowing_db
    }

    /// The distance at which `received_dbm` is received without shadowing, in metres; 0 when less
    /// is received even at the reference distance.
    pub fn range(&self, received_dbm: f64) -> f64 {
        let budget_db = self.power_dbm - self.reference_loss_db - received_dbm;
        if budget_db < 0.0 {
            return 0.0;
        }
        let near = self.reference_distance * libm::exp10(budget_db / (10.0 * self.exponent));
        match self.breakpoint.filter(|point| point.distance < near) {
            Some(point) => {
                let left_db = self.received_dbm(point.distance, 0.0) - received_dbm;
                point.distance * libm::exp10(left_db / (10.0 * point.exponent))
            }
            None => near,
        }
    }
}

const METRES_PER_MICROSECOND: f64 = 299.792_458;

/// Path loss over one metre of free space, in dB: 20 lg(4π d f / c) (Friis 1946). 40 dB at 2.4 GHz,
/// 47 dB at 5 GHz.
pub fn free_space_loss_db(frequency_mhz: f64) -> f64 {
    20.0 * libm::log10(4.0 * std::f64::consts::PI * frequency_mhz / METRES_PER_MICROSECOND)
}

#[cfg(test)]
mod tests;
