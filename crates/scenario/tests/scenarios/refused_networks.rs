//! What links, queues, nodes, routes, bonds, groups and templates cannot be told, with the key at fault and the words.

use crate::support::{Folder, gateways, mistake, refuses, scenario};

/// A way over a router beside a direct one.
const NETWORK: &str = r#"
[scenario]
name = "network"
duration = "10 s"
[hosts.a]
[hosts.b]
[routers.r]
[links.direct]
between = ["a", "b"]
rate = "8 Mbit/s"
[links.first]
between = ["a", "r"]
rate = "8 Mbit/s"
[links.second]
between = ["r", "b"]
rate = "8 Mbit/s"
[connections.x]
from = "a"
to = "b"
"#;

#[test]
fn links_that_cannot_be() {
    refuses(
        NETWORK,
        &[
            (
                &[("links.direct.between", "[\"a\", \"a\"]")],
                "links.direct.between",
                "this link joins `a` with itself",
                "two different nodes",
            ),
            (
                &[("links.direct.mtu", "127")],
                "links.direct.mtu",
                "an MTU of 127 octets is too small for the headers of TCP and its options",
                "128 to 65535",
            ),
            (
                &[("links.direct.mtu", "65536")],
                "links.direct.mtu",
                "no IP packet has 65536 octets",
                "128 to 65535",
            ),
            (
                &[("links.direct.mtu", "1279"), ("scenario.address_family", "ipv6")],
                "links.direct.mtu",
                "an MTU of 1279 octets is less than every link of IPv6 has",
                "1280 to 65535",
            ),
            (
                &[("links.direct.trace", "some.up")],
                "links.direct.trace",
                "a link has a rate or a trace, not both",
                "one of the two",
            ),
            (
                &[("links.direct.backward", "{ rate = \"1 Mbit/s\", trace = \"some.up\" }")],
                "links.direct.backward.trace",
                "a link has a rate or a trace, not both",
                "one of the two",
            ),
            (
                &[("links.direct.loss", "{ model = \"exact\", packets = [1, 0] }")],
                "links.direct.loss.packets[1]",
                "there is no data packet number 0",
                "numbers from 1",
            ),
            (
                &[(
                    "links.direct.jitter",
                    "{ distribution = \"wander\", max = \"1 ms\", interval = \"0 s\" }",
                )],
                "links.direct.jitter.interval",
                "a target is drawn without end in no time",
                "a time above zero",
            ),
            (
                &[("links.direct.changes", "[{ at = \"1 s\" }]")],
                "links.direct.changes[0]",
                "nothing changes here",
                "`state`, `rate`, `delay`, `loss` or another key beside `at`",
            ),
            (
                &[(
                    "links.direct.changes",
                    "[{ at = \"1 s\", state = \"up\" }, { at = \"10 s\", state = \"down\" }]",
                )],
                "links.direct.changes[1].at",
                "this changes at 10 s, but the simulation ends at 10 s",
                "a time before the end",
            ),
            (
                &[("links.direct.changes", "[{ at = \"1 s\", rate = \"1 Mbit/s\", trace = \"some.up\" }]")],
                "links.direct.changes[0].trace",
                "a link has a rate or a trace, not both",
                "one of the two",
            ),
        ],
    );
    for (key, value) in [("links.direct.mtu", "128"), ("links.direct.mtu", "65535")] {
        scenario(NETWORK, &[(key, value)]);
    }
}

#[test]
fn a_rate_is_missing_in_the_direction_that_has_none() {
    let text = NETWORK.replace(
        "[links.direct]\nbetween = [\"a\", \"b\"]\nrate = \"8 Mbit/s\"",
        "[links.direct]\nbetween = [\"a\", \"b\"]",
    );
    for (given, missing) in [("forward", "backward"), ("backward", "forward")] {
        let error = mistake(&text, &[(&format!("links.direct.{given}.rate"), "1 Mbit/s")]);
        assert_eq!(error.key, "links.direct.rate");
        assert_eq!(error.message, format!("the key `rate` is missing (in direction {missing})"));
        assert_eq!(error.expected, "a key `rate` or `trace`");
    }
}

