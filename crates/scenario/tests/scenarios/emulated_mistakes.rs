//! What a scenario with Linux hosts cannot ask for: the message names the key, and what would do.

use crate::support::{mistake, scenario};
use ropewalk_scenario::plan::Stack;
use ropewalk_scenario::{RunError, RunOptions, Scenario, ScenarioError, Watch, load_as, run};
use std::path::Path;

/// A good scenario.
const GOOD: &str = r#"[scenario]
name = "good"
duration = "10 s"
[hosts.client]
stack = "linux"
[hosts.server]
stack = "linux"
[routers.r]
[links.a]
between = ["client", "server"]
rate = "10 Mbit/s"
[links.b]
between = ["client", "r"]
rate = "10 Mbit/s"
[links.c]
between = ["r", "server"]
rate = "10 Mbit/s"
[connections.bulk]
protocol = "mptcp"
from = "client"
to = "server"
"#;

/// The scenario on Linux, whatever it says.
fn on_linux(text: &str) -> Result<Scenario, ScenarioError> {
    load_as(text, Some(Path::new("test.toml")), &[], Some(Stack::Linux), Watch::default())
}

#[test]
fn a_good_scenario_is_taken_and_not_simulated() {
    let emulated = scenario(GOOD, &[]);
    assert!(emulated.plan().is_emulation());
    assert!(matches!(run(&emulated, &RunOptions::default()), Err(RunError::Emulated)));
    let simulated = [("hosts.client.stack", "ropewalk"), ("hosts.server.stack", "ropewalk")];
    let simulated = scenario(GOOD, &simulated);
    assert_ne!(emulated.hash(), simulated.hash(), "another world, another scenario");
}

#[test]
fn what_no_kernel_does_is_refused_at_its_key() {
    // Lines to add at the end, the key at fault, and what the message says and expects.
    let cases = [
        (
            "mptcp.scheduler = \"blest\"\n",
            "connections.bulk.mptcp.scheduler",
            "fixed in the kernel",
            "`linux`",
        ),
        (
            "mptcp.congestion_control = \"lia\"\n",
            "connections.bulk.mptcp.congestion_control",
            "couples no",
            "`cubic`",
        ),
        (
            "mptcp.path_manager = \"ndiffports\"\n",
            "connections.bulk.mptcp.path_manager",
            "endpoints",
            "`kernel`",
        ),
        (
            "mptcp.penalization = true\n",
            "connections.bulk.mptcp.penalization",
            "fixed in the kernel",
            "`false`",
        ),
        ("tcp.preset = \"classic\"\n", "connections.bulk.tcp.preset", "not `classic`", "`linux`"),
        ("mptcp.preset = \"classic\"\n", "connections.bulk.mptcp.preset", "not `classic`", "`linux`"),
        ("tcp.prr = false\n", "connections.bulk.tcp.prr", "fixed in the kernel", "`true`"),
        ("mptcp.hystart = \"off\"\n", "connections.bulk.mptcp.hystart", "fixed in the kernel", "`linux`"),
        ("tcp.window_scale = 3\n", "connections.bulk.tcp.window_scale", "fixed in the kernel", "`off`"),
        (
            "tcp.loss_recovery = \"newreno\"\n",
            "connections.bulk.tcp.loss_recovery",
            "by SACK",
            "sack = false",
        ),
        ("[tcp]\nspurious = \"none\"\n", "tcp.spurious", "fixed in the kernel", "`"),
    ];
    for (line, key, message, expected) in cases {
        let error = mistake(&format!("{GOOD}{line}"), &[]);
        assert_eq!(error.key, key, "{error}");
        assert!(error.message.contains(message), "{line}: {error}");
        assert!(error.expected.contains(expected), "{line}: {error}");
        if key != "hosts.client.stack" {
            // Whoever asks for Linux in any case gets it, and is told.
            let scenario = on_linux(&format!("{GOOD}{line}")).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(scenario.departures().first(), Some(&error), "{line}");
        }
    }
}

#[test]
fn every_host_runs_what_is_asked_for() {
    let simulated = GOOD.replace("stack = \"linux\"", "");
    let emulated = on_linux(&simulated).unwrap_or_else(|error| panic!("{error}"));
    assert!(emulated.plan().is_emulation() && emulated.departures().is_empty());
    assert_eq!(emulated.hash(), scenario(GOOD, &[]).hash());
    let back = load_as(GOOD, None, &[], Some(Stack::Ropewalk), Watch::default()).expect("it is good");
    assert!(!back.plan().is_emulation());
    assert_eq!(back.hash(), scenario(&simulated, &[]).hash());
}

