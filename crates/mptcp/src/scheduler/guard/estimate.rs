//! What goodput guard measures of each path.

use super::model::PathParameters;
use super::{EVIDENCE, PROBE_DOUBLINGS, REHABILITATED, REST_DOUBLINGS, SAMPLE};
use crate::config::GuardConfig;
use crate::view::SubflowView;
use ropewalk_units::{Duration, Instant};

/// Segments over which losses are averaged while the path is in use, and while it is only probed.
const MEMORY_IN_USE: f64 = 4000.0;
const MEMORY_LEFT_OUT: f64 = 100.0;
/// The prior: as if so many segments had been sent with so many loss events (0.5 %).
const PRIOR_SEGMENTS: f64 = 100.0;
const PRIOR_EVENTS: f64 = 0.5;
/// Time constant of the averaged rates in seconds.
const RATE_TIME: f64 = 4.0;
/// The largest delivery rate and the largest RTT fade by so much per second.
const FADING: f64 = 0.01;
/// So many segments in flight beyond the path's own content show a queue, hence a capacity.
const QUEUE_SHOWS: f64 = 4.0;
/// Linux's least RTO, seconds; what a timeout costs at least.
const LEAST_RTO: f64 = 0.2;

/// One path.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct PathEstimate {
    /// Left out until this time at least.
    pub(super) left_out: Option<Instant>,
    /// Copies that the current probe may still send.
    pub(super) probe_left: u32,
    next_probe: Option<Instant>,
    probe_doublings: u32,
    /// Loss events when the last probe began; `None` before the first.
    losses_at_probe: Option<u64>,
    /// Exclusions in a row.
    exclusions: u32,
    taken_in_at: Option<Instant>,
    seen: Counters,
    segments: f64,
    losses: f64,
    throughput: Average,
    /// Octets per second.
    largest_delivery: f64,
    queue_seen: bool,
    /// Seconds.
    largest_rtt: f64,
}

/// The subflow's counters at the last measurement.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
struct Counters {
    at: Option<Instant>,
    segments_sent: u64,
    loss_events: u64,
    bytes_acked: u64,
}

impl PathEstimate {
    /// Returns the octets acknowledged since the last time.
    pub(super) fn observe(&mut self, now: Instant, view: &SubflowView) -> u64 {
        let seen = self.seen;
        self.seen = Counters {
            at: Some(now),
            segments_sent: view.segments_sent,
            loss_events: view.loss_events,
            bytes_acked: view.bytes_acked,
        };
        let Some(before) = seen.at else { return 0 };
        let seconds = now.saturating_since(before).as_secs_f64();
        let sent = view.segments_sent.saturating_sub(seen.segments_sent) as f64;
        let memory = if self.left_out.is_some() { MEMORY_LEFT_OUT } else { MEMORY_IN_USE };
        let kept = (1.0 - sent / memory).max(0.0);
        self.segments = self.segments * kept + sent;
        self.losses = self.losses * kept + view.loss_events.saturating_sub(seen.loss_events) as f64;
        let acked = view.bytes_acked.saturating_sub(seen.bytes_acked);
        self.throughput.add(acked as f64, seconds);
        self.fade(seconds);
        self.note_extremes(view);
        if self.left_out.is_none()
            && self.taken_in_at.is_some_and(|at| now.saturating_since(at) > REHABILITATED)
        {
            self.exclusions = 0;
        }
        acked
    }

    fn fade(&mut self, seconds: f64) {
        let kept = (1.0 - FADING * seconds).max(0.0);
        // What a path could carry is remembered while nothing tests it.
        if self.left_out.is_none() {
            self.largest_delivery *= kept;
        }
        self.largest_rtt *= kept;
    }

    fn note_extremes(&mut self, view: &SubflowView) {
        let (Some(srtt), Some(least)) = (view.srtt, view.min_rtt) else { return };
        self.largest_rtt = self.largest_rtt.max(srtt.as_secs_f64());
        if self.left_out.is_some() {
            return;
        }
        if let Some(rate) = view.delivery_rate {
            self.largest_delivery = self.largest_delivery.max(rate.bits_per_sec() as f64 / 8.0);
        }
        // Delayed ACKs lengthen the RTT too, so a queue is told by what is in flight beyond rate · least RTT.
        // In slow start the averaged rate lags behind.
        let fits = self.largest_delivery * least.as_secs_f64() + QUEUE_SHOWS * f64::from(view.smss);
        self.queue_seen |= !view.in_slow_start && !view.in_recovery && f64::from(view.pipe) > fits;
    }

