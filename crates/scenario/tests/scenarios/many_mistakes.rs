//! All mistakes of a file in one go, in its order; limits and suggestions that can be right.

use crate::support::mistake;

const TEXT: &str = r#"
[scenario]
name = "wrong"
duration = "10 s"
[hosts.a]
[hosts.b]
[links.y]
between = ["a", "b"]
rate = "10 Mbit/s"
[links.x]
between = ["a", "b"]
rate = "20 Mbit/s"
changes = [{ at = "2 s", state = "down" }]
[connections.c]
from = "a"
to = "b"
"#;

/// The keys of all mistakes after some words have been replaced.
fn keys(replaced: &[(&str, &str)]) -> Vec<String> {
    let text = replaced.iter().fold(TEXT.to_owned(), |text, (from, to)| {
        assert!(text.contains(from), "{from}");
        text.replace(from, to)
    });
    mistake(&text, &[]).mistakes().iter().map(|mistake| mistake.key.clone()).collect()
}

#[test]
fn all_wrong_keys_and_values_are_told_in_the_order_of_the_file() {
    let found = keys(&[
        ("duration = \"10 s\"", "duration = \"10 parsecs\"\nsead = 3"),
        ("rate = \"10 Mbit/s\"", "rate = \"10\"\nlos = \"3 %\""),
        ("at = \"2 s\"", "at = 2"),
        ("from = \"a\"", "from = 7"),
    ]);
    let wanted = [
        "scenario.duration",
        "scenario.sead",
        "links.y.rate",
        "links.y.los",
        "links.x.changes[0].at",
        "connections.c.from",
    ];
    assert_eq!(found, wanted);
}

#[test]
fn all_that_makes_no_sense_together_is_told_too() {
    let found = keys(&[
        ("rate = \"10 Mbit/s\"", "rate = \"0 bit/s\"\nmtu = 10"),
        ("at = \"2 s\"", "at = \"12 s\""),
        ("to = \"b\"", "to = \"c\""),
    ]);
    assert_eq!(found, ["links.y.rate", "links.y.mtu", "links.x.changes[0].at", "connections.c.to"]);
}

#[test]
fn what_follows_from_a_mistake_is_not_told() {
    assert_eq!(
        keys(&[("between = [\"a\", \"b\"]\nrate = \"10 Mbit/s\"", "between = 3\nrate = \"10 Mbit/s\"")]),
        ["links.y.between"]
    );
    let lonely = keys(&[
        ("between = [\"a\", \"b\"]\nrate = \"10 Mbit/s\"", "between = [\"a\", \"z\"]\nrate = \"10 Mbit/s\""),
        ("between = [\"a\", \"b\"]\nrate = \"20", "between = [\"a\", \"q\"]\nrate = \"20"),
    ]);
    assert_eq!(lonely, ["links.y.between[1]", "links.x.between[1]"], "and not that c has no way");
}

#[test]
fn many_are_printed_with_their_number() {
    let text = TEXT.replace("rate", "rat");
    let error = mistake(&text, &[]);
    let printed = error.to_string();
    assert!(printed.ends_with("\n\n2 mistakes"), "{printed}");
    assert_eq!(printed.matches("did you mean `rate`?").count(), 2);
    assert!(
        printed.find("test.toml:9:1").unwrap_or(usize::MAX) < printed.find("test.toml:12:1").unwrap_or(0)
    );
}

#[test]
fn the_first_fifty_are_printed_and_all_are_kept() {
    let links =
        (0..60).map(|k| format!("[links.x{k}]\nbetween = [\"a\", \"nobody\"]\nrate = \"1 Mbit/s\"\n"));
    let text = format!("{TEXT}\n{}", links.collect::<String>());
    let error = mistake(&text, &[]);
    let printed = error.to_string();
    assert_eq!(error.mistakes().len(), 60);
    assert_eq!(printed.matches("between = [\"a\", \"nobody\"]").count(), 50);
    assert!(printed.ends_with("\n\n60 mistakes, of which the first 50 are shown"), "{printed}");
}

#[test]
fn a_change_after_the_end_is_refused_unless_the_run_was_shortened() {
    assert_eq!(keys(&[("at = \"2 s\"", "at = \"10 s\"")]), ["links.x.changes[0].at"]);
    assert!(ropewalk_scenario::load(TEXT, None, &[("scenario.duration".into(), "1 s".into())]).is_ok());
}

