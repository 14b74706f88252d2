//! What `explain` says of each key, word for word: a value that is drawn wrong is believed.

use crate::support::{Folder, Overrides, scenario, two_lines};

/// One link and one connection, at whose keys the tests say more.
const LINE: &str = r#"
[scenario]
name = "line"
duration = "10 s"
[hosts.a]
[hosts.b]
[links.l]
between = ["a", "b"]
rate = "8 Mbit/s"
delay = "10 ms"
[connections.x]
from = "a"
to = "b"
"#;

/// The lines of an explanation, without the space around them.
fn lines(text: &str, overrides: &Overrides<'_>) -> Vec<String> {
    scenario(text, overrides).explain().lines().map(|line| line.trim().to_owned()).collect()
}

/// Each of these keys makes the explanation say this line, which it does not say without the key.
fn each_says(text: &str, cases: &[(&str, &str, &str)]) {
    let plain = lines(text, &[]);
    for &(key, value, wanted) in cases {
        let shown = lines(text, &[(key, value)]);
        assert!(
            shown.iter().any(|line| line == wanted),
            "{key} = {value}: no {wanted:?} in\n{}",
            shown.join("\n")
        );
        assert!(!plain.iter().any(|line| line == wanted), "{wanted:?} is there without {key}");
    }
}

#[test]
fn a_link_is_drawn_with_its_ends_addresses_and_defaults() {
    let shown = lines(LINE, &[]);
    assert!(shown.contains(&"[a] --+-- l -- [b]    10.0.0.1 -- 10.0.0.2, MTU 1500".to_owned()), "{shown:?}");
    assert!(shown.contains(&"<-> 8 Mbit/s, 10 ms, drop-tail 100 packets".to_owned()), "{shown:?}");
}

#[test]
fn each_way_to_wait_vary_and_lose_has_its_words() {
    let queue = |rest: &str| format!("<-> 8 Mbit/s, 10 ms, {rest}");
    let with = |jitter: &str| format!("<-> 8 Mbit/s, 10 ms, {jitter}, drop-tail 100 packets");
    let after = |loss: &str| format!("<-> 8 Mbit/s, 10 ms, drop-tail 100 packets, {loss}");
    each_says(
        LINE,
        &[
            ("links.l.queue", "20 kB", &queue("drop-tail 20 kB")),
            ("links.l.queue", "1 packet", &queue("drop-tail 1 packet")),
            (
                "links.l.queue",
                "{ discipline = \"drop-tail\", mark_above = 20 }",
                &queue("drop-tail 100 packets marking from 20 packets"),
            ),
            ("links.l.queue", "red", &queue("RED 5 to 15 packets of 100 packets")),
            (
                "links.l.queue",
                "{ discipline = \"codel\", target = \"7 ms\" }",
                &queue("CoDel 7 ms of 1000 packets"),
            ),
            ("links.l.queue", "fq-codel", &queue("FQ-CoDel 5 ms of 10240 packets")),
            ("links.l.jitter", "3 ms", &with("jitter 0 to 3 ms")),
            (
                "links.l.jitter",
                "{ distribution = \"normal\", deviation = \"2 ms\" }",
                &with("jitter normal 2 ms"),
            ),
            (
                "links.l.jitter",
                "{ distribution = \"exponential\", mean = \"4 ms\" }",
                &with("jitter exponential 4 ms"),
            ),
            (
                "links.l.jitter",
                "{ distribution = \"wander\", max = \"9 ms\" }",
                &with("wandering by up to 9 ms (target each 1 s)"),
            ),
            ("links.l.loss", "0.5 %", &after("loss 0.5 %")),
            (
                "links.l.loss",
                "{ model = \"bit-errors\", probability = 0.000001 }",
                &after("bit errors 0.000001"),
            ),
            (
                "links.l.loss",
                "{ model = \"gilbert-elliott\", good_to_bad = \"1 %\", bad_to_good = \"25 %\" }",
                &after("loss in bursts (p 1 %, r 25 %, 0 % / 100 %)"),
            ),
            ("links.l.loss", "{ model = \"exact\", packets = [3, 9] }", &after("loses data packets 3, 9")),
            (
                "links.l.loss",
                "{ model = \"exact\", packets = [1, 2, 3, 4, 5, 6] }",
                &after("loses data packets 1, 2, 3, 4, 5, …"),
            ),
            ("links.l.duplicate", "2 %", &after("duplicates 2 %")),
        ],
    );
}

#[test]
fn directions_that_differ_are_drawn_apart() {
    let shown = lines(LINE, &[("links.l.backward.rate", "1 Mbit/s"), ("links.l.forward.delay", "30 ms")]);
    let drawn: Vec<&str> =
        shown.iter().filter(|line| line.contains(", drop-tail")).map(String::as_str).collect();
    assert_eq!(
        drawn,
        ["->  8 Mbit/s, 30 ms, drop-tail 100 packets", "<-  1 Mbit/s, 10 ms, drop-tail 100 packets"]
    );
}