    /// Loss events per segment.
    pub(super) fn loss(&self) -> f64 {
        (self.losses + PRIOR_EVENTS) / (self.segments + PRIOR_SEGMENTS)
    }

    /// Enough is known to judge it.
    pub(super) fn is_measured(&self, view: &SubflowView) -> bool {
        view.srtt.is_some() && view.segments_sent >= EVIDENCE
    }

    /// What the model needs to know.
    pub(super) fn parameters(&self, view: &SubflowView, segments_per_ack: f64) -> PathParameters {
        let base_rtt = view.min_rtt.or(view.srtt).map_or(1.0, |rtt| rtt.as_nanos().max(1000) as f64 * 1e-9);
        let known = self.queue_seen && self.largest_delivery > 0.0;
        PathParameters {
            loss: self.loss(),
            base_rtt,
            largest_rtt: self.largest_rtt.max(base_rtt),
            rto: (view.rtt_seconds() + 4.0 * view.rttvar.as_secs_f64()).max(LEAST_RTO),
            capacity: if known { self.largest_delivery } else { f64::INFINITY },
            smss: f64::from(view.smss),
            segments_per_ack,
        }
    }

    /// Octets per second that the path takes now.
    pub(super) fn rate_now(&self, view: &SubflowView) -> f64 {
        let by_window = f64::from(view.cwnd) / view.rtt_seconds();
        self.throughput.value.max(by_window.min(self.known_capacity())).max(1.0)
    }

    /// Seconds until a segment given to the path now is acknowledged.
    pub(super) fn delay_of_next(&self, view: &SubflowView) -> f64 {
        let least = view.min_rtt.map_or(0.0, Duration::as_secs_f64);
        let waiting = (view.queued() as f64 + f64::from(view.smss)) / self.known_capacity();
        // The SRTT of an idle path tells of a queue that is long gone.
        if view.is_idle() { least + waiting } else { (least + waiting).max(view.rtt_seconds()) }
    }

    fn known_capacity(&self) -> f64 {
        if self.largest_delivery > 0.0 { self.largest_delivery } else { f64::INFINITY }
    }

    /// Out of use; may return after a rest that doubles with every exclusion in a row.
    pub(super) fn leave_out(&mut self, now: Instant, rest: Duration) {
        let factor = 1u64 << self.exclusions.min(REST_DOUBLINGS);
        self.exclusions += 1;
        self.left_out = Some(now + rest.saturating_mul(factor));
        self.probe_left = 0;
        self.probe_doublings = 0;
        self.losses_at_probe = None;
        self.next_probe = Some(now + rest);
        if self.segments > MEMORY_LEFT_OUT {
            self.losses *= MEMORY_LEFT_OUT / self.segments;
            self.segments = MEMORY_LEFT_OUT;
        }
    }

    /// Not used yet: probes of the configured size follow each other closely until enough is known.
    pub(super) fn leave_out_until_measured(&mut self, now: Instant) {
        self.left_out = Some(now);
        self.losses_at_probe = None;
        self.next_probe = Some(now);
    }

    /// In use again.
    pub(super) fn return_to_use(&mut self, now: Instant) {
        self.left_out = None;
        self.next_probe = None;
        self.taken_in_at = Some(now);
    }

    /// Whether a probe has copies to send now. The first has the configured size; probes grow while they come back whole.
    pub(super) fn probe_due(&mut self, now: Instant, view: &SubflowView, config: &GuardConfig) -> bool {
        if self.probe_left > 0 {
            return true;
        }
        if self.next_probe.is_none_or(|at| now < at) {
            return false;
        }
        let is_measuring = !self.is_measured(view);
        let whole = self.losses_at_probe == Some(view.loss_events);
        self.probe_doublings =
            if whole && !is_measuring { (self.probe_doublings + 1).min(PROBE_DOUBLINGS) } else { 0 };
        self.losses_at_probe = Some(view.loss_events);
        self.next_probe = Some(now + if is_measuring { SAMPLE } else { config.probe_interval });
        self.probe_left = config.probe_segments << self.probe_doublings;
        self.probe_left > 0
    }
}

/// An average over time that starts as a plain mean.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
struct Average {
    value: f64,
    seconds: f64,
}

