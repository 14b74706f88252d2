use super::{Condition, Effort, End, Found, Layout, Progress, Search, Sieve, TieRule};
use crate::deployment::Deployment;
use crate::disjoint::Disjoint;
use crate::error::RoutingError;
use crate::graph::Graph;
use crate::position::Position;
use crate::random::{Draws, positions};
use std::sync::atomic::{AtomicBool, Ordering};

const SQUARE: Position = Position::new(100.0, 100.0);

fn found(search: &Search, count: usize, workers: usize) -> Found<Deployment> {
    let effort = Effort { workers, ..Effort::default() };
    search.run(count, effort, |deployment| deployment).unwrap_or_else(|error| panic!("{error}"))
}

fn refused(search: &Search) -> String {
    search.run(1, Effort::default(), |_| ()).expect_err("this makes no sense").to_string()
}

#[test]
fn the_number_of_workers_changes_nothing() {
    let search = Search { condition: Condition::NodeMultipath, ..Search::papers(30, 7) };
    let one = found(&search, 40, 1);
    for workers in [2, 3, 8] {
        assert_eq!(found(&search, 40, workers), one, "{workers} workers");
    }
    assert!(one.drawn > 4096 * 3, "several chunks: {}", one.drawn);
}

#[test]
fn fewer_deployments_are_the_first_of_more() {
    let search = Search::papers(32, 5);
    let (few, many) = (found(&search, 10, 2), found(&search, 50, 2));
    assert_eq!(few.items[..], many.items[..10]);
    assert_eq!(few.drawn, few.items[9].draw + 1);
    assert_eq!((few.connected, many.connected), (10, 50));
}

#[test]
fn a_search_goes_on_where_another_ended() {
    let search = Search::papers(32, 5);
    let all = found(&search, 20, 2);
    let first = all.items[9].draw + 1;
    let effort = Effort { first, workers: 2, ..Effort::default() };
    let rest = search.run(10, effort, |deployment| deployment).expect("1 in 100 is connected");
    assert_eq!(rest.items[..], all.items[10..]);
    assert_eq!((rest.drawn, rest.connected), (all.drawn - first, 10));
}

#[test]
fn another_seed_draws_others() {
    assert_ne!(found(&Search::papers(32, 5), 1, 1), found(&Search::papers(32, 6), 1, 1));
}

#[test]
fn the_sieve_throws_no_connected_deployment_away_and_little_else_through() {
    for (nodes, range) in [(2, 60.0), (9, 40.0), (20, 30.0), (32, 20.0), (33, 24.0), (64, 14.0)] {
        let mut sieve = Sieve::new(nodes, [100.0, 70.0], range).expect("few enough nodes");
        let mut draws = Draws::new(1, "test");
        let mut words = vec![0; 2 * nodes];
        let (mut connected, mut passed) = (0, 0);
        for draw in 0..20_000 {
            draws.seek(draw);
            draws.fill(&mut words);
            let graph = Graph::disk(&positions(&words, Position::new(100.0, 70.0)), range);
            let (is, may) = (graph.is_connected(), sieve.passes(&words));
            assert!(may || !is, "draw {draw} of {nodes} nodes");
            connected += u32::from(is);
            passed += u32::from(may);
        }
        assert!(connected > 20, "{connected} of {nodes} nodes say little");
        assert!(passed <= connected + 2, "{passed} passed, {connected} are connected");
    }
}

#[test]
fn the_sieve_forgives_what_single_precision_loses() {
    // The nodes are just within range; in single precision the distance is rounded up beyond it.
    let words = [0, u32::MAX, 0, 0];
    let at = positions(&words, SQUARE);
    let range = at[0].distance(at[1]) * (1.0 + 1e-15);
    assert!(Graph::disk(&at, range).is_connected());
    assert!(Sieve::new(2, [100.0, 100.0], range).expect("few enough").passes(&words));
    assert!(!Sieve::new(2, [100.0, 100.0], range - 0.01).expect("few enough").passes(&words));
}

