//! CUBIC as Linux counts it (`net/ipv4/tcp_cubic.c`): whole segments, the kernel's clock, and a growth that is
//! calculated anew when the window has changed, else at most 32 times a second.

use crate::window::Window;
use ropewalk_units::{Duration, Instant};

/// A step of the kernel's clock where `CONFIG_HZ` is 250, as by default.
const JIFFY: Duration = Duration::from_millis(4);
const HZ: u64 = 250;
/// For so long an unchanged window keeps its growth.
const HELD: u64 = HZ / 32;
/// β in 1/1024.
const BETA: u64 = 717;
/// Times of the cubic are in 1/1024 s.
const SECOND: u64 = 1 << 10;
/// C in 1/1024, over cubed seconds of 2^30.
const C: u64 = 410;
/// Further from K the cubic is beyond any window: 17 years, in 1/1024 s.
const FURTHEST: u64 = 1 << 39;
/// A window below Reno's estimate: so many eighths of a window are acknowledged for each segment that the estimate
/// grows by, 8 (1 + β) / (3 (1 - β)).
const RENO_EIGHTHS: u64 = 15;
/// Acknowledged segments for one more in the window: before the first loss at most, and in any case at least.
const MOST_BEFORE_LOSS: u64 = 20;
const LEAST: u64 = 2;

/// What it remembers. Windows in segments.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Segments {
    /// Reno's estimate catches up beyond the window before the loss (RFC 9438 §4.3). Linux's does not.
    catches_up: bool,
    /// The window before the loss.
    prior: u64,
    /// The window at the last loss, lowered by fast convergence; 0 before the first and after a timeout.
    last_max: u64,
    /// The least round-trip time.
    delay_min: Option<Duration>,
    stage: Option<Stage>,
    /// Segments acknowledged towards the window's next.
    credit: u64,
    /// Octets acknowledged towards a whole segment.
    octets: u32,
}

/// Congestion avoidance since the last reduction.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Stage {
    /// Jiffies.
    start: u64,
    /// K in 1/1024 s.
    k: u64,
    origin: u64,
    /// Reno's estimate, and what was acknowledged towards its next segment.
    reno: u64,
    reno_acked: u64,
    /// When and for which window the growth was calculated, in jiffies.
    calculated: u64,
    window: u64,
    /// Acknowledged segments for one more in the window.
    per_segment: u64,
}

fn jiffies(now: Instant) -> u64 {
    now.as_nanos() / JIFFY.as_nanos()
}

impl Segments {
    pub(crate) fn new(catches_up: bool) -> Self {
        Self { catches_up, prior: 0, last_max: 0, delay_min: None, stage: None, credit: 0, octets: 0 }
    }

    /// From which window on Reno's estimate grows by a whole segment per round trip.
    fn catch_up(&self) -> u64 {
        if self.catches_up { self.prior } else { u64::MAX }
    }

    /// Each ACK, in slow start too. Right after a recovery the delay is that of a queue, so it is left out for a second.
    pub(crate) fn observe(&mut self, now: Instant, rtt: Option<Duration>) {
        let recovers = self.stage.is_some_and(|stage| jiffies(now) < stage.start + HZ);
        if let Some(rtt) = rtt.filter(|_| !recovers) {
            self.delay_min = Some(self.delay_min.map_or(rtt, |least| least.min(rtt)));
        }
    }

    /// Congestion avoidance: one ACK for `octets` new octets.
    pub(crate) fn on_ack(&mut self, window: &mut Window, now: Instant, octets: u32) {
        let cwnd = u64::from(window.cwnd / window.smss).max(1);
        let octets = self.octets.saturating_add(octets);
        self.octets = octets % window.smss;
        let acked = u64::from(octets / window.smss);
        let per_segment = self.per_segment(jiffies(now), cwnd, acked);
        // What was saved while a segment cost more is worth one, not several.
        let mut grown = 0;
        if self.credit >= per_segment {
            self.credit = 0;
            grown = 1;
        }
        self.credit += acked;
        grown += self.credit / per_segment;
        self.credit %= per_segment;
        window.grow(window.smss.saturating_mul(u32::try_from(grown).unwrap_or(u32::MAX)));
    }

