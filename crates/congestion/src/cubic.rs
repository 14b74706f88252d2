//! CUBIC (RFC 9438). Windows in segments, time in seconds, as the RFC writes them.

mod linux;

use crate::ack_sample::AckSample;
use crate::algorithm::Algorithm;
use crate::config::{Config, HyStart};
use crate::hystart::{Growth, SlowStartExit};
use crate::window::Window;
use linux::Segments;
use ropewalk_units::{Duration, Instant};

/// RFC 9438 §5.1, in segments per cubed second.
const C: f64 = 0.4;
/// RFC 9438 §4.6.
const BETA: f64 = 0.7;
/// RFC 9438 §4.3: the additive increase with which a decrease of 0.7 takes Reno's share.
const ALPHA: f64 = 3.0 * (1.0 - BETA) / (1.0 + BETA);

/// What CUBIC remembers between losses.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Cubic {
    /// The window at the last loss (lowered by fast convergence); 0 when the plateau is to be where congestion
    /// avoidance begins.
    w_max: f64,
    /// The window when ssthresh was last set.
    cwnd_prior: f64,
    /// Whether the Reno-friendly estimate catches up as Reno beyond `cwnd_prior`.
    catches_up: bool,
    epoch: Option<Epoch>,
}

/// One stage of congestion avoidance.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Epoch {
    start: Instant,
    /// Since when the window has not been what limits the sender.
    unused_since: Option<Instant>,
    k: f64,
    w_max: f64,
    w_est: f64,
}

impl Cubic {
    pub(crate) fn new(catches_up: bool) -> Self {
        Self { w_max: 0.0, cwnd_prior: 0.0, catches_up, epoch: None }
    }

    /// RFC 9438 §4.2: congestion avoidance begins, with a decrease before it or without.
    fn begin(&self, now: Instant, cwnd: f64) -> Epoch {
        let (k, w_max) =
            if self.w_max > cwnd { (libm::cbrt((self.w_max - cwnd) / C), self.w_max) } else { (0.0, cwnd) };
        Epoch { start: now, unused_since: None, k, w_max, w_est: cwnd }
    }

    /// Congestion avoidance: one ACK for `octets` new octets.
    pub(crate) fn on_ack(&mut self, window: &mut Window, now: Instant, octets: u32, sample: &AckSample) {
        let cwnd = window.segments();
        let mut epoch = self.epoch.unwrap_or_else(|| self.begin(now, cwnd));
        if epoch.is_used(now, sample.cwnd_limited) {
            let acked = f64::from(octets) / f64::from(window.smss);
            // RFC 9438 §4.3: once back at the window of the last decrease, grow as Reno does.
            let alpha = if self.catches_up && epoch.w_est >= self.cwnd_prior { 1.0 } else { ALPHA };
            let step = epoch.step(now, cwnd, acked, alpha, sample.srtt);
            window.shift(step * f64::from(window.smss));
        }
        self.epoch = Some(epoch);
    }

    /// RFC 9438 §4.6 and §4.7: the decrease. `base` is the window in octets that it takes 0.7 of.
    pub(crate) fn on_loss(&mut self, window: &mut Window, base: u32) {
        let cwnd = window.segments();
        // RFC 9438 §4.7: a flow that did not get back to its last plateau leaves room for others.
        self.w_max = if cwnd < self.w_max { cwnd * (1.0 + BETA) / 2.0 } else { cwnd };
        self.decrease(window, base);
    }

    /// RFC 9438 §4.8: after a timeout the plateau is where congestion avoidance begins.
    pub(crate) fn on_timeout(&mut self, window: &mut Window, base: u32) {
        self.w_max = 0.0;
        self.decrease(window, base);
    }

    fn decrease(&mut self, window: &mut Window, base: u32) {
        self.cwnd_prior = window.segments();
        self.epoch = None;
        window.set_ssthresh_f64(f64::from(base) * BETA, 2);
    }

    /// Slow start ended without a loss (RFC 9438 §4.10): K = 0 and the plateau here.
    pub(crate) fn on_slow_start_exit(&mut self, window: &Window) {
        self.w_max = 0.0;
        self.cwnd_prior = window.segments();
        self.epoch = None;
    }

    /// RFC 9438 §5.8: time in which nothing was sent is no part of the stage. Time in which the window was not used
    /// is taken out once it is used again, and the idle time is within it.
    pub(crate) fn on_idle(&mut self, idle: Duration) {
        if let Some(epoch) = self.epoch.as_mut().filter(|epoch| epoch.unused_since.is_none()) {
            epoch.start = epoch.start.saturating_add(idle);
        }
    }

    /// The window was set from outside: another stage begins at it.
    pub(crate) fn reset_epoch(&mut self) {
        self.epoch = None;
    }
}

/// How it counts.
#[derive(Clone, Copy, Debug)]
enum Form {
    /// As the RFC.
    Rfc(Cubic),
    /// As Linux.
    Linux(Segments),
}

/// CUBIC, and what ends its slow start before a loss does.
#[derive(Clone, Debug)]
pub(crate) struct CubicControl {
    form: Form,
    hystart: Option<SlowStartExit>,
    /// HyStart++ is for the initial slow start only (RFC 9406 §4.3), Linux's HyStart also for those after timeouts.
    after_timeout: HyStart,
    paced: bool,
}