#[test]
fn positions_are_uniform() {
    let search = Search { condition: Condition::Any, ..Search::papers(50, 3) };
    let mut cells = [[0u32; 10]; 10];
    for deployment in found(&search, 2_000, 1).items {
        for at in deployment.positions {
            assert!(at.x > 0.0 && at.x < 100.0 && at.y > 0.0 && at.y < 100.0, "{at:?}");
            cells[(at.x / 10.0) as usize][(at.y / 10.0) as usize] += 1;
        }
    }
    // Chi-square with 99 degrees of freedom: 99 expected, 99.9 % below 148.2.
    let square = |&count: &u32| (f64::from(count) - 1_000.0).powi(2) / 1_000.0;
    let chi_square: f64 = cells.iter().flatten().map(square).sum();
    assert!(chi_square < 148.2, "{chi_square}");
}

#[test]
fn two_nodes_are_connected_as_often_as_geometry_says() {
    let search = Search { condition: Condition::Connected, ..Search::papers(2, 11) };
    let found = found(&search, 5_000, 2);
    // P(distance < r) in the unit square is π r² − 8/3 r³ + r⁴/2, here with r = 0.2: 0.1051.
    let expected = std::f64::consts::PI * 0.04 - 8.0 / 3.0 * 0.008 + 0.0016 / 2.0;
    let measured = 5_000.0 / found.drawn as f64;
    // One standard deviation is 1.3 % of it.
    assert!((measured / expected - 1.0).abs() < 0.055, "{measured} against {expected}");
}

#[test]
fn what_is_drawn_does_not_depend_on_what_was_drawn_before() {
    let mut draws = Draws::new(1, "test");
    draws.seek(7);
    let fresh = draws.uniform();
    let mut words = [0; 100];
    draws.fill(&mut words);
    draws.seek(8);
    assert_ne!(draws.uniform().to_bits(), fresh.to_bits());
    draws.seek(7);
    assert_eq!(draws.uniform().to_bits(), fresh.to_bits());
}

#[test]
fn ends_are_nearest_to_their_points() {
    for deployment in found(&Search::papers(32, 2), 20, 1).items {
        let nearest = |x: f64| {
            let distance = |node: &usize| deployment.positions[*node].distance(Position::new(x, 50.0));
            (0..32).min_by(|a, b| distance(a).total_cmp(&distance(b))).map(|node| node as u32)
        };
        assert_eq!((Some(deployment.source), Some(deployment.destination)), (nearest(20.0), nearest(80.0)));
    }
}

#[test]
fn ends_by_name_are_those_nodes() {
    let (source, destination) = (End::Named("3".to_owned()), End::Named("0".to_owned()));
    let search = Search { source, destination, ..Search::papers(32, 2) };
    let found = found(&search, 3, 1);
    assert!(found.items.iter().all(|deployment| (deployment.source, deployment.destination) == (3, 0)));
}

#[test]
fn the_destination_is_another_node_than_the_source() {
    let here = End::Nearest(Position::new(50.0, 50.0));
    let search = Search { source: here.clone(), destination: here, ..Search::papers(32, 2) };
    assert!(found(&search, 20, 1).items.iter().all(|deployment| deployment.source != deployment.destination));
}

#[test]
fn every_condition_keeps_what_it_says() {
    let finds = |deployment: &Deployment, kind| {
        deployment.greedy(kind, TieRule::LowestNode, 1).map_or(0, |r| r.len())
    };
    for condition in Condition::ALL {
        let search = Search { condition, ..Search::papers(40, 1) };
        let found = found(&search, 20, 2);
        for deployment in &found.items {
            assert!(condition == Condition::Any || deployment.graph.is_connected());
            let several = Disjoint::ALL.map(|kind| finds(deployment, kind) >= 2);
            let wanted = match condition {
                Condition::Any | Condition::Connected => [false; 3],
                Condition::LinkMultipath => [true, false, false],
                Condition::NodeMultipath => [false, true, false],
                Condition::ZoneMultipath => [false, false, true],
                Condition::AllMultipath => [true; 3],
            };
            assert!(several.iter().zip(wanted).all(|(&is, wanted)| is || !wanted), "{condition:?}");
        }
    }
}

