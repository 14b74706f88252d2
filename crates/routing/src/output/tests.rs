use super::Report;
use crate::assignment::Assignment;
use crate::deployment::{Deployment, End, Nodes};
use crate::disjoint::Disjoint;
use crate::graph::Graph;
use crate::input::{Format, read};
use crate::multichannel::Metric;
use crate::position::Position;
use crate::radio::Radio;
use crate::record::Method;
use crate::search::{Effort, Search};
use crate::shortest::TieRule;

fn methods() -> Vec<Method> {
    Method::GREEDY.into_iter().chain(Method::OPTIMAL).collect()
}

fn report(radio: Option<Radio>) -> Report {
    let found = Search::papers(32, 1).run(1, Effort::default(), |deployment| deployment);
    let deployment = found.expect("1 in 100 is connected").items.remove(0);
    Report::new(deployment, &methods(), TieRule::LowestNode, 1, radio).expect("all is known")
}

#[test]
fn json_is_read_back() {
    let report = report(None);
    let topology = read(&report.json(), "x.json", Format::Json).expect("own words");
    let again = topology.deployment(None, None, None).expect("all is said");
    let (one, other) = (report.deployment(), &again);
    assert_eq!((&one.graph, &one.positions), (&other.graph, &other.positions));
    assert_eq!((one.source, one.destination, one.range), (other.source, other.destination, other.range));
}

#[test]
fn graphml_is_read_back() {
    let report = report(None);
    let topology = read(&report.graphml(), "x.graphml", Format::Graphml).expect("own words");
    let again = topology.deployment(None, None, None).expect("all is said");
    let (one, other) = (report.deployment(), &again);
    assert_eq!((&one.graph, &one.positions), (&other.graph, &other.positions));
    assert_eq!((one.source, one.destination, one.range), (other.source, other.destination, other.range));
}

#[test]
fn names_that_xml_keeps_for_itself_survive() {
    let mut one = report(None);
    one.deployment.names = (0..32).map(|node| format!("<{node}> & \"x\"")).collect();
    let topology = read(&one.graphml(), "x.graphml", Format::Graphml).expect("own words");
    assert_eq!(topology.names, one.deployment.names);
}

#[test]
fn graphml_says_which_routes_go_over_a_link() {
    let report = report(None);
    let (_, routes) = &report.sets()[0];
    let hops: u32 = routes.iter().map(crate::Route::hops).sum();
    let said = report.graphml().matches("link:").count() - report.graphml().matches("optimal-link:").count();
    assert_eq!(said, hops as usize);
}

#[test]
fn json_has_routes_by_algorithm_and_what_they_are_worth() {
    let report = report(Some(Radio { channels: 2, ..Radio::default() }));
    let value: serde_json::Value = serde_json::from_str(&report.json()).expect("own words");
    let routes = value["routes"]["link"].as_array().expect("a list");
    assert_eq!(routes.len(), report.sets()[0].1.len());
    assert_eq!(value["routes"]["link"][0], value["routes"]["zone"][0]);
    let judged = &value["radio"]["sets"]["link"];
    let hops = routes[0].as_array().expect("a list").len() - 1;
    assert_eq!(judged["routes"][0]["etx"].as_f64(), Some(hops as f64));
    // All hops of a route are on one channel: WCETT is the sum whatever β.
    let time = |key: &str| judged["routes"][0][key].as_f64().expect("a number");
    assert!((time("wcett_s") / time("ett_s") - 1.0).abs() < 1e-12);
    let pairs = judged["conflicts"].as_array().expect("a list").len() as u64;
    let counted = ["conflicts_within_routes", "conflicts_between_routes"].map(|key| judged[key].as_u64());
    assert_eq!(Some(pairs), counted[0].zip(counted[1]).map(|(a, b)| a + b));
}