#[test]
fn queues_that_cannot_be() {
    let key = "links.direct.queue";
    let red = |rest: &str| format!("{{ discipline = \"red\", {rest} }}");
    let fq = |rest: &str| format!("{{ discipline = \"fq-codel\", {rest} }}");
    let cases = [
        (
            "{ discipline = \"drop-tail\", limit = \"1499 B\" }".to_owned(),
            "limit",
            "a queue of 1499 octets cannot hold a packet of 1500 octets",
            "at least the link's MTU",
        ),
        (
            red("min_threshold = -1"),
            "min_threshold",
            "-1 is no length of a queue",
            "a number of packets from 0",
        ),
        (
            red("max_threshold = 5"),
            "max_threshold",
            "5 is not above the lower threshold",
            "a number of packets above min_threshold, 5",
        ),
        (red("weight = 0"), "weight", "0 is no weight of an average", "a number above 0, at most 1"),
        (red("weight = 1.5"), "weight", "1.5 is no weight of an average", "a number above 0, at most 1"),
        (
            "{ discipline = \"codel\", target = \"0 s\" }".to_owned(),
            "target",
            "CoDel's target cannot be zero",
            "a time above zero",
        ),
        (
            "{ discipline = \"codel\", interval = \"0 s\" }".to_owned(),
            "interval",
            "CoDel's interval cannot be zero",
            "a time above zero",
        ),
        (fq("flows = 0"), "flows", "0 flow queues cannot be", "1 to 65536"),
        (fq("flows = 65537"), "flows", "65537 flow queues cannot be", "1 to 65536"),
        (fq("quantum = \"63 B\""), "quantum", "a quantum of 63 octets cannot be", "64 B to 4 GiB"),
        (fq("target = \"0 s\""), "target", "CoDel's target cannot be zero", "a time above zero"),
    ];
    for (said, name, message, expected) in &cases {
        refuses(NETWORK, &[(&[(key, said)], &format!("{key}.{name}"), message, expected)]);
    }
    for said in [red("weight = 1"), red("min_threshold = 0"), fq("flows = 65536"), fq("quantum = \"64 B\"")] {
        scenario(NETWORK, &[(key, &said)]);
    }
}

#[test]
fn a_queue_that_changes_is_checked_like_the_first() {
    refuses(
        NETWORK,
        &[(
            &[("links.direct.changes", "[{ at = \"1 s\", queue = { discipline = \"red\", weight = 2 } }]")],
            "links.direct.changes[0].queue.weight",
            "2 is no weight of an average",
            "a number above 0, at most 1",
        )],
    );
}

#[test]
fn times_of_a_run_that_cannot_be() {
    refuses(
        NETWORK,
        &[
            (
                &[("scenario.duration", "0 s")],
                "scenario.duration",
                "the simulation lasts no time",
                "a time above zero",
            ),
            (
                &[("scenario.sample_interval", "0 s")],
                "scenario.sample_interval",
                "the points of the series have no distance",
                "a time above zero",
            ),
            (
                &[("scenario.sample_interval", "9 us")],
                "scenario.sample_interval",
                "10 s in steps of 9 us makes 1111111 samples",
                "an interval with at most 1000000 samples",
            ),
        ],
    );
    scenario(NETWORK, &[("scenario.sample_interval", "10 us")]);
}

#[test]
fn nodes_that_cannot_be() {
    refuses(
        NETWORK,
        &[
            (
                &[("routers.r.strips_from", "syn")],
                "routers.r.strips_from",
                "nothing is stripped",
                "a key `strips` beside it",
            ),
            (
                &[("routers.r.clock.drift", "10.0")],
                "routers.r.clock",
                "nothing reads it: no bond begins at this router",
                "the clock of a bond's gateway",
            ),
            (
                &[("hosts.a.jitter.coalesce_bytes", "1 kB")],
                "hosts.a.jitter.coalesce_bytes",
                "nothing is held: `coalesce` is missing",
                "a key `coalesce` beside it",
            ),
        ],
    );
}

