//! RFC 6356's goals at a shared bottleneck: a coupled connection of two subflows takes what one TCP flow
//! takes; an uncoupled one takes twice that.

use ropewalk_tests::{goodput, jain, mean, simulate};

/// Both of the connection's paths, and the TCP flow's, cross the link between the routers.
///
/// ```text
///   client ══ a, b ══ r1 ── 10 Mbit/s ── r2 ══ c, d ══ server
/// ```
const SHARED: &str = r#"
[scenario]
name = "fairness"
duration = "120 s"

[tcp]
preset = "linux"
congestion_control = "newreno"

[mptcp]
scheduler = "lowest-rtt"

[hosts.client]
[hosts.server]
[hosts.rival]
[hosts.sink]
[routers.r1]
[routers.r2]

[links.a]
between = ["client", "r1"]
rate = "100 Mbit/s"
delay = "1 ms"

[links.b]
between = ["client", "r1"]
rate = "100 Mbit/s"
delay = "1 ms"

[links.c]
between = ["r2", "server"]
rate = "100 Mbit/s"
delay = "1 ms"

[links.d]
between = ["r2", "server"]
rate = "100 Mbit/s"
delay = "1 ms"

[links.e]
between = ["rival", "r1"]
rate = "100 Mbit/s"
delay = "1 ms"

[links.f]
between = ["r2", "sink"]
rate = "100 Mbit/s"
delay = "1 ms"

[links.bottleneck]
between = ["r1", "r2"]
rate = "10 Mbit/s"
delay = "20 ms"
queue = { discipline = "red", limit = "100 packets", min_threshold = 10, max_threshold = 50, max_probability = "5 %" }

[connections.multipath]
protocol = "mptcp"
from = "client"
to = "server"
paths = ["a", "b"]
application = { kind = "bulk" }

[connections.single]
protocol = "tcp"
from = "rival"
to = "sink"
application = { kind = "bulk" }
"#;

const SEEDS: u64 = 20;

fn shares(control: &str) -> Vec<[f64; 2]> {
    (1..=SEEDS)
        .map(|seed| {
            let outcome = simulate(SHARED, &[("mptcp.congestion_control", control)], seed);
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
