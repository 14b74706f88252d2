//! Other people's programs, unchanged: those that are installed.

use crate::machine::judged;
use crate::scenarios::{download, iperf3_on_a_link, iperf3_on_two_links};
use ropewalk_scenario::{CommandRow, Outcome};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::process::{Command, Stdio};

/// Octets that curl fetches.
const OCTETS: u64 = 500_000;

/// Are these installed?
fn installed(programs: &[&str]) -> bool {
    let missing = programs.iter().find(|program| {
        let found =
            Command::new("sh").args(["-c", "command -v \"$0\"", program]).stdout(Stdio::null()).status();
        !found.is_ok_and(|status| status.success())
    });
    if let Some(missing) = missing {
        println!("skipped: {missing} is not installed");
    }
    missing.is_none()
}

fn command<'a>(outcome: &'a Outcome, name: &str) -> &'a CommandRow {
    outcome.commands.iter().find(|row| row.name == name).expect("it is told")
}

/// The report of an iperf3 client, which has sent 4 MB to its server.
fn iperf(outcome: &Outcome) -> Value {
    let row = command(outcome, "speed");
    assert_eq!((row.exit_code, row.error.as_deref()), (Some(0), None), "{row:?}");
    let report =
        serde_json::from_str::<Value>(&row.output).unwrap_or_else(|error| panic!("{error}: {row:?}"));
    assert_eq!(
        report["end"]["sum_sent"]["bytes"].as_u64().map(|bytes| bytes >= 4_000_000),
        Some(true),
        "{report}"
    );
    report
}

fn received(report: &Value) -> f64 {
    report["end"]["sum_received"]["bits_per_second"].as_f64().expect("iperf3 says it") * 1e-6
}

#[test]
fn iperf3_measures_the_rate_of_a_link() {
    if !installed(&["iperf3"]) {
        return;
    }
    judged(|| {
        let outcome = iperf3_on_a_link().run();
        let mbps = received(&iperf(&outcome));
        println!("iperf3 measures {mbps:.3} Mbit/s");
        assert!((7.4..7.8).contains(&mbps), "8 Mbit/s without headers are 7.72 Mbit/s: {mbps}");
        let socket = outcome.sockets.iter().find(|row| row.command.as_deref() == Some("speed"));
        assert!(socket.is_some_and(|row| row.remote == "10.0.0.2:5201"), "{:?}", outcome.sockets);
    });
}

#[test]
fn iperf3_gets_multipath_tcp_by_mptcpize() {
    if !installed(&["iperf3", "mptcpize", "ip"]) {
        return;
    }
    judged(|| {
        let outcome = iperf3_on_two_links().run();
        let mbps = received(&iperf(&outcome));
        let carried =
            outcome.links.iter().map(|link| (link.name.as_str(), link.direction.as_str(), link.bytes));
        let lte =
            carried.clone().find(|link| (link.0, link.1) == ("lte", "client->r")).expect("the second link");
        println!("iperf3 measures {mbps:.3} Mbit/s over both links, {} octets over lte", lte.2);
        // 4 MB take 4.1 s on the first link alone.
        assert!(mbps > 8.5 && lte.2 > 500_000, "{:?}", carried.collect::<Vec<_>>());
    });
}

#[test]
fn curl_fetches_a_file_from_a_server() {
    if !installed(&["curl", "python3", "sha256sum"]) {
        return;
    }
    let folder = std::env::temp_dir().join(format!("ropewalk-download-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let octets = (0..OCTETS).map(|at| (at * at / 251) as u8).collect::<Vec<_>>();
    std::fs::write(folder.join("file"), &octets).expect("a file");
    let sum = Sha256::digest(&octets).iter().map(|octet| format!("{octet:02x}")).collect::<String>();
    judged(|| {
        let outcome = download(&folder).run();
        let row = command(&outcome, "fetch");
        assert_eq!((row.exit_code, row.error.as_deref()), (Some(0), None), "{row:?}");
        let last = row.output.lines().last().map(str::to_owned);
        assert_eq!(last, Some(format!("{sum}  -")), "{row:?}");
        assert!(outcome.links[1].bytes > OCTETS, "{:?}", outcome.links);
    });
    std::fs::remove_dir_all(&folder).expect("it is ours");
}
