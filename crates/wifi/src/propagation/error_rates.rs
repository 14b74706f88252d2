//! How many frames survive at a signal-to-interference-and-noise ratio.
//!
//! A frame of *n* bits survives with (1 − p)ⁿ, where *p* is the error rate of a bit after decoding.
//! DSSS and CCK have one curve. For OFDM there are two published ones. They differ in how they
//! bound the errors that the decoder leaves.

use crate::phy::Rate;

/// What decides whether a frame survives noise and interference.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reception {
    /// A ratio for each rate, see [`super::Receiver::sinr_db`]: above it every frame is received,
    /// below it none.
    Threshold,
    /// Error rates. OFDM as in Pei and Henderson, "Validation of OFDM error rate model in ns-3"
    /// (2010).
    Nist,
    /// Error rates. OFDM as in Lacage and Henderson, "Yet Another Network Simulator" (2006).
    Yans,
}

/// Bandwidth of DSSS and CCK. Their ratios are of signal and noise within it.
const DSSS_MHZ: f64 = 22.0;
/// Symbols of CCK per microsecond.
const CCK_SYMBOLS: f64 = 1.375;
/// Bandwidth of OFDM.
const OFDM_MHZ: f64 = 20.0;

/// The logarithm of the probability that one bit survives at this ratio (a factor, not dB).
fn ln_bit_survives(reception: Reception, rate: Rate, sinr: f64) -> f64 {
    let wrong = |p: f64| libm::log1p(-p.min(1.0));
    match rate {
        // DBPSK.
        Rate::Mbps1 => wrong(0.5 * libm::exp(-sinr * DSSS_MHZ)),
        Rate::Mbps2 => wrong(dqpsk(sinr * DSSS_MHZ / 2.0)),
        Rate::Mbps5_5 => wrong(cck_16(sinr * DSSS_MHZ / CCK_SYMBOLS / 2.0)) / 4.0,
        Rate::Mbps11 => 2.0 * wrong(cck_16(sinr * DSSS_MHZ / CCK_SYMBOLS / 4.0)) / 8.0,
        _ => wrong(match reception {
            Reception::Yans => yans(Ofdm::of(rate), sinr),
            Reception::Nist | Reception::Threshold => nist(Ofdm::of(rate), sinr),
        }),
    }
}

/// Bit errors of DQPSK with Gray's code (Ferrari and Corazza, "Tight bounds and accurate
/// approximations for DQPSK transmission bit error rate", 2004). Below 0 dB, where the
/// approximation leaves its range, at most one half.
fn dqpsk(ebn0: f64) -> f64 {
    let root = std::f64::consts::SQRT_2;
    let factor = (root + 1.0) / (8.0 * std::f64::consts::PI * root).sqrt();
    (factor / ebn0.sqrt() * libm::exp(-(2.0 - root) * ebn0)).min(0.5)
}

/// Symbol errors of sixteen biorthogonal signals (Pursley and Royster, "Properties and performance
/// of the IEEE 802.11b complementary-code-key signal sets", 2009, equation 18). The signals of
/// 11 Mbit/s are two such sets with half of the energy each (equation 17).
fn cck_16(energy: f64) -> f64 {
    const STEPS: u32 = 400;
    const BEYOND: f64 = 8.0;
    let beta = (2.0 * energy).sqrt();
    let right = |x: f64| {
        let beside = libm::erf((x + beta) / std::f64::consts::SQRT_2);
        libm::pow(beside, 7.0) * libm::exp(-x * x / 2.0) / (2.0 * std::f64::consts::PI).sqrt()
    };
    let begin = -beta.min(BEYOND);
    1.0 - simpson(right, begin, BEYOND, STEPS)
}

fn simpson(f: impl Fn(f64) -> f64, begin: f64, end: f64, steps: u32) -> f64 {
    let width = (end - begin) / f64::from(steps);
    let at = |k: u32| f(begin + f64::from(k) * width);
    let inner = (1..steps).map(|k| if k % 2 == 1 { 4.0 * at(k) } else { 2.0 * at(k) });
    (at(0) + inner.sum::<f64>() + at(steps)) * width / 3.0
}

/// Constellation and convolutional code of a rate of OFDM.
struct Ofdm {
    /// Bits of a subcarrier's symbol.
    bits: u32,
    /// The coding rate is this over the next whole number.
    code: usize,
    /// Bits on the air per microsecond, those of the code among them.
    coded_mbps: f64,
}

impl Ofdm {
    fn of(rate: Rate) -> Self {
        let (bits, code) = match rate {
            Rate::Mbps9 => (1, 3),
            Rate::Mbps12 => (2, 1),
            Rate::Mbps18 => (2, 3),
            Rate::Mbps24 => (4, 1),
            Rate::Mbps36 => (4, 3),
            Rate::Mbps48 => (6, 2),
            Rate::Mbps54 => (6, 3),
            _ => (1, 1),
        };
        Self { bits, code, coded_mbps: 12.0 * f64::from(bits) }
    }
}

/// The weights of a code: for each distance, from the free distance on, the wrong bits of all paths
/// at that distance.
struct Spectrum {
    free: u32,
    /// From one distance to the next.
    step: u32,
    bits: &'static [f64],
}

