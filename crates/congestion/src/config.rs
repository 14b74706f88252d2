//! Which algorithm, and what papers and real stacks choose differently within it.

/// The window's growth and its fall after a loss.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum CongestionControl {
    /// RFC 5681 / RFC 6582. `byte_counting` grows by acknowledged octets (RFC 3465, L = 2), so that delayed
    /// ACKs do not slow the growth; otherwise by ACKs, as the papers' simulators do.
    NewReno {
        /// RFC 3465.
        byte_counting: bool,
    },
    /// RFC 9438.
    Cubic {
        /// What ends the first slow start before a loss does.
        hystart: HyStart,
    },
    /// RFC 8257: grows as NewReno and falls by the share of marks. Needs ECN.
    Dctcp,
    /// BBRv3 (draft-ietf-ccwg-bbr). Always paces.
    Bbr,
    /// Slow start as NewReno; the increase in congestion avoidance and the fall after a loss are set from
    /// outside through [`crate::Coupling`] before every ACK and timeout: Multipath TCP's coupled algorithms.
    Coupled {
        /// RFC 3465 in slow start and in counting acknowledged segments.
        byte_counting: bool,
    },
}

impl CongestionControl {
    /// Does it model the path, from rate samples, and set cwnd and the pacing rate whatever recovery says?
    pub fn models_path(self) -> bool {
        matches!(self, Self::Bbr)
    }
}

/// What ends CUBIC's slow start before a loss does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HyStart {
    /// Nothing.
    Off,
    /// As in Linux: the length of ACK trains, and delay.
    Linux,
    /// HyStart++ (RFC 9406): delay, confirmed by a slower growth over some rounds.
    PlusPlus,
}

/// What a controller is made from. Sizes in octets unless said otherwise.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Config {
    /// The algorithm.
    pub congestion_control: CongestionControl,
    /// Packets are paced, whatever the algorithm.
    pub pacing: bool,
    /// What an algorithm draws at random follows from this; it should differ between flows.
    pub seed: u64,
    /// Initial window in segments.
    pub initial_window: u32,
    /// Initial ssthresh; `None` is "arbitrarily high" (RFC 5681 §3.1).
    pub initial_ssthresh: Option<u32>,
    /// CUBIC's Reno-friendly estimate catches up (RFC 9438 §4.3).
    pub cubic_catches_up: bool,
    /// After a loss ssthresh is taken from cwnd and in whole segments, otherwise from FlightSize in octets.
    pub ssthresh_from_cwnd: bool,
    /// After every loss ssthresh is so many segments, whatever the algorithm says.
    pub ssthresh_after_loss: Option<u32>,
    /// When slow start counts octets, how many segments one ACK adds at most (RFC 3465 §2.2).
    pub slow_start_limit: Option<u32>,
}
