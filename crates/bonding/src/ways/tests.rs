use super::*;
use crate::wire::control::PathReport;

const MS: u64 = 1000;
const SECOND: u64 = 1_000_000;

/// Two ends with two paths. Times in µs.
struct Pair {
    ways: Ways,
    now: u64,
    /// The peer's clock shows so much more than this end's.
    ahead: i64,
    sent: u32,
    /// The newest packet that a report tells of took so much longer than the quickest. Ticks.
    excess: u16,
    /// The peer's clock is set forward by so much between an arrival and the next report.
    step: u64,
}

impl Pair {
    fn new(ahead: i64) -> Self {
        Self::of_precision(ahead, BondTuning::default().precision)
    }

    fn of_precision(ahead: i64, precision: Duration) -> Self {
        let tuning = BondTuning { precision, ..BondTuning::default() };
        Self { ways: Ways::new(2, &tuning, Instant::ZERO), now: SECOND, ahead, sent: 0, excess: 0, step: 0 }
    }

    fn own(&self, at: u64) -> Instant {
        Instant::ZERO + Duration::from_micros(at)
    }

    fn peers(&self, at: u64) -> u32 {
        (at as i64 + self.ahead) as u32
    }

    /// A packet leaves by each path that has a delay in `forth`. Once they have come, the peer reports by the path `by`, which takes
    /// `back`. Returns how late that is in ms.
    fn report(&mut self, forth: [Option<u64>; 2], by: u8, back: u64) -> f64 {
        self.sent += 1;
        let made = self.now + forth.iter().flatten().max().unwrap_or(&0);
        let step = std::mem::take(&mut self.step);
        self.ahead += step as i64;
        let entry = |forth: Option<u64>| {
            let Some(forth) = forth else { return PathReport::default() };
            let held = (made - self.now - forth + step) as u32;
            let (received_packets, newest, excess) = (self.sent, self.now as u32, self.excess);
            PathReport { received_packets, newest, held, excess, ..PathReport::default() }
        };
        let report = Report::new(self.sent, self.peers(made), &forth.map(entry));
        let came = self.own(made + back);
        self.ways.on_arrival(came, PathId(by), report.made);
        let late = self.ways.on_report(came, PathId(by), &report);
        self.now += 5 * MS;
        late.as_secs_f64() * 1e3
    }

    /// The same over the first path alone, in ms of queue on ways of 20 ms each.
    fn alone(&mut self, forth: u64, back: u64) -> f64 {
        self.report([Some((20 + forth) * MS), None], 0, (20 + back) * MS)
    }

    /// A packet of the peer's comes by a path.
    fn hear(&mut self, by: u8, back: u64) {
        let (came, sent) = (self.own(self.now + back), self.peers(self.now));
        self.ways.on_arrival(came, PathId(by), sent);
    }
}

/// The same times, but for what clocks may drift apart between reports.
#[track_caller]
fn assert_times<const REPORTS: usize>(late: [f64; REPORTS], expected: [f64; REPORTS]) {
    let is_about = late.iter().zip(expected).all(|(late, expected)| (late - expected).abs() < 0.1);
    assert!(is_about, "{late:?} ms, not {expected:?}");
}

#[test]
fn a_report_is_late_by_as_much_as_it_took_longer_than_the_quickest() {
    let mut pair = Pair::new(-7_000_000);
    assert_times([4, 9, 3, 5].map(|back| pair.alone(0, back)), [0.0, 5.0, 0.0, 2.0]);
}

#[test]
fn a_queue_that_stands_for_minutes_is_none_of_the_ways_length() {
    let mut pair = Pair::new(0);
    pair.alone(0, 0);
    for _ in 0..9 * 60 * 200 {
        assert_times([pair.alone(0, 300)], [300.0]);
    }
    // After ten minutes it is the way's length.
    let late = (0..2 * 60 * 200).map(|_| pair.alone(0, 300)).last();
    assert!(late < Some(0.1), "{late:?} ms");
}

/// While queues stand both ways, no delay tells how far the clocks drift apart. After some minutes their rates are known.
#[test]
fn a_clock_that_drifts_for_half_an_hour_is_followed_whenever_a_queue_is_empty() {
    const MINUTE: u64 = 60 * 200;
    for ppm in [-500, -50, 50, 500] {
        let mut pair = Pair::new(0);
        let start = pair.now;
        for report in 0..30 * MINUTE {
            pair.ahead = (pair.now - start) as i64 * ppm / 1_000_000;
            // On the way back for all but a second of each minute, forth in all reports but some.
            let stands = if report % MINUTE < 200 { 0 } else { 80 };
            let late = pair.alone(report % 7 * 3, stands);
            // Those forth tell of a clock that falls behind, those back of one that runs ahead.
            let is_told = ppm < 0 || stands == 0 || report >= 5 * MINUTE;
            let most = if is_told { 0.1 } else { 0.06 * ppm as f64 };
            let error = stands as f64 - late;
            assert!((-0.1..=most).contains(&error), "{ppm} ppm: {late} ms, not {stands}");
        }
    }
}

