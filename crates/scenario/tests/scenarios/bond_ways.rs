//! The ways of a bond's paths over several links: which are taken, in both directions, and what is refused.

use crate::support::{gateways, mistake, outcome, scenario};
use ropewalk_scenario::Outcome;

/// DSL over two more routers, LTE over one; @1 to @5 stand for the names of links.
const LINED: &str = concat!(
    gateways!(),
    r#"
[scenario]
name = "lined"
duration = "20 s"
[routers.isp]
[routers.modem]
[routers.mast]
[links.@1]
between = ["isp", "hub"]
rate = "1 Gbit/s"
[links.@2]
between = ["isp", "modem"]
rate = "64 Mbit/s"
delay = "6.5 ms"
[links.@3]
between = ["cpe", "modem"]
rate = "1 Gbit/s"
[links.@4]
between = ["hub", "mast"]
rate = "1 Gbit/s"
[links.@5]
between = ["mast", "cpe"]
rate = "60 Mbit/s"
delay = "17.5 ms"
[bonds.home]
between = ["hub", "cpe"]
paths = [ { link = "@1", cost = 1 }, { link = "@4", cost = 2 } ]
scheduler = "cost-first"
[connections.video]
protocol = "udp"
from = "server"
to = "client"
application = { kind = "constant-rate", rate = "10 Mbit/s", packet_size = "1250 B", duration = "18 s" }
"#
);

/// The order of the alphabet is that of the numbers, its reverse, and another.
const NAMES: [[&str; 5]; 3] =
    [["a", "b", "c", "d", "e"], ["z", "y", "x", "w", "v"], ["m", "lte", "q", "dsl", "k"]];

fn named(text: &str, names: [&str; 5]) -> String {
    let digits = names.iter().enumerate();
    digits.fold(text.to_owned(), |text, (index, name)| text.replace(&format!("@{}", index + 1), name))
}

/// Octets on a link in one direction.
fn octets(outcome: &Outcome, link: &str, direction: &str) -> u64 {
    let mut rows = outcome.links.iter();
    rows.find(|row| row.name == link && row.direction == direction).expect("a link").bytes
}

/// Octets on @1 to @5, from the hub to the cpe and back.
fn both_ways(outcome: &Outcome, names: [&str; 5]) -> [[u64; 5]; 2] {
    let nodes = [["hub", "isp"], ["isp", "modem"], ["modem", "cpe"], ["hub", "mast"], ["mast", "cpe"]];
    let along = |link: usize, [from, to]: [&str; 2]| octets(outcome, names[link], &format!("{from}->{to}"));
    [
        [0, 1, 2, 3, 4].map(|link| along(link, nodes[link])),
        [0, 1, 2, 3, 4].map(|link| along(link, [nodes[link][1], nodes[link][0]])),
    ]
}

/// States that a path is in at the hub, without repetition.
fn states(outcome: &Outcome, path: &str) -> Vec<&'static str> {
    let is_row = |row: u32| {
        let row = &outcome.bonds[row as usize];
        row.direction == "hub->cpe" && row.path.as_deref() == Some(path)
    };
    let samples = outcome.bond_series.iter().filter(|sample| is_row(sample.row));
    let mut states: Vec<&str> = samples.filter_map(|sample| sample.path.map(|path| path.state)).collect();
    states.dedup();
    states
}

#[test]
fn a_path_takes_its_own_links_there_and_back_whatever_they_are_called() {
    // 40 Mbit/s fit on DSL; 90 need LTE as well; upwards both carry reports and keepalives.
    for (rate, least_lte, most_lte) in [("40 Mbit/s", 0.0, 0.01), ("90 Mbit/s", 0.25, 0.4)] {
        let overrides = [("scenario.duration", "4 s"), ("connections.video.application.rate", rate)];
        let [one, other, third] =
            NAMES.map(|names| both_ways(&outcome(&named(LINED, names), &overrides), names));
        assert_eq!((one, one), (other, third), "the names of links change nothing");
        let [there, back] = one;
        for (path, way) in [("DSL", 0..3), ("LTE", 3..5)] {
            let (there, back) = (&there[way.clone()], &back[way]);
            let same = |octets: &[u64]| {
                let (least, most) = (octets.iter().min().unwrap(), octets.iter().max().unwrap());
                // What is in the queues when the run ends.
                *least > 0 && most - least < 200_000
            };
            assert!(same(there) && same(back), "{path}, {rate}: {there:?} {back:?}");
        }
        let lte = there[4] as f64 / (there[1] + there[4]) as f64;
        assert!((least_lte..most_lte).contains(&lte), "{rate}: {lte}");
        assert!(back.iter().all(|octets| *octets < 400_000), "feedback only: {back:?}");
    }
}

