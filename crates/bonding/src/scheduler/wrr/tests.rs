use super::*;
use crate::config::{PathConfig, SchedulerConfig, Turns};
use crate::scheduler::LossDelay;
use proptest::prelude::*;
use ropewalk_units::Duration;

/// T_report, ms.
const REPORT: u64 = 50;

fn at(millis: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(millis)
}

fn views(count: usize) -> Vec<View> {
    let view = |place: usize| View {
        id: PathId(place as u8),
        is_up: true,
        may_send: true,
        has_room: true,
        is_crowded: false,
        may_copy: true,
        one_way: None,
        queue: 0,
        loss_delay: LossDelay::default(),
        enough: 1.0,
        deviation: 0,
        rate: 0.0,
        is_rate_known: false,
        is_in_use: false,
        share_percent: 0,
    };
    (0..count).map(view).collect()
}

/// Paths with these first and greatest weights; the cheapest one is the last, its first weight
/// w_fixed.
fn scheduler(own: WrrConfig, fixed: u32, others: &[(u32, u32)]) -> WeightedRoundRobin {
    let mut paths: Vec<PathConfig> = Vec::new();
    for (place, &(weight, most)) in others.iter().enumerate() {
        let mut path = PathConfig::new(format!("p{place}"), Some(100 - place as u32));
        (path.weight, path.max_weight) = (Some(weight), Some(most));
        paths.push(path);
    }
    let mut path = PathConfig::new("fixed", Some(1));
    path.weight = Some(fixed);
    paths.push(path);
    let config = Config::new(paths, SchedulerConfig::WeightedRoundRobin(own));
    assert_eq!(config.validate(), Ok(()));
    WeightedRoundRobin::new(&config, own, at(0))
}

/// Weights, cheapest path first.
fn weights(scheduler: &WeightedRoundRobin) -> Vec<f64> {
    scheduler.ranks.0.iter().map(|rank| rank.weight).collect()
}

/// The paper's §3 for two paths and nothing else: the generalisation must agree with it.
struct Papers {
    own: WrrConfig,
    fixed: f64,
    mobile: f64,
    most: f64,
    lossless_since: Instant,
    credit: f64,
    left: [f64; 2],
}

impl Papers {
    fn new(own: WrrConfig, fixed: u32, (mobile, most): (u32, u32)) -> Self {
        let [fixed, mobile, most] = [fixed, mobile, most].map(f64::from);
        Self { own, fixed, mobile, most, lossless_since: at(0), credit: 0.0, left: [0.0; 2] }
    }

    fn report(&mut self, now: Instant, fixed: &Progress) {
        let (lost, sent) = match self.own.loss_unit {
            LossUnit::Packets => (fixed.lost_packets, fixed.sent_packets),
            LossUnit::Bytes => (fixed.lost_bytes, fixed.sent_bytes),
        };
        if fixed.lost_packets > 0 {
            self.lossless_since = now;
            let ratio = f64::from(lost) / f64::from(sent.max(lost).max(1));
            let initial = f64::from(fixed.lost_packets);
            self.mobile += if self.mobile > 0.0 { self.own.gain * ratio * self.fixed } else { initial };
        } else if now - self.lossless_since >= self.own.decrement_delay {
            self.mobile -= 1.0;
            if self.own.decrement_pace == DecrementPace::EachDelay {
                self.lossless_since = now;
            }
        }
        self.mobile = match self.own.arithmetic {
            WeightArithmetic::Whole => self.mobile.floor(),
            WeightArithmetic::Rounded => self.mobile.round(),
            WeightArithmetic::Fractional => self.mobile,
        };
        self.mobile = self.mobile.clamp(0.0, self.most);
    }

    fn is_mobiles_turn(&mut self) -> bool {
        if self.own.turns == Turns::Spread {
            let whole = self.fixed + self.mobile;
            self.credit += self.mobile;
            let is_owed = self.credit >= whole;
            self.credit = if is_owed { (self.credit - whole).min(whole) } else { self.credit };
            return is_owed;
        }
        if self.left.iter().all(|&left| left < 1.0) {
            self.left = [self.left[0] + self.fixed, self.left[1] + self.mobile];
        }
        let due = usize::from(self.left[0] < 1.0);
        self.left[due] -= 1.0;
        due == 1
    }
}