#[test]
fn connections_that_cannot_be() {
    refuses(
        NETWORK,
        &[
            (&[("connections.x.to", "a")], "connections.x.to", "`a` would talk to itself", "another host"),
            (
                &[("connections.x.stride", "1")],
                "connections.x.stride",
                "`from` and `to` are no group, of which each member opens to another",
                "the same group at both ends",
            ),
            (
                &[("connections.x.protocol", "mptcp"), ("connections.x.paths", "[\"direct\", \"direct\"]")],
                "connections.x.paths[1]",
                "the path `direct` is there twice",
                "each path once",
            ),
            (
                &[("connections.x.paths", "[]")],
                "connections.x.paths",
                "the connection has no path",
                "at least one link",
            ),
            (
                &[
                    ("connections.x.application", "{ kind = \"request-response\" }"),
                    ("connections.x.data", "backward"),
                ],
                "connections.x.data",
                "requests and answers flow both ways",
                "no key `data` here",
            ),
            (&[("connections.x.count", "0")], "connections.x.count", "no copy at all", "a number from 1"),
            (
                &[("connections.x.count", "100001")],
                "connections.x.count",
                "100001 copies are too many",
                "at most 100000 connections in all",
            ),
            (
                &[("connections.x.count", "50001")],
                "connections.x.count",
                "`a` would have 50001 ends of connections",
                "at most 50000 at one host, each with a port of its own",
            ),
            (
                &[("connections.x.start", "1 s"), ("connections.x.starts", "[\"1 s\"]")],
                "connections.x.starts",
                "`start` is given as well",
                "one of the two",
            ),
            (
                &[("connections.x.starts", "[]")],
                "connections.x.starts",
                "no time at all",
                "at least one time",
            ),
            (
                &[("connections.x.starts", "[\"1 s\", \"10 s\"]")],
                "connections.x.starts[1]",
                "a connection opens at 10 s, but the simulation ends at 10 s",
                "a time before the end",
            ),
            (
                &[
                    ("connections.x.start", "8 s"),
                    ("connections.x.count", "2"),
                    ("connections.x.spread", "4 s"),
                ],
                "connections.x.start",
                "a connection opens at 10 s, but the simulation ends at 10 s",
                "a time before the end",
            ),
            (&[("connections.x.dscp", "64")], "connections.x.dscp", "there is no code point 64", "0 to 63"),
        ],
    );
}

#[test]
fn hosts_that_nothing_leads_to() {
    let text = format!(
        "{NETWORK}[hosts.c]\n[hosts.d]\n[links.island]\nbetween = [\"c\", \"d\"]\nrate = \"1 Mbit/s\"\n[hosts.e]\n"
    );
    let expected = "a host that links and routers lead to";
    refuses(
        &text,
        &[
            (
                &[("connections.x.to", "c")],
                "connections.x.to",
                "there is no way from `a` to `c` and back",
                expected,
            ),
            (
                &[("connections.x.to", "e")],
                "connections.x.to",
                "there is no way from `a` to `e` and back: `e` has no link",
                expected,
            ),
            (
                &[("connections.x.from", "e")],
                "connections.x.to",
                "there is no way from `e` to `b` and back: `e` has no link",
                expected,
            ),
        ],
    );
}

#[test]
fn routes_that_lead_in_a_circle() {
    let text = NETWORK.replace("[links.second]", "[routers.s]\n[links.across]\nbetween = [\"r\", \"s\"]\nrate = \"8 Mbit/s\"\n[links.third]\nbetween = [\"s\", \"b\"]\nrate = \"8 Mbit/s\"\n[links.second]");
    let circle =
        "[{ at = \"r\", to = \"b\", via = \"across\" }, { at = \"s\", to = \"b\", via = \"across\" }]";
    let error = mistake(&text, &[("routes", circle), ("connections.x.paths", "[\"first\"]")]);
    assert!(error.message.contains("the routes go round in a circle at `s`"), "{error}");
    assert_eq!((&*error.key, &*error.expected), ("routes[0].via", "a link on the way"));
}

#[test]
fn traces_that_cannot_be_read_name_their_file_and_line() {
    let folder = Folder::new("refused-traces");
    let text =
        |rest: &str| NETWORK.replace("rate = \"8 Mbit/s\"\n[links.first]", &format!("{rest}\n[links.first]"));
    for (content, line, message) in [
        ("", 1, "the trace is empty"),
        ("0\n", 1, "the trace lasts no time: its last opportunity is at 0 ms"),
        ("1\n2\n3", 3, "the trace ends within this line: it looks truncated"),
        ("1\n1000000000001\n", 2, "this time is more than 30 years into the trace"),
        ("5\n4\n", 2, "the times of the trace go back here"),
        ("5\nx\n", 2, "this line of the trace is not a time in ms"),
    ] {
        folder.write("bad.up", content);
        let error = folder.load(&text("trace = \"bad.up\"")).expect_err("a broken trace");
        assert_eq!((&*error.key, error.line, &*error.message), ("links.direct.trace", Some(line), message));
        assert!(error.file.as_ref().is_some_and(|file| file.ends_with("bad.up")), "{error}");
    }
    let error = folder.load(&text("trace = \"none.up\"")).expect_err("no file");
    assert_eq!(
        (&*error.key, &*error.expected),
        ("links.direct.trace", "a Mahimahi trace, relative to the scenario file")
    );
    assert!(error.message.starts_with("the trace file `") && error.message.contains("none.up"), "{error}");
}

