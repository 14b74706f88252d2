//! The rates of 802.11a, b and g, and sets of them.

use std::fmt;
use std::str::FromStr;

/// A rate of the DSSS, CCK or OFDM physical layer. Ordered by speed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum Rate {
    /// 1 Mbit/s, DSSS with DBPSK.
    Mbps1,
    /// 2 Mbit/s, DSSS with DQPSK.
    Mbps2,
    /// 5.5 Mbit/s, CCK.
    Mbps5_5,
    /// 6 Mbit/s, OFDM with BPSK 1/2.
    Mbps6,
    /// 9 Mbit/s, OFDM with BPSK 3/4.
    Mbps9,
    /// 11 Mbit/s, CCK.
    Mbps11,
    /// 12 Mbit/s, OFDM with QPSK 1/2.
    Mbps12,
    /// 18 Mbit/s, OFDM with QPSK 3/4.
    Mbps18,
    /// 24 Mbit/s, OFDM with 16-QAM 1/2.
    Mbps24,
    /// 36 Mbit/s, OFDM with 16-QAM 3/4.
    Mbps36,
    /// 48 Mbit/s, OFDM with 64-QAM 2/3.
    Mbps48,
    /// 54 Mbit/s, OFDM with 64-QAM 3/4.
    Mbps54,
}

/// How bits become a signal. A response uses the modulation of its frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Modulation {
    /// Direct sequence spread spectrum and complementary code keying: 802.11b.
    Dsss,
    /// Orthogonal frequency division multiplexing: 802.11a and g.
    Ofdm,
}

impl Rate {
    /// All of them, slowest first; a rate's position is `rate as usize`.
    pub const ALL: [Self; 12] = [
        Self::Mbps1,
        Self::Mbps2,
        Self::Mbps5_5,
        Self::Mbps6,
        Self::Mbps9,
        Self::Mbps11,
        Self::Mbps12,
        Self::Mbps18,
        Self::Mbps24,
        Self::Mbps36,
        Self::Mbps48,
        Self::Mbps54,
    ];

    /// In tenths of a Mbit/s, a whole number for each.
    pub const fn tenths_of_mbps(self) -> u64 {
        [10, 20, 55, 60, 90, 110, 120, 180, 240, 360, 480, 540][self as usize]
    }

    /// In bits per second.
    pub const fn bits_per_sec(self) -> u64 {
        self.tenths_of_mbps() * 100_000
    }

    /// In Mbit/s.
    pub fn as_mbps(self) -> f64 {
        self.tenths_of_mbps() as f64 / 10.0
    }

    /// The rate of this many bits per second, if there is one.
    pub fn from_bits_per_sec(bits: u64) -> Option<Self> {
        Self::ALL.into_iter().find(|rate| rate.bits_per_sec() == bits)
    }

    /// DSSS/CCK or OFDM.
    pub const fn modulation(self) -> Modulation {
        match self {
            Self::Mbps1 | Self::Mbps2 | Self::Mbps5_5 | Self::Mbps11 => Modulation::Dsss,
            _ => Modulation::Ofdm,
        }
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} Mbit/s", self.as_mbps())
    }
}

impl FromStr for Rate {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let rate: ropewalk_units::Rate = text.parse().map_err(|error| format!("{error}"))?;
        Self::from_bits_per_sec(rate.bits_per_sec()).ok_or_else(|| {
            let known: Vec<String> = Self::ALL.iter().map(|rate| rate.as_mbps().to_string()).collect();
            format!("\"{text}\" is no rate of 802.11a, b or g: {} Mbit/s", known.join(", "))
        })
    }
}

/// A set of rates, such as the basic rates every station of a network receives.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct RateSet(u16);

impl RateSet {
    /// No rate.
    pub const EMPTY: Self = Self(0);
    /// The four of 802.11b.
    pub const DSSS: Self = Self::of(&[Rate::Mbps1, Rate::Mbps2, Rate::Mbps5_5, Rate::Mbps11]);
    /// The eight of 802.11a and g.
    pub const OFDM: Self = Self::of(&[
        Rate::Mbps6,
        Rate::Mbps9,
        Rate::Mbps12,
        Rate::Mbps18,
        Rate::Mbps24,
        Rate::Mbps36,
        Rate::Mbps48,
        Rate::Mbps54,
    ]);
    /// What every station of its standard sends and receives: all four of HR/DSSS (IEEE 802.11-2020
    /// §16.1.2), and 6, 12 and 24 Mbit/s of OFDM (§17.1.1).
    pub const MANDATORY: Self = Self::of(&[
        Rate::Mbps1,
        Rate::Mbps2,
        Rate::Mbps5_5,
        Rate::Mbps6,
        Rate::Mbps11,
        Rate::Mbps12,
        Rate::Mbps24,
    ]);

    /// The set of these rates.
    pub const fn of(rates: &[Rate]) -> Self {
        let mut bits = 0;
        let mut k = 0;
        while k < rates.len() {
            bits |= 1 << rates[k] as u16;
            k += 1;
        }
        Self(bits)
    }

    /// All rates of a modulation.
    pub const fn of_modulation(modulation: Modulation) -> Self {
        match modulation {
            Modulation::Dsss => Self::DSSS,
            Modulation::Ofdm => Self::OFDM,
        }
    }

    /// Is the rate in it?
    pub const fn contains(self, rate: Rate) -> bool {
        self.0 >> rate as u16 & 1 == 1
    }

    /// What is in both.
    #[must_use]
    pub const fn intersection(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// What is in the first and not in the second.
    #[must_use]
    pub const fn difference(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Is there no rate in it?
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The fastest that is not faster than `limit`.
    pub fn highest_not_above(self, limit: Rate) -> Option<Rate> {
        let candidates = self.0 & (u16::MAX >> (15 - limit as u16));
        (candidates != 0).then(|| Rate::ALL[candidates.ilog2() as usize])
    }

    /// Its rates, slowest first.
    pub fn iter(self) -> impl Iterator<Item = Rate> {
        Rate::ALL.into_iter().filter(move |&rate| self.contains(rate))
    }
}

impl FromIterator<Rate> for RateSet {
    fn from_iter<I: IntoIterator<Item = Rate>>(rates: I) -> Self {
        Self(rates.into_iter().fold(0, |bits, rate| bits | 1 << rate as u16))
    }
}