fn own() -> impl Strategy<Value = WrrConfig> {
    let arithmetic = prop_oneof![
        Just(WeightArithmetic::Whole),
        Just(WeightArithmetic::Rounded),
        Just(WeightArithmetic::Fractional)
    ];
    (0.05..3.0f64, 0u64..600, arithmetic, any::<[bool; 3]>()).prop_map(|(gain, delay, arithmetic, other)| {
        WrrConfig {
            gain,
            decrement_delay: Duration::from_millis(delay),
            decrement_pace: if other[0] { DecrementPace::EachReport } else { DecrementPace::EachDelay },
            loss_unit: if other[1] { LossUnit::Packets } else { LossUnit::Bytes },
            arithmetic,
            turns: if other[2] { Turns::Spread } else { Turns::Consecutive },
        }
    })
}

/// Often no loss, sometimes more lost than sent.
fn progress() -> impl Strategy<Value = Progress> {
    let lost = prop_oneof![2 => Just(0u32), 1 => 0u32..60];
    (lost, 0u32..300, 40u32..1500, 40u32..1500).prop_map(|(lost, sent, lost_len, sent_len)| Progress {
        lost_packets: lost,
        sent_packets: sent,
        lost_bytes: lost * lost_len,
        sent_bytes: sent * sent_len,
    })
}

/// A first weight that is no more than the greatest.
fn bounds() -> impl Strategy<Value = (u32, u32)> {
    (0u32..100, 0u32..100).prop_map(|(one, other)| (one.min(other), one.max(other)))
}

/// Paths with capacities in packets per report, cheapest first, a constant load, and reports
/// without delay.
struct Fluid {
    scheduler: WeightedRoundRobin,
    capacities: Vec<u32>,
    paths: Vec<View>,
    now: u64,
    lost: u32,
}

impl Fluid {
    fn new(scheduler: WeightedRoundRobin, capacities: &[u32]) -> Self {
        let paths = views(capacities.len());
        Self { scheduler, capacities: capacities.to_vec(), paths, now: 0, lost: 0 }
    }

    /// Sends that many packets in one T_report, and reports what is lost. Returns the weights,
    /// cheapest path first.
    fn step(&mut self, offered: u32) -> Vec<f64> {
        self.now += REPORT;
        let mut usable = PathSet::EMPTY;
        let up = self.paths.iter().filter(|path| path.is_up);
        up.for_each(|path| usable.insert(path.id));
        let ask = Ask { now: at(self.now), bucket: 0, size: 1000, waiting: 0, followers: None, usable };
        let mut progress = vec![Progress::default(); self.paths.len()];
        for _ in 0..offered {
            let chosen = self.scheduler.pick(&ask, &self.paths).paths.first().expect("a path");
            progress[chosen.index()].sent_packets += 1;
        }
        for (rank, &capacity) in self.scheduler.ranks.0.iter().zip(&self.capacities) {
            let path = &mut progress[rank.id.index()];
            path.lost_packets = path.sent_packets.saturating_sub(capacity);
            self.lost += path.lost_packets;
        }
        self.scheduler.on_report(at(self.now), &progress, &self.paths);
        weights(&self.scheduler)
    }
}

fn lively() -> WrrConfig {
    WrrConfig { gain: 1.0, arithmetic: WeightArithmetic::Fractional, ..WrrConfig::default() }
}

