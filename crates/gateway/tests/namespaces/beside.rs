//! What else the machine of a gateway does: another gateway, a default route, a filter of its
//! kernel.

use crate::net::{GATEWAY, Net, must, possible, rules};
use std::fs;
use std::thread;
use std::time::Duration;

/// An address of the hub that no line's network has.
const FAR: &str = "198.51.100.1";

/// The hub is behind the default route of the site's one line. The tunnel has a default route, too.
fn far_hub() -> Net {
    let net = Net::new();
    net.reach_by_first_line();
    must(&format!("ip -n {} address add {FAR}/32 dev lo", net.ns("hub")));
    replace(&net, "site", "192.0.1.1:4500", &format!("{FAR}:4500"));
    net
}

fn replace(net: &Net, end: &str, old: &str, new: &str) {
    let path = net.path(&format!("{end}.toml"));
    let text = fs::read_to_string(&path).expect("it was written");
    assert!(text.contains(old), "{old}: {text}");
    fs::write(path, text.replace(old, new)).expect("it is this test's");
}

fn set_filter(net: &Net, name: &str, value: u8) {
    let set = format!("sysctl -qw net.ipv4.conf.{name}.rp_filter={value}");
    let output = net.inside("site", &set);
    assert!(output.status.success(), "{set}: {}", String::from_utf8_lossy(&output.stderr));
}

fn check(net: &Net) -> String {
    let output = net.inside("site", &format!("{GATEWAY} check {}", net.path("site.toml").display()));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn a_second_gateway_takes_nothing_from_the_first() {
    if !possible() {
        return;
    }
    let mut net = Net::new();
    net.configure_more("site", "[offload]\nqueues = 2\n");
    net.open_tunnel();
    let before = rules(&net);
    let second = net.inside("site", &format!("{GATEWAY} run {}", net.path("site.toml").display()));
    let said = String::from_utf8_lossy(&second.stderr);
    assert!(
        !second.status.success() && said.contains("another gateway with the mark 0x7270 runs here"),
        "{said}"
    );
    assert_eq!(rules(&net), before);
    assert_eq!(net.status("site")["role"], "site", "its control socket is there");
    assert!(net.pings("site", "10.9.0.1"));
    net.end("site", "KILL");
    net.start("site");
    net.until("what was killed has left nothing that keeps the next one out", || {
        net.pings("site", "10.9.0.1")
    });
}

#[test]
fn what_carries_the_tunnel_leaves_by_the_route_outside() {
    if !possible() {
        return;
    }
    let mut net = far_hub();
    // The mark alone keeps it out of the tunnel.
    replace(&net, "site", "interface = \"dsl\"\n", "");
    net.open_tunnel();
    assert!(net.transfer(2_000_000));
}

/// The hub's kernel would answer from the address of the line's network.
#[test]
fn a_hub_with_several_addresses_answers_from_the_one_that_was_asked() {
    if !possible() {
        return;
    }
    let mut net = far_hub();
    net.open_tunnel();
    assert!(net.transfer(2_000_000), "in batches, too");
    assert_eq!(net.site_path(0)["remote"], format!("{FAR}:4500"));
    assert!(!net.log("site").contains("sends from"), "{}", net.log("site"));
}

#[test]
fn one_with_several_ipv6_addresses_does_so_too() {
    const ASKED: &str = "fd99::1";
    if !possible() {
        return;
    }
    let mut net = far_hub();
    for (end, host) in [("hub", 1), ("site", 2)] {
        must(&format!("ip -n {} address add fd01::{host}/64 dev dsl nodad", net.ns(end)));
    }
    must(&format!("ip -n {} address add {ASKED}/128 dev lo nodad", net.ns("hub")));
    must(&format!("ip -n {} route add {ASKED} via fd01::1", net.ns("site")));
    replace(&net, "hub", "0.0.0.0:4500", "[::]:4500");
    replace(&net, "site", &format!("{FAR}:4500"), &format!("[{ASKED}]:4500"));
    net.open_tunnel();
    assert!(net.transfer(2_000_000), "in batches, too");
    assert_eq!(net.site_path(0)["remote"], format!("[{ASKED}]:4500"));
    assert!(!net.log("site").contains("sends from"), "{}", net.log("site"));
}

#[test]
fn a_strict_filter_of_reverse_paths_is_told_before() {
    if !possible() {
        return;
    }
    let mut net = far_hub();
    for name in ["all", "dsl"] {
        set_filter(&net, name, 1);
    }
    let warning = format!("the route to {FAR} leads into the tunnel");
    assert!(check(&net).contains(&warning), "{}", check(&net));
    net.start("hub");
    net.start("site");
    net.until("it runs", || net.log("site").contains("running"));
    thread::sleep(Duration::from_secs(2));
    assert!(!net.log("site").contains("a session has begun"), "the warning is true");
    set_filter(&net, "dsl", 2);
    net.until("the tunnel works", || net.pings("site", "10.9.0.1"));
    assert!(!check(&net).contains("warning"), "{}", check(&net));
}