#[test]
fn radios_that_make_no_sense_are_refused_by_name() {
    let radios = [
        (Radio { channels: 0, ..Radio::default() }, "channels"),
        (Radio { channels: 2, radios: 3, ..Radio::default() }, "radios"),
        (Radio { assignment: Assignment::List(vec![1]), ..Radio::default() }, "assign"),
        (Radio { assignment: Assignment::List(Vec::new()), ..Radio::default() }, "assign"),
        (Radio { stay_cost: f64::INFINITY, ..Radio::default() }, "switch-cost"),
        (Radio { interference: 0.5, ..Radio::default() }, "interference"),
        (Radio { bit_rate: 0.0, ..Radio::default() }, "bit-rate"),
        (Radio { frame_octets: 0, ..Radio::default() }, "frame"),
        (Radio { delivery: 0.0, ..Radio::default() }, "delivery"),
        (Radio { edge_loss: 1.0, ..Radio::default() }, "edge-loss"),
        (Radio { edge_exponent: -1.0, ..Radio::default() }, "edge-exponent"),
        (Radio { beta: f64::NAN, ..Radio::default() }, "beta"),
        (Radio { switch_cost: 2.0, ..Radio::default() }, "switch-cost"),
    ];
    let deployment = report(None).deployment;
    for (radio, key) in radios {
        let made = Report::new(deployment.clone(), &Method::GREEDY, TieRule::LowestNode, 1, Some(radio));
        let message = made.expect_err("this makes no sense").to_string();
        assert!(message.starts_with(&format!("{key}: ")), "{message}");
    }
}

#[test]
fn an_optimal_zone_disjoint_set_is_refused() {
    let methods = [Method::Optimal(Disjoint::Zone)];
    let made = Report::new(report(None).deployment, &methods, TieRule::LowestNode, 1, None);
    assert!(made.expect_err("there is none").to_string().starts_with("algorithm: "));
}

/// Five nodes in a row, 10 m apart; each hears the next.
fn chain() -> Deployment {
    let positions: Vec<_> = (0..5).map(|node| Position::new(10.0 * f64::from(node), 0.0)).collect();
    let graph = Graph::disk(&positions, 11.0);
    let nodes = Nodes { positions, range: Some(11.0), ..Nodes::default() };
    let end = |name: &str| End::Named(name.to_owned());
    Deployment::new(nodes, graph, &end("0"), &end("4")).expect("both are nodes")
}

/// Channels, WCETT in transmission times of a frame, and MIC of the chain's only route.
fn of_chain(radio: Radio) -> (Vec<u64>, f64, f64) {
    // A frame of 1500 octets takes 2 ms.
    let radio = Radio { interference: 1.0, bit_rate: 6e6, ..radio };
    let report = Report::new(chain(), &Method::GREEDY[..1], TieRule::LowestNode, 1, Some(radio));
    let text = report.expect("all is known").json();
    let value: serde_json::Value = serde_json::from_str(&text).expect("own words");
    let judged = &value["radio"]["sets"]["link"]["routes"][0];
    let channels = judged["channels"].as_array().expect("a list");
    let number = |key: &str| judged[key].as_f64().expect("a number");
    (channels.iter().filter_map(serde_json::Value::as_u64).collect(), number("wcett_s") / 2e-3, number("mic"))
}

#[test]
fn each_assignment_has_its_wcett_and_mic() {
    // The hops' ends are heard by 1, 2, 2 and 1 other nodes: IRU adds up to 6/5. Three nodes in between.
    let cases = [
        (Assignment::PerRoute, vec![0, 0, 0, 0], 4.0, 1.2 + 3.0),
        (Assignment::Alternate, vec![0, 1, 2, 0], 2.0, 1.2 + 3.0 * 0.25),
        (Assignment::List(vec![0, 0, 1]), vec![0, 0, 1, 0], 3.0, 1.2 + 1.0 + 2.0 * 0.25),
    ];
    for (assignment, channels, busiest, mic) in cases {
        for beta in [0.0, 0.5, 1.0] {
            let radio = Radio {
                channels: 3,
                assignment: assignment.clone(),
                beta,
                switch_cost: 0.25,
                ..Radio::default()
            };
            let (used, wcett, metric) = of_chain(radio);
            assert_eq!(used, channels);
            let expected = (1.0 - beta) * 4.0 + beta * busiest;
            assert!((wcett - expected).abs() < 1e-9, "{assignment:?}, beta {beta}: {wcett}, not {expected}");
            assert!((metric - mic).abs() < 1e-9, "{assignment:?}: {metric}, not {mic}");
        }
    }
}

