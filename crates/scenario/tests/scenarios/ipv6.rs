//! `address_family = "ipv6"`: headers of 40 octets, shorter segments, other addresses, everything else as before.

use super::support::{mistake, outcome, scenario};

const LINK: &str = r#"[scenario]
name = "ipv6"
duration = "4 s"
[hosts.client]
[hosts.server]
[links.a]
between = ["client", "server"]
rate = "8 Mbit/s"
delay = "10 ms"
"#;

const IPV6: (&str, &str) = ("scenario.address_family", "ipv6");

/// Datagrams that fit a bond over either.
const PACKETS: (&str, &str) = ("connections.video.application.packet_size", "1200 B");

fn with(more: &str) -> String {
    format!("{LINK}{more}")
}

#[test]
fn each_packet_is_twenty_octets_longer() {
    let call = with(
        r#"[connections.call]
protocol = "udp"
from = "client"
to = "server"
application = { kind = "constant-rate", rate = "800 kbit/s", packet_size = "500 B", duration = "2 s" }
"#,
    );
    let [v4, v6] = [outcome(&call, &[]), outcome(&call, &[IPV6])].map(|outcome| outcome.links[0].clone());
    assert!(v4.packets > 300 && v4.packets == v6.packets, "{v4:?} {v6:?}");
    assert_eq!(v4.bytes, v4.packets * (20 + 8 + 500));
    assert_eq!(v6.bytes, v6.packets * (40 + 8 + 500));
}

#[test]
fn segments_are_twenty_octets_shorter() {
    let bulk = with(
        "[connections.bulk]\nfrom = \"client\"\nto = \"server\"\napplication = { kind = \"bulk\", bytes = \"1 MB\" }\n",
    );
    for (family, payload) in [("ipv4", 1448u64), ("ipv6", 1428)] {
        let keys = [("scenario.address_family", family), ("links.a.queue", "1000 packets")];
        let outcome = outcome(&bulk, &keys);
        // SYN, ACK and FIN are segments too.
        let full = 1_000_000u64.div_ceil(payload);
        let segments = outcome.subflows[0].segments;
        assert!((full..full + 5).contains(&segments), "{family}: {segments} segments, {full} full ones");
        let longest = outcome.links[0].bytes - 1_000_000;
        let headers = if family == "ipv4" { 52 } else { 72 };
        assert!(
            (full * headers..(full + 6) * headers).contains(&longest),
            "{family}: {longest} octets of headers"
        );
    }
}

#[test]
fn paths_join_and_are_announced_over_ipv6() {
    let text = with(
        r#"[links.b]
between = ["client", "server"]
rate = "4 Mbit/s"
delay = "20 ms"
[connections.bulk]
protocol = "mptcp"
from = "client"
to = "server"
"#,
    );
    for manager in ["full-mesh", "kernel"] {
        let mut keys = vec![IPV6, ("mptcp.path_manager", manager)];
        if manager == "kernel" {
            keys.push(("mptcp.endpoints", r#"[{ host = "server", link = "b", flags = ["signal"] }]"#));
            keys.push(("mptcp.limits", "{ client = { add_addr_accepted = 1 } }"));
        }
        let outcome = outcome(&text, &keys);
        assert_eq!(outcome.subflows.len(), 2, "{manager}");
        assert!(outcome.subflows.iter().all(|row| row.bytes > 500_000), "{manager}: {:?}", outcome.subflows);
    }
}

#[test]
fn a_link_too_small_for_ipv6_is_refused() {
    let bulk = with("[connections.bulk]\nfrom = \"client\"\nto = \"server\"\n");
    let text = bulk.replace("delay", "mtu = 1279\ndelay");
    let error = mistake(&text, &[IPV6]).to_string();
    assert!(error.contains("an MTU of 1279 octets is less than every link of IPv6 has"), "{error}");
    assert!(error.contains("1280 to 65535"), "{error}");
    scenario(&text, &[]);
    scenario(&text.replace("1279", "1280"), &[IPV6]);
}

#[test]
fn a_bond_too_small_for_ipv6_is_refused() {
    let bonding = include_str!("../../../../scenarios/bonding.toml");
    let small = [("links.dsl.mtu", "1300"), PACKETS];
    let error = mistake(bonding, &[IPV6, small[0], small[1]]).to_string();
    assert!(error.contains("fit through this bond") && error.contains("its hosts may send 1280"), "{error}");
    scenario(bonding, &small);
}

#[test]
fn what_gateways_send_is_twenty_octets_longer_inside_and_outside() {
    let bonding = include_str!("../../../../scenarios/bonding.toml");
    let size = |more: &[(&str, &str)]| {
        let mut keys = vec![PACKETS, ("scenario.duration", "3 s")];
        keys.extend(more);
        let outcome = outcome(bonding, &keys);
        let dsl = outcome.links.iter().find(|row| row.name == "dsl" && row.packets > 500);
        let dsl = dsl.expect("it carries data");
        dsl.bytes as f64 / dsl.packets as f64
    };
    // A few reports are among them, which have one IP header and not two.
    let more = size(&[IPV6]) - size(&[]);
    assert!((38.0..=40.0).contains(&more), "{more} octets");
}
