//! What TCP, Multipath TCP and applications cannot be told, with the key at fault and the words.

use crate::support::{refuses, scenario, two_paths};

/// Two paths between two hosts.
const TWO_PATHS: &str = concat!(
    two_paths!(),
    r#"
[scenario]
name = "two-paths"
duration = "10 s"
[hosts.c]
[links.n]
between = ["a", "c"]
rate = "4 Mbit/s"
[connections.x]
protocol = "mptcp"
from = "a"
to = "b"
paths = ["l", "m"]
"#
);

#[test]
fn constants_of_tcp_that_cannot_be() {
    refuses(
        TWO_PATHS,
        &[
            (
                &[("tcp.initial_window", "0")],
                "tcp.initial_window",
                "a window of no segment never opens",
                "a number from 1",
            ),
            (
                &[("tcp.delayed_ack.segments", "0")],
                "tcp.delayed_ack.segments",
                "no segment is acknowledged after none",
                "a number from 1; 1 acknowledges each segment",
            ),
            (
                &[("tcp.rto_min", "3 s"), ("tcp.rto_max", "2 s")],
                "tcp.rto_min",
                "the least timeout 3 s is above the greatest, 2 s",
                "a time up to rto_max",
            ),
            (
                &[("tcp.rto_min", "0 s")],
                "tcp.rto_min",
                "a timeout of zero fires before any ACK",
                "a time above zero",
            ),
            (
                &[("tcp.rto_initial", "0 s")],
                "tcp.rto_initial",
                "a timeout of zero fires before any ACK",
                "a time above zero",
            ),
            (
                &[("tcp.rto_initial", "61 s"), ("tcp.rto_max", "1 min")],
                "tcp.rto_initial",
                "the first timeout 61 s is above the greatest, 60 s",
                "a time up to rto_max",
            ),
            (
                &[("tcp.mss", "87")],
                "tcp.mss",
                "segments of 87 octets do not fit paths with an MTU of 1500",
                "88 to 1460",
            ),
            (
                &[("links.m.mtu", "1000"), ("tcp.mss", "1000")],
                "tcp.mss",
                "segments of 1000 octets do not fit paths with an MTU of 1000",
                "88 to 960",
            ),
            (
                &[("tcp.send_buffer", "1459 B")],
                "tcp.send_buffer",
                "a buffer of 1459 octets does not hold a segment of 1460",
                "at least the MSS",
            ),
            (
                &[("mptcp.receive_buffer", "1 kB")],
                "mptcp.receive_buffer",
                "a buffer of 1000 octets does not hold a segment of 1460",
                "at least the MSS",
            ),
        ],
    );
    // The least values that are taken.
    for (key, value) in [
        ("tcp.initial_window", "1"),
        ("tcp.delayed_ack.segments", "1"),
        ("tcp.rto_min", "1 ns"),
        ("tcp.mss", "88"),
        ("tcp.mss", "1460"),
        ("tcp.send_buffer", "1460 B"),
    ] {
        scenario(TWO_PATHS, &[(key, value)]);
    }
}

#[test]
fn a_mistake_is_named_at_the_connection_if_it_is_made_there() {
    refuses(
        TWO_PATHS,
        &[
            (
                &[("tcp.rto_min", "100 ms"), ("connections.x.tcp.rto_min", "0 s")],
                "connections.x.tcp.rto_min",
                "a timeout of zero fires before any ACK",
                "a time above zero",
            ),
            (
                &[("mptcp.send_buffer", "1 B"), ("connections.x.mptcp.send_buffer", "2 B")],
                "connections.x.mptcp.send_buffer",
                "a buffer of 2 octets does not hold a segment of 1460",
                "at least the MSS",
            ),
        ],
    );
}