    fn per_segment(&mut self, now: u64, cwnd: u64, acked: u64) -> u64 {
        let Some(mut stage) = self.stage else {
            let stage = self.begin(now, cwnd, acked);
            return self.calculate(stage, now);
        };
        stage.reno_acked += acked;
        let is_held = stage.window == cwnd && now <= stage.calculated + HELD;
        if is_held {
            self.stage = Some(stage);
            return stage.per_segment;
        }
        if stage.calculated == now {
            stage.follow_reno(cwnd, self.catch_up());
            self.stage = Some(stage);
            return stage.per_segment;
        }
        stage.window = cwnd;
        self.calculate(stage, now)
    }

    fn begin(&self, now: u64, cwnd: u64, acked: u64) -> Stage {
        let cubed = SECOND.pow(4) / C * self.last_max.saturating_sub(cwnd);
        Stage {
            start: now,
            k: libm::cbrt(cubed as f64) as u64,
            origin: self.last_max.max(cwnd),
            reno: cwnd,
            reno_acked: acked,
            calculated: now,
            window: cwnd,
            per_segment: LEAST,
        }
    }

    /// The growth towards the window of a least round-trip time later.
    fn calculate(&mut self, mut stage: Stage, now: u64) -> u64 {
        let ahead = self.delay_min.unwrap_or(Duration::ZERO).as_nanos().div_ceil(JIFFY.as_nanos());
        let t = (now.saturating_sub(stage.start) + ahead) * SECOND / HZ;
        let target = stage.target(t);
        stage.calculated = now;
        stage.per_segment = match target.saturating_sub(stage.window) {
            0 => 100 * stage.window,
            missing => stage.window / missing,
        };
        if self.last_max == 0 {
            stage.per_segment = stage.per_segment.min(MOST_BEFORE_LOSS);
        }
        stage.follow_reno(stage.window, self.catch_up());
        self.stage = Some(stage);
        stage.per_segment
    }

    /// The decrease. Returns ssthresh in segments.
    pub(crate) fn on_loss(&mut self, window: &Window, base: u32) -> u64 {
        let cwnd = u64::from(window.cwnd / window.smss);
        self.last_max = if cwnd < self.last_max { cwnd * (1024 + BETA) / (2 * 1024) } else { cwnd };
        self.prior = cwnd;
        self.stage = None;
        self.credit = 0;
        u64::from(base / window.smss) * BETA / 1024
    }

    /// All is forgotten, the least round-trip time too. Returns ssthresh in segments.
    pub(crate) fn on_timeout(&mut self, window: &Window, base: u32) -> u64 {
        let ssthresh = self.on_loss(window, base);
        *self = Self { prior: self.prior, ..Self::new(self.catches_up) };
        ssthresh
    }

    /// Data leave while nothing is outstanding: the time since the last is no part of the stage.
    pub(crate) fn on_transmit_start(&mut self, now: Instant, idle: Duration) {
        if let Some(stage) = &mut self.stage {
            stage.start = (stage.start + idle.as_nanos() / JIFFY.as_nanos()).min(jiffies(now));
        }
    }

    /// The window was set from outside: another stage begins at it.
    pub(crate) fn reset_stage(&mut self) {
        self.stage = None;
    }
}

impl Stage {
    fn target(&self, t: u64) -> u64 {
        let from = t.abs_diff(self.k).min(FURTHEST);
        let cubed = u128::from(from) * u128::from(from) * u128::from(from);
        let far = u64::try_from((u128::from(C) * cubed) >> 40).unwrap_or(u64::MAX);
        if t < self.k { self.origin.saturating_sub(far) } else { self.origin.saturating_add(far) }
    }

    /// Where Reno's estimate is above the window, the window grows towards it.
    fn follow_reno(&mut self, cwnd: u64, catch_up: u64) {
        let eighths = if self.reno < catch_up { RENO_EIGHTHS } else { 8 };
        let costs = (cwnd * eighths / 8).max(1);
        // The kernel subtracts until the rest is not above the cost.
        let grown = self.reno_acked.saturating_sub(1) / costs;
        self.reno += grown;
        self.reno_acked -= grown * costs;
        if self.reno > cwnd {
            self.per_segment = self.per_segment.min(cwnd / (self.reno - cwnd));
        }
        self.per_segment = self.per_segment.max(LEAST);
    }
}