#[test]
fn three_paths_fill_in_the_order_of_their_costs_and_hand_back_in_reverse() {
    // 250 + 100 + 200 packets per report: weights of 20 and 40 are full beside 50.
    let mut fluid = Fluid::new(scheduler(lively(), 50, &[(0, 50), (0, 50)]), &[250, 100, 200]);
    let rising: Vec<(u32, Vec<f64>)> = (200..=500).map(|load| (load, fluid.step(load))).collect();
    for (load, weights) in &rising {
        assert!(*load > 250 || weights[1..] == [0.0, 0.0], "{load}: {weights:?}");
        assert!(*load < 260 || weights[1] > 0.0, "{load}: {weights:?}");
        assert!(*load > 340 || weights[2] == 0.0, "the second carries it: {load}: {weights:?}");
        assert!(*load < 360 || weights[2] > 0.0, "{load}: {weights:?}");
    }
    let offered: u32 = (200..=500).sum();
    assert!(f64::from(fluid.lost) < 0.02 * f64::from(offered), "{} of {offered}", fluid.lost);

    // The load falls to what the first path carries alone. Nothing is lost, and after T_dwd the
    // weight of the costliest path falls first.
    (0..5).for_each(|_| drop(fluid.step(200)));
    let falling: Vec<Vec<f64>> = (0..150).map(|_| fluid.step(200)).collect();
    let second = falling[0][1];
    assert!(second > 10.0 && falling[0][2] > 10.0, "not before T_dwd: {:?}", falling[0]);
    let third_gone = falling.iter().position(|weights| weights[2] == 0.0).expect("handed back");
    assert!(falling[..=third_gone].iter().all(|weights| weights[1] == second), "{falling:?}");
    let second_gone = falling.iter().position(|weights| weights[1] == 0.0).expect("handed back");
    assert_eq!(second_gone - third_gone, second.ceil() as usize, "one for each report");
    assert_eq!(falling.last(), Some(&vec![50.0, 0.0, 0.0]));
}

#[test]
fn what_one_path_was_given_too_much_goes_back_to_a_cheaper_one_with_room() {
    // The burst of losses gives the small second path its whole 50; the first then has room, the
    // second none.
    let mut fluid = Fluid::new(scheduler(lively(), 50, &[(0, 50), (0, 50)]), &[320, 50, 300]);
    let at_once = fluid.step(450);
    assert_eq!(at_once, [50.0, 50.0, 0.0]);
    (0..200).for_each(|_| drop(fluid.step(450)));
    fluid.lost = 0;
    let settled: Vec<Vec<f64>> = (0..100).map(|_| fluid.step(450)).collect();
    // 320, 50 and 80 packets are weights of 50, 8 and 12.5.
    let mean = |rank: usize| settled.iter().map(|weights| weights[rank]).sum::<f64>() / 100.0;
    assert!((mean(1) - 8.0).abs() < 1.5, "{}", mean(1));
    assert!((mean(2) - 12.5).abs() < 3.0, "{}", mean(2));
    assert!(fluid.lost < 450, "{} of 45 000", fluid.lost);
}

#[test]
fn a_path_at_its_greatest_weight_is_passed_over() {
    let mut fluid = Fluid::new(scheduler(lively(), 50, &[(0, 50), (0, 10)]), &[250, 250, 250]);
    let run: Vec<Vec<f64>> = (0..100).map(|_| fluid.step(400)).collect();
    assert!(run.iter().all(|weights| weights[1] <= 10.0));
    // 400 packets are 250 (weight 50), 50 (10) and 100 (20).
    assert!((run[99][2] - 20.0).abs() < 2.0, "{:?}", run[99]);
}

#[test]
fn while_the_cheapest_is_down_the_next_stands_in_for_it() {
    let mut fluid = Fluid::new(scheduler(lively(), 50, &[(0, 50), (0, 50)]), &[250, 100, 200]);
    fluid.step(200);
    fluid.paths[2].is_up = false;
    assert_eq!(fluid.step(90)[1..], [0.0, 0.0], "the second carries it all, whatever its weight");
    // 100 and 50 packets are weights of 50 and 25.
    let overflow: Vec<f64> = (0..100).map(|_| fluid.step(150)[2]).collect();
    assert!((overflow[99] - 25.0).abs() < 2.0, "{}", overflow[99]);
    fluid.paths[1].is_up = false;
    fluid.lost = 0;
    fluid.step(190);
    assert_eq!(fluid.lost, 0, "the last one left takes all");
}

#[test]
fn a_path_that_is_down_is_raised_only_if_no_other_can_be() {
    let mut fluid = Fluid::new(scheduler(lively(), 50, &[(0, 50), (0, 50)]), &[250, 100, 200]);
    fluid.paths[1].is_up = false;
    let raised = fluid.step(300);
    assert_eq!(raised, [50.0, 0.0, 50.0]);
}

