//! Increase and decrease set from outside: Multipath TCP's coupled algorithms.

use crate::ack_sample::AckSample;
use crate::algorithm::Algorithm;
use crate::config::Config;
use crate::coupling::Coupling;
use crate::window::Window;
use ropewalk_units::Instant;

/// The last [`Coupling`] given.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Coupled {
    byte_counting: bool,
    coupling: Option<Coupling>,
}

impl Algorithm for Coupled {
    // What is laid down stands.
    const ROUNDS_SSTHRESH: bool = false;

    fn new(config: &Config, _now: Instant, _window: &mut Window) -> Self {
        Self { byte_counting: config.congestion_control.counts_octets(), coupling: None }
    }

    fn set_coupling(&mut self, coupling: Coupling) {
        self.coupling = Some(coupling);
    }

    /// Until something is set, as RFC 5681.
    fn avoid(&mut self, window: &mut Window, _now: Instant, octets: u32, sample: &AckSample) {
        if !sample.cwnd_limited {
            return;
        }
        let smss = f64::from(window.smss);
        let segments = if self.byte_counting { f64::from(octets) / smss } else { 1.0 };
        let increase = self.coupling.map_or_else(|| 1.0 / window.segments(), |coupling| coupling.increase);
        window.shift(increase * segments * smss);
        // A decrease is not to be undone by slow start.
        window.set_ssthresh(window.ssthresh.min(window.cwnd), 1);
    }

    /// The decrease; without a coupling, half of `base` octets (RFC 5681 §3.1 eq. (4)).
    fn on_loss(&mut self, window: &mut Window, base: u32) {
        match self.coupling {
            Some(coupling) => {
                window.set_ssthresh_f64(coupling.ssthresh_after_loss * f64::from(window.smss), 1);
            }
            None => window.set_ssthresh(base / 2, 2),
        }
    }
}
