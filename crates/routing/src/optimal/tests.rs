use super::{optimal_routes, optimal_routes_by};
use crate::disjoint::Disjoint;
use crate::graph::Graph;
use crate::greedy::routes;
use crate::route::Route;
use crate::shortest::Ties;
use petgraph::algo::ford_fulkerson;
use petgraph::graph::{DiGraph, NodeIndex};
use proptest::prelude::*;

/// The trap: the shortest route 0-1-2-7 uses a link of each of the two that are disjoint.
const TRAP: [(u32, u32); 9] = [(0, 1), (1, 2), (2, 7), (0, 3), (3, 4), (4, 2), (1, 5), (5, 6), (6, 7)];

#[test]
fn greedy_walks_into_the_trap_and_the_optimum_does_not() {
    let graph = Graph::from_links(8, &TRAP);
    for disjoint in [Disjoint::Link, Disjoint::Node] {
        assert_eq!(routes(&graph, (0, 7), disjoint, Ties::LowestNode, usize::MAX).len(), 1, "{disjoint:?}");
        let best = optimal_routes(&graph, 0, 7, disjoint, usize::MAX);
        let nodes: Vec<_> = best.into_iter().map(|route| route.nodes).collect();
        assert_eq!(nodes, [[0, 1, 5, 6, 7], [0, 3, 4, 2, 7]], "{disjoint:?}");
    }
}

#[test]
fn one_route_is_a_shortest_one() {
    let graph = Graph::from_links(8, &TRAP);
    assert_eq!(optimal_routes(&graph, 0, 7, Disjoint::Node, 1)[0].nodes, [0, 1, 2, 7]);
    assert!(optimal_routes(&graph, 0, 7, Disjoint::Node, 0).is_empty());
}

#[test]
fn nodes_in_common_are_allowed_to_link_disjoint_routes_only() {
    let links = [(0, 1), (0, 2), (1, 3), (2, 3), (3, 4), (3, 5), (4, 6), (5, 6)];
    let graph = Graph::from_links(7, &links);
    assert_eq!(optimal_routes(&graph, 0, 6, Disjoint::Link, usize::MAX).len(), 2);
    assert_eq!(optimal_routes(&graph, 0, 6, Disjoint::Node, usize::MAX).len(), 1);
}

#[test]
fn there_may_be_no_route() {
    let graph = Graph::from_links(4, &[(0, 1), (2, 3)]);
    assert!(optimal_routes(&graph, 0, 3, Disjoint::Link, usize::MAX).is_empty());
}

/// Every route without a node twice, by depth-first search.
fn all_routes(graph: &Graph, nodes: &mut Vec<u32>, to: u32, found: &mut Vec<Route>) {
    let here = nodes[nodes.len() - 1];
    if here == to {
        found.push(Route { nodes: nodes.clone() });
        return;
    }
    for &next in graph.neighbours(here) {
        if !nodes.contains(&next) {
            nodes.push(next);
            all_routes(graph, nodes, to, found);
            nodes.pop();
        }
    }
}

fn compatible(a: &Route, b: &Route, disjoint: Disjoint) -> bool {
    let same = |x: (u32, u32), y: (u32, u32)| x == y || (x.1, x.0) == y;
    let linkwise = !a.links().any(|x| b.links().any(|y| same(x, y)));
    linkwise
        && (disjoint == Disjoint::Link
            || !a.intermediate().iter().any(|node| b.intermediate().contains(node)))
}

/// What each number of disjoint routes costs at least, by trying all sets; the place is the number.
fn brute_force(all: &[(Route, u32)], disjoint: Disjoint) -> Vec<u32> {
    fn extend(
        all: &[(Route, u32)],
        chosen: &mut Vec<usize>,
        cost: u32,
        disjoint: Disjoint,
        best: &mut Vec<u32>,
    ) {
        let first = chosen.last().map_or(0, |&last| last + 1);
        for (index, (route, own)) in all.iter().enumerate().skip(first) {
            if chosen.iter().all(|&other| compatible(&all[other].0, route, disjoint)) {
                chosen.push(index);
                let total = cost + own;
                if best.len() <= chosen.len() {
                    best.push(total);
                }
                let least = &mut best[chosen.len()];
                *least = total.min(*least);
                extend(all, chosen, total, disjoint, best);
                chosen.pop();
            }
        }
    }
    let mut best = vec![0];
    extend(all, &mut Vec::new(), 0, disjoint, &mut best);
    best
}

