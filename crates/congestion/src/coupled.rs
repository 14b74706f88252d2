//! Increase and decrease set from outside: Multipath TCP's coupled algorithms.

use crate::window::Window;

/// What a coupled algorithm, which sees all subflows, lays down for one of them.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Coupling {
    /// Increase of cwnd in segments for each segment acknowledged (for each ACK when not counting octets), in
    /// congestion avoidance. May be negative (OLIA).
    pub increase: f64,
    /// ssthresh after a loss, in segments; at least 1.
    pub ssthresh_after_loss: f64,
}

/// The last [`Coupling`] given.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Coupled {
    byte_counting: bool,
    coupling: Option<Coupling>,
}

impl Coupled {
    pub(crate) fn new(byte_counting: bool) -> Self {
        Self { byte_counting, coupling: None }
    }

    pub(crate) fn set(&mut self, coupling: Coupling) {
        self.coupling = Some(coupling);
    }

    /// Congestion avoidance: one ACK for `octets` new octets. Until something is set, as RFC 5681.
    #[inline(always)]
    pub(crate) fn on_ack(&mut self, window: &mut Window, octets: u32) {
        let smss = f64::from(window.smss);
        let segments = if self.byte_counting { f64::from(octets) / smss } else { 1.0 };
        let increase = self.coupling.map_or_else(|| 1.0 / window.segments(), |coupling| coupling.increase);
        window.shift(increase * segments * smss);
        // A decrease is not to be undone by slow start.
        window.set_ssthresh(window.ssthresh.min(window.cwnd), 1);
    }

    /// The decrease; without a coupling, half of `base` octets (RFC 5681 §3.1 eq. (4)).
    pub(crate) fn on_loss(&mut self, window: &mut Window, base: u32) {
        match self.coupling {
            Some(coupling) => {
                window.set_ssthresh_f64(coupling.ssthresh_after_loss * f64::from(window.smss), 1);
            }
            None => window.set_ssthresh(base / 2, 2),
        }
    }
}