impl Average {
    fn add(&mut self, amount: f64, seconds: f64) {
        if seconds <= 0.0 {
            return;
        }
        self.seconds = (self.seconds + seconds).min(RATE_TIME);
        self.value += (amount / seconds - self.value) * (seconds / self.seconds).min(1.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::samples::subflow;
    use ropewalk_units::Rate;

    /// A path whose RTT was 80 ms and which delivered 8 Mbit/s. For ten seconds since it shows less, at a look every 100 ms.
    fn after_ten_seconds(left_out: Option<Instant>) -> PathEstimate {
        let mut path = PathEstimate::default();
        let mut view = subflow(0, 20, Duration::from_millis(80));
        view.delivery_rate = Some(Rate::from_bits_per_sec(8_000_000));
        path.observe(Instant::ZERO, &view);
        path.observe(Instant::ZERO, &view);
        path.left_out = left_out;
        view.srtt = Some(Duration::from_millis(20));
        view.delivery_rate = None;
        for look in 1..=100 {
            path.observe(Instant::ZERO + Duration::from_millis(100 * look), &view);
        }
        path
    }

    /// 1 % a second, taken off in steps of 0.1 s.
    const LEFT_AFTER_TEN_SECONDS: f64 = 0.904_79;

    #[test]
    fn the_largest_rtt_fades_by_a_hundredth_a_second() {
        for left_out in [None, Some(Instant::ZERO)] {
            let path = after_ten_seconds(left_out);
            assert!((path.largest_rtt / 0.08 - LEFT_AFTER_TEN_SECONDS).abs() < 1e-4, "{}", path.largest_rtt);
        }
    }

    #[test]
    fn what_a_path_could_carry_fades_only_while_it_is_in_use() {
        let used = after_ten_seconds(None).largest_delivery / 1e6;
        assert!((used - LEFT_AFTER_TEN_SECONDS).abs() < 1e-4, "{used}");
        let left_out = after_ten_seconds(Some(Instant::ZERO)).largest_delivery / 1e6;
        assert!((left_out - 1.0).abs() < 1e-12, "{left_out}");
    }

    const SECOND: Duration = Duration::from_secs(1);

    fn second(n: u64) -> Instant {
        Instant::ZERO + SECOND * n
    }

    #[test]
    fn a_rest_doubles_with_each_exclusion_until_the_path_was_used_for_long() {
        let view = subflow(0, 20, Duration::from_millis(80));
        let mut path = PathEstimate::default();
        let rest = |path: &mut PathEstimate, now| {
            path.leave_out(now, SECOND);
            path.left_out.map(|until| until.saturating_since(now).as_nanos() / SECOND.as_nanos())
        };
        for expected in [1, 2, 4, 8, 16, 32, 32] {
            assert_eq!(rest(&mut path, second(0)), Some(expected));
        }
        path.return_to_use(second(10));
        path.observe(second(20), &view);
        path.observe(second(20), &view);
        assert_eq!(rest(&mut path, second(20)), Some(32), "in use for ten seconds and no longer");
        path.return_to_use(second(30));
        path.observe(second(41), &view);
        assert_eq!(rest(&mut path, second(41)), Some(1));
    }

    /// Sends the probe that is due, if there is one, and says how long it is.
    fn probe(path: &mut PathEstimate, view: &SubflowView, now: Instant) -> u32 {
        let is_due = path.probe_due(now, view, &GuardConfig::default());
        assert_eq!(is_due, path.probe_left > 0);
        std::mem::take(&mut path.probe_left)
    }

    #[test]
    fn probes_grow_while_they_come_back_whole_and_come_once_an_interval() {
        let mut view = subflow(0, 20, Duration::from_millis(80));
        view.segments_sent = EVIDENCE;
        let mut path = PathEstimate::default();
        path.leave_out(second(0), SECOND);
        assert_eq!(probe(&mut path, &view, Instant::ZERO + Duration::from_millis(999)), 0);
        assert_eq!(probe(&mut path, &view, second(1)), 4, "no probe has come back yet");
        assert_eq!(probe(&mut path, &view, second(1)), 0, "not before the next interval");
        let probes = [2, 3, 4, 5].map(|n| probe(&mut path, &view, second(n)));
        assert_eq!(probes, [8, 16, 32, 32]);
        view.loss_events += 1;
        let probes = [6, 7].map(|n| probe(&mut path, &view, second(n)));
        assert_eq!(probes, [4, 8], "after a loss they begin with the configured size");
    }

    #[test]
    fn a_path_that_is_not_known_is_probed_every_tenth_of_a_second() {
        let view = subflow(0, 20, Duration::from_millis(80));
        let mut path = PathEstimate::default();
        path.leave_out_until_measured(second(1));
        let at = |ms| second(1) + Duration::from_millis(ms);
        let probes = [0, 50, 100, 199, 200].map(|ms| probe(&mut path, &view, at(ms)));
        assert_eq!(probes, [4, 0, 4, 0, 4]);
    }

    /// Losses weigh as much as the segments that they are of: 4000 in use, 100 while it is only probed; 0.5 % is the prior.
    #[test]
    fn losses_are_averaged_over_what_was_sent() {
        let mut view = subflow(0, 20, Duration::from_millis(80));
        let mut path = PathEstimate::default();
        assert!((path.loss() - 0.005).abs() < 1e-12);
        path.observe(second(0), &view);
        (view.segments_sent, view.loss_events) = (400, 4);
        path.observe(second(1), &view);
        assert!((path.loss() - 4.5 / 500.0).abs() < 1e-12);
        (view.segments_sent, view.loss_events) = (1400, 4);
        path.observe(second(2), &view);
        // Of the first 400 a quarter is forgotten.
        assert!((path.loss() - 3.5 / 1400.0).abs() < 1e-12, "{}", path.loss());
        path.leave_out(second(3), SECOND);
        assert!((path.losses / path.segments - 3.0 / 1300.0).abs() < 1e-12 && path.segments == 100.0);
        (view.segments_sent, view.loss_events) = (1450, 5);
        path.observe(second(4), &view);
        assert!(
            (path.segments - 100.0).abs() < 1e-9 && (path.losses - (0.5 * 300.0 / 1300.0 + 1.0)).abs() < 1e-9
        );
    }

    #[test]
    fn what_is_in_flight_beyond_the_path_s_own_content_shows_its_capacity() {
        for (beyond, in_slow_start, known) in [(4000, false, false), (4001, false, true), (9000, true, false)]
        {
            let mut view = subflow(0, 20, Duration::from_millis(80));
            view.delivery_rate = Some(Rate::from_bits_per_sec(8_000_000));
            view.pipe = 80_000 + beyond;
            view.in_slow_start = in_slow_start;
            let mut path = PathEstimate::default();
            path.observe(second(0), &view);
            path.observe(second(0), &view);
            assert_eq!(path.parameters(&view, 1.0).capacity.is_finite(), known, "{beyond} {in_slow_start}");
        }
    }

    #[test]
    fn without_a_delivery_rate_a_queue_shows_no_capacity() {
        let mut view = subflow(0, 20, Duration::from_millis(80));
        view.delivery_rate = None;
        view.pipe = 20_000;
        let mut path = PathEstimate::default();
        path.observe(second(0), &view);
        path.observe(second(0), &view);
        assert!(path.queue_seen);
        assert!(path.parameters(&view, 1.0).capacity.is_infinite());
    }

    /// τ is the least RTT, T₀ = SRTT + 4 RTTVAR and 200 ms at least.
    #[test]
    fn a_path_s_times_are_those_of_rfc_6298() {
        let mut view = subflow(0, 20, Duration::from_millis(30));
        view.min_rtt = Some(Duration::from_millis(20));
        let path = PathEstimate::default();
        for (rttvar, rto) in [(100, 0.43), (10, 0.2)] {
            view.rttvar = Duration::from_millis(rttvar);
            let found = path.parameters(&view, 1.0);
            assert!((found.base_rtt - 0.02).abs() < 1e-12 && (found.rto - rto).abs() < 1e-12, "{found:?}");
        }
    }

    /// A mean at first, and then over four seconds.
    #[test]
    fn throughput_is_averaged_over_four_seconds() {
        let mut view = subflow(0, 20, Duration::from_millis(80));
        view.cwnd = 0;
        let mut path = PathEstimate::default();
        path.observe(second(0), &view);
        for (millis, acked, expected) in
            [(1000, 1000, 1000.0), (1500, 1000, 4000.0 / 3.0), (5500, 0, 1.0), (7500, 2000, 500.0)]
        {
            view.bytes_acked += acked;
            path.observe(Instant::ZERO + Duration::from_millis(millis), &view);
            let found = path.rate_now(&view);
            assert!((found - expected).abs() < 1e-9, "{found}, not {expected}");
        }
    }

    #[test]
    fn the_next_segment_waits_for_the_queue_and_for_what_was_given_before() {
        let mut view = subflow(0, 20, Duration::from_millis(80));
        view.delivery_rate = Some(Rate::from_bits_per_sec(8_000_000));
        let mut path = PathEstimate::default();
        path.observe(second(0), &view);
        path.observe(second(0), &view);
        view.srtt = Some(Duration::from_millis(100));
        // 1 MB/s: one segment takes a millisecond. An idle path has no queue any more.
        assert!((path.delay_of_next(&view) - 0.081).abs() < 1e-9);
        view.flight = 5000;
        view.pipe = 5000;
        assert!((path.delay_of_next(&view) - 0.1).abs() < 1e-9, "the SRTT");
        view.flight = 29_000;
        assert!((path.delay_of_next(&view) - 0.11).abs() < 1e-9);
    }
}