fn graphs() -> impl Strategy<Value = Graph> {
    (3..8usize).prop_flat_map(|nodes| {
        let pairs: Vec<_> =
            (0..nodes as u32).flat_map(|a| (a + 1..nodes as u32).map(move |b| (a, b))).collect();
        let most = pairs.len().min(13);
        prop::sample::subsequence(pairs, 1..=most).prop_map(move |links| Graph::from_links(nodes, &links))
    })
}

proptest! {
    #[test]
    fn no_set_is_larger_or_shorter(graph in graphs(), link in any::<bool>()) {
        let disjoint = if link { Disjoint::Link } else { Disjoint::Node };
        let to = graph.nodes() as u32 - 1;
        let mut all = Vec::new();
        all_routes(&graph, &mut vec![0], to, &mut all);
        let costs: Vec<_> = all.iter().map(|route| (route.clone(), route.hops())).collect();
        let best = brute_force(&costs, disjoint);
        for (most, &hops) in best.iter().enumerate() {
            let found = optimal_routes(&graph, 0, to, disjoint, most);
            prop_assert_eq!(found.len(), most);
            prop_assert_eq!(found.iter().map(Route::hops).sum::<u32>(), hops);
            for (index, route) in found.iter().enumerate() {
                prop_assert!(all.contains(route), "{:?} is no route", route);
                prop_assert!(found[index + 1..].iter().all(|other| compatible(route, other, disjoint)));
            }
        }
        prop_assert_eq!(optimal_routes(&graph, 0, to, disjoint, usize::MAX).len(), best.len() - 1);
    }

    #[test]
    fn no_set_is_larger_or_cheaper(
        graph in graphs(),
        link in any::<bool>(),
        costs in prop::collection::vec(prop_oneof![4 => (0..9u32).prop_map(Some), 1 => Just(None)], 13),
    ) {
        let disjoint = if link { Disjoint::Link } else { Disjoint::Node };
        let to = graph.nodes() as u32 - 1;
        // Quarters of a second, which are exact; a hop more counts as a thousandth of the least difference.
        let of = |a, b| costs[graph.link(a, b).expect("a link") as usize];
        let seconds = |a, b| of(a, b).map_or(f64::INFINITY, |quarters| 0.25 * f64::from(quarters));
        let worth = |route: &Route| {
            let each: Option<Vec<u32>> = route.links().map(|(a, b)| of(a, b)).collect();
            each.map(|each| each.iter().map(|cost| 1000 * cost + 1).sum::<u32>())
        };
        let mut all = Vec::new();
        all_routes(&graph, &mut vec![0], to, &mut all);
        let usable: Vec<_> = all.into_iter().filter_map(|route| worth(&route).map(|own| (route, own))).collect();
        let best = brute_force(&usable, disjoint);
        for (most, &least) in best.iter().enumerate() {
            let found = optimal_routes_by(&graph, (0, to), disjoint, most, seconds);
            prop_assert_eq!(found.len(), most);
            let each: Vec<u32> = found.iter().filter_map(worth).collect();
            prop_assert_eq!(each.iter().sum::<u32>(), least);
            prop_assert!(each.is_sorted(), "the cheapest comes first: {:?}", each);
            for (index, route) in found.iter().enumerate() {
                prop_assert!(found[index + 1..].iter().all(|other| compatible(route, other, disjoint)));
            }
        }
        prop_assert_eq!(
            optimal_routes_by(&graph, (0, to), disjoint, usize::MAX, seconds).len(),
            best.len() - 1
        );
    }

    #[test]
    fn as_many_link_disjoint_routes_as_the_greatest_flow(
        links in prop::collection::vec((0..30u32, 0..30u32), 20..120),
    ) {
        let graph = Graph::from_links(30, &links);
        let mut oracle = DiGraph::<(), u32>::new();
        let nodes: Vec<_> = (0..30).map(|_| oracle.add_node(())).collect();
        for &(a, b) in graph.links() {
            oracle.add_edge(nodes[a as usize], nodes[b as usize], 1);
            oracle.add_edge(nodes[b as usize], nodes[a as usize], 1);
        }
        let (flow, _) = ford_fulkerson(&oracle, NodeIndex::new(0), NodeIndex::new(29));
        let optimal = optimal_routes(&graph, 0, 29, Disjoint::Link, usize::MAX);
        prop_assert_eq!(optimal.len(), flow as usize);
        for disjoint in [Disjoint::Link, Disjoint::Node] {
            let most = optimal_routes(&graph, 0, 29, disjoint, usize::MAX).len();
            let greedy = routes(&graph, (0, 29), disjoint, Ties::LowestNode, usize::MAX);
            prop_assert!(greedy.len() <= most);
        }
    }
}
