//! What happened, and what timers are for.

use crate::id::PathId;

/// Whether packets get through a path, as far as the sending gateway can know.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum PathState {
    /// There was recent proof that packets get through.
    Up,
    /// Proof is overdue: used only if no path is up.
    Suspected,
    /// No proof for so long that nothing but keepalives is sent, unless every path is down.
    #[default]
    Down,
}

impl PathState {
    /// Its name in outputs.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Up => "up",
            Self::Suspected => "suspected",
            Self::Down => "down",
        }
    }
}

/// Something that the driver may want to know. Nothing else is lost if it does not ask.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Event {
    /// A path changed its state.
    PathStateChanged {
        /// Which.
        path: PathId,
        /// From what.
        from: PathState,
        /// To what.
        to: PathState,
    },
    /// A scheduler changed a path's weight.
    WeightChanged {
        /// Which path's.
        path: PathId,
        /// From what.
        from: u32,
        /// To what.
        to: u32,
    },
    /// The resequencer has given up missing packets. If they still come, they are refused.
    GaveUp {
        /// How many.
        packets: u32,
    },
    /// Every path is down: until one returns, packets go on the one that showed a sign of life
    /// last.
    NoPath,
    /// Waiting packets were dropped, because there was no room or by CoDel.
    Dropped {
        /// How many.
        packets: u32,
    },
    /// Events were lost because nobody asked for them.
    Overrun {
        /// How many.
        events: u32,
    },
}

/// Why [`crate::Endpoint::handle_timeout`] is to be called.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TimerKind {
    /// To report to the peer.
    Report,
    /// To send keepalives.
    Keepalive,
    /// To send what a pacer has held back.
    Pacing,
    /// To suspect a path or declare it down.
    PathState,
    /// To give up on a missing packet.
    Resequencing,
}
