//! Paths that die and return, and classes of traffic.

use crate::apps::{ConstantRate, Flow};
use crate::net::{Bond, at, line, ms};
use proptest::array::uniform2;
use proptest::prelude::*;
use ropewalk_bonding::{
    Class, Config, CostFirstConfig, Event, FlowAwareConfig, PathConfig, PathId, PathState, SchedulerConfig,
};
use ropewalk_testnet::{Line, both_ways};
use ropewalk_units::{Duration, Instant};

fn every_scheduler() -> Vec<Config> {
    let paths = || vec![PathConfig::new("dsl", Some(1)), PathConfig::new("lte", Some(2))];
    let schedulers = [
        SchedulerConfig::WeightedRoundRobin(ropewalk_bonding::WrrConfig::default()),
        SchedulerConfig::CostFirst(CostFirstConfig::default()),
        SchedulerConfig::RateAware,
        SchedulerConfig::Redundant,
        SchedulerConfig::FlowAware(FlowAwareConfig::default()),
    ];
    schedulers.map(|scheduler| Config::new(paths(), scheduler)).into()
}

fn config(scheduler: SchedulerConfig) -> Config {
    Config::new(vec![PathConfig::new("dsl", Some(1)), PathConfig::new("lte", Some(2))], scheduler)
}

fn links() -> Vec<[Line; 2]> {
    vec![both_ways(line(64.0, 6.5)), both_ways(line(60.0, 17.5))]
}

/// 500 packets/s.
fn steady(stop: f64) -> Flow {
    Flow { interval: ms(2.0), stop: at(stop), ..Flow::new(1, 1.0, 1000) }
}

/// When side 0 first noted, after `from`, that the path is in this state.
fn noted(bond: &Bond, from: Instant, path: PathId, state: PathState) -> Option<Duration> {
    let is_it = |event: &Event| matches!(event, Event::PathStateChanged { path: p, to, .. } if (*p, *to) == (path, state));
    let found = bond.events(0).iter().find(|(at, event)| *at >= from && is_it(event));
    found.map(|(at, _)| *at - from)
}

#[test]
fn a_silent_death_costs_little_and_the_path_is_used_again() {
    let (dies, returns) = (at(5.0123), at(25.0123));
    for config in every_scheduler() {
        for dead in [0, 1] {
            let mut links = links();
            for direction in &mut links[dead] {
                direction.down.push((dies, returns));
            }
            let mut bond = Bond::new(&config, links, 3);
            let mut app = ConstantRate::new(vec![steady(30.0)]);
            bond.run(at(24.0), &mut app);
            let before = bond.data_bytes()[dead];
            bond.run(at(31.0), &mut app);
            let lost = app.tallies[0].seen.iter().filter(|seen| seen.is_none()).count();
            assert!(lost <= 150, "{lost} packets lost with {:?}", config.scheduler);
            let path = PathId(dead as u8);
            // A costlier line that nobody uses rests. Its death costs nothing, and its next
            // keepalive, which is rare, shows it.
            let rests = dead == 1 && matches!(config.scheduler, SchedulerConfig::CostFirst(_));
            assert!(!rests || lost == 0, "{lost} packets lost by the death of a line that nobody uses");
            let down = noted(&bond, dies, path, PathState::Down).expect("noticed");
            assert!(
                down <= ms(if rests { 4000.0 } else { 300.0 }),
                "path {dead} down after {down} with {:?}",
                config.scheduler
            );
            let up = noted(&bond, returns, path, PathState::Up).expect("noticed");
            assert!(up <= ms(1000.0), "up after {up}");
            // The first path carries this flow whenever it can, whatever the scheduler.
            let is_used = dead == 0 || matches!(config.scheduler, SchedulerConfig::Redundant);
            assert!(!is_used || bond.data_bytes()[dead] > before, "not used again by {:?}", config.scheduler);
            assert_eq!(app.tallies[0].out_of_order + app.tallies[0].duplicates, 0);
        }
    }
}