#[test]
fn each_change_is_told_for_the_direction_it_holds_for() {
    let change = |rest: &str| format!("[{{ at = \"2 s\", direction = \"backward\", {rest} }}]");
    for (said, wanted) in [
        ("state = \"down\"", "down"),
        ("state = \"up\"", "up"),
        ("rate = \"3 Mbit/s\"", "3 Mbit/s"),
        ("delay = \"50 ms\"", "delay 50 ms"),
        ("jitter = \"none\"", "no jitter"),
        ("jitter = \"1 ms\"", "jitter 0 to 1 ms"),
        ("loss = \"none\"", "no loss"),
        ("loss = \"2 %\"", "loss 2 %"),
        ("queue = \"9 packets\"", "drop-tail 9 packets"),
        ("duplicate = \"1 %\"", "duplicates 1 %"),
        ("down_loses_in_flight = true", "loses what is on its way when it goes down"),
        ("down_loses_in_flight = false", "what is on its way arrives when it goes down"),
        ("reorder = true", "jitter may reorder"),
        ("reorder = false", "jitter keeps the order"),
    ] {
        let shown = lines(LINE, &[("links.l.changes", &change(said))]);
        let told: Vec<&str> =
            shown.iter().filter(|line| line.contains("from 2 s:")).map(String::as_str).collect();
        assert_eq!(told, [format!("<-  from 2 s: {wanted}")], "{said}");
    }
    let both = lines(LINE, &[("links.l.changes", "[{ at = \"1 s\", state = \"down\" }]")]);
    let told: Vec<&str> = both.iter().filter(|line| line.contains("from 1 s:")).map(String::as_str).collect();
    assert_eq!(told, ["->  from 1 s: down", "<-  from 1 s: down"]);
}

#[test]
fn a_trace_is_told_by_its_length_and_mean_rate() {
    let folder = Folder::new("explained");
    // Three times 1500 octets in 9 ms.
    folder.write("line.up", "1\n4\n9\n");
    let text = LINE.replace("rate = \"8 Mbit/s\"", "trace = \"line.up\"")
        + "[links.m]\nbetween = [\"a\", \"b\"]\nrate = \"1 Mbit/s\"\n\
           changes = [{ at = \"1 s\", trace = \"line.up\" }, { at = \"2 s\", rate = \"5 Mbit/s\" }]\n";
    let shown = folder.load(&text).expect("a scenario").explain();
    assert!(shown.contains("<-> trace of 3 packets, 4.00 Mbit/s on average, 10 ms, drop-tail"), "{shown}");
    for wanted in ["->  from 1 s: trace of 3 packets", "->  from 2 s: no trace", "->  from 2 s: 5 Mbit/s"] {
        assert!(shown.lines().any(|line| line.trim() == wanted), "{wanted}: {shown}");
    }
}

#[test]
fn each_application_is_told_in_a_sentence() {
    let what = "connections.x.application";
    each_says(
        LINE,
        &[
            ("connections.x.start", "3 s", "x: TCP from [a] to [b], opens at 3 s"),
            (what, "{ kind = \"bulk\", bytes = \"2 MB\" }", "[a] sends 2 MB"),
            (
                what,
                "{ kind = \"bulk\", bytes = \"2 MB\", duration = \"3 s\" }",
                "[a] sends 2 MB, for 3 s at most",
            ),
            (what, "{ kind = \"bulk\", duration = \"3 s\" }", "[a] sends as fast as it can, for 3 s"),
            ("connections.x.data", "backward", "[b] sends as fast as it can, until the end"),
            (
                what,
                "{ kind = \"constant-rate\", rate = \"1 Mbit/s\", packet_size = \"500 B\" }",
                "[a] sends 1 Mbit/s in packets of 500 B, until the end",
            ),
            (
                what,
                "{ kind = \"constant-rate\", rate = \"1 Mbit/s\", duration = \"4 s\", \
                 changes = [{ at = \"1 s\", rate = \"2 Mbit/s\" }] }",
                "[a] sends 1 Mbit/s in packets of 1400 B, for 4 s, 2 Mbit/s from 1 s",
            ),
            (
                what,
                "{ kind = \"on-off\", rate = \"1 Mbit/s\", on = \"2 s\", off = \"1 s\" }",
                "[a] sends 1 Mbit/s in packets of 1400 B, on for 2 s, off for 1 s, until the end",
            ),
            (
                what,
                "{ kind = \"request-response\", request = \"1 kB\", response = \"1 MB\", think = \"2 s\", count = 7 }",
                "[a] asks (1 kB), [b] answers (1 MB), [a] thinks 2 s; 7 times",
            ),
        ],
    );
}

