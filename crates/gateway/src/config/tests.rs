//! Files that are right, and mistakes told with their places.

use super::*;
use ropewalk_bonding::{
    DecrementPace, LossUnit, Order, ResequencerConfig, SchedulerConfig, Turns, WeightArithmetic, WrrConfig,
};
use tempfile::TempDir;

const SITE: &str = r#"
[gateway]
role = "site"
key = "site.key"
tun = "bond0"
addresses = ["10.9.0.2/24"]
routes = ["10.0.0.0/8"]

[hub]
key = "KEY"
psk = "site.key"
address = "203.0.113.5:4500"

[bond]
scheduler = "cost-first"
keepalive = { interval = "50 ms" }

[[paths]]
name = "dsl"
interface = "eth0"
cost = 1

[[paths]]
name = "lte"
address = "192.0.2.7"
cost = 2
mtu = 1492
"#;

fn folder() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    SecretKey([5; 32]).write(&folder.path().join("site.key")).expect("a new file");
    folder
}

fn parse(text: &str) -> Result<Config, Mistake> {
    let folder = folder();
    let text = text.replace("KEY", &SecretKey([6; 32]).public().to_string());
    Config::parse(&folder.path().join("site.toml"), &text, [0, 0], &two_addresses)
}

/// The addresses of every name. Only names that begin with `nobody` have none.
fn two_addresses(name: &str) -> std::io::Result<Vec<SocketAddr>> {
    if name.starts_with("nobody") {
        return Err(std::io::Error::other("nobody answers"));
    }
    Ok(["[2001:db8::5]:4500", "203.0.113.5:4500"].map(|text| text.parse().expect("an address")).to_vec())
}

fn mistake(text: &str) -> String {
    let mistake = parse(text).err().expect("a mistake");
    mistake.to_string().rsplit('/').next().expect("a name").to_owned()
}

#[test]
fn a_site_is_read() {
    let config = parse(SITE).unwrap_or_else(|mistake| panic!("{mistake}"));
    // 1492 − 20 − 8 − 22 − 15
    assert_eq!((config.tun.name.as_str(), config.tun.mtu), ("bond0", 1427));
    let Part::Site { config, lines } = config.part else { panic!("it is a site") };
    assert_eq!(
        (lines[0].interface.as_deref(), lines[1].local.to_string()),
        (Some("eth0"), "192.0.2.7:0".into())
    );
    assert_eq!(config.bond.paths[1], PathConfig::new("lte", Some(2)));
    assert_eq!(config.bond.overhead, 65);
}

#[test]
fn each_path_leads_to_the_address_of_a_name_that_it_can_reach() {
    let config = parse(&SITE.replace("203.0.113.5:4500", "hub.example.org:4500"));
    let config = config.unwrap_or_else(|mistake| panic!("{mistake}"));
    assert_eq!(config.names.keys().collect::<Vec<_>>(), ["hub.example.org:4500"]);
    let Part::Site { lines, .. } = config.part else { panic!("it is a site") };
    let remotes = lines.iter().map(|line| line.remote.to_string()).collect::<Vec<_>>();
    // The second path has an IPv4 address of its own.
    assert_eq!(remotes, ["[2001:db8::5]:4500", "203.0.113.5:4500"]);
}

#[test]
fn mistakes_tell_line_column_key_and_what_is_expected() {
    let cases = [
        (
            SITE.replace("\"50 ms\"", "\"50\""),
            "site.toml:16:26: bond.keepalive: expected a time with its unit, as \"50 ms\"",
        ),
        (
            SITE.replace("role = \"site\"", "role = \"sight\""),
            "site.toml:3:8: gateway.role: expected something else: unknown variant `sight`",
        ),
        (
            SITE.replace("tun = \"bond0\"", "tun = \"\""),
            "site.toml:5:7: gateway.tun: expected a name of an interface",
        ),
        (
            SITE.replace("\nkey = \"KEY\"", "\nkey = \"short\""),
            "site.toml:10:7: hub.key: expected a public key",
        ),
        (SITE.replace("psk = \"site.key\"", "psk = \"none.key\""), "none.key: No such file"),
        (
            SITE.replace("mtu = 1492", "mtuu = 1492"),
            "site.toml:27:1: paths.mtuu: expected something else: unknown field `mtuu`",
        ),
        (
            SITE.replace("cost = 2", "cost = 1"),
            "site.toml:26:8: paths.cost: expected a rank that no other path has",
        ),
        (
            SITE.replace("\"lte\"", &format!("\"{}\"", "ä".repeat(17))),
            "site.toml:24:8: paths.name: expected a name of 1 to 32 octets without control characters",
        ),
        (
            SITE.replace("\"lte\"", "\"l\\u0007te\""),
            "site.toml:24:8: paths.name: expected a name of 1 to 32 octets without control characters",
        ),
        (
            SITE.replace("mtu = 1492", "mtu = 1344"),
            "site.toml:23:1: paths: expected `mtu` that leaves 1280 octets, not 1279",
        ),
        (
            SITE.replace("mtu = 1492", "mtu = 0"),
            "site.toml:23:1: paths: expected `mtu` that leaves 1280 octets, not 0",
        ),
        (
            SITE.replace("address = \"203.0.113.5:4500\"\n", ""),
            "site.toml:17:1: paths: expected `remote` here",
        ),
        (
            SITE.replace("203.0.113.5:4500", "203.0.113.5"),
            "site.toml:12:11: hub.address: expected an address or a name, and a port",
        ),
        (
            SITE.replace("203.0.113.5:4500", "nobody.example.org:4500"),
            "site.toml:12:11: hub.address: expected a name that can be looked up: nobody answers",
        ),
        (format!("{SITE}[offload]\nqueues = 0\n"), "site.toml:29:10: offload.queues: expected 1 to 16"),
        (format!("{SITE}[offload]\nqueues = 17\n"), "site.toml:29:10: offload.queues: expected 1 to 16"),
    ];
    for (text, expected) in cases {
        let got = mistake(&text);
        assert!(got.contains(expected), "{got}\nand not\n{expected}");
    }
}

