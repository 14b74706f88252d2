use super::{Format, Topology, read};
use crate::deployment::End;
use crate::error::RoutingError;
use crate::position::Position;
use proptest::prelude::*;

fn csv(text: &str) -> Result<Topology, RoutingError> {
    read(text, "camp.csv", Format::Csv)
}

fn json(text: &str) -> Result<Topology, RoutingError> {
    read(text, "camp.json", Format::Json)
}

fn graphml(body: &str) -> Result<Topology, RoutingError> {
    let head = "<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n\
                <key id=\"d0\" for=\"node\" attr.name=\"x_m\" attr.type=\"double\"/>\n\
                <key id=\"d1\" for=\"node\" attr.name=\"y_m\" attr.type=\"double\"/>\n";
    read(&format!("{head}{body}\n</graphml>"), "camp.graphml", Format::Graphml)
}

fn message(result: Result<Topology, RoutingError>) -> String {
    result.expect_err("this is broken").to_string()
}

#[test]
fn the_ending_names_the_format() {
    assert_eq!(Format::of("a/b.CSV"), Ok(Format::Csv));
    assert_eq!(Format::of("b.graphml"), Ok(Format::Graphml));
    let error = Format::of("b.txt").expect_err("unknown").to_string();
    assert_eq!(error, "b.txt: the name must end in .csv, .json or .graphml");
}

#[test]
fn csv_with_names_in_any_order_of_columns() {
    let topology = csv("# a camp\ny_m, name ,x_m\n2,gate,1\n\n4.5,\"tower\",-3e1\n").expect("well formed");
    assert_eq!(topology.names, ["gate", "tower"]);
    assert_eq!(topology.positions, [Position::new(1.0, 2.0), Position::new(-30.0, 4.5)]);
    assert_eq!(topology.links, None);
}

#[test]
fn csv_without_a_header_is_x_and_y() {
    let topology = csv("0,0\n3,4\n").expect("well formed");
    assert_eq!((topology.names.len(), topology.nodes), (0, 2));
    assert_eq!(topology.positions[1], Position::new(3.0, 4.0));
}

#[test]
fn csv_mistakes_are_told_with_their_line() {
    let cases = [
        ("x,y\n1,2\nNaN,3\n", "camp.csv:3: node 1: x_m must be finite, not NaN"),
        ("x,y\n1,inf\n", "camp.csv:2: node 0: y_m must be finite, not inf"),
        ("x,y\n1,2\n1\n", "camp.csv:3: 2 columns expected, 1 found"),
        ("x,y\n1,near\n", "camp.csv:2: node 0: y_m \"near\" is no number of metres"),
        ("name,x,y\ngate,1,2\ntower,nan,2\n", "camp.csv:3: node \"tower\": x_m must be finite, not nan"),
        ("x,y,channels\n1,2,1 6\n1,2,6 six\n", "camp.csv:3: node 1: \"six\" is no number of a channel"),
        ("x,y,channels\n1,2,6 1 6\n", "camp.csv:2: node 0: two radios on channel 6"),
        ("x,y,channels\n1,2,\n", "camp.csv:2: node 0: a node needs a radio: no channel given"),
        ("name,x\na,1\n", "camp.csv:1: no column \"y_m\" in the header line"),
        ("name,x,y\na,1,2\n\na,3,4\n", "camp.csv:4: a second node \"a\""),
        ("\n", "camp.csv: there is no node in it"),
        ("x,y\n", "camp.csv: there is no node in it"),
    ];
    for (text, expected) in cases {
        assert_eq!(message(csv(text)), expected);
    }
}

#[test]
fn json_with_links_and_ends() {
    let text = r#"{"nodes": [{"name": "a", "x_m": 0, "y_m": 1.5}, {"name": "b", "x_m": 2, "y_m": -3}],
                   "links": [["a", "b"]], "source": "a", "destination": "b", "range_m": 20}"#;
    let topology = json(text).expect("well formed");
    assert_eq!(topology.links, Some(vec![(0, 1)]));
    assert_eq!((topology.range, topology.source.as_deref()), (Some(20.0), Some("a")));
    let deployment = topology.deployment(None, None, None).expect("all is said");
    assert_eq!((deployment.source, deployment.destination), (0, 1));
}

#[test]
fn json_as_networkx_writes_it() {
    let text = r#"{"directed": false, "multigraph": false, "graph": {"source": 0, "destination": 2},
                   "nodes": [{"id": 0}, {"id": 1}, {"id": 2}],
                   "edges": [{"source": 0, "target": 1}, {"source": 1, "target": 2}]}"#;
    let topology = json(text).expect("well formed");
    assert_eq!(topology.links, Some(vec![(0, 1), (1, 2)]));
    assert_eq!((topology.names.len(), topology.positions.len()), (3, 0));
    let deployment = topology.deployment(None, None, None).expect("all is said");
    assert_eq!((deployment.source, deployment.destination), (0, 2));
}

