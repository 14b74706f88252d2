//! The congestion window: one [`Controller`] around the algorithm that the configuration names.

use crate::coupled::{Coupled, Coupling};
use crate::cubic::Cubic;
use crate::hystart::{self, Growth, HyStart};
use crate::newreno::NewReno;
use crate::window::{UNLIMITED, Window};
use crate::{Config, CongestionControl};
use ropewalk_units::{Duration, Instant};

/// What one ACK of new data tells the algorithms.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct AckSample {
    /// Octets newly acknowledged, cumulatively.
    pub newly_acked: u32,
    /// Smoothed round-trip time.
    pub srtt: Option<Duration>,
    /// The round-trip time measured with this ACK.
    pub latest_rtt: Option<Duration>,
    /// Octets acknowledged so far, this ACK's included.
    pub acked: u64,
    /// Octets sent so far, each counted once.
    pub sent: u64,
    /// Whether cwnd, not the application or the peer's window, was what held the sender back. A window that
    /// is not in use does not grow (RFC 9438 §5.8, and Linux for every algorithm).
    pub cwnd_limited: bool,
}

/// How much one ACK adds in slow start.
#[derive(Clone, Copy, PartialEq, Debug)]
enum SlowStart {
    /// RFC 5681 §3.1 without counting octets: one segment.
    PerAck,
    /// RFC 3465 §2.2: the octets acknowledged, at most this many segments.
    Octets { limit: Option<u32> },
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Algorithm {
    NewReno(NewReno),
    Cubic(Cubic, Option<HyStart>),
    Coupled(Coupled),
}

/// cwnd and ssthresh, moved by the configured algorithm. What happens between a loss and its repair is the
/// recovery's: it takes the ssthresh that [`Controller::on_loss`] returns and sets cwnd itself.
#[derive(Clone, Copy, Debug)]
pub struct Controller {
    pub(crate) window: Window,
    algorithm: Algorithm,
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
#[derive(Clone, Copy, Debug)]
pub struct Snapshot {
    window: Window,
    algorithm: Algorithm,
}

impl Controller {
    /// The initial window, for segments of `smss` octets.
    pub fn new(config: &Config, smss: u32) -> Self {
        let smss = smss.max(1);
        let limit = config.slow_start_limit;
        let octets = |counting| if counting { SlowStart::Octets { limit } } else { SlowStart::PerAck };
        let (algorithm, slow_start) = match config.congestion_control {
            CongestionControl::NewReno { byte_counting } => {
                (Algorithm::NewReno(NewReno::new(byte_counting)), octets(byte_counting))
            }
            CongestionControl::Cubic { hystart } => (
                Algorithm::Cubic(Cubic::new(config.cubic_catches_up), hystart.then(HyStart::new)),
                octets(true),
            ),
            CongestionControl::Coupled { byte_counting } => {
                (Algorithm::Coupled(Coupled::new(byte_counting)), octets(byte_counting))
            }
        };
        let cwnd = config.initial_window.max(1).saturating_mul(smss);
        let ssthresh = config.initial_ssthresh.map_or(UNLIMITED, |octets| octets.max(2 * smss));
        Self {
            window: Window::new(cwnd, ssthresh, smss),
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
    #[inline]
    pub fn cwnd(&self) -> u32 {
        self.window.cwnd
    }

    /// The slow start threshold in octets.
    #[inline]
    pub fn ssthresh(&self) -> u32 {
        self.window.ssthresh
    }

    /// cwnd below ssthresh?
    #[inline]
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

    /// For the recovery: cwnd as it says, one segment at the lowest.
    pub fn set_cwnd(&mut self, octets: u32) {
        self.initial = false;
        self.window.set_cwnd(octets);
    }

    /// For a response that says what ssthresh is to be (RFC 4015, wVegas); one segment at the lowest.
    pub fn set_ssthresh(&mut self, octets: u32) {
        self.window.set_ssthresh(octets, 1);
    }

    /// For [`CongestionControl::Coupled`]; nothing otherwise.
    pub fn set_coupling(&mut self, coupling: Coupling) {
        if let Algorithm::Coupled(coupled) = &mut self.algorithm {
            coupled.set(coupling);
        }
    }

    /// Multipath TCP's penalization: cwnd halved, ssthresh too outside slow start.
    pub fn penalize(&mut self) {
        let in_slow_start = self.in_slow_start();
        self.set_cwnd(self.window.cwnd / 2);
        if !in_slow_start {
            self.window.set_ssthresh(self.window.ssthresh / 2, 2);
        }
        if let Algorithm::Cubic(cubic, _) = &mut self.algorithm {
            cubic.reset_epoch();
        }
    }

    /// An ACK of new data outside fast recovery, the slow start after a timeout included.
    #[inline]
    pub fn on_ack(&mut self, now: Instant, sample: &AckSample) {
        if sample.newly_acked == 0 {
            return;
        }
        let mut octets = sample.newly_acked;
        if self.in_slow_start() {
            octets = self.slow_start(sample);
        }
        if self.in_slow_start() || octets == 0 {
            return;
        }
        self.after_timeout = false;
        match &mut self.algorithm {
            Algorithm::Cubic(cubic, _) => cubic.on_ack(&mut self.window, now, octets, sample),
            Algorithm::NewReno(_) | Algorithm::Coupled(_) if !sample.cwnd_limited => {}
            Algorithm::NewReno(newreno) => newreno.on_ack(&mut self.window, octets),
            Algorithm::Coupled(coupled) => coupled.on_ack(&mut self.window, octets),
        }
    }

    /// RFC 5681 §3.1. Returns the octets that slow start leaves to congestion avoidance.
    fn slow_start(&mut self, sample: &AckSample) -> u32 {
        let (divisor, ack_limit) = match self.hystart(sample) {
            None => (1, None),
            Some(Growth::Divided(divisor)) => (divisor, Some(hystart::ACK_LIMIT)),
            Some(Growth::Leave) => {
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

    /// HyStart++ in the initial slow start only (RFC 9406 §4.3).
    fn hystart(&mut self, sample: &AckSample) -> Option<Growth> {
        match &mut self.algorithm {
            Algorithm::Cubic(_, Some(hystart)) => {
                Some(hystart.on_ack(sample.acked, sample.sent, sample.latest_rtt))
            }
            _ => None,
        }
    }

    fn leave_slow_start(&mut self) {
        self.window.set_ssthresh(self.window.cwnd, 2);
        if let Algorithm::Cubic(cubic, hystart) = &mut self.algorithm {
            *hystart = None;
            cubic.on_slow_start_exit(&self.window);
        }
    }

    /// A loss was found (fast retransmit), with `flight` octets outstanding. Sets and returns ssthresh; cwnd is
    /// the recovery's business.
    pub fn on_loss(&mut self, flight: u32) -> u32 {
        let base = self.decrease_base(flight);
        self.initial = false;
        match &mut self.algorithm {
            Algorithm::NewReno(newreno) => {
                newreno.reset();
                // RFC 5681 §3.1 eq. (4).
                self.window.set_ssthresh(base / 2, 2);
            }
            Algorithm::Cubic(cubic, hystart) => {
                *hystart = None;
                cubic.on_loss(&mut self.window, base);
            }
            Algorithm::Coupled(coupled) => coupled.on_loss(&mut self.window, base),
        }
        self.settle_ssthresh();
        self.window.ssthresh
    }

    /// The peer echoed a congestion mark (RFC 3168 §6.1.2): as a loss, but nothing to repair, so cwnd follows
    /// at once. Returns ssthresh.
    pub fn on_ecn(&mut self, flight: u32) -> u32 {
        let ssthresh = self.on_loss(flight);
        self.window.set_cwnd(ssthresh);
        ssthresh
    }

    /// The retransmission timer expired. `first_of_series` is false for the further timeouts of one segment,
    /// which leave ssthresh where the first put it (RFC 5681 §3.1). Returns ssthresh; cwnd is one segment.
    pub fn on_timeout(&mut self, flight: u32, first_of_series: bool) -> u32 {
        if first_of_series {
            let base = self.decrease_base(flight);
            if let Algorithm::Cubic(cubic, hystart) = &mut self.algorithm {
                *hystart = None;
                cubic.on_timeout(&mut self.window, base);
                self.settle_ssthresh();
            } else {
                self.on_loss(flight);
            }
        }
        self.initial = false;
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
        } else if self.ssthresh_from_cwnd && !matches!(self.algorithm, Algorithm::Coupled(_)) {
            self.window.round_ssthresh();
        }
    }

    /// Recovery is over and has set cwnd: congestion avoidance begins a new stage.
    pub fn exit_recovery(&mut self) {
        match &mut self.algorithm {
            Algorithm::NewReno(newreno) => newreno.reset(),
            Algorithm::Cubic(cubic, _) => cubic.reset_epoch(),
            Algorithm::Coupled(_) => {}
        }
    }

    /// Nothing was sent for `idle`, longer than one `rto`: cwnd is halved for every RTO of it, down to the
    /// restart window min(IW, cwnd), and ssthresh remembers where it was (RFC 2861 §3.1, as Linux does; RFC
    /// 5681 §4.1 goes to the restart window at once).
    pub fn restart_after_idle(&mut self, idle: Duration, rto: Duration) {
        let restart = self.initial_window().min(self.window.cwnd);
        let remembered = self.window.cwnd / 4 * 3;
        self.window.set_ssthresh(self.window.ssthresh.max(remembered), 2);
        let halvings = idle.as_nanos() / rto.as_nanos().max(1);
        let halved = if halvings < 32 { self.window.cwnd >> halvings } else { 0 };
        self.window.set_cwnd(halved.max(restart));
        if let Algorithm::Cubic(cubic, _) = &mut self.algorithm {
            cubic.on_idle(idle);
        }
    }

    /// The state before a reduction, for [`Controller::restore`].
    pub fn snapshot(&self) -> Snapshot {
        Snapshot { window: self.window, algorithm: self.algorithm }
    }

    /// The reduction was unnecessary: the algorithm's state as it was (RFC 9438 §4.9), cwnd and ssthresh at
    /// least what they were. A response with another cwnd (RFC 4015) sets that afterwards.
    pub fn restore(&mut self, snapshot: &Snapshot) {
        let (cwnd, ssthresh) = (self.window.cwnd, self.window.ssthresh);
        self.algorithm = snapshot.algorithm;
        let smss = self.window.smss;
        self.window = snapshot.window;
        self.window.smss = smss;
        if cwnd > self.window.cwnd {
            self.window.set_cwnd(cwnd);
        }
        self.window.set_ssthresh(ssthresh.max(snapshot.window.ssthresh), 1);
        self.after_timeout = false;
    }
}
