//! What wireless networks cannot be told beside `wireless_mistakes`, in exact words.

use crate::support::{Folder, mistake, refuses, scenario};

/// Three stations in a row, 15 m apart, of which the outer two do not hear each other.
const ROW: &str = r#"
[scenario]
name = "row"
duration = "10 s"
[hosts.s]
[hosts.d]
[wifi]
channels = [1, 6]
propagation = { model = "disk", reception = "20 m" }
[wifi.stations.s]
position = ["0 m", "0 m"]
[wifi.stations.r]
position = ["15 m", "0 m"]
channels = [1]
[wifi.stations.d]
position = ["30 m", "0 m"]
[wifi.routes.a]
from = "s"
to = "d"
via = ["r"]
channel = 1
[wifi.broadcasts.hello]
[connections.x]
from = "s"
to = "d"
"#;

#[test]
fn radios_and_stations_that_cannot_be() {
    refuses(
        ROW,
        &[
            (
                &[("wifi.channels", "[]")],
                "wifi.channels",
                "stations would have no radio",
                "at least one channel",
            ),
            (
                &[("wifi.standard", "802.11g"), ("wifi.preamble", "long")],
                "wifi.preamble",
                "802.11g has one preamble",
                "no key `preamble`, or 802.11b",
            ),
            (
                &[("wifi.queue", "64 kB")],
                "wifi.queue",
                "64 kB: a radio's queue counts frames",
                "a number such as \"100 packets\"",
            ),
            (
                &[("wifi.stations.r.data_rate", "54 Mbit/s")],
                "wifi.stations.r.data_rate",
                "54 Mbit/s is no rate of 802.11b",
                "one of 1, 2, 5.5, 11 Mbit/s",
            ),
            (
                &[("wifi.basic_rates", "[\"1 Mbit/s\", \"3 Mbit/s\"]")],
                "wifi.basic_rates[1]",
                "3 Mbit/s is no rate of 802.11b",
                "one of 1, 2, 5.5, 11 Mbit/s",
            ),
            (
                &[("wifi.stations.r.power", "10 dBm")],
                "wifi.stations.r.power",
                "on disks powers play no part",
                "another propagation, or no key `power`",
            ),
            (
                &[("wifi.update_interval", "999 us")],
                "wifi.update_interval",
                "999 us is too short to do something that often",
                "at least 1 ms",
            ),
            (
                &[("wifi.route_interval", "0 s")],
                "wifi.route_interval",
                "0 s is too short to do something that often",
                "at least 1 ms",
            ),
            (
                &[("wifi.propagation", "{ model = \"two-ray-ground\", antenna_height = \"0.05 m\" }")],
                "wifi.propagation.antenna_height",
                "the reflection from the ground takes as much as it gives within a metre",
                "antennas that stand higher",
            ),
        ],
    );
}

