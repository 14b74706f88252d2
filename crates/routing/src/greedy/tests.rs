use super::{Disjoint, routes};
use crate::deployment::{Deployment, End, Nodes};
use crate::graph::Graph;
use crate::position::Position;
use crate::random::Draws;
use crate::route::Route;
use crate::search::{Effort, Search};
use crate::shortest::{TieRule, Ties};
use petgraph::algo::dijkstra;
use petgraph::graph::{NodeIndex, UnGraph};
use std::collections::BTreeSet;

/// The lists of nodes that an algorithm finds from 0 to the last node.
fn found(nodes: usize, links: &[(u32, u32)], disjoint: Disjoint) -> Vec<Vec<u32>> {
    let graph = Graph::from_links(nodes, links);
    let ends = (0, nodes as u32 - 1);
    let routes = routes(&graph, ends, disjoint, Ties::LowestNode, usize::MAX);
    routes.into_iter().map(|route| route.nodes).collect()
}

#[test]
fn a_diamond_has_two_routes_for_all_three() {
    let links = [(0, 1), (0, 2), (1, 3), (2, 3)];
    for disjoint in Disjoint::ALL {
        assert_eq!(found(4, &links, disjoint), [[0, 1, 3], [0, 2, 3]], "{disjoint:?}");
    }
}

#[test]
fn relays_that_hear_each_other_are_not_zone_disjoint() {
    let links = [(0, 1), (0, 2), (1, 3), (2, 3), (1, 2)];
    assert_eq!(found(4, &links, Disjoint::Node).len(), 2);
    assert_eq!(found(4, &links, Disjoint::Zone), [[0, 1, 3]]);
}

#[test]
fn link_disjoint_routes_may_meet_in_a_node_and_node_disjoint_ones_may_not() {
    // Two triangles that share node 3: 0-{1,2}-3-{4,5}-6.
    let links = [(0, 1), (0, 2), (1, 3), (2, 3), (3, 4), (3, 5), (4, 6), (5, 6)];
    assert_eq!(found(7, &links, Disjoint::Link), [[0, 1, 3, 4, 6], [0, 2, 3, 5, 6]]);
    assert_eq!(found(7, &links, Disjoint::Node), [[0, 1, 3, 4, 6]]);
    assert_eq!(found(7, &links, Disjoint::Zone), [[0, 1, 3, 4, 6]]);
}

#[test]
fn neighbours_of_source_and_destination_only_are_not_pruned() {
    // Both routes' relays hear the source; that prunes neither the source nor a relay that hears nobody else.
    let links = [(0, 1), (1, 2), (2, 6), (0, 3), (3, 4), (4, 5), (5, 6)];
    assert_eq!(found(7, &links, Disjoint::Zone), [vec![0, 1, 2, 6], vec![0, 3, 4, 5, 6]]);
}

#[test]
fn a_direct_link_is_used_once() {
    let links = [(0, 2), (0, 1), (1, 2)];
    for disjoint in Disjoint::ALL {
        assert_eq!(found(3, &links, disjoint), [vec![0, 2], vec![0, 1, 2]], "{disjoint:?}");
    }
}

#[test]
fn the_shape_of_the_papers_example_gives_the_same_routes_for_all_three() {
    // 000 Fig. 2: 8-13-15-3 first, 8-11-10-12-3 second, whatever the algorithm.
    let links = [(8, 13), (13, 15), (15, 3), (8, 11), (11, 10), (10, 12), (12, 3), (0, 1), (1, 8)];
    let graph = Graph::from_links(16, &links);
    for disjoint in Disjoint::ALL {
        let routes = routes(&graph, (8, 3), disjoint, Ties::LowestNode, usize::MAX);
        let nodes: Vec<_> = routes.iter().map(|route| route.nodes.clone()).collect();
        assert_eq!(nodes, [vec![8, 13, 15, 3], vec![8, 11, 10, 12, 3]], "{disjoint:?}");
    }
}

#[test]
fn no_route_is_no_route() {
    assert!(found(4, &[(0, 1), (2, 3)], Disjoint::Link).is_empty());
}

/// Two columns of relays: 0-{1,2}-{3,4}-5, all joined; the shortest in metres goes 0-2-3-5.
fn ladder() -> Deployment {
    let at = |x: f64, y: f64| Position::new(x, y);
    let positions =
        vec![at(0.0, 0.0), at(10.0, 9.0), at(10.0, -1.0), at(20.0, -1.0), at(20.0, 9.0), at(30.0, 0.0)];
    let links = [(0, 1), (0, 2), (1, 3), (1, 4), (2, 3), (2, 4), (3, 5), (4, 5)];
    let nodes = Nodes { positions, ..Nodes::default() };
    let end = |name: &str| End::Named(name.to_owned());
    Deployment::new(nodes, Graph::from_links(6, &links), &end("0"), &end("5")).expect("both are nodes")
}