#[test]
fn each_departure_is_told_once() {
    let two = GOOD.replace(
        "[connections.bulk]",
        "[tcp]\nprr = false\n[connections.other]\nfrom = \"client\"\nto = \"server\"\n[connections.bulk]",
    );
    let scenario =
        on_linux(&format!("{two}mptcp.scheduler = \"blest\"\n")).unwrap_or_else(|error| panic!("{error}"));
    let keys = scenario.departures().iter().map(|one| one.key.as_str()).collect::<Vec<_>>();
    assert_eq!(keys, ["tcp.prr", "connections.bulk.mptcp.scheduler"]);
}

#[test]
fn simulated_lateness_is_not_the_kernel_s() {
    let late = "jitter = { timers = \"1 ms\" }";
    let error = mistake(&GOOD.replace("[hosts.client]", &format!("[hosts.client]\n{late}")), &[]);
    assert_eq!(error.key, "hosts.client.jitter", "{error}");
    let error = mistake(&GOOD.replace("[routers.r]", &format!("[routers.r]\n{late}")), &[]);
    assert_eq!(error.key, "routers.r.jitter", "{error}");
}

#[test]
fn routers_that_strip_options_are_not_between_kernels_yet() {
    let error = mistake(&GOOD.replace("[routers.r]", "[routers.r]\nstrips = [\"mptcp\"]"), &[]);
    assert_eq!(error.key, "routers.r.strips", "{error}");
}

#[test]
fn a_radio_is_in_no_kernel() {
    let wifi = r#"[wifi]
standard = "802.11b"
data_rate = "11 Mbit/s"
propagation = { model = "disk", reception = "25 m" }
[wifi.stations]
client = { position = ["0 m", "0 m"] }
server = { position = ["9 m", "0 m"] }
[wifi.routes.air]
from = "client"
to = "server"
"#;
    let text = format!("{GOOD}{wifi}");
    let error = mistake(&text, &[]);
    assert_eq!(error.key, "hosts.client.stack", "{error}");
    assert!(error.message.contains("radio"), "{error}");
}

#[test]
fn what_a_kernel_can_be_told_is_taken() {
    for line in [
        "mptcp = { congestion_control = \"uncoupled\", checksum = true, path_manager = \"backup\" }",
        "tcp = { sack = false, timestamps = false, nagle = false, receive_buffer = \"64 kB\", window_scale = \"off\" }",
        "tcp = { hystart = \"linux\", loss_recovery = \"sack\", initial_window = 4, mss = 1000 }",
        "mptcp = { path_manager = \"kernel\", endpoints = [{ host = \"client\", link = \"b\", flags = [\"subflow\"] }] }",
    ] {
        scenario(&format!("{GOOD}{line}\n"), &[]);
    }
}

#[test]
fn programs_are_of_linux_hosts_alone() {
    let program = "[hosts.client.commands.peek]\ncommand = \"true\"\n";
    let linux = format!("{GOOD}{program}");
    let emulated = scenario(&linux, &[]);
    assert_ne!(emulated.hash(), scenario(GOOD, &[]).hash());
    let simulated = linux.replace("stack = \"linux\"", "");
    let error = mistake(&simulated, &[]);
    assert_eq!((error.key.as_str(), error.line), ("hosts.client.commands.peek", Some(22)), "{error}");
    assert!(error.message.contains("runs no programs"), "{error}");
    let all_the_same =
        load_as(&linux, None, &[], Some(Stack::Ropewalk), Watch::default()).expect("it can be compared");
    assert_eq!(all_the_same.departures().len(), 1);
    assert!(on_linux(&simulated).expect("it is good").departures().is_empty());
    let alone = &linux[..linux.find("[connections").expect("they follow")];
    assert!(scenario(&format!("{alone}{program}"), &[]).plan().connections.is_empty(), "programs are enough");
}

#[test]
fn a_program_has_something_to_do_and_time_for_it() {
    for (line, key) in [
        ("[hosts.client.commands.peek]\n", "hosts.client.commands.peek"),
        ("[hosts.client.commands.peek]\ncommand = \" \"\n", "hosts.client.commands.peek.command"),
        (
            "[hosts.client.commands.peek]\ncommand = \"true\"\nstart = \"10 s\"\n",
            "hosts.client.commands.peek.start",
        ),
    ] {
        let error = mistake(&format!("{GOOD}{line}"), &[]);
        assert!(error.key.starts_with(key), "{error}");
    }
}

