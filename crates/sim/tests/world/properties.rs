//! Conservation and determinism under any configuration, change and traffic.

use crate::common::{Diary, Pair, config, probability, setup, us};
use proptest::prelude::*;
use ropewalk_sim::{
    Change, CodelConfig, DirectionConfig, FqCodelConfig, Jitter, LinkStats, Loss, NoTap, Queue, QueueLimit,
    RedConfig, Tap, Trace,
};
use ropewalk_units::{Duration, Rate};

fn queues() -> impl Strategy<Value = Queue> {
    let limit =
        prop_oneof![(0u32..20).prop_map(QueueLimit::Packets), (0u64..20_000).prop_map(QueueLimit::Bytes)];
    (limit, any::<bool>(), 0u32..10, 0..4).prop_map(|(limit, ecn, threshold, kind)| {
        let codel =
            CodelConfig { target: Duration::from_millis(1), interval: Duration::from_millis(10), ecn };
        match kind {
            0 => Queue::DropTail { limit, mark_above: ecn.then_some(threshold) },
            1 => {
                let min_threshold = f64::from(threshold);
                let max_threshold = min_threshold + 3.0;
                let red = RedConfig { min_threshold, max_threshold, max_probability: 0.2, weight: 0.2, ecn };
                Queue::Red { limit, red }
            }
            2 => Queue::Codel { limit, codel },
            _ => Queue::FqCodel { limit, fq_codel: FqCodelConfig { codel, flows: 2, quantum: 1_514 } },
        }
    })
}

fn losses() -> impl Strategy<Value = Loss> {
    prop_oneof![
        Just(Loss::None),
        (0.0..=1.0).prop_map(|p| Loss::Bernoulli(probability(p))),
        (0.0..=0.001).prop_map(|p| Loss::BitErrors(probability(p))),
        (0.0..=1.0, 0.0..=1.0).prop_map(|(p, r)| Loss::GilbertElliott {
            good_to_bad: probability(p),
            bad_to_good: probability(r),
            loss_good: probability(0.0),
            loss_bad: probability(0.8),
        }),
        prop::collection::vec(0u64..30, 0..6).prop_map(|numbers| Loss::Exact(numbers.into())),
    ]
}

fn jitters() -> impl Strategy<Value = Jitter> {
    let width = (0u64..20_000).prop_map(Duration::from_micros);
    (width, 0..4).prop_map(|(width, kind)| match kind {
        0 => Jitter::None,
        1 => Jitter::Uniform(width),
        2 => Jitter::Normal(width),
        _ => Jitter::Exponential(width),
    })
}

fn traces() -> impl Strategy<Value = Option<Trace>> {
    let times = prop::collection::vec(0u64..30, 1..10).prop_map(|mut times| {
        times.sort_unstable();
        times.push(31);
        Trace { opportunities_ms: times.into() }
    });
    prop_oneof![3 => Just(None), 1 => times.prop_map(Some)]
}

fn rates() -> impl Strategy<Value = Rate> {
    prop_oneof![1 => Just(0u64), 9 => 100_000u64..50_000_000].prop_map(Rate::from_bits_per_sec)
}

fn configs() -> impl Strategy<Value = DirectionConfig> {
    let medium = (jitters(), any::<bool>(), losses(), 0.0..0.5, any::<bool>());
    (rates(), traces(), 0u64..30_000, queues(), medium).prop_map(
        |(rate, trace, delay, queue, (jitter, reorder, loss, duplicate, down_loses_in_flight))| {
            DirectionConfig {
                rate,
                trace,
                delay: Duration::from_micros(delay),
                jitter,
                reorder,
                queue,
                loss,
                duplicate: probability(duplicate),
                down_loses_in_flight,
            }
        },
    )
}

/// Links that leave nothing to chance.
fn constants() -> impl Strategy<Value = DirectionConfig> {
    let limit =
        prop_oneof![(0u32..20).prop_map(QueueLimit::Packets), (0u64..20_000).prop_map(QueueLimit::Bytes)];
    let queue = (limit, prop::option::of(0u32..10));
    let queue = queue.prop_map(|(limit, mark_above)| Queue::DropTail { limit, mark_above });
    (rates(), 0u64..30_000, any::<bool>(), queue).prop_map(|(rate, delay, reorder, queue)| DirectionConfig {
        rate,
        delay: Duration::from_micros(delay),
        reorder,
        queue,
        ..config()
    })
}

fn changes() -> impl Strategy<Value = Vec<(u64, Change)>> {
    let change = prop_oneof![
        rates().prop_map(Change::Rate),
        (0u64..30_000).prop_map(|delay| Change::Delay(Duration::from_micros(delay))),
        jitters().prop_map(Change::Jitter),
        any::<bool>().prop_map(Change::Reorder),
        losses().prop_map(Change::Loss),
        (0.0..0.5).prop_map(|p| Change::Duplicate(probability(p))),
        queues().prop_map(Change::Queue),
        traces().prop_map(Change::Trace),
        any::<bool>().prop_map(Change::DownLosesInFlight),
        Just(Change::Down),
        Just(Change::Up),
    ];
    prop::collection::vec((0u64..100_000, change), 0..8)
}

/// Times in us, lengths, ECN.
fn traffic() -> impl Strategy<Value = Vec<(u64, u32, bool)>> {
    prop::collection::vec((0u64..100_000, 1u32..3_000, any::<bool>()), 0..120)
}