#[test]
fn of_many_changes_of_a_rate_the_first_and_the_last_are_told() {
    let changes: Vec<String> =
        (1..=5).map(|second| format!("{{ at = \"{second} s\", rate = \"{second} kbit/s\" }}")).collect();
    let what =
        format!("{{ kind = \"constant-rate\", rate = \"1 Mbit/s\", changes = [{}] }}", changes.join(", "));
    let shown = lines(LINE, &[("connections.x.application", &what)]);
    let wanted = "[a] sends 1 Mbit/s in packets of 1400 B, until the end, 1 kbit/s from 1 s, 3 more changes, 5 kbit/s from 5 s";
    assert!(shown.iter().any(|line| line == wanted), "{shown:?}");
}

#[test]
fn copies_are_told_with_the_times_they_open_at() {
    let shown = lines(LINE, &[("connections.x.count", "4"), ("connections.x.spread", "2 s")]);
    assert!(
        shown.contains(&"x: TCP from [a] to [b], 4 copies, opening from 0 s to 1.5 s".to_owned()),
        "{shown:?}"
    );
}

#[test]
fn a_path_is_told_with_its_figures_in_the_direction_of_the_data() {
    let slow_back = ("links.l.backward.rate", "1 Mbit/s");
    let shown = |data: &str| lines(LINE, &[slow_back, ("connections.x.data", data)]);
    // Twice 10 ms of 8 Mbit/s are 20 kB.
    let forward =
        "10.0.0.1 -> 10.0.0.2, RTT at least 20 ms, at most 8.00 Mbit/s, bandwidth-delay product 20 kB";
    let backward =
        "10.0.0.1 -> 10.0.0.2, RTT at least 20 ms, at most 1.00 Mbit/s, bandwidth-delay product 2.5 kB";
    for (data, wanted) in [("forward", forward), ("backward", backward)] {
        let shown = shown(data);
        assert!(shown.iter().any(|line| line == wanted), "{data}: {shown:?}");
    }
    // Of requests and answers the answers count.
    let asked = lines(LINE, &[slow_back, ("connections.x.application", "{ kind = \"request-response\" }")]);
    assert!(asked.iter().any(|line| line == backward), "{asked:?}");
}

#[test]
fn what_a_router_takes_out_and_what_makes_a_node_late_is_told() {
    let routed = LINE.replace("[links.l]\nbetween = [\"a\", \"b\"]", "[routers.r]\n[links.k]\nbetween = [\"r\", \"b\"]\nrate = \"8 Mbit/s\"\n[links.l]\nbetween = [\"a\", \"r\"]");
    each_says(
        &routed,
        &[
            ("routers.r.strips", "[\"mptcp\"]", "(r) strips Multipath TCP from every segment"),
            ("routers.r.jitter.timers", "2 ms", "(r) jitter: timers late by 2 ms on average"),
            (
                "routers.r.jitter.arrivals",
                "3 ms",
                "(r) jitter: wakes up 3 ms late on average for what arrives",
            ),
            ("hosts.a.jitter.coalesce", "1 ms", "[a] jitter: arrivals held for 1 ms"),
            (
                "hosts.a.jitter",
                "{ timers = \"1 ms\", coalesce = \"2 ms\", coalesce_bytes = \"64 kB\" }",
                "[a] jitter: timers late by 1 ms on average; arrivals held for 2 ms, or until 64 kB have come",
            ),
        ],
    );
    for (from, words) in [("syn", "segments with SYN"), ("established", "segments without SYN")] {
        let shown = lines(&routed, &[("routers.r.strips", "[\"sack\"]"), ("routers.r.strips_from", from)]);
        assert!(shown.iter().any(|line| line.ends_with(&format!("from {words}"))), "{from}: {shown:?}");
    }
}

#[test]
fn a_node_without_a_link_is_drawn_alone() {
    let shown = lines(&format!("{LINE}[hosts.idle]\n"), &[]);
    assert!(shown.contains(&"[idle]    without a link".to_owned()), "{shown:?}");
}

const BOND: &str = concat!(
    two_lines!("4 Mbit/s", "20 ms"),
    r#"paths = [{ link = "dsl", cost = 1 }, { link = "lte", cost = 2 }]
[scenario]
name = "bond"
duration = "2 s"
[connections.x]
from = "server"
to = "client"
"#
);

