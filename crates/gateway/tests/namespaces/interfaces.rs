//! Interfaces that come and go, addresses that change, lines that carry less.

use crate::net::{Net, must, possible};

#[test]
fn an_interface_that_goes_and_comes_is_used_again() {
    if !possible() {
        return;
    }
    let net = Net::with_tunnel();
    let (hub, site) = (net.ns("hub"), net.ns("site"));
    must(&format!("ip -n {site} link del lte"));
    net.until("it is missed", || net.log("site").contains("its interface has gone"));
    assert!(net.transfer(500_000), "the other line carries all");
    must(&format!("ip -n {site} link add lte type veth peer name lte netns {hub}"));
    for (ns, host) in [(&hub, 1), (&site, 2)] {
        must(&format!("ip -n {ns} address add 192.0.2.{host}/24 dev lte && ip -n {ns} link set lte up"));
    }
    net.until("its socket is there", || net.log("site").contains("the path's socket is there again"));
    net.until("it is used", || net.site_path(1)["state"] == "up");
}

#[test]
fn an_address_that_changes_is_followed() {
    if !possible() {
        return;
    }
    let net = Net::with_tunnel();
    let site = net.ns("site");
    must(&format!(
        "ip -n {site} address del 192.0.2.2/24 dev lte && ip -n {site} address add 192.0.2.77/24 dev lte"
    ));
    let remote = || {
        let status = net.status("hub");
        let remote = status["peers"][0]["bond"]["paths"][1]["remote"].as_str();
        remote.unwrap_or_default().to_owned()
    };
    net.until("the hub sends there", || remote().starts_with("192.0.2.77:"));
    net.until("the path is used", || net.site_path(1)["state"] == "up");
    assert!(net.transfer(500_000));
}

#[test]
fn a_line_that_carries_less_is_found_and_nothing_is_too_long_for_it() {
    if !possible() {
        return;
    }
    let mut net = Net::new();
    let (hub, site) = (net.ns("hub"), net.ns("site"));
    // The hub's end of the line drops packets longer than 1404 octets without a message.
    must(&format!("ip -n {hub} link set lte mtu 1400"));
    // UDP_SEGMENT is off, because veth lets through any buffer that is still to be segmented.
    net.configure_more("site", "[offload]\nsend = false\n");
    net.open_tunnel();
    let carries = |end: &str| net.status(end)["peers"][0]["bond"]["paths"][1]["mtu"].as_u64().unwrap_or(0);
    net.until("both ends know it", || {
        (1400 - 4..=1404).contains(&carries("site")) && (1400 - 4..=1404).contains(&carries("hub"))
    });
    let inner = net.status("site")["peers"][0]["bond"]["inner_mtu"].as_u64().expect("a number");
    net.until("the interface takes no more", || {
        must(&format!("ip -n {site} link show bond0")).contains(&format!("mtu {inner} "))
    });
    assert!(net.transfer(2_000_000));
}

#[test]
fn it_works_without_what_the_kernel_could_do() {
    if !possible() {
        return;
    }
    let mut net = Net::new();
    net.configure_more("hub", "[offload]\ntun = false\nsend = false\nreceive = false\n");
    net.open_tunnel();
    assert!(net.transfer(4_000_000), "one end has it, the other not");
}

#[test]
fn each_offload_can_be_switched_off_by_itself() {
    if !possible() {
        return;
    }
    for (hub, site) in [("receive = false", "send = false"), ("tun = false", "receive = false")] {
        let mut net = Net::new();
        net.configure_more("hub", &format!("[offload]\n{hub}\n"));
        net.configure_more("site", &format!("[offload]\n{site}\n"));
        net.open_tunnel();
        assert!(net.transfer(4_000_000), "{hub}, {site}");
        for end in ["hub", "site"] {
            let drops = net.status(end)["drops"].to_string();
            assert!(!drops.contains("forged"), "{end}: {hub}, {site}: {drops}");
        }
    }
}