#[test]
fn schedulers_with_constants_that_cannot_be() {
    let weighted = ("mptcp.scheduler", "weighted-round-robin");
    let guard = ("mptcp.scheduler", "goodput-guard");
    refuses(
        TWO_PATHS,
        &[
            (
                &[weighted, ("mptcp.weights", "[1, 2, 3]")],
                "mptcp.weights",
                "3 weights for 2 paths",
                "one number for each of l, m",
            ),
            (
                &[weighted, ("mptcp.weights", "[1, 0]")],
                "mptcp.weights[1]",
                "the path `m` would never have its turn",
                "a number from 1",
            ),
            (
                &[guard, ("mptcp.probe_interval", "0 s")],
                "mptcp.probe_interval",
                "a path cannot be probed all the time",
                "a time above zero",
            ),
            (
                &[guard, ("mptcp.probe_segments", "0")],
                "mptcp.probe_segments",
                "a probe of no segment tells nothing",
                "a number from 1",
            ),
        ],
    );
}

#[test]
fn keys_without_the_scheduler_or_path_manager_that_has_them() {
    let cases = [
        ("weights", "[1, 1]", "scheduler = \"weighted-round-robin\" beside it"),
        ("probe_interval", "\"1 s\"", "scheduler = \"goodput-guard\" beside it"),
        ("probe_segments", "3", "scheduler = \"goodput-guard\" beside it"),
        ("subflows", "3", "path_manager = \"ndiffports\" beside it"),
        ("steps", "[]", "path_manager = \"scripted\" beside it"),
        ("endpoints", "[]", "path_manager = \"kernel\" beside it"),
        ("limits", "{}", "path_manager = \"kernel\" beside it"),
        ("changes", "[]", "path_manager = \"kernel\" beside it"),
    ];
    for (key, value, expected) in cases {
        let key = format!("connections.x.mptcp.{key}");
        let name = key.rsplit('.').next().expect("a name");
        let message = format!("`{name}` has no use here");
        refuses(TWO_PATHS, &[(&[(&key, value)], &key, &message, expected)]);
    }
    // For all connections they may be there: another one may use them.
    scenario(TWO_PATHS, &[("mptcp.weights", "[1, 1]"), ("mptcp.subflows", "3")]);
}

#[test]
fn steps_and_numbers_of_subflows_that_cannot_be() {
    let scripted = ("mptcp.path_manager", "scripted");
    let ports = ("mptcp.path_manager", "ndiffports");
    let step = |rest: &str| format!("[{{ at = \"1 s\", {rest} }}]");
    let (elsewhere, closed) =
        (step("action = \"open\", path = \"k\""), step("action = \"close\", path = \"m\", backup = true"));
    refuses(
        TWO_PATHS,
        &[
            (
                &[scripted, ("mptcp.steps", &elsewhere)],
                "mptcp.steps[0].path",
                "there is no path `k`",
                "one of `l`, `m`",
            ),
            (
                &[scripted, ("mptcp.steps", &closed)],
                "mptcp.steps[0].backup",
                "this action makes no subflow a backup",
                "action = \"open\" or \"set-backup\" beside it",
            ),
            (&[ports, ("mptcp.subflows", "0")], "mptcp.subflows", "so many subflows cannot be", "1 to 64"),
            (&[ports, ("mptcp.subflows", "65")], "mptcp.subflows", "so many subflows cannot be", "1 to 64"),
        ],
    );
    scenario(TWO_PATHS, &[ports, ("mptcp.subflows", "64")]);
}

