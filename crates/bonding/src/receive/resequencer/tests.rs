use super::*;
use proptest::prelude::*;
use std::collections::BTreeSet;

const PATIENCE: Duration = Duration::from_millis(50);

fn at(millis: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(millis)
}

/// A resequencer whose packets are numbers. Global numbers are 100 more.
struct Bench(Resequencer<u32>);

impl Bench {
    fn new(most: u32) -> Self {
        Self(Resequencer::new(most, 4))
    }

    /// Offers a packet; whether it was taken.
    fn offer(&mut self, when: u64, bucket: u16, number: u32) -> bool {
        let (seq, global) = (FlowSeq::new(number), GlobalSeq::new(number.wrapping_add(100)));
        let arrival = Arrival { bucket, seq, global, len: 10, packet: number };
        self.0.offer(at(when), arrival, || PATIENCE).is_ok()
    }

    fn out(&mut self) -> Vec<u32> {
        std::iter::from_fn(|| self.0.pop()).collect()
    }

    fn view(&self) -> ResequencerView {
        self.0.view(PATIENCE)
    }
}

#[test]
fn what_waits_is_delivered_in_order_when_the_missing_one_comes() {
    let mut bench = Bench::new(16);
    for number in [0, 3, 2, 5] {
        assert!(bench.offer(0, 1, number));
    }
    assert_eq!(bench.out(), [0]);
    assert_eq!((bench.view().depth_packets, bench.view().depth_bytes), (3, 30));
    assert!(bench.offer(20, 1, 1));
    assert_eq!(bench.out(), [1, 2, 3]);
    assert!(bench.offer(30, 1, 4));
    assert_eq!(bench.out(), [4, 5]);
    assert!(!bench.offer(31, 1, 4), "it was delivered");
    let view = bench.view();
    assert_eq!((view.depth_packets, view.max_depth_packets, view.delivered, view.late), (0, 3, 6, 1));
    assert_eq!(view.max_added_delay, Duration::from_millis(30));
    assert_eq!(view.mean_added_delay, Duration::from_millis(70) / 6);
    assert_eq!(bench.0.deadline(), Instant::MAX);
}

#[test]
fn a_gap_is_given_up_in_time_and_what_comes_later_is_refused() {
    let mut bench = Bench::new(16);
    bench.offer(0, 0, 0);
    bench.offer(10, 0, 3);
    bench.offer(20, 0, 6);
    bench.offer(30, 0, 7);
    assert_eq!(bench.0.deadline(), at(60));
    bench.0.expire(at(59), |_, _| None);
    assert_eq!(bench.out(), [0]);
    bench.0.expire(at(60), |_, _| None);
    assert_eq!(bench.out(), [3]);
    assert_eq!(bench.0.take_given_up(), 2);
    assert_eq!(bench.0.deadline(), at(70));
    assert!(!bench.offer(65, 0, 2));
    bench.0.expire(at(80), |_, _| None);
    assert_eq!(bench.out(), [6, 7]);
    assert_eq!((bench.view().given_up, bench.view().late), (4, 1));
}

#[test]
fn a_time_that_is_up_may_be_prolonged() {
    let mut bench = Bench::new(16);
    bench.offer(0, 0, 3);
    bench.offer(40, 0, 6);
    let until = |limit: u64, number: u32| {
        move |arrived_at: Instant, global: GlobalSeq| {
            (arrived_at == at(0) && global.get() == 100 + number).then(|| at(limit))
        }
    };
    bench.0.expire(at(50), until(55, 3));
    assert_eq!((bench.out(), bench.0.deadline()), (vec![], at(55)));
    bench.0.expire(at(55), until(60, 4));
    assert_eq!((bench.out(), bench.0.deadline()), (vec![3], at(90)), "no longer the first one");
    assert_eq!(bench.view().given_up, 3);
}