#[test]
fn explain_says_what_becomes_of_each_key() {
    let scenario = scenario(GOOD, &[]);
    let text = scenario.explain();
    let of = |key: &str| {
        let line = text.lines().find(|line| line.split_whitespace().next() == Some(key));
        line.unwrap_or_else(|| panic!("no `{key}` in\n{text}")).rsplit("  ").next().unwrap_or_default()
    };
    for (key, words) in [
        ("connections.bulk.mptcp.checksum", "set in the kernel"),
        ("connections.bulk.mptcp.scheduler", "fixed by the kernel"),
        ("connections.bulk.mptcp.penalization", "fixed by the kernel"),
        ("connections.bulk.mptcp.least_mappings", "meaningless there"),
        ("connections.bulk.mptcp.receive_buffer", "set in the kernel"),
        ("connections.bulk.tcp.receive_buffer", "meaningless there"),
        ("connections.bulk.tcp.sack", "set in the kernel"),
        ("connections.bulk.tcp.delayed_ack.timeout", "fixed by the kernel"),
        ("links.a.rate", "simulated"),
    ] {
        assert_eq!(of(key), words, "{key}");
    }
    assert!(of("connections.bulk.protocol").starts_with("line "), "the kernel has no part in it");
    let back = load_as(GOOD, None, &[], Some(Stack::Ropewalk), Watch::default()).expect("it is good");
    assert!(!back.explain().contains("in the kernel"), "nothing of it in a simulation");
}

/// A bond between Linux hosts.
const BONDED: &str = r#"[scenario]
name = "bonded"
duration = "10 s"
[hosts.client]
stack = "linux"
[hosts.server]
stack = "linux"
[routers.site]
stack = "gateway"
[routers.hub]
stack = "gateway"
[links.lan]
between = ["client", "site"]
rate = "1 Gbit/s"
[links.core]
between = ["hub", "server"]
rate = "1 Gbit/s"
[links.dsl]
between = ["site", "hub"]
rate = "10 Mbit/s"
[links.lte]
between = ["site", "hub"]
rate = "10 Mbit/s"
[connections.call]
protocol = "udp"
from = "client"
to = "server"
application = { kind = "constant-rate", rate = "1 Mbit/s", packet_size = "1000 B" }
[bonds.tunnel]
between = ["site", "hub"]
paths = [{ link = "dsl", cost = 1 }, { link = "lte", cost = 2 }]
"#;

/// The same, simulated where the file says nothing.
fn bonded_without_stacks() -> String {
    BONDED.replace("stack = \"linux\"\n", "").replace("stack = \"gateway\"\n", "")
}

#[test]
fn the_gateways_of_linux_hosts_are_the_daemon() {
    let gateways = |scenario: &Scenario| {
        let nodes = scenario.plan().nodes.iter().filter(|node| node.is_gateway());
        nodes.map(|node| node.name.clone()).collect::<Vec<_>>()
    };
    let real = scenario(BONDED, &[]);
    assert!(real.plan().is_emulation());
    assert_eq!(gateways(&real), ["hub", "site"]);
    // Whoever asks for Linux at all hosts gets the daemon between them, and whoever asks for none gets none.
    let asked = on_linux(&bonded_without_stacks()).unwrap_or_else(|error| panic!("{error}"));
    assert!(asked.departures().is_empty(), "{:?}", asked.departures());
    assert_eq!((gateways(&asked), asked.hash()), (gateways(&real), real.hash()));
    let back = load_as(BONDED, None, &[], Some(Stack::Ropewalk), Watch::default()).expect("it is good");
    assert!(gateways(&back).is_empty());
    assert_eq!(back.hash(), scenario(&bonded_without_stacks(), &[]).hash());
    assert_ne!(back.hash(), real.hash(), "another world, another scenario");
}

#[test]
fn each_path_of_a_daemon_s_bond_can_run_alone() {
    let references = scenario(BONDED, &[]).references();
    assert_eq!(references.iter().map(|one| one.path.as_str()).collect::<Vec<_>>(), ["dsl", "lte"]);
    for reference in references {
        let alone = scenario(&reference.source, &[]);
        assert!(alone.plan().is_emulation(), "{}", reference.source);
    }
}

#[test]
fn half_a_daemon_is_refused() {
    // What is changed, the key at fault, and what the message says and expects.
    let cases = [
        (
            BONDED.replacen("stack = \"gateway\"\n", "", 1),
            "routers.site",
            "`site` of the bond `tunnel` is simulated",
            "stack = \"gateway\"",
        ),
        (
            BONDED.replacen("stack = \"linux\"\n", "", 1),
            "routers.hub.stack",
            "`client` is simulated",
            "stack = \"linux\" at all hosts",
        ),
        (BONDED.replace("stack = \"linux\"\n", ""), "routers.hub.stack", "is simulated", "`ropewalk` here"),
        (
            format!(
                "{BONDED}[routers.other]\nstack = \"gateway\"\n[links.more]\nbetween = [\"other\", \"server\"]\nrate = \"1 Mbit/s\"\n"
            ),
            "routers.other.stack",
            "no bond ends at `other`",
            "a bond between",
        ),
    ];
    for (text, key, message, expected) in cases {
        let error = mistake(&text, &[]);
        assert_eq!(error.key, key, "{error}");
        assert!(error.message.contains(message) && error.expected.contains(expected), "{error}");
    }
}