#[test]
fn radios_that_nodes_have_decide_on_channels_and_on_who_is_disturbed() {
    let mut deployment = chain();
    deployment.channels = vec![vec![1, 6], vec![1, 6], vec![6, 11], vec![6, 11], vec![11]];
    let made = |metric| {
        let radio = Radio { interference: 1.0, assignment: Assignment::Radios, metric, ..Radio::default() };
        Report::new(deployment.clone(), &Method::GREEDY[..1], TieRule::LowestNode, 1, Some(radio))
    };
    for metric in Metric::ALL {
        let text = made(metric).expect("all is known").json();
        let value: serde_json::Value = serde_json::from_str(&text).expect("own words");
        // 1 on the first hop alone, 11 on the last alone.
        let judged = &value["radio"]["sets"]["link"]["routes"][0];
        assert_eq!(judged["channels"], serde_json::json!([1, 6, 6, 11]), "{metric:?}");
        // On 1 nobody else is disturbed, on 6 nodes 0 and 3, then 1 alone, on 11 node 2: 4/5, and two changes and one stay.
        let mic = judged["mic"].as_f64().expect("a number");
        assert!((mic - (0.8 + 2.0 * 0.5 + 1.0)).abs() < 1e-9, "{mic}");
        assert_eq!(value["nodes"][2]["channels"], serde_json::json!([6, 11]));
    }
    let topology =
        read(&made(Metric::Mic).expect("known").graphml(), "x.graphml", Format::Graphml).expect("own");
    assert_eq!(topology.channels, deployment.channels);
    deployment.channels[4] = vec![36];
    let radio = Radio { assignment: Assignment::Radios, ..Radio::default() };
    let report = Report::new(deployment, &methods(), TieRule::LowestNode, 1, Some(radio)).expect("known");
    assert!(report.sets().iter().all(|(_, routes)| routes.is_empty()), "no channel leads to the last node");
}

#[test]
fn a_metric_chooses_routes_that_hops_do_not() {
    let search = Search::papers(32, 1);
    let found = search.run(20, Effort::default(), |deployment| deployment).expect("1 in 100 is connected");
    let mut differ = 0;
    for deployment in found.items {
        let made = |metric| {
            let radio =
                Radio { channels: 3, radios: 2, assignment: Assignment::Radios, metric, ..Radio::default() };
            let report =
                Report::new(deployment.clone(), &Method::GREEDY, TieRule::LowestNode, 1, Some(radio));
            let text = report.expect("all is known").json();
            let value: serde_json::Value = serde_json::from_str(&text).expect("own words");
            let first = &value["radio"]["sets"]["link"]["routes"][0];
            (first["mic"].as_f64(), first["wcett_s"].as_f64(), value["routes"]["link"][0].clone())
        };
        let (hops, wcett, mic) = (made(Metric::Hops), made(Metric::Wcett), made(Metric::Mic));
        assert!(mic.0 <= hops.0 && mic.0 <= wcett.0, "{mic:?} is not the least of {hops:?}, {wcett:?}");
        assert!(wcett.1 <= hops.1 && wcett.1 <= mic.1, "{wcett:?} is not the least of {hops:?}, {mic:?}");
        differ += u32::from(mic.2 != hops.2);
    }
    assert!(differ > 0, "MIC never takes another way than the shortest");
}

#[test]
fn what_no_metric_decides_is_refused() {
    let made = |method, metric, ties| {
        let radio = Radio { metric, ..Radio::default() };
        Report::new(chain(), &[method], ties, 1, Some(radio)).expect_err("refused").to_string()
    };
    let message = made(Method::Optimal(Disjoint::Node), Metric::Mic, TieRule::LowestNode);
    assert!(message.starts_with("metric: optimal-node with \"mic\": MIC is no sum over links"), "{message}");
    let message = made(Method::Optimal(Disjoint::Link), Metric::Wcett, TieRule::LowestNode);
    assert!(message.starts_with("metric: optimal-link with \"wcett\": WCETT is no sum"), "{message}");
    let message = made(Method::Greedy(Disjoint::Node), Metric::Mic, TieRule::Random);
    assert!(message.starts_with("ties: with a metric, "), "{message}");
}

/// Six nodes: from a to f over b and c, over d and e, or from b straight to e.
fn camp(links: &str) -> Deployment {
    let nodes = [("a", 0, 0), ("b", 10, 0), ("c", 20, 0), ("d", 0, 10), ("e", 10, 10), ("f", 20, 10)];
    let node =
        |(name, x, y): &(&str, i32, i32)| format!("{{\"name\": \"{name}\", \"x_m\": {x}, \"y_m\": {y}}}");
    let nodes: Vec<_> = nodes.iter().map(node).collect();
    let text = format!(
        "{{\"nodes\": [{}], \"range_m\": 15.0, \"source\": \"a\", \"destination\": \"f\", \"links\": [{links}]}}",
        nodes.join(", ")
    );
    let topology = read(&text, "camp.json", Format::Json).expect("well formed");
    topology.deployment(None, None, None).expect("all is said")
}

