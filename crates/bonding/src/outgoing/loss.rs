//! How often a path loses packets that no queue explains, as a TCP flow feels it.

use super::limit::News;
use ropewalk_units::{Duration, Instant};

/// Losses within a round trip of one another are one event, for which a flow halves its window once; within these bounds: a
/// report's interval, and what passes for one path's fault.
const EVENT_LEAST: Duration = Duration::from_millis(20);
const EVENT_MOST: Duration = Duration::from_millis(200);
/// What the path carries in so many nanoseconds is taken for granted to come without loss, so many packets at most.
const PRIOR: f64 = 1e9;
const PRIOR_MOST: f64 = 1000.0;
/// What was seen counts half after so many seconds: a path that lost is tried again.
const HALF_LIFE: f64 = 30.0;

/// In the first reports on probes that are counted, what was lost before them may still be told.
const LATE_REPORTS: u32 = 3;

/// Losses of data that lead to expect so many of the probes to be lost, of which less than this part was, were a queue's after all.
const EXPECTED_LEAST: f64 = 6.0;
const CONFIRMED: f64 = 1.0 / 3.0;

/// Events and packets of late.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LossRate {
    events: f64,
    packets: f64,
    /// Of the probes being counted: reports, lost, and all; and the share lost of those counted last.
    probes: (u32, u32, u32),
    lost_at_random: f64,
    /// Those of probes sent to count losses, since that began: they fill no queue.
    counted: (f64, f64),
    updated_at: Option<Instant>,
    last_event: Option<Instant>,
}

impl LossRate {
    /// Losses begin to be counted of probes.
    pub(super) fn begin_count(&mut self) {
        self.counted = (0.0, 0.0);
        self.probes = (0, 0, 0);
    }

    /// What was reported of them.
    pub(super) fn count(&mut self, now: Instant, news: &News) {
        if self.note(now, news, news.lost > 0) {
            self.counted.0 += 1.0;
        }
        let packets = news.lost.saturating_add(news.received);
        self.counted.1 += f64::from(packets);
        let (reports, lost, all) = &mut self.probes;
        *reports += u32::from(news.received > 0);
        if *reports > LATE_REPORTS {
            *lost = lost.saturating_add(news.lost);
            *all = all.saturating_add(packets);
        }
    }

    /// All have been counted. If far fewer were lost than data had been, it was not at random.
    pub(super) fn end_count(&mut self) {
        let (_, lost, all) = self.probes;
        self.lost_at_random = f64::from(lost) / f64::from(all.max(1));
        let (events, packets) = self.counted;
        let of_data = (self.events - events).max(0.0) / (self.packets - packets).max(1.0);
        let expected = of_data * packets;
        if expected >= EXPECTED_LEAST && events < expected * CONFIRMED {
            (self.events, self.packets) = self.counted;
        }
    }

    /// What was reported; `is_loss`: packets were lost for no known reason. Whether that is an event.
    pub(super) fn note(&mut self, now: Instant, news: &News, is_loss: bool) -> bool {
        let elapsed = self.updated_at.map_or(0.0, |at| now.saturating_since(at).as_secs_f64());
        self.updated_at = Some(now);
        let fading = (1.0 - elapsed * core::f64::consts::LN_2 / HALF_LIFE).max(0.5);
        self.events *= fading;
        self.packets = self.packets * fading + f64::from(news.lost.saturating_add(news.received));
        self.counted = (self.counted.0 * fading, self.counted.1 * fading);
        let apart = news.round_trip.clamp(EVENT_LEAST, EVENT_MOST);
        let is_event = is_loss && self.last_event.is_none_or(|at| now.saturating_since(at) >= apart);
        if is_event {
            self.last_event = Some(now);
            self.events += 1.0;
        }
        is_event
    }

    /// The share of packets lost without a queue, however many at once, as probes have shown it; zero as long as they have not.
    pub(super) fn lost_at_random(&self) -> f64 {
        self.lost_at_random
    }

    /// Events per packet, if a full packet takes `transmission` nanoseconds.
    pub(super) fn share(&self, transmission: i64) -> f64 {
        // One may be chance.
        (self.events - 1.0).max(0.0) / (self.packets + (PRIOR / transmission.max(1) as f64).min(PRIOR_MOST))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A thousandth of a second: a full packet's transmission at 12 Mbit/s.
    const TRANSMISSION: i64 = 1_000_000;

    fn news(lost: u32, received: u32) -> News {
        News { lost, received, round_trip: Duration::from_millis(20) }
    }

    /// Data lost in so many reports of 50 packets each, and then in so many reports of 10 probes each, of 1000.
    fn seen(of_data: u64, of_probes: u64) -> LossRate {
        let mut rate = LossRate::default();
        let at = |report: u64| Instant::ZERO + Duration::from_millis(50 * report);
        (0..of_data).for_each(|report| {
            rate.note(at(report), &news(1, 49), true);
        });
        rate.begin_count();
        (0..100).for_each(|report| {
            let lost = u32::from(report < of_probes);
            rate.count(at(of_data + report), &news(lost, 10 - lost));
        });
        rate.end_count();
        rate
    }

    #[test]
    fn losses_of_data_that_probes_do_not_confirm_were_not_random() {
        assert!(seen(10, 0).share(TRANSMISSION) == 0.0, "20 expected, none lost");
        assert!(seen(10, 4).share(TRANSMISSION) < 0.002, "20 expected, 4 lost");
    }

    #[test]
    fn what_was_lost_before_the_probes_is_not_theirs() {
        let mut rate = LossRate::default();
        rate.begin_count();
        let at = |report: u64| Instant::ZERO + Duration::from_millis(50 * report);
        rate.count(at(0), &news(0, 10));
        rate.count(at(1), &news(90, 10));
        (2..=100).for_each(|report| rate.count(at(report), &news(u32::from(report % 10 == 0), 9)));
        assert_eq!(rate.lost_at_random(), 0.0, "nothing is known before the last");
        rate.end_count();
        assert!((0.009..0.013).contains(&rate.lost_at_random()), "{}", rate.lost_at_random());
    }

    #[test]
    fn losses_of_data_that_probes_confirm_are_random() {
        let share = seen(10, 15).share(TRANSMISSION);
        assert!((0.008..0.012).contains(&share), "{share}: 25 events among 2500 packets");
    }
}