/// Half of what stamps are as precise as, that, and twice as much: nothing hangs on it.
fn precisions() -> impl Iterator<Item = Duration> {
    [2, 4, 8].into_iter().map(|quarter| BondTuning::default().precision / 4 * quarter)
}

/// Its rate was known before. In the last half of an hour no queue is ever empty.
#[test]
fn a_clock_whose_rate_is_known_is_followed_while_queues_stand_both_ways() {
    for (precision, ppm) in precisions().flat_map(|own| [-500, -50, 50, 500].map(|ppm| (own, ppm))) {
        let mut pair = Pair::of_precision(0, precision);
        let start = pair.now;
        for report in 0..40 * 60 * 200_u64 {
            pair.ahead = (pair.now - start) as i64 * ppm / 1_000_000;
            let stands = if report < 10 * 60 * 200 { 0 } else { 50 };
            let late = pair.alone(stands, stands);
            // After ten minutes such a queue is the way's length.
            if (10 * 60 * 200..19 * 60 * 200).contains(&report) {
                assert!((late - 50.0).abs() < 0.5, "{ppm} ppm, {precision}: {late} ms");
            }
        }
    }
}

/// A step of 10 ms in ten minutes would be a rate of 17 ppm.
#[test]
fn a_clock_that_is_set_is_none_that_drifts() {
    for (precision, step) in precisions().flat_map(|own| [-10, 10, 100].map(|step| (own, step))) {
        let mut pair = Pair::of_precision(0, precision);
        for report in 0..20 * 60 * 200_u64 {
            pair.ahead = if report < 5 * 60 * 200 { 0 } else { step * MS as i64 };
            let stands = if report < 10 * 60 * 200 { report % 7 } else { 50 };
            let late = pair.alone(stands, stands);
            if (6 * 60 * 200..18 * 60 * 200).contains(&report) {
                let is_told = (late - stands as f64).abs() < 0.5;
                assert!(is_told, "{step} ms, {precision}: {late} ms, not {stands}");
            }
        }
    }
}

/// A controller lets stand on the way forth what seems to stand on the way back, and empties its queue each second.
#[test]
fn a_peer_whose_clock_falls_behind_lets_no_queue_grow() {
    for ppm in [50, 500, 1000] {
        let mut pair = Pair::new(0);
        let (start, mut late) = (pair.now, 0.0);
        for report in 0..10 * 60 * 200 {
            pair.ahead = -((pair.now - start) as i64 * ppm / 1_000_000);
            let queue = if report % 200 == 0 { 0.0 } else { late };
            late = pair.report([Some(20 * MS + (queue * 1e3) as u64), None], 0, 20 * MS);
            // The clocks drift apart by this in a second.
            assert!(late <= ppm as f64 / 1e3, "{ppm} ppm: {late} ms");
        }
        assert!(late < 0.1, "{ppm} ppm: {late} ms in the end");
    }
}

/// Reports come in lumps, and so do what they tell of: no newest packet is ever as quick as the quickest.
#[test]
fn clocks_are_compared_by_the_quickest_packets_of_a_report() {
    for ppm in [-50, 50] {
        let mut pair = Pair { excess: 3 * MS as u16 / TICK as u16, ..Pair::new(0) };
        let start = pair.now;
        for report in 0..60 * 60 * 200_u64 {
            pair.ahead = (pair.now - start) as i64 * ppm / 1_000_000;
            let forth = [Some((23 + report % 7) * MS), None];
            pair.hear(0, 20 * MS);
            pair.report(forth, 0, 21 * MS);
        }
        let error = pair.ways.offset.wrapping_sub(pair.ahead as u32) as i32;
        assert!(error.unsigned_abs() < MS as u32, "{ppm} ppm: {error} µs");
    }
}