fn pair<T: Tap<crate::common::Parcel>>(
    config: &DirectionConfig,
    changes: &[(u64, Change)],
    traffic: &[(u64, u32, bool)],
    tap: T,
) -> Pair<T> {
    let mut pair = Pair::new(config.clone(), tap);
    for (at, change) in changes {
        pair.world.schedule_change(us(*at), pair.link, change.clone());
    }
    for &(at, len, ecn) in traffic {
        if ecn { pair.send_ecn(at, len) } else { pair.send(at, len) }
    }
    pair
}

fn balance(stats: &LinkStats) -> (u64, u64) {
    let gone = stats.delivered + stats.drops_queue + stats.drops_loss;
    (stats.offered + stats.duplicates, gone + stats.queued + stats.in_flight)
}

proptest! {
    #[test]
    fn every_packet_is_somewhere(
        config in configs(), changes in changes(), traffic in traffic(), step in 500u64..50_000,
    ) {
        let mut pair = pair(&config, &changes, &traffic, NoTap);
        let mut before = 0.0;
        for now in (0..150_000).step_by(step as usize) {
            pair.world.run_until(us(now));
            let stats = pair.world.link(pair.link);
            let (came, went) = balance(&stats);
            prop_assert_eq!(came, went, "{:?}", stats);
            prop_assert_eq!(pair.world.packets() as u64, stats.queued + stats.in_flight);
            prop_assert!(stats.busy.as_secs_f64() >= before && stats.busy.as_secs_f64() <= now as f64 * 1e-6 + 1e-9);
            before = stats.busy.as_secs_f64();
        }
        let arrived = pair.world.node(pair.receiver).arrived.len() as u64;
        prop_assert_eq!(arrived, pair.world.link(pair.link).delivered);
        if !config.reorder && changes.is_empty() {
            let ids = pair.arrivals();
            let fifo = !matches!(config.queue, Queue::FqCodel { .. });
            // The timers of one time fire in the order of their packets' numbers.
            let sent = |id: u32| (traffic[id as usize].0, id);
            prop_assert!(!fifo || ids.windows(2).all(|two| sent(two[0].1) <= sent(two[1].1)), "{:?}", ids);
        }
    }

    #[test]
    fn looking_changes_nothing_and_a_seed_repeats(
        config in configs(), changes in changes(), traffic in traffic(), step in 500u64..50_000,
    ) {
        let mut plain = pair(&config, &changes, &traffic, NoTap);
        plain.world.run_until(us(150_000));
        let mut watched = pair(&config, &changes, &traffic, Diary::default());
        for now in (0..150_000).step_by(step as usize) {
            watched.world.run_until(us(now));
            watched.world.link(watched.link);
        }
        watched.world.run_until(us(150_000));
        let mut again = pair(&config, &changes, &traffic, Diary::default());
        again.world.run_until(us(150_000));

        prop_assert_eq!(&plain.world.node(plain.receiver).arrived, &watched.world.node(watched.receiver).arrived);
        prop_assert_eq!(plain.world.link(plain.link), watched.world.link(watched.link));
        prop_assert_eq!(plain.world.events_processed(), watched.world.events_processed());
        prop_assert_eq!(&watched.world.tap().0, &again.world.tap().0);
        // There is one link with traffic: the calls come in order of time.
        prop_assert!(again.world.tap().0.is_sorted_by_key(|(at, ..)| *at));
    }

    /// With a tap every departure happens at its time; without, that of a constant link is known when its packet comes.
    #[test]
    fn departures_that_are_foreseen_are_those_that_happen(
        config in constants(), changes in changes(), change in any::<bool>(), traffic in traffic(), step in 500u64..50_000,
    ) {
        let changes = if change { &changes[..] } else { &[] };
        let mut foreseen = pair(&config, changes, &traffic, NoTap);
        let mut watched = pair(&config, changes, &traffic, Diary::default());
        for now in (0..150_000).step_by(step as usize) {
            foreseen.world.run_until(us(now));
            watched.world.run_until(us(now));
            prop_assert_eq!(foreseen.world.link(foreseen.link), watched.world.link(watched.link));
        }
        let arrived = |pair: &crate::common::Station| pair.arrived.clone();
        prop_assert_eq!(
            arrived(foreseen.world.node(foreseen.receiver)),
            arrived(watched.world.node(watched.receiver)),
        );
        prop_assert_eq!(foreseen.world.events_processed(), watched.world.events_processed());
    }
}

#[test]
fn an_unrelated_link_shifts_nobodys_draws() {
    let random = DirectionConfig {
        loss: Loss::Bernoulli(probability(0.2)),
        jitter: Jitter::Uniform(Duration::from_millis(5)),
        duplicate: probability(0.1),
        ..config()
    };
    let run = |unrelated: bool| {
        let mut pair = Pair::new(random.clone(), NoTap);
        if unrelated {
            let (a, b) = (
                pair.world.add_node(crate::common::Station::default()),
                pair.world.add_node(crate::common::Station::default()),
            );
            pair.world.connect(a, b, setup("other", random.clone()), setup("other back", random.clone()));
            for id in 0..200 {
                let parcel = crate::common::Parcel { id, len: 1_000, ecn: false, ce: false };
                pair.world.node_mut(a).outgoing.push(parcel);
                pair.world.set_timer(a, us(u64::from(id) * 900), id);
            }
        }
        for number in 0..200 {
            pair.send(number * 1_000, 900);
        }
        pair.world.run_until(us(1_000_000));
        (pair.arrivals(), pair.world.events_processed())
    };
    let (alone, in_company) = (run(false), run(true));
    assert_eq!(alone.0, in_company.0);
    assert!(in_company.1 > alone.1, "the other link carried nothing");
    assert_ne!(alone.0.len(), 200);
}
