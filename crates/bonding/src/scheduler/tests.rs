use super::*;
use crate::config::{DecrementPace, LossUnit, PathConfig, Turns, WeightArithmetic, WrrConfig};
use crate::id::PathId;
use ropewalk_units::Duration;

const DSL: PathId = PathId(0);
const LTE: PathId = PathId(1);

fn at(millis: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(millis)
}

fn paths() -> Vec<Outgoing> {
    vec![Outgoing::new(DSL, at(0), false, false), Outgoing::new(LTE, at(0), false, false)]
}

fn ask(usable: &[PathId]) -> Ask {
    let mut set = PathSet::EMPTY;
    usable.iter().for_each(|&path| set.insert(path));
    Ask { now: at(0), wire_len: 1500, bucket: 0, usable: set }
}

fn wrr(own: WrrConfig, lte_weight: u32, lte_most: u32) -> WeightedRoundRobin {
    let mut configs = vec![PathConfig::new("dsl", Some(1)), PathConfig::new("lte", Some(2))];
    configs[1].weight = Some(lte_weight);
    configs[1].max_weight = Some(lte_most);
    let config = Config::new(configs, SchedulerConfig::WeightedRoundRobin(own));
    assert_eq!(config.validate(), Ok(()));
    WeightedRoundRobin::new(&config, own, at(0))
}

/// What a report says of the fixed line; the other's losses never matter.
fn report(lost: u32, sent: u32) -> [Progress; 2] {
    let fixed =
        Progress { lost_packets: lost, sent_packets: sent, lost_bytes: 100 * lost, sent_bytes: 400 * sent };
    [fixed, Progress { lost_packets: 9, sent_packets: 9, ..Progress::default() }]
}

/// The costlier path's weight after reports of (ms, lost, sent).
fn weight_after(scheduler: &mut WeightedRoundRobin, reports: &[(u64, u32, u32)]) -> u32 {
    for &(when, lost, sent) in reports {
        scheduler.on_report(at(when), &report(lost, sent), &paths());
    }
    let paths = paths();
    assert_eq!(scheduler.weight(&paths[0]), 50, "the cheaper path's is fixed");
    scheduler.weight(&paths[1])
}

#[test]
fn the_first_loss_counts_in_packets_up_to_the_clamp() {
    let own = WrrConfig::default();
    assert_eq!(weight_after(&mut wrr(own, 0, 45), &[(50, 7, 250)]), 7);
    assert_eq!(weight_after(&mut wrr(own, 0, 45), &[(50, 70, 250)]), 45);
    assert_eq!(weight_after(&mut wrr(own, 0, 45), &[(50, 0, 250)]), 0);
}

#[test]
fn later_losses_add_k_times_their_share_of_the_fixed_weight() {
    // 0.5 · 25/250 · 50 = 2.5.
    let own = WrrConfig::default();
    assert_eq!(weight_after(&mut wrr(own, 10, 45), &[(50, 25, 250)]), 12);
    assert_eq!(weight_after(&mut wrr(own, 10, 45), &[(50, 25, 250), (100, 25, 250)]), 14);
    // 0.5 · 9/250 · 50 = 0.9: "would not change".
    assert_eq!(weight_after(&mut wrr(own, 10, 45), &[(50, 9, 250), (100, 9, 250)]), 10);
    let rounded = WrrConfig { arithmetic: WeightArithmetic::Rounded, ..own };
    assert_eq!(weight_after(&mut wrr(rounded, 10, 45), &[(50, 9, 250), (100, 9, 250)]), 12);
    let fractional = WrrConfig { arithmetic: WeightArithmetic::Fractional, ..own };
    assert_eq!(weight_after(&mut wrr(fractional, 10, 45), &[(50, 25, 250), (100, 25, 250)]), 15);
    // In bytes it was a quarter: 0.5 · 0.1/4 · 50 · 4 reports.
    let bytes = WrrConfig { loss_unit: LossUnit::Bytes, arithmetic: WeightArithmetic::Fractional, ..own };
    let reports = [(50, 25, 250), (100, 25, 250), (150, 25, 250), (200, 25, 250)];
    assert_eq!(weight_after(&mut wrr(bytes, 10, 45), &reports), 12);
    assert_eq!(weight_after(&mut wrr(own, 44, 45), &[(50, 250, 250)]), 45);
}

