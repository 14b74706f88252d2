//! What a wireless network is made of, and what is refused.

mod check;

pub(crate) use check::check;
pub use check::check_propagation;

use crate::phy::{Rate, RateSet, Standard};
use crate::position::Position;
use crate::propagation::Propagation;
use ropewalk_units::Duration;
use std::fmt;

/// A station, in the order of [`NetworkConfig::stations`], from 0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct StationId(pub u32);

/// A wireless network.
#[derive(Clone, PartialEq, Debug)]
pub struct NetworkConfig {
    /// How signals weaken, and what becomes of frames that overlap.
    pub propagation: Propagation,
    /// Signals travel at the speed of light; otherwise they arrive as they leave. At 25 m the
    /// difference is 83 ns.
    pub propagation_delay: bool,
    /// A receiver that has locked on to a frame leaves it for a later one that it can decode over
    /// the first's interference. Of use with [`Propagation::LogDistance`] only.
    pub recapture: bool,
    /// The stations; their names are different.
    pub stations: Vec<StationConfig>,
}

/// A station: a host, a router, or a relay that is no node of the world.
#[derive(Clone, PartialEq, Debug)]
pub struct StationConfig {
    /// Names its random streams.
    pub name: String,
    /// Where it is at first.
    pub position: Position,
    /// Its radios, on different channels, at least one. Each has its own MAC and its own queue.
    pub radios: Vec<RadioConfig>,
}

/// A radio.
#[derive(Clone, PartialEq, Debug)]
pub struct RadioConfig {
    /// The number of its channel.
    pub channel: u8,
    /// Its physical layer and its MAC.
    pub mac: MacConfig,
    /// Its transmitted power, antenna gains included, in dBm; `None`: that of
    /// [`crate::propagation::LogDistance`]. Without meaning on [`crate::propagation::Disk`].
    pub power_dbm: Option<f64>,
}

/// Passes the settings of a MAC that are keys of scenario files to the macro `$declare`: for each
/// its documentation, its name, its type, its type in files (`as`), and its default. A new one
/// needs a line here, and the code that uses it.
#[macro_export]
macro_rules! mac_keys {
    ($declare:path) => {
        $declare! {
            /// Data frames whose MPDU (the IP packet and 36 octets) is longer than this are sent after RTS and CTS, and
            /// count their failures against the long retry limit (default: none is).
            rts_threshold: Option<u32> as BufferSize = None;
            /// How often a frame not longer than the RTS threshold is sent at most, and an RTS for a longer one: 7 in
            /// the standard.
            short_retry_limit: u32 = 7;
            /// How often a frame longer than the RTS threshold is sent at most: 4 in the standard.
            long_retry_limit: u32 = 4;
            /// The least contention window in slots (default: the standard's).
            cw_min: Option<u32> as u32 = None;
            /// The greatest contention window in slots (default: the standard's).
            cw_max: Option<u32> as u32 = None;
            /// How long after the end of its frame a sender gives up on an ACK or CTS (default: SIFS, a slot and the
            /// preamble, IEEE 802.11-2020 §10.3.2.11). From then on backoff slots count.
            response_timeout: Option<Duration> as Time = None;
            /// Whether a frame that is queued in the very instant in which a reception ends takes a backoff.
            access_after_reception: AccessAfterReception as AccessName = AccessAfterReception::Backoff;
            /// How many frames wait, the one in service not among them.
            queue: Option<u32> as Limit = Some(1_000);
            /// How long a frame may wait, its service included (default: for ever). Looked at when its service begins
            /// and before each attempt.
            lifetime: Option<Duration> as Time = None;
        }
    };
}

macro_rules! mac_config {
    ($($(#[$doc:meta])* $key:ident: $type:ty $(as $form:ident)? = $default:expr;)*) => {
        /// Physical layer and MAC of a radio. `None` stands for what the documentation calls the
        /// default.
        #[derive(Clone, PartialEq, Debug)]
        pub struct MacConfig {
            /// The physical layer.
            pub standard: Standard,
            /// The rate of data frames.
            pub rate: RateControl,
            /// The rates every station receives: what ACK, CTS and RTS are sent at.
            pub basic_rates: RateSet,
            /// The rate of ACK, CTS and RTS, whatever the data rate; `None`: the standard's rule
            /// over the basic rates.
            pub control_rate: Option<Rate>,
            /// The rate of broadcasts; `None`: the lowest basic rate.
            pub broadcast_rate: Option<Rate>,
            $($(#[$doc])* pub $key: $type,)*
        }

        impl MacConfig {
            /// The standard's own settings with data at a fixed rate: the mandatory rates basic,
            /// and the defaults.
            pub const fn new(standard: Standard, rate: Rate) -> Self {
                Self {
                    standard,
                    rate: RateControl::Fixed(rate),
                    basic_rates: standard.basic_rates(),
                    control_rate: None,
                    broadcast_rate: None,
                    $($key: $default,)*
                }
            }
        }
    };
}

mac_keys!(mac_config);

/// Who chooses the rate of data frames.
#[derive(Clone, PartialEq, Debug)]
pub enum RateControl {
    /// Always this one.
    Fixed(Rate),
    /// [`crate::minstrel::Minstrel`], for each neighbour.
    Minstrel {
        /// The rates it chooses from.
        rates: RateSet,
    },
}

/// Whether a frame takes a backoff if it is queued in the very instant in which a reception ends.
/// The answer of TCP to a segment is such a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AccessAfterReception {
    /// It does: the medium was busy until then (IEEE 802.11-2020 §10.3.4.2).
    Backoff,
    /// It does not: it is sent as soon as the medium has been idle for DIFS, as in ns-3.
    Immediate,
}

/// Where the MAC of ns-2 departs from the standard, rule by rule, for comparison with what was
/// measured with it; see [`crate::Network::follow_ns2`]. None by default.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Ns2Rules {
    /// A radio that senses anything, however weak, cannot lock on to what comes later, however
    /// strong.
    pub energy_blocks: bool,
    /// EIFS is kept after everything that was sensed and not decoded, and as a NAV: no CTS is sent
    /// during it, DIFS follows it, and no decoded frame ends it.
    pub eifs_after_energy: bool,
    /// A CTS is sent only if the medium is physically idle when it is due.
    pub cts_needs_silence: bool,
}

/// A way through the network, seen by the world as one link between its two ends.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RouteConfig {
    /// From one end to the other, at least two, none twice.
    pub stations: Vec<StationId>,
    /// The number of the channel of each hop; a single one holds for all. The way back is on the
    /// same.
    pub channels: Vec<u8>,
}

/// A configuration that cannot be used.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ConfigError {
    /// Where: a dotted path like `stations.r1.radios[0].channel`, or `route`.
    pub key: String,
    /// What is wrong, and what would be right.
    pub problem: String,
}

impl ConfigError {
    pub(crate) fn new(key: impl Into<String>, problem: impl Into<String>) -> Self {
        Self { key: key.into(), problem: problem.into() }
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.key, self.problem)
    }
}

impl std::error::Error for ConfigError {}
