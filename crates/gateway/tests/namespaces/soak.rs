//! Lines that go down and up, and processes that are stopped or killed, for any time:
//! `ROPEWALK_SOAK_SECONDS=600 cargo test -p ropewalk-gateway --test namespaces soak`

use crate::net::{Net, must, possible};
use ropewalk_adversary::{Random, Source};
use std::collections::BTreeSet;
use std::net::UdpSocket;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Octets in front of a datagram's number.
const MARK: [u8; 8] = *b"ropewalk";
/// Datagrams in a second and direction.
const RATE: u32 = 500;
/// The memory that a daemon may need, however long it runs, in kB.
const MOST_MEMORY_KB: u64 = 100_000;
/// By how much a daemon may grow in the second half of its time, in kB: a page table, a longer queue.
const MOST_GROWTH_KB: u64 = 1_000;

/// Numbered datagrams from one end to the other, until it is told to stop. It gives how many were
/// sent, and the numbers of all that came.
struct Flow {
    stop: Arc<AtomicBool>,
    sender: JoinHandle<u64>,
    receiver: JoinHandle<Vec<u64>>,
}

impl Flow {
    fn new(net: &Net, from: &str, to: &str, target: &'static str) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let (stop_sender, stop_receiver) = (Arc::clone(&stop), Arc::clone(&stop));
        // The addresses come and go with the daemons.
        let bind = |any: &str| UdpSocket::bind(any).expect("a port");
        let receiver = net.work(to, move || receive(&bind("0.0.0.0:7100"), &stop_receiver));
        let sender =
            net.work(from, move || send(&bind("0.0.0.0:0"), &format!("{target}:7100"), &stop_sender));
        Self { stop, sender, receiver }
    }

    fn end(self) -> (u64, Vec<u64>) {
        self.stop.store(true, Ordering::Relaxed);
        let sent = self.sender.join().expect("it does not panic");
        (sent, self.receiver.join().expect("it does not panic"))
    }
}

fn send(socket: &UdpSocket, to: &str, stop: &AtomicBool) -> u64 {
    let mut number = 0u64;
    while !stop.load(Ordering::Relaxed) {
        let octets = [MARK, number.to_be_bytes()].concat();
        // There may be no route for a while.
        let _ = socket.send_to(&octets, to);
        number += 1;
        thread::sleep(Duration::from_secs(1) / RATE);
    }
    number
}

fn receive(socket: &UdpSocket, stop: &AtomicBool) -> Vec<u64> {
    socket.set_read_timeout(Some(Duration::from_millis(500))).expect("a time");
    let (mut all, mut octets) = (Vec::new(), [0; 64]);
    loop {
        match socket.recv(&mut octets) {
            Ok(len) => {
                assert!(len == 16 && octets[..8] == MARK, "something that nobody sent");
                all.extend(octets[8..].first_chunk().map(|number| u64::from_be_bytes(*number)));
            }
            Err(_) if stop.load(Ordering::Relaxed) => return all,
            Err(_) => {}
        }
    }
}

fn memory_kb(pid: u32) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

/// How long the tests of this file go on.
fn seconds() -> Duration {
    let text = std::env::var("ROPEWALK_SOAK_SECONDS").ok();
    Duration::from_secs(text.and_then(|text| text.parse().ok()).unwrap_or(12))
}

/// A line is down for a while.
fn flap(net: &Net, draw: &mut Random, pause: Duration) {
    let line = ["dsl", "lte"][draw.below(2) as usize];
    must(&format!("ip -n {} link set {line} down", net.ns("site")));
    thread::sleep(pause);
    must(&format!("ip -n {} link set {line} up", net.ns("site")));
}

/// Does some harm that passes: kills or stops a daemon, or takes a line down.
fn harm(net: &mut Net, draw: &mut Random) {
    let ends = ["hub", "site"];
    let end = ends[draw.below(2) as usize];
    let pause = Duration::from_millis(100 + draw.below(1500));
    match draw.below(8) {
        0 => {
            net.end(end, "KILL");
            net.start(end);
        }
        1 => {
            must(&format!("kill -STOP {}", net.pid(end)));
            thread::sleep(pause);
            must(&format!("kill -CONT {}", net.pid(end)));
        }
        _ => flap(net, draw, pause),
    }
    thread::sleep(pause);
}

#[test]
fn soak() {
    if !possible() {
        return;
    }
    let mut net = Net::new();
    // One end has threads for its interface, the other has not.
    net.configure_more("hub", "[offload]\nqueues = 2\n");
    net.open_tunnel();
    let up = Flow::new(&net, "site", "hub", "10.9.0.1");
    let down = Flow::new(&net, "hub", "site", "10.9.0.2");
    let (began, mut draw, mut most) = (Instant::now(), Random::new(1), 0);
    while began.elapsed() < seconds() {
        harm(&mut net, &mut draw);
        most = most.max(memory_kb(net.pid("hub"))).max(memory_kb(net.pid("site")));
    }
    net.until("the tunnel works in the end", || {
        net.pings("site", "10.9.0.1") && net.pings("hub", "10.9.0.2")
    });
    for (flow, name) in [(up, "up"), (down, "down")] {
        let (sent, came) = flow.end();
        let distinct = came.iter().collect::<BTreeSet<_>>();
        println!("{name}: {sent} sent, {} came, memory {most} kB", came.len());
        assert_eq!(distinct.len(), came.len(), "{name}: something came twice");
        assert!(came.iter().all(|number| *number < sent), "{name}: something was invented");
        assert!(came.len() as u64 * 4 > sent, "{name}: {} of {sent} came", came.len());
    }
    assert!(most < MOST_MEMORY_KB, "{most} kB");
}

/// The processes live through it all, so that what is kept for ever shows.
#[test]
fn soak_of_processes_that_stay_leaks_nothing() {
    if !possible() {
        return;
    }
    let net = Net::with_tunnel();
    let flows = [Flow::new(&net, "site", "hub", "10.9.0.1"), Flow::new(&net, "hub", "site", "10.9.0.2")];
    let memory = |net: &Net| ["hub", "site"].map(|end| memory_kb(net.pid(end)));
    let (began, mut draw, mut half) = (Instant::now(), Random::new(2), [0; 2]);
    while began.elapsed() < seconds() {
        let pause = Duration::from_millis(50 + draw.below(400));
        flap(&net, &mut draw, pause);
        thread::sleep(pause);
        if began.elapsed() < seconds() / 2 {
            half = memory(&net);
        }
    }
    let end = memory(&net);
    for (flow, name) in flows.into_iter().zip(["up", "down"]) {
        let (sent, came) = flow.end();
        println!("{name}: {sent} sent, {} came", came.len());
        assert!(came.len() as u64 * 2 > sent, "{name}: {} of {sent} came", came.len());
    }
    println!("hub and site: {half:?} kB at half of the time, {end:?} kB at the end");
    for (half, end) in half.into_iter().zip(end) {
        assert!(half > 0 && end <= half + MOST_GROWTH_KB, "{half} kB have become {end} kB");
    }
}
