use super::*;
use crate::id::PathId;
use crate::tuning::BondTuning;
use crate::wire::control::Missing;

fn seq(number: u32) -> PathSeq {
    PathSeq::new(number)
}

fn at(millis: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(millis)
}

/// On this path, the bond's numbers are ten times as high.
fn global(number: u32) -> GlobalSeq {
    GlobalSeq::new(number.wrapping_mul(10))
}

fn fill(gaps: &mut Gaps, millis: u64, number: u32) -> Option<(u64, bool)> {
    let found = gaps.fill(at(millis), seq(number), global(number))?;
    Some((found.late_by.as_millis(), found.is_lost))
}

#[test]
fn a_number_that_comes_in_time_is_not_lost() {
    let mut gaps = Gaps::default();
    gaps.open(seq(u32::MAX - 1), seq(3), at(0), None);
    for number in [0, u32::MAX - 1, 2] {
        assert_eq!(fill(&mut gaps, 7, number), Some((7, false)));
        assert_eq!(fill(&mut gaps, 7, number), None, "it was filled");
    }
    let [timeout, memory] = [50, 1000].map(Duration::from_millis);
    gaps.expire(at(49), timeout, memory);
    assert_eq!(gaps.lost, 0);
    gaps.expire(at(50), timeout, memory);
    assert_eq!(gaps.lost, 2);
    assert_eq!(fill(&mut gaps, 60, 1), Some((60, true)), "it was given up");
    assert_eq!(gaps.lost, 2, "and told");
    gaps.expire(at(1000), timeout, memory);
    assert_eq!(fill(&mut gaps, 1000, u32::MAX), None, "it is forgotten");
    assert_eq!(gaps.lost, 2);
}

#[test]
fn the_oldest_of_too_many_gaps_is_lost() {
    let mut gaps = Gaps::default();
    for number in 0..=GAPS_MOST as u32 {
        gaps.open(seq(2 * number), seq(2 * number + 1), at(0), None);
    }
    assert_eq!((gaps.lost, gaps.all.len()), (1, GAPS_MOST));
}

#[test]
fn a_gap_is_waited_for_until_packets_and_window_have_passed() {
    let mut gaps = Gaps::default();
    let mut window = ReorderingWindow::new(&BondTuning::default(), at(0));
    window.end_trial();
    gaps.open(seq(4), seq(6), at(10), Some(global(3)));
    gaps.note_arrivals(2);
    gaps.open(seq(8), seq(9), at(11), Some(global(7)));
    assert_eq!(gaps.awaited(at(900), 3, &mut window, None), Some(Some(global(3))), "only two packets");
    assert_eq!(fill(&mut gaps, 12, 4), Some((2, false)));
    assert_eq!(gaps.awaited(at(12), 3, &mut window, None), Some(Some(global(4))));
    gaps.note_arrivals(1);
    assert_eq!(gaps.awaited(at(12), 3, &mut window, None), Some(Some(global(7))), "the next one");
    window.note(at(12), Duration::from_millis(20));
    gaps.note_arrivals(2);
    assert_eq!(
        gaps.awaited(at(50), 3, &mut window, None),
        Some(Some(global(7))),
        "twice 20 ms from 11 ms on"
    );
    assert_eq!(gaps.awaited(at(51), 3, &mut window, None), None);
    assert_eq!(fill(&mut gaps, 60, 8), Some((49, false)), "what was not waited for may be found");
    assert_eq!((gaps.passed, gaps.counted, gaps.all.len()), (1, 0, 1));
}

fn terms(millis: u64) -> Terms {
    let [window, repair_time, patience] = [0, 40, 100].map(Duration::from_millis);
    Terms { now: at(millis), reordering_time: Duration::MAX, reordering: 3, window, repair_time, patience }
}

/// What is asked for at this time: the first number and the count of each range.
fn ask(gaps: &mut Gaps, millis: u64) -> Vec<(u32, u32)> {
    let mut missing = Missing::new(PathId(0));
    if gaps.may_be_asked_for(at(millis)) {
        gaps.ask(&terms(millis), &mut missing);
    }
    missing.ranges().iter().map(|range| (range.from.get(), range.packets)).collect()
}

#[test]
fn what_is_missing_is_asked_for_again_and_again_until_nobody_waits_for_it() {
    let mut gaps = Gaps::default();
    let mut window = ReorderingWindow::new(&BondTuning::default(), at(0));
    window.end_trial();
    let patience = Duration::from_millis(100);
    gaps.open(seq(4), seq(6), at(10), Some(global(3)));
    gaps.note_arrivals(2);
    assert_eq!(ask(&mut gaps, 11), [], "it may only be late");
    gaps.note_arrivals(1);
    assert_eq!(ask(&mut gaps, 12), [(4, 2)]);
    assert_eq!(ask(&mut gaps, 13), [], "it is under way");
    assert_eq!(gaps.awaited(at(51), 3, &mut window, None), None, "nobody would wait if it were not");
    let mut gaps = Gaps { passed: 0, ..gaps };
    gaps.repair(at(51), seq(5), global(5));
    assert_eq!(gaps.lost, 1, "what came again had been lost");
    assert_eq!(ask(&mut gaps, 52), [(4, 1)], "the rest is overdue");
    assert_eq!(ask(&mut gaps, 91), [], "it is under way again");
    assert_eq!(ask(&mut gaps, 92), [(4, 1)]);
    assert_eq!(gaps.awaited(at(109), 3, &mut window, Some(patience)), Some(Some(global(3))));
    assert_eq!(gaps.awaited(at(110), 3, &mut window, Some(patience)), None);
    assert_eq!(ask(&mut gaps, 132), [], "it would come too late");
    gaps.expire(at(92), Duration::from_millis(10), patience);
    assert_eq!(gaps.lost, 2);
    gaps.repair(at(93), seq(4), global(4));
    assert_eq!((gaps.lost, gaps.all.len()), (2, 0), "it counts once");
}

#[test]
fn what_a_request_has_no_room_for_is_asked_for_by_the_next() {
    let mut gaps = Gaps::default();
    for number in 0..Missing::MOST as u32 + 2 {
        gaps.open(seq(2 * number), seq(2 * number + 1), at(0), None);
    }
    gaps.note_arrivals(3);
    assert_eq!(ask(&mut gaps, 1).len(), Missing::MOST);
    assert_eq!(ask(&mut gaps, 1), [(16, 1), (18, 1)]);
    assert_eq!(ask(&mut gaps, 2), []);
}
