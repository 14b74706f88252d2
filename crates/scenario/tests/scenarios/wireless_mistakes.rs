//! Mistakes in `[wifi]`: each names its line, its key and what would be right.

use crate::support::mistake;
use ropewalk_scenario::{ScenarioError, load};

const GOOD: &str = r#"
[scenario]
name = "test"
duration = "10 s"
[hosts.s]
[hosts.d]
[wifi]
data_rate = "11 Mbit/s"
channels = [1, 6]
queue = "100 packets"
propagation = { model = "disk", reception = "20 m" }
[wifi.stations.s]
position = ["0 m", "0 m"]
[wifi.stations.r]
position = ["0 m", "15 m"]
channels = [1]
[wifi.stations.d]
position = ["0 m", "30 m"]
[wifi.routes.a]
from = "s"
to = "d"
via = ["r"]
channel = 1
[[wifi.errors]]
from = "s"
to = "r"
loss = "1 %"
[wifi.broadcasts.hello]
from = ["s", "r"]
interval = "1 s"
[connections.bulk]
from = "s"
to = "d"
application = { kind = "bulk" }
"#;

/// Replaces a line by another, and compares the key, the line, and words of the message.
fn check(line: &str, by: &str, key: &str, words: &[&str]) {
    let number =
        GOOD.lines().position(|known| known == line).unwrap_or_else(|| panic!("no line {line:?}")) + 1;
    let text: Vec<&str> = GOOD.lines().map(|known| if known == line { by } else { known }).collect();
    let error = mistake(&text.join("\n"), &[]);
    let shown = error.to_string();
    assert_eq!(error.key, key, "{by:?}: {shown}");
    let lines = number..number + by.lines().count();
    assert!(error.line.is_some_and(|line| lines.contains(&line)), "line of {by:?}: {shown}");
    for word in words {
        assert!(shown.contains(word), "no {word:?} for {by:?}: {shown}");
    }
}

