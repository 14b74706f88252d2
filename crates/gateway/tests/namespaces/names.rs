//! A hub that the site's configuration names by a host name.

use crate::net::{GATEWAY, Net, must, possible, rules, shell};

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

/// One line, and a hub by its name.
fn with_named_hub() -> Net {
    let net = Net::new();
    net.name_hub(NAME);
    net.reach_by_first_line();
    net
}

#[test]
fn a_hub_that_moves_is_found_by_its_name() {
    if !possible() {
        return;
    }
    let mut net = with_named_hub();
    let before = rules(&net);
    net.start("hub");
    let record = net.path("site.record");
    net.start_with("site", &["--record", record.to_str().expect("a name")]);
    net.until("the tunnel works", || net.pings("site", "10.9.0.1"));
    assert!(rules(&net).contains("uidrange 29296-29296 lookup main"), "{}", rules(&net));
    net.write_hosts(&format!("192.0.1.77 {NAME}\n"));
    assert!(net.pings("site", "10.9.0.1"), "what works is not looked at");
    net.end("hub", "KILL");
    net.move_hub("192.0.1.77");
    net.start("hub");
    net.until("the tunnel works again", || net.pings("site", "10.9.0.1"));
    let log = net.log("site");
    for said in [
        format!("the hub is silent by one path at least: {NAME}:4500 is looked up"),
        "the hub's name stands for 192.0.1.77:4500 now, which is tried beside 192.0.1.1:4500".to_owned(),
        "the hub has moved from 192.0.1.1:4500 to 192.0.1.77:4500".to_owned(),
    ] {
        assert!(log.contains(&said), "{said}: {log}");
        assert!(net.status("site")["events"].to_string().contains(&said), "the status tells it, too");
    }
    assert_eq!(net.site_path(0)["remote"], "192.0.1.77:4500");
    net.end("site", "TERM");
    assert_eq!(rules(&net), before);
    net.until("nobody is left", || net.pids("site").is_empty());
    let config = net.path("site.toml");
    let played = shell(&format!("{GATEWAY} replay {} {}", config.display(), record.display()));
    let said = String::from_utf8_lossy(&played.stdout);
    assert!(said.contains("each as recorded"), "{said}{}", String::from_utf8_lossy(&played.stderr));
}

#[test]
fn a_line_whose_hub_moves_is_found_by_its_name_while_the_other_works() {
    if !possible() {
        return;
    }
    let mut net = Net::new();
    net.name_hub(NAME);
    net.open_tunnel();
    net.write_hosts(&format!("192.0.1.77 {NAME}\n"));
    // The hub that begins anew knows the site's address on a line once the site has sent there.
    net.end("hub", "KILL");
    net.move_hub("192.0.1.77");
    net.start("hub");
    net.until("the second line carries the tunnel", || net.pings("site", "10.9.0.1"));
    assert_eq!(net.site_path(0)["remote"], "192.0.1.1:4500");
    net.until("the first line leads there", || net.site_path(0)["remote"] == "192.0.1.77:4500");
    net.until("it is used again", || net.site_path(0)["state"] == "up");
    let said = "the hub has moved from 192.0.1.1:4500 to 192.0.1.77:4500";
    assert!(net.log("site").contains(said), "{}", net.log("site"));
    assert_eq!(net.site_path(1)["remote"], "192.0.2.1:4500");
}

#[test]
fn a_path_that_was_added_with_a_name_follows_it() {
    if !possible() {
        return;
    }
    let mut net = Net::new();
    // The second line's hub has a name; the first line is added later, with one.
    let path = net.path("site.toml");
    let text = std::fs::read_to_string(&path).expect("it was written");
    let first = text.find("[[paths]]\nname = \"dsl\"").expect("it has two paths");
    let second = text.find("[[paths]]\nname = \"lte\"").expect("it has two paths");
    let text = format!("{}{}", &text[..first], &text[second..]);
    std::fs::write(&path, text.replace("192.0.2.1:4500", "lte.example.org:4500")).expect("it is this test's");
    net.write_hosts(&format!("192.0.2.1 lte.example.org\n192.0.1.1 {NAME}\n"));
    net.open_tunnel();
    let control = net.path("site.sock");
    let add = format!(
        "{GATEWAY} path --control {} add dsl --interface dsl --remote {NAME}:4500 --cost 3",
        control.display()
    );
    let added = net.inside("site", &add);
    assert!(added.status.success(), "{}", String::from_utf8_lossy(&added.stderr));
    let dsl = |net: &Net| {
        let status = net.status("site");
        let paths = status["peers"][0]["bond"]["paths"].as_array().cloned().unwrap_or_default();
        paths.into_iter().find(|path| path["name"] == "dsl").unwrap_or_default()
    };
    net.until("the new path works", || dsl(&net)["state"] == "up");
    net.write_hosts(&format!("192.0.2.1 lte.example.org\n192.0.1.77 {NAME}\n"));
    net.end("hub", "KILL");
    net.move_hub("192.0.1.77");
    net.start("hub");
    net.until("it leads where the name does", || dsl(&net)["remote"] == "192.0.1.77:4500");
    net.until("it is used again", || dsl(&net)["state"] == "up");
}

#[test]
fn a_name_that_leads_elsewhere_takes_nothing_from_a_hub_that_comes_back() {
    if !possible() {
        return;
    }
    let mut net = with_named_hub();
    net.open_tunnel();
    // Nobody with the hub's key is there.
    net.write_hosts(&format!("192.0.1.66 {NAME}\n"));
    net.end("hub", "KILL");
    net.until("another address is tried", || net.log("site").contains("192.0.1.66:4500 now, which is tried"));
    net.start("hub");
    net.until("the tunnel works again", || net.pings("site", "10.9.0.1"));
    assert!(!net.log("site").contains("the hub has moved"), "{}", net.log("site"));
    assert_eq!(net.site_path(0)["remote"], "192.0.1.1:4500");
}

/// The tunnel has the default route. The name server is behind the line's default route, so a
/// question that went into the dead tunnel would never be answered.
#[test]
fn a_name_server_is_asked_outside_the_dead_tunnel() {
    if !possible() {
        return;
    }
    let mut net = with_named_hub();
    net.write_hosts("127.0.0.1 localhost\n");
    let server = net.serve_names("10.77.0.53", "192.0.1.1");
    net.open_tunnel();
    server.answer_with("192.0.1.77");
    net.end("hub", "KILL");
    net.move_hub("192.0.1.77");
    net.start("hub");
    net.until("the tunnel works again", || net.pings("site", "10.9.0.1"));
    assert!(net.log("site").contains("the hub has moved"), "{}", net.log("site"));
}

#[test]
fn without_the_process_that_looks_names_up_all_goes_on() {
    if !possible() {
        return;
    }
    let mut net = with_named_hub();
    net.open_tunnel();
    let process = net.lookup_process();
    must(&format!("kill -KILL {process}"));
    net.until("it is told", || net.log("site").contains("has ended: known addresses stay"));
    assert!(net.pings("site", "10.9.0.1"));
    net.end("hub", "KILL");
    net.start("hub");
    net.until("the tunnel works again", || net.pings("site", "10.9.0.1"));
}