const BOND: &str = concat!(
    gateways!(),
    r#"
[scenario]
name = "bond"
duration = "2 s"
[routers.mid]
[links.dsl]
between = ["hub", "cpe"]
rate = "8 Mbit/s"
[links.up]
between = ["hub", "mid"]
rate = "8 Mbit/s"
[links.down]
between = ["mid", "cpe"]
rate = "8 Mbit/s"
[bonds.home]
between = ["hub", "cpe"]
paths = ["dsl", "up"]
[connections.x]
from = "server"
to = "client"
"#
);

#[test]
fn bonds_that_cannot_be() {
    let via = |links: &str| format!("[\"dsl\", {{ link = \"up\", via = {links} }}]");
    let (back, past) = (via("[\"up\"]"), via("[\"down\", \"lan\"]"));
    let (short, host) = (via("[]"), "[{ link = \"core\", via = [\"core\"] }]".to_owned());
    refuses(
        BOND,
        &[
            (
                &[("bonds.home.between", "[\"hub\", \"hub\"]")],
                "bonds.home.between",
                "this bond joins `hub` with itself",
                "two different routers",
            ),
            (
                &[("bonds.home.paths", "[\"dsl\", \"dsl\"]")],
                "bonds.home.paths[1]",
                "the path `dsl` is there twice",
                "each path once",
            ),
            (
                &[("bonds.home.paths", &back)],
                "bonds.home.paths[1].via[0]",
                "`up` leads back to `hub`",
                "a way that comes to each router once",
            ),
            (
                &[("bonds.home.paths", &past)],
                "bonds.home.paths[1].via[1]",
                "the way is at `cpe` before `lan`",
                "no link behind the gateway",
            ),
            (
                &[("bonds.home.paths", &short)],
                "bonds.home.paths[1].via",
                "the way ends at `mid`",
                "links up to `cpe`",
            ),
            (
                &[("bonds.home.paths", &host)],
                "bonds.home.paths[0].via[0]",
                "the way leads to the host `server`, which forwards nothing",
                "links between routers",
            ),
            (
                &[("bonds.home.paths", "[\"dsl\", \"core\"]")],
                "bonds.home.paths[1]",
                "no way from `hub` to `cpe` over the link `core`: it leads to the host `server`, which forwards nothing",
                "a link that leads there",
            ),
            (
                &[(
                    "bonds.home.classes",
                    "[{ dscp = 46, treatment = \"low-delay\" }, { dscp = 46, treatment = \"unordered\" }]",
                )],
                "bonds.home.classes[1].dscp",
                "the code point 46 is there twice",
                "each code point once",
            ),
            (
                &[("bonds.home.run_up", "61 s")],
                "bonds.home.run_up",
                "`run_up` cannot be used",
                "at most 60 s",
            ),
            (
                &[("routers.hub.clock.drift", "100001.0")],
                "routers.hub.clock.drift",
                "a drift of 100001",
                "parts per million from -100000 to 100000",
            ),
            (
                &[("routers.hub.clock", "{ offset = \"1 s\", steps = [{ at = \"1 s\", by = \"-3 s\" }] }")],
                "routers.hub.clock.steps",
                "the clock falls below zero",
                "a greater `offset`, or shorter steps back",
            ),
        ],
    );
    let just_above = "{ offset = \"1 s\", steps = [{ at = \"1 s\", by = \"-2 s\" }] }";
    scenario(BOND, &[("routers.hub.clock", just_above), ("bonds.home.run_up", "60 s")]);
}

/// Four hosts at a router, each opening to another.
const GROUP: &str = r#"
[scenario]
name = "group"
duration = "1 s"
[hosts.h]
count = 4
[hosts.one]
[routers.r]
[links.l]
between = ["h", "r"]
rate = "8 Mbit/s"
[links.own]
between = ["one", "r"]
rate = "8 Mbit/s"
[connections.x]
from = "h"
to = "h"
"#;

#[test]
fn groups_that_cannot_be() {
    let places = "a whole number of places, above zero and below their number";
    refuses(
        GROUP,
        &[
            (
                &[("hosts.h.count", "0")],
                "hosts.h.count",
                "there cannot be so many",
                "a whole number from 1 to 4096",
            ),
            (
                &[("links.l.count", "3")],
                "links.l.between",
                "3 links cannot end at 4 nodes",
                "one node, or 3 of them",
            ),
            (
                &[("connections.x.stride", "0")],
                "connections.x.stride",
                "no other host of 4 is there to open to",
                places,
            ),
            (
                &[("connections.x.stride", "4")],
                "connections.x.stride",
                "no other host of 4 is there to open to",
                places,
            ),
        ],
    );
    let two = GROUP.replace(
        "[hosts.one]",
        "[hosts.g]\ncount = 3\n[links.m]\nbetween = [\"g\", \"r\"]\nrate = \"8 Mbit/s\"\n[hosts.one]",
    );
    refuses(
        &two,
        &[(
            &[("connections.x.to", "g")],
            "connections.x.to",
            "4 hosts cannot be paired with 3",
            "a group of the same size, or one host",
        )],
    );
}

