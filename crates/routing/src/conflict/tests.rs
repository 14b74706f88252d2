use super::{ConflictGraph, Interference};
use crate::deployment::{Deployment, End, Nodes};
use crate::graph::Graph;
use crate::multichannel::ChannelRoute;
use crate::position::Position;
use crate::route::Route;

/// 0 and 3 at the ends, 1 above and 2 below, 24 m apart from one another.
fn diamond() -> Deployment {
    let positions =
        [(0.0, 0.0), (16.0, 12.0), (16.0, -12.0), (32.0, 0.0)].map(|(x, y)| Position::new(x, y)).to_vec();
    let graph = Graph::disk(&positions, 21.0);
    let nodes = Nodes { positions, range: Some(21.0), ..Nodes::default() };
    let end = |name: &str| End::Named(name.to_owned());
    Deployment::new(nodes, graph, &end("0"), &end("3")).expect("both are nodes")
}

fn route(nodes: &[u32], channels: &[u32]) -> ChannelRoute {
    ChannelRoute { route: Route { nodes: nodes.to_vec() }, channels: channels.to_vec() }
}

/// Above and below, each with the channels of its two hops.
fn routes([above, below]: [[u32; 2]; 2]) -> [ChannelRoute; 2] {
    [route(&[0, 1, 3], &above), route(&[0, 2, 3], &below)]
}

fn conflicts(channels: [[u32; 2]; 2], ratio: f64) -> Result<ConflictGraph, crate::RoutingError> {
    ConflictGraph::new(&diamond(), &routes(channels), Interference { ratio })
}

#[test]
fn links_that_share_a_node_conflict_on_one_channel() {
    // 0-1 and 2-3 share no node, but 0 hears 2; 1-3 and 0-2 likewise: in the diamond all pairs conflict.
    let graph = conflicts([[6, 6], [6, 6]], 1.0).expect("all is known");
    assert_eq!(graph.conflicts, [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]);
    assert_eq!((graph.within_routes(), graph.between_routes()), (2, 4));
}

#[test]
fn in_a_chain_the_ratio_says_how_far_links_conflict() {
    let positions: Vec<_> = (0..6).map(|node| Position::new(10.0 * f64::from(node), 0.0)).collect();
    let graph = Graph::disk(&positions, 11.0);
    let nodes = Nodes { positions, range: Some(11.0), ..Nodes::default() };
    let end = |name: &str| End::Named(name.to_owned());
    let chain = Deployment::new(nodes, graph, &end("0"), &end("5")).expect("both are nodes");
    let pairs_on = |ratio, channels: [u32; 5]| {
        let graph =
            ConflictGraph::new(&chain, &[route(&[0, 1, 2, 3, 4, 5], &channels)], Interference { ratio });
        graph.expect("all is known").conflicts
    };
    let pairs = |ratio| pairs_on(ratio, [1; 5]);
    // 11 m: the next hop, and the one after it, whose sender hears the receiver. 22 m: one hop further.
    assert_eq!(pairs(1.0), [(0, 1), (0, 2), (1, 2), (1, 3), (2, 3), (2, 4), (3, 4)]);
    assert_eq!(pairs(2.0), [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (1, 4), (2, 3), (2, 4), (3, 4)]);
    // Three channels in turn leave hops 0 and 3, and 1 and 4, which are near enough at twice the range.
    assert_eq!(pairs_on(2.0, [0, 1, 2, 0, 1]), [(0, 3), (1, 4)]);
    assert_eq!(pairs_on(1.0, [0, 1, 2, 0, 1]), []);
}

#[test]
fn a_channel_of_its_own_leaves_conflicts_within_a_route_only() {
    let graph = conflicts([[1, 1], [6, 6]], 1.5).expect("all is known");
    assert_eq!(graph.conflicts, [(0, 1), (2, 3)]);
    assert_eq!((graph.within_routes(), graph.between_routes()), (2, 0));
}

#[test]
fn a_ratio_below_one_and_hops_without_a_channel_are_refused() {
    let message =
        conflicts([[1, 1], [1, 1]], 0.5).expect_err("interference is no shorter than reception").to_string();
    assert_eq!(message, "interference: is a ratio to the range and at least 1, not 0.5");
    let short = [route(&[0, 1, 3], &[1])];
    let made = ConflictGraph::new(&diamond(), &short, Interference { ratio: 1.0 });
    assert_eq!(made.expect_err("2 hops").to_string(), "channels: 1 for the 2 hops of a route");
}

#[test]
fn without_a_range_nobody_knows() {
    let deployment = Deployment { range: None, ..diamond() };
    let graph = ConflictGraph::new(&deployment, &routes([[1, 1], [1, 1]]), Interference { ratio: 1.0 });
    assert!(graph.expect_err("no range").to_string().starts_with("range: "));
}
