use super::{Radio, Report};
use crate::greedy::Disjoint;
use crate::input::{Format, read};
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
        (Radio { interference: 0.5, ..Radio::default() }, "interference"),
        (Radio { bit_rate: 0.0, ..Radio::default() }, "bit-rate"),
        (Radio { frame_octets: 0, ..Radio::default() }, "frame"),
        (Radio { delivery: 0.0, ..Radio::default() }, "delivery"),
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