#[test]
fn json_mistakes_are_told() {
    let cases = [
        (
            r#"{"nodes": [{"name": "a"}, {"name": "b"}], "links": [{"source": "a", "target": "b", "loss": 1}]}"#,
            "camp.json: the link from \"a\" to \"b\": loss must be a probability, at least 0 and below 1, not 1",
        ),
        (
            r#"{"nodes": [{"name": "a"}, {"name": "b"}], "links": [{"source": "a", "target": "b", "loss": 0.1, "etx": 2}]}"#,
            "camp.json: the link from \"a\" to \"b\": etx and loss say the same: give one of them",
        ),
        (
            r#"{"nodes": [{"name": "a"}, {"name": "b"}],
                "links": [{"source": "a", "target": "b", "etx": 2}, {"source": "b", "target": "a", "etx": 3}]}"#,
            "camp.json: the link from \"b\" to \"a\": the link is given twice, with two qualities",
        ),
        (
            "{\"nodes\": [\n{\"x_m\": NaN, \"y_m\": 0}]}",
            "camp.json:2: node \"0\": x_m must be finite, not NaN",
        ),
        (
            "{\"nodes\": [{\"name\": \"is \\\"NaN\", \"x_m\": 0, \"y_m\": 0},\n\n{\"name\": \"b\", \"x_m\": 1, \"y_m\": -Infinity}]}",
            "camp.json:3: node \"b\": y_m must be finite, not -inf",
        ),
        (
            "{\"range_m\": NaN, \"nodes\": [{}]}",
            "camp.json:1: range_m must be a positive number of metres, not NaN",
        ),
        ("{\"nodes\": [{\"channels\": [1]}, {\"name\": \"b\"}]}", "camp.json: node \"b\" has no channels"),
        (
            "{\"nodes\": [\n{\"x_m\": \"NaN\", \"y_m\": 0}]}",
            "camp.json: node \"0\": x_m must be finite, not NaN",
        ),
        ("{\"nodes\": [\n\n{\"x_m\": 1e999, \"y_m\": 0}]}", "camp.json:3: number out of range"),
        ("{\"nodes\": [{\"name\": \"a\", \"x_m\": 1}]}", "camp.json: node \"a\" has no y_m"),
        ("{\"nodes\": [{}, {}],\n\"links\": [[0]]}", "camp.json:2: a link has two ends"),
        ("{\"nodes\": [{}, {}], \"links\": [[0, 7]]}", "camp.json: a link to \"7\", which is no node"),
        ("{\"nodes\": [{}, {}], \"links\": [[1, 1]]}", "camp.json: a link from \"1\" to itself"),
        ("{\"nodes\": [{\"name\": \"a\"}, {\"name\": \"a\"}]}", "camp.json: a second node \"a\""),
        (
            "{\"nodes\": [{}], \"range_m\": -2}",
            "camp.json: range_m must be a positive number of metres, not -2",
        ),
        ("{\"nodes\": [{}], \"directed\": true}", "camp.json: the links must be undirected"),
        ("{\"nodes\": []}", "camp.json: there is no node in it"),
        ("{}", "camp.json:1: missing field `nodes`"),
    ];
    for (text, expected) in cases {
        assert_eq!(message(json(text)), expected);
    }
}

#[test]
fn graphml_as_networkx_writes_it() {
    let topology = graphml(
        "<graph edgedefault=\"undirected\">\n\
         <node id=\"a\"><data key=\"d0\">1.0</data><data key=\"d1\">2.0</data></node>\n\
         <node id=\"b\"><data key=\"d0\">3</data><data key=\"d1\">4</data></node>\n\
         <edge source=\"b\" target=\"a\"/></graph>",
    )
    .expect("well formed");
    assert_eq!(topology.names, ["a", "b"]);
    assert_eq!(topology.positions, [Position::new(1.0, 2.0), Position::new(3.0, 4.0)]);
    assert_eq!(topology.links, Some(vec![(1, 0)]));
}

#[test]
fn graphml_mistakes_are_told_with_their_line() {
    let graph = |body: &str| graphml(&format!("<graph edgedefault=\"undirected\">\n{body}</graph>"));
    let node = |id: &str, x: &str| {
        format!("<node id=\"{id}\"><data key=\"d0\">{x}</data><data key=\"d1\">0</data></node>\n")
    };
    let (a, b) = (node("a", "0"), node("b", "nan"));
    let cases = [
        (graph(&format!("{a}{b}")), "camp.graphml:6: node \"b\": x_m must be finite, not nan"),
        (graph(&format!("{a}{a}")), "camp.graphml:6: a second node \"a\""),
        (graph(&format!("{a}<node id=\"c\"/>")), "camp.graphml:6: node \"c\" has no x_m"),
        (graph(&format!("{a}<node/>")), "camp.graphml:6: <node> without \"id\""),
        (
            graph(&format!("{a}<edge source=\"a\" target=\"z\"/>")),
            "camp.graphml:6: a link to \"z\", which is no node",
        ),
        (
            graph(&format!(
                "{a}{}<edge source=\"a\" target=\"b\">\n<data key=\"etx\">two</data></edge>",
                node("b", "1")
            )),
            "camp.graphml:8: etx \"two\" is no number",
        ),
        (
            graph(&format!(
                "{a}{}<edge source=\"a\" target=\"b\"><data key=\"rate_mbps\">0</data></edge>",
                node("b", "1")
            )),
            "camp.graphml:7: the link from \"a\" to \"b\": rate_mbps must be a positive number of Mbit/s, not 0",
        ),
        (graphml("<graph edgedefault=\"directed\"/>"), "camp.graphml:4: the links must be undirected"),
        (graphml(""), "camp.graphml: there is no graph in it"),
        (graph(""), "camp.graphml: there is no node in it"),
    ];
    for (result, expected) in cases {
        assert_eq!(message(result), expected);
    }
    let broken = message(read("<graphml>\n<graph></node>", "camp.graphml", Format::Graphml));
    assert!(broken.starts_with("camp.graphml:2: no XML: "), "{broken}");
}