#[test]
fn at_the_slow_pace_the_weight_falls_by_one_each_t_dwd() {
    let decrement_delay = Duration::from_millis(250);
    let own = WrrConfig { decrement_delay, decrement_pace: DecrementPace::EachDelay, ..WrrConfig::default() };
    let mut scheduler = wrr(own, 0, 45);
    assert_eq!(weight_after(&mut scheduler, &[(1000, 3, 250), (1250, 0, 250)]), 2);
    assert_eq!(weight_after(&mut scheduler, &[(1300, 0, 250), (1499, 0, 250)]), 2);
    assert_eq!(weight_after(&mut scheduler, &[(1500, 0, 250), (1550, 0, 250)]), 1);
}

#[test]
fn without_loss_for_t_dwd_the_weight_falls_by_one_each_report() {
    let own = WrrConfig { decrement_delay: Duration::from_millis(250), ..WrrConfig::default() };
    let mut scheduler = wrr(own, 0, 45);
    assert_eq!(weight_after(&mut scheduler, &[(1000, 3, 250)]), 3);
    assert_eq!(weight_after(&mut scheduler, &[(1050, 0, 250), (1249, 0, 250)]), 3);
    assert_eq!(weight_after(&mut scheduler, &[(1250, 0, 250)]), 2);
    assert_eq!(weight_after(&mut scheduler, &[(1300, 0, 250)]), 1);
    assert_eq!(weight_after(&mut scheduler, &[(1350, 1, 250)]), 1, "loss: not even one more");
    assert_eq!(weight_after(&mut scheduler, &[(1400, 0, 250), (1599, 0, 250)]), 1);
    assert_eq!(weight_after(&mut scheduler, &[(1600, 0, 250), (1650, 0, 250)]), 0, "and not below zero");
}

/// The paths that so many packets take.
fn choices(scheduler: &mut impl Scheduler, usable: &[PathId], count: usize) -> Vec<u8> {
    let (paths, ask) = (paths(), ask(usable));
    (0..count).map(|_| scheduler.pick(&ask, &paths).first().expect("a path").0).collect()
}

#[test]
fn packets_are_shared_out_by_weight() {
    for turns in [Turns::Spread, Turns::Consecutive] {
        let own = WrrConfig { turns, ..WrrConfig::default() };
        let to_lte = |weight: u32| {
            let chosen = choices(&mut wrr(own, weight, 50), &[DSL, LTE], 1000 * (50 + weight as usize));
            chosen.iter().filter(|&&path| path == 1).count()
        };
        for weight in [0, 1, 7, 25, 50] {
            assert_eq!(to_lte(weight), 1000 * weight as usize, "{turns:?}");
        }
    }
    let own = WrrConfig::default();
    assert_eq!(choices(&mut wrr(own, 25, 50), &[DSL, LTE], 9), [0, 0, 1, 0, 0, 1, 0, 0, 1]);
    assert_eq!(choices(&mut wrr(own, 25, 50), &[LTE], 3), [1, 1, 1], "the other is down");
    let own = WrrConfig { turns: Turns::Consecutive, ..own };
    let chosen = choices(&mut wrr(own, 2, 50), &[DSL, LTE], 104);
    let expected: Vec<u8> = (0..104).map(|place| u8::from(place % 52 >= 50)).collect();
    assert_eq!(chosen, expected);
}

#[test]
fn redundant_chooses_all() {
    let chosen = Redundant.pick(&ask(&[DSL, LTE]), &paths());
    assert_eq!(chosen.iter().collect::<Vec<_>>(), [DSL, LTE]);
    assert_eq!(Redundant.pick(&ask(&[LTE]), &paths()), PathSet::one(LTE));
}
