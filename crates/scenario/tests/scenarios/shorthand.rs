//! Shorthand: templates, counts and groups mean the same as what they stand for.

use crate::support::{mistake, outcome, scenario};

const HEAD: &str = "[scenario]\nname = \"short\"\nduration = \"200 ms\"\n";

/// 32 senders and one receiver.
const INCAST: &str = r#"
[scenario]
name = "incast"
duration = "2 s"
[topology]
kind = "star"
hosts = 33
link = { rate = "1 Gbit/s", delay = "10 us", backward.queue = "100 packets" }
[connections.answer]
from = "h"
to = "h-1"
application = { kind = "bulk", bytes = "64 kB" }
"#;

#[test]
fn an_incast_of_32_takes_ten_lines() {
    let text = INCAST.replace(", backward.queue = \"100 packets\"", "");
    assert!(text.trim().lines().filter(|line| !line.starts_with('[')).count() <= 10);
    let outcome = outcome(&text, &[]);
    assert_eq!(outcome.connections.len(), 32);
    assert!(outcome.connections.iter().all(|row| row.completed), "all answers arrive");
}

#[test]
fn a_wrong_key_of_a_template_is_said_where_it_stands() {
    let error = mistake(INCAST, &[]);
    assert_eq!((error.line, error.key.as_str()), (Some(8), "topology.link.backward"), "{error}");
}

#[test]
fn counted_hosts_mean_the_same_as_written_ones() {
    let links = "rate = \"1 Gbit/s\"\ndelay = \"1 ms\"";
    let counted = format!(
        "{HEAD}[hosts.w]\ncount = 3\n[hosts.c]\n[routers.s]\n[links.w]\nbetween = [\"w\", \"s\"]\n{links}\n\
         [links.c]\nbetween = [\"c\", \"s\"]\n{links}\n[connections.a]\nfrom = \"w\"\nto = \"c\"\npaths = [\"w\"]\n"
    );
    let mut written = format!("{HEAD}[hosts.c]\n[routers.s]\n[links.c]\nbetween = [\"c\", \"s\"]\n{links}\n");
    for index in 1..=3 {
        written += &format!(
            "[hosts.w-{index}]\n[links.w-{index}]\nbetween = [\"w-{index}\", \"s\"]\n{links}\n\
             [connections.a-{index}]\nfrom = \"w-{index}\"\nto = \"c\"\npaths = [\"w-{index}\"]\n"
        );
    }
    assert_eq!(scenario(&counted, &[]).canonical_json(), scenario(&written, &[]).canonical_json());
}

#[test]
fn a_member_has_its_own_keys() {
    let text = INCAST.replace(", backward.queue = \"100 packets\"", "");
    let slow = scenario(&text, &[("links.h-3.rate", "1 Mbit/s")]);
    let explained = slow.explain();
    assert!(explained.contains("links.h-3.rate") && explained.contains("1 Mbit/s"), "{explained}");
    assert_ne!(slow.hash(), scenario(&text, &[]).hash());
}

#[test]
fn every_template_runs() {
    for (topology, from, to, connections) in [
        (
            "kind = \"dumbbell\"\npairs = 3\nbottleneck = { rate = \"20 Mbit/s\", delay = \"5 ms\" }",
            "left",
            "right",
            3,
        ),
        ("kind = \"parking-lot\"\nhops = 3\nbottleneck = { rate = \"20 Mbit/s\" }", "enter", "leave", 3),
        ("kind = \"parking-lot\"\nhops = 3\nbottleneck = { rate = \"20 Mbit/s\" }", "source", "sink", 1),
        ("kind = \"leaf-spine\"\nleaves = 3\nspines = 2\nhosts = 2", "h", "h", 6),
        ("kind = \"fat-tree\"\nk = 4", "h", "h", 16),
    ] {
        let text = format!(
            "{HEAD}[topology]\n{topology}\nlink = {{ rate = \"100 Mbit/s\", delay = \"10 us\" }}\n\
             [connections.c]\nfrom = \"{from}\"\nto = \"{to}\"\n"
        );
        let outcome = outcome(&text, &[]);
        assert_eq!(outcome.connections.len(), connections, "{topology}");
        assert!(outcome.connections.iter().all(|row| row.bytes > 100_000), "{topology}");
    }
}

/// The links of one kind that carried data. ACKs are a fiftieth of the octets, and may take another way.
fn used(outcome: &ropewalk_scenario::Outcome, stem: &str) -> usize {
    let is_used = |row: &&ropewalk_scenario::LinkRow| row.name.contains(stem) && row.bytes > 100_000;
    let names = outcome.links.iter().filter(is_used).map(|row| &row.name);
    names.collect::<std::collections::BTreeSet<_>>().len()
}

#[test]
fn equal_ways_are_shared_by_flows() {
    let fabric = |count: u32| {
        format!(
            "{HEAD}[topology]\nkind = \"leaf-spine\"\nleaves = 2\nspines = 4\nhosts = 1\n\
             link = {{ rate = \"100 Mbit/s\", delay = \"10 us\" }}\n\
             [connections.c]\nfrom = \"h-1\"\nto = \"h-2\"\ncount = {count}\n"
        )
    };
    let ways = |count: u32, overrides: &[(&str, &str)]| used(&outcome(&fabric(count), overrides), "spine");
    assert_eq!(ways(1, &[]), 2, "one flow stays on one way: two links up and down");
    assert!(ways(32, &[]) >= 8, "32 flows find all four ways");
    let off = [("routers.leaf-1.ecmp", "false"), ("routers.leaf-2.ecmp", "false")];
    assert_eq!(ways(32, &off), 2, "without ECMP all take the first");
}

#[test]
fn what_cannot_be_paired_is_refused() {
    let text = |keys: &str| {
        format!(
            "{HEAD}[hosts.a]\ncount = 2\n[hosts.b]\ncount = 3\n[routers.r]\n[links.a]\nbetween = [\"a\", \"r\"]\n\
             rate = \"1 Mbit/s\"\n[links.b]\nbetween = [\"b\", \"r\"]\nrate = \"1 Mbit/s\"\n{keys}"
        )
    };
    for (keys, key) in [
        ("[connections.c]\nfrom = \"a\"\nto = \"b\"\n", "connections.c.to"),
        ("[connections.c]\nfrom = \"a\"\nto = \"a\"\nstride = 2\n", "connections.c.stride"),
        ("[connections.c]\nfrom = \"a-1\"\nto = \"b-1\"\nstride = 1\n", "connections.c.stride"),
        ("[links.x]\nbetween = [\"a\", \"b\"]\nrate = \"1 Mbit/s\"\n", "links.x.between"),
        ("[links.x]\nbetween = [\"a\", \"r\"]\ncount = 3\nrate = \"1 Mbit/s\"\n", "links.x.between"),
        ("[hosts.x]\ncount = 0\n", "hosts.x.count"),
        ("[hosts.x]\ncount = 5000\n", "hosts.x.count"),
        ("[hosts.x]\ncount = \"3\"\n", "hosts.x.count"),
        ("[topology]\nkind = \"fat-tree\"\nk = 3\nlink = { rate = \"1 Mbit/s\" }\n", "topology.k"),
        ("[topology]\nkind = \"star\"\nhosts = 0\nlink = { rate = \"1 Mbit/s\" }\n", "topology.hosts"),
        ("[topology]\nkind = \"ring\"\n", "topology.kind"),
    ] {
        let error = mistake(&text(keys), &[]);
        assert_eq!(error.key, key, "{error}");
    }
}
