//! Does anybody else hold the queue? The path takes its own part out of it and looks at what is left.

use super::CopaTuning;
use super::delay::Delays;
use crate::bbr::GROWTH;
use crate::path::PathSample;
use ropewalk_units::{Duration, Instant};

#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Verdict {
    /// Nothing is known yet.
    None,
    /// A drain goes on.
    Draining,
    /// Others hold the queue, or the base has risen: a round trip without our own part takes so many seconds.
    Others(f64),
    /// The queue was ours, or that of a source that does not mind.
    Alone,
}

#[derive(Clone, Copy, Debug)]
struct Running {
    bound: u32,
    queue_before: f64,
    /// The least queue of the round before.
    left: f64,
    /// The round is over when what was sent after so much had been delivered is told.
    round_from: Option<u64>,
}

#[derive(Clone, Debug)]
pub(super) struct Drain {
    tuning: CopaTuning,
    next: Instant,
    wait: Duration,
    rate: f64,
    last: Instant,
    running: Option<Running>,
    /// The last drain left no queue.
    seemed_alone: bool,
}

/// What a drain is judged by.
pub(super) struct Share {
    /// Octets per second.
    pub(super) rate: f64,
    /// Octets that the path may have on its way at the least.
    pub(super) floor: u32,
    /// Seconds of queue that count as none.
    pub(super) none: f64,
}

impl Drain {
    /// After losses nobody looks soon: the buffer is too short for Copa's own queue, whoever is there.
    pub(super) fn new(now: Instant, lossy: bool, tuning: &CopaTuning) -> Self {
        let wait = if lossy { tuning.longest } else { tuning.first_drain };
        Self {
            tuning: *tuning,
            next: now + wait,
            wait,
            rate: 0.0,
            last: now,
            running: None,
            seemed_alone: false,
        }
    }

    /// What may be on its way while a drain goes on.
    pub(super) fn bound(&self) -> Option<u32> {
        self.running.map(|running| running.bound)
    }

    /// The next drain is due, or the rate grew as that of a pipe that was not full.
    fn is_due(&self, now: Instant, rate: f64) -> bool {
        let grew = self.rate > 0.0 && rate > GROWTH * self.rate && now >= self.last + self.tuning.first_drain;
        now >= self.next || grew
    }

    pub(super) fn on_report(
        &mut self,
        now: Instant,
        sample: &PathSample,
        delays: &mut Delays,
        share: &Share,
    ) -> Verdict {
        let Some(running) = &mut self.running else {
            if self.is_due(now, share.rate) {
                let bound = ((share.rate * delays.base()) as u32).max(share.floor);
                let queue = delays.latest_queue();
                self.rate = share.rate;
                self.running = Some(Running { bound, queue_before: queue, left: queue, round_from: None });
            }
            return Verdict::None;
        };
        let rate = &sample.rate;
        let Some(from) = running.round_from else {
            if rate.inflight <= running.bound {
                running.round_from = Some(rate.total_delivered);
            }
            return Verdict::Draining;
        };
        if rate.prior_delivered < from {
            return Verdict::Draining;
        }
        let left = sample.least_rtt.map_or(0.0, Duration::as_secs_f64) - delays.base();
        let alone = left <= (self.tuning.left * running.queue_before).max(share.none);
        if !alone && left < running.left - self.tuning.falling * running.queue_before {
            running.left = left;
            running.round_from = Some(rate.total_delivered);
            return Verdict::Draining;
        }
        self.running = None;
        if alone {
            return self.seem_alone(now);
        }
        let rtt = left + delays.base();
        self.wait_for_next(now, delays);
        Verdict::Others(rtt)
    }

    /// The queue went with our own part, or others had just lost a packet and gave up three tenths of theirs (RFC 9438 §4.6). That
    /// seldom happens during two drains in a row.
    fn seem_alone(&mut self, now: Instant) -> Verdict {
        if std::mem::replace(&mut self.seemed_alone, true) {
            return Verdict::Alone;
        }
        self.next = now + self.tuning.first_drain;
        Verdict::None
    }

    /// Others hold the queue.
    fn wait_for_next(&mut self, now: Instant, delays: &mut Delays) {
        self.seemed_alone = false;
        delays.forget_before(self.last);
        self.last = now;
        self.wait = (self.wait * u64::from(self.tuning.drain_patience)).min(self.tuning.longest);
        self.next = now + self.wait;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rate_sample::RateSample;

    const SHARE: Share = Share { rate: 1e6, floor: 6000, none: 0.002 };

    fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    /// What the drains say of round trips (ms) that are reported each 50 ms, with nothing else on the way.
    fn verdicts(rtts: impl IntoIterator<Item = u64>) -> Vec<Verdict> {
        let mut delays = Delays::default();
        let mut drain = Drain::new(Instant::ZERO, false, &CopaTuning::default());
        let mut at = Instant::ZERO;
        let mut delivered = 0;
        let mut told = Vec::new();
        for rtt in rtts {
            at += ms(50);
            delivered += 50_000;
            let rate = RateSample {
                rtt: Some(ms(rtt)),
                total_delivered: delivered,
                prior_delivered: delivered - 50_000,
                ..RateSample::default()
            };
            let (least_rtt, srtt) = (Some(ms(rtt)), ms(rtt));
            let sample =
                PathSample { rate, least_rtt, srtt, reordering: Duration::ZERO, lag: Duration::ZERO };
            delays.update(at, &sample, true);
            let verdict = drain.on_report(at, &sample, &mut delays, &SHARE);
            if !matches!(verdict, Verdict::None | Verdict::Draining) {
                told.push(verdict);
            }
        }
        told
    }

    /// Round trips of `others` ms of queue over 50 ms, for `seconds`; in the first drain the queue is `falls` ms.
    fn around_a_drain(others: u64, falls: u64, seconds: u64) -> Vec<Verdict> {
        let before = std::iter::once(50).chain(std::iter::repeat_n(50 + others, 19));
        let during = std::iter::repeat_n(50 + falls, 10);
        let after = std::iter::repeat_n(50 + others, seconds as usize * 20);
        verdicts(before.chain(during).chain(after))
    }

    #[test]
    fn a_queue_that_fell_during_one_drain_alone_is_that_of_others() {
        let told = around_a_drain(100, 0, 3);
        assert!(matches!(told[..], [Verdict::Others(_)]), "{told:?}");
    }

    #[test]
    fn a_queue_that_falls_with_our_own_part_twice_is_ours() {
        let seconds = std::iter::repeat_n([150; 15].into_iter().chain([50; 10]), 4).flatten();
        assert_eq!(verdicts(std::iter::once(50).chain(seconds)).first(), Some(&Verdict::Alone));
    }
}
