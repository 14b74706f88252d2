//! Channels, and how much of one is heard on another.

use crate::phy::Standard;
use std::fmt;

/// A channel of a standard.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Channel {
    number: u8,
    centre_mhz: u16,
    spectrum: Spectrum,
}

/// The shape of what is sent.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Spectrum {
    Dsss,
    Ofdm,
}

/// A number that is no channel of the standard.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnknownChannel {
    /// The standard asked for.
    pub standard: Standard,
    /// The number given.
    pub number: u8,
}

impl fmt::Display for UnknownChannel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = match self.standard {
            Standard::Dsss { .. } => "1 to 14",
            Standard::OfdmG => "1 to 13",
            Standard::OfdmA => "36, 40, … 64, 100, 104, … 144, and 149, 153, … 165",
        };
        write!(f, "{} has no channel {}; its channels are {known}", self.standard.name(), self.number)
    }
}

impl std::error::Error for UnknownChannel {}

/// From this distance of the centres on, channels of 2.4 GHz do not overlap (IEEE 802.11-2020
/// §16.3.6.3): what is left is 30 dB lower and is ignored.
const ORTHOGONAL_MHZ: u16 = 25;
/// The raster of the integral below, in MHz: the steps of the DSSS mask fall on it.
const STEP_MHZ: f64 = 0.25;
/// Where the integral ends, on either side of a channel's centre, in MHz.
const REACH_MHZ: f64 = 60.0;

impl Channel {
    /// Channel `number` of a standard.
    ///
    /// # Errors
    /// When the standard has no such channel.
    pub fn new(standard: Standard, number: u8) -> Result<Self, UnknownChannel> {
        let unknown = UnknownChannel { standard, number };
        let centre_mhz = match (standard, number) {
            (Standard::Dsss { .. } | Standard::OfdmG, 1..=13) => 2407 + 5 * u16::from(number),
            (Standard::Dsss { .. }, 14) => 2484,
            // IEEE 802.11-2020 annex E, the operating classes of 20 MHz.
            (Standard::OfdmA, 36..=64 | 100..=144) if number.is_multiple_of(4) => {
                5000 + 5 * u16::from(number)
            }
            (Standard::OfdmA, 149..=165) if number % 4 == 1 => 5000 + 5 * u16::from(number),
            _ => return Err(unknown),
        };
        let spectrum = match standard {
            Standard::Dsss { .. } => Spectrum::Dsss,
            Standard::OfdmA | Standard::OfdmG => Spectrum::Ofdm,
        };
        Ok(Self { number, centre_mhz, spectrum })
    }

    /// Its number.
    pub const fn number(self) -> u8 {
        self.number
    }

    /// Its centre, in MHz.
    pub const fn centre_mhz(self) -> u16 {
        self.centre_mhz
    }

    /// The part of the power sent on this channel that a radio on the other channel lets through: 1
    /// on the same channel, 0 on orthogonal ones, the same in both directions.
    ///
    /// In between it is the spectrum mask passed through a filter of the same shape. That is the
    /// I-factor of Mishra et al., "Exploiting partially overlapping channels in wireless networks"
    /// (IMC 2005), over the mask instead of a spectrum.
    pub fn overlap(self, other: Self) -> f64 {
        let distance = self.centre_mhz.abs_diff(other.centre_mhz);
        if distance == 0 {
            return 1.0;
        }
        if distance >= ORTHOGONAL_MHZ || self.centre_mhz >= 5000 {
            // 20 MHz channels lie side by side at 5 GHz: different ones are orthogonal.
            return 0.0;
        }
        // Two shapes are scaled by what each lets through of itself.
        let through = |a: Spectrum, b: Spectrum, shift: f64| passed(|f| a.mask(f), |f| b.mask(f - shift));
        let alone = through(self.spectrum, self.spectrum, 0.0) * through(other.spectrum, other.spectrum, 0.0);
        through(self.spectrum, other.spectrum, f64::from(distance)) / alone.sqrt()
    }
}

impl Spectrum {
    /// The transmit mask at an offset from the centre (MHz), as a factor of the power density at
    /// the centre.
    fn mask(self, offset_mhz: f64) -> f64 {
        let offset = if offset_mhz < 0.0 { -offset_mhz } else { offset_mhz };
        let dbr = match self {
            // IEEE 802.11-2020 §16.3.7.4: -30 dBr from 11 MHz, -50 dBr from 22 MHz.
            Self::Dsss if offset < 11.0 => 0.0,
            Self::Dsss if offset < 22.0 => -30.0,
            Self::Dsss => -50.0,
            // §17.3.9.3, 20 MHz: 0 dBr to 9 MHz, then straight lines to -20, -28 and -40 dBr at 11,
            // 20 and 30 MHz.
            Self::Ofdm if offset < 9.0 => 0.0,
            Self::Ofdm if offset < 11.0 => -10.0 * (offset - 9.0),
            Self::Ofdm if offset < 20.0 => -20.0 - 8.0 / 9.0 * (offset - 11.0),
            Self::Ofdm if offset < 30.0 => -28.0 - 1.2 * (offset - 20.0),
            Self::Ofdm => -40.0,
        };
        super::decibels::mw_from_dbm(dbr)
    }
}

/// The integral of spectrum times filter, by midpoints.
fn passed(spectrum: impl Fn(f64) -> f64, filter: impl Fn(f64) -> f64) -> f64 {
    let steps = (2.0 * REACH_MHZ / STEP_MHZ) as u32;
    let midpoint = |k: u32| -REACH_MHZ + (f64::from(k) + 0.5) * STEP_MHZ;
    (0..steps).map(midpoint).map(|f| spectrum(f) * filter(f)).sum::<f64>() * STEP_MHZ
}