#[test]
fn a_given_range_goes_before_the_links_of_the_file() {
    let text = r#"{"nodes": [{"x_m": 0, "y_m": 0}, {"x_m": 5, "y_m": 0}, {"x_m": 10, "y_m": 0}], "links": [[0, 2]]}"#;
    let end = |name: &str| Some(End::Named(name.to_owned()));
    let links = |range| {
        let deployment = json(text).expect("well formed").deployment(range, end("0"), end("2"));
        deployment.expect("all is said").graph.links().to_vec()
    };
    assert_eq!(links(None), [(0, 2)]);
    assert_eq!(links(Some(6.0)), [(0, 1), (1, 2)]);
}

#[test]
fn what_is_missing_is_named() {
    let end = || Some(End::Named("0".to_owned()));
    let refused = |text: &str, range, source, destination| {
        let topology = json(text).expect("well formed");
        topology.deployment(range, source, destination).expect_err("something is missing").to_string()
    };
    let places = r#"{"nodes": [{"x_m": 0, "y_m": 0}, {"x_m": 5, "y_m": 0}]}"#;
    let bare = r#"{"nodes": [{"name": "a"}, {"name": "b"}], "links": [["a", "b"]]}"#;
    assert!(refused(places, None, end(), end()).starts_with("range: the file has neither links nor a range"));
    assert!(refused(places, Some(0.0), end(), end()).starts_with("range: must be a positive number"));
    assert!(refused(bare, Some(3.0), end(), end()).starts_with("range: the file has no positions"));
    assert!(refused(places, Some(9.0), None, end()).starts_with("source: the file names none"));
    assert!(refused(places, Some(9.0), end(), None).starts_with("destination: the file names none"));
    assert!(refused(places, Some(9.0), end(), end()).starts_with("destination: is the source too"));
    assert!(refused(bare, None, end(), end()).starts_with("source: there is no node \"0\" among a, b"));
    let point = Some(End::Nearest(Position::new(0.0, 0.0)));
    assert!(refused(bare, None, point, end()).starts_with("source: a reference point needs"));
}

/// Text made of what the formats are made of, so that much of it gets past the first check.
fn pieces() -> impl Strategy<Value = String> {
    let words = [
        "{",
        "}",
        "[",
        "]",
        ":",
        ",",
        "\"",
        "nodes",
        "links",
        "x_m",
        "y_m",
        "\n",
        "1",
        "-2.5e3",
        "NaN",
        "null",
        "name",
        "<graphml>",
        "</graphml>",
        "<graph edgedefault=\"undirected\">",
        "</graph>",
        "<node id=\"a\"/>",
        "<key id=\"d\" ",
        "attr.name=\"x_m\"/>",
        "<data key=\"d\">",
        "</data>",
        "<edge source=\"a\" target=\"b\"/>",
        "&",
        "é",
        " ",
    ];
    prop::collection::vec(prop::sample::select(words.to_vec()), 0..60).prop_map(|words| words.concat())
}

proptest! {
    #[test]
    fn no_text_makes_a_reader_fall(text in prop_oneof![pieces(), any::<String>()]) {
        for (file, format) in [("a.csv", Format::Csv), ("a.json", Format::Json), ("a.graphml", Format::Graphml)] {
            match read(&text, file, format) {
                Ok(topology) => {
                    prop_assert!(topology.nodes > 0);
                    prop_assert!(topology.positions.iter().all(|position| position.is_finite()));
                    prop_assert!(topology.positions.is_empty() || topology.positions.len() == topology.nodes);
                }
                Err(error) => prop_assert!(error.to_string().starts_with(file), "{}", error),
            }
        }
    }

    #[test]
    fn positions_in_csv_are_read_as_written(
        points in prop::collection::vec((-1e6..1e6f64, -1e6..1e6f64), 1..20),
    ) {
        let lines: String = points.iter().map(|(x, y)| format!("{x},{y}\n")).collect();
        let read: Vec<_> = csv(&lines).expect("well formed").positions.iter().map(|at| (at.x, at.y)).collect();
        prop_assert_eq!(read, points);
    }
}
