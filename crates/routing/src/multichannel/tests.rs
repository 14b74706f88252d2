use super::{ChannelGraph, ChannelRoute, Criterion};
use crate::disjoint::Disjoint;
use crate::graph::Graph;
use crate::metrics::{Hop, MicSetting};
use crate::route::Route;
use proptest::prelude::*;

fn route(nodes: &[u32], channels: &[u32]) -> ChannelRoute {
    ChannelRoute { route: Route { nodes: nodes.to_vec() }, channels: channels.to_vec() }
}

fn any_channel(_: usize) -> Option<Vec<u32>> {
    None
}

const fn wcett(beta: f64) -> Criterion {
    Criterion::Wcett { beta }
}

/// A long way from 0 to 3 (0-1-2-3) and a short one (0-4-3).
fn ring() -> Graph {
    Graph::from_links(5, &[(0, 1), (1, 2), (2, 3), (0, 4), (3, 4)])
}

/// The ring's long way can use all channels, the short one channel 1 alone, with an ETT of its own.
fn short_on_one(short_ett: f64) -> impl Fn(u32, u32, u32) -> Option<(f64, u32)> {
    move |_, b, channel| match (b, channel) {
        (4, 1) => Some((short_ett, 1)),
        (4, _) => None,
        _ => Some((1.0, 1)),
    }
}

#[test]
fn beta_decides_between_a_short_route_and_one_of_several_channels() {
    let ring = ring();
    let graph = ChannelGraph::new(&ring, [2, 1], short_on_one(1.2));
    let best = |beta| {
        graph.routes((0, 3), Disjoint::Node, wcett(beta), any_channel, 1).expect("few routes").remove(0)
    };
    // Short: sum 2.4, all on channel 1. Long: sum 3, of which channel 1 bears 2.
    // 2.4 < 3 - beta up to beta = 0.6.
    assert_eq!(best(0.5), route(&[0, 4, 3], &[1, 1]));
    // From there on 3 - beta is less. The lowest of the channel lists that load no channel with three hops.
    assert_eq!(best(0.7), route(&[0, 1, 2, 3], &[1, 1, 2]));
    let value = wcett(0.7).of(&graph.hops(&best(0.7)).expect("usable"));
    assert!((value - (0.3 * 3.0 + 0.7 * 2.0)).abs() < 1e-12, "{value}");
}

#[test]
fn mic_avoids_keeping_a_channel() {
    let ring = ring();
    let graph = ChannelGraph::new(&ring, [1, 2], short_on_one(1.0));
    // IRU: a node of five per hop: 0.2. Short: 0.4 + w2. Long: 0.6 + 2 w1.
    let best = |stays| {
        let criterion = Criterion::Mic(MicSetting { nodes: 5, least_ett: 1.0, switches: 0.1, stays });
        let found = graph.routes((0, 3), Disjoint::Node, criterion, any_channel, 9).expect("few routes");
        let value = criterion.of(&graph.hops(&found[0]).expect("usable"));
        (found, value)
    };
    let (found, value) = best(0.3);
    assert_eq!(found, [route(&[0, 4, 3], &[1, 1]), route(&[0, 1, 2, 3], &[1, 2, 1])]);
    assert!((value - 0.7).abs() < 1e-12, "{value}");
    let (found, value) = best(0.5);
    assert_eq!(found, [route(&[0, 1, 2, 3], &[1, 2, 1]), route(&[0, 4, 3], &[1, 1])]);
    assert!((value - 0.8).abs() < 1e-12, "{value}");
}

#[test]
fn a_pattern_holds_for_every_route_of_a_set() {
    let ring = ring();
    let graph = ChannelGraph::new(&ring, 0..3, |_, _, _| Some((1.0, 0)));
    let alternate = |route| crate::Assignment::Alternate.pattern(route, 3);
    let found = graph.routes((0, 3), Disjoint::Link, wcett(0.5), alternate, 9).expect("few routes");
    assert_eq!(found, [route(&[0, 4, 3], &[0, 1]), route(&[0, 1, 2, 3], &[1, 2, 0])]);
}

#[test]
fn links_that_lack_a_channel_carry_no_route() {
    let ring = ring();
    // Channel 7 on the short way's first link, 8 on its second, neither on the long way.
    let graph = ChannelGraph::new(&ring, [7, 8], |a, b, channel| match (a, b) {
        (0, 4) => (channel == 7).then_some((1.0, 0)),
        (3, 4) => (channel == 8).then_some((1.0, 0)),
        _ => Some((f64::INFINITY, 0)),
    });
    let found = |pattern: &[u32]| {
        let pattern = |_| Some(pattern.to_vec());
        graph.routes((0, 3), Disjoint::Link, wcett(0.5), pattern, 9).expect("few routes")
    };
    assert_eq!(found(&[7, 8]), [route(&[0, 4, 3], &[7, 8])]);
    assert_eq!(found(&[8, 7]), []);
    assert_eq!(found(&[7, 9]), []);
    let long = Route { nodes: vec![0, 1, 2, 3] };
    assert_eq!(graph.assign(&long, wcett(0.5)), Ok(None));
}