#[test]
fn a_bond_is_told_with_its_scheduler_and_when_it_is_up() {
    let plain = lines(BOND, &[]);
    let usual = "=== dsl and lte laid into one, rate aware, up 5 s before the scenario";
    assert!(plain.iter().any(|line| line == usual), "{plain:?}");
    for (scheduler, words) in [
        ("cost-first", "cost first"),
        ("weighted-round-robin", "weighted round robin"),
        ("redundant", "redundant"),
        ("flow-aware", "flow aware"),
    ] {
        let shown = lines(BOND, &[("bonds.home.scheduler", scheduler), ("bonds.home.run_up", "0 s")]);
        let wanted = format!("=== dsl and lte laid into one, {words}, up with the scenario");
        assert!(shown.contains(&wanted), "{scheduler}: {shown:?}");
    }
    // The way over a bond has the delay of its fastest path and the rate of all together.
    let figures = "RTT at least 10 ms, at most 12.00 Mbit/s, bandwidth-delay product 15 kB";
    assert!(plain.iter().any(|line| line.ends_with(figures)), "{plain:?}");
}

#[test]
fn a_gateways_clock_is_told_with_each_step() {
    let clock = "{ offset = \"2 s\", drift = -40.0, steps = [{ at = \"1 s\", by = \"-10 ms\" }, { at = \"1.5 s\", by = \"20 ms\" }] }";
    let shown = lines(BOND, &[("routers.hub.clock", clock)]);
    let wanted = "(hub) has a clock 2 s ahead, 40 ppm too slow, 10 ms back at 1 s, 20 ms ahead at 1.5 s";
    assert!(shown.iter().any(|line| line == wanted), "{shown:?}");
    let fast = lines(BOND, &[("routers.hub.clock", "{ drift = 12.5 }")]);
    assert!(fast.iter().any(|line| line == "(hub) has a clock 0 s ahead, 12.5 ppm too fast"), "{fast:?}");
}

/// The value of a key in the list, and where it is from.
fn told(text: &str, overrides: &Overrides<'_>, key: &str) -> (String, String) {
    let shown = scenario(text, overrides).explain();
    let line = shown.lines().find(|line| line.split_whitespace().next() == Some(key));
    let line = line.unwrap_or_else(|| panic!("no {key}: {shown}"));
    let rest = line.trim().strip_prefix(key).expect("the key").trim();
    let (value, from) = rest.split_once("  ").unwrap_or_else(|| panic!("no origin: {line}"));
    (value.to_owned(), from.trim().to_owned())
}

#[test]
fn each_value_names_where_it_is_from() {
    let line = |key: &str| {
        let number = LINE.lines().position(|line| line.starts_with(key)).expect("a line") + 1;
        format!("line {number}")
    };
    let at = |overrides: &Overrides<'_>, key: &str| told(LINE, overrides, key);
    assert_eq!(at(&[], "links.l.rate"), ("\"8 Mbit/s\"".to_owned(), line("rate")));
    assert_eq!(at(&[], "links.l.mtu"), ("1500".to_owned(), "default".to_owned()));
    assert_eq!(at(&[("links.l.mtu", "1400")], "links.l.mtu"), ("1400".to_owned(), "--set".to_owned()));
    assert_eq!(at(&[], "connections.x.tcp.mss"), ("1460".to_owned(), "MTU less 40".to_owned()));
    let ipv6 = [("scenario.address_family", "ipv6")];
    assert_eq!(at(&ipv6, "connections.x.tcp.mss"), ("1440".to_owned(), "MTU less 60".to_owned()));
    assert_eq!(at(&[], "connections.x.tcp.rto_min"), ("\"200 ms\"".to_owned(), "preset linux".to_owned()));
    let classic = [("tcp.preset", "classic")];
    assert_eq!(
        at(&classic, "connections.x.tcp.rto_max"),
        ("\"60 s\"".to_owned(), "preset classic".to_owned())
    );
    assert_eq!(at(&classic, "connections.x.tcp.mss"), ("1400".to_owned(), "preset classic".to_owned()));
    let sack = [("tcp.preset", "classic"), ("tcp.sack", "true")];
    let follows = ("\"sack\"".to_owned(), "follows sack".to_owned());
    assert_eq!(at(&sack, "connections.x.tcp.loss_recovery"), follows);
    // What one direction alone says is not told of both.
    let one = [("links.l.backward.delay", "1 ms")];
    assert_eq!(at(&one, "links.l.backward.delay"), ("\"1 ms\"".to_owned(), "--set".to_owned()));
    assert_eq!(at(&one, "links.l.forward.delay"), ("\"10 ms\"".to_owned(), line("delay")));
    // A short form says the length and not the discipline's other keys.
    assert_eq!(at(&[("links.l.queue", "7 packets")], "links.l.queue.limit").1, "--set");
    assert_eq!(at(&[("links.l.queue", "codel")], "links.l.queue.limit").1, "default");
    assert_eq!(at(&[("links.l.queue", "codel")], "links.l.queue.discipline").1, "--set");
}
