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