/// A sender that hears of a loss sends less. An outage says nothing of the rate of the other path.
#[test]
fn what_a_death_takes_comes_by_the_other_path_before_its_flow_goes_on() {
    for phase in 0..10 {
        let dies = at(3.0 + 0.0073 * f64::from(phase));
        let mut links = links();
        links[0].iter_mut().for_each(|direction| direction.down.push((dies, at(9.0))));
        let mut bond = Bond::new(&config(SchedulerConfig::RateAware), links, 3);
        let mut app = ConstantRate::new(vec![Flow { stop: at(5.0), ..Flow::new(1, 30.0, 1400) }]);
        bond.run(at(6.0), &mut app);
        let tally = &app.tallies[0];
        assert!(bond.repairs()[0] > 80, "{} sent again", bond.repairs()[0]);
        let given_up = bond.end(1).resequencer().given_up;
        assert_eq!((given_up, tally.out_of_order, tally.duplicates), (0, 0, 0));
        assert!(tally.percentile_ms(1.0) <= 300.0, "{} ms until it went on", tally.percentile_ms(1.0));
    }
}

#[test]
fn a_death_is_noticed_within_300_ms_however_long_the_path_is_up_to_200_ms() {
    let mut worst = Duration::ZERO;
    for delay in [1.0, 6.5, 25.0, 40.0, 75.0, 100.0] {
        for (phase, is_sending) in (0..10).flat_map(|phase| [(phase, true), (phase, false)]) {
            let dies = at(3.0 + 0.0073 * f64::from(phase));
            let mut links = vec![both_ways(line(64.0, delay)), both_ways(line(60.0, 17.5))];
            links[0].iter_mut().for_each(|direction| direction.down.push((dies, at(9.0))));
            let mut bond = Bond::new(&config(SchedulerConfig::Redundant), links, 3);
            let mut app = ConstantRate::new(vec![steady(if is_sending { 3.9 } else { 1.1 })]);
            bond.run(at(4.0), &mut app);
            let down = noted(&bond, dies, PathId(0), PathState::Down).expect("noticed");
            assert!(down <= ms(300.0), "{delay} ms: down after {down}");
            let false_alarm = noted(&bond, Instant::ZERO, PathId(0), PathState::Suspected);
            assert!(
                false_alarm.is_some_and(|when| at(0.0) + when >= dies),
                "{delay} ms: suspected while it lived"
            );
            worst = worst.max(down);
        }
    }
    println!("at most {worst}");
}

#[test]
fn a_path_whose_way_back_is_dead_still_carries_data() {
    let mut links = links();
    links[0][1].down.push((at(2.0), at(20.0)));
    let mut bond = Bond::new(&config(SchedulerConfig::RateAware), links, 3);
    let mut app = ConstantRate::new(vec![steady(9.9)]);
    bond.run(at(5.0), &mut app);
    let before = bond.data_bytes().to_vec();
    bond.run(at(10.0), &mut app);
    assert_eq!(bond.data_bytes()[1], before[1], "all of it stays on the first path ({before:?} before)");
    assert_eq!(app.tallies[0].delivered, app.tallies[0].sent);
}

#[test]
fn while_all_paths_are_down_packets_go_on_the_one_heard_last_and_it_is_said() {
    let mut links = links();
    for (path, since) in [(0, 1.0), (1, 1.2)] {
        for link in &mut links[path] {
            link.down.push((at(since), at(3.0)));
        }
    }
    let mut bond = Bond::new(&config(SchedulerConfig::Redundant), links, 3);
    let mut app = ConstantRate::new(vec![steady(5.0)]);
    bond.run(at(6.0), &mut app);
    let said: Vec<Instant> =
        (bond.events(0).iter()).filter(|(_, event)| *event == Event::NoPath).map(|(when, _)| *when).collect();
    assert!(matches!(said[..], [when] if (at(1.4)..at(1.5)).contains(&when)), "once: {said:?}");
    assert_eq!(bond.unsent(), 0);
    let sent = [0, 1].map(|line| bond.dropped(line));
    assert!(sent[1] > 700 && sent[0] < 250, "{sent:?} sent in vain");
    // Both paths are up again only after three answers. Packets do not wait for these.
    assert!(app.tallies[0].seen[1502..].iter().all(Option::is_some), "all of it as soon as they return");
}