#[test]
fn the_death_of_a_line_takes_only_its_own_path_down() {
    let text = named(LINED, NAMES[1]);
    for scheduler in ["cost-first", "rate-aware", "flow-aware", "weighted-round-robin", "redundant"] {
        let kind = format!("{{ kind = \"{scheduler}\" }}");
        for (dead, path, other) in [("y", "z", "w"), ("v", "w", "z")] {
            let changes = format!("links.{dead}.changes");
            let outcome = outcome(
                &text,
                &[
                    ("bonds.home.scheduler", &kind),
                    // 500 packets in each second.
                    ("connections.video.application.rate", "5 Mbit/s"),
                    (&changes, "[{ at = \"5.03 s\", state = \"down\" }, { at = \"15 s\", state = \"up\" }]"),
                ],
            );
            let video = outcome.connections[0].datagrams.expect("UDP");
            let (sent, lost) = (video.sent, video.sent - video.received);
            println!("{scheduler}, {dead} dead: {lost} of {sent} lost");
            assert_eq!(sent, 9000);
            let most = if scheduler == "redundant" { 0 } else { 150 };
            assert!(lost <= most, "{scheduler}, {dead} dead: {lost} lost");
            assert_eq!(states(&outcome, other), ["up"], "{scheduler}, {dead} dead");
            assert!(states(&outcome, path).contains(&"down"), "{scheduler}, {dead} dead");
            assert_eq!(states(&outcome, path).last(), Some(&"up"), "{scheduler}, {dead} dead");
        }
    }
}

#[test]
fn the_links_of_each_path_are_explained() {
    let text = scenario(&named(LINED, NAMES[1]), &[]).explain();
    assert!(text.contains("z: RTT at least 13 ms, 64.00 Mbit/s"), "{text}");
    assert!(text.contains("(hub) --z-- (isp) --y-- (modem) --x-- (cpe)"), "{text}");
    assert!(text.contains("w: RTT at least 35 ms, 60.00 Mbit/s"), "{text}");
    assert!(text.contains("(hub) --w-- (mast) --v-- (cpe)"), "{text}");
    assert!(!text.contains("meet in the link"), "{text}");
}

/// A line that a host on either side of it shares with the bond: the topology of the study's cross traffic.
const CROSSED: &str = r#"
[scenario]
name = "crossed"
duration = "5 s"
[hosts]
server = {}
client = {}
mirror = {}
pc = {}
[routers]
hub = {}
dslam = {}
modem = {}
cpe = {}
[links]
core = { between = ["server", "hub"], rate = "10 Gbit/s" }
lan = { between = ["client", "cpe"], rate = "10 Gbit/s" }
internet = { between = ["mirror", "dslam"], rate = "10 Gbit/s", delay = "18.5 ms" }
home = { between = ["pc", "modem"], rate = "10 Gbit/s" }
to-dslam = { between = ["hub", "dslam"], rate = "10 Gbit/s" }
dsl = { between = ["dslam", "modem"], rate = "64 Mbit/s", delay = "6.5 ms" }
to-cpe = { between = ["modem", "cpe"], rate = "10 Gbit/s" }
lte = { between = ["hub", "cpe"], rate = "60 Mbit/s", delay = "12.5 ms" }
[bonds.bond]
between = ["hub", "cpe"]
paths = [ { link = "to-dslam", cost = 1 }, { link = "lte", cost = 2 } ]
scheduler = "cost-first"
[connections.video]
protocol = "udp"
from = "server"
to = "client"
data = "DIRECTION"
application = { kind = "constant-rate", rate = "10 Mbit/s", duration = "4 s" }
"#;

