//! The daemon itself: a hub and a site in network namespaces of this machine, with two lines
//! between them.
//!
//! Needs root, `ip` and `/dev/net/tun`; without them each test says that it was skipped.

#![expect(clippy::disallowed_methods, reason = "it waits for other processes in real time")]

mod beside;
mod demo;
mod failures;
mod gre;
mod interfaces;
mod name_server;
mod names;
mod net;
mod page;
mod privileges;
mod queues;
mod records;
mod soak;

use net::{GATEWAY, Net, must, possible, rules, shell};
use std::io::{Read, Write};
use std::net::TcpStream;

#[test]
fn two_lines_carry_ping_and_tcp_and_the_end_leaves_nothing() {
    if !possible() {
        return;
    }
    let mut net = Net::new();
    let before = rules(&net);
    net.open_tunnel();
    assert!(net.pings("hub", "10.9.0.2") && net.pings("site", "fd09::1"), "both ways, and IPv6");
    assert!(net.transfer(8_000_000), "every octet as it was");
    let status = net.status("site");
    let paths = status["peers"][0]["bond"]["paths"].as_array().expect("a bond").clone();
    assert_eq!(paths.len(), 2, "{status}");
    assert!(paths.iter().all(|path| path["state"] == "up"), "{status}");
    let fetch = |what: &str| {
        let output = net.inside("site", &format!("curl -s http://127.0.0.1:9464/{what}"));
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    if shell("curl --version").status.success() {
        assert!(
            fetch("metrics").contains("ropewalk_path_up{peer=\"hub\",path=\"dsl\"} 1"),
            "{}",
            fetch("metrics")
        );
        assert_eq!(fetch("healthz"), "ok\n");
        assert!(fetch("").contains("<title>Ropewalk gateway</title>"));
    }
    net.end("site", "TERM");
    assert_eq!(rules(&net), before);
    assert!(!must(&format!("ip -n {} link show", net.ns("site"))).contains("bond0"));
    net.until("the hub was told", || net.log("hub").contains("has ended the session"));
}

#[test]
fn clients_that_say_nothing_take_nothing_from_others_for_long() {
    if !possible() {
        return;
    }
    let net = Net::with_tunnel();
    let connect = || TcpStream::connect("127.0.0.1:9464").expect("it listens");
    let ask = move || {
        let mut stream = connect();
        let _ = stream.write_all(b"GET /healthz HTTP/1.1\r\n\r\n");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).is_ok() && answer.ends_with("ok\n")
    };
    let silent = net.work("site", move || (0..40).map(|_| connect()).collect::<Vec<_>>()).join();
    let silent = silent.expect("it does not panic");
    assert!(!net.work("site", ask).join().expect("it does not panic"), "sixteen are enough");
    let is_answered = || net.work("site", ask).join().expect("it does not panic");
    net.until("the silent ones are left", is_answered);
    assert!(net.status("site")["role"] == "site", "the Unix socket has clients of its own");
    drop(silent);
}

#[test]
fn a_line_that_dies_and_a_daemon_that_is_killed_are_borne() {
    if !possible() {
        return;
    }
    let mut net = Net::new();
    let before = rules(&net);
    net.open_tunnel();
    must(&format!("ip -n {} link set dsl down", net.ns("hub")));
    net.until("the first line is given up", || net.log("site").contains("path dsl is down"));
    assert!(net.transfer(1_000_000), "the other line carries all");
    must(&format!("ip -n {} link set dsl up", net.ns("hub")));
    net.until("it is used again", || net.log("site").contains("path dsl is used again"));
    // A killed site leaves its rules. The next one removes them and makes its own. Its end leaves
    // nothing.
    net.end("site", "KILL");
    assert_ne!(rules(&net), before);
    net.start("site");
    net.until("a new site has a session", || net.pings("site", "10.9.0.1"));
    net.end("site", "INT");
    assert_eq!(rules(&net), before);
    // A killed hub knows no session; the site asks for one by itself.
    net.start("site");
    net.until("the site is back", || net.pings("site", "10.9.0.1"));
    net.end("hub", "KILL");
    net.start("hub");
    net.until("the site found the new hub", || net.pings("site", "10.9.0.1"));
}

#[test]
fn paths_change_while_it_runs() {
    if !possible() {
        return;
    }
    let net = Net::with_tunnel();
    let control = format!("--control {}", net.path("site.sock").display());
    let path = |change: &str| shell(&format!("{GATEWAY} path {control} {change}"));
    assert!(path("remove lte").status.success());
    let count = || {
        let status = net.status("site");
        status["peers"][0]["bond"]["paths"].as_array().map_or(0, Vec::len)
    };
    net.until("one path is left", || count() == 1);
    assert!(net.pings("site", "10.9.0.1"));
    let again = path("remove none");
    assert!(
        !again.status.success() && String::from_utf8_lossy(&again.stderr).contains("there is no path none")
    );
    let long = path(&format!("add {} --interface lte", "x".repeat(33)));
    assert!(!long.status.success() && String::from_utf8_lossy(&long.stderr).contains("1 to 32 octets"));
    assert!(path("add lte --interface lte --remote 192.0.2.1:4500 --cost 5").status.success());
    net.until("two paths again", || count() == 2);
    net.until("and the tunnel works", || net.pings("site", "10.9.0.1"));
}