#[test]
fn each_tie_rule_takes_its_own_route() {
    let first =
        |rule| ladder().greedy(Disjoint::Node, rule, 1).expect("positions are known")[0].nodes.clone();
    assert_eq!(first(TieRule::LowestNode), [0, 1, 3, 5]);
    assert_eq!(first(TieRule::HighestNode), [0, 2, 4, 5]);
    assert_eq!(first(TieRule::FewestMetres), [0, 2, 3, 5]);
}

#[test]
fn random_ties_are_broken_evenly() {
    // 0-{1,2,3}-… : from 1 there are two ways on, from 2 and 3 one each.
    let links = [(0, 1), (0, 2), (0, 3), (1, 4), (1, 5), (2, 5), (3, 6), (4, 7), (5, 7), (6, 7)];
    let graph = Graph::from_links(8, &links);
    let mut draws = Draws::new(1, "test");
    let mut counts = std::collections::BTreeMap::<Vec<u32>, u32>::new();
    for draw in 0..4_000 {
        draws.seek(draw);
        let found = routes(&graph, (0, 7), Disjoint::Link, Ties::Random(Box::new(draws.clone())), 1);
        *counts.entry(found[0].nodes.clone()).or_default() += 1;
    }
    assert_eq!(counts.len(), 4);
    // Binomial(4000, 1/4): 1000 with a standard deviation of 27.4.
    assert!(counts.values().all(|count| count.abs_diff(1_000) < 130), "{counts:?}");
}

#[test]
fn fewest_metres_without_positions_is_refused() {
    let mut deployment = ladder();
    deployment.positions.clear();
    let error = deployment.greedy(Disjoint::Link, TieRule::FewestMetres, 1).expect_err("no metres are known");
    assert!(error.to_string().starts_with("ties: "), "{error}");
}

/// Whether a route joins the ends over links of the graph without meeting a node twice.
fn is_route(deployment: &Deployment, route: &Route) -> bool {
    let distinct: BTreeSet<_> = route.nodes.iter().collect();
    distinct.len() == route.nodes.len()
        && route.nodes.first() == Some(&deployment.source)
        && route.nodes.last() == Some(&deployment.destination)
        && route.links().all(|(a, b)| deployment.graph.link(a, b).is_some())
}

/// Whether two routes share nothing that they may not share.
fn are_disjoint(deployment: &Deployment, disjoint: Disjoint, a: &Route, b: &Route) -> bool {
    let sorted = |(x, y): (u32, u32)| (x.min(y), x.max(y));
    let links: BTreeSet<_> = a.links().map(sorted).collect();
    let linkwise = !b.links().any(|link| links.contains(&sorted(link)));
    let apart = |near: &dyn Fn(u32, u32) -> bool| {
        !a.intermediate().iter().any(|&x| b.intermediate().iter().any(|&y| near(x, y)))
    };
    let graph = &deployment.graph;
    linkwise
        && match disjoint {
            Disjoint::Link => true,
            Disjoint::Node => apart(&|x, y| x == y),
            Disjoint::Zone => apart(&|x, y| x == y || graph.link(x, y).is_some()),
        }
}

#[test]
fn greedy_routes_are_disjoint_and_the_first_is_shortest() {
    let search = Search::papers(40, 3);
    let found = search.run(300, Effort::default(), |deployment| deployment).expect("1 in 20 is connected");
    let mut several = 0;
    for deployment in &found.items {
        let mut oracle = UnGraph::<(), ()>::new_undirected();
        let nodes: Vec<_> = (0..40).map(|_| oracle.add_node(())).collect();
        for &(a, b) in deployment.graph.links() {
            oracle.add_edge(nodes[a as usize], nodes[b as usize], ());
        }
        let source = NodeIndex::new(deployment.source as usize);
        let shortest =
            dijkstra(&oracle, source, None, |_| 1u32)[&NodeIndex::new(deployment.destination as usize)];
        for (rule, disjoint) in TieRule::ALL.iter().flat_map(|&rule| Disjoint::ALL.map(|kind| (rule, kind))) {
            let routes = deployment.greedy(disjoint, rule, 9).expect("positions are known");
            assert_eq!(routes[0].hops(), shortest);
            assert!(routes.iter().all(|route| is_route(deployment, route)), "{routes:?}");
            assert!(routes.is_sorted_by_key(Route::hops), "pruning shortens nothing: {routes:?}");
            for (index, a) in routes.iter().enumerate() {
                let rest = &routes[index + 1..];
                assert!(
                    rest.iter().all(|b| are_disjoint(deployment, disjoint, a, b)),
                    "{disjoint:?} {routes:?}"
                );
            }
            several += usize::from(routes.len() > 1);
        }
    }
    assert!(several > 300, "only {several} sets to compare");
}

#[test]
fn all_three_find_the_same_first_route_under_every_rule() {
    let search = Search::papers(40, 4);
    let found = search.run(100, Effort::default(), |deployment| deployment).expect("1 in 20 is connected");
    for deployment in &found.items {
        for rule in TieRule::ALL {
            let first = Disjoint::ALL
                .map(|kind| deployment.greedy(kind, rule, 9).expect("positions are known")[0].clone());
            assert!(first[0] == first[1] && first[1] == first[2], "{first:?}");
        }
    }
}
