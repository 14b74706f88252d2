use super::*;
use proptest::prelude::*;

fn trace(text: &str) -> Trace {
    Trace::parse(text).unwrap()
}

fn ms(ms: u64) -> Instant {
    Instant::from_nanos(ms * 1_000_000)
}

fn with_trace(text: &str) -> Transmitter {
    Transmitter::new(Rate::ZERO, Some(trace(text)), Instant::ZERO)
}

#[test]
fn a_constant_rate_takes_its_exact_time() {
    let mut t = Transmitter::new(Rate::from_bits_per_sec(10_000_000), None, Instant::ZERO);
    for (at, bytes, end) in [(0, 1_500, 1_200_000), (5, 1_500, 1_200_005), (0, 66, 52_800), (0, 0, 0)] {
        assert_eq!(t.departure(Instant::from_nanos(at), bytes), Instant::from_nanos(end));
    }
    let mut stopped = Transmitter::new(Rate::ZERO, None, Instant::ZERO);
    assert_eq!(stopped.departure(Instant::from_nanos(1), 100), Instant::MAX);
}

#[test]
fn small_packets_share_an_opportunity_and_large_ones_take_several() {
    let mut t = with_trace("2\n5\n9\n");
    // 700 + 700 of the first; 100 left of it are not enough for 700: 600 of the second.
    assert_eq!(t.departure(ms(0), 700), ms(2));
    assert_eq!(t.departure(ms(2), 700), ms(2));
    assert_eq!(t.departure(ms(2), 700), ms(5));
    // 900 left of the second, 1500 of the third, 100 of the first of the second round, at 9 + 2.
    assert_eq!(t.departure(ms(5), 2_500), ms(11));
    assert_eq!(t.departure(ms(11), 1_400), ms(11));
    assert_eq!(t.departure(ms(11), 1), ms(14));
}

#[test]
fn an_opportunity_that_finds_nobody_is_gone() {
    let mut t = with_trace("2\n5\n9\n");
    assert_eq!(t.departure(ms(0), 100), ms(2));
    // The rest of the one at 2 ms is gone a nanosecond later.
    assert_eq!(t.departure(Instant::from_nanos(2_000_001), 100), ms(5));
    assert_eq!(t.departure(ms(9), 100), ms(9));
    // Many rounds later: 9 * 1000 + 2.
    assert_eq!(t.departure(Instant::from_nanos(9_000_000_001), 100), ms(9_002));
    assert_eq!(t.departure(ms(18_000), 100), ms(18_000));
}

#[test]
fn going_down_gives_back_what_was_reserved() {
    let mut t = with_trace("2\n5\n9\n");
    assert_eq!(t.departure(ms(0), 3_000), ms(5));
    t.pause(ms(3));
    t.resume(ms(4));
    assert_eq!(t.departure(ms(4), 1_500), ms(5));
}

#[test]
fn capacity_counts_opportunities_that_have_passed() {
    let mut t = with_trace("2\n5\n9\n");
    for (now, opportunities) in [(0, 0), (1, 0), (2, 1), (8, 2), (9, 3), (11, 4), (18, 6)] {
        assert_eq!(t.capacity(ms(now)), opportunities * 1_500, "{now} ms");
    }
    t.resume(ms(9));
    assert_eq!(t.capacity(ms(18)), 3 * 1_500);
    assert!((t.small_packets_in(Duration::from_secs(9)) - 9_000.0).abs() < 1e-3);
}

/// Every opportunity of 1500 octets in order, as plainly as possible.
fn reference(list: &[u64], packets: &[(u64, u32)]) -> Vec<u64> {
    let period = list[list.len() - 1];
    let mut opportunities =
        (0..).flat_map(|round| list.iter().map(move |ms| (round * period + ms) * 1_000_000));
    let (mut time, mut left) = (opportunities.next().unwrap(), 1_500u32);
    let mut free_at = 0;
    let mut departures = Vec::new();
    for &(arrival, bytes) in packets {
        let start = arrival.max(free_at);
        let mut rest = bytes;
        loop {
            while left == 0 || time < start {
                (time, left) = (opportunities.next().unwrap(), 1_500);
            }
            let used = rest.min(left);
            (rest, left) = (rest - used, left - used);
            if rest == 0 {
                break;
            }
        }
        free_at = time;
        departures.push(time);
    }
    departures
}

proptest! {
    #[test]
    fn departures_match_a_walk_over_all_opportunities(
        mut list in prop::collection::vec(0u64..50, 1..20),
        gaps in prop::collection::vec((0u64..40_000_000, 1u32..4_000), 1..60),
    ) {
        list.sort_unstable();
        *list.last_mut().unwrap() += 1;
        let mut now = 0;
        let packets: Vec<(u64, u32)> = gaps.iter().map(|&(gap, bytes)| { now += gap; (now, bytes) }).collect();
        let expected = reference(&list, &packets);
        let mut t = Transmitter::new(Rate::ZERO, Some(Trace { opportunities_ms: list.into() }), Instant::ZERO);
        let mut free_at = Instant::ZERO;
        for (&(arrival, bytes), expected) in packets.iter().zip(expected) {
            free_at = t.departure(Instant::from_nanos(arrival).max(free_at), bytes);
            prop_assert_eq!(free_at, Instant::from_nanos(expected));
        }
    }

    #[test]
    fn what_is_left_after_a_change_of_rate_is_exact(bytes in 1u32..65_536, rate in 1u64..1_000_000_000, share in 0.0f64..1.0) {
        let rate = Rate::from_bits_per_sec(rate);
        let t = Transmitter::new(rate, None, Instant::ZERO);
        let work = u64::from(bytes) * WORK_PER_OCTET;
        let whole = time_for(work, rate);
        prop_assert_eq!(whole, rate.transmission_time(bytes));
        let elapsed = whole.mul_f64(share);
        let rest = t.rest(elapsed, work).unwrap();
        // Going on at the same rate ends at the same time.
        prop_assert_eq!(elapsed + time_for(rest, rate), whole.max(elapsed));
    }
}

#[test]
fn real_traces_carry_what_they_promise() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/traces");
    let Ok(files) = std::fs::read_dir(folder) else {
        println!("skipped: no {folder}");
        return;
    };
    let mut read = 0;
    for path in files.map(|file| file.unwrap().path()) {
        if !path.extension().is_some_and(|extension| extension == "up" || extension == "down") {
            continue;
        }
        let trace = trace(&std::fs::read_to_string(&path).unwrap());
        let (count, period) = (trace.opportunities_ms.len() as u64, *trace.opportunities_ms.last().unwrap());
        let mut t = Transmitter::new(Rate::ZERO, Some(trace), Instant::ZERO);
        let mut now = Instant::ZERO;
        for _ in 0..2 * count {
            now = t.departure(now, 1_500);
        }
        assert_eq!(now, ms(2 * period), "{}", path.display());
        assert_eq!(t.capacity(now), 2 * count * 1_500);
        read += 1;
    }
    assert!(read > 0, "no trace in {folder}");
}
