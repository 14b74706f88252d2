use super::Graph;
use crate::position::Position;
use petgraph::algo::connected_components;
use petgraph::graph::UnGraph;
use proptest::prelude::*;

fn scattered(most: usize) -> impl Strategy<Value = Vec<Position>> {
    let point = (0.0..100.0f64, 0.0..60.0f64).prop_map(|(x, y)| Position::new(x, y));
    prop::collection::vec(point, 1..most)
}

#[test]
fn nodes_exactly_the_range_apart_do_not_hear_each_other() {
    let positions = [Position::new(0.0, 0.0), Position::new(20.0, 0.0), Position::new(39.999, 0.0)];
    let graph = Graph::disk(&positions, 20.0);
    assert_eq!(graph.links(), [(1, 2)]);
}

#[test]
fn rows_are_ascending_and_links_numbered_by_their_ends() {
    let graph = Graph::from_links(4, &[(3, 0), (1, 0), (0, 2), (2, 0), (1, 3)]);
    assert_eq!(graph.links(), [(0, 1), (0, 2), (0, 3), (1, 3)]);
    assert_eq!(graph.neighbours(0), [1, 2, 3]);
    assert_eq!(graph.edges(3).collect::<Vec<_>>(), [(0, 2), (1, 3)]);
    assert_eq!((graph.link(3, 1), graph.link(2, 1)), (Some(3), None));
}

#[test]
fn links_to_themselves_or_to_no_node_are_left_out() {
    let graph = Graph::from_links(2, &[(0, 0), (1, 2), (1, 0)]);
    assert_eq!(graph.links(), [(0, 1)]);
}

#[test]
fn a_graph_without_nodes_is_not_connected() {
    assert!(!Graph::from_links(0, &[]).is_connected());
    assert!(Graph::from_links(1, &[]).is_connected());
}

proptest! {
    #[test]
    fn buckets_find_the_links_that_looking_at_every_pair_finds(
        positions in scattered(300),
        range in 0.5..150.0f64,
    ) {
        let mut pairs = Vec::new();
        for (a, from) in positions.iter().enumerate() {
            for (b, to) in positions.iter().enumerate().skip(a + 1) {
                if from.distance_squared(*to) < range * range {
                    pairs.push((a as u32, b as u32));
                }
            }
        }
        let graph = Graph::disk(&positions, range);
        prop_assert_eq!(graph.links(), &pairs[..]);
        let mut found = Vec::new();
        super::buckets::Buckets::new(&positions, range).pairs(range, &mut found);
        prop_assert_eq!(found, pairs);
    }

    #[test]
    fn connection_is_what_petgraph_says(positions in scattered(100), range in 5.0..60.0f64) {
        let graph = Graph::disk(&positions, range);
        let mut oracle = UnGraph::<(), ()>::new_undirected();
        let nodes: Vec<_> = positions.iter().map(|_| oracle.add_node(())).collect();
        for &(a, b) in graph.links() {
            oracle.add_edge(nodes[a as usize], nodes[b as usize], ());
        }
        prop_assert_eq!(graph.is_connected(), connected_components(&oracle) == 1);
    }

    #[test]
    fn rows_and_links_say_the_same(positions in scattered(80), range in 5.0..60.0f64) {
        let graph = Graph::disk(&positions, range);
        for node in 0..graph.nodes() as u32 {
            prop_assert!(graph.neighbours(node).is_sorted());
            for (neighbour, link) in graph.edges(node) {
                prop_assert_eq!(graph.links()[link as usize], (node.min(neighbour), node.max(neighbour)));
                prop_assert_eq!(graph.link(neighbour, node), Some(link));
            }
        }
    }
}
