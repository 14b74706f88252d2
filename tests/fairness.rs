//! RFC 6356's goals at a shared bottleneck: a coupled connection of two subflows takes what one TCP flow
//! takes; an uncoupled one takes twice that.

use ropewalk_testnet::text::{connection, link, scenario};
use ropewalk_tests::{goodput, jain, mean, simulate};

/// Both of the connection's paths, and the TCP flow's, cross the link between the routers.
///
/// ```text
///   client ══ a, b ══ r1 ── 10 Mbit/s ── r2 ══ c, d ══ server
/// ```
fn shared() -> String {
    let fast = "rate = \"100 Mbit/s\"\ndelay = \"1 ms\"";
    let bottleneck = "rate = \"10 Mbit/s\"
        delay = \"20 ms\"
        queue.discipline = \"red\"
        queue.limit = \"100 packets\"
        queue.min_threshold = 10
        queue.max_threshold = 50
        queue.max_probability = \"5 %\"";
    let bulk = "application = { kind = \"bulk\" }";
    let presets =
        "[tcp]\npreset = \"linux\"\ncongestion_control = \"newreno\"\n[mptcp]\nscheduler = \"lowest-rtt\"\n";
    let rest = [
        format!("{presets}[routers.r1]\n[routers.r2]\n"),
        link("a", ["client", "r1"], fast),
        link("b", ["client", "r1"], fast),
        link("c", ["r2", "server"], fast),
        link("d", ["r2", "server"], fast),
        link("e", ["rival", "r1"], fast),
        link("f", ["r2", "sink"], fast),
        link("bottleneck", ["r1", "r2"], bottleneck),
        connection(
            "multipath",
            ["client", "server"],
            &format!("protocol = \"mptcp\"\npaths = [\"a\", \"b\"]\n{bulk}"),
        ),
        connection("single", ["rival", "sink"], &format!("protocol = \"tcp\"\n{bulk}")),
    ];
    scenario(120, &["client", "server", "rival", "sink"], &rest)
}

const SEEDS: u64 = 20;

fn shares(control: &str) -> Vec<[f64; 2]> {
    let source = shared();
    (1..=SEEDS)
        .map(|seed| {
            let outcome = simulate(&source, &[("mptcp.congestion_control", control)], seed);
            [goodput(&outcome, "multipath"), goodput(&outcome, "single")]
        })
        .collect()
}

#[test]
fn coupled_connections_take_the_share_of_one_flow() {
    for control in ["lia", "olia", "balia"] {
        let shares = shares(control);
        let multipath = mean(&shares.iter().map(|share| share[0]).collect::<Vec<_>>());
        let single = mean(&shares.iter().map(|share| share[1]).collect::<Vec<_>>());
        println!(
            "{control}: multipath {multipath:.2}, TCP {single:.2}, Jain {:.4}",
            jain(&[multipath, single])
        );
        assert!(jain(&[multipath, single]) >= 0.95, "{control}: {multipath:.2} and {single:.2} Mbit/s");
    }
}

#[test]
fn an_uncoupled_connection_takes_two_shares() {
    let ratios: Vec<f64> = shares("uncoupled").iter().map(|share| share[0] / share[1]).collect();
    let ratio = mean(&ratios);
    println!("uncoupled: {ratio:.2} times the TCP flow's share");
    assert!((1.6..=2.4).contains(&ratio), "{ratio:.2} times the TCP flow's share");
}