#[test]
fn endpoints_that_linux_refuses() {
    let kernel = ("mptcp.path_manager", "kernel");
    let list = |rest: &str| format!("[{{ host = \"a\", link = \"m\", {rest} }}]");
    let (both, zero) = (list("flags = [\"signal\", \"fullmesh\"]"), list("flags = [\"signal\"], port = 0"));
    let (opens, mute) = (list("flags = [\"signal\", \"subflow\"], port = 99"), list("port = 99"));
    let (first, twice) = (
        list("id = 0"),
        "[{ host = \"a\", link = \"m\" }, { host = \"a\", link = \"m\", flags = [\"backup\"] }]".to_owned(),
    );
    let foreign = "[{ host = \"b\", link = \"n\" }]";
    let announced = "only an address that is announced, and opens nothing, has a port";
    let at = |key: &'static str| format!("mptcp.endpoints[0].{key}");
    let (flags, port, id) = (at("flags"), at("port"), at("id"));
    let key = "mptcp.endpoints";
    refuses(
        TWO_PATHS,
        &[
            (
                &[kernel, (key, &both)],
                &flags,
                "an announced address does not open a full mesh",
                "signal or fullmesh, not both",
            ),
            (&[kernel, (key, &zero)], &port, "nobody can listen at port 0", "1 to 65535"),
            (&[kernel, (key, &opens)], &port, announced, "the flag signal, and not subflow"),
            (&[kernel, (key, &mute)], &port, announced, "the flag signal, and not subflow"),
            (
                &[kernel, (key, &first)],
                &id,
                "0 is the first subflow's address, and no other is there twice",
                "a free number from 1 to 255",
            ),
            (
                &[kernel, (key, &twice)],
                "mptcp.endpoints[1].link",
                "`m` is there twice",
                "each address of a host once",
            ),
            (
                &[kernel, (key, foreign)],
                "mptcp.endpoints[0].link",
                "the link `n` does not end at `b`",
                "one of `l`, `m`",
            ),
            (
                &[kernel, ("mptcp.limits", "{ a = { subflows = 9 } }")],
                "mptcp.limits.a.subflows",
                "Linux takes no greater limit than 8",
                "0 to 8",
            ),
            (
                &[kernel, ("mptcp.limits", "{ b = { add_addr_accepted = 9 } }")],
                "mptcp.limits.b.add_addr_accepted",
                "Linux takes no greater limit than 8",
                "0 to 8",
            ),
        ],
    );
}

#[test]
fn changes_of_endpoints_that_linux_refuses() {
    let kernel = ("mptcp.path_manager", "kernel");
    let key = "mptcp.changes";
    let change = |rest: &str| format!("[{{ at = \"1 s\", host = \"a\", {rest} }}]");
    let cases = [
        (
            "action = \"limits\", link = \"m\"",
            "link",
            "`link` has no use with this action",
            "the action that it goes with",
        ),
        (
            "action = \"delete\", link = \"m\", flags = [\"backup\"]",
            "flags",
            "`flags` has no use with this action",
            "the action that it goes with",
        ),
        (
            "action = \"change\", link = \"m\", flags = [\"signal\"]",
            "flags[0]",
            "Linux does not change this flag",
            "backup or fullmesh",
        ),
        (
            "action = \"delete\", link = \"m\"",
            "link",
            "there is no such endpoint then",
            "an endpoint that the host has then",
        ),
        (
            "action = \"delete\", link = \"m\", id = 4",
            "id",
            "an endpoint is known by its link here",
            "0, or no identifier",
        ),
        ("action = \"limits\", subflows = 9", "subflows", "Linux takes no greater limit than 8", "0 to 8"),
    ];
    for (rest, name, message, expected) in cases {
        let (said, at) = (change(rest), format!("mptcp.changes[0].{name}"));
        refuses(TWO_PATHS, &[(&[kernel, (key, &said)], &at, message, expected)]);
    }
    let nowhere = change("action = \"add\"");
    refuses(
        TWO_PATHS,
        &[(
            &[kernel, (key, &nowhere)],
            "mptcp.changes[0]",
            "an endpoint is an address of its host",
            "a link of the host",
        )],
    );
    let nine: Vec<String> = (1..=9)
        .map(|id| format!("{{ host = \"a\", link = \"m\", flags = [\"signal\"], port = {id} }}"))
        .collect();
    let nine = format!("[{}]", nine.join(", "));
    refuses(
        TWO_PATHS,
        &[(
            &[kernel, ("mptcp.endpoints", &nine)],
            "mptcp.endpoints[8]",
            "`a` has more endpoints than Linux takes",
            "at most 8 for each host",
        )],
    );
}

