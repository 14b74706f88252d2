//! What tells a controller or a measurement how to take a number.

/// How the peer says what has arrived.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Acknowledgements {
    /// By ranges (SACK): all that it lacks is known.
    Selective,
    /// Up to the first hole.
    Cumulative,
}

/// What kept the sender from sending more.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LimitedBy {
    /// The congestion window: what is delivered tells the path's rate.
    Window,
    /// The application had no more: the path may be faster.
    Application,
}

/// A lost packet's place among those lost: neighbours make one range.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LossRange {
    /// The packet before this one was not lost.
    Begins,
    /// It was lost, too.
    GoesOn,
}