#[test]
fn buckets_do_not_wait_for_each_other() {
    let mut bench = Bench::new(16);
    bench.offer(0, 0, 1);
    for number in 0..3 {
        bench.offer(0, 2, number);
    }
    assert_eq!(bench.out(), [0, 1, 2]);
    bench.offer(10, 900, 5);
    assert_eq!(bench.0.deadline(), at(50));
    bench.0.expire(at(50), |_, _| None);
    assert_eq!(bench.out(), [1], "and buckets that the ingress has more of are taken as they come");
    bench.0.expire(at(60), |_, _| None);
    assert_eq!(bench.out(), [5]);
}

#[test]
fn a_gap_that_every_path_has_passed_is_given_up_at_once() {
    let mut bench = Bench::new(16);
    bench.offer(0, 0, 0);
    bench.offer(0, 0, 2);
    bench.0.on_passed(at(1), None, GlobalSeq::new(101));
    assert_eq!(bench.out(), [0], "packet 1 may be global number 101, but 102 was not passed");
    bench.0.on_passed(at(1), None, GlobalSeq::new(102));
    assert_eq!(bench.out(), [2]);
    // One path has passed 105, and carried everything from 104 on: 3 may have been global 103.
    bench.offer(2, 0, 5);
    bench.0.on_passed(at(3), Some(GlobalSeq::new(104)), GlobalSeq::new(105));
    assert_eq!(bench.out(), [0; 0]);
    bench.0.on_passed(at(3), Some(GlobalSeq::new(103)), GlobalSeq::new(105));
    assert_eq!(bench.out(), [5]);
    assert_eq!(bench.view().given_up, 3);
}

#[test]
fn a_full_pool_gives_up_rather_than_grow() {
    let mut bench = Bench::new(16);
    for number in 1..=16 {
        assert!(bench.offer(0, 0, 2 * number));
    }
    assert_eq!(bench.out(), [0; 0]);
    assert!(bench.offer(1, 1, 1));
    assert_eq!(bench.out(), [2]);
    assert!(bench.offer(1, 1, 3));
    assert_eq!(bench.out(), [1], "of its own bucket, if that has one that waits");
    assert_eq!(bench.view().max_depth_packets, 16);
}

#[test]
fn numbers_wrap() {
    let mut bench = Bench::new(16);
    for number in [u32::MAX - 1, 0, u32::MAX, 2, 1] {
        assert!(bench.offer(0, 0, number));
    }
    assert_eq!(bench.out(), [u32::MAX - 1, u32::MAX, 0, 1, 2]);
}

proptest! {
    /// Whatever is offered and when, packets come out in order, once, and only if they were
    /// offered.
    #[test]
    fn order_holds(
        steps in proptest::collection::vec((0u16..3, 0u32..60, 0u64..20, proptest::bool::ANY), 1..300),
        most in 16u32..40,
    ) {
        let mut bench = Bench::new(most);
        let (mut now, mut offered) = (0, BTreeSet::new());
        let mut last = [None; 3];
        let mut delivered = 0;
        for (bucket, number, pause, is_timeout) in steps {
            now += pause;
            if is_timeout {
                bench.0.expire(at(now), |_, _| None);
            }
            // Packets carry their bucket: 1000 per bucket.
            let packet = 1000 * u32::from(bucket) + number;
            let (seq, global) = (FlowSeq::new(number), GlobalSeq::new(packet));
            let arrival = Arrival { bucket, seq, global, len: 1, packet };
            let taken = bench.0.offer(at(now), arrival, || PATIENCE).is_ok();
            let is_new = offered.insert(packet);
            prop_assert!(is_new || !taken, "taken twice");
            for packet in bench.out() {
                prop_assert!(offered.contains(&packet));
                let place = (packet / 1000) as usize;
                prop_assert!(last[place].is_none_or(|last| last < packet));
                last[place] = Some(packet);
                delivered += 1;
            }
            prop_assert!(bench.view().depth_packets <= most);
        }
        bench.0.expire(at(now + 1000), |_, _| None);
        delivered += bench.out().len() as u64;
        prop_assert_eq!(bench.view().depth_packets, 0);
        prop_assert_eq!(bench.view().delivered, delivered);
    }
}