#[test]
fn the_longest_name_and_the_least_mtu_are_taken() {
    let text = SITE.replace("\"lte\"", &format!("\"{}\"", "ä".repeat(16)));
    let config =
        parse(&text.replace("mtu = 1492", "mtu = 1345")).unwrap_or_else(|mistake| panic!("{mistake}"));
    assert_eq!(config.tun.mtu, 1280);
}

#[test]
fn a_hub_needs_sites_and_an_address() {
    let hub = "[gateway]\nrole = \"hub\"\nkey = \"site.key\"\ntun = \"bond0\"\n";
    assert!(mistake(hub).contains("gateway.listen: expected addresses"));
    let hub = format!("{hub}listen = [\"0.0.0.0:4500\"]\n");
    assert!(mistake(&hub).contains("sites: expected one table"));
    let site = "[[sites]]\nname = \"a\"\nkey = \"KEY\"\npsk = \"site.key\"\nprefixes = [\"10.9.0.2/32\"]\n";
    assert!(parse(&format!("{hub}{site}")).is_ok());
    assert!(mistake(&format!("{hub}{site}{site}")).contains("no other site has"));
    let key = SecretKey([7; 32]).public().to_string();
    let other = |prefix: &str| {
        let other = site.replace("\"a\"", "\"b\"").replace("KEY", &key).replace("10.9.0.2/32", prefix);
        format!("{hub}{site}{other}")
    };
    assert!(parse(&other("10.9.0.3/32")).is_ok());
    assert!(parse(&other("10.9.0.0/24")).is_ok(), "the longest decides");
    // What stands before a slash is left out of mistakes here.
    assert!(mistake(&other("10.9.0.2/32")).contains("32 is there twice"));
    assert!(mistake(&format!("{hub}{}", site.repeat(4097))).contains("at most 4096"));
}

/// Keys of a bond, as a scenario has them.
const WEIGHTED: &str = r#"[bond]
scheduler = { kind = "weighted-round-robin", gain = 0.7, decrement_delay = "1 s", decrement_pace = "each-delay", loss_unit = "bytes", arithmetic = "fractional", turns = "consecutive" }
order = "global"
report_interval = "30 ms"
loss_timeout = "40 ms"
classes = [{ dscp = 46, class = "low-delay" }]
resequencer = { timeout = "90 ms", min_timeout = "1 ms", max_timeout = "200 ms", max_packets = 64, flow_buckets = 16, path_reordering = 2 }
keepalive = { answers_to_return = 5 }
"#;

fn weighted() -> String {
    let (before, after) = SITE.split_once("[bond]").expect("it is there");
    let (_, paths) = after.split_once("[[paths]]").expect("it is there");
    format!("{before}{WEIGHTED}\n[[paths]]{paths}")
        .replace("cost = 1\n", "cost = 1\nweight = 30\n")
        .replace("cost = 2\n", "cost = 2\nweight = 3\nmax_weight = 20\nquota = \"5 GB\"\nquota_period = \"24 h\"\nquota_spent = \"1 MB\"\n")
}