#[test]
fn redundant_copies_survive_the_loss_of_either_path() {
    let mut links = links();
    links[0][0].loss = 0.05;
    links[1][0].loss = 0.05;
    let mut bond = Bond::new(&config(SchedulerConfig::Redundant), links, 5);
    let mut app = ConstantRate::new(vec![steady(20.0)]);
    bond.run(at(21.0), &mut app);
    let tally = &app.tallies[0];
    let lost = 1.0 - tally.delivered as f64 / tally.sent as f64;
    assert!(lost < 0.006, "5 % of 5 % is 0.25 %, lost {lost}");
    assert_eq!(tally.duplicates, 0);
    let receiver = bond.end(1).resequencer();
    assert!(receiver.duplicates > 8000, "{receiver:?}");
}

#[test]
fn classes_are_treated_as_they_ask() {
    let mut links = links();
    links[0][0].loss = 0.02;
    links[1][0].loss = 0.02;
    let mut bond = Bond::new(&config(SchedulerConfig::FlowAware(FlowAwareConfig::default())), links, 5);
    let flow = |hash: u32, class: Class| {
        let mut flow = Flow { interval: ms(2.0), stop: at(20.0), ..Flow::new(hash, 1.0, 500) };
        flow.key.class = class;
        flow
    };
    let classes = [Class::Normal, Class::Unordered, Class::Duplicated, Class::DuplicatedUnordered];
    let flows = (0..4).map(|place| flow(place as u32, classes[place])).collect();
    let mut app = ConstantRate::new(flows);
    bond.run(at(21.0), &mut app);
    let [normal, unordered, duplicated, both] = &app.tallies[..] else { panic!("four flows") };
    for single in [normal, unordered] {
        assert!((0.01..0.03).contains(&single.loss_from(0)), "lost {}", single.loss_from(0));
    }
    for copied in [duplicated, both] {
        assert!(copied.loss_from(0) < 0.002, "lost {}", copied.loss_from(0));
    }
    assert_eq!(normal.out_of_order + duplicated.out_of_order, 0);
    // The copy over LTE takes 11 ms longer, five packets of the flow.
    assert!(both.out_of_order > 100, "{} out of order", both.out_of_order);
    assert!(both.percentile_ms(0.9) < duplicated.percentile_ms(0.999));
}

/// The 99th percentile of a call's delay, in ms, beside bulk over two lines.
fn call_beside_bulk(classes: [Class; 2], links: Vec<[Line; 2]>, load: f64) -> f64 {
    let mut bulk = Flow { stop: at(20.0), ..Flow::new(1, load, 1400) };
    let mut call = Flow { interval: ms(20.0), start: at(2.0), stop: at(20.0), ..Flow::new(2, 1.0, 200) };
    (call.key.class, bulk.key.class) = (classes[0], classes[1]);
    let mut bond = Bond::new(&config(SchedulerConfig::RateAware), links, 5);
    let mut app = ConstantRate::new(vec![bulk, call]);
    bond.run(at(20.5), &mut app);
    assert!(app.tallies[1].loss_from(0) < 0.01, "{classes:?}: {}", app.tallies[1].loss_from(0));
    app.tallies[1].percentile_ms(0.99)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    /// A copy by the longer path alone would come later than without the mark. And bulk that is
    /// marked would take each path before the call may.
    #[test]
    fn no_mark_makes_a_call_slower(
        rates in uniform2(5.0..80.0),
        delays in uniform2(4.0..40.0),
        load in 0.8..1.2,
    ) {
        let links = || [0, 1].map(|place| both_ways(line(rates[place], delays[place]))).to_vec();
        let load = load * (rates[0] + rates[1]);
        let classes = [[Class::Normal; 2], [Class::Duplicated, Class::Normal], [Class::Normal, Class::LowDelay]];
        let [plain, copied, beside] = classes.map(|classes| call_beside_bulk(classes, links(), load));
        // What is marked may leave early by two full packets.
        let early = 2.0 * 1548.0 * 8.0 / 1e3 / f64::min(rates[0], rates[1]);
        prop_assert!(copied <= plain + 2.5, "{copied} ms with copies, {plain} ms without");
        prop_assert!(beside <= plain + 2.5 + early, "{beside} ms beside marked bulk, {plain} ms beside plain");
    }
}

