//! TCP over chains of 802.11b stations against modern ns-3 (3.48), same settings: long preamble, 11 Mbit/s for data and
//! ACKs, at most four transmissions, segments of 1400 octets and timestamps, buffers of 128 kB, delayed ACKs (2, 200 ms), RTO at least 1 s,
//! NewReno that grows by ACKs as ns-3's does, 20 MB.

use ropewalk_scenario::{Outcome, RadioStats, RunOptions, load, run};
use ropewalk_tests::{goodput, mean, root, simulate};
use std::fmt::Write;

const SETTINGS: &str = r#"
[scenario]
name = "wireless"
duration = "300 s"

[tcp]
preset = "linux"
congestion_control = "newreno"
byte_counting = false
mss = 1412
receive_buffer = "128 kB"
send_buffer = "128 kB"
rto_min = "1 s"
delayed_ack = { segments = 2, timeout = "200 ms", quick_acks = 0, after_reading = false }

[hosts.s]
[hosts.d]

[connections.bulk]
protocol = "tcp"
from = "s"
to = "d"
application = { kind = "bulk", bytes = "20 MB" }

[wifi]
standard = "802.11b"
preamble = "long"
data_rate = "11 Mbit/s"
short_retry_limit = 4
queue = "500 packets"
propagation_delay = true
"#;

/// A chain of so many hops; stations stand so many metres apart and are heard so far.
fn chain(hops: u32, spacing: f64, range: f64) -> String {
    let mut text = SETTINGS.to_owned();
    let name = |station: u32| match station {
        0 => "s".to_owned(),
        _ if station == hops => "d".to_owned(),
        _ => format!("r{station}"),
    };
    let _ =
        writeln!(text, "propagation = {{ model = \"disk\", reception = \"{range} m\" }}\n[wifi.stations]");
    for station in 0..=hops {
        let (name, at) = (name(station), f64::from(station) * spacing);
        let _ = writeln!(text, "{name} = {{ position = [\"{at} m\", \"0 m\"] }}");
    }
    let via: Vec<String> = (1..hops).map(|station| format!("{:?}", name(station))).collect();
    let _ = writeln!(text, "[wifi.routes.chain]\nfrom = \"s\"\nto = \"d\"\nvia = [{}]", via.join(", "));
    text
}

/// Mean goodput over some seeds, in Mbit/s.
fn over_seeds(source: &str, overrides: &[(&str, &str)], seeds: u64) -> f64 {
    let one = |seed| goodput(&simulate(source, overrides, seed), "bulk");
    mean(&(1..=seeds).map(one).collect::<Vec<f64>>())
}

/// A frame that is queued as a reception ends goes without a backoff in ns-3. The standard wants one, and so do we by default.
const ACCESS_OF_NS3: (&str, &str) = ("wifi.access_after_reception", "immediate");

#[test]
fn chains_within_carrier_sense_carry_what_they_do_in_ns3_by_its_rule_of_access() {
    for (hops, theirs) in [(1, 5.217), (2, 2.665), (4, 1.340)] {
        let standard = over_seeds(&chain(hops, 5.0, 250.0), &[], 3);
        let ours = over_seeds(&chain(hops, 5.0, 250.0), &[ACCESS_OF_NS3], 3);
        println!("{hops} hops: ours {ours:.3} ({standard:.3} by the standard), ns-3 {theirs:.3} Mbit/s");
        assert!(standard < ours, "{hops} hops: a backoff more costs time");
        assert!((ours / theirs - 1.0).abs() < 0.01, "{hops} hops: {ours:.3}, ns-3 {theirs:.3}");
    }
}

#[test]
fn hidden_stations_cost_what_they_do_in_ns3() {
    let ours = over_seeds(&chain(2, 15.0, 20.0), &[], 5);
    println!("hidden stations: ours {ours:.3}, ns-3 1.99 +- 0.09 Mbit/s");
    assert!((ours / 1.99 - 1.0).abs() < 0.10, "{ours:.3}");
    let sensed = over_seeds(&chain(2, 15.0, 20.0), &[("wifi.propagation.carrier_sense", "40 m")], 3);
    println!("sensed twice as far: {sensed:.3} Mbit/s");
    assert!(sensed > 1.2 * ours, "{sensed:.3} with carrier sense over two hops, {ours:.3} without");
}

/// Li, Blake, De Couto, Lee, Morris, MobiCom 2001: a chain's throughput falls with its length, and levels off where
/// stations at its ends send at once.
#[test]
fn longer_chains_carry_less() {
    let ours: Vec<f64> = (1..=6).map(|hops| over_seeds(&chain(hops, 15.0, 20.0), &[], 2)).collect();
    println!("1 to 6 hops of 15 m, range 20 m: {ours:.3?} Mbit/s");
    for pair in ours.windows(2) {
        assert!(pair[1] < 1.03 * pair[0], "{ours:?}");
    }
    assert!(ours[5] < 0.35 * ours[0] && ours[5] > 0.04 * ours[0], "{ours:?}");
}

fn scenario(name: &str, overrides: &[(&str, &str)], seed: u64) -> Outcome {
    let path = root().join("scenarios").join(name);
    let text = std::fs::read_to_string(&path).expect("a scenario of the repository");
    let overrides: Vec<(String, String)> =
        overrides.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    let scenario = load(&text, Some(&path), &overrides).unwrap_or_else(|error| panic!("{error}"));
    run(&scenario, &RunOptions { seed: Some(seed), ..RunOptions::default() }).expect("the run ends")
}

/// Every packet that entered a link was delivered, lost for a reason, or is still there.
fn assert_conserved(outcome: &Outcome) {
    for row in &outcome.links {
        let gone = row.delivered + row.drops_queue + row.drops_loss + row.queued;
        assert_eq!(row.offered + row.duplicates, gone, "{row:?}");
    }
}

