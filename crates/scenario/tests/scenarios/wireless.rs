//! Wireless networks: what `explain` draws, what files and seeds bring in.

use crate::support::{Folder, air, shipped};
use ropewalk_scenario::{RunOptions, Scenario, load, run};

fn assert_tells(text: &str, all: &[&str]) {
    for wanted in all {
        assert!(text.contains(wanted), "no {wanted:?} in\n{text}");
    }
}

#[test]
fn the_explanation_draws_positions_ranges_and_channels() {
    let diamond = shipped("diamond.toml", &[("wifi.routes.b.channel", "6")]).explain();
    assert_tells(
        &diamond,
        &[
            "802.11b, long preamble: data at 11 Mbit/s, ACKs at 1 Mbit/s",
            "received up to 25.0 m, sensed up to 25.0 m",
            "of frames that overlap the first is received",
            "~~~ 2 hops on channel 1: s ~ r1 ~ d",
            "~~~ 2 hops on channel 6: s ~ r2 ~ d",
            "*r1,r2",
            "r1 at (0.0, 12.5) m, channels 1, 6",
            "25.0 m: received up to here",
            "wifi.short_retry_limit",
        ],
    );
    // North is up: d above the relays above s.
    let line = |mark: &str| diamond.lines().position(|line| line.trim_start().starts_with(mark));
    assert!(line("@d").is_some() && line("@d") < line("*r1") && line("*r1") < line("@s"), "{diamond}");
    let mesh = shipped("mesh.toml", &[]).explain();
    assert_tells(&mesh, &["of those drawn with seed 1", "link-disjoint 2", "32 stations", "@s", "@d"]);
}

#[test]
fn seeds_draw_deployments_and_names_stay() {
    let scene = |seed: &str| {
        let scenario = shipped("mesh.toml", &[("scenario.seed", seed)]);
        scenario.plan().wifi.as_ref().expect("a network").scene.clone()
    };
    let (first, again, other) = (scene("1"), scene("1"), scene("2"));
    assert_eq!(first, again);
    assert_ne!(first.stations, other.stations);
    for scene in [first, other] {
        let names: Vec<&str> = scene.stations.iter().map(|station| station.name.as_str()).collect();
        assert!(names.len() == 32 && names.contains(&"s") && names.contains(&"d"), "{names:?}");
        // Link-disjoint: no two hops of the two routes are the same.
        let hops = |route: usize| scene.routes[route].stations.windows(2);
        assert!(hops(0).all(|hop| hops(1).all(|other| hop != other)));
        assert!(scene.draws > 0);
    }
    // The hash names the scenario; the seed is not in it.
    let hash = |seed| shipped("mesh.toml", &[("scenario.seed", seed)]).hash();
    assert_eq!(hash("1"), hash("2"));
}

const FROM_FILES: &str = concat!(
    air!(),
    r#"
route_interval = "1 s"
[wifi.deployment]
layout = { kind = "file", file = "places.csv" }
source = { node = "s", station = "west" }
destination = { node = "d", station = "east" }
[wifi.stations.walker]
[wifi.movement]
file = "walk.tcl"
stations = ["walker"]
[wifi.routes.a]
from = "s"
to = "d"
find = { algorithm = "shortest" }
[scenario]
name = "files"
duration = "20 s"
"#
);

#[test]
fn places_and_movements_come_from_files() {
    let folder = Folder::new("files");
    folder.write("places.csv", "name,x_m,y_m\nwest,0,0\nupper,15,10\neast,30,0\n");
    // A shorter way it is not, but the only one when it has come; then it leaves again.
    folder.write(
        "walk.tcl",
        "$node_(0) set X_ 15\n$node_(0) set Y_ 0\n$ns_ at 5.0 \"$node_(0) setdest 15 100 10\"\n",
    );
    let load = || folder.load(FROM_FILES);
    let scenario = load().unwrap_or_else(|error| panic!("{error}"));
    let canonical = scenario.canonical_json();
    assert_eq!(canonical.matches("sha256:").count(), 2, "{canonical}");
    let outcome = run(&scenario, &RunOptions::default()).expect("the run ends");
    let ways: Vec<&str> = outcome.route_changes.iter().map(|row| row.stations.as_str()).collect();
    // The walker is the first station and wins the tie, until it is too far away.
    assert_eq!(ways, ["s walker d", "s upper d"]);
    let moved = outcome.radios.iter().find(|row| row.station == "walker").expect("it has a radio");
    assert!((moved.position.y - 100.0).abs() < 1e-6, "{moved:?}");
    folder.write("walk.tcl", "$node_(0) set X_ 16\n$node_(0) set Y_ 0\n");
    assert_ne!(load().expect("it stands elsewhere").hash(), scenario.hash());
    folder.write("walk.tcl", "$node_(0) set X_ sixteen\n");
    let error = load().expect_err("no number");
    assert!(
        error.file.as_deref().is_some_and(|file| file.ends_with("walk.tcl")) && error.line == Some(1),
        "{error}"
    );
}