#[test]
fn any_keeps_every_draw() {
    let search = Search { condition: Condition::Any, ..Search::papers(5, 1) };
    let found = found(&search, 30, 2);
    assert_eq!((found.drawn, found.connected), (30, 0));
}

#[test]
fn many_nodes_go_through_buckets() {
    let layout = Layout::Uniform { nodes: 500, size: Position::new(200.0, 200.0) };
    let found = found(&Search { layout, ..Search::papers(2, 1) }, 3, 2);
    assert!(found.items.iter().all(|deployment| deployment.graph.is_connected()));
    assert!(found.items.iter().all(|deployment| deployment.graph.links().len() > 1_000));
}

#[test]
fn a_poisson_process_has_its_mean_and_variance() {
    let layout = Layout::Poisson { intensity: 0.004, size: SQUARE };
    let search = Search { layout, condition: Condition::Any, ..Search::papers(2, 1) };
    let counts: Vec<_> =
        found(&search, 4_000, 2).items.iter().map(|deployment| deployment.positions.len() as f64).collect();
    let mean = counts.iter().sum::<f64>() / 4_000.0;
    let variance = counts.iter().map(|count| (count - mean).powi(2)).sum::<f64>() / 3_999.0;
    // Both are 40: the mean with a standard error of 0.1, the variance of 0.9.
    assert!((mean - 40.0).abs() < 0.5 && (variance - 40.0).abs() < 4.5, "{mean} {variance}");
}

#[test]
fn a_grid_has_one_node_in_each_cell() {
    let grid = |jitter| Layout::Grid { columns: 4, rows: 3, size: Position::new(40.0, 60.0), jitter };
    let search = |jitter| Search { layout: grid(jitter), condition: Condition::Any, ..Search::papers(2, 1) };
    for deployment in found(&search(1.0), 50, 1).items {
        for (node, at) in deployment.positions.iter().enumerate() {
            assert_eq!(((at.x / 10.0) as usize, (at.y / 20.0) as usize), (node % 4, node / 4), "{at:?}");
        }
    }
    let still = found(&search(0.0), 1, 1).items.remove(0);
    assert_eq!(
        (still.positions[0], still.positions[11]),
        (Position::new(5.0, 10.0), Position::new(35.0, 50.0))
    );
}

#[test]
fn a_grid_that_never_moves_is_not_drawn_again_and_again() {
    let layout = Layout::Grid { columns: 4, rows: 4, size: Position::new(400.0, 400.0), jitter: 0.0 };
    let message = refused(&Search { layout, ..Search::papers(2, 1) });
    assert!(message.contains("among 1 drawn"), "{message}");
}

#[test]
fn hopeless_searches_end_and_say_how_rare_it_was() {
    let effort = Effort { draws: Some(100_000), workers: 2, ..Effort::default() };
    let search = Search { range: 1.0, ..Search::papers(32, 1) };
    let error = search.run(3, effort, |_| ()).expect_err("nothing is connected at 1 m");
    let rare =
        RoutingError::Rare { condition: "connected", wanted: 3, found: 0, connected: 0, drawn: 100_000 };
    assert_eq!(error, rare);
    assert!(error.to_string().contains("they are rarer than 1 in 33333 with 95 % confidence; "), "{error}");

    let some = Search::papers(32, 1).run(100_000, effort, |_| ()).expect_err("1 in 100 is connected");
    assert!(
        matches!(some, RoutingError::Rare { found, connected, drawn: 100_000, .. }
        if found > 500 && connected == found as u64),
        "{some}"
    );
    assert!(some.to_string().contains(": they are about 1 in "), "{some}");
}