#[test]
fn a_network_without_a_station_is_refused_whole() {
    let from = ROW.find("[wifi.stations.s]").expect("stations");
    let to = ROW.find("[connections.x]").expect("a connection");
    let error = mistake(&[&ROW[..from], &ROW[to..]].concat(), &[]);
    assert_eq!(
        (&*error.key, &*error.message, &*error.expected),
        ("wifi", "this network has no station", "tables `[wifi.stations.NAME]`, or `[wifi.deployment]`")
    );
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table of cases")]
fn routes_that_cannot_be() {
    let find = |rest: &str| ROW.replace("via = [\"r\"]\nchannel = 1", rest);
    refuses(
        ROW,
        &[
            (
                &[("wifi.routes.a.to", "s")],
                "wifi.routes.a.to",
                "this route joins `s` with itself",
                "two different stations",
            ),
            (
                &[("wifi.routes.a.find", "{}")],
                "wifi.routes.a.find",
                "a route has `via` or `find`, not both",
                "one of the two",
            ),
            (
                &[("wifi.routes.a.via", "[\"r\", \"r\"]")],
                "wifi.routes.a.via[1]",
                "the route passes `r` twice",
                "each station once, the ends left out",
            ),
            (
                &[("wifi.routes.a.channels", "[1, 1]")],
                "wifi.routes.a.channels",
                "a route has `channel` or `channels`, not both",
                "one of the two",
            ),
            (
                &[("wifi.routes.a.mtu", "2305")],
                "wifi.routes.a.mtu",
                "no 802.11 frame carries 2305 octets",
                "at most 2296",
            ),
            (
                &[("wifi.routes.a.mtu", "100")],
                "wifi.routes.a.mtu",
                "an MTU of 100 octets is too small for the headers of TCP and its options",
                "128 to 65535",
            ),
        ],
    );
    let number = ("wifi.routes.a.find.number", "2");
    refuses(
        &find("find = {}"),
        &[
            (
                &[number],
                "wifi.routes.a.find.number",
                "there is no shortest route 2",
                "1: there is one shortest route",
            ),
            (
                &[("wifi.routes.a.find.algorithm", "zone-disjoint"), ("wifi.routes.a.find.number", "0")],
                "wifi.routes.a.find.number",
                "there is no zone-disjoint route 0",
                "a number from 1",
            ),
            (
                &[("wifi.routes.a.find.algorithm", "node-disjoint"), number],
                "wifi.routes.a.find",
                "there is only one node-disjoint route from `s` to `d` on channel 1",
                "another seed, a smaller number, or a `[wifi.deployment]` with `until`",
            ),
            (
                &[("wifi.routes.a.channels", "[1]")],
                "wifi.routes.a.channels",
                "a route that is found has one channel",
                "the key `channel`",
            ),
            (
                &[("wifi.routes.a.find", "{ metric = \"ett\", ties = \"random\" }")],
                "wifi.routes.a.find.ties",
                "by a metric, of equally good routes that with the fewest hops, then the lowest stations is taken",
                "\"lowest-node\", or no key `ties`",
            ),
            (
                &[("wifi.stations.s.channels", "[6]"), ("wifi.stations.d.channels", "[1]")],
                "wifi.routes.a.to",
                "its ends have no radios on a common channel",
                "radios on one channel, or `channels`",
            ),
        ],
    );
}

#[test]
fn a_route_has_a_name_of_its_own() {
    let text = format!("{ROW}[links.a]\nbetween = [\"s\", \"d\"]\nrate = \"1 Mbit/s\"\n");
    let error = mistake(&text, &[]);
    assert_eq!(
        (&*error.key, &*error.message, &*error.expected),
        ("wifi.routes.a", "there is a link `a` already", "a name of its own")
    );
}

#[test]
fn broadcasts_that_cannot_be() {
    let key = |name: &str| format!("wifi.broadcasts.hello.{name}");
    for (name, value, at, message, expected) in [
        ("interval", "0 s", "interval", "no time between two datagrams", "a time above zero"),
        ("duration", "0 s", "duration", "nothing would be sent in no time", "a time above zero"),
        ("from", "[\"s\", \"r\", \"s\"]", "from[2]", "`s` is there twice", "each station once"),
        ("from", "[]", "from", "no station would send", "at least one station, or no key `from`"),
        ("channel", "11", "channel", "no station has a radio on channel 11", "one of 1, 6"),
        ("packet_size", "0 B", "packet_size", "0 octets of payload fit no frame", "1 B to 2268 B"),
        ("packet_size", "2269 B", "packet_size", "2269 octets of payload fit no frame", "1 B to 2268 B"),
        (
            "start",
            "10 s",
            "start",
            "the first would be sent at 10 s, but the simulation ends at 10 s",
            "a time before the end",
        ),
    ] {
        refuses(ROW, &[(&[(&key(name), value)], &key(at), message, expected)]);
    }
    refuses(
        ROW,
        &[(
            &[(&key("channel"), "6"), (&key("from"), "[\"r\"]")],
            &key("from[0]"),
            "`r` has no radio on channel 6",
            "a station that has one; its channels: 1",
        )],
    );
    scenario(ROW, &[(&key("packet_size"), "2268 B")]);
}

#[test]
fn errors_of_frames_that_cannot_be() {
    let errors = |rest: &str| format!("[{{ from = \"s\", to = \"r\", {rest} }}]");
    let bursts = |rest: &str| {
        errors(&format!("loss = {{ model = \"bursts\", mean_loss = \"5 %\", mean_burst = 8.0, {rest} }}"))
    };
    for (said, key, message, expected) in [
        (
            bursts("step = \"1 ms\", per = \"attempt\""),
            "wifi.errors[0].loss.step",
            "a step per attempt has no duration",
            "no key `step`, or `per = \"time\"`",
        ),
        (
            bursts("step = \"0 s\", per = \"time\""),
            "wifi.errors[0].loss.step",
            "no time passes",
            "a time above zero",
        ),
        (
            errors("loss = \"1 %\", channel = 6"),
            "wifi.errors[0].channel",
            "`s` and `r` do not both have a radio on channel 6",
            "one of 1",
        ),
        (
            "[{ from = \"s\", to = \"s\", loss = \"1 %\" }]".to_owned(),
            "wifi.errors[0].to",
            "`s` sends nothing to itself",
            "two different stations",
        ),
        (
            "[{ from = \"s\", to = \"d\", loss = \"1 %\" }]".to_owned(),
            "wifi.errors[0].to",
            "there is no link from `s` to `d`: at 30.0 m it is out of range",
            "a station within range, on one channel",
        ),
    ] {
        refuses(ROW, &[(&[("wifi.errors", &said)], key, message, expected)]);
    }
}

#[test]
fn movements_that_cannot_be() {
    let walk = |rest: &str| format!("{{ model = \"random-waypoint\", area = [\"40 m\", \"40 m\"], {rest} }}");
    let (slow, odd) = (
        walk("speed_min = \"3 m/s\", speed_max = \"2 m/s\""),
        walk("speed_min = \"0 m/s\", speed_max = \"2 m/s\""),
    );
    let small = "{ model = \"random-waypoint\", area = [\"10 m\", \"10 m\"], speed_max = \"2 m/s\" }";
    refuses(
        ROW,
        &[
            (
                &[("wifi.mobility", &slow)],
                "wifi.mobility.speed_max",
                "2 does not fit here",
                "finite and not below speed_min",
            ),
            (&[("wifi.mobility", &odd)], "wifi.mobility.speed_min", "0 does not fit here", "above 0 m/s"),
            (
                &[("wifi.stations.r.mobility", small)],
                "wifi.stations.r.position",
                "the station `r` begins at x = 15.00 m, outside the area in which it moves",
                "a position inside the area",
            ),
        ],
    );
}

#[test]
fn a_movement_file_moves_the_stations_that_it_has() {
    let folder = Folder::new("refused-movements");
    folder.write(
        "walk.ns2",
        "$node_(0) set X_ 15.0\n$node_(0) set Y_ 0.0\n$ns_ at 1.0 \"$node_(0) setdest 16.0 0.0 1.0\"\n",
    );
    let text = |stations: &str, position: &str| {
        let moved = ROW.replace(
            "[wifi.stations.r]\nposition = [\"15 m\", \"0 m\"]",
            &format!("[wifi.stations.r]\n{position}"),
        );
        moved.replace(
            "[wifi.stations.s]",
            &format!("movement = {{ file = \"walk.ns2\", stations = {stations} }}\n[wifi.stations.s]"),
        )
    };
    folder.load(&text("[\"r\"]", "")).unwrap_or_else(|error| panic!("{error}"));
    let refused = |stations: &str, position: &str| folder.load(&text(stations, position)).expect_err("wrong");
    let error = refused("[\"x\"]", "position = [\"15 m\", \"0 m\"]");
    assert_eq!((&*error.key, &*error.message), ("wifi.movement.stations[0]", "there is no station `x`"));
    let error = refused("[\"r\", \"s\"]", "");
    assert_eq!(
        (&*error.key, &*error.message, &*error.expected),
        ("wifi.movement.stations[1]", "the file moves no node 1", "as many stations as it has nodes: 0")
    );
    let error = refused("[\"r\"]", "position = [\"15 m\", \"0 m\"]");
    assert_eq!(
        (&*error.key, &*error.message, &*error.expected),
        ("wifi.stations.r.position", "the movement file says where it begins", "no key `position` here")
    );
    folder.write("walk.ns2", "$node_(0) set X_ far\n");
    let error = refused("[\"r\"]", "");
    assert_eq!(
        (&*error.key, error.line, &*error.expected),
        ("wifi.movement.file", Some(1), "a movement file of ns-2")
    );
    assert!(error.file.as_ref().is_some_and(|file| file.ends_with("walk.ns2")), "{error}");
}

/// Stations at random around two hosts.
const CAMP: &str = r#"
[scenario]
name = "camp"
duration = "10 s"
[hosts.s]
[hosts.d]
[wifi]
propagation = { model = "disk", reception = "30 m" }
[wifi.deployment]
layout = { kind = "grid", columns = 3, rows = 3, area = ["60 m", "60 m"] }
source = { node = "s", near = ["0 m", "0 m"] }
destination = { node = "d", near = ["60 m", "60 m"] }
[wifi.routes.a]
from = "s"
to = "d"
find = {}
[connections.x]
from = "s"
to = "d"
"#;

#[test]
fn deployments_that_cannot_be() {
    refuses(
        CAMP,
        &[
            (
                &[("wifi.deployment.destination.node", "s")],
                "wifi.deployment.destination.node",
                "`s` is the source too",
                "another host or router",
            ),
            (
                &[("wifi.deployment.source.node", "x")],
                "wifi.deployment.source.node",
                "there is no host or router `x`",
                "one of `d`, `s`",
            ),
            (
                &[("wifi.stations.s.position", "[\"0 m\", \"0 m\"]")],
                "wifi.deployment.source.node",
                "`s` has a place in `wifi.stations` already",
                "a host or router without a place",
            ),
        ],
    );
    let error = mistake(
        CAMP,
        &[(
            "wifi.deployment.layout",
            "{ kind = \"poisson\", mean_stations = 0.0, area = [\"60 m\", \"60 m\"] }",
        )],
    );
    assert_eq!(error.key, "wifi.deployment.layout.mean_stations", "{error}");
    let error = mistake(CAMP, &[("wifi.deployment.layout.jitter", "1.5")]);
    assert_eq!(
        (&*error.key, &*error.expected),
        ("wifi.deployment.layout.jitter", "a number from 0 to 1"),
        "{error}"
    );
}

#[test]
fn a_file_of_positions_is_not_drawn() {
    let folder = Folder::new("refused-camps");
    let text = |more: &str| {
        let layout = "layout = { kind = \"grid\", columns = 3, rows = 3, area = [\"60 m\", \"60 m\"] }";
        CAMP.replace(layout, &format!("layout = {{ kind = \"file\", file = \"camp.csv\" }}\n{more}"))
    };
    folder.write("camp.csv", "name,x,y\n");
    let error = folder.load(&text("")).expect_err("nobody is there");
    assert_eq!(
        (&*error.key, &*error.message, &*error.expected),
        (
            "wifi.deployment.layout.file",
            "there is no node in it",
            "a file of positions: .csv, .json or .graphml"
        )
    );
    folder.write("camp.csv", "name,x,y\na,0,0\nb,20,x\n");
    let error = folder.load(&text("")).expect_err("no number");
    assert_eq!((&*error.key, error.line), ("wifi.deployment.layout.file", Some(3)), "{error}");
    folder.write("camp.csv", "name,x,y\na,0,0\nb,20,0\n");
    folder.load(&text("")).unwrap_or_else(|error| panic!("{error}"));
    let error = folder.load(&text("until = \"connected\"")).expect_err("it is not drawn");
    assert_eq!(
        (&*error.key, &*error.message, &*error.expected),
        ("wifi.deployment.until", "a deployment from a file is not drawn", "no key `until` here")
    );
}
