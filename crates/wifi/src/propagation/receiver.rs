//! What a radio makes of a received power.

use super::decibels::{dbm_from_mw, mw_from_dbm};
use super::error_rates::{Reception, needed_db};
use crate::phy::{Rate, Standard};

/// Noise and thresholds of a radio.
#[derive(Clone, PartialEq, Debug)]
pub struct Receiver {
    /// Thermal noise and the receiver's own, in dBm.
    pub noise_dbm: f64,
    /// From here on the medium is busy, in dBm.
    pub carrier_sense_dbm: f64,
    /// The signal-to-interference-and-noise ratio a frame needs, in dB, by `Rate as usize`.
    pub sinr_db: [f64; Rate::ALL.len()],
    /// Whether that ratio decides, or the part of the frames that survives.
    pub reception: Reception,
}

/// At a rate's sensitivity this part of the frames of 1000 octets survives (IEEE 802.11-2020
/// §17.3.10.2).
const SENSITIVITY: f64 = 0.9;

impl Receiver {
    /// A typical card of its time, for when nothing was measured.
    ///
    /// DSSS/CCK: the ORiNOCO PC Card's data sheet, -94 dBm and 4 dB at 1 Mbit/s up to -82 dBm and
    /// 16 dB at 11 Mbit/s. OFDM: thermal noise in 20 MHz and a noise figure of 7 dB. The ratios
    /// follow from the sensitivities that IEEE 802.11-2020 table 17-18 asks for. These allow for a
    /// noise figure of 10 dB and 5 dB of implementation losses. Carrier is sensed where a frame at
    /// the lowest rate could be received, and from -82 dBm with OFDM (§17.3.10.6).
    pub fn typical(standard: Standard) -> Self {
        let (noise_dbm, carrier_sense_dbm) = match standard {
            Standard::Dsss { .. } => (-98.0, -94.0),
            Standard::OfdmA | Standard::OfdmG => (-94.0, -82.0),
        };
        let sinr_db = Rate::ALL.map(|rate| match rate {
            Rate::Mbps1 | Rate::Mbps6 => 4.0,
            Rate::Mbps9 => 5.0,
            Rate::Mbps2 | Rate::Mbps12 => 7.0,
            Rate::Mbps18 => 9.0,
            Rate::Mbps5_5 => 11.0,
            Rate::Mbps24 => 12.0,
            Rate::Mbps11 | Rate::Mbps36 => 16.0,
            Rate::Mbps48 => 20.0,
            Rate::Mbps54 => 21.0,
        });
        Self { noise_dbm, carrier_sense_dbm, sinr_db, reception: Reception::Threshold }
    }

    /// The same receiver, with frames that survive by error rates. Its ratios become those at which
    /// nine in ten frames of 1000 octets survive. Routes and rates are chosen by these ratios, and
    /// preambles recognised.
    #[must_use]
    pub fn with(self, reception: Reception) -> Self {
        if reception == Reception::Threshold {
            return self;
        }
        let sinr_db = Rate::ALL.map(|rate| needed_db(reception, rate, SENSITIVITY));
        Self { sinr_db, reception, ..self }
    }

    /// The weakest power at which a frame at `rate` is received without interference, in dBm.
    pub fn sensitivity_dbm(&self, rate: Rate) -> f64 {
        self.noise_dbm + self.sinr_db[rate as usize]
    }

    /// Is the preamble recognised? It is sent like the slowest frames, so what suffices for any
    /// rate does for it.
    pub fn locks_on(&self, power_mw: f64) -> bool {
        let lowest = self.sinr_db.into_iter().fold(f64::INFINITY, f64::min);
        dbm_from_mw(power_mw) >= self.noise_dbm + lowest
    }

    /// Is the medium busy at this power?
    pub fn senses(&self, power_mw: f64) -> bool {
        dbm_from_mw(power_mw) >= self.carrier_sense_dbm
    }

    /// Is a frame received at this power, with interference of this power in all?
    pub fn receives(&self, rate: Rate, signal_mw: f64, interference_mw: f64) -> bool {
        self.sinr_db(signal_mw, interference_mw) >= self.sinr_db[rate as usize]
    }

    /// The signal-to-interference-and-noise ratio, in dB.
    pub fn sinr_db(&self, signal_mw: f64, interference_mw: f64) -> f64 {
        dbm_from_mw(signal_mw / (mw_from_dbm(self.noise_dbm) + interference_mw))
    }
}
