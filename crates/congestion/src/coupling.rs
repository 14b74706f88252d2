//! Increase and decrease set from outside.

/// What a coupled algorithm, which sees all subflows, lays down for one of them.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Coupling {
    /// Increase of cwnd in segments for each segment acknowledged (for each ACK when not counting octets), in
    /// congestion avoidance. May be negative (OLIA).
    pub increase: f64,
    /// ssthresh after a loss, in segments; at least 1.
    pub ssthresh_after_loss: f64,
}
