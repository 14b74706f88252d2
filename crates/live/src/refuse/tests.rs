//! What is refused, in the words that a user reads. Nothing of it needs root.

use super::*;
use ropewalk_scenario::load;
use std::path::Path;

/// A good scenario.
const GOOD: &str = r#"[scenario]
name = "good"
duration = "3 s"
[hosts.client]
stack = "linux"
[hosts.server]
stack = "linux"
[links.a]
between = ["client", "server"]
rate = "8 Mbit/s"
[links.b]
between = ["client", "server"]
rate = "8 Mbit/s"
[connections.bulk]
protocol = "mptcp"
from = "client"
to = "server"
"#;

/// A machine that can do all.
fn able() -> Machine {
    let controls = ["reno", "cubic"].map(str::to_owned).to_vec();
    let gateway = Some("/usr/bin/ropewalk-gateway".into());
    let (tun, sleepy) = (None, None);
    Machine { capable: true, tun, namespaces: true, ipv6: true, mptcp: true, controls, sleepy, gateway }
}

fn refused(text: &str, machine: &Machine) -> String {
    let scenario = load(text, Some(Path::new("test.toml")), &[]).unwrap_or_else(|error| panic!("{error}"));
    check(&scenario, machine).expect_err("it cannot be done").to_string()
}

#[test]
fn a_good_scenario_on_an_able_machine_is_taken() {
    let scenario = load(GOOD, None, &[]).unwrap_or_else(|error| panic!("{error}"));
    check(&scenario, &able()).unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn a_machine_that_is_not_able_is_told_at_the_first_linux_host() {
    let unable = Machine { capable: false, ..able() };
    assert_eq!(
        refused(GOOD, &unable),
        "\
test.toml:5:9: only root may make a Linux host: a network namespace with interfaces
  |
5 | stack = \"linux\"
  |         ^^^^^^^ expected `ropewalk`, or to be run by root: sudo ropewalk run …"
    );
    let unable = Machine { tun: Some("No such file or directory (os error 2)".into()), ..able() };
    assert_eq!(
        refused(GOOD, &unable),
        "\
test.toml:5:9: there are no TUN interfaces for a Linux host: /dev/net/tun: No such file or directory (os error 2)
  |
5 | stack = \"linux\"
  |         ^^^^^^^ expected `ropewalk`, or the kernel's TUN driver: modprobe tun"
    );
    let unable = Machine { namespaces: false, ..able() };
    assert!(refused(GOOD, &unable).contains("CONFIG_NET_NS"));
}

#[test]
fn a_kernel_without_multipath_tcp_is_told_at_the_protocol() {
    let unable = Machine { mptcp: false, ..able() };
    assert_eq!(
        refused(GOOD, &unable),
        "\
test.toml:15:12: the kernel of this machine has no Multipath TCP
   |
15 | protocol = \"mptcp\"
   |            ^^^^^^^ expected `tcp`, or a kernel with CONFIG_MPTCP (Linux 5.6 or later)"
    );
}

#[test]
fn a_congestion_control_that_the_kernel_lacks_is_told_at_its_key() {
    let text = format!("{GOOD}mptcp = {{ congestion_control = \"bbr\" }}\n");
    assert_eq!(
        refused(&text, &able()),
        "\
test.toml:18:32: the kernel of this machine has no congestion control `bbr`
   |
18 | mptcp = { congestion_control = \"bbr\" }
   |                                ^^^^^ expected one of reno, cubic, or its module: modprobe tcp_bbr"
    );
}

#[test]
fn connections_that_want_different_things_of_one_kernel_are_told() {
    let text =
        format!("{GOOD}[connections.other]\nfrom = \"client\"\nto = \"server\"\ntcp = {{ sack = false }}\n");
    assert_eq!(
        refused(&text, &able()),
        "\
test.toml:21:16: the kernel of `client` has one `sack` for all, and `bulk` wants another than `other`
   |
21 | tcp = { sack = false }
   |                ^^^^^ expected the same `sack` at both connections"
    );
    let text = format!(
        "{GOOD}[connections.other]\nprotocol = \"mptcp\"\nfrom = \"client\"\nto = \"server\"\npaths = [\"a\"]\n"
    );
    let message = refused(&text, &able());
    assert!(message.contains("one `paths` for all") && message.contains("test.toml:22:"), "{message}");
}

#[test]
fn paths_that_the_kernel_cannot_pair_are_told() {
    let text = GOOD.replace("[links.b]", "[links.c]\nbetween = [\"client\", \"r\"]\nrate = \"8 Mbit/s\"\n[links.d]\nbetween = [\"client\", \"r\"]\nrate = \"8 Mbit/s\"\n[links.e]\nbetween = [\"r\", \"server\"]\nrate = \"8 Mbit/s\"\n[routers.r]\n[links.b]");
    let message = refused(&text, &able());
    assert!(message.contains("the kernel pairs the path `d` with an address that another has"), "{message}");
    assert!(message.contains("path_manager = \"kernel\""), "{message}");
}

#[test]
fn datagrams_without_room_for_their_number_are_told() {
    let udp = GOOD.replace("\"mptcp\"", "\"udp\"");
    let text = format!(
        "{udp}application = {{ kind = \"constant-rate\", rate = \"1 Mbit/s\", packet_size = \"15 B\" }}\n"
    );
    let message = refused(&text, &able());
    assert!(message.contains("15 octets have no room") && message.contains("at least 16 B"), "{message}");
}

#[test]
fn a_kernel_without_ipv6_and_a_class_that_it_cannot_give_are_told() {
    let text = GOOD.replace("duration", "address_family = \"ipv6\"\nduration");
    let message = refused(&text, &Machine { ipv6: false, ..able() });
    assert!(
        message.contains("the kernel of this machine has no IPv6") && message.contains(":3:"),
        "{message}"
    );
    let message = refused(&format!("{text}dscp = 46\n"), &able());
    assert!(message.contains("no class of packets over IPv6") && message.contains("dscp = 46"), "{message}");
    let scenario = load(&format!("{GOOD}dscp = 46\n"), None, &[]).unwrap_or_else(|error| panic!("{error}"));
    check(&scenario, &able()).unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn a_machine_without_the_daemon_is_told_at_the_gateway() {
    let text = GOOD.replace(
        "[links.a]\nbetween = [\"client\", \"server\"]",
        "[routers.one]\nstack = \"gateway\"\n[routers.two]\nstack = \"gateway\"\n[bonds.t]\nbetween = [\"one\", \"two\"]\n\
         paths = [\"c\"]\n[links.c]\nbetween = [\"one\", \"two\"]\nrate = \"8 Mbit/s\"\n[links.d]\n\
         between = [\"two\", \"server\"]\nrate = \"8 Mbit/s\"\n[links.a]\nbetween = [\"client\", \"one\"]",
    );
    let scenario = load(&text, None, &[]).unwrap_or_else(|error| panic!("{error}"));
    check(&scenario, &able()).unwrap_or_else(|error| panic!("{error}"));
    let message = refused(&text, &Machine { gateway: None, ..able() });
    assert!(message.contains("there is no program `ropewalk-gateway`"), "{message}");
    assert!(message.contains("test.toml:9:") && message.contains("ROPEWALK_GATEWAY"), "{message}");
}
