//! What a congestion control is. What most of them have in common is the default.

use crate::ack_sample::AckSample;
use crate::config::Config;
use crate::coupling::Coupling;
use crate::hystart::Growth;
use crate::rate_sample::{LostPacket, RateSample};
use crate::signals::Acknowledgements;
use crate::window::Window;
use ropewalk_units::{Duration, Instant, Rate};

/// One algorithm with its state. It moves the window that it is given.
pub(crate) trait Algorithm: Clone {
    /// It models the path: it is given a rate sample with every ACK and keeps cwnd to itself, in recovery too.
    const MODELS_PATH: bool = false;
    /// With [`Config::ssthresh_from_cwnd`] ssthresh is rounded to whole segments after a loss.
    const ROUNDS_SSTHRESH: bool = true;

    /// At the start of a connection.
    fn new(config: &Config, now: Instant, window: &mut Window) -> Self;

    /// An ACK of new data, whatever the window does.
    fn observe(&mut self, _now: Instant, _sample: &AckSample) {}

    /// Slow start: how one ACK lets the window grow.
    fn slow_start(&mut self, _now: Instant, _sample: &AckSample, _window: &Window) -> Growth {
        Growth::Free
    }

    /// Congestion avoidance: one ACK for `octets` new octets.
    fn avoid(&mut self, _window: &mut Window, _now: Instant, _octets: u32, _sample: &AckSample) {}

    /// Slow start ended without a loss.
    fn on_slow_start_exit(&mut self, _window: &Window) {}

    /// A loss was found: sets ssthresh. `base` octets are what the decrease is a share of.
    fn on_loss(&mut self, window: &mut Window, base: u32);

    /// A congestion mark came back: sets ssthresh.
    fn on_ecn(&mut self, window: &mut Window, base: u32) {
        self.on_loss(window, base);
    }

    /// The retransmission timer expired for the first time in a series: sets ssthresh. Of a model: `base` octets are deemed
    /// to be in the network.
    fn on_timeout(&mut self, window: &mut Window, base: u32) {
        self.on_loss(window, base);
    }

    /// Recovery is over and has set cwnd.
    fn exit_recovery(&mut self, _window: &mut Window) {}

    /// The window was set from outside.
    fn on_window_set(&mut self) {}

    /// Nothing was sent for `idle`.
    fn on_idle(&mut self, _idle: Duration) {}

    /// Data are about to leave while nothing is outstanding, `idle` after the last.
    fn on_transmit_start(&mut self, _now: Instant, _idle: Duration) {}

    /// The last reduction was unnecessary: the state as it was `before`.
    fn restore(&mut self, before: &Self) {
        self.clone_from(before);
    }

    /// An ACK with the mark's echo acknowledges `octets`, of `acked` so far; `sent` are sent.
    fn on_marked(&mut self, _octets: u32, _acked: u64, _sent: u64) {}

    /// The averaged share of marks, if it keeps one.
    fn alpha(&self) -> Option<f64> {
        None
    }

    /// Increase and decrease set from outside.
    fn set_coupling(&mut self, _coupling: Coupling) {}

    /// Of a model: one ACK with its rate sample.
    fn on_sample(&mut self, _now: Instant, _sample: &RateSample, _window: &mut Window) {}

    /// Of a model: a packet was deemed lost.
    fn on_lost(&mut self, _now: Instant, _packet: &LostPacket, _window: &mut Window) {}

    /// Of a model: a packet is about to leave, while nothing is on its way and the application had had nothing to send.
    fn on_restart_from_idle(&mut self, _now: Instant, _window: &mut Window) {}

    /// Of a model: what the handshake told.
    fn on_established(&mut self, _srtt: Option<Duration>, _acks: Acknowledgements, _window: &Window) {}

    /// Of a model: the recovery was not needed.
    fn on_spurious_recovery(&mut self, _window: &mut Window) {}

    /// Does a model send less than it could?
    fn limits_itself(&self) -> bool {
        false
    }

    /// How fast a model wants packets to leave.
    fn pacing_rate(&self) -> Option<Rate> {
        None
    }

    /// How much a model lets leave together.
    fn send_quantum(&self) -> Option<u32> {
        None
    }

    /// The bandwidth that a model estimates.
    fn bandwidth(&self) -> Option<Rate> {
        None
    }
}
