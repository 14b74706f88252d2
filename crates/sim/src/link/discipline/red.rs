//! Random Early Detection: Floyd & Jacobson, "Random Early Detection Gateways for Congestion Avoidance", 1993, with the
//! gentle slope Floyd recommended in 2000.

use super::{Offer, QueueContext, Queued};
use crate::config::{QueueLimit, RedConfig};
use crate::tap::DropReason;
use std::collections::VecDeque;

pub(in crate::link) struct Red {
    limit: QueueLimit,
    config: RedConfig,
    /// avg: the exponentially weighted mean queue, in packets.
    average: f64,
    /// Packets since the last one chosen; `None` while the average is below the lower threshold.
    count: Option<u32>,
    waiting: VecDeque<Queued>,
}

/// What to do with an arriving packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Verdict {
    Pass,
    /// Chosen at random in the region of moderate congestion: mark it if possible.
    Chosen,
    /// The region of heavy congestion: drop it.
    Drop,
}

impl Red {
    pub(super) fn new(limit: QueueLimit, config: RedConfig) -> Self {
        Self { limit, config, average: 0.0, count: None, waiting: VecDeque::new() }
    }

    pub(super) fn limit(&self) -> QueueLimit {
        self.limit
    }

    /// `uniform` draws from [0, 1).
    pub(super) fn enqueue(
        &mut self,
        queued: Queued,
        offer: Offer,
        uniform: impl FnOnce() -> f64,
        context: &mut impl QueueContext,
    ) {
        self.update_average(offer);
        let verdict = self.judge(uniform);
        if !self.limit.fits(offer.load, queued.bytes) {
            self.count = self.count.map(|_| 0);
            context.discard(offer.now, queued, DropReason::QueueFull);
            return;
        }
        let passes = match verdict {
            Verdict::Pass => true,
            Verdict::Chosen => self.config.ecn && context.mark(offer.now, queued.packet),
            Verdict::Drop => false,
        };
        if passes {
            self.waiting.push_back(queued);
        } else {
            context.discard(offer.now, queued, DropReason::Aqm);
        }
    }

    /// Floyd & Jacobson 1993 §4, figure 2: A packet that finds the link idle ages the average by the `m` small
    /// packets that could have left meanwhile. Any other packet adds the queue that it finds.
    fn update_average(&mut self, offer: Offer) {
        let weight = self.config.weight;
        self.average = match offer.idle {
            Some(m) => self.average * libm::pow(1.0 - weight, m),
            None => self.average + weight * (f64::from(offer.load.packets) - self.average),
        };
    }

    fn judge(&mut self, uniform: impl FnOnce() -> f64) -> Verdict {
        let RedConfig { min_threshold, max_threshold, max_probability, .. } = self.config;
        if self.average < min_threshold {
            self.count = None;
            return Verdict::Pass;
        }
        let gentle = self.average >= max_threshold;
        let p_b = if gentle {
            // Floyd 2000, "Recommendation on using the gentle variant of RED": from max_p to 1 between max and 2 max.
            max_probability + (1.0 - max_probability) * (self.average - max_threshold) / max_threshold
        } else {
            // Floyd & Jacobson 1993 §4: p_b rises linearly between the thresholds.
            max_probability * (self.average - min_threshold) / (max_threshold - min_threshold)
        };
        if p_b >= 1.0 {
            self.count = Some(0);
            return Verdict::Drop;
        }
        let count = self.count.map_or(0, |count| count + 1);
        // §7, method 2: p_a = p_b / (1 - count p_b) spreads the choices evenly.
        let spread = 1.0 - f64::from(count) * p_b;
        if spread > 0.0 && uniform() >= p_b / spread {
            self.count = Some(count);
            return Verdict::Pass;
        }
        self.count = Some(0);
        // RFC 3168 §7: above the upper threshold packets are dropped, not marked.
        if gentle { Verdict::Drop } else { Verdict::Chosen }
    }

    pub(super) fn dequeue(&mut self) -> Option<Queued> {
        self.waiting.pop_front()
    }

    pub(super) fn drain(&mut self) -> Vec<Queued> {
        self.waiting.drain(..).collect()
    }

    pub(super) fn restore(&mut self, queued: Queued) {
        self.waiting.push_back(queued);
    }
}

#[cfg(test)]
mod tests;
