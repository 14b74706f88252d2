//! Packets that are on their way from one world into another.

use crate::common::{Diary, Pair, Parcel, Station, config, setup, us};
use proptest::prelude::*;
use ropewalk_sim::{Change, DirectionConfig, Jitter, LinkStats, NoTap, World};
use ropewalk_units::{Duration, Instant};

fn is_conserved(stats: &LinkStats) -> bool {
    let gone = stats.delivered + stats.drops_queue + stats.drops_loss;
    stats.offered + stats.duplicates == gone + stats.queued + stats.in_flight
}

fn parcel(id: u32) -> Parcel {
    Parcel { id, len: 1_000, ecn: false, ce: false }
}

#[test]
fn what_is_taken_has_left_and_what_is_queued_stays() {
    let mut pair = Pair::new(config(), NoTap);
    for _ in 0..4 {
        pair.send(0, 1_000);
    }
    // Two have left the transmitter, one is in it.
    pair.world.run_until(us(2_500));
    let taken = pair.world.take_in_flight(pair.link);
    assert_eq!(taken, [(us(11_000), parcel(0)), (us(12_000), parcel(1))]);
    let stats = pair.world.link(pair.link);
    assert_eq!((stats.offered, stats.delivered, stats.queued, stats.in_flight), (4, 2, 2, 0));
    pair.world.run_until(us(100_000));
    assert_eq!(pair.arrivals(), [(13_000, 2), (14_000, 3)]);
    assert!(is_conserved(&pair.world.link(pair.link)));
    assert_eq!(pair.world.packets(), 0);
    assert_eq!(pair.world.take_in_flight(pair.link), []);
}

#[test]
fn what_is_put_arrives_in_its_time_and_is_not_overtaken() {
    let mut pair = Pair::new(config(), Diary::default());
    pair.send(0, 1_000);
    pair.world.put_in_flight(pair.link, us(15_000), parcel(7));
    pair.world.put_in_flight(pair.link, us(3_000), parcel(8));
    pair.world.put_in_flight(pair.link, us(15_000), parcel(9));
    let stats = pair.world.link(pair.link);
    assert_eq!((stats, pair.world.packets()), (LinkStats::default(), 3), "nothing of this link");
    pair.world.run_until(us(100_000));
    // Alone, the one that was sent here would arrive at 11 ms.
    assert_eq!(pair.arrivals(), [(3_000, 8), (15_000, 7), (15_000, 9), (15_000, 0)]);
    let stats = pair.world.link(pair.link);
    assert_eq!((stats.offered, stats.transmitted_packets, stats.delivered, stats.in_flight), (1, 1, 1, 0));
    let delivered = pair.world.tap().0.iter().filter(|(_, _, what)| what.starts_with("delivered"));
    assert_eq!(delivered.count(), 4);
    assert_eq!(pair.world.packets(), 0);
}

#[test]
fn what_should_have_arrived_arrives_at_once() {
    let mut pair = Pair::new(config(), NoTap);
    pair.world.run_until(us(5_000));
    pair.world.put_in_flight(pair.link, us(1_000), parcel(1));
    pair.world.run_until(us(5_000));
    assert_eq!(pair.arrivals(), [(5_000, 1)]);
    // What was put can be taken, too.
    pair.world.put_in_flight(pair.link, us(7_000), parcel(2));
    assert_eq!(pair.world.take_in_flight(pair.link), [(us(7_000), parcel(2))]);
    assert!(is_conserved(&pair.world.link(pair.link)));
}

#[test]
fn what_was_put_is_lost_uncounted_when_the_link_goes_down() {
    let mut pair = Pair::new(DirectionConfig { down_loses_in_flight: true, ..config() }, NoTap);
    pair.send(0, 1_000);
    pair.world.put_in_flight(pair.link, us(1_000), parcel(7));
    pair.world.put_in_flight(pair.link, us(9_000), parcel(8));
    pair.world.schedule_change(us(5_000), pair.link, Change::Down);
    pair.world.run_until(us(100_000));
    assert_eq!(pair.arrivals(), [(1_000, 7)]);
    let stats = pair.world.link(pair.link);
    assert_eq!((stats.delivered, stats.drops_loss, stats.in_flight), (0, 1, 0));
    assert!(is_conserved(&stats));
}

fn world() -> (World<Station>, ropewalk_sim::NodeId, ropewalk_sim::LinkId) {
    let pair = Pair::new(config(), NoTap);
    (pair.world, pair.receiver, pair.link)
}

proptest! {
    /// A run that is cut anywhere and goes on in another world, whose clock begins anew, brings the same packets at the same times.
    #[test]
    fn a_world_goes_on_in_another(
        times in prop::collection::vec(0u64..20_000, 1..40), cut in 25_000u64..60_000, reorder: bool,
    ) {
        let long = DirectionConfig {
            delay: Duration::from_millis(30),
            jitter: Jitter::Uniform(Duration::from_millis(20)),
            reorder,
            queue: ropewalk_sim::Queue::DropTail {
                limit: ropewalk_sim::QueueLimit::Packets(100),
                mark_above: None,
            },
            ..config()
        };
        let build = || {
            let mut pair = Pair::new(long.clone(), NoTap);
            times.iter().for_each(|&at| pair.send(at, 100));
            pair
        };
        let mut whole = build();
        whole.world.run_until(us(200_000));
        let mut first = build();
        first.world.run_until(us(cut));
        prop_assert_eq!(first.world.link(first.link).queued, 0);
        let (mut second, receiver, link) = world();
        for (arrival, parcel) in first.world.take_in_flight(first.link) {
            second.put_in_flight(link, Instant::ZERO + (arrival - us(cut)), parcel);
        }
        second.run_until(us(200_000));
        let later = second.node(receiver).arrived.iter().map(|&(at, parcel)| (at + cut * 1_000, parcel));
        let all: Vec<_> = first.world.node(first.receiver).arrived.iter().copied().chain(later).collect();
        prop_assert_eq!(&all, &whole.world.node(whole.receiver).arrived);
        prop_assert!(is_conserved(&first.world.link(first.link)) && is_conserved(&second.link(link)));
    }
}

#[test]
#[should_panic(expected = "the medium carries")]
fn a_link_of_the_medium_is_none() {
    let mut world: World<Station> = World::new(NoTap);
    let (a, b) = (world.add_node(Station::default()), world.add_node(Station::default()));
    world.connect(a, b, setup("there", config()), setup("back", config()));
    let (_, _, [link, _]) = world.connect_medium(a, b, [0, 1]);
    world.take_in_flight(link);
}