#[test]
fn keys_of_paths_change_in_one_bond() {
    if !possible() {
        return;
    }
    let mut net = Net::new();
    let cost_first = "[bond]\nscheduler = \"cost-first\"\n";
    net.configure_before_sites("hub", cost_first);
    net.configure_before_sites("site", cost_first);
    let records = ["hub", "site"].map(|end| net.path(&format!("{end}.record")));
    for (end, record) in ["hub", "site"].into_iter().zip(&records) {
        net.start_with(end, &["--record", record.to_str().expect("a name")]);
    }
    net.until("the tunnel works", || net.pings("site", "10.9.0.1"));
    let set = |end: &str, change: &str| {
        let socket = net.path(&format!("{end}.sock"));
        let done = shell(&format!("{GATEWAY} path --control {} set {change}", socket.display()));
        (done.status.success(), String::from_utf8_lossy(&done.stderr).into_owned())
    };
    let by_lte = |end: &str| {
        let status = net.status(end);
        let sent = |path: usize| status["peers"][0]["bond"]["paths"][path]["sent_packets"].as_u64();
        sent(1).zip(sent(0)).is_some_and(|(lte, dsl)| lte > 2 * dsl)
    };
    assert!(set("site", "dsl --cost 9").0);
    for end in ["site", "hub"] {
        net.until("both send by the other line", || net.transfer(2_000_000) && by_lte(end));
    }
    assert!(set("hub", "lte --site branch --quota '70 MB'").0);
    let quota = || net.status("hub")["peers"][0]["bond"]["paths"][1]["quota"].clone();
    net.until("the hub has a quota", || quota() == 70_000_000);
    assert!(net.log("hub").contains("keys of path lte of branch were changed by hand"), "{}", net.log("hub"));
    assert!(set("hub", "lte --site nobody --quota '70 MB'").1.contains("there is no site nobody"));
    assert!(set("hub", "lte --quota '70 MB'").1.contains("path set --site"));
    assert!(set("hub", "lte --site branch --cost 3").1.contains("no --cost at a hub"));
    assert!(set("site", "lte --site branch --quota '70 MB'").1.contains("no --site at a site"));
    let age = net.status("site")["peers"][0]["bond"]["age_s"].as_f64();
    let uptime = net.status("site")["uptime_s"].as_f64();
    assert!(
        age.zip(uptime).is_some_and(|(age, uptime)| uptime - age < 3.0),
        "{age:?} of {uptime:?}: one bond"
    );
    net.end("site", "TERM");
    net.end("hub", "TERM");
    for (end, record) in ["hub", "site"].into_iter().zip(&records) {
        let config = net.path(&format!("{end}.toml"));
        let played = shell(&format!("{GATEWAY} replay {} {}", config.display(), record.display()));
        let said = String::from_utf8_lossy(&played.stdout);
        assert!(
            said.contains("each as recorded"),
            "{end}: {said}{}",
            String::from_utf8_lossy(&played.stderr)
        );
    }
}

#[test]
fn what_was_spent_of_a_quota_outlives_the_process() {
    if !possible() {
        return;
    }
    let mut net = Net::new();
    // The last table is that of the second line.
    net.configure_more("site", "quota = \"50 MB\"\n");
    let spent = |net: &Net| net.site_path(1)["quota_spent"].as_u64().unwrap_or(0);
    net.start("hub");
    net.start("site");
    net.until("the tunnel works", || net.pings("site", "10.9.0.1"));
    assert!(net.transfer(8_000_000));
    let before = spent(&net);
    assert!(before > 10_000, "{}", net.status("site"));
    net.end("site", "TERM");
    let record = net.path("site.record");
    net.start_with("site", &["--record", record.to_str().expect("a name")]);
    net.until("a new process has a session", || net.pings("site", "10.9.0.1"));
    assert!(spent(&net) >= before, "{before}: {}", net.status("site"));
    let control = format!("--control {}", net.path("site.sock").display());
    let set = |keys: &str| shell(&format!("{GATEWAY} path {control} set lte {keys}"));
    assert!(set("--quota '60 MB'").status.success());
    net.until("the quota is another", || net.site_path(1)["quota"] == 60_000_000);
    assert!(spent(&net) >= before, "the same period goes on: {}", net.status("site"));
    let wrong = |keys: &str| String::from_utf8_lossy(&set(keys).stderr).into_owned();
    assert!(wrong("").contains("nothing to change"), "{}", wrong(""));
    assert!(wrong("--quota '1 kB'").contains("1 MB or more"), "{}", wrong("--quota '1 kB'"));
    assert!(shell(&format!("{GATEWAY} path {control} remove lte")).status.success());
    net.end("site", "TERM");
    let noted = std::fs::read_to_string(net.path("site.sock.json")).expect("the state");
    assert!(noted.contains("\"path\":\"lte\""), "a path that was removed keeps its own: {noted}");
    let config = net.path("site.toml");
    let played = shell(&format!("{GATEWAY} replay {} {}", config.display(), record.display()));
    let said = String::from_utf8_lossy(&played.stdout);
    assert!(said.contains("each as recorded"), "{said}{}", String::from_utf8_lossy(&played.stderr));
}
