//! A hub that the site's configuration names by a host name.

use crate::net::{Net, possible, rules};

const NAME: &str = "hub.example.org";

#[test]
fn a_name_that_nobody_knows_yet_is_asked_for_again() {
    if !possible() {
        return;
    }
    let mut net = Net::new();
    net.name_hub(NAME);
    net.write_hosts("127.0.0.1 localhost\n");
    net.start("hub");
    net.start("site");
    net.until("the log says so", || net.log("site").contains("the hub's name cannot be looked up"));
    assert!(!net.pings("site", "10.9.0.1"));
    net.write_hosts(&format!("127.0.0.1 localhost\n192.0.1.1 {NAME}\n"));
    net.until("the tunnel works", || net.pings("site", "10.9.0.1"));
}

#[test]
fn who_waits_for_a_name_ends_at_once_and_leaves_nothing() {
    if !possible() {
        return;
    }
    let mut net = Net::new();
    let before = rules(&net);
    net.name_hub(NAME);
    net.write_hosts("127.0.0.1 localhost\n");
    net.start("site");
    net.until("the log says so", || net.log("site").contains("the hub's name cannot be looked up"));
    let began = std::time::Instant::now();
    net.end("site", "TERM");
    assert!(began.elapsed().as_secs() < 2, "{:?}", began.elapsed());
    assert_eq!(rules(&net), before);
}
