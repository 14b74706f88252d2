//! The congestion window: one [`Controller`] around the algorithm that the configuration names.

use crate::ack_sample::AckSample;
use crate::algorithm::Algorithm;
use crate::coupling::Coupling;
use crate::hystart::Growth;
use crate::pacing::{lasts_a_millisecond, pacing_rate, send_quantum};
use crate::rate_sample::{LostPacket, RateSample};
use crate::signals::Acknowledgements;
use crate::window::{UNLIMITED, Window};
use crate::{Config, CongestionControl};
use ropewalk_units::{Duration, Instant, Rate};

/// How much one ACK adds in slow start.
#[derive(Clone, Copy, PartialEq, Debug)]
enum SlowStart {
    /// RFC 5681 §3.1 without counting octets: one segment.
    PerAck,
    /// RFC 3465 §2.2: the octets acknowledged, at most this many segments.
    Octets { limit: Option<u32> },
}

/// Which expiry of the retransmission timer it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Timeout {
    /// The first for the segment: ssthresh is lowered.
    First,
    /// A further one for it, or one for a window that was reduced before: ssthresh stays (RFC 5681 §3.1).
    Repeated,
}

macro_rules! algorithms {
    (
        named { $($(#[$doc:meta])* $name:ident: $variant:ident $({ $field:ident: $type:ty = $default:expr })? = $state:ty;)* }
        inner { $($(#[$inner_doc:meta])* $inner_name:ident: $inner:ident
            $({ $inner_field:ident: $inner_type:ty = $inner_default:expr })? = $inner_state:ty;)* }
    ) => {
        /// One of the algorithms.
        #[derive(Clone, Debug)]
        enum AnyAlgorithm {
            $($(#[$doc])* $variant($state),)*
            $($(#[$inner_doc])* $inner($inner_state),)*
        }

        /// Does the same with whichever it is.
        macro_rules! each {
            ($any:expr, $algorithm:ident => $action:expr) => {
                match $any {
                    $(AnyAlgorithm::$variant($algorithm) => $action,)*
                    $(AnyAlgorithm::$inner($algorithm) => $action,)*
                }
            };
        }

        impl AnyAlgorithm {
            fn new(config: &Config, now: Instant, window: &mut Window) -> Self {
                match config.congestion_control {
                    $(CongestionControl::$variant { .. } => Self::$variant(Algorithm::new(config, now, window)),)*
                    $(CongestionControl::$inner { .. } => Self::$inner(Algorithm::new(config, now, window)),)*
                }
            }
        }

        impl AnyAlgorithm {
            fn models_path(&self) -> bool {
                match self {
                    $(Self::$variant(_) => <$state>::MODELS_PATH,)*
                    $(Self::$inner(_) => <$inner_state>::MODELS_PATH,)*
                }
            }

            /// Both are of the one algorithm that the connection has.
            fn restore(&mut self, before: &Self) {
                match (self, before) {
                    $((Self::$variant(now), Self::$variant(before)) => now.restore(before),)*
                    $((Self::$inner(now), Self::$inner(before)) => now.restore(before),)*
                    _ => {}
                }
            }

            fn rounds_ssthresh(&self) -> bool {
                match self {
                    $(Self::$variant(_) => <$state>::ROUNDS_SSTHRESH,)*
                    $(Self::$inner(_) => <$inner_state>::ROUNDS_SSTHRESH,)*
                }
            }
        }

        impl CongestionControl {
            /// Does it model the path, from rate samples, and set cwnd and the pacing rate whatever recovery says?
            pub fn models_path(self) -> bool {
                match self {
                    $(Self::$variant { .. } => <$state>::MODELS_PATH,)*
                    $(Self::$inner { .. } => <$inner_state>::MODELS_PATH,)*
                }
            }
        }
    };
}

congestion_controls!(algorithms);

/// cwnd and ssthresh, moved by the configured algorithm. What happens between a loss and its repair is the
/// recovery's: it takes the ssthresh that [`Controller::on_loss`] returns and sets cwnd itself.
///
/// An algorithm that models the path ([`CongestionControl::models_path`]) is given a rate sample with every ACK
/// ([`Controller::on_sample`]) and keeps cwnd to itself, in recovery too.
#[derive(Clone, Debug)]
pub struct Controller {
    pub(crate) window: Window,
    algorithm: AnyAlgorithm,
    slow_start: SlowStart,
    initial_segments: u32,
    ssthresh_from_cwnd: bool,
    /// Segments; instead of what the algorithm says.
    ssthresh_after_loss: Option<u32>,
    /// RFC 3465 §2.3: in the slow start after a timeout one ACK adds one segment at most.
    after_timeout: bool,
    /// The window is still the initial one, which follows a change of SMSS.
    initial: bool,
}

/// What [`Controller::restore`] brings back when a reduction turns out to have been unnecessary.
#[derive(Clone, Debug)]
pub struct Snapshot {
    window: Window,
    /// `None` of a model, which keeps its own.
    algorithm: Option<AnyAlgorithm>,
}

impl Controller {
    /// The initial window, for segments of `smss` octets.
    pub fn new(config: &Config, smss: u32, now: Instant) -> Self {
        let smss = smss.max(1);
        let cwnd = config.initial_window.max(1).saturating_mul(smss);
        let ssthresh = config.initial_ssthresh.map_or(UNLIMITED, |octets| octets.max(2 * smss));
        let mut window = Window::new(cwnd, ssthresh, smss);
        let limit = config.slow_start_limit;
        let counts_octets = config.congestion_control.counts_octets();
        let slow_start = if counts_octets { SlowStart::Octets { limit } } else { SlowStart::PerAck };
        let algorithm = AnyAlgorithm::new(config, now, &mut window);
        Self {
            window,
            algorithm,
            slow_start,
            initial_segments: config.initial_window.max(1),
            ssthresh_from_cwnd: config.ssthresh_from_cwnd,
            ssthresh_after_loss: config.ssthresh_after_loss,
            after_timeout: false,
            initial: true,
        }
    }

    /// The window in octets.
    pub fn cwnd(&self) -> u32 {
        self.window.cwnd
    }

    /// The slow start threshold in octets.
    pub fn ssthresh(&self) -> u32 {
        self.window.ssthresh
    }

    /// cwnd below ssthresh?
    pub fn in_slow_start(&self) -> bool {
        self.window.in_slow_start()
    }

    /// The initial window in octets (RFC 5681's IW, also the restart window's limit).
    pub fn initial_window(&self) -> u32 {
        self.initial_segments.saturating_mul(self.window.smss)
    }

    /// A segment now carries `smss` octets (the handshake agreed on options or on a smaller MSS).
    pub fn set_smss(&mut self, smss: u32) {
        self.window.smss = smss.max(1);
        let cwnd = if self.initial { self.initial_window() } else { self.window.cwnd };
        self.window.set_cwnd(cwnd);
    }

    /// For the recovery: cwnd as it says, one segment at the lowest. A model that has seen ACKs keeps its own.
    pub fn set_cwnd(&mut self, octets: u32) {
        if self.models_path() && !self.initial {
            return;
        }
        self.initial = false;
        self.window.set_cwnd(octets);
    }

    /// For a response that says what ssthresh is to be (RFC 4015, wVegas); one segment at the lowest.
    pub fn set_ssthresh(&mut self, octets: u32) {
        self.window.set_ssthresh(octets, 1);
    }

    /// For [`CongestionControl::Coupled`]; nothing otherwise.
    pub fn set_coupling(&mut self, coupling: Coupling) {
        each!(&mut self.algorithm, algorithm => algorithm.set_coupling(coupling));
    }

    /// Multipath TCP's penalization: cwnd halved, ssthresh too outside slow start.
    pub fn penalize(&mut self) {
        let in_slow_start = self.in_slow_start();
        self.initial = false;
        self.window.set_cwnd(self.window.cwnd / 2);
        if !in_slow_start {
            self.window.set_ssthresh(self.window.ssthresh / 2, 2);
        }
        each!(&mut self.algorithm, algorithm => algorithm.on_window_set());
    }

    /// An ACK of new data outside fast recovery, the slow start after a timeout included.
    #[inline]
    pub fn on_ack(&mut self, now: Instant, sample: &AckSample) {
        if sample.newly_acked == 0 || self.models_path() {
            return;
        }
        each!(&mut self.algorithm, algorithm => algorithm.observe(now, sample));
        let mut octets = sample.newly_acked;
        if self.in_slow_start() {
            octets = self.slow_start(now, sample);
        }
        if self.in_slow_start() || octets == 0 {
            return;
        }
        self.after_timeout = false;
        each!(&mut self.algorithm, algorithm => algorithm.avoid(&mut self.window, now, octets, sample));
    }

    /// DCTCP: an ACK with the mark's echo acknowledges `octets`, of `acked` so far; `sent` are sent.
    pub fn on_marked(&mut self, octets: u32, acked: u64, sent: u64) {
        each!(&mut self.algorithm, algorithm => algorithm.on_marked(octets, acked, sent));
    }

    /// DCTCP.Alpha.
    pub fn alpha(&self) -> Option<f64> {
        each!(&self.algorithm, algorithm => algorithm.alpha())
    }

    /// RFC 5681 §3.1. Returns the octets that slow start leaves to congestion avoidance.
    fn slow_start(&mut self, now: Instant, sample: &AckSample) -> u32 {
        let growth = each!(&mut self.algorithm, algorithm => algorithm.slow_start(now, sample, &self.window));
        let (divisor, ack_limit) = match growth {
            Growth::Free => (1, None),
            Growth::Limited { segments, divisor } => (divisor, segments),
            Growth::Leave => {
                self.leave_slow_start();
                return sample.newly_acked;
            }
        };
        if !sample.cwnd_limited {
            return 0;
        }
        self.initial = false;
        let smss = self.window.smss;
        let SlowStart::Octets { limit } = self.slow_start else {
            self.window.grow(smss.min(sample.newly_acked.max(1)));
            return 0;
        };
        // RFC 3465 §2.3: after a timeout L = 1; Linux, which has no limit, knows no such exception.
        let limit = limit.map(|segments| if self.after_timeout { 1 } else { segments });
        let limit = [limit, ack_limit].into_iter().flatten().min();
        let octets = limit
            .map_or(sample.newly_acked, |segments| sample.newly_acked.min(segments.saturating_mul(smss)))
            / divisor;
        let room = self.window.ssthresh - self.window.cwnd;
        self.window.grow(octets.min(room));
        octets.saturating_sub(room)
    }

    fn leave_slow_start(&mut self) {
        self.window.set_ssthresh(self.window.cwnd, 2);
        each!(&mut self.algorithm, algorithm => algorithm.on_slow_start_exit(&self.window));
    }

    /// A loss was found (fast retransmit), with `flight` octets outstanding. Sets and returns ssthresh; cwnd is
    /// the recovery's business.
    pub fn on_loss(&mut self, flight: u32) -> u32 {
        let base = self.decrease_base(flight);
        self.initial = false;
        each!(&mut self.algorithm, algorithm => algorithm.on_loss(&mut self.window, base));
        if self.models_path() {
            return self.window.cwnd;
        }
        self.settle_ssthresh();
        self.window.ssthresh
    }

    /// The peer echoed a congestion mark (RFC 3168 §6.1.2): as a loss, but nothing to repair, so cwnd follows
    /// at once. Returns ssthresh.
    pub fn on_ecn(&mut self, flight: u32) -> u32 {
        let base = self.decrease_base(flight);
        each!(&mut self.algorithm, algorithm => algorithm.on_ecn(&mut self.window, base));
        if self.models_path() {
            return self.window.cwnd;
        }
        self.initial = false;
        self.settle_ssthresh();
        self.window.set_cwnd(self.window.ssthresh);
        self.window.ssthresh
    }

    /// A loss was found after it had been repaired (by a probe): the reduction that it asks for, at once.
    pub fn on_repaired_loss(&mut self, flight: u32) {
        if self.models_path() {
            self.on_ecn(flight);
        } else {
            let ssthresh = self.on_loss(flight);
            self.window.set_cwnd(ssthresh);
        }
    }

    /// The retransmission timer expired, with `flight` octets outstanding (of a model: deemed to be in the network).
    /// Returns ssthresh; cwnd is one segment.
    pub fn on_timeout(&mut self, flight: u32, timeout: Timeout) -> u32 {
        self.initial = false;
        if self.models_path() {
            each!(&mut self.algorithm, algorithm => algorithm.on_timeout(&mut self.window, flight));
            return self.window.ssthresh;
        }
        if timeout == Timeout::First {
            let base = self.decrease_base(flight);
            each!(&mut self.algorithm, algorithm => algorithm.on_timeout(&mut self.window, base));
            self.settle_ssthresh();
        }
        self.after_timeout = true;
        self.window.set_cwnd(self.window.smss);
        self.window.ssthresh
    }

    /// RFC 5681 §3.1 takes the decrease from FlightSize; Linux (and papers that simulated it) from cwnd.
    fn decrease_base(&self, flight: u32) -> u32 {
        if self.ssthresh_from_cwnd { self.window.cwnd } else { flight }
    }

    /// Linux counts windows in segments. What a coupled algorithm lays down stands.
    fn settle_ssthresh(&mut self) {
        if let Some(segments) = self.ssthresh_after_loss {
            self.window.set_ssthresh(segments.saturating_mul(self.window.smss), 1);
        } else if self.ssthresh_from_cwnd && self.rounds_ssthresh() {
            self.window.round_ssthresh();
        }
    }

    fn rounds_ssthresh(&self) -> bool {
        self.algorithm.rounds_ssthresh()
    }

    /// Recovery is over and has set cwnd: congestion avoidance begins a new stage.
    pub fn exit_recovery(&mut self) {
        each!(&mut self.algorithm, algorithm => algorithm.exit_recovery(&mut self.window));
    }

    /// Nothing was sent for `idle`, which is longer than one `rto` (RFC 2861 §3.1, as Linux does). cwnd is halved for
    /// every RTO of it, down to the restart window min(IW, cwnd). ssthresh keeps the old window. RFC 5681 §4.1 goes to
    /// the restart window at once.
    pub fn restart_after_idle(&mut self, idle: Duration, rto: Duration) {
        if self.models_path() {
            return;
        }
        let restart = self.initial_window().min(self.window.cwnd);
        let remembered = self.window.cwnd / 4 * 3;
        self.window.set_ssthresh(self.window.ssthresh.max(remembered), 2);
        let halvings = idle.as_nanos() / rto.as_nanos().max(1);
        let halved = if halvings < 32 { self.window.cwnd >> halvings } else { 0 };
        self.window.set_cwnd(halved.max(restart));
        each!(&mut self.algorithm, algorithm => algorithm.on_idle(idle));
    }

    /// Data are about to leave while nothing is outstanding, `idle` after the last.
    pub fn on_transmit_start(&mut self, now: Instant, idle: Duration) {
        each!(&mut self.algorithm, algorithm => algorithm.on_transmit_start(now, idle));
    }

    /// The state before a reduction, for [`Controller::restore`].
    pub fn snapshot(&self) -> Snapshot {
        let algorithm = (!self.models_path()).then(|| self.algorithm.clone());
        Snapshot { window: self.window, algorithm }
    }

    /// The reduction was unnecessary: the algorithm's state as it was (RFC 9438 §4.9), cwnd and ssthresh at
    /// least what they were. A response with another cwnd (RFC 4015) sets that afterwards.
    pub fn restore(&mut self, snapshot: &Snapshot) {
        if self.models_path() {
            return each!(&mut self.algorithm, algorithm => algorithm.on_spurious_recovery(&mut self.window));
        }
        let (cwnd, ssthresh) = (self.window.cwnd, self.window.ssthresh);
        if let Some(algorithm) = &snapshot.algorithm {
            self.algorithm.restore(algorithm);
        }
        let smss = self.window.smss;
        self.window = snapshot.window;
        self.window.smss = smss;
        if cwnd > self.window.cwnd {
            self.window.set_cwnd(cwnd);
        }
        self.window.set_ssthresh(ssthresh.max(snapshot.window.ssthresh), 1);
        self.after_timeout = false;
    }

    /// Does the algorithm model the path?
    pub fn models_path(&self) -> bool {
        self.algorithm.models_path()
    }

    /// For a model: one ACK with its rate sample, after its losses ([`Self::on_lost`]) and what recovery made of it.
    pub fn on_sample(&mut self, now: Instant, sample: &RateSample) {
        if self.models_path() {
            self.initial = false;
            each!(&mut self.algorithm, algorithm => algorithm.on_sample(now, sample, &mut self.window));
        }
    }

    /// For a model: a packet was deemed lost.
    pub fn on_lost(&mut self, now: Instant, packet: &LostPacket) {
        each!(&mut self.algorithm, algorithm => algorithm.on_lost(now, packet, &mut self.window));
    }

    /// For a model: a packet is about to leave, while nothing is on its way and the application had had nothing to send.
    pub fn on_restart_from_idle(&mut self, now: Instant) {
        each!(&mut self.algorithm, algorithm => algorithm.on_restart_from_idle(now, &mut self.window));
    }

    /// For a model: what the handshake told, the round-trip time and how the peer will acknowledge.
    pub fn on_established(&mut self, srtt: Option<Duration>, acks: Acknowledgements) {
        let window = &self.window;
        each!(&mut self.algorithm, algorithm => algorithm.on_established(srtt, acks, window));
    }

    /// Does a model send less than it could, so that samples say nothing about the path?
    pub fn limits_itself(&self) -> bool {
        each!(&self.algorithm, algorithm => algorithm.limits_itself())
    }

    /// How fast packets are to leave: as the model says, or as Linux paces the others, by cwnd and `srtt`.
    pub fn pacing_rate(&self, srtt: Duration) -> Rate {
        let modelled = each!(&self.algorithm, algorithm => algorithm.pacing_rate());
        modelled.unwrap_or_else(|| pacing_rate(self.window.cwnd, self.window.ssthresh, srtt))
    }

    /// Does it take a millisecond or more to pace so many octets, or are they as much as ever leaves together?
    pub fn lasts_a_millisecond(&self, srtt: Duration, octets: u32) -> bool {
        if self.models_path() {
            return octets >= self.send_quantum(self.pacing_rate(srtt));
        }
        lasts_a_millisecond(self.window.cwnd, self.window.ssthresh, srtt, octets)
    }

    /// How much leaves together when packets are paced at `rate`.
    pub fn send_quantum(&self, rate: Rate) -> u32 {
        let modelled = each!(&self.algorithm, algorithm => algorithm.send_quantum());
        modelled.unwrap_or_else(|| send_quantum(rate, self.window.smss))
    }

    /// The bandwidth that a model estimates.
    pub fn bandwidth(&self) -> Option<Rate> {
        each!(&self.algorithm, algorithm => algorithm.bandwidth())
    }
}
