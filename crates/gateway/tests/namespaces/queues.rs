//! Several queues of the TUN interface, with threads of their own.

use crate::net::{Net, must, possible};
use std::fs;
use std::net::UdpSocket;
use std::time::Duration;

/// Flows at once, from the site to the hub.
const FLOWS: u16 = 8;
/// Datagrams of each.
const DATAGRAMS: u32 = 2000;
const FIRST_PORT: u16 = 7200;

/// Names of a daemon's threads that read or write the interface.
fn threads(net: &Net, end: &str) -> Vec<String> {
    let tasks = fs::read_dir(format!("/proc/{}/task", net.pid(end))).expect("it runs");
    let name = |task: fs::DirEntry| fs::read_to_string(task.path().join("comm")).unwrap_or_default();
    let names = tasks.map(|task| name(task.expect("a thread")).trim().to_owned());
    let mut names = names.filter(|name| name.starts_with("tun-")).collect::<Vec<_>>();
    names.sort_unstable();
    names
}

/// Sends numbered datagrams of all flows, in turns. Returns the numbers that came, by flow.
fn flows(net: &Net) -> Vec<Vec<u32>> {
    let receive = |flow: u16| {
        net.work("hub", move || {
            let socket = UdpSocket::bind(("10.9.0.1", FIRST_PORT + flow)).expect("it is free");
            socket.set_read_timeout(Some(Duration::from_secs(3))).expect("a time");
            let (mut numbers, mut octets) = (Vec::new(), [0; 1500]);
            while let Ok(len) = socket.recv(&mut octets) {
                numbers.extend(octets[..len].first_chunk().map(|octets| u32::from_be_bytes(*octets)));
            }
            numbers
        })
    };
    let receivers = (0..FLOWS).map(receive).collect::<Vec<_>>();
    let send = net.work("site", || {
        let socket = |_| UdpSocket::bind("10.9.0.2:0").expect("a port");
        let sockets = (0..FLOWS).map(socket).collect::<Vec<_>>();
        // The receivers begin.
        std::thread::sleep(Duration::from_millis(300));
        for number in 0..DATAGRAMS {
            for (flow, socket) in (0..).zip(&sockets) {
                let octets = [&number.to_be_bytes()[..], &[0; 600]].concat();
                let _ = socket.send_to(&octets, ("10.9.0.1", FIRST_PORT + flow));
            }
            // In bursts, and slowly enough for a busy machine.
            if number % 8 == 7 {
                std::thread::sleep(Duration::from_millis(8));
            }
        }
    });
    send.join().expect("it does not panic");
    receivers.into_iter().map(|flow| flow.join().expect("it does not panic")).collect()
}

#[test]
fn several_queues_carry_all_and_keep_the_order_of_flows() {
    if !possible() {
        return;
    }
    let mut net = Net::new();
    net.configure_more("hub", "[offload]\nqueues = 3\n");
    // Without joined packets each is read by itself.
    net.configure_more("site", "[offload]\nqueues = 2\ntun = false\n");
    net.open_tunnel();
    assert_eq!(threads(&net, "site"), ["tun-read-0", "tun-read-1", "tun-write-0", "tun-write-1"]);
    assert_eq!(threads(&net, "hub").len(), 6);
    assert!(net.transfer(8_000_000), "every octet as it was");
    for (flow, numbers) in flows(&net).iter().enumerate() {
        assert!(numbers.is_sorted_by(|one, next| one < next), "flow {flow} has lost its order");
        // What the sender has no room for is lost before the tunnel.
        assert!(numbers.len() > DATAGRAMS as usize / 2, "flow {flow}: {} came", numbers.len());
    }
    assert!(net.pings("site", "10.9.0.1") && net.pings("hub", "fd09::2"), "both ways, and IPv6");
    net.end("site", "TERM");
    net.until("the hub was told", || net.log("hub").contains("has ended the session"));
    assert!(!must(&format!("ip -n {} link show", net.ns("site"))).contains("bond0"));
}

#[test]
fn an_interface_that_takes_one_queue_alone_gets_one() {
    if !possible() {
        return;
    }
    let mut net = Net::new();
    // The interface is there, and was made for one queue.
    must(&format!("ip -n {} tuntap add dev bond0 mode tun", net.ns("site")));
    net.configure_more("site", "[offload]\nqueues = 2\n");
    net.open_tunnel();
    assert!(net.log("site").contains("made without several queues"), "{}", net.log("site"));
    assert_eq!(threads(&net, "site"), [""; 0]);
    assert!(net.transfer(1_000_000));
}

#[test]
fn an_interface_that_is_taken_away_ends_the_daemon() {
    if !possible() {
        return;
    }
    let mut net = Net::new();
    net.configure_more("site", "[offload]\nqueues = 2\n");
    net.open_tunnel();
    must(&format!("ip -n {} link del bond0", net.ns("site")));
    net.until("it says why", || net.log("site").contains("waiting for packets"));
}