#[test]
fn a_search_stops_when_told() {
    let (stop, progress) = (AtomicBool::new(true), Progress::default());
    let effort = Effort { stop: Some(&stop), progress: Some(&progress), ..Effort::default() };
    let search = Search { range: 1.0, ..Search::papers(32, 1) };
    let error = search.run(1, effort, |_| ()).expect_err("it was told to stop");
    assert!(matches!(error, RoutingError::Interrupted { found: 0, drawn } if drawn > 0), "{error}");
    assert!(progress.drawn.load(Ordering::Relaxed) > 0);
}

#[test]
fn settings_that_make_no_sense_are_refused_by_name() {
    let papers = || Search::papers(32, 1);
    let uniform = |nodes, x, y| Layout::Uniform { nodes, size: Position::new(x, y) };
    let cases = [
        (
            Search { layout: uniform(1, 1.0, 1.0), ..papers() },
            "nodes: a route needs a source and a destination",
        ),
        (
            Search { layout: uniform(32, 0.0, 1.0), ..papers() },
            "area: width and height must be positive, not 0 m",
        ),
        (Search { layout: uniform(32, f64::NAN, 1.0), ..papers() }, "area: "),
        (Search { layout: uniform(1 << 40, 1.0, 1.0), ..papers() }, "nodes: at most "),
        (Search { range: 0.0, ..papers() }, "range: must be a positive number of metres, not 0"),
        (Search { range: f64::NAN, ..papers() }, "range: "),
        (Search { layout: Layout::Poisson { intensity: -1.0, size: SQUARE }, ..papers() }, "intensity: "),
        (
            Search { layout: Layout::Grid { columns: 1, rows: 1, size: SQUARE, jitter: 0.0 }, ..papers() },
            "grid: a route needs",
        ),
        (
            Search { layout: Layout::Grid { columns: 9, rows: 9, size: SQUARE, jitter: 2.0 }, ..papers() },
            "jitter: must be from 0 to 1, not 2",
        ),
        (
            Search { source: End::Named("32".to_owned()), ..papers() },
            "source: there is no node 32; the nodes are",
        ),
        (Search { destination: End::Named("x".to_owned()), ..papers() }, "destination: there is no node x"),
        (
            Search { source: End::Nearest(Position::new(f64::NAN, 0.0)), ..papers() },
            "source: (NaN, 0) is no point",
        ),
        (
            Search {
                source: End::Named("1".to_owned()),
                destination: End::Named("1".to_owned()),
                ..papers()
            },
            "destination: is the source too",
        ),
    ];
    for (search, begins) in cases {
        let message = refused(&search);
        assert!(message.starts_with(begins), "{message}");
    }
}

#[test]
fn names_are_the_names_of_conditions_and_rules() {
    assert!(Condition::ALL.iter().all(|one| one.name().parse() == Ok(*one)));
    assert!(TieRule::ALL.iter().all(|one| one.name().parse() == Ok(*one)));
    assert!(Disjoint::ALL.iter().all(|one| one.name().parse() == Ok(*one)));
    let message = "conected".parse::<Condition>().expect_err("no such name").to_string();
    assert!(
        message.starts_with("condition: there is no \"conected\"; choose from any, connected, "),
        "{message}"
    );
}

#[test]
fn the_default_limit_of_draws_falls_with_the_nodes() {
    let size = crate::position::Position::new(100.0, 100.0);
    let draws = |nodes| Layout::Uniform { nodes, size }.default_draws();
    // The papers' rarest set, 1 000 connected deployments of 20 nodes, takes 2.6 million.
    assert_eq!([draws(20), draws(32), draws(64)], [100_000_000; 3]);
    assert_eq!([draws(100), draws(500), draws(100_000_000)], [5_000_000, 1_000_000, 5]);
    assert_eq!(Layout::Poisson { intensity: 0.05, size }.default_draws(), 1_000_000);
}