#[test]
fn a_line_that_cross_traffic_shares_carries_the_bond_in_both_directions() {
    for (data, there, back) in [
        ("forward", ["dslam->modem", "hub->cpe"], ["modem->dslam", "cpe->hub"]),
        ("backward", ["modem->dslam", "cpe->hub"], ["dslam->modem", "hub->cpe"]),
    ] {
        let text = CROSSED.replace("DIRECTION", data);
        let explained = scenario(&text, &[]).explain();
        assert!(explained.contains("to-dslam: RTT at least 13 ms, 64.00 Mbit/s"), "{explained}");
        let way = "(hub) --to-dslam-- (dslam) --dsl-- (modem) --to-cpe-- (cpe)";
        assert!(explained.contains(way), "{explained}");
        assert!(explained.contains("lte: RTT at least 25 ms, 60.00 Mbit/s"), "{explained}");
        let outcome = outcome(&text, &[]);
        assert!(octets(&outcome, "dsl", there[0]) > 5_000_000, "{data}");
        let reports = octets(&outcome, "dsl", back[0]);
        assert!((1_000..200_000).contains(&reports), "{data}, dsl {}: {reports}", back[0]);
        // The dearer line rests: two keepalives and their answers each way.
        for direction in [there[1], back[1]] {
            let octets = octets(&outcome, "lte", direction);
            assert!((100..2_000).contains(&octets), "{data}, lte {direction}: {octets}");
        }
    }
}

/// From the hub by `in` and `other` to the first of two routers, from there by `slow` or `fast` to the second, and by `out`.
const MESHED: &str = concat!(
    gateways!(),
    r#"
[scenario]
name = "meshed"
duration = "3 s"
[routers.near]
[routers.far]
[links]
dead = { between = ["hub", "end"], rate = "1 Gbit/s" }
in = { between = ["hub", "near"], rate = "30 Mbit/s", delay = "5 ms" }
other = { between = ["hub", "near"], rate = "30 Mbit/s", delay = "5 ms" }
fast = { between = ["near", "far"], rate = "20 Mbit/s", delay = "3 ms" }
slow = { between = ["near", "far"], rate = "40 Mbit/s", delay = "8 ms" }
out = { between = ["far", "cpe"], rate = "50 Mbit/s", delay = "1 ms" }
[routers.end]
[bonds.home]
between = ["hub", "cpe"]
paths = [ "in", "other" ]
[connections.video]
protocol = "udp"
from = "server"
to = "client"
application = { kind = "constant-rate", rate = "15 Mbit/s", duration = "2 s" }
"#
);

#[test]
fn paths_may_share_links_and_it_is_said() {
    let scenario = scenario(MESHED, &[]);
    let text = scenario.explain();
    assert!(text.contains("(hub) --in-- (near) --fast-- (far) --out-- (cpe)"), "{text}");
    assert!(text.contains("(hub) --other-- (near) --fast-- (far) --out-- (cpe)"), "{text}");
    let warning = "bonds.home: the paths in and other meet in the link fast";
    assert!(scenario.warnings().iter().any(|text| text.starts_with(warning)), "{:?}", scenario.warnings());
    assert!(text.contains("at most 20.00 Mbit/s"), "the bond has no more than they share: {text}");
    // Both end on one interface, and each is measured by itself.
    let redundant =
        outcome(MESHED, &[("bonds.home.scheduler", "redundant"), ("links.fast.rate", "40 Mbit/s")]);
    let video = redundant.connections[0].datagrams.expect("UDP");
    for path in ["in", "other"] {
        let rows = redundant.bonds.iter().filter(|row| row.path.as_deref() == Some(path));
        let row = rows.into_iter().find(|row| row.direction == "hub->cpe").expect("a path");
        assert_eq!(row.traffic.received_packets, video.sent, "{row:?}");
        assert_eq!((row.lost, states(&redundant, path)), (0, vec!["up"]), "{row:?}");
    }
}

