//! Processes that are stopped for a while, and ends that are killed at any moment.

use crate::net::{Net, must, possible, rules, shell};
use std::fs;
use std::path::Path;
use std::thread;
use std::time::Duration;

#[test]
fn a_process_that_stands_still_is_borne() {
    if !possible() {
        return;
    }
    let net = Net::with_tunnel();
    for end in ["site", "hub"] {
        must(&format!("kill -STOP {}", net.pid(end)));
        thread::sleep(Duration::from_secs(5));
        must(&format!("kill -CONT {}", net.pid(end)));
        net.until("the tunnel works again", || net.pings("site", "10.9.0.1"));
        net.until("all paths are used", || {
            net.site_path(0)["state"] == "up" && net.site_path(1)["state"] == "up"
        });
    }
    assert!(net.transfer(500_000));
}

/// An end is killed at any moment between its start and a working tunnel. The next start leaves no
/// rule behind, and the other end recovers.
#[test]
fn an_end_may_be_killed_at_any_moment() {
    if !possible() {
        return;
    }
    let mut net = Net::new();
    let before = rules(&net);
    net.start("hub");
    for millis in [5, 20, 60, 200, 600] {
        net.start("site");
        thread::sleep(Duration::from_millis(millis));
        net.end("site", "KILL");
    }
    for millis in [5, 60, 600] {
        net.end("hub", "KILL");
        net.start("hub");
        thread::sleep(Duration::from_millis(millis));
    }
    net.start("site");
    net.until("the tunnel works", || net.pings("site", "10.9.0.1"));
    net.end("site", "TERM");
    assert_eq!(rules(&net), before);
    assert!(!must(&format!("ip -n {} link show", net.ns("site"))).contains("bond0"));
}

/// Sessions do not use the wall clock, so it may jump. The clock that they use cannot be set, and
/// each end has its own. Here the site's machine has been up for ten days longer.
#[test]
fn logs_tell_programs_why_a_path_was_left_and_taken_back() {
    if !possible() {
        return;
    }
    let mut net = Net::new();
    net.start("hub");
    net.start_with("site", &["--json-logs"]);
    net.until("the tunnel works", || net.pings("site", "10.9.0.1"));
    let told = |to: &str| {
        let log = net.log("site");
        let lines = log.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).expect("JSON"));
        let fields = lines.map(|line| line["fields"].clone()).collect::<Vec<_>>();
        let is_it =
            |one: &&serde_json::Value| one["kind"] == "path" && one["path"] == "dsl" && one["to"] == to;
        fields.iter().rfind(is_it).cloned()
    };
    must(&format!("ip -n {} link set dsl down", net.ns("hub")));
    net.until("the line is left", || told("down").is_some());
    let down = told("down").expect("it was there");
    assert!(down["from"] == "suspected" && down["message"].to_string().contains("no sign of life"), "{down}");
    must(&format!("ip -n {} link set dsl up", net.ns("hub")));
    net.until("it is taken back", || told("up").is_some());
    let up = told("up").expect("it was there");
    assert!(up["from"] == "down" && up["message"].to_string().contains("answered in a row"), "{up}");
    let events = net.status("site")["events"].as_array().cloned().expect("a list");
    assert!(
        events.iter().any(|event| event["kind"] == "path" && event["path"] == "dsl" && event["to"] == "down")
    );
}

#[test]
fn clocks_that_have_nothing_to_do_with_each_other_are_borne() {
    if !possible() {
        return;
    }
    if !shell("unshare --time --boottime 864000 true").status.success() {
        println!("skipped: no time namespace can be made");
        return;
    }
    let mut net = Net::new();
    net.start("hub");
    net.start_under("site", &["unshare", "--time", "--boottime", "864000", "--fork", "--kill-child"]);
    net.until("the tunnel works", || net.pings("site", "10.9.0.1"));
    net.until("all paths are used", || {
        net.site_path(0)["state"] == "up" && net.site_path(1)["state"] == "up"
    });
    assert!(net.transfer(2_000_000));
    let queueing = |path: usize| net.site_path(path)["queueing_ms"].as_f64().expect("a number");
    assert!(queueing(0) < 1e3 && queueing(1) < 1e3, "a difference of clocks is no delay");
}

/// Clocks are read in one file. Its clock goes on while the machine sleeps, and cannot be set. The
/// wall clock is only for what outlives the process: what was spent of quotas.
#[test]
fn one_clock_is_read_and_the_wall_clock_for_quotas_alone() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = Vec::new();
    let mut folders = vec![source.clone()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("the sources").map(|entry| entry.expect("a file").path()) {
            if entry.is_dir() {
                folders.push(entry);
                continue;
            }
            let text = fs::read_to_string(&entry).unwrap_or_default();
            let name = entry.strip_prefix(&source).expect("it is below").display().to_string();
            // The demonstration measures in real time, as any program does.
            let clocks = ["clock_gettime(", "SystemTime", "Realtime", "Instant::now(", "wall_ns("];
            let clocks = clocks.into_iter().filter(|clock| text.contains(clock) && !name.starts_with("demo"));
            found.extend(clocks.map(|clock| (name.clone(), clock)));
        }
    }
    found.sort();
    let known = [
        ("driver/clock.rs", "Realtime"),
        ("driver/clock.rs", "clock_gettime("),
        ("driver/clock.rs", "wall_ns("),
        ("driver/spent.rs", "wall_ns("),
    ];
    assert_eq!(found, known.map(|(file, clock)| (file.to_owned(), clock)));
    let clock = fs::read_to_string(source.join("driver/clock.rs")).expect("it was found");
    assert!(clock.contains("clock_gettime(ClockId::Boottime)"), "{clock}");
}