proptest! {
    #[test]
    fn of_two_paths_the_generalisation_is_the_papers(
        own in own(),
        fixed in 1u32..100,
        mobile in bounds(),
        steps in proptest::collection::vec((1u64..200, progress(), progress(), 0usize..200), 1..80),
    ) {
        let mut papers = Papers::new(own, fixed, mobile);
        let mut general = scheduler(own, fixed, &[mobile]);
        let (paths, mut now) = (views(2), 0);
        let usable = PathSet::one(PathId(0));
        let mut both = usable;
        both.insert(PathId(1));
        for (passed, of_fixed, of_mobile, packets) in steps {
            let ask = Ask { now: at(now), bucket: 0, size: 1000, waiting: 0, followers: None, usable: both };
            for _ in 0..packets {
                let chosen = PathSet::one(PathId(u8::from(!papers.is_mobiles_turn())));
                prop_assert_eq!(general.pick(&ask, &paths).paths, chosen);
            }
            now += passed;
            papers.report(at(now), &of_fixed);
            general.on_report(at(now), &[of_mobile, of_fixed], &paths);
            prop_assert_eq!(weights(&general), [papers.fixed, papers.mobile]);
        }
    }

    #[test]
    fn weights_stay_within_their_bounds_and_packets_on_usable_paths(
        own in own(),
        fixed in 1u32..100,
        others in proptest::collection::vec(bounds(), 1..8),
        steps in proptest::collection::vec(
            (1u64..200, proptest::collection::vec((progress(), 0u8..6), 8)),
            1..60,
        ),
    ) {
        let count = others.len() + 1;
        let mut scheduler = scheduler(own, fixed, &others);
        let (mut paths, mut now) = (views(count), 0);
        for (passed, of_paths) in steps {
            now += passed;
            let progress: Vec<Progress> = of_paths[..count].iter().map(|&(progress, _)| progress).collect();
            let mut usable = PathSet::EMPTY;
            for (path, &(_, state)) in paths.iter_mut().zip(&of_paths) {
                path.is_up = state != 0;
                if state != 0 {
                    usable.insert(path.id);
                }
            }
            let before = weights(&scheduler);
            scheduler.on_report(at(now), &progress, &paths);
            prop_assert_eq!(scheduler.weight(&paths[count - 1]), fixed);
            for (path, &(_, most)) in paths.iter().zip(&others) {
                prop_assert!(scheduler.weight(path) <= most);
            }
            prop_assert!(weights(&scheduler).iter().all(|weight| (0.0..=99.0).contains(weight)));
            let fell = weights(&scheduler).iter().zip(&before).filter(|(now, before)| now < before).count();
            prop_assert!(fell <= 1, "one path hands back at a time");
            if usable.is_empty() {
                continue;
            }
            let ask = Ask { now: at(now), bucket: 0, size: 1000, waiting: 0, followers: None, usable };
            for _ in 0..50 {
                let chosen = scheduler.pick(&ask, &paths).paths;
                prop_assert!(chosen.is_single() && usable.contains(chosen.first().expect("one")));
            }
        }
    }

    #[test]
    fn packets_are_shared_out_by_the_weights(
        turns in prop_oneof![Just(Turns::Spread), Just(Turns::Consecutive)],
        fixed in 1u32..60,
        others in proptest::collection::vec((0u32..60).prop_map(|weight| (weight, 60)), 1..8),
    ) {
        let own = WrrConfig { turns, ..WrrConfig::default() };
        let mut scheduler = scheduler(own, fixed, &others);
        let paths = views(others.len() + 1);
        let mut usable = PathSet::EMPTY;
        paths.iter().for_each(|path| usable.insert(path.id));
        let ask = Ask { now: at(0), bucket: 0, size: 1000, waiting: 0, followers: None, usable };
        let whole = fixed + others.iter().map(|&(weight, _)| weight).sum::<u32>();
        let mut sent = vec![0i64; paths.len()];
        for _ in 0..10 * whole {
            sent[scheduler.pick(&ask, &paths).paths.first().expect("a path").index()] += 1;
        }
        // With spread turns, several paths may be owed a packet at once.
        let slack = if turns == Turns::Spread { paths.len() as i64 - 1 } else { 0 };
        for (sent, weight) in sent.iter().zip(others.iter().map(|&(weight, _)| weight).chain([fixed])) {
            prop_assert!((sent - 10 * i64::from(weight)).abs() <= slack, "{sent} of weight {weight}");
        }
    }
}