#[test]
fn applications_that_would_do_nothing() {
    let what = "connections.x.application";
    let cases = [
        (
            "kind = \"bulk\", duration = \"0 s\"",
            "duration",
            "nothing would be sent in no time",
            "a time above zero",
        ),
        ("kind = \"bulk\", bytes = \"0 B\"", "bytes", "nothing would be transferred", "at least 1 B"),
        (
            "kind = \"constant-rate\", rate = \"0 bit/s\"",
            "rate",
            "nothing would be sent at a rate of zero",
            "a rate above zero",
        ),
        (
            "kind = \"constant-rate\", rate = \"1 Mbit/s\", packet_size = \"0 B\"",
            "packet_size",
            "nothing would be transferred",
            "at least 1 B",
        ),
        (
            "kind = \"constant-rate\", rate = \"1 Mbit/s\", changes = [{ at = \"1 s\", rate = \"0 bit/s\" }]",
            "changes[0].rate",
            "nothing would be sent at a rate of zero",
            "a rate above zero",
        ),
        (
            "kind = \"constant-rate\", rate = \"1 Mbit/s\", changes = [{ at = \"1 s\", rate = \"2 Mbit/s\" }, \
             { at = \"1 s\", rate = \"3 Mbit/s\" }]",
            "changes[1].at",
            "this change does not come after the one before it",
            "a later time",
        ),
        (
            "kind = \"on-off\", rate = \"1 Mbit/s\", on = \"0 s\"",
            "on",
            "a time of zero cannot be here",
            "a time above zero",
        ),
        (
            "kind = \"on-off\", rate = \"1 Mbit/s\", off = { distribution = \"exponential\", mean = \"0 s\" }",
            "off",
            "a time of zero cannot be here",
            "a time above zero",
        ),
        ("kind = \"request-response\", count = 0", "count", "no exchange at all", "a number from 1"),
        (
            "kind = \"request-response\", request = \"0 B\"",
            "request",
            "nothing would be transferred",
            "at least 1 B",
        ),
        (
            "kind = \"request-response\", response = \"0 B\"",
            "response",
            "nothing would be transferred",
            "at least 1 B",
        ),
    ];
    for (said, name, message, expected) in cases {
        let (said, key) = (format!("{{ {said} }}"), format!("{what}.{name}"));
        refuses(TWO_PATHS, &[(&[(what, &said)], &key, message, expected)]);
    }
    // A pause of no length is a rate without pauses.
    scenario(TWO_PATHS, &[(what, "{ kind = \"on-off\", rate = \"1 Mbit/s\", off = \"0 s\" }")]);
}

#[test]
fn datagrams_that_do_not_fit_and_applications_that_need_a_stream() {
    let udp = ("connections.x.protocol", "udp");
    let one = ("connections.x.paths", "[\"l\"]");
    let what = "connections.x.application";
    let stream = "application = { kind = \"constant-rate\", … } or { kind = \"on-off\", … }";
    let constant =
        |size: &str| format!("{{ kind = \"constant-rate\", rate = \"1 Mbit/s\", packet_size = \"{size}\" }}");
    let (fits, long) = (constant("1472 B"), constant("1473 B"));
    let flow = "UDP has no flow control: it cannot carry this application";
    refuses(
        TWO_PATHS,
        &[
            (&[udp, one], "connections.x.protocol", flow, stream),
            (&[udp, one, (what, "{ kind = \"request-response\" }")], what, flow, stream),
            (
                &[udp, one, (what, &long)],
                "connections.x.application.packet_size",
                "a packet of 1473 octets does not fit the MTU of its path",
                "at most 1472 B of payload",
            ),
            (
                &[udp, ("connections.x.tcp.sack", "true")],
                "connections.x.paths",
                "2 paths, but only mptcp takes more than one",
                "one link, or protocol = \"mptcp\"",
            ),
            (
                &[udp, one, (what, &fits), ("connections.x.tcp.sack", "true")],
                "connections.x.tcp",
                "the keys of `tcp` have no use here",
                "protocol = \"tcp\" or \"mptcp\" beside them",
            ),
            (
                &[("connections.x.protocol", "tcp"), one, ("connections.x.mptcp.checksum", "true")],
                "connections.x.mptcp",
                "the keys of `mptcp` have no use here",
                "protocol = \"mptcp\" beside them",
            ),
        ],
    );
    scenario(TWO_PATHS, &[udp, one, (what, &fits)]);
}
