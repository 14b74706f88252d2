//! What must hold whatever the paths do.

use crate::apps::{ConstantRate, Flow};
use crate::net::{Bond, at, line, ms};
use proptest::prelude::*;
use ropewalk_bonding::{
    Class, Config, CostFirstConfig, FlowAwareConfig, Order, PathConfig, SchedulerConfig, WrrConfig,
};
use ropewalk_testnet::{Line, QueueLimit};
use ropewalk_units::Duration;

fn scheduler() -> impl Strategy<Value = SchedulerConfig> {
    let wrr = (0.05..3.0f64, 0u64..1000).prop_map(|(gain, delay)| {
        let decrement_delay = Duration::from_millis(delay);
        SchedulerConfig::WeightedRoundRobin(WrrConfig { gain, decrement_delay, ..WrrConfig::default() })
    });
    prop_oneof![
        wrr,
        Just(SchedulerConfig::CostFirst(CostFirstConfig::default())),
        Just(SchedulerConfig::RateAware),
        Just(SchedulerConfig::Redundant),
        Just(SchedulerConfig::FlowAware(FlowAwareConfig::default())),
    ]
}

/// A link that loses, duplicates, reorders and delays packets, and dies.
fn foul_link() -> impl Strategy<Value = [Line; 2]> {
    let numbers = (1.0..80.0f64, 0.0..100.0f64, 5u32..200, 0.0..0.3f64, 0.0..0.2f64, 0.0..30.0f64);
    (numbers, proptest::option::of((0.0..2.0f64, 0.0..2.0f64))).prop_map(|(numbers, dead)| {
        let (mbps, delay, queue, loss, duplication, reordering) = numbers;
        let mut link = line(mbps, delay);
        link.queue = QueueLimit::Packets(queue + 1);
        (link.loss, link.duplicates, link.jitter) = (loss, duplication, ms(reordering));
        link.down = dead.map(|(from, length)| (at(from), at(from + length))).into_iter().collect();
        [link.clone(), link]
    })
}

fn class() -> impl Strategy<Value = Class> {
    let normal = Just(Class::Normal);
    prop_oneof![
        3 => normal,
        1 => Just(Class::Unordered),
        1 => Just(Class::Duplicated),
        1 => Just(Class::DuplicatedUnordered)
    ]
}

fn flows() -> impl Strategy<Value = Vec<Flow>> {
    let flow = (0u32..6, 0.5..20.0f64, 60u32..1452, class()).prop_map(|(hash, mbps, len, class)| {
        let mut flow = Flow::new(hash, mbps, len);
        flow.key.class = class;
        flow.stop = at(3.0);
        flow
    });
    proptest::collection::vec(flow, 1..5)
}

fn config(scheduler: SchedulerConfig, order: Order, max_packets: u32, paths: usize) -> Config {
    let paths = (0..paths).map(|place| PathConfig::new(format!("p{place}"), Some(place as u32))).collect();
    let mut config = Config::new(paths, scheduler);
    config.order = order;
    config.resequencer.max_packets = max_packets;
    config
}

/// Weighted round robin needs two paths: a single link is doubled for it.
fn enough<T: Copy>(scheduler: &SchedulerConfig, mut links: Vec<T>) -> Vec<T> {
    if matches!(scheduler, SchedulerConfig::WeightedRoundRobin(_)) && links.len() == 1 {
        links.push(links[0]);
    }
    links
}

