//! GRE over two lines.

use crate::net::{Net, must, possible, shell};
use std::fs;

/// The configuration of an end. `host` is the last number of its addresses, 1 or 2; the other end
/// has the other one.
fn configuration(host: u8) -> String {
    let path = |line: &str, subnet: u8, weight: u8| {
        let other = 3 - host;
        format!(
            "[[paths]]\ninterface = \"{line}\"\nlocal = \"192.0.{subnet}.{host}\"\nremote = \"192.0.{subnet}.{other}\"\nweight = {weight}\n"
        )
    };
    format!(
        "[gre]\ntun = \"bond0\"\naddresses = [\"10.9.0.{host}/24\", \"fd09::{host}/64\"]\nkey = 305419896\n{}{}",
        path("dsl", 1, 3),
        path("lte", 2, 1)
    )
}

#[test]
fn gre_over_two_lines_carries_both_families_in_order() {
    if !possible() {
        return;
    }
    let mut net = Net::new();
    for (end, host) in [("hub", 1), ("site", 2)] {
        fs::write(net.path(&format!("{end}.toml")), configuration(host)).expect("it is this test's");
        net.start_gre(end);
    }
    net.until("the tunnel works", || net.pings("site", "10.9.0.1"));
    assert!(net.pings("hub", "10.9.0.2") && net.pings("site", "fd09::1"), "both ways, and IPv6");
    assert!(net.transfer(4_000_000), "every octet as it was");
    let sent = |line: &str| {
        let output = net.inside("site", &format!("cat /sys/class/net/{line}/statistics/tx_packets"));
        String::from_utf8_lossy(&output.stdout).trim().parse::<f64>().expect("a number")
    };
    let share = sent("dsl") / (sent("dsl") + sent("lte"));
    assert!((0.7..0.8).contains(&share), "weights of 3 and 1: {share}");
    net.end("site", "TERM");
    assert!(net.log("site").contains("given_up: 0, dropped: 0"), "{}", net.log("site"));
}

#[test]
fn an_interface_of_gre_that_goes_and_comes_is_used_again() {
    if !possible() {
        return;
    }
    let mut net = Net::new();
    let (hub, site) = (net.ns("hub"), net.ns("site"));
    for (end, host) in [("hub", 1), ("site", 2)] {
        // All goes by the line that comes later.
        let both = configuration(host);
        let second = both.rfind("[[paths]]").expect("two paths");
        let first = both.find("[[paths]]").expect("two paths");
        let text = format!("{}{}", &both[..first], &both[second..]);
        fs::write(net.path(&format!("{end}.toml")), text).expect("it is this test's");
    }
    must(&format!("ip -n {site} link del lte"));
    net.start_gre("hub");
    net.start_gre("site");
    for _ in 0..2 {
        net.until("it is missed", || net.log("site").contains("no socket for a path"));
        must(&format!("ip -n {site} link add lte type veth peer name lte netns {hub}"));
        for (ns, host) in [(&hub, 1), (&site, 2)] {
            must(&format!("ip -n {ns} address add 192.0.2.{host}/24 dev lte && ip -n {ns} link set lte up"));
        }
        net.until("the tunnel works", || net.pings("site", "10.9.0.1"));
        must(&format!("ip -n {site} link del lte"));
    }
}

/// Another implementation of the protocol understands what is on the line.
#[test]
fn tshark_reads_key_and_sequence_number() {
    if !possible() || !shell("tshark --version").status.success() {
        return;
    }
    let mut net = Net::new();
    for (end, host) in [("hub", 1), ("site", 2)] {
        fs::write(net.path(&format!("{end}.toml")), configuration(host)).expect("it is this test's");
        net.start_gre(end);
    }
    net.until("the tunnel works", || net.pings("site", "10.9.0.1"));
    let file = net.path("line.pcapng");
    let capture = format!(
        "ip netns exec {} timeout 20 tshark -q -i dsl -c 6 -w {} 2>&1",
        net.ns("site"),
        file.display()
    );
    let capture = std::thread::spawn(move || shell(&capture));
    while !capture.is_finished() {
        net.pings("site", "10.9.0.1");
    }
    let fields =
        "-e ip.proto -e gre.key -e gre.sequence_number -e gre.proto -e gre.flags.version -e _ws.malformed";
    let read = shell(&format!("tshark -r {} -Y gre -T fields -E occurrence=f {fields}", file.display()));
    let text = String::from_utf8_lossy(&read.stdout).into_owned();
    let rows = text.lines().map(|line| line.split('\t').collect::<Vec<_>>()).collect::<Vec<_>>();
    assert!(rows.len() >= 4, "{text}\n{}", String::from_utf8_lossy(&read.stderr));
    for row in &rows {
        assert_eq!((row[0], row[1].to_lowercase().as_str()), ("47", "0x12345678"), "{text}");
        assert!(row[2].parse::<u32>().is_ok() && row[3].to_lowercase().contains("0x0800"), "{text}");
        assert_eq!((row[4], row.get(5).copied().unwrap_or_default()), ("0", ""), "{text}");
    }
}