#[test]
fn a_bond_takes_every_key_of_a_simulated_one() {
    let config = parse(&weighted()).unwrap_or_else(|mistake| panic!("{mistake}"));
    let Part::Site { config, .. } = config.part else { panic!("it is a site") };
    let ms = ropewalk_units::Duration::from_millis;
    let scheduler = WrrConfig {
        gain: 0.7,
        decrement_delay: ms(1000),
        decrement_pace: DecrementPace::EachDelay,
        loss_unit: LossUnit::Bytes,
        arithmetic: WeightArithmetic::Fractional,
        turns: Turns::Consecutive,
    };
    let resequencer = ResequencerConfig {
        timeout: Some(ms(90)),
        min_timeout: ms(1),
        max_timeout: ms(200),
        max_packets: 64,
        flow_buckets: 16,
        path_reordering: 2,
    };
    let lte = PathConfig {
        weight: Some(3),
        max_weight: Some(20),
        quota: Some(5_000_000_000),
        quota_period: Some(ms(24 * 3_600_000)),
        quota_spent: Some(1_000_000),
        ..PathConfig::new("lte", Some(2))
    };
    let bond = &config.bond;
    assert_eq!(bond.scheduler, SchedulerConfig::WeightedRoundRobin(scheduler));
    assert_eq!((bond.order, bond.resequencer), (Order::Global, resequencer));
    assert_eq!((bond.report_interval, bond.loss_timeout), (ms(30), ms(40)));
    assert_eq!(bond.keepalive.answers_to_return, 5);
    assert_eq!((bond.paths[0].weight, &bond.paths[1]), (Some(30), &lte));
    assert_eq!(config.inside.classes[46], Class::LowDelay);
}

#[test]
fn mistakes_in_the_keys_of_a_bond_are_told_at_the_key() {
    let cases = [
        (weighted().replace("weight = 30", "weight = 0"), "paths.weight: expected w_fixed of at least 1"),
        (weighted().replace("quota = \"5 GB\"", "quota = \"5 kB\""), "paths.quota: expected 1 MB or more"),
        (
            weighted().replace("quota = \"5 GB\"", "quota = 5"),
            "paths.quota: expected something else: invalid type",
        ),
        (weighted().replace("quota = \"5 GB\"\n", ""), "paths.quota_period: expected none: without `quota`"),
        (weighted().replace("max_packets = 64", "max_packets = 1"), "bond.resequencer: expected 16 to 65536"),
        (
            weighted().replace("report_interval = \"30 ms\"", "report_interval = \"30 s\""),
            "bond.report_interval: expected 1 ms to 1 s",
        ),
        (weighted().replace("gain = 0.7", "gain = 0.0"), "bond.scheduler: expected above 0"),
        (
            weighted().replace("gain = 0.7", "queue_target = \"5 ms\""),
            "expected no `queue_target`: another kind of scheduler has it",
        ),
        (weighted().replace("weighted-round-robin", "round"), "unknown variant `round`"),
        (
            weighted().replace("order = \"global\"", "order = \"none\""),
            "bond.order: expected something else: unknown variant `none`",
        ),
    ];
    for (text, expected) in cases {
        let got = mistake(&text);
        assert!(got.starts_with("site.toml:") && got.contains(expected), "{got}\nand not\n{expected}");
    }
}

#[test]
fn a_hub_has_keys_of_its_own_for_the_paths_of_a_site() {
    let hub = |path: &str| {
        format!(
            "[gateway]\nrole = \"hub\"\nkey = \"site.key\"\ntun = \"bond0\"\nlisten = [\"0.0.0.0:4500\"]\n[bond]\n\
             scheduler = \"weighted-round-robin\"\n[[sites]]\nname = \"a\"\nkey = \"KEY\"\npsk = \"site.key\"\n\
             prefixes = [\"10.9.0.2/32\"]\n{path}"
        )
    };
    let text = hub("[[sites.paths]]\nname = \"lte\"\nweight = 7\nquota = \"1 GB\"\n");
    let config = parse(&text).unwrap_or_else(|mistake| panic!("{mistake}"));
    let Part::Hub { config, .. } = config.part else { panic!("it is a hub") };
    let lte = &config.sites[0].paths[0];
    assert_eq!((lte.name.as_str(), lte.weight, lte.quota), ("lte", Some(7), Some(1_000_000_000)));
    for (path, expected) in [
        ("weight = 70\nmax_weight = 60\n", "weight: expected at most max_weight"),
        ("cost = 1\n", "cost: expected no `cost`"),
        ("quota = \"1 kB\"\n", "quota: expected 1 MB or more"),
    ] {
        let got = mistake(&hub(&format!("[[sites.paths]]\nname = \"lte\"\n{path}")));
        assert!(got.starts_with("site.toml:1") && got.contains(expected), "{got}\nand not\n{expected}");
    }
    let long = mistake(&hub(&format!("[[sites.paths]]\nname = \"{}\"\n", "x".repeat(33))));
    assert!(long.starts_with("site.toml:14:8: sites.paths.name: expected a name of 1 to 32"), "{long}");
}