/// At most a third of the rate of the slowest path, so that copies and any scheduler's shares fit
/// too.
fn modest(mut flows: Vec<Flow>) -> Vec<Flow> {
    let total: f64 =
        flows.iter().map(|flow| f64::from(flow.len + 48) * 8.0 / flow.interval.as_secs_f64()).sum();
    for flow in &mut flows {
        flow.interval = flow.interval.mul_f64((total / 10e6).max(1.0));
    }
    flows
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn nothing_is_delivered_twice_invented_or_out_of_order(
        scheduler in scheduler(),
        order in prop_oneof![Just(Order::PerFlow), Just(Order::Global), Just(Order::Off)],
        links in proptest::collection::vec(foul_link(), 3),
        flows in flows(),
        max_packets in 16u32..200,
        seed: u64,
    ) {
        let config = config(scheduler, order, max_packets, 3);
        let links = links[..config.paths.len()].to_vec();
        let mut bond = Bond::new(&config, links, seed);
        let mut app = ConstantRate::new(flows.clone());
        for step in 0..35 {
            bond.run(at(0.1 * f64::from(step)), &mut app);
            for end in [bond.end(0), bond.end(1)] {
                let view = end.resequencer();
                prop_assert!(view.max_depth_packets <= max_packets);
                for path in end.paths() {
                    let most = if matches!(scheduler, SchedulerConfig::WeightedRoundRobin(_)) { 50 } else { 100 };
                    prop_assert!(path.weight <= most, "weight {}", path.weight);
                    prop_assert!(path.lost_reported <= path.sent_packets);
                }
            }
        }
        // Packets that were too many for the paths still wait before them: this is time for them.
        bond.run(at(90.0), &mut app);
        let view = bond.end(1).resequencer();
        prop_assert_eq!(view.depth_packets, 0, "nothing waits for ever");
        prop_assert_eq!(view.depth_bytes, 0);
        prop_assert_eq!(view.delivered, app.tallies.iter().map(|tally| tally.delivered).sum::<u64>());
        for (tally, flow) in app.tallies.iter().zip(&flows) {
            prop_assert_eq!(tally.duplicates, 0);
            // A packet that was never sent has no place to be counted at: the application would
            // have panicked.
            prop_assert!(tally.delivered <= tally.sent);
            let is_ordered = match order {
                Order::PerFlow => flow.key.class.is_ordered(),
                Order::Global => true,
                Order::Off => false,
            };
            prop_assert!(!is_ordered || tally.out_of_order == 0, "{} out of order", tally.out_of_order);
        }
    }

    #[test]
    fn within_capacity_everything_arrives(
        scheduler in scheduler(),
        order in prop_oneof![Just(Order::PerFlow), Just(Order::Global)],
        links in proptest::collection::vec((30.0..80.0f64, 1.0..400.0f64), 1..9),
        flows in flows(),
        seed: u64,
    ) {
        let links = enough(&scheduler, links);
        let config = config(scheduler, order, 8192, links.len());
        let both = |&(mbps, delay): &(f64, f64)| [line(mbps, delay), line(mbps, delay)];
        let mut bond = Bond::new(&config, links.iter().map(both).collect(), seed);
        let mut app = ConstantRate::new(modest(flows));
        bond.run(at(4.0), &mut app);
        for tally in &app.tallies {
            prop_assert_eq!(tally.delivered, tally.sent, "{} unsent, {} refused, {:?}", bond.unsent(), bond.refused(), bond.end(1).resequencer());
        }
        prop_assert_eq!(bond.end(1).resequencer().given_up, 0);
        prop_assert_eq!(bond.unsent(), 0);
    }

    #[test]
    fn paths_that_reorder_lose_nothing_and_the_order_is_restored(
        scheduler in scheduler(),
        order in prop_oneof![Just(Order::PerFlow), Just(Order::Global)],
        links in proptest::collection::vec((30.0..80.0f64, 1.0..60.0f64, 0.0..30.0f64), 1..5),
        flows in flows(),
        seed: u64,
    ) {
        let links = enough(&scheduler, links);
        let config = config(scheduler, order, 8192, links.len());
        let both = |&(mbps, delay, reordering): &(f64, f64, f64)| {
            let mut link = line(mbps, delay);
            link.jitter = ms(reordering);
            [link.clone(), link]
        };
        let mut bond = Bond::new(&config, links.iter().map(both).collect(), seed);
        let flows = modest(flows);
        let mut app = ConstantRate::new(flows.clone());
        bond.run(at(4.0), &mut app);
        for (tally, flow) in app.tallies.iter().zip(&flows) {
            prop_assert_eq!(tally.delivered, tally.sent, "{} unsent, {} refused, {:?}", bond.unsent(), bond.refused(), bond.end(1).resequencer());
            let is_ordered = order == Order::Global || flow.key.class.is_ordered();
            prop_assert!(!is_ordered || tally.out_of_order == 0, "{} out of order", tally.out_of_order);
        }
        prop_assert_eq!(bond.end(1).resequencer().given_up, 0);
        prop_assert_eq!(bond.unsent(), 0);
        let dropped: Vec<u64> = (0..links.len()).map(|line| bond.dropped(line)).collect();
        for ((sender, receiver), dropped) in bond.end(0).paths().zip(bond.end(1).paths()).zip(dropped) {
            prop_assert_eq!(sender.lost_reported, receiver.lost_received);
            prop_assert!(sender.lost_reported <= dropped, "something late counts as lost");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Rates are guesses at first, and the load does not wait for better ones, so a start may lose
    /// packets. Paths that are longer than another's round trip, or have less than half its rate,
    /// may lose packets too: the schedulers do not wait for them. Such paths are not drawn here.
    #[test]
    fn up_to_nine_tenths_of_all_rates_arrive_once_the_rates_are_known(
        scheduler in prop_oneof![
            Just(SchedulerConfig::CostFirst(CostFirstConfig::default())),
            Just(SchedulerConfig::RateAware),
            Just(SchedulerConfig::FlowAware(FlowAwareConfig::default())),
        ],
        links in proptest::collection::vec((15.0..30.0f64, 1.0..2.0f64), 1..9),
        shortest in 1.0..50.0f64,
        load in 0.1..0.9f64,
        flows in 1u32..4,
        len in 800u32..1452,
        seed: u64,
    ) {
        let config = config(scheduler, Order::PerFlow, 8192, links.len());
        let whole: f64 = links.iter().map(|(mbps, _)| mbps).sum();
        let both = |&(mbps, longer): &(f64, f64)| {
            let link = line(mbps, shortest * longer);
            [link.clone(), link]
        };
        let mut bond = Bond::new(&config, links.iter().map(both).collect(), seed);
        let mbps = load * whole * f64::from(len) / f64::from(len + config.overhead) / f64::from(flows);
        let flow = |hash| Flow { stop: at(5.0), ..Flow::new(hash, mbps, len) };
        let mut app = ConstantRate::new((0..flows).map(flow).collect());
        bond.run(at(6.0), &mut app);
        // A second, and ten of the longest round trips.
        let start = 1.0 + 40.0 * shortest / 1e3;
        for tally in &app.tallies {
            let first = (tally.sent as f64 * start / 5.0) as usize;
            let lost = tally.loss_from(first);
            prop_assert!(lost == 0.0, "{} lost after {} s, {} refused, {} unsent", lost, start, bond.refused(), bond.unsent());
            prop_assert_eq!(tally.out_of_order + tally.duplicates, 0);
        }
    }
}