/// The code of constraint length 7 with the generators 133 and 171, and its punctured ones (Haccoun
/// and Bégin, "High-rate punctured convolutional codes for Viterbi and sequential decoding", 1989;
/// Frenger, Orten, Ottosson, "Multi-rate convolutional codes", 1998).
const SPECTRA: [Spectrum; 3] = [
    Spectrum {
        free: 10,
        step: 2,
        bits: &[
            36.0,
            211.0,
            1_404.0,
            11_633.0,
            77_433.0,
            502_690.0,
            3_322_763.0,
            21_292_910.0,
            134_365_911.0,
        ],
    },
    Spectrum {
        free: 6,
        step: 1,
        bits: &[3.0, 70.0, 285.0, 1_276.0, 6_160.0, 27_128.0, 117_019.0, 498_860.0, 2_103_891.0, 8_784_123.0],
    },
    Spectrum {
        free: 5,
        step: 1,
        bits: &[
            42.0,
            201.0,
            1_492.0,
            10_469.0,
            62_935.0,
            379_644.0,
            2_253_373.0,
            13_073_811.0,
            75_152_755.0,
            428_005_675.0,
        ],
    },
];

/// The error rate of a bit: the union of Chernoff's bounds over all paths of the code's spectrum.
fn nist(ofdm: Ofdm, snr: f64) -> f64 {
    let raw = match ofdm.bits {
        1 => 0.5 * libm::erfc(snr.sqrt()),
        2 => 0.5 * libm::erfc((snr / 2.0).sqrt()),
        4 => 0.375 * libm::erfc((snr / 10.0).sqrt()),
        _ => 7.0 / 24.0 * libm::erfc((snr / 42.0).sqrt()),
    };
    let bound = (4.0 * raw * (1.0 - raw)).sqrt();
    let spectrum = &SPECTRA[ofdm.code - 1];
    let distances = (spectrum.free..).step_by(spectrum.step as usize);
    let paths = spectrum.bits.iter().zip(distances);
    let wrong: f64 = paths.map(|(bits, distance)| bits * libm::pow(bound, f64::from(distance))).sum();
    (wrong / (2.0 * ofdm.code as f64)).min(1.0)
}

/// The error rate of a bit: the first paths of the code, each by the exact probability of being
/// taken for the right one.
fn yans(ofdm: Ofdm, snr: f64) -> f64 {
    let ebn0 = snr * OFDM_MHZ / ofdm.coded_mbps;
    let raw = match ofdm.bits {
        1 => 0.5 * libm::erfc(ebn0.sqrt()),
        bits => {
            let points = f64::from(1_u32 << bits);
            let z = (1.5 * f64::from(bits) * ebn0 / (points - 1.0)).sqrt();
            let one = (1.0 - 1.0 / points.sqrt()) * libm::erfc(z);
            (1.0 - (1.0 - one) * (1.0 - one)) / f64::from(bits)
        }
    };
    // The free distance, the number of paths at it, and the number of paths that are one farther.
    let (free, first, second) = match (ofdm.code, ofdm.bits) {
        (1, _) => (10, 11.0, 0.0),
        (2, _) => (6, 1.0, 16.0),
        (_, 1) => (5, 8.0, 0.0),
        _ => (5, 8.0, 31.0),
    };
    (first * taken_for_another(raw, free) + second * taken_for_another(raw, free + 1)).min(1.0)
}

/// The probability that more than half of the `distance` places in which two paths differ are
/// wrong. Exactly half of them count every second time.
fn taken_for_another(p: f64, distance: u32) -> f64 {
    let of = |wrong: u32| {
        binomial(distance, wrong)
            * libm::pow(p, f64::from(wrong))
            * libm::pow(1.0 - p, f64::from(distance - wrong))
    };
    let half = if distance.is_multiple_of(2) { 0.5 * of(distance / 2) } else { 0.0 };
    half + (distance / 2 + 1..=distance).map(of).sum::<f64>()
}

fn binomial(n: u32, k: u32) -> f64 {
    (1..=k).fold(1.0, |product, i| product * f64::from(n - k + i) / f64::from(i))
}

/// The curves of all rates, worked out once.
#[derive(Clone, Debug)]
pub(crate) struct Curves {
    ln_bit_survives: Vec<[f64; Rate::ALL.len()]>,
}

const LOWEST_DB: f64 = -20.0;
const HIGHEST_DB: f64 = 40.0;
const PER_DB: f64 = 20.0;

impl Curves {
    pub(crate) fn new(reception: Reception) -> Self {
        let points = ((HIGHEST_DB - LOWEST_DB) * PER_DB) as u32;
        let at = |k: u32| {
            let sinr = libm::exp10((LOWEST_DB + f64::from(k) / PER_DB) / 10.0);
            Rate::ALL.map(|rate| ln_bit_survives(reception, rate, sinr))
        };
        Self { ln_bit_survives: (0..=points).map(at).collect() }
    }

    /// The probability that a frame of `octets` survives.
    pub(crate) fn survives(&self, rate: Rate, octets: u32, sinr_db: f64) -> f64 {
        let place = (sinr_db.clamp(LOWEST_DB, HIGHEST_DB) - LOWEST_DB) * PER_DB;
        let below = (place as usize).min(self.ln_bit_survives.len() - 2);
        let part = place - below as f64;
        let [low, high] = [below, below + 1].map(|k| self.ln_bit_survives[k][rate as usize]);
        // At low ratios every bit is lost: the logarithm is minus infinity and cannot be
        // interpolated.
        let one = if low.is_finite() { low + part * (high - low) } else { low };
        libm::exp(8.0 * f64::from(octets) * one)
    }
}

/// The ratio in dB at which this part of the frames of 1000 octets survives.
pub(super) fn needed_db(reception: Reception, rate: Rate, part: f64) -> f64 {
    let wanted = libm::log(part) / 8_000.0;
    let (mut low, mut high) = (LOWEST_DB, HIGHEST_DB);
    for _ in 0..50 {
        let middle = 0.5 * (low + high);
        if ln_bit_survives(reception, rate, libm::exp10(middle / 10.0)) < wanted {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

#[cfg(test)]
mod tests;