#[test]
fn a_given_route_gets_the_channels_that_suit_it_best() {
    let ring = ring();
    let graph = ChannelGraph::new(&ring, [1, 2], short_on_one(1.0));
    let long = Route { nodes: vec![0, 1, 2, 3] };
    let mic = Criterion::Mic(MicSetting { nodes: 5, least_ett: 1.0, switches: 0.1, stays: 0.5 });
    assert_eq!(graph.assign(&long, mic), Ok(Some(route(&[0, 1, 2, 3], &[1, 2, 1]))));
    assert_eq!(graph.assign(&long, wcett(1.0)), Ok(Some(route(&[0, 1, 2, 3], &[1, 1, 2]))));
}

#[test]
fn a_detour_that_only_changes_the_channel_meets_no_node_twice() {
    // Over 0-1-3 node 1 must keep channel 1, at a price for which going to 2 and back would be cheap.
    let graph = Graph::from_links(4, &[(0, 1), (1, 2), (1, 3)]);
    let graph = ChannelGraph::new(&graph, [1, 2], |a, b, channel| match (a, b) {
        (1, 2) => Some((1.0, 0)),
        _ => (channel == 1).then_some((1.0, 0)),
    });
    let mic = Criterion::Mic(MicSetting { nodes: 4, least_ett: 1.0, switches: 0.1, stays: 1e6 });
    let found = graph.routes((0, 3), Disjoint::Node, mic, any_channel, 9).expect("few routes");
    assert_eq!(found, [route(&[0, 1, 3], &[1, 1])]);
}

/// All routes without a loop, with all channels that the pattern leaves.
fn all_routes(
    graph: &ChannelGraph<'_>,
    so_far: &mut ChannelRoute,
    destination: u32,
    pattern: Option<&[u32]>,
    all: &mut Vec<ChannelRoute>,
) {
    let node = so_far.route.nodes[so_far.route.nodes.len() - 1];
    if node == destination {
        all.push(so_far.clone());
        return;
    }
    for &next in graph.graph.neighbours(node) {
        if so_far.route.nodes.contains(&next) {
            continue;
        }
        for &channel in &graph.channels {
            let turn = pattern.map(|pattern| pattern[so_far.channels.len() % pattern.len()]);
            if turn.is_some_and(|turn| turn != channel) {
                continue;
            }
            so_far.route.nodes.push(next);
            so_far.channels.push(channel);
            if graph.hops(so_far).is_some() {
                all_routes(graph, so_far, destination, pattern, all);
            }
            so_far.route.nodes.pop();
            so_far.channels.pop();
        }
    }
}

/// A link of a drawn graph: its ends, and by channel its ETT (a multiple of 1/4 s), or none.
type DrawnLink = (u32, u32, [Option<u8>; 2], u32);

fn links() -> impl Strategy<Value = Vec<DrawnLink>> {
    let ett = || prop_oneof![Just(None), (1..5u8).prop_map(Some)];
    let channels = (ett(), ett()).prop_map(|(one, two)| [one, two]);
    prop::collection::vec((0..6u32, 0..6u32, channels, 0..4u32), 5..14)
}

fn pattern() -> impl Strategy<Value = Option<Vec<u32>>> {
    prop_oneof![Just(None), prop::collection::vec(0..2u32, 1..4).prop_map(Some)]
}

fn criterion() -> impl Strategy<Value = Criterion> {
    let beta = prop_oneof![Just(0.0), Just(0.25), Just(0.5), Just(1.0)];
    // Costs so different that a detour may seem cheap, among others.
    let stays = prop_oneof![Just(0.25), Just(0.5), Just(8.0)];
    prop_oneof![
        beta.prop_map(wcett),
        stays.prop_map(|stays| {
            Criterion::Mic(MicSetting { nodes: 4, least_ett: 0.25, switches: 0.125, stays })
        }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn no_route_is_better_than_the_one_found(
        links in links(),
        pattern in pattern(),
        criterion in criterion(),
    ) {
        let ends: Vec<_> = links.iter().map(|&(a, b, ..)| (a, b)).collect();
        let graph = Graph::from_links(6, &ends);
        let graph = ChannelGraph::new(&graph, [0, 1], |a, b, channel| {
            let drawn = links.iter().find(|&&(x, y, ..)| (x.min(y), x.max(y)) == (a, b));
            let (_, _, etts, interfered) = drawn.expect("the graph has only these");
            etts[channel as usize].map(|quarters| (0.25 * f64::from(quarters), *interfered))
        });
        let mut all = Vec::new();
        all_routes(&graph, &mut route(&[0], &[]), 5, pattern.as_deref(), &mut all);
        let worth = |one: &ChannelRoute| criterion.of(&graph.hops(one).expect("usable"));
        let key = |one: &ChannelRoute| (one.channels.len(), one.clone());
        // All numbers are multiples of 2^-5, so that sums are exact and ties are ties.
        let best = all.iter().min_by(|a, b| worth(a).total_cmp(&worth(b)).then_with(|| key(a).cmp(&key(b))));
        let found = graph.routes((0, 5), Disjoint::Link, criterion, |_| pattern.clone(), 1).expect("few routes");
        prop_assert_eq!(found.first(), best);
    }
}

#[test]
fn a_hop_is_what_it_was_said_to_be() {
    let ring = ring();
    let graph = ChannelGraph::new(&ring, [1, 2], short_on_one(1.5));
    let hop = Hop { channel: 1, ett: 1.5, interfered: 1 };
    assert_eq!(graph.hops(&route(&[0, 4, 3], &[1, 1])), Some(vec![hop, hop]));
    assert_eq!(graph.hops(&route(&[0, 4, 3], &[1, 2])), None);
}