#[test]
fn etx_and_rates_of_a_file_decide_and_are_written_back() {
    let deployment = camp(
        r#"["a", "b"], ["c", "b"], ["c", "f"], {"source": "e", "target": "b", "loss": 0.5},
           {"source": "a", "target": "d", "rate_mbps": 5.5}, {"source": "d", "target": "e", "etx": 1.5},
           {"source": "f", "target": "e", "etx": 1.0, "rate_mbps": 22}"#,
    );
    // In times of a frame at 11 Mbit/s: a-b-e-f 1 + 4 + 1/2, a-b-c-f 3, a-d-e-f 2 + 1.5 + 1/2.
    let methods = [Method::Greedy(Disjoint::Node), Method::Optimal(Disjoint::Node)];
    let radio = Radio { metric: Metric::Ett, ..Radio::default() };
    let report = Report::new(deployment, &methods, TieRule::LowestNode, 1, Some(radio)).expect("known");
    let value: serde_json::Value = serde_json::from_str(&report.json()).expect("own words");
    let expected = serde_json::json!([["a", "b", "c", "f"], ["a", "d", "e", "f"]]);
    assert_eq!(value["routes"]["node"], expected);
    assert_eq!(value["routes"]["optimal-node"], expected);
    let judged = &value["radio"]["sets"]["node"]["routes"];
    let frame = 8.0 * 1500.0 / 11e6;
    for (route, etx, frames) in [(0, 3.0, 3.0), (1, 1.0 + 1.5 + 1.0, 2.0 + 1.5 + 0.5)] {
        let number = |key: &str| judged[route][key].as_f64().expect("a number");
        assert!((number("etx") - etx).abs() < 1e-9, "{judged}");
        assert!((number("ett_s") / frame - frames).abs() < 1e-9, "{judged}");
    }
    for (text, format) in [(report.json(), Format::Json), (report.graphml(), Format::Graphml)] {
        let again = read(&text, "camp", format).expect("own words").deployment(None, None, None);
        let qualities = again.expect("all is said").qualities;
        assert_eq!(qualities.len(), 4);
        assert_eq!(qualities, report.deployment().qualities);
    }
}

#[test]
fn loss_grows_with_distance() {
    // 10 m of 15, and 14.14 m of 15 across.
    let deployment = camp(
        r#"["a", "b"], ["b", "c"], ["c", "f"], ["a", "e"], ["e", "f"], ["a", "d"], {"source": "d", "target": "e", "etx": 1}"#,
    );
    let made = |edge_loss, metric| {
        let radio = Radio { metric, edge_loss, edge_exponent: 3.0, delivery: 0.9, ..Radio::default() };
        let report = Report::new(deployment.clone(), &methods()[..1], TieRule::LowestNode, 1, Some(radio));
        let text = report.expect("known").json();
        let value: serde_json::Value = serde_json::from_str(&text).expect("own words");
        let names = value["routes"]["link"][0].as_array().expect("a list").clone();
        let first = value["radio"]["sets"]["link"]["routes"][0]["etx"].as_f64().expect("a number");
        (names.len() - 1, first)
    };
    let near = 0.9 * (1.0 - 0.8 * 8.0 / 27.0);
    let across = 0.9 * (1.0 - 0.8 * f64::powi(200f64.sqrt() / 15.0, 3));
    let (hops, etx) = made(0.8, Metric::Hops);
    assert_eq!(hops, 2);
    assert!((etx - (1.0 / (across * across) + 1.0 / (near * near))).abs() < 1e-9, "{etx}");
    // What the file says of d-e holds whatever its length.
    let (hops, etx) = made(0.8, Metric::Ett);
    assert_eq!(hops, 3);
    assert!((etx - (2.0 / (near * near) + 1.0)).abs() < 1e-9, "{etx}");
    assert_eq!(made(0.0, Metric::Ett), (2, 2.0 / (0.9 * 0.9)));
}
