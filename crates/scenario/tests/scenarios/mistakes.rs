//! Every mistake names its line, its column and its key, says what was expected, and suggests the nearest.

use crate::support::{Folder, mistake, read, scenario, shipped_files};
use proptest::prelude::*;
use ropewalk_scenario::load;

/// A good scenario. The lines matter: the table below counts them.
const GOOD: &str = r#"[scenario]
name = "good"
duration = "10 s"
sample_interval = "100 ms"
[tcp]
preset = "linux"
[mptcp]
scheduler = "lowest-rtt"
[hosts.client]
[hosts.server]
[routers.r]
[links.a]
between = ["client", "server"]
rate = "10 Mbit/s"
delay = "10 ms"
queue = "50 packets"
loss = "1 %"
[links.b]
between = ["client", "r"]
rate = "2 Mbit/s"
changes = [{ at = "3 s", state = "down" }]
[links.c]
between = ["r", "server"]
rate = "20 Mbit/s"
[connections.bulk]
protocol = "mptcp"
from = "client"
to = "server"
paths = ["a", "b"]
application = { kind = "bulk", bytes = "1 MB" }
[connections.call]
protocol = "udp"
from = "client"
to = "server"
application = { kind = "constant-rate", rate = "64 kbit/s" }
"#;

/// Replaces one line of the good scenario, gives the text and the line's number.
fn with(line: &str, by: &str) -> (String, usize) {
    let number =
        GOOD.lines().position(|known| known == line).unwrap_or_else(|| panic!("no line {line:?}")) + 1;
    let lines: Vec<&str> = GOOD.lines().map(|known| if known == line { by } else { known }).collect();
    (lines.join("\n") + "\n", number)
}

/// What to replace, by what, the key at fault, the marked text, a word of the message, and the suggestion.
type Case = (&'static str, &'static str, &'static str, &'static str, &'static str, Option<&'static str>);

fn check(cases: &[Case]) {
    for &(line, by, key, marked, word, suggestion) in cases {
        let (text, number) = with(line, by);
        let error = mistake(&text, &[]);
        let shown = error.to_string();
        assert_eq!(error.key, key, "key of {by:?}: {shown}");
        let source = error.source_line.as_deref().unwrap_or_default();
        let from = error.column.unwrap_or(1) - 1;
        let found: String = source.chars().skip(from).take(error.width).collect();
        assert_eq!(found, marked, "mark of {by:?}: {shown}");
        let offset = by.lines().position(|line| line == source).unwrap_or(0);
        assert_eq!(error.line, Some(number + offset), "line of {by:?}: {shown}");
        let text = format!("{} {}", error.message, error.expected);
        assert!(text.contains(word), "no {word:?} for {by:?}: {shown}");
        assert_eq!(error.suggestion.as_deref(), suggestion, "suggestion for {by:?}: {shown}");
        assert!(shown.starts_with(&format!("test.toml:{}:", number + offset)), "{shown}");
    }
}

#[test]
fn unknown_keys_and_values() {
    check(&[
        ("loss = \"1 %\"", "los = \"1 %\"", "links.a.los", "los", "one of", Some("loss")),
        ("delay = \"10 ms\"", "latency = \"10 ms\"", "links.a.latency", "latency", "`delay`", Some("delay")),
        ("rate = \"2 Mbit/s\"", "bandwidth = 2", "links.b.bandwidth", "bandwidth", "`rate`", Some("rate")),
        ("[tcp]", "[tpc]", "tpc", "tpc", "one of", Some("tcp")),
        ("preset = \"linux\"", "preset = \"linus\"", "tcp.preset", "\"linus\"", "`classic`", Some("linux")),
        ("preset = \"linux\"", "cwnd = 3", "tcp.cwnd", "cwnd", "initial_window", None),
        (
            "preset = \"linux\"",
            "congestion_control = \"cubix\"",
            "tcp.congestion_control",
            "\"cubix\"",
            "newreno",
            Some("cubic"),
        ),
        (
            "preset = \"linux\"",
            "spurious = [\"dsak\"]",
            "tcp.spurious[0]",
            "\"dsak\"",
            "eifel",
            Some("dsack"),
        ),
        (
            "scheduler = \"lowest-rtt\"",
            "scheduler = \"min-rtt\"",
            "mptcp.scheduler",
            "\"min-rtt\"",
            "goodput-guard",
            None,
        ),
        (
            "scheduler = \"lowest-rtt\"",
            "scheduler = \"round_robin\"",
            "mptcp.scheduler",
            "\"round_robin\"",
            "blest",
            Some("round-robin"),
        ),
        (
            "queue = \"50 packets\"",
            "queue = { discipline = \"code\" }",
            "links.a.queue.discipline",
            "\"code\"",
            "fq-codel",
            Some("codel"),
        ),
        (
            "queue = \"50 packets\"",
            "queue = { discipline = \"codel\", taget = \"5 ms\" }",
            "links.a.queue.taget",
            "taget",
            "target",
            Some("target"),
        ),
        (
            "loss = \"1 %\"",
            "loss = { model = \"gilbert\" }",
            "links.a.loss.model",
            "\"gilbert\"",
            "gilbert-elliott",
            None,
        ),
        (
            "protocol = \"udp\"",
            "protocol = \"utp\"",
            "connections.call.protocol",
            "\"utp\"",
            "mptcp",
            Some("udp"),
        ),
    ]);
}