#[test]
fn a_tie_goes_to_links_of_its_own_or_is_refused() {
    let tied = ("links.slow.delay", "3 ms");
    let error = mistake(MESHED, &[tied]);
    assert_eq!(error.key, "bonds.home.paths[0]");
    assert!(
        error.message.contains("over the link `in` are as short: by fast, out and by slow, out"),
        "{error}"
    );
    assert!(error.expected.contains("via"), "{error}");
    // The first one's way is named; the second then has a link of its own to choose, but both end by `out`.
    let via = |way: &str| format!("{{ link = \"in\", via = {way} }}");
    let error = mistake(MESHED, &[tied, ("bonds.home.paths[0]", &via("[\"fast\", \"out\"]"))]);
    assert_eq!(error.key, "bonds.home.paths[1]");
    assert!(error.message.contains("`near` would send this path's packets on by `slow`"), "{error}");
    // With an interface of its own for each, there is one way for the second.
    let own = MESHED.replace(
        "[routers.end]",
        "own = { between = [\"far\", \"cpe\"], delay = \"1 ms\", rate = \"9 Mbit/s\" }\n[routers.end]",
    );
    let chosen = scenario(&own, &[tied, ("bonds.home.paths[0]", &via("[\"fast\", \"out\"]"))]);
    let text = chosen.explain();
    assert!(text.contains("(hub) --other-- (near) --slow-- (far) --own-- (cpe)"), "{text}");
    assert!(chosen.canonical_json().contains("\"via\":[\"slow\",\"own\"]"));
    // Fewer links go before more of the same delay, and a shorter delay before fewer links.
    let direct = |delay: &str| {
        MESHED.replace("[routers.end]", &format!("skip = {{ between = [\"near\", \"cpe\"], delay = \"{delay}\", rate = \"9 Mbit/s\" }}\n[routers.end]"))
    };
    assert!(scenario(&direct("4 ms"), &[]).explain().contains("(hub) --in-- (near) --skip-- (cpe)"));
    assert!(scenario(&direct("4.1 ms"), &[]).explain().contains("(near) --fast-- (far) --out-- (cpe)"));
}

#[test]
fn a_named_way_is_taken_or_its_mistake_is_told() {
    let via = |way: &str| format!("[ {{ link = \"in\", via = {way} }} ]");
    let named = outcome(MESHED, &[("bonds.home.paths", &via("[\"slow\", \"out\"]"))]);
    assert!(octets(&named, "slow", "near->far") > 3_000_000 && octets(&named, "slow", "far->near") > 0);
    assert_eq!(octets(&named, "fast", "near->far") + octets(&named, "fast", "far->near"), 0);
    for (way, key, word) in [
        ("[]", "via", "the way ends at `near`"),
        ("[\"slow\"]", "via", "the way ends at `far`"),
        ("[\"out\"]", "via[0]", "does not end at `near`"),
        ("[\"slov\"]", "via[0]", "no link"),
        ("[\"other\"]", "via[0]", "leads back to `hub`"),
        ("[\"slow\", \"fast\"]", "via[1]", "leads back to `near`"),
        ("[\"slow\", \"out\", \"lan\"]", "via[2]", "the way is at `cpe` before `lan`"),
    ] {
        let error = mistake(MESHED, &[("bonds.home.paths", &via(way))]);
        assert_eq!(error.key, format!("bonds.home.paths[0].{key}"), "{way}: {error}");
        assert!(error.message.contains(word), "{way}: {error}");
    }
}

#[test]
fn a_link_that_leads_to_the_gateway_only_by_the_other_one_is_refused() {
    for (link, word) in [
        ("core", "it leads to the host `server`, which forwards nothing"),
        ("dead", "`end` knows none that does not lead back over `hub`"),
    ] {
        let text = MESHED.replace("\"other\"", &format!("\"{link}\""));
        let error = mistake(&text, &[]);
        let line = text.lines().position(|line| line.starts_with("paths = ")).expect("there") + 1;
        assert_eq!((error.key.as_str(), error.line), ("bonds.home.paths[1]", Some(line)), "{error}");
        assert!(error.message.contains(word), "{error}");
    }
}