fn set_ssthresh_segments(window: &mut Window, segments: u64) {
    let octets = segments.saturating_mul(u64::from(window.smss));
    window.set_ssthresh(u32::try_from(octets).unwrap_or(u32::MAX), 2);
}

impl Algorithm for CubicControl {
    fn new(config: &Config, _now: Instant, _window: &mut Window) -> Self {
        let version = config.congestion_control.hystart();
        Self {
            form: if config.whole_segments {
                Form::Linux(Segments::new(config.cubic_catches_up))
            } else {
                Form::Rfc(Cubic::new(config.cubic_catches_up))
            },
            hystart: SlowStartExit::new(version, config.pacing),
            after_timeout: if version == HyStart::Linux { version } else { HyStart::Off },
            paced: config.pacing,
        }
    }

    fn observe(&mut self, now: Instant, sample: &AckSample) {
        if let Form::Linux(segments) = &mut self.form {
            segments.observe(now, sample.latest_rtt);
        }
    }

    fn slow_start(&mut self, now: Instant, sample: &AckSample, window: &Window) -> Growth {
        let segments = window.cwnd / window.smss;
        self.hystart.as_mut().map_or(Growth::Free, |hystart| hystart.on_ack(now, sample, segments))
    }

    fn avoid(&mut self, window: &mut Window, now: Instant, octets: u32, sample: &AckSample) {
        match &mut self.form {
            Form::Rfc(cubic) => cubic.on_ack(window, now, octets, sample),
            Form::Linux(segments) if sample.cwnd_limited => segments.on_ack(window, now, octets),
            Form::Linux(_) => {}
        }
    }

    fn on_slow_start_exit(&mut self, window: &Window) {
        self.hystart = None;
        if let Form::Rfc(cubic) = &mut self.form {
            cubic.on_slow_start_exit(window);
        }
    }

    fn on_loss(&mut self, window: &mut Window, base: u32) {
        self.hystart = None;
        match &mut self.form {
            Form::Rfc(cubic) => cubic.on_loss(window, base),
            Form::Linux(segments) => {
                let ssthresh = segments.on_loss(window, base);
                set_ssthresh_segments(window, ssthresh);
            }
        }
    }

    fn on_timeout(&mut self, window: &mut Window, base: u32) {
        self.hystart = SlowStartExit::new(self.after_timeout, self.paced);
        match &mut self.form {
            Form::Rfc(cubic) => cubic.on_timeout(window, base),
            Form::Linux(segments) => {
                let ssthresh = segments.on_timeout(window, base);
                set_ssthresh_segments(window, ssthresh);
            }
        }
    }

    fn exit_recovery(&mut self, _window: &mut Window) {
        self.on_window_set();
    }

    fn on_window_set(&mut self) {
        match &mut self.form {
            Form::Rfc(cubic) => cubic.reset_epoch(),
            Form::Linux(segments) => segments.reset_stage(),
        }
    }

    fn on_idle(&mut self, idle: Duration) {
        if let Form::Rfc(cubic) = &mut self.form {
            cubic.on_idle(idle);
        }
    }

    fn on_transmit_start(&mut self, now: Instant, idle: Duration) {
        if let Form::Linux(segments) = &mut self.form {
            segments.on_transmit_start(now, idle);
        }
    }

    /// RFC 9438 §4.9 takes all back. Linux takes the window back, and the stage begins anew at it.
    fn restore(&mut self, before: &Self) {
        let form = self.form;
        *self = before.clone();
        if matches!(form, Form::Linux(_)) {
            self.form = form;
        }
    }
}

impl Epoch {
    /// RFC 9438 §5.8: whether cwnd is in use; the time in which it was not is taken out of the stage.
    fn is_used(&mut self, now: Instant, cwnd_limited: bool) -> bool {
        if !cwnd_limited {
            self.unused_since.get_or_insert(now);
            return false;
        }
        if let Some(since) = self.unused_since.take() {
            self.start = self.start.saturating_add(now.saturating_since(since));
        }
        true
    }

    /// RFC 9438 §4.2 eq. (1).
    fn w_cubic(&self, t: f64) -> f64 {
        let x = t - self.k;
        C * x * x * x + self.w_max
    }

    /// The growth in segments for `acked` segments acknowledged.
    fn step(&mut self, now: Instant, cwnd: f64, acked: f64, alpha: f64, srtt: Option<Duration>) -> f64 {
        self.w_est += alpha * acked / cwnd;
        let t = now.saturating_since(self.start).as_secs_f64();
        if self.w_cubic(t) < self.w_est {
            return (self.w_est - cwnd).max(0.0);
        }
        // RFC 9438 §4.4 and §4.5: towards the window of one round-trip time later, by half at most.
        let rtt = srtt.unwrap_or(Duration::ZERO).as_secs_f64();
        let target = self.w_cubic(t + rtt).clamp(cwnd, 1.5 * cwnd);
        (target - cwnd) * acked / cwnd
    }
}

#[cfg(test)]
pub(crate) mod closed_form {
    //! RFC 9438 eq. (1) and (2) for the tests, written apart from the code.

    pub(crate) fn k(w_max: f64, beta: f64) -> f64 {
        libm::cbrt(w_max * (1.0 - beta) / 0.4)
    }

    pub(crate) fn w_cubic(t: f64, w_max: f64, beta: f64) -> f64 {
        0.4 * libm::pow(t - k(w_max, beta), 3.0) + w_max
    }
}