/// Bulk fills the path that dies, so that it takes nothing more. The call must not wait for it.
#[test]
fn a_death_beside_bulk_costs_a_duplicated_call_nothing() {
    for dying in [0, 1] {
        let mut links = links();
        links[dying].iter_mut().for_each(|direction| direction.down.push((at(10.0), at(12.0))));
        let bulk = Flow { stop: at(12.0), ..Flow::new(1, 130.0, 1400) };
        let mut call = Flow { interval: ms(20.0), start: at(2.0), stop: at(12.0), ..Flow::new(2, 1.0, 200) };
        call.key.class = Class::Duplicated;
        let mut bond = Bond::new(&config(SchedulerConfig::RateAware), links, 5);
        let mut app = ConstantRate::new(vec![bulk, call]);
        bond.run(at(13.0), &mut app);
        let call = &app.tallies[1];
        assert!(call.loss_from(0) == 0.0, "path {dying}: {} lost", call.loss_from(0));
        assert!(call.percentile_ms(1.0) < 80.0, "path {dying}: {} ms", call.percentile_ms(1.0));
    }
}

#[test]
fn a_flow_that_fits_the_first_path_stays_on_it() {
    let config = config(SchedulerConfig::FlowAware(FlowAwareConfig::default()));
    let small = || Flow { stop: at(20.0), ..Flow::new(1, 8.0, 1452) };
    let mut bond = Bond::new(&config, links(), 5);
    let mut app = ConstantRate::new(vec![small()]);
    bond.run(at(21.0), &mut app);
    let second = bond.end(0).path(PathId(1));
    let data = second.sent_packets;
    assert!(data <= 20, "{data} packets left it");

    // A flow larger than the path overflows; the small one beside it keeps to one path.
    let large = Flow { stop: at(20.0), ..Flow::new(2, 80.0, 1452) };
    let mut bond = Bond::new(&config, links(), 5);
    let mut app = ConstantRate::new(vec![small(), large]);
    bond.run(at(21.0), &mut app);
    let share = bond.data_bytes()[1] as f64 / (bond.data_bytes()[0] + bond.data_bytes()[1]) as f64;
    let least = 1.0 - 64.0 / (88.0 * 1500.0 / 1452.0);
    assert!((least - 0.02..least + 0.05).contains(&share), "share {share}, least {least}");
    for tally in &app.tallies {
        assert!(tally.loss_from(tally.sent as usize / 20) <= 0.005);
        assert_eq!(tally.out_of_order, 0);
    }
}

#[test]
fn a_path_that_is_seconds_longer_is_waited_for() {
    let links = vec![both_ways(line(4.0, 10.0)), both_ways(line(8.0, 1500.0))];
    let mut bond = Bond::new(&config(SchedulerConfig::CostFirst(CostFirstConfig::default())), links, 5);
    // More than the first path carries.
    let flow = Flow { start: at(10.0), stop: at(40.0), ..Flow::new(1, 7.0, 1452) };
    let mut app = ConstantRate::new(vec![flow]);
    bond.run(at(45.0), &mut app);
    let second = bond.end(0).path(PathId(1)).sent_packets;
    assert!(second > 5000, "{second} packets by the longer path");
    let tally = &app.tallies[0];
    assert_eq!(tally.out_of_order, 0);
    let lost = tally.loss_from(tally.sent as usize / 3);
    assert!(lost <= 0.001, "{lost}");
}

#[test]
fn loss_is_counted_per_path() {
    let mut links = links();
    links[1][0].loss = 0.1;
    let mut bond = Bond::new(&config(SchedulerConfig::Redundant), links, 5);
    let mut app = ConstantRate::new(vec![steady(20.0)]);
    bond.run(at(21.0), &mut app);
    let (dsl, lte) = (bond.end(0).path(PathId(0)), bond.end(0).path(PathId(1)));
    assert_eq!((dsl.lost_reported, dsl.lost_reported_bytes), (0, 0));
    let share = lte.lost_reported as f64 / lte.sent_packets as f64;
    assert!((0.09..0.11).contains(&share), "{share}");
    assert_eq!(lte.lost_reported_bytes, lte.lost_reported * 1048);
    assert_eq!(bond.end(1).path(PathId(1)).lost_received, lte.lost_reported);
    let rtt = lte.srtt.expect("measured").as_secs_f64();
    assert!((0.035..0.036).contains(&rtt), "srtt {rtt} s");
}