#[test]
fn a_second_channel_is_worth_twice_the_air() {
    let single = scenario(
        "diamond.toml",
        &[("connections.bulk.protocol", "tcp"), ("connections.bulk.paths", "[\"a\"]")],
        1,
    );
    let shared = scenario("diamond.toml", &[], 1);
    let apart = scenario("diamond.toml", &[("wifi.routes.b.channel", "6")], 1);
    let rate = |outcome: &Outcome| goodput(outcome, "bulk");
    println!(
        "one path {:.3}, both on one channel {:.3}, on two {:.3}",
        rate(&single),
        rate(&shared),
        rate(&apart)
    );
    // On one channel the second path finds no air of its own.
    assert!((0.85..1.10).contains(&(rate(&shared) / rate(&single))));
    assert!((1.7..2.05).contains(&(rate(&apart) / rate(&single))));
    for outcome in [&single, &shared, &apart] {
        assert!(outcome.connections[0].completed);
        assert_conserved(outcome);
    }
    // What was never sent on the other channel never collided there.
    let idle = shared.radios.iter().filter(|row| row.channel == 6);
    assert!(
        idle.clone().count() == 4
            && idle.clone().all(|row| row.stats.data_sent == 0 && row.stats.busy.is_zero())
    );
}

#[test]
fn frame_errors_are_retried_and_in_the_end_lost() {
    let lossy = |loss: &str| {
        let both =
            [("wifi.errors.0.loss", loss), ("wifi.errors.1.loss", loss), ("wifi.routes.b.channel", "6")];
        scenario("diamond.toml", &both, 1)
    };
    let (clean, retried, lost) = (lossy("0 %"), lossy("20 %"), lossy("60 %"));
    let rate = |outcome: &Outcome| goodput(outcome, "bulk");
    println!("0, 20, 60 %: {:.3}, {:.3}, {:.3} Mbit/s", rate(&clean), rate(&retried), rate(&lost));
    assert!(rate(&clean) > rate(&retried) && rate(&retried) > rate(&lost));
    let drops = |outcome: &Outcome| outcome.links.iter().map(|row| row.drops_loss).sum::<u64>();
    let errors = |outcome: &Outcome| outcome.radios.iter().map(|row| row.stats.frame_errors).sum::<u64>();
    assert_eq!(errors(&clean), 0);
    let failed = |outcome: &Outcome| {
        let offered: u64 =
            outcome.links.iter().filter(|row| row.direction == "s->d").map(|row| row.offered).sum();
        drops(outcome) as f64 / offered as f64
    };
    // Without errors four collisions in a row are what is left.
    assert!(failed(&clean) < 0.0004, "{}", failed(&clean));
    for (outcome, loss) in [(&retried, 0.2), (&lost, 0.6)] {
        let sent = |pick: fn(&RadioStats) -> u64| {
            outcome.radios.iter().filter(|row| row.station == "s").map(|row| pick(&row.stats)).sum::<u64>()
                as f64
        };
        let (attempts, timeouts) = (sent(|stats| stats.data_sent), sent(|stats| stats.ack_timeouts));
        // What did not collide failed with the given probability, and what failed four times is lost.
        let share = errors(outcome) as f64 / attempts;
        assert!((0.88 * loss..1.02 * loss).contains(&share), "{share} of {loss}");
        let expected = (timeouts / attempts).powi(4);
        assert!((0.7..1.4).contains(&(failed(outcome) / expected)), "{} and {expected}", failed(outcome));
    }
    [&clean, &retried, &lost].into_iter().for_each(assert_conserved);
}

#[test]
fn meshes_are_drawn_from_the_seed_and_the_same_again() {
    for name in ["mesh.toml", "mobile-mesh.toml"] {
        let short = [("scenario.duration", "20 s")];
        let (first, again, other) =
            (scenario(name, &short, 3), scenario(name, &short, 3), scenario(name, &short, 4));
        assert_eq!(first, again, "{name}");
        assert_ne!(first.routes, other.routes, "{name}: another seed is another mesh");
        for outcome in [&first, &other] {
            assert_conserved(outcome);
            assert!(outcome.connections[0].bytes > 0, "{name}");
            assert!(outcome.radios.iter().any(|row| row.station == "s"), "{name}");
        }
    }
}

#[test]
fn routes_follow_stations_that_move() {
    let walked = scenario("mobile-mesh.toml", &[], 1);
    let row = &walked.routes[0];
    println!(
        "{} changes, {:?} s on average, broken for {:.1} s",
        row.changes, row.mean_duration_s, row.broken_s
    );
    assert!(row.changes > 0 && walked.route_changes.len() as u64 == row.changes + 1);
    let whole: f64 =
        walked.route_changes.iter().filter_map(|row| Some((row.until? - row.from).as_secs_f64())).sum();
    let mean = row.mean_duration_s.expect("it has changed");
    assert!((whole / row.changes as f64 - mean).abs() < 1e-9);
    let rarely = scenario("mobile-mesh.toml", &[("wifi.route_interval", "20 s")], 1);
    assert!(rarely.routes[0].changes <= 2 && rarely.routes[0].broken_s > row.broken_s, "{:?}", rarely.routes);
    let standing = scenario("mobile-mesh.toml", &[("wifi.mobility", "none")], 1);
    assert_eq!((standing.routes[0].changes, standing.routes[0].broken_s), (0, 0.0));
    assert_eq!((standing.routes[0].first_broken_s, row.first_broken_s.is_some()), (None, true));
    let first = rarely.routes[0].first_broken_s.expect("stations have walked out of range");
    assert!(first > 0.0 && first + rarely.routes[0].broken_s <= 60.0, "{:?}", rarely.routes);
}