#[test]
fn datagrams_between_a_kernel_and_a_simulated_host_are_refused_at_their_protocol() {
    let (text, _) = with("[hosts.client]", "[hosts.client]\nstack = \"linux\"");
    let error = mistake(&text, &[]);
    assert_eq!(error.key, "connections.call.protocol");
    assert_eq!(error.source_line.as_deref(), Some("protocol = \"udp\""));
    assert!(error.message.contains("`server` is simulated") && error.message.contains("no datagrams there"));
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table of cases")]
fn impossible_values() {
    check(&[
        (
            "rate = \"10 Mbit/s\"",
            "rate = \"-10 Mbit/s\"",
            "links.a.rate",
            "\"-10 Mbit/s\"",
            "a rate such as",
            None,
        ),
        (
            "rate = \"10 Mbit/s\"",
            "rate = \"10 mbit/s\"",
            "links.a.rate",
            "\"10 mbit/s\"",
            "Mbit/s",
            Some("10 Mbit/s"),
        ),
        ("rate = \"10 Mbit/s\"", "rate = \"0 Mbit/s\"", "links.a.rate", "\"0 Mbit/s\"", "above zero", None),
        ("rate = \"10 Mbit/s\"", "rate = 10", "links.a.rate", "10", "a rate such as", None),
        ("delay = \"10 ms\"", "delay = \"10\"", "links.a.delay", "\"10\"", "units ns, us, ms", None),
        (
            "delay = \"10 ms\"",
            "delay = \"500 h\"\nmtu = 9000.5",
            "links.a.mtu",
            "9000.5",
            "whole number",
            None,
        ),
        ("delay = \"10 ms\"", "delay = \"90000 h\"", "links.a.delay", "\"90000 h\"", "at most a year", None),
        ("delay = \"10 ms\"", "mtu = 100", "links.a.mtu", "100", "too small for the headers", None),
        ("delay = \"10 ms\"", "mtu = 70000", "links.a.mtu", "70000", "65535", None),
        ("loss = \"1 %\"", "loss = 1.2", "links.a.loss", "1.2", "from 0 to 1", None),
        ("loss = \"1 %\"", "loss = \"120 %\"", "links.a.loss", "\"120 %\"", "from 0 to 1", None),
        (
            "loss = \"1 %\"",
            "loss = { model = \"exact\", packets = [3, 0] }",
            "links.a.loss.packets[1]",
            "0",
            "numbers from 1",
            None,
        ),
        ("loss = \"1 %\"", "forward = { loss = -1 }", "links.a.forward.loss", "-1", "from 0 to 1", None),
        (
            "queue = \"50 packets\"",
            "queue = \"0 packets\"",
            "links.a.queue",
            "\"0 packets\"",
            "a queue such as",
            None,
        ),
        (
            "queue = \"50 packets\"",
            "queue = \"1 kB\"",
            "links.a.queue",
            "\"1 kB\"",
            "cannot hold a packet",
            None,
        ),
        (
            "queue = \"50 packets\"",
            "queue = { discipline = \"red\", min_threshold = 20 }",
            "links.a.queue",
            "{ discipline = \"red\", min_threshold = 20 }",
            "above min_threshold",
            None,
        ),
        ("duration = \"10 s\"", "duration = \"0 s\"", "scenario.duration", "\"0 s\"", "lasts no time", None),
        (
            "duration = \"10 s\"",
            "duration = \"1O s\"",
            "scenario.duration",
            "\"1O s\"",
            "a time such as",
            None,
        ),
        (
            "sample_interval = \"100 ms\"",
            "sample_interval = \"0 s\"",
            "scenario.sample_interval",
            "\"0 s\"",
            "above zero",
            None,
        ),
        (
            "sample_interval = \"100 ms\"",
            "sample_interval = \"1 us\"",
            "scenario.sample_interval",
            "\"1 us\"",
            "10000000 samples",
            None,
        ),
        ("sample_interval = \"100 ms\"", "seed = -1", "scenario.seed", "-1", "not negative", None),
        (
            "name = \"good\"",
            "name = \"two words\"",
            "scenario.name",
            "\"two words\"",
            "letters, digits",
            None,
        ),
        ("preset = \"linux\"", "window_scale = 15", "tcp.window_scale", "15", "0 to 14", None),
        ("preset = \"linux\"", "mss = 2000", "tcp.mss", "2000", "88 to 1460", None),
        ("preset = \"linux\"", "initial_window = 0", "tcp.initial_window", "0", "from 1", None),
        ("preset = \"linux\"", "rto_min = \"10 min\"", "tcp.rto_min", "\"10 min\"", "rto_max", None),
        (
            "preset = \"linux\"",
            "receive_buffer = \"5 GB\"",
            "tcp.receive_buffer",
            "\"5 GB\"",
            "below 4 GiB",
            None,
        ),
        (
            "preset = \"linux\"",
            "receive_buffer = \"1 kB\"",
            "tcp.receive_buffer",
            "\"1 kB\"",
            "does not hold a segment",
            None,
        ),
        (
            "preset = \"linux\"",
            "timestamps = \"yes\"",
            "tcp.timestamps",
            "\"yes\"",
            "`true` or `false`",
            None,
        ),
        ("preset = \"linux\"", "preset = 1979-05-27", "tcp.preset", "1979-05-27", "a date", None),
    ]);
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table of cases")]
fn names_and_routes() {
    check(&[
        (
            "between = [\"client\", \"server\"]",
            "between = [\"client\", \"sever\"]",
            "links.a.between[1]",
            "\"sever\"",
            "no host or router",
            Some("server"),
        ),
        (
            "between = [\"client\", \"server\"]",
            "between = [\"client\", \"client\"]",
            "links.a.between",
            "[\"client\", \"client\"]",
            "with itself",
            None,
        ),
        (
            "between = [\"client\", \"server\"]",
            "between = [\"client\"]",
            "links.a.between",
            "[\"client\"]",
            "two names",
            None,
        ),
        (
            "between = [\"client\", \"server\"]",
            "between = [\"client\", \"server\", \"r\"]",
            "links.a.between",
            "[\"client\", \"server\", \"r\"]",
            "3 values",
            None,
        ),
        (
            "[routers.r]",
            "[routers.r]\n[routers.client]",
            "routers.client",
            "client",
            "there is a host `client` already",
            None,
        ),
        ("[routers.r]", "[routers.r]\n[hosts.client]", "", "client", "duplicate", None),
        (
            "[routers.r]",
            "[routers.r]\n[routers.\"r 2\"]",
            "routers.r 2",
            "\"r 2\"",
            "a name of letters",
            None,
        ),
        (
            "paths = [\"a\", \"b\"]",
            "paths = [\"a\", \"c\"]",
            "connections.bulk.paths[1]",
            "\"c\"",
            "does not end at `client`",
            Some("a"),
        ),
        (
            "paths = [\"a\", \"b\"]",
            "paths = [\"a\", \"a\"]",
            "connections.bulk.paths[1]",
            "\"a\"",
            "twice",
            None,
        ),
        ("paths = [\"a\", \"b\"]", "paths = []", "connections.bulk.paths", "[]", "at least one link", None),
        ("paths = [\"a\", \"b\"]", "paths = \"a\"", "connections.bulk.paths", "\"a\"", "a list", None),
        (
            "protocol = \"udp\"",
            "protocol = \"udp\"\nmptcp = { scheduler = \"ecf\" }",
            "connections.call.mptcp",
            "mptcp",
            "no use here",
            None,
        ),
        (
            "protocol = \"udp\"",
            "protocol = \"udp\"\ntcp = { sack = true }",
            "connections.call.tcp",
            "tcp",
            "no use here",
            None,
        ),
        (
            "application = { kind = \"constant-rate\", rate = \"64 kbit/s\" }",
            "application = \"bulk\"",
            "connections.call.application",
            "\"bulk\"",
            "no flow control",
            None,
        ),
        (
            "application = { kind = \"constant-rate\", rate = \"64 kbit/s\" }",
            "application = { kind = \"constant-rate\" }",
            "connections.call.application.rate",
            "{ kind = \"constant-rate\" }",
            "missing",
            None,
        ),
        (
            "application = { kind = \"constant-rate\", rate = \"64 kbit/s\" }",
            "application = { kind = \"constant-rate\", rate = \"1 Mbit/s\", packet_size = \"2 kB\" }",
            "connections.call.application.packet_size",
            "\"2 kB\"",
            "does not fit the MTU",
            None,
        ),
        (
            "application = { kind = \"bulk\", bytes = \"1 MB\" }",
            "application = { kind = \"bulk\", bytes = \"0 B\" }",
            "connections.bulk.application.bytes",
            "\"0 B\"",
            "at least 1 B",
            None,
        ),
        (
            "application = { kind = \"bulk\", bytes = \"1 MB\" }",
            "application = { bytes = \"1 MB\" }",
            "connections.bulk.application.kind",
            "{ bytes = \"1 MB\" }",
            "missing",
            None,
        ),
        (
            "application = { kind = \"bulk\", bytes = \"1 MB\" }",
            "start = \"11 s\"",
            "connections.bulk.start",
            "\"11 s\"",
            "before the end",
            None,
        ),
        (
            "application = { kind = \"bulk\", bytes = \"1 MB\" }",
            "start = \"1 s\"\nstarts = [\"2 s\"]",
            "connections.bulk.starts",
            "starts",
            "one of the two",
            None,
        ),
        (
            "application = { kind = \"bulk\", bytes = \"1 MB\" }",
            "count = 0",
            "connections.bulk.count",
            "0",
            "from 1",
            None,
        ),
        (
            "application = { kind = \"bulk\", bytes = \"1 MB\" }",
            "count = 1000000",
            "connections.bulk.count",
            "1000000",
            "at most 100000",
            None,
        ),
        (
            "application = { kind = \"bulk\", bytes = \"1 MB\" }",
            "mptcp = { scheduler = \"weighted-round-robin\", weights = [1] }",
            "connections.bulk.mptcp.weights",
            "[1]",
            "1 weights for 2 paths",
            None,
        ),
        (
            "application = { kind = \"bulk\", bytes = \"1 MB\" }",
            "mptcp = { weights = [1, 2] }",
            "connections.bulk.mptcp.weights",
            "weights",
            "no use here",
            None,
        ),
        (
            "application = { kind = \"bulk\", bytes = \"1 MB\" }",
            "mptcp = { path_manager = \"scripted\", steps = [{ at = \"1 s\", path = \"d\", action = \"open\" }] }",
            "connections.bulk.mptcp.steps[0].path",
            "\"d\"",
            "no path `d`",
            Some("a"),
        ),
        (
            "changes = [{ at = \"3 s\", state = \"down\" }]",
            "changes = [{ at = \"3 s\" }]",
            "links.b.changes[0]",
            "{ at = \"3 s\" }",
            "nothing changes",
            None,
        ),
        (
            "changes = [{ at = \"3 s\", state = \"down\" }]",
            "changes = [{ at = \"3 s\", rate = \"0 bit/s\" }]",
            "links.b.changes[0].rate",
            "\"0 bit/s\"",
            "above zero",
            None,
        ),
    ]);
    let ends: [Case; 5] = [
        (
            "[connections.call]",
            "[connections.x]\nfrom = \"client\"\nto = \"server\"\npaths = [\"a\", \"b\"]\n[connections.call]",
            "connections.x.paths",
            "[\"a\", \"b\"]",
            "only mptcp takes more",
            None,
        ),
        (
            "[connections.call]",
            "[connections.x]\nfrom = \"client\"\nto = \"client\"\n[connections.call]",
            "connections.x.to",
            "\"client\"",
            "talk to itself",
            None,
        ),
        (
            "[connections.call]",
            "[connections.x]\nfrom = \"r\"\nto = \"client\"\n[connections.call]",
            "connections.x.from",
            "\"r\"",
            "a router",
            None,
        ),
        (
            "[connections.call]",
            "[connections.x]\nfrom = \"client\"\nto = \"serve\"\n[connections.call]",
            "connections.x.to",
            "\"serve\"",
            "no host `serve`",
            Some("server"),
        ),
        (
            "[connections.call]",
            "[[routes]]\nat = \"r\"\nto = \"server\"\nvia = \"b\"\n[connections.call]",
            "routes[0].via",
            "\"b\"",
            "leads nowhere",
            None,
        ),
    ];
    check(&ends);
}

#[test]
fn a_path_that_leads_nowhere_is_marked_where_it_is_named() {
    let (text, _) = with("between = [\"r\", \"server\"]", "between = [\"client\", \"server\"]");
    let error = mistake(&text, &[]);
    let line = text.lines().position(|line| line.starts_with("paths")).expect("there") + 1;
    assert_eq!((error.line, error.column), (Some(line), Some(15)));
    assert_eq!(error.key, "connections.bulk.paths[1]");
    assert!(error.message.ends_with("over the link `b`: the router `r` knows no way"), "{error}");
}

#[test]
fn a_scenario_needs_its_parts() {
    let (text, number) = with("between = [\"r\", \"server\"]", "# nothing");
    let error = mistake(&text, &[]);
    assert_eq!((error.key.as_str(), error.line), ("links.c.between", Some(number - 1)));
    let error = mistake("", &[]);
    assert_eq!((error.key.as_str(), error.line), ("scenario", Some(1)));
    let error = mistake("[scenario]\nname = \"x\"\n", &[]);
    assert_eq!((error.key.as_str(), error.line), ("scenario.duration", Some(1)));
    let error = mistake("[scenario]\nname = \"x\"\nduration = \"1 s\"\n", &[]);
    assert_eq!(error.key, "connections");
    let error = mistake("[scenario]\nname = \"x\"\nduration = \"1 s\n", &[]);
    assert_eq!((error.line, error.message.contains("not valid TOML")), (Some(3), true));
}

#[test]
fn the_picture_of_a_mistake() {
    let (text, _) = with("loss = \"1 %\"", "los = \"1 %\"");
    let before = "\
test.toml:17:1: unknown key `los`
   |
17 | los = \"1 %\"
   | ^^^ expected one of `between`, `count`, `forward`, `backward`, `rate`, `trace`, `mtu`, `delay`, ";
    let after = ", `queue`, `changes`\n  = did you mean `loss`?";
    let shown = mistake(&text, &[]).to_string();
    let keys = shown.strip_prefix(before).and_then(|rest| rest.strip_suffix(after));
    assert!(keys.is_some_and(|keys| keys.contains("`loss`") && !keys.contains('\n')), "{shown}");
}

#[test]
fn overrides_are_named_in_their_mistakes() {
    for (key, value, word, suggestion) in [
        ("links.b.los", "3 %", "unknown key `los`", Some("loss")),
        ("links.bb.loss", "3 %", "there is no `links.bb`", Some("b")),
        ("links.b.loss", "300 %", "does not fit here", None),
        ("links.b.loss.model.x", "1", "is not a table", None),
        ("mptcp.scheduler", "blestt", "not known", Some("blest")),
        ("links.b.changes[1].at", "4 s", "leads nowhere", None),
        ("", "1", "needs a key", None),
        ("connections.bulk.paths", "[\"a\", \"z\"]", "there is no link `z`", None),
    ] {
        let error = mistake(GOOD, &[("links.b.loss", "2 %"), (key, value)]);
        let shown = error.to_string();
        assert!(shown.starts_with(&format!("--set {key}={value}: ")), "{shown}");
        assert!(shown.contains(word), "no {word:?} in {shown}");
        assert_eq!(error.line, None);
        if suggestion.is_some() {
            assert_eq!(error.suggestion.as_deref(), suggestion, "{shown}");
        }
    }
}

#[test]
fn overrides_that_are_right() {
    let set = |key: &str, value: &str| scenario(GOOD, &[(key, value)]);
    assert_eq!(set("scenario.seed", "7").seed(), 7);
    assert_eq!(
        set("links.b.changes[0].at", "4 s").plan().links[1].wire().unwrap().changes[0].at.as_millis(),
        4000
    );
    assert_eq!(
        set("links.b.changes.0.at", "4 s").plan().links[1].wire().unwrap().changes[0].at.as_millis(),
        4000
    );
    assert_eq!(set("connections.bulk.paths", "[\"b\"]").plan().connections[0].paths.len(), 1);
    assert_eq!(set("scenario.duration", "2min").duration().as_millis(), 120_000);
    assert_eq!(
        set("links.d", "{ between = [\"client\", \"server\"], rate = \"1 Mbit/s\" }").plan().links.len(),
        4
    );
}

#[test]
fn traces_that_are_broken_name_their_line() {
    let folder = Folder::new("traces");
    let (text, number) = with("rate = \"10 Mbit/s\"", "trace = \"t.mahi\"");
    let open = |content: &str| {
        folder.write("t.mahi", content);
        folder.load(&text)
    };
    let error = folder.load(&text).expect_err("there is no file");
    assert_eq!((error.line, error.message.contains("cannot be read")), (Some(number), true));
    assert!(open("1\n2\n").is_ok());
    for (content, line, word) in [
        ("", 1, "empty"),
        ("1\n2\n300", 3, "truncated"),
        ("1\nabc\n", 2, "not a time"),
        ("5\n4\n", 2, "go back"),
    ] {
        let error = open(content).expect_err(word);
        assert_eq!((error.line, error.key.as_str()), (Some(line), "links.a.trace"));
        assert!(error.file.as_deref().is_some_and(|file| file.ends_with("t.mahi")), "{error}");
        assert!(error.message.contains(word), "{error}");
    }
}

fn scenarios() -> Vec<(std::path::PathBuf, String)> {
    let with_text = |path: std::path::PathBuf| (path.clone(), read(&path));
    shipped_files().into_iter().map(with_text).collect()
}

proptest! {
    /// Any bytes in any place of a good file: an error or a scenario, never a panic.
    #[test]
    fn mutations_never_panic(
        file in any::<prop::sample::Index>(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), 0..3u8, any::<u8>()), 1..6),
    ) {
        let files = scenarios();
        let (path, text) = &files[file.index(files.len())];
        let mut bytes = text.clone().into_bytes();
        for (place, kind, byte) in edits {
            let at = place.index(bytes.len());
            match kind {
                0 => bytes[at] = byte,
                1 => bytes.insert(at, b" \"=[]{}.,-0129x#\n"[usize::from(byte) % 17]),
                _ => { bytes.remove(at); }
            }
        }
        let text = String::from_utf8_lossy(&bytes);
        match load(&text, Some(path), &[]) {
            Ok(scenario) => {
                prop_assert!(!scenario.explain().is_empty());
                prop_assert_eq!(scenario.hash().len(), 16);
            }
            Err(error) => prop_assert!(!error.to_string().is_empty()),
        }
    }

    /// Any override of any key: likewise.
    #[test]
    fn overrides_never_panic(
        key in "(scenario|tcp|mptcp|links|hosts|connections)(\\.(a|b|bulk|rate|loss|queue|paths|count|seed|changes|0|x))(\\.(rate|loss|queue|paths|tcp|mtu|application|starts))?(\\[[0-2]\\])?",
        value in "(-?[0-9]{1,20}(\\.[0-9]+)?|\"?[0-9]{1,6} ?(ms|s|h|packets|B|%|Mbit/s)\"?|\\[.{0,10}\\]|\\{.{0,10}\\}|.{0,12})",
    ) {
        let result = load(GOOD, None, &[(key, value)]);
        match result {
            Ok(scenario) => prop_assert!(scenario.canonical_json().len() > 100),
            Err(error) => prop_assert!(!error.to_string().is_empty()),
        }
    }
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table of cases")]
fn mistakes_in_endpoints_and_limits_are_marked() {
    let line = "application = { kind = \"bulk\", bytes = \"1 MB\" }";
    let keys = |keys: &str| format!("mptcp = {{ path_manager = \"kernel\", {keys} }}");
    let endpoint = |table: &str| keys(&format!("endpoints = [{table}]"));
    let a = "{ host = \"client\", link = \"a\", id = 1 }";
    let many = format!("{a}, {{ host = \"client\", link = \"b\" }}, {a}");
    let change = |table: &str| keys(&format!("endpoints = [{a}], changes = [{{ at = \"1 s\", {table} }}]"));
    let wrong: [(String, &str, &str, &str); 22] = [
        (endpoint("{ host = \"clint\", link = \"a\" }"), "endpoints[0].host", "\"clint\"", "no host `clint`"),
        (endpoint("{ host = \"r\", link = \"b\" }"), "endpoints[0].host", "\"r\"", "a router"),
        (
            endpoint("{ host = \"client\", link = \"c\" }"),
            "endpoints[0].link",
            "\"c\"",
            "does not end at `client`",
        ),
        (
            endpoint("{ host = \"client\", link = \"a\", flags = [\"subflows\"] }"),
            "endpoints[0].flags[0]",
            "\"subflows\"",
            "subflow",
        ),
        (
            endpoint("{ host = \"client\", link = \"a\", flags = [\"signal\", \"fullmesh\"] }"),
            "endpoints[0].flags",
            "[\"signal\", \"fullmesh\"]",
            "full mesh",
        ),
        (endpoint("{ host = \"client\", link = \"a\", id = 0 }"), "endpoints[0].id", "0", "first subflow"),
        (endpoint(&many), "endpoints[2].link", "\"a\"", "there twice"),
        (
            endpoint("{ host = \"client\", link = \"a\" }, { host = \"client\", link = \"b\", id = 1 }"),
            "endpoints[1].id",
            "1",
            "first subflow",
        ),
        (
            endpoint("{ host = \"client\", link = \"a\", flags = [\"subflow\"], port = 6000 }"),
            "endpoints[0].port",
            "6000",
            "announced",
        ),
        (
            endpoint("{ host = \"client\", link = \"a\", flags = [\"signal\", \"subflow\"], port = 6000 }"),
            "endpoints[0].port",
            "6000",
            "opens nothing",
        ),
        (
            endpoint("{ host = \"client\", link = \"a\", flags = [\"signal\"], port = 0 }"),
            "endpoints[0].port",
            "0",
            "port 0",
        ),
        (
            change("action = \"add\", host = \"client\", link = \"a\""),
            "changes[0].link",
            "\"a\"",
            "there twice",
        ),
        (
            change("action = \"add\", host = \"client\", link = \"b\", id = 1"),
            "changes[0].id",
            "1",
            "first subflow",
        ),
        (
            change("action = \"delete\", host = \"client\", link = \"b\""),
            "changes[0].link",
            "\"b\"",
            "no such endpoint",
        ),
        (
            change("action = \"delete\", host = \"client\", link = \"a\", id = 1"),
            "changes[0].id",
            "1",
            "by its link",
        ),
        (
            change("action = \"change\", host = \"client\", link = \"a\", flags = [\"signal\"]"),
            "changes[0].flags[0]",
            "\"signal\"",
            "does not change",
        ),
        (
            change("action = \"delete\", host = \"client\", link = \"a\", subflows = 1"),
            "changes[0].subflows",
            "1",
            "no use with this action",
        ),
        (change("action = \"limits\", host = \"srv\""), "changes[0].host", "\"srv\"", "no host `srv`"),
        (
            change("action = \"limits\", host = \"client\", subflows = 9"),
            "changes[0].subflows",
            "9",
            "than 8",
        ),
        (keys("limits = { server = { subflows = 9 } }"), "limits.server.subflows", "9", "than 8"),
        (keys("limits = { srv = { subflows = 1 } }"), "limits.srv", "{ subflows = 1 }", "no host `srv`"),
        ("mptcp = { limits = { server = { subflows = 1 } } }".to_owned(), "limits", "limits", "no use here"),
    ];
    for (by, key, marked, word) in wrong {
        let (text, number) = with(line, &by);
        let error = mistake(&text, &[]);
        assert_eq!(
            (error.key.as_str(), error.line),
            (format!("connections.bulk.mptcp.{key}").as_str(), Some(number)),
            "{error}"
        );
        assert!(error.to_string().contains(word), "{word:?} is not in {error}");
        assert_eq!(
            error.column.map(|column| by[column - 1..].starts_with(marked)),
            Some(true),
            "{marked}: {error}"
        );
    }
}

#[test]
fn keys_that_have_got_the_names_of_linux_s_sysctls_are_told() {
    for (old, new) in
        [("add_address_timeout = \"2 s\"", "add_addr_timeout"), ("stale_after = 3", "stale_loss_cnt")]
    {
        let line = "application = { kind = \"bulk\", bytes = \"1 MB\" }";
        let (text, number) = with(line, &format!("mptcp = {{ {old} }}"));
        let error = mistake(&text, &[]);
        assert_eq!((error.line, error.suggestion.as_deref()), (Some(number), Some(new)), "{error}");
    }
}