#[test]
fn limits_are_named() {
    for (value, limit) in
        [("1e30 Mbit/s", "at most 18446744073 Gbit/s"), ("18446744074 Gbit/s", "at most 18446744073 Gbit/s")]
    {
        let error = mistake(TEXT, &[("links.x.rate", value)]);
        assert_eq!(error.expected, limit, "{value}");
    }
    assert_eq!(mistake(TEXT, &[("scenario.duration", "9e9 h")]).expected, "at most a year: 8784 h");
}

#[test]
fn suggestions_fit_the_key() {
    for (key, value, meant) in [
        ("links.x.rate", "5 msec", None),
        ("links.x.rate", "10 mb", Some("10 Mbit/s")),
        ("links.x.rate", "10 mbps", Some("10 Mbit/s")),
        ("links.x.delay", "10 m", Some("10 min")),
        ("links.x.delay", "10 mb", None),
        ("tcp.receive_buffer", "4 mb", Some("4 MB")),
        ("links.x.loss", "3 percent", Some("3 %")),
        ("links.x.loss", "3 ms", None),
    ] {
        let error = mistake(TEXT, &[(key, value)]);
        assert_eq!(error.suggestion.as_deref(), meant, "{key} = {value}");
    }
}

#[test]
fn what_a_message_suggests_is_taken_for_what_was_meant() {
    let found = keys(&[
        ("rate = \"10 Mbit/s\"", "rat = \"10 mbps\"\nmtu = 10"),
        ("at = \"2 s\"", "at = \"12 s\""),
        ("to = \"b\"", "to = \"c\"\nprotocol = \"mptpc\""),
    ]);
    let wanted = [
        "links.y.rat",
        "links.y.rate",
        "links.y.mtu",
        "links.x.changes[0].at",
        "connections.c.to",
        "connections.c.protocol",
    ];
    assert_eq!(found, wanted, "and not that `rate` is missing");
}

#[test]
fn shorthand_that_cannot_be_written_out_hides_nothing() {
    let found = keys(&[
        ("[hosts.b]", "[hosts.b]\n[hosts.d]\ncount = 0"),
        ("at = \"2 s\"", "at = \"12 s\""),
        ("rate = \"10 Mbit/s\"", "rate = \"fast\""),
    ]);
    assert_eq!(found, ["hosts.d.count", "links.y.rate", "links.x.changes[0].at"]);
}

#[test]
fn copies_of_a_table_hide_nothing() {
    let found = keys(&[
        ("[links.y]", "[links.y]\ncount = 100"),
        ("rate = \"10 Mbit/s\"", "rat = \"10 Mbit/s\""),
        ("to = \"b\"", "to = \"c\""),
    ]);
    assert_eq!(found, ["links.y-1.rat", "connections.c.to"]);
}

#[test]
fn all_overrides_that_are_wrong_are_told() {
    let overrides = [("links.z.rate", "1 Mbit/s"), ("links.x.los", "3 %"), ("links.q.loss", "3 %")];
    let error = mistake(TEXT, &overrides);
    let found: Vec<&str> = error.mistakes().iter().map(|mistake| mistake.key.as_str()).collect();
    assert_eq!(found, ["links.z.rate", "links.q.loss", "links.x.los"]);
}

/// Bonded lines, a mesh and two connections, with a place for every mistake of [`MISTAKES`].
const WHOLE: &str = r#"
[scenario]
name = "whole"
duration = "10 s"
seed = 1
[tcp]
congestion_control = "cubic"
[hosts.a]
[hosts.b]
[routers.g]
[routers.h]
[links.lan]
between = ["a", "g"]
rate = "1 Gbit/s"
[links.dsl]
between = ["g", "h"]
rate = "16 Mbit/s"
delay = "10 ms"
[links.lte]
between = ["g", "h"]
rate = "50 Mbit/s"
delay = "30 ms"
changes = [{ at = "2 s", state = "down" }]
[links.wan]
between = ["h", "b"]
rate = "1 Gbit/s"
[bonds.pair]
between = ["g", "h"]
paths = ["dsl", "lte"]
[wifi]
standard = "802.11b"
propagation = { model = "disk", reception = "25 m" }
[wifi.stations.a]
position = ["0 m", "0 m"]
[wifi.stations.b]
position = ["20 m", "0 m"]
[wifi.routes.air]
from = "a"
to = "b"
[connections.bulk]
from = "a"
to = "b"
paths = ["lan"]
[connections.voice]
protocol = "udp"
from = "b"
to = "a"
paths = ["wan"]
application = { kind = "constant-rate", packet_size = "160 B", rate = "64 kbit/s" }
"#;