#[test]
fn the_good_one_is_good() {
    load(GOOD, None, &[]).unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn radios_that_cannot_be() {
    check(
        "data_rate = \"11 Mbit/s\"",
        "data_rate = \"54 Mbit/s\"",
        "wifi.data_rate",
        &["no rate of 802.11b", "5.5"],
    );
    check("data_rate = \"11 Mbit/s\"", "data_rate = \"minstel\"", "wifi.data_rate", &["or \"minstrel\""]);
    check("data_rate = \"11 Mbit/s\"", "ack_rate = \"3 Mbit/s\"", "wifi.ack_rate", &["one of 1, 2, 5.5, 11"]);
    check(
        "data_rate = \"11 Mbit/s\"",
        "fragmentation_threshold = \"500 B\"",
        "wifi.fragmentation_threshold",
        &["unknown key `fragmentation_threshold`"],
    );
    check(
        "data_rate = \"11 Mbit/s\"",
        "short_retry_limit = 0",
        "wifi.short_retry_limit",
        &["sent at least once"],
    );
    check("data_rate = \"11 Mbit/s\"", "cw_max = 7", "wifi.cw_max", &["at least cw_min"]);
    check("data_rate = \"11 Mbit/s\"", "standard = \"802.11n\"", "wifi.standard", &["802.11g"]);
    check(
        "data_rate = \"11 Mbit/s\"",
        "standard = \"802.11g\"\npreamble = \"short\"",
        "wifi.preamble",
        &["802.11g has one preamble"],
    );
    check("queue = \"100 packets\"", "queue = \"64 kB\"", "wifi.queue", &["counts frames"]);
    check("channels = [1, 6]", "channels = [1, 15]", "wifi.channels[1]", &["no channel 15", "1 to 14"]);
    check("channels = [1]", "channels = [1, 36]", "wifi.stations.r.channels[1]", &["no channel 36"]);
    check("channels = [1]", "channels = [1, 1]", "wifi.stations.r.channels[1]", &["on channel 1 too"]);
    check("channels = [1]", "channels = []", "wifi.stations.r.channels", &["at least one"]);
    check("channels = [1, 6]", "channels = []", "wifi.channels", &["at least one"]);
}

#[test]
fn places_and_ranges_that_cannot_be() {
    let propagation = "propagation = { model = \"disk\", reception = \"20 m\" }";
    let disk = |reception: &str| format!("propagation = {{ model = \"disk\", reception = {reception} }}");
    check(propagation, &disk("\"0 m\""), "wifi.propagation.reception", &["above zero"]);
    check(propagation, &disk("\"-20 m\""), "wifi.propagation.reception", &["not negative"]);
    check(propagation, &disk("\"NaN m\""), "wifi.propagation.reception", &["finite"]);
    check(
        propagation,
        &disk("\"20 m\", carrier_sense = \"10 m\""),
        "wifi.propagation.carrier_sense",
        &["less than the reception range"],
    );
    check(
        propagation,
        "propagation = { model = \"dsk\" }",
        "wifi.propagation.model",
        &["did you mean `disk`"],
    );
    let position = "position = [\"0 m\", \"15 m\"]";
    check(position, "position = [\"0 m\", \"NaN m\"]", "wifi.stations.r.position[1]", &["finite coordinate"]);
    check(position, "position = [nan, 0.0]", "wifi.stations.r.position[0]", &["finite coordinate"]);
    check(position, "position = [\"0 m\"]", "wifi.stations.r.position", &["a point such as"]);
}

#[test]
fn stations_that_stand_nowhere() {
    let text = GOOD.replace("position = [\"0 m\", \"15 m\"]\n", "");
    let error = mistake(&text, &[]);
    assert_eq!(error.key, "wifi.stations.r.position");
    assert_eq!(error.source_line.as_deref(), Some("[wifi.stations.r]"));
    assert!(error.to_string().contains("`position` is missing"), "{error}");
}

#[test]
fn routes_that_cannot_be() {
    let via = "via = [\"r\"]";
    check(via, "via = []", "wifi.routes.a.via", &["30.00 m apart", "the range is 20.00 m"]);
    check(via, "via = [\"x\"]", "wifi.routes.a.via[0]", &["no station `x`"]);
    check(via, "via = [\"r\", \"r\"]", "wifi.routes.a.via[1]", &["passes `r` twice"]);
    check(via, "via = [\"d\"]", "wifi.routes.a.via[0]", &["passes `d` twice"]);
    check(via, "via = [\"r\"]\nfind = {}", "wifi.routes.a.find", &["not both"]);
    check(
        via,
        "find = { algorithm = \"node-disjoint\", number = 2 }",
        "wifi.routes.a.find",
        &["only one node-disjoint route from `s` to `d`"],
    );
    check(via, "find = { number = 2 }", "wifi.routes.a.find.number", &["there is one shortest route"]);
    check(
        "channel = 1",
        "channel = 6",
        "wifi.routes.a.channel",
        &["`r` has no radio on channel 6", "its channels: 1"],
    );
    check("channel = 1", "channels = [1]", "wifi.routes.a.channels", &["1 channels for 2 hops"]);
}

#[test]
fn errors_of_frames_that_cannot_be() {
    let loss = "loss = \"1 %\"";
    check(loss, "loss = \"101 %\"", "wifi.errors[0].loss", &["0 to 1"]);
    check(
        loss,
        "loss = { model = \"bursts\", mean_loss = \"90 %\", mean_burst = 2.0 }",
        "wifi.errors[0].loss.mean_burst",
        &["at least 9"],
    );
    check(
        loss,
        "loss = { model = \"hidden-markov\", transitions = [[0.5, 0.4], [0.1, 0.9]], loss = [0, 1] }",
        "wifi.errors[0].loss.transitions",
        &["add up to 0.9"],
    );
    check(
        loss,
        "loss = \"1 %\"\nchannel = 6",
        "wifi.errors[0].channel",
        &["do not both have a radio on channel 6"],
    );
    // GOOD's stations stand 15 m apart in a row, and 20 m is the range.
    check(
        "to = \"r\"",
        "to = \"d\"",
        "wifi.errors[0].to",
        &["no link from `s` to `d`", "30.0 m", "out of range"],
    );
    let apart =
        GOOD.replace("position = [\"0 m\", \"30 m\"]", "position = [\"0 m\", \"30 m\"]\nchannels = [1]");
    let apart = apart.replace(
        "[wifi.routes.a]",
        "[wifi.stations.x]\nposition = [\"1 m\", \"0 m\"]\nchannels = [6]\n[wifi.routes.a]",
    );
    let error = mistake(&apart.replace("from = \"s\"\nto = \"r\"", "from = \"r\"\nto = \"x\""), &[]);
    assert_eq!(error.key, "wifi.errors[0].to");
    assert!(error.to_string().contains("no common channel"), "{error}");
}

#[test]
fn errors_of_frames_that_nobody_sends_are_warned_of() {
    let warnings = |text: &str| load(text, None, &[]).unwrap_or_else(|error| panic!("{error}")).warnings();
    // A relay at the side, in range of `s`, that no route uses.
    let side =
        GOOD.replace("[wifi.routes.a]", "[wifi.stations.x]\nposition = [\"5 m\", \"0 m\"]\n[wifi.routes.a]");
    let side = side.replace("to = \"r\"\nloss", "to = \"x\"\nboth_ways = true\nloss");
    let hello = "[wifi.broadcasts.hello]\nfrom = [\"s\", \"r\"]\ninterval = \"1 s\"\n";
    let quiet = side.replace(hello, "");
    assert_eq!(warnings(&quiet), ["wifi.errors[0]: no route leads over `s` and `x`, so no frame fails"]);
    // Broadcasts go over every link, and a route over it uses the link.
    assert!(warnings(&side).is_empty(), "{:?}", warnings(&side));
    assert!(warnings(&quiet.replace("to = \"x\"", "to = \"r\"")).is_empty());
}

#[test]
fn broadcasts_that_cannot_be() {
    let (from, interval) = ("from = [\"s\", \"r\"]", "interval = \"1 s\"");
    let key = |key: &str| format!("wifi.broadcasts.hello.{key}");
    check(from, "from = [\"x\"]", &key("from[0]"), &["no station `x`"]);
    check(from, "from = []", &key("from"), &["no station would send"]);
    check(from, "from = [\"s\", \"s\"]", &key("from[1]"), &["`s` is there twice"]);
    check(from, "from = [\"r\"]\nchannel = 6", &key("from[0]"), &["`r` has no radio on channel 6"]);
    check(from, "channel = 11", &key("channel"), &["no station has a radio on channel 11", "one of 1, 6"]);
    check(interval, "interval = \"0 s\"", &key("interval"), &["no time between two datagrams"]);
    check(interval, "packet_size = \"3 kB\"", &key("packet_size"), &["fit no frame", "2268 B"]);
    check(interval, "start = \"10 s\"", &key("start"), &["the simulation ends at 10 s"]);
    check(interval, "duration = \"0 s\"", &key("duration"), &["nothing would be sent"]);
    check(interval, "intervall = \"1 s\"", &key("intervall"), &["did you mean `interval`"]);
    let rate = "data_rate = \"11 Mbit/s\"";
    check(rate, "broadcast_rate = \"3 Mbit/s\"", "wifi.broadcast_rate", &["one of 1, 2, 5.5, 11"]);
}

#[test]
fn deployments_that_cannot_be() {
    let deployed = |layout: &str, more: &str| {
        format!(
            r#"
[scenario]
name = "test"
duration = "10 s"
[hosts.s]
[hosts.d]
[wifi]
propagation = {{ model = "disk", reception = "20 m" }}
[wifi.deployment]
layout = {{ {layout} }}
source = {{ node = "s", near = ["20 m", "50 m"] }}
destination = {{ node = "d", near = ["80 m", "50 m"] }}
{more}
"#
        )
    };
    let area = "area = [\"100 m\", \"100 m\"]";
    let refused = |layout: &str, more: &str, key: &str, words: &[&str]| {
        let error = mistake(&deployed(layout, more), &[]);
        let shown = error.to_string();
        assert_eq!(error.key, key, "{shown}");
        assert!(error.line.is_some(), "{shown}");
        words.iter().for_each(|word| assert!(shown.contains(word), "no {word:?}: {shown}"));
    };
    let uniform = |stations: u32, area: &str| format!("kind = \"uniform\", stations = {stations}, {area}");
    refused(&uniform(1, area), "", "wifi.deployment.layout.stations", &["2"]);
    refused(&uniform(32, "area = [\"0 m\", \"100 m\"]"), "", "wifi.deployment.layout.area", &["positive"]);
    // Two stations of 20 m in 100 km: no chance.
    refused(
        &uniform(8, "area = [\"100 km\", \"100 km\"]"),
        "draws = 3000",
        "wifi.deployment",
        &["3000 drawn", "rarer than 1 in 1000"],
    );
    refused(&format!("kind = \"grid\", columns = 1, rows = 1, {area}"), "", "wifi.deployment.layout", &["2"]);
    refused(
        "kind = \"file\", file = \"missing.csv\"",
        "",
        "wifi.deployment.layout.file",
        &["cannot be read"],
    );
    refused("kind = \"file\", file = \"missing.txt\"", "", "wifi.deployment.layout.file", &[".graphml"]);
}

#[test]
fn path_losses_that_cannot_be() {
    let propagation = "propagation = { model = \"disk\", reception = \"20 m\" }";
    for (key, value, words) in [
        ("exponent", "nan", "a number above 0"),
        ("exponent", "0.0", "a number above 0"),
        ("exponent", "-3.0", "a number above 0"),
        ("exponent", "1e300", "at most 20"),
        ("reference_distance", "\"0 m\"", "a distance above zero"),
        ("shadowing", "\"-4 dB\"", "0 dB or more"),
    ] {
        let by = format!("propagation = {{ model = \"log-distance\", {key} = {value} }}");
        check(propagation, &by, &format!("wifi.propagation.{key}"), &[words]);
    }
    let nakagami = "propagation = { model = \"log-distance\", fading = { model = \"nakagami\", m = 0.2 } }";
    check(propagation, nakagami, "wifi.propagation.fading.m", &["0.5 to 1000"]);
    let low = "propagation = { model = \"two-ray-ground\", antenna_height = \"0.05 m\" }";
    check(propagation, low, "wifi.propagation.antenna_height", &["higher"]);
}

#[test]
fn metrics_that_cannot_be() {
    let via = "via = [\"r\"]";
    for (find, key, words) in [
        ("metric = \"etx\"", "metric", "mic"),
        ("metric = \"mic\", beta = 0.5", "beta", "it belongs to WCETT"),
        ("switch_cost = 0.5", "switch_cost", "it belongs to MIC"),
        ("metric = \"wcett\", beta = 1.5", "beta", "a number from 0 to 1"),
        ("metric = \"mic\", switch_cost = 1.0", "switch_cost", "less than 1"),
        ("metric = \"mic\", ties = \"random\"", "ties", "by a metric"),
        ("metric = \"mic\", algorithm = \"optimal-node-disjoint\"", "metric", "MIC is no sum over links"),
        ("metric = \"wcett\", algorithm = \"optimal-link-disjoint\"", "metric", "WCETT is no sum over links"),
        ("metric = \"ett\", beta = 0.5", "beta", "it belongs to WCETT"),
    ] {
        let key = format!("wifi.routes.a.find.{key}");
        check(via, &format!("find = {{ {find} }}"), &key, &[words]);
    }
}

/// A deployment from a file, and what is wrong with the scenario around it.
fn mistake_of_file(positions: &str, wifi: &str, overrides: &[(&str, &str)]) -> ScenarioError {
    let folder = std::env::temp_dir().join(format!(
        "ropewalk-camp-{}-{}",
        std::process::id(),
        positions.len() + wifi.len()
    ));
    std::fs::create_dir_all(&folder).expect("a folder for temporary files");
    std::fs::write(folder.join("camp.csv"), positions).expect("writable");
    let text = format!(
        r#"
[scenario]
name = "test"
duration = "1 s"
[hosts.s]
[hosts.d]
[wifi]
propagation = {{ model = "disk", reception = "20 m" }}
{wifi}
[wifi.deployment]
layout = {{ kind = "file", file = "camp.csv" }}
source = {{ node = "s", station = "a" }}
destination = {{ node = "d", station = "b" }}
[wifi.routes.w]
from = "s"
to = "d"
"#
    );
    let own = |&(key, value): &(&str, &str)| (key.to_owned(), value.to_owned());
    let overrides: Vec<_> = overrides.iter().map(own).collect();
    let error = load(&text, Some(&folder.join("test.toml")), &overrides).err();
    std::fs::remove_dir_all(&folder).expect("still there");
    error.expect("this is wrong")
}

#[test]
fn deployments_that_do_not_fit_say_which_station() {
    let camp = "name,x,y\na,0,0\nb,10,0\nc,47.751,5\n";
    let error = mistake_of_file("name,x,y\na,0,0\nb,10,0\ns,5,5\n", "", &[]);
    assert_eq!(error.key, "wifi.deployment.source.node");
    assert!(error.message.contains("another station of the deployment is called `s` too"), "{error}");

    let own = "[wifi.stations.c]\nposition = [\"1 m\", \"1 m\"]";
    let error = mistake_of_file(camp, own, &[]);
    assert_eq!(error.key, "wifi.stations.c");
    assert!(error.message.contains("the deployment has a station `c` too"), "{error}");

    let moving =
        "mobility = { model = \"random-waypoint\", area = [\"40 m\", \"40 m\"], speed_max = \"2 m/s\" }";
    let error = mistake_of_file(camp, moving, &[]);
    assert_eq!(error.key, "wifi.mobility.area");
    assert!(error.message.contains("the station `c` begins at x = 47.75 m, outside the area"), "{error}");

    let error = mistake_of_file(camp, "", &[("wifi.propagation.reception", "\"0 m\"")]);
    assert_eq!(error.key, "wifi.propagation.reception");
    let shown = error.to_string();
    assert!(shown.contains("reception=\"0 m\"") && !shown.contains("20 m"), "{shown}");
}