/// The other direction carries nothing for half an hour, so that no delay tells of a clock.
#[test]
fn an_end_that_only_hears_takes_no_clock_for_a_queue() {
    for (ppm, step) in [(-500, 0), (50, 0), (500, 0), (0, 30), (0, -30)] {
        let mut pair = Pair::new(0);
        pair.alone(0, 0);
        let start = pair.now;
        for report in 0..30 * 60 * 200_u64 {
            pair.ahead = -((pair.now - start) as i64 * ppm / 1_000_000);
            if report > 1000 {
                pair.ahead += step * MS as i64;
            }
            pair.report([None, None], 0, 20 * MS);
            let standing = pair.ways.standing(pair.own(pair.now), PathId(0));
            assert_eq!(standing, Duration::ZERO, "{ppm} ppm, a step of {step} ms");
        }
        // Once something is sent, the clock is known.
        pair.alone(0, 0);
        (0..400).for_each(|_| assert_times([pair.alone(0, 30)], [30.0]));
        assert_eq!(pair.ways.standing(pair.own(pair.now), PathId(0)).as_millis(), 30, "{ppm} ppm");
    }
}

#[test]
fn a_clock_that_is_set_is_followed_when_a_queue_is_empty() {
    let mut pair = Pair::new(0);
    pair.alone(0, 0);
    for step in [-10 * MS as i64, -600 * SECOND as i64] {
        pair.ahead += step;
        assert_times([pair.alone(0, 60), pair.alone(5, 90)], [60.0, 90.0]);
    }
    for step in [10 * MS as i64, 1200 * SECOND as i64] {
        pair.ahead += step;
        assert_times([pair.alone(60, 0), pair.alone(90, 5)], [0.0, 5.0]);
    }
}

#[test]
fn a_peer_whose_clock_stood_still_is_measured_anew_after_a_round_trip() {
    let mut pair = Pair::new(0);
    assert_times([pair.alone(0, 0), pair.alone(0, 30)], [0.0, 30.0]);
    pair.ways.on_gap(pair.own(pair.now), Duration::from_secs(1));
    // They left before, and waited until the peer went on.
    pair.ahead -= 1000 * MS as i64;
    assert_times([pair.alone(900, 0), pair.alone(0, 10)], [30.0, 30.0]);
    pair.now += 1000 * MS;
    assert_times([pair.alone(0, 0), pair.alone(0, 10)], [0.0, 10.0]);
}

#[test]
fn a_way_that_becomes_shorter_counts_from_the_second_report_on() {
    let mut pair = Pair::new(0);
    pair.alone(10, 10);
    // Forth, then back.
    assert_times([pair.alone(0, 10), pair.alone(0, 0), pair.alone(0, 10)], [0.0, 0.0, 10.0]);
}

#[test]
fn a_clock_that_is_set_before_a_report_leaves_makes_no_way_shorter() {
    let mut pair = Pair::new(0);
    pair.hear(1, 45 * MS);
    assert_times([pair.alone(0, 0), pair.alone(3, 12)], [0.0, 12.0]);
    pair.step = 10 * MS;
    pair.alone(3, 0);
    pair.hear(1, 45 * MS);
    assert_times([pair.alone(3, 0), pair.alone(0, 12)], [0.0, 12.0]);
}

#[test]
fn a_report_by_a_longer_way_is_later_than_by_the_shortest_which_may_be_silent() {
    let mut pair = Pair::new(0);
    let forth = [Some(20 * MS), Some(50 * MS)];
    pair.report(forth, 0, 20 * MS);
    assert_times([pair.report(forth, 1, 45 * MS)], [25.0]);
    for _ in 0..60 * 200 {
        pair.ahead += 1;
        assert_eq!(pair.report([None, forth[1]], 1, 45 * MS).round(), 25.0);
    }
}

#[test]
fn what_the_peer_sends_tells_how_long_a_way_is_that_brings_no_reports() {
    let mut pair = Pair::new(0);
    let forth = [Some(20 * MS), Some(50 * MS)];
    assert_times([pair.report(forth, 1, 45 * MS)], [0.0]);
    pair.hear(0, 22 * MS);
    assert_times([pair.report(forth, 1, 45 * MS)], [23.0]);
}

#[test]
fn it_may_seem_that_a_set_clock_made_a_way_shorter_and_it_has_not() {
    let mut pair = Pair::new(0);
    let forth = [Some(20 * MS), Some(50 * MS)];
    pair.report(forth, 0, 20 * MS);
    // The peer's clock is set, and this comes before a report tells.
    pair.ahead += 10 * MS as i64;
    pair.hear(1, 45 * MS);
    pair.report(forth, 0, 20 * MS);
    assert_times([pair.report(forth, 1, 45 * MS)], [25.0]);
    pair.ahead -= 10 * MS as i64;
    assert_times([pair.report(forth, 1, 45 * MS)], [25.0]);
}
