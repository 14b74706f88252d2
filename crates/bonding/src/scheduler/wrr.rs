//! Weighted round robin with loss feedback: Bednarek et al. 2016, §3. The cheaper path's weight is fixed; the
//! costlier one's follows the loss on the cheaper.

use super::{Ask, Scheduler};
use crate::config::{Config, DecrementPace, LossUnit, Turns, WeightArithmetic, WrrConfig};
use crate::id::{PathId, PathSet};
use crate::outgoing::{Outgoing, Progress};
use ropewalk_units::Instant;

/// w_fixed if not given: the paper's §5.1.
const WEIGHT_FIXED: u32 = 50;
/// w_mobilemax if not given: the paper's §5.4.
const WEIGHT_MOST: u32 = 50;
/// Credit of one packet: weights may have fractions.
const UNIT: f64 = 1024.0;

/// The paper's scheduler.
pub(crate) struct WeightedRoundRobin {
    config: WrrConfig,
    fixed: PathId,
    mobile: PathId,
    weight_fixed: u32,
    weight_mobile: f64,
    weight_mobile_most: f64,
    lossless_since: Instant,
    turn: Turn,
}

/// Where the round is.
#[derive(Clone, Copy, Default)]
struct Turn {
    /// Spread: what the mobile path is owed, of `w_fixed + w_mobile`.
    credit: f64,
    /// Consecutive: packets left for either.
    fixed_left: f64,
    mobile_left: f64,
}

impl WeightedRoundRobin {
    pub(crate) fn new(config: &Config, own: WrrConfig, now: Instant) -> Self {
        let order = config.by_cost();
        let (fixed, mobile) = (order[0], order[1]);
        let of = |path: PathId| &config.paths[path.index()];
        let most = of(mobile).max_weight.unwrap_or(WEIGHT_MOST);
        Self {
            config: own,
            fixed,
            mobile,
            weight_fixed: of(fixed).weight.unwrap_or(WEIGHT_FIXED),
            weight_mobile: f64::from(of(mobile).weight.unwrap_or(0).min(most)),
            weight_mobile_most: f64::from(most),
            lossless_since: now,
            turn: Turn::default(),
        }
    }

    /// §3.1, adaptive weight increment, equation 1.
    fn adaptive_increment(&mut self, fixed: &Progress) {
        let (lost, sent) = match self.config.loss_unit {
            LossUnit::Packets => (fixed.lost_packets, fixed.sent_packets),
            LossUnit::Bytes => (fixed.lost_bytes, fixed.sent_bytes),
        };
        // Losses reported when nothing was sent since are of an interval before: all of nothing.
        let ratio = f64::from(lost) / f64::from(sent.max(lost).max(1));
        self.weight_mobile += self.config.gain * ratio * f64::from(self.weight_fixed);
    }

    /// §3.2, initial weight increment.
    fn initial_increment(&mut self, fixed: &Progress) {
        self.weight_mobile += f64::from(fixed.lost_packets);
    }

    /// §3.3, delayed weight decrement: one for each T_report (or T_dwd), once there was no loss for T_dwd.
    fn delayed_decrement(&mut self, now: Instant) {
        if now.saturating_since(self.lossless_since) >= self.config.decrement_delay {
            self.weight_mobile -= 1.0;
            if self.config.decrement_pace == DecrementPace::EachDelay {
                self.lossless_since = now;
            }
        }
    }

    fn clamp(&mut self) {
        self.weight_mobile = match self.config.arithmetic {
            WeightArithmetic::Whole => libm::floor(self.weight_mobile),
            WeightArithmetic::Rounded => libm::round(self.weight_mobile),
            WeightArithmetic::Fractional => self.weight_mobile,
        };
        self.weight_mobile = self.weight_mobile.clamp(0.0, self.weight_mobile_most);
    }

    #[inline]
    fn is_mobiles_turn(&mut self) -> bool {
        match self.config.turns {
            Turns::Spread => self.spread(),
            Turns::Consecutive => self.consecutive(),
        }
    }

    /// Each packet owes the mobile path its share; it gets one when it is owed a whole one.
    #[inline]
    fn spread(&mut self) -> bool {
        let whole = (f64::from(self.weight_fixed) + self.weight_mobile) * UNIT;
        self.turn.credit += self.weight_mobile * UNIT;
        if self.turn.credit < whole {
            return false;
        }
        self.turn.credit = (self.turn.credit - whole).min(whole);
        true
    }

    fn consecutive(&mut self) -> bool {
        if self.turn.fixed_left < 1.0 && self.turn.mobile_left < 1.0 {
            self.turn.fixed_left += f64::from(self.weight_fixed);
            self.turn.mobile_left += self.weight_mobile;
        }
        if self.turn.fixed_left >= 1.0 {
            self.turn.fixed_left -= 1.0;
            return false;
        }
        self.turn.mobile_left -= 1.0;
        true
    }
}

impl Scheduler for WeightedRoundRobin {
    #[inline]
    fn pick(&mut self, ask: &Ask, _paths: &[Outgoing]) -> PathSet {
        let chosen = if self.is_mobiles_turn() { self.mobile } else { self.fixed };
        if ask.usable.contains(chosen) { PathSet::one(chosen) } else { ask.usable }
    }

    fn on_report(&mut self, now: Instant, progress: &[Progress], _paths: &[Outgoing]) {
        let fixed = &progress[self.fixed.index()];
        if fixed.lost_packets == 0 {
            self.delayed_decrement(now);
        } else {
            self.lossless_since = now;
            if self.weight_mobile > 0.0 {
                self.adaptive_increment(fixed);
            } else {
                self.initial_increment(fixed);
            }
        }
        self.clamp();
    }

    fn weight(&self, path: &Outgoing) -> u32 {
        if path.id == self.fixed { self.weight_fixed } else { self.weight_mobile as u32 }
    }
}
