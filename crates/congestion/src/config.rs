//! Which algorithm, and what papers and real stacks choose differently within it.

macro_rules! congestion_control_choice {
    (
        named { $($(#[$doc:meta])* $name:ident: $variant:ident $({ $field:ident: $type:ty = $default:expr })? = $state:ty;)* }
        inner { $($(#[$inner_doc:meta])* $inner_name:ident: $inner:ident
            $({ $inner_field:ident: $inner_type:ty = $inner_default:expr })? = $inner_state:ty;)* }
    ) => {
        /// The window's growth and its fall after a loss.
        #[derive(Clone, Copy, PartialEq, Debug)]
        pub enum CongestionControl {
            $(
                $(#[$doc])*
                $variant $({
                    /// Growth counts octets (RFC 3465, L = 2), so that delayed ACKs do not slow it, or ACKs, as the papers'
                    /// simulators do; or what ends the first slow start before a loss does.
                    $field: $type,
                })?,
            )*
            $(
                $(#[$inner_doc])*
                $inner $({
                    /// RFC 3465 in slow start and in counting acknowledged segments.
                    $inner_field: $inner_type,
                })?,
            )*
        }
    };
}

congestion_controls!(congestion_control_choice);

impl CongestionControl {
    /// Does the window grow by acknowledged octets, not by ACKs?
    pub fn counts_octets(self) -> bool {
        match self {
            Self::NewReno { byte_counting } | Self::Coupled { byte_counting } => byte_counting,
            _ => true,
        }
    }

    /// What ends the first slow start before a loss does.
    pub fn hystart(self) -> HyStart {
        if let Self::Cubic { hystart } = self { hystart } else { HyStart::Off }
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
    /// CUBIC counts whole segments and calculates its growth as often as Linux does.
    pub whole_segments: bool,
    /// After a loss ssthresh is taken from cwnd and in whole segments, otherwise from FlightSize in octets.
    pub ssthresh_from_cwnd: bool,
    /// After every loss ssthresh is so many segments, whatever the algorithm says.
    pub ssthresh_after_loss: Option<u32>,
    /// When slow start counts octets, how many segments one ACK adds at most (RFC 3465 §2.2).
    pub slow_start_limit: Option<u32>,
}