#[test]
fn what_the_daemon_does_not_do_is_refused_at_its_key() {
    let error = mistake(BONDED, &[("routers.hub.clock.offset", "1 s")]);
    assert_eq!(error.key, "routers.hub.clock", "{error}");
    // 1500 octets less 20 + 8 + 15 of a bond, 22 of the seal, and 28 of the datagram's own headers.
    scenario(BONDED, &[("connections.call.application.packet_size", "1407 B")]);
    let error = mistake(BONDED, &[("connections.call.application.packet_size", "1408 B")]);
    assert_eq!(error.key, "connections.call.application.packet_size", "{error}");
    assert!(error.expected.contains("1407 B"), "{error}");
}

/// 1280 octets inside, 15 of the bond, 22 of the seal, 8 of UDP, and 20 or 40 of IP.
#[test]
fn a_link_that_is_too_short_for_the_daemon_is_refused_at_its_key() {
    for (family, least) in [("ipv4", 1345), ("ipv6", 1365)] {
        let (good, short) = (least.to_string(), (least - 1).to_string());
        let with = |mtu| [("scenario.address_family", family), ("links.dsl.mtu", mtu)];
        scenario(BONDED, &with(&good));
        let error = mistake(BONDED, &with(&short));
        assert_eq!(error.key, "links.dsl.mtu", "{error}");
        assert!(error.message.contains(&format!("an MTU of {short} octets leaves 1279 inside")), "{error}");
        assert!(error.expected.contains(&format!("at least {least}")), "{error}");
        scenario(&bonded_without_stacks(), &with(&short));
    }
}

/// A link beside the bond may be as short as any.
#[test]
fn a_short_link_beside_the_daemon_s_bond_is_taken() {
    scenario(BONDED, &[("links.lan.mtu", "1300"), ("connections.call.application.packet_size", "500 B")]);
}

#[test]
fn what_the_daemon_can_be_told_is_taken() {
    for lines in [
        "scheduler = \"cost-first\"\nkeepalive = { interval = \"20 ms\", suspect_after = \"100 ms\", down_after = \"1 s\" }",
        "scheduler = \"redundant\"\nrun_up = \"1 s\"",
        "scheduler = \"flow-aware\"\nrepair = true\nclasses = [{ dscp = 46, treatment = \"low-delay\" }]",
        "scheduler = { kind = \"cost-first\", queue_target = \"20 ms\" }\nloss_timeout = \"20 ms\"\norder = \"global\"",
        "scheduler = { kind = \"weighted-round-robin\", gain = 0.7 }\nresequencer = { max_packets = 100 }",
        "keepalive = { answers_to_return = 5 }\nreport_interval = \"50 ms\"",
    ] {
        scenario(&format!("{BONDED}{lines}\n"), &[]);
    }
}

#[test]
fn explain_says_what_becomes_of_a_bond_s_keys() {
    let scenario =
        scenario(&format!("{BONDED}classes = [{{ dscp = 46, treatment = \"unordered\" }}]\n"), &[]);
    let text = scenario.explain();
    let of = |key: &str| {
        let line = text.lines().find(|line| line.split_whitespace().next() == Some(key));
        line.unwrap_or_else(|| panic!("no `{key}` in\n{text}")).rsplit("  ").next().unwrap_or_default()
    };
    for (key, words) in [
        ("bonds.tunnel.scheduler.kind", "set in the daemon"),
        ("bonds.tunnel.repair", "set in the daemon"),
        ("bonds.tunnel.paths[0].cost", "set in the daemon"),
        ("bonds.tunnel.keepalive.interval", "set in the daemon"),
        ("bonds.tunnel.classes[0].treatment", "set in the daemon"),
        ("bonds.tunnel.run_up", "in real time"),
        ("bonds.tunnel.keepalive.answers_to_return", "set in the daemon"),
        ("bonds.tunnel.resequencer.max_packets", "set in the daemon"),
        ("bonds.tunnel.loss_timeout", "set in the daemon"),
        ("links.dsl.rate", "simulated"),
    ] {
        assert_eq!(of(key), words, "{key}");
    }
}
