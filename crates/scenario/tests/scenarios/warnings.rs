//! What is warned of, just within and just beyond each bound.
//!
//! Example: a line of 8 Mbit/s with 50 ms each way has a bandwidth-delay product of 100 kB.

use crate::support;

const LINE: &str = "
[scenario]
name = \"warned\"
duration = \"10 s\"
[tcp]
preset = \"linux\"
[hosts.a]
[hosts.b]
[links.l]
between = [\"a\", \"b\"]
rate = \"8 Mbit/s\"
delay = \"50 ms\"
queue = \"100 kB\"
[connections.x]
protocol = \"tcp\"
from = \"a\"
to = \"b\"
application = { kind = \"bulk\" }
";

fn warnings(overrides: &support::Overrides<'_>) -> Vec<String> {
    support::scenario(LINE, overrides).warnings()
}

/// The one warning, if there is one.
fn warning(overrides: &support::Overrides<'_>) -> Option<String> {
    let mut all = warnings(overrides);
    assert!(all.len() < 2, "{all:?}");
    all.pop()
}

/// Nothing is said about the one, and this about the other.
fn between(within: &support::Overrides<'_>, beyond: &support::Overrides<'_>, text: &str) {
    assert_eq!(warning(within), None, "{within:?}");
    assert_eq!(warning(beyond).as_deref(), Some(text), "{beyond:?}");
}

#[test]
fn a_line_as_it_should_be_is_not_warned_of() {
    assert_eq!(warnings(&[]), Vec::<String>::new());
}

#[test]
fn a_receive_buffer_holds_twice_the_bandwidth_delay_product() {
    let text = "x: tcp.receive_buffer is 199 kB, below twice the bandwidth-delay product (200 kB): it may hold the rate back";
    between(&[("tcp.receive_buffer", "200 kB")], &[("tcp.receive_buffer", "199 kB")], text);
}

#[test]
fn a_queue_holds_from_a_quarter_to_four_times_it() {
    let small = "links.l: a queue of 24 kB is small for a bandwidth-delay product of 100 kB: a single flow cannot fill the link";
    between(&[("links.l.queue", "25 kB")], &[("links.l.queue", "24 kB")], small);
    let long = "links.l: a queue of 401 kB is long for a bandwidth-delay product of 100 kB: full, it adds 401 ms (bufferbloat)";
    between(&[("links.l.queue", "400 kB")], &[("links.l.queue", "401 kB")], long);
}

#[test]
fn packets_of_a_queue_count_as_full_ones() {
    // 17 · 1500 and 16 · 1500 octets beside a quarter of 100 kB.
    let small = "links.l: a queue of 16 packets is small for a bandwidth-delay product of 100 kB: a single flow cannot fill the link";
    between(&[("links.l.queue", "17 packets")], &[("links.l.queue", "16 packets")], small);
}

#[test]
fn a_handful_of_packets_is_not_long() {
    let short = ("links.l.delay", "1 ms");
    let long = "links.l: a queue of 21 packets is long for a bandwidth-delay product of 2 kB: full, it adds 31 ms (bufferbloat)";
    between(&[short, ("links.l.queue", "20 packets")], &[short, ("links.l.queue", "21 packets")], long);
}

#[test]
fn a_line_that_loses_may_have_a_long_queue() {
    assert_eq!(warning(&[("links.l.queue", "1 MB"), ("links.l.loss", "0.1 %")]), None);
}

#[test]
fn a_window_that_cannot_be_told_is_named() {
    let text = "x: without window_scale no window above 65535 octets can be advertised";
    // At 10 ms each way 65 535 octets are enough.
    let line = [("tcp.window_scale", "off"), ("links.l.delay", "10 ms"), ("links.l.queue", "50 kB")];
    let buffer = |octets: &'static str| [line.as_slice(), &[("tcp.receive_buffer", octets)]].concat();
    between(&buffer("65535 B"), &buffer("65536 B"), text);
}

#[test]
fn a_detector_without_what_it_needs_is_idle() {
    let idle = |need: &str| format!("x: a response to spurious retransmissions is idle: {need}");
    let dsack = ("tcp.spurious", "dsack");
    between(
        &[dsack],
        &[dsack, ("tcp.report_duplicates", "false")],
        &idle("dsack needs `report_duplicates = true`"),
    );
    let eifel = ("tcp.spurious", "eifel");
    between(&[eifel], &[eifel, ("tcp.timestamps", "false")], &idle("eifel needs `timestamps = true`"));
    let door = ("tcp.spurious", "door");
    between(&[door], &[door, ("tcp.sack", "false")], &idle("door (by SACK) needs `sack = true`"));
}

#[test]
fn marks_need_a_queue_that_sets_them_and_ends_that_heed_them() {
    let queues = [
        "{ discipline = \"drop-tail\", limit = \"100 kB\", mark_above = 10 }",
        "{ discipline = \"red\", limit = \"100 kB\", ecn = true }",
        "{ discipline = \"codel\", limit = \"100 kB\", ecn = true }",
        "{ discipline = \"fq-codel\", limit = \"100 kB\", ecn = true }",
    ];
    for queue in queues {
        let marks = ("links.l.queue", queue);
        let text = "x: a queue on its way marks packets, but tcp.ecn is off: it drops them";
        between(&[marks, ("tcp.ecn", "true")], &[marks], text);
    }
    let text = "x: tcp.ecn is on, but no queue on its way marks packets";
    between(&[], &[("tcp.ecn", "true")], text);
}

#[test]
fn datagrams_fit_their_path() {
    let udp = |rate: &str| {
        let application =
            format!("{{ kind = \"constant-rate\", rate = \"{rate}\", packet_size = \"1000 B\" }}");
        warning(&[("connections.x.protocol", "udp"), ("connections.x.application", &application)])
    };
    assert_eq!(udp("8 Mbit/s"), None);
    let text = "x: 8.001 Mbit/s of UDP do not fit its path of 8 Mbit/s: the rest is lost";
    assert_eq!(udp("8001 kbit/s").as_deref(), Some(text));
}

#[test]
fn a_change_comes_before_the_end() {
    let change = |at: &str| format!("[{{ at = \"{at}\", state = \"down\" }}]");
    between(
        &[("scenario.duration", "10 s"), ("links.l.changes", &change("9999 ms"))],
        &[("scenario.duration", "10 s"), ("links.l.changes", &change("10 s"))],
        "links.l: some of its changes come after the end",
    );
}

#[test]
fn a_node_without_a_link_is_named_by_its_kind() {
    assert_eq!(warning(&[("routers.r", "{}")]).as_deref(), Some("routers.r: no link leads there"));
    assert_eq!(warning(&[("hosts.h", "{}")]).as_deref(), Some("hosts.h: no link leads there"));
}

#[test]
fn links_of_the_sender_that_carry_nothing_are_listed() {
    let other = "{ between = [\"a\", \"b\"], rate = \"8 Mbit/s\", delay = \"50 ms\", queue = \"100 kB\" }";
    let mptcp = [("connections.x.protocol", "mptcp"), ("links.m", other), ("links.n", other)];
    assert_eq!(warning(&mptcp), None);
    let some = [mptcp.as_slice(), &[("connections.x.paths", "[\"l\", \"n\"]")]].concat();
    assert_eq!(warning(&some).as_deref(), Some("x: links of `a` that it does not use: m"));
    let one = [mptcp.as_slice(), &[("connections.x.paths", "[\"l\"]")]].concat();
    let text = "x: Multipath TCP has only the path `l`: the others are not in `paths`, or do not lead there and back";
    assert_eq!(warning(&one).as_deref(), Some(text));
}
