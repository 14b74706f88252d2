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
    next: Instant,
    wait: Duration,
    rate: f64,
    last: Instant,
    running: Option<Running>,
    found_others: bool,
    /// The last drain left no queue, though others had been found before.
    seemed_alone: bool,
}

/// What a drain is judged by.
pub(super) struct Share<'a> {
    pub(super) tuning: &'a CopaTuning,
    /// Octets per second.
    pub(super) rate: f64,
    /// Octets that the path may have on its way at the least.
    pub(super) floor: u32,
    /// Seconds of queue that count as none.
    pub(super) none: f64,
    /// BBR is in Startup, which makes the rate grow: its end is waited for.
    pub(super) grows: bool,
}

impl Drain {
    /// After losses nobody looks soon: the buffer is too short for Copa's own queue, whoever is there.
    pub(super) fn new(now: Instant, lossy: bool, tuning: &CopaTuning) -> Self {
        let wait = if lossy { tuning.longest } else { tuning.first_drain };
        Self {
            next: now + wait,
            wait,
            rate: 0.0,
            last: now,
            running: None,
            found_others: false,
            seemed_alone: false,
        }
    }

    /// What may be on its way while a drain goes on.
    pub(super) fn bound(&self) -> Option<u32> {
        self.running.map(|running| running.bound)
    }

    /// Has a drain found others?
    pub(super) fn has_found_others(&self) -> bool {
        self.found_others
    }

    /// The next drain is due, or the rate grew as that of a pipe that was not full.
    fn is_due(&self, now: Instant, share: &Share<'_>) -> bool {
        let grew =
            self.rate > 0.0 && share.rate > GROWTH * self.rate && now >= self.last + share.tuning.first_drain;
        now >= self.next || grew
    }

    pub(super) fn on_report(
        &mut self,
        now: Instant,
        sample: &PathSample,
        delays: &mut Delays,
        share: &Share<'_>,
    ) -> Verdict {
        let Some(running) = &mut self.running else {
            if share.grows && self.found_others {
                self.rate = share.rate;
            } else if self.is_due(now, share) {
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
        let alone = left <= (share.tuning.left * running.queue_before).max(share.none);
        if !alone && left < running.left - share.tuning.falling * running.queue_before {
            running.left = left;
            running.round_from = Some(rate.total_delivered);
            return Verdict::Draining;
        }
        self.running = None;
        if alone {
            return self.seem_alone(now, share.tuning);
        }
        let rtt = left + delays.base();
        self.wait_for_next(now, delays, share.tuning);
        Verdict::Others(rtt)
    }

    /// The queue went with our own part, or others had just lost a packet and gave up three tenths of theirs (RFC 9438 §4.6). Once
    /// others were found, a second such drain in a row decides.
    fn seem_alone(&mut self, now: Instant, tuning: &CopaTuning) -> Verdict {
        if !self.found_others || std::mem::replace(&mut self.seemed_alone, true) {
            return Verdict::Alone;
        }
        self.next = now + tuning.first_drain;
        Verdict::None
    }

    /// Others were there all the time. The next drain waits as long as the last did.
    pub(super) fn resume(mut self, now: Instant) -> Self {
        (self.found_others, self.seemed_alone, self.running) = (true, false, None);
        (self.last, self.next) = (now, now + self.wait);
        self
    }

    /// Octets per second that the path had before the last drain.
    pub(super) fn rate(&self) -> f64 {
        self.rate
    }

    /// Others hold the queue.
    fn wait_for_next(&mut self, now: Instant, delays: &mut Delays, tuning: &CopaTuning) {
        (self.found_others, self.seemed_alone) = (true, false);
        delays.forget_before(self.last);
        self.last = now;
        self.wait = (self.wait * u64::from(tuning.drain_patience)).min(tuning.longest);
        self.next = now + self.wait;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rate_sample::RateSample;

    fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    /// What the drains say of round trips (ms) that are reported each 50 ms, with nothing else on the way.
    fn verdicts(rtts: impl IntoIterator<Item = u64>) -> Vec<Verdict> {
        let tuning = CopaTuning::default();
        let share = Share { tuning: &tuning, rate: 1e6, floor: 6000, none: 0.002, grows: false };
        let mut delays = Delays::default();
        let mut drain = Drain::new(Instant::ZERO, false, &tuning);
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
            let verdict = drain.on_report(at, &sample, &mut delays, &share);
            if !matches!(verdict, Verdict::None | Verdict::Draining) {
                told.push(verdict);
            }
        }
        told
    }

    /// Round trips (ms) for so many tenths of a second.
    fn lasting(rtt: u64, tenths: usize) -> impl Iterator<Item = u64> {
        std::iter::repeat_n(rtt, 2 * tenths)
    }

    /// 50 ms, then 150 ms until a drain finds others, and when the next one comes, 4 s later.
    fn others_found() -> impl Iterator<Item = u64> {
        lasting(50, 1).chain(lasting(150, 50))
    }

    #[test]
    fn a_queue_that_fell_during_one_drain_alone_is_still_that_of_others() {
        let told = verdicts(others_found().chain(lasting(50, 5)).chain(lasting(150, 20)));
        assert!(matches!(told[..], [Verdict::Others(_), Verdict::Others(_)]), "{told:?}");
    }

    #[test]
    fn others_have_gone_if_two_drains_in_a_row_leave_no_queue() {
        let gone = lasting(50, 5).chain(lasting(150, 6)).chain(lasting(50, 5));
        let told = verdicts(others_found().chain(gone));
        assert!(matches!(told[..], [Verdict::Others(_), Verdict::Alone, ..]), "{told:?}");
    }

    /// How many reports, each 50 ms, of a rate that doubles each second come before a drain begins. In Startup it grows for ten seconds.
    fn reports_until_a_drain(is_startup: bool) -> usize {
        let tuning = CopaTuning::default();
        let mut delays = Delays::default();
        let mut drain = Drain { found_others: true, rate: 1e5, ..Drain::new(Instant::ZERO, true, &tuning) };
        let (least_rtt, srtt, zero) = (Some(ms(150)), ms(150), Duration::ZERO);
        let sample = PathSample { rate: RateSample::default(), least_rtt, srtt, reordering: zero, lag: zero };
        let begins = |count: &usize| {
            let rate = 1e5 * f64::powi(2.0, *count as i32 / 20);
            let grows = is_startup && *count < 200;
            let share = Share { tuning: &tuning, rate, floor: 6000, none: 0.002, grows };
            let at = Instant::ZERO + ms(50) * *count as u64;
            drain.on_report(at, &sample, &mut delays, &share);
            drain.bound().is_some()
        };
        (1..10_000).find(begins).expect("a drain begins some time")
    }

    /// BBR makes the rate grow itself in Startup: that is no sign of others that have gone. Its end is waited for.
    #[test]
    fn a_rate_that_startup_makes_grow_calls_for_no_drain() {
        assert_eq!(reports_until_a_drain(false), 20, "a second");
        assert!(reports_until_a_drain(true) >= 200);
    }

    #[test]
    fn a_queue_that_the_first_drain_takes_away_was_our_own() {
        let told = verdicts(lasting(50, 1).chain(lasting(150, 9)).chain(lasting(50, 5)));
        assert_eq!(told.first(), Some(&Verdict::Alone));
    }
}