#[test]
fn a_seed_without_a_route_is_told_at_the_run() {
    // Shadowing decides who hears whom: with some seeds s and d do not hear each other.
    let text = r#"
[scenario]
name = "shadow"
duration = "1 s"
seed = SEED
[hosts.s]
[hosts.d]
[wifi]
propagation = { model = "log-distance", exponent = 3.0, shadowing = "12 dB" }
[wifi.stations]
s = { position = ["0 m", "0 m"] }
d = { position = ["45 m", "0 m"] }
[wifi.routes.a]
from = "s"
to = "d"
[connections.bulk]
from = "s"
to = "d"
application = { kind = "bulk" }
"#;
    let loads = |seed: u64| load(&text.replace("SEED", &seed.to_string()), None, &[]);
    let good = (1..50).find(|&seed| loads(seed).is_ok()).expect("a seed that works");
    let bad = (1..50).find(|&seed| loads(seed).is_err()).expect("a seed that does not");
    let scenario = loads(good).unwrap_or_else(|error| panic!("{error}"));
    run(&scenario, &RunOptions::default()).expect("its own seed");
    let error =
        run(&scenario, &RunOptions { seed: Some(bad), ..RunOptions::default() }).expect_err("no route");
    let message = error.to_string();
    assert!(
        message.contains(&format!("with seed {bad}: wifi.routes.a.via")) && message.contains("m apart"),
        "{message}"
    );
}

/// s and d hear each other over two-ray ground with fading; d sends weaker and slower than s.
const FADED: &str = r#"
[scenario]
name = "faded"
duration = "2 s"
[hosts.s]
[hosts.d]
[wifi]
propagation = { model = "two-ray-ground", antenna_height = "1 m", fading = "rayleigh", reception = "nist" }
[wifi.stations]
s = { position = ["0 m", "0 m"] }
d = { position = ["300 m", "0 m"], power = "10 dBm", data_rate = "2 Mbit/s" }
[wifi.routes.a]
from = "s"
to = "d"
[connections.bulk]
from = "s"
to = "d"
application = { kind = "bulk" }
"#;

#[test]
fn hops_tell_frames_and_ratios_from_station_to_station() {
    let scenario = load(FADED, None, &[]).unwrap_or_else(|error| panic!("{error}"));
    assert_tells(&scenario.explain(), &["exponent 2, and 4 beyond 101 m", "each frame faded by itself"]);
    let outcome = run(&scenario, &RunOptions::default()).expect("it runs");
    let [back, forward] = &outcome.hops[..] else { panic!("there and back: {:?}", outcome.hops) };
    assert_eq!((forward.from.as_str(), forward.to.as_str(), forward.channel), ("s", "d", 1));
    assert_eq!((back.from.as_str(), back.to.as_str()), ("d", "s"));
    for row in [forward, back] {
        let stats = &row.stats;
        assert!(stats.sent >= stats.heard && stats.heard >= stats.received && stats.received > 0, "{row:?}");
        assert!(stats.acknowledged <= stats.received && stats.retries < stats.sent, "{row:?}");
        assert!(stats.retries > 0, "frames fade: {row:?}");
    }
    // 16 against 10 dBm over the same way. Only frames that were heard count, which lifts the weaker mean a little.
    let gap = forward.stats.mean_snr_db().expect("powers") - back.stats.mean_snr_db().expect("powers");
    assert!((4.0..8.0).contains(&gap), "{gap} dB");
    let noise: u64 = outcome.radios.iter().map(|row| row.stats.noise).sum();
    assert!(noise > 0, "{:?}", outcome.radios);
}

#[test]
fn on_disks_no_station_has_a_power() {
    let text = FADED.replace(
        "{ model = \"two-ray-ground\", antenna_height = \"1 m\", fading = \"rayleigh\", reception = \"nist\" }",
        "{ model = \"disk\", reception = \"70 m\" }",
    );
    let error = load(&text, None, &[]).expect_err("a power on disks");
    assert_eq!(error.key, "wifi.stations.d.power");
    assert!(error.to_string().contains("on disks powers play no part"), "{error}");
}

/// A square with a relay in each of two corners: over r1 all stations share channel 1 alone, over r2 the second hop may
/// use channel 6.
const SQUARE: &str = concat!(
    air!(),
    r#"
[scenario]
name = "square"
duration = "1 s"
[wifi.stations.s]
position = ["0 m", "0 m"]
[wifi.stations.r1]
position = ["15 m", "0 m"]
[wifi.stations.r2]
position = ["0 m", "15 m"]
channels = [1, 6]
[wifi.stations.d]
position = ["15 m", "15 m"]
channels = [1, 6]
[wifi.routes.w]
from = "s"
to = "d"
find = FIND
"#
);

#[test]
fn routes_are_found_by_metrics_over_several_channels() {
    let with = |find: &str| {
        let text = SQUARE.replace("FIND", find);
        load(&text, None, &[]).unwrap_or_else(|error| panic!("{find}: {error}"))
    };
    assert_tells(&with("{}").explain(), &["2 hops on channel 1: s ~ r1 ~ d, found (shortest 1)"]);
    let mic = with("{ metric = \"mic\" }");
    assert_tells(
        &mic.explain(),
        &["2 hops on channel 1, 6: s ~ r2 ~ d, found (shortest by MIC, switch cost 0.5, 1)"],
    );
    let wcett = with("{ metric = \"wcett\", beta = 0.9, algorithm = \"node-disjoint\", number = 2 }");
    assert_tells(
        &wcett.explain(),
        &["2 hops on channel 1: s ~ r1 ~ d, found (node-disjoint by WCETT, beta 0.9, 2)"],
    );
    // Without weight on the busiest channel, all routes of two hops are alike.
    assert_tells(&with("{ metric = \"wcett\", beta = 0.0 }").explain(), &["s ~ r1 ~ d"]);

    let of = |scenario: &Scenario| {
        let outcome = run(scenario, &RunOptions::default()).expect("it runs");
        (outcome.links.iter().map(|link| link.utilisation).collect::<Vec<_>>(), outcome.connections[0].bytes)
    };
    let (utilisation, over_two) = of(&mic);
    assert_eq!(utilisation, [None, None], "a wireless route has no utilisation");
    let (_, over_one) = of(&with("{}"));
    assert!(over_two > over_one * 3 / 2, "{over_two} octets over two channels, {over_one} over one");
}
