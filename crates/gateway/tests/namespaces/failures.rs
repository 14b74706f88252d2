//! Processes that are held up, and ends that are killed at any moment.

use crate::net::{Net, must, possible, rules};
use std::thread;
use std::time::Duration;

#[test]
fn a_process_that_stands_still_is_borne() {
    if !possible() {
        return;
    }
    let mut net = Net::new();
    net.start("hub");
    net.start("site");
    net.until("the tunnel works", || net.pings("site", "10.9.0.1"));
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

/// From the first octets of a start to a tunnel at work: the next start leaves no rule behind, and the other end recovers.
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