/// What is replaced, and by what that is wrong: keys, values, names, and what makes no sense together.
const MISTAKES: &[(&str, &str)] = &[
    ("duration = \"10 s\"", "duration = \"0 s\""),
    ("duration = \"10 s\"", "duration = \"long\""),
    ("seed = 1", "sed = 1"),
    ("\"cubic\"", "\"cubik\""),
    ("\"cubic\"", "\"what\""),
    ("[hosts.a]", "[hosts.a]\nstack = \"bsd\""),
    ("[routers.h]", "[routers.h]\ncount = 0"),
    ("[links.lan]", "[links.lan]\nmtu = 10"),
    ("between = [\"a\", \"g\"]", "between = [\"a\", \"a\"]"),
    ("between = [\"a\", \"g\"]", "between = [\"a\", \"nobody\"]"),
    ("between = [\"a\", \"g\"]", "betwen = [\"a\", \"g\"]"),
    ("rate = \"16 Mbit/s\"", "rate = \"16 mbps\""),
    ("rate = \"16 Mbit/s\"", "rate = \"fast\""),
    ("rate = \"16 Mbit/s\"", "bandwidth = \"16 Mbit/s\""),
    ("delay = \"30 ms\"", "dela = \"30\""),
    ("at = \"2 s\"", "at = \"20 s\""),
    ("\"down\"", "\"sideways\""),
    ("paths = [\"dsl\", \"lte\"]", "paths = [\"dsl\", \"dsl\"]"),
    ("paths = [\"dsl\", \"lte\"]", "paths = [\"dsl\", \"adsl\"]"),
    ("paths = [\"dsl\", \"lte\"]", "paths = [\"dsl\", \"lte\"]\nscheduler = \"best\""),
    ("standard = \"802.11b\"", "standard = \"z\""),
    ("standard = \"802.11b\"", "standard = \"802.11b\"\nchannels = []"),
    ("position = [\"0 m\", \"0 m\"]", "power = \"10 dBm\""),
    ("[wifi.routes.air]\nfrom = \"a\"", "[wifi.routes.air]\nfrom = \"b\""),
    ("[connections.bulk]\nfrom = \"a\"", "[connections.bulk]\nfrom = \"b\""),
    ("[connections.bulk]\nfrom = \"a\"", "[connections.bulk]\nfrom = \"nobody\""),
    ("paths = [\"lan\"]", "paths = [\"lam\"]"),
    ("paths = [\"lan\"]", "paths = [\"dsl\"]"),
    ("protocol = \"udp\"", "protocol = \"icmp\""),
    ("packet_size = \"160 B\"", "packet_size = \"0 B\""),
    ("rate = \"64 kbit/s\"", "rate = \"0 bit/s\""),
];

#[test]
fn two_mistakes_bring_none_that_each_alone_does_not() {
    let told = |text: &str| -> Vec<String> {
        mistake(text, &[]).mistakes().iter().map(|mistake| mistake.message.clone()).collect()
    };
    if let Err(error) = ropewalk_scenario::load(WHOLE, None, &[]) {
        panic!("without a mistake it is right: {error}");
    }
    let alone: Vec<Vec<String>> = MISTAKES
        .iter()
        .map(|&(from, to)| {
            assert_eq!(WHOLE.matches(from).count(), 1, "{from}");
            told(&WHOLE.replace(from, to))
        })
        .collect();
    let (mut pairs, mut both) = (0, 0);
    for (first, &(from, to)) in MISTAKES.iter().enumerate() {
        for (second, &(other_from, other_to)) in MISTAKES.iter().enumerate().skip(first + 1) {
            if from == other_from || from.contains(other_from) || other_from.contains(from) {
                continue;
            }
            let found = told(&WHOLE.replace(from, to).replace(other_from, other_to));
            let invented: Vec<&String> = found
                .iter()
                .filter(|message| !alone[first].contains(message) && !alone[second].contains(message))
                .collect();
            assert!(invented.is_empty(), "{to} and {other_to}: {invented:?}");
            let tells = |mistakes: &[String]| mistakes.iter().any(|message| found.contains(message));
            pairs += 1;
            both += usize::from(tells(&alone[first]) && tells(&alone[second]));
        }
    }
    assert!(both * 3 >= pairs * 2, "{both} of {pairs} pairs are told together");
}