/// The share of packets that is lost of two flows: one until the sides fall asleep (from when until
/// when, in s), and one of 10 s that begins at `begins`. They offer `load` Mbit/s.
fn lost_around(links: Vec<[Line; 2]>, load: f64, sleeps: [(f64, f64); 2], begins: f64) -> [f64; 2] {
    let mut bond = Bond::new(&config(SchedulerConfig::RateAware), links, 7);
    for (side, (from, until)) in sleeps.into_iter().enumerate() {
        bond.sleep(side, at(from), at(until));
    }
    lost_before_and_after(bond, load, begins)
}

/// The share of packets that is lost of two flows of `load` Mbit/s: one until 9.98 s, and one of
/// 10 s that begins at `begins`.
fn lost_before_and_after(mut bond: Bond, load: f64, begins: f64) -> [f64; 2] {
    let before = Flow { stop: at(9.98), ..Flow::new(1, load, 1400) };
    let after = Flow { start: at(begins), stop: at(begins + 10.0), ..Flow::new(1, load, 1400) };
    let mut app = ConstantRate::new(vec![before, after]);
    bond.run(at(begins + 11.0), &mut app);
    [0, 1].map(|flow| app.tallies[flow].loss_from(1000))
}

/// While it sleeps nothing is reported, so a whole window waits to leave when it wakes up, over lines whose buffers hold an eighth of that.
#[test]
fn when_the_side_that_data_come_to_has_slept_no_line_overflows() {
    let links = vec![both_ways(line(99.7, 51.8)), both_ways(line(98.0, 48.8))];
    let sleeps = [(40.0, 40.0), (12.0, 12.1)];
    assert!(lost_around(links, 163.0, sleeps, 10.2)[1] <= 1e-4);
}

/// The other side sends nothing but reports, so that no delay tells it of the clock.
#[test]
fn when_the_side_that_sends_has_slept_reports_keep_the_shorter_way() {
    let links = vec![both_ways(line(41.6, 49.1)), both_ways(line(96.7, 8.6))];
    let sleeps = [(10.0, 10.09), (40.0, 40.0)];
    assert!(lost_around(links, 113.0, sleeps, 10.19)[1] <= 1e-4);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]
    /// A machine stands still, or a process. Lines deliver meanwhile, and the gateways' own clocks
    /// do not show the time: what comes right afterwards seems to have taken no time at all.
    #[test]
    fn when_gateways_stand_still_the_lines_are_filled_at_once_afterwards(
        rates in uniform2(10.0..100.0),
        delays in uniform2(2.0..60.0),
        length in prop_oneof![0.03..0.12, 0.1..4.0],
        apart in uniform2(-0.01..0.01),
        who in 0..3,
    ) {
        let links = || [0, 1].map(|place| both_ways(line(rates[place], delays[place]))).to_vec();
        let load = 0.85 * (rates[0] + rates[1]) * 1400.0 / 1448.0;
        let (from, until, never) = (10.0, 10.0 + length, (40.0, 40.0));
        let (sleeps, begins) = match who {
            0 => ([(from, until), (from + apart[0], until + apart[1])], until + 0.1),
            1 => ([(from, until), never], until + 0.1),
            // The side that data come to. Longer sleeps are outages.
            _ => ([never, (from + 2.0, from + 2.0 + f64::min(length, 0.12))], from + 0.2),
        };
        let [before, after] = lost_around(links(), load, sleeps, begins);
        prop_assert!(before <= 0.01, "{} of what was sent before is lost", before);
        prop_assert!(after <= 0.001, "{} of what is sent afterwards is lost", after);
    }

    /// No end can tell such a step from a timer that is late.
    #[test]
    fn a_clock_that_is_set_forward_by_a_little_leaves_the_lines_filled(
        rates in uniform2(10.0..100.0),
        delays in uniform2(2.0..60.0),
        step in 2.0..38.0,
        side in 0usize..2,
    ) {
        let links = [0, 1].map(|place| both_ways(line(rates[place], delays[place]))).to_vec();
        let load = 0.85 * (rates[0] + rates[1]) * 1400.0 / 1448.0;
        let mut bond = Bond::new(&config(SchedulerConfig::RateAware), links, 7);
        bond.set_forward(side, at(9.99), ms(step));
        let [before, after] = lost_before_and_after(bond, load, 10.0);
        prop_assert!(before <= 0.01, "{} of what was sent before is lost", before);
        prop_assert!(after <= 0.001, "{} of what is sent afterwards is lost", after);
    }
}