#[test]
fn members_of_a_group_open_to_the_one_so_many_places_behind() {
    let pairs = |overrides: &[(&str, &str)]| {
        let scenario = scenario(GROUP, overrides);
        let plan = scenario.plan();
        let name = |node: usize| plan.nodes[node].name.clone();
        plan.connections
            .iter()
            .map(|one| format!("{} {}>{}", one.name, name(one.source), name(one.destination)))
            .collect::<Vec<_>>()
    };
    // Half of all places, if nothing is said.
    assert_eq!(pairs(&[]), ["x-1 h-1>h-3", "x-2 h-2>h-4", "x-3 h-3>h-1", "x-4 h-4>h-2"]);
    let three = pairs(&[("connections.x.stride", "3")]);
    assert_eq!(three, ["x-1 h-1>h-4", "x-2 h-2>h-1", "x-3 h-3>h-2", "x-4 h-4>h-3"]);
    let star = pairs(&[("connections.x.to", "one")]);
    assert_eq!(star, ["x-1 h-1>one", "x-2 h-2>one", "x-3 h-3>one", "x-4 h-4>one"]);
}

#[test]
fn templates_that_cannot_be_drawn() {
    let template = |topology: &str| {
        format!(
            "[scenario]\nname = \"t\"\nduration = \"1 s\"\n[topology]\n{topology}\nlink = {{ rate = \"1 Mbit/s\" }}\n"
        )
    };
    let most = "a whole number from 1 to 4096";
    for (topology, key, message, expected) in [
        ("kind = \"star\"\nhosts = 0", "hosts", "a topology with 0 of them cannot be drawn", most),
        (
            "kind = \"dumbbell\"\npairs = 4097\nbottleneck = { rate = \"1 Mbit/s\" }",
            "pairs",
            "a topology with 4097 of them cannot be drawn",
            most,
        ),
        (
            "kind = \"parking-lot\"\nhops = 0\nbottleneck = { rate = \"1 Mbit/s\" }",
            "hops",
            "a topology with 0 of them cannot be drawn",
            most,
        ),
        (
            "kind = \"leaf-spine\"\nleaves = 100\nspines = 2\nhosts = 100",
            "hosts",
            "a topology with 10000 of them cannot be drawn",
            most,
        ),
        (
            "kind = \"fat-tree\"\nk = 3",
            "k",
            "no fat tree has routers with 3 ports",
            "an even number from 2 to 16",
        ),
    ] {
        let error = mistake(&template(topology), &[]);
        assert_eq!(
            (&*error.key, &*error.message, &*error.expected),
            (&*format!("topology.{key}"), message, expected),
            "{error}"
        );
        assert!(error.line.is_some(), "{error}");
    }
}

#[test]
fn overrides_that_lead_nowhere() {
    let nowhere = |step: &str| format!("`{step}` leads nowhere: what is around it is not a table");
    let path = "a path of keys";
    for (key, value, message, expected) in [
        ("", "1", "an override needs a key".to_owned(), "a path such as links.b.loss"),
        ("scenario.name.first", "1", nowhere("first"), path),
        ("scenario.name.first.second", "1", nowhere("first"), path),
        ("connections.x.paths[3]", "\"l\"", "the list has no item 3".to_owned(), "an index, from 0"),
        (
            "links.direct.rate",
            "99999999999999999999",
            "this whole number is too large".to_owned(),
            "at most 63 bits",
        ),
    ] {
        let error = mistake(NETWORK, &[("connections.x.paths", "[\"direct\"]"), (key, value)]);
        assert_eq!((&*error.message, &*error.expected), (&*message, expected), "{key}: {error}");
    }
    let error = mistake(NETWORK, &[("links.dirct.rate", "1 Mbit/s")]);
    assert_eq!((&*error.message, error.suggestion.as_deref()), ("there is no `links.dirct`", Some("direct")));
}

#[test]
fn a_text_that_is_not_toml_is_marked_where_it_breaks() {
    let broken = NETWORK.replace("duration = \"10 s\"", "duration = \"10 s");
    let error = mistake(&broken, &[]);
    let line = broken.lines().position(|line| line.starts_with("duration")).expect("a line") + 1;
    assert!(error.message.starts_with("this is not valid TOML: "), "{error}");
    assert_eq!(error.line, Some(line), "{error}");
}
