//! Rates, durations and constants of the DSSS/CCK and OFDM physical layers, and the sizes of MAC
//! frames.
//!
//! IEEE 802.11-2020: clauses 15 and 16 (DSSS, HR/DSSS: 802.11b), 17 (OFDM: 802.11a), 18 (ERP:
//! 802.11g).

mod rate;

pub use rate::{Modulation, Rate, RateSet};

use ropewalk_units::Duration;

/// A data frame's MAC header without `QoS` and without a fourth address, in bytes.
pub const MAC_HEADER: u32 = 24;
/// LLC and SNAP header, in bytes.
pub const LLC_HEADER: u32 = 8;
/// Frame check sequence, in bytes.
pub const FCS: u32 = 4;
/// Everything around a data frame's payload: 36 bytes.
pub const DATA_OVERHEAD: u32 = MAC_HEADER + LLC_HEADER + FCS;
/// An ACK, in bytes, with its check sequence.
pub const ACK: u32 = 14;
/// A CTS, in bytes, with its check sequence.
pub const CTS: u32 = 14;
/// An RTS, in bytes, with its check sequence.
pub const RTS: u32 = 20;

/// The physical layer of a radio.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Standard {
    /// 802.11b: DSSS at 1 and 2, CCK at 5.5 and 11 Mbit/s.
    Dsss {
        /// Preambles of 96 µs instead of 192 µs, except for frames at 1 Mbit/s, which only have the
        /// long one.
        short_preamble: bool,
    },
    /// 802.11a: OFDM from 6 to 54 Mbit/s at 5 GHz.
    OfdmA,
    /// 802.11g without 802.11b stations: OFDM from 6 to 54 Mbit/s at 2.4 GHz.
    OfdmG,
}

/// The constants of the distributed coordination function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Timing {
    /// The slot of the backoff.
    pub slot: Duration,
    /// The time between a frame and its response.
    pub sifs: Duration,
    /// How long the medium must be idle before a station may send or count down.
    pub difs: Duration,
    /// The smallest contention window, in slots.
    pub cw_min: u32,
    /// The largest contention window, in slots.
    pub cw_max: u32,
}

impl Standard {
    /// Slot, inter-frame spaces and contention windows.
    pub const fn timing(self) -> Timing {
        // IEEE 802.11-2020, PHY characteristics: §16.3.3 (HR/DSSS), §17.4.4 (OFDM), §18.5.4 (ERP,
        // short slot as every station is ERP). DIFS is SIFS and two slots, §10.3.7.
        let (slot, sifs, cw_min) = match self {
            Self::Dsss { .. } => (20, 10, 31),
            Self::OfdmA => (9, 16, 15),
            Self::OfdmG => (9, 10, 15),
        };
        Timing {
            slot: Duration::from_micros(slot),
            sifs: Duration::from_micros(sifs),
            difs: Duration::from_micros(sifs + 2 * slot),
            cw_min,
            cw_max: 1023,
        }
    }

    /// The rates it can send at.
    pub const fn rates(self) -> RateSet {
        match self {
            Self::Dsss { .. } => RateSet::DSSS,
            Self::OfdmA | Self::OfdmG => RateSet::OFDM,
        }
    }

    /// The basic rates of a network that names none: those that every station must have. They are
    /// all four of 802.11b, and 6, 12 and 24 Mbit/s of OFDM. 802.11g is modelled without DSSS
    /// stations, so it has no DSSS rates.
    pub const fn basic_rates(self) -> RateSet {
        RateSet::MANDATORY.intersection(self.rates())
    }

    /// The rate every station receives: 1 Mbit/s, or 6 with OFDM.
    pub const fn lowest_rate(self) -> Rate {
        match self {
            Self::Dsss { .. } => Rate::Mbps1,
            Self::OfdmA | Self::OfdmG => Rate::Mbps6,
        }
    }

    /// Its name as the amendments have it: `802.11b`, `802.11a`, `802.11g`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Dsss { .. } => "802.11b",
            Self::OfdmA => "802.11a",
            Self::OfdmG => "802.11g",
        }
    }
}

/// Preamble and PLCP header (SIGNAL included) of a frame at `rate`.
pub const fn preamble_duration(standard: Standard, rate: Rate) -> Duration {
    match standard {
        // §16.2.2.2 and §16.2.2.3: 144 + 48 bits at 1 Mbit/s; 72 bits at 1 Mbit/s and 48 at 2. The
        // short one cannot announce 1 Mbit/s.
        Standard::Dsss { short_preamble } => {
            Duration::from_micros(if short_preamble && !matches!(rate, Rate::Mbps1) { 96 } else { 192 })
        }
        // §17.3.2: two training sequences of 8 µs and the SIGNAL symbol.
        Standard::OfdmA | Standard::OfdmG => Duration::from_micros(20),
    }
}

/// How long a frame of `mpdu_octets` (header and check sequence included) is on the air, preamble
/// included.
///
/// The rate must be one of [`Standard::rates`].
#[inline]
pub fn ppdu_duration(standard: Standard, rate: Rate, mpdu_octets: u32) -> Duration {
    debug_assert!(standard.rates().contains(rate), "{} has no {rate}", standard.name());
    let octets = u64::from(mpdu_octets);
    let (body, extension) = match standard {
        // §16.3.4: the LENGTH field counts whole microseconds, rounded up.
        Standard::Dsss { .. } => ((octets * 80).div_ceil(rate.tenths_of_mbps()), 0),
        // §17.4.3: 16 SERVICE bits and 6 tail bits, in symbols of 4 µs; §18.5.3: an ERP frame is
        // followed by 6 µs.
        Standard::OfdmA => (ofdm_symbols(octets, rate) * 4, 0),
        Standard::OfdmG => (ofdm_symbols(octets, rate) * 4, 6),
    };
    preamble_duration(standard, rate) + Duration::from_micros(body + extension)
}

fn ofdm_symbols(octets: u64, rate: Rate) -> u64 {
    // 4 µs per symbol: a symbol's data bits are 4 per Mbit/s.
    (16 + 8 * octets + 6).div_ceil(rate.tenths_of_mbps() * 4 / 10)
}

/// The rate of an ACK or CTS answering a frame at `data_rate`.
///
/// The highest basic rate of the same modulation that is not above the frame's; without one, the
/// highest mandatory rate of the modulation that is not above it (IEEE 802.11-2020 §10.6.6.5.2).
pub fn control_rate(basic_set: RateSet, data_rate: Rate) -> Rate {
    let modulation = RateSet::of_modulation(data_rate.modulation());
    let highest = |set: RateSet| set.intersection(modulation).highest_not_above(data_rate);
    highest(basic_set).or_else(|| highest(RateSet::MANDATORY)).unwrap_or(data_rate)
}

/// The wait after a frame that could not be decoded, instead of DIFS: room for the ACK it may have
/// asked for, at the lowest rate (IEEE 802.11-2020 §10.3.7).
pub fn eifs(standard: Standard) -> Duration {
    let timing = standard.timing();
    timing.sifs + timing.difs + ppdu_duration(standard, standard.lowest_rate(), ACK)
}

/// How long after the end of its frame a sender waits for the response's preamble: SIFS, a slot,
/// and the time in which a receiver recognises a frame's beginning (IEEE 802.11-2020 §10.3.2.11).
///
/// `response` is the rate the response will come at.
pub fn response_timeout(standard: Standard, response: Rate) -> Duration {
    let timing = standard.timing();
    // aRxPHYStartDelay: the receiver recognises a frame at the end of the PLCP header.
    timing.sifs + timing.slot + preamble_duration(standard, response)
}

#[cfg(test)]
mod tests;
