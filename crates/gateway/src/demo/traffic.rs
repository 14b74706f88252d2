//! What is sent through the tunnel, and what of it comes.

use super::scene::Scene;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::thread;
use std::time::{Duration, Instant};

/// Octets of a datagram of the demo's.
const LEN: usize = 1372;
const HUB: ([u8; 4], u16) = ([10, 9, 0, 1], 7000);
/// The first second is left out: the lines' rates are being found.
const FIRST: Duration = Duration::from_secs(1);
/// What is still on its way has so long.
const TAIL: Duration = Duration::from_secs(1);

/// Datagrams at a constant rate.
#[derive(Clone, Copy)]
pub(super) struct Udp {
    /// With their UDP and IP headers.
    pub(super) mbps: u64,
}

#[derive(Clone, Copy)]
pub(super) enum Flow {
    Udp(Udp),
    Tcp,
}

/// What became of datagrams.
#[derive(Clone, Copy)]
pub(super) struct UdpResult {
    pub(super) lost_percent: f64,
    pub(super) late_percent: f64,
    pub(super) twice: u64,
}

pub(super) struct Result {
    pub(super) mbps: f64,
    pub(super) udp: Option<UdpResult>,
}

pub(super) fn run(scene: &Scene, flow: Flow, duration: Duration) -> io::Result<Result> {
    match flow {
        Flow::Udp(udp) => datagrams(scene, udp, duration),
        Flow::Tcp => stream(scene, duration),
    }
}

fn hub() -> SocketAddr {
    SocketAddr::from(HUB)
}

fn datagrams(scene: &Scene, udp: Udp, duration: Duration) -> io::Result<Result> {
    let receiver = scene.at("hub", || UdpSocket::bind(hub()))?;
    receiver.set_read_timeout(Some(TAIL))?;
    let sender = scene.at("site", || UdpSocket::bind(SocketAddr::from(([10, 9, 0, 2], 0))))?;
    let gap = Duration::from_nanos((LEN as u64 + 28) * 8 * 1000 / udp.mbps);
    let received = thread::spawn(move || receive(&receiver));
    let (began, mut number, mut first) = (Instant::now(), 0u64, 0);
    while began.elapsed() < duration + FIRST {
        let due = gap.saturating_mul(number as u32);
        if let Some(early) = due.checked_sub(began.elapsed()) {
            thread::sleep(early);
        }
        let mut octets = [0; LEN];
        octets[..8].copy_from_slice(&number.to_be_bytes());
        // What the interface does not take is lost, as what the tunnel drops.
        let _ = sender.send_to(&octets, hub());
        number += 1;
        if began.elapsed() < FIRST {
            first = number;
        }
    }
    let numbers = received.join().map_err(|_| io::Error::other("the receiver failed"))?;
    Ok(judge(&numbers, first, number, duration))
}

fn receive(socket: &UdpSocket) -> Vec<u64> {
    let (mut numbers, mut octets) = (Vec::new(), [0; LEN]);
    while socket.recv(&mut octets).is_ok() {
        numbers.extend(octets.first_chunk().map(|chunk| u64::from_be_bytes(*chunk)));
    }
    numbers
}

fn judge(numbers: &[u64], first: u64, sent: u64, duration: Duration) -> Result {
    let counted = numbers.iter().copied().filter(|number| *number >= first).collect::<Vec<_>>();
    let mut sorted = counted.clone();
    sorted.sort_unstable();
    sorted.dedup();
    let mut highest = 0;
    let is_late = |number: &&u64| {
        let is_late = **number < highest;
        highest = highest.max(**number);
        is_late
    };
    let late = counted.iter().filter(is_late).count();
    let percent = |part: u64| 100.0 * part as f64 / (sent - first).max(1) as f64;
    Result {
        mbps: sorted.len() as f64 * (LEN as f64 + 28.0) * 8e-6 / duration.as_secs_f64(),
        udp: Some(UdpResult {
            lost_percent: percent(sent - first - sorted.len() as u64),
            late_percent: percent(late as u64),
            twice: (counted.len() - sorted.len()) as u64,
        }),
    }
}

fn stream(scene: &Scene, duration: Duration) -> io::Result<Result> {
    let listener = scene.at("hub", || TcpListener::bind(hub()))?;
    let received = thread::spawn(move || -> io::Result<(u64, Duration)> {
        let (mut stream, _) = listener.accept()?;
        let (began, mut octets, mut all, mut first) = (Instant::now(), vec![0; 1 << 16], 0, None);
        loop {
            let len = stream.read(&mut octets)?;
            if len == 0 {
                let (before, at) = first.unwrap_or((0, began));
                return Ok((all - before, at.elapsed()));
            }
            all += len as u64;
            if began.elapsed() >= FIRST {
                first.get_or_insert((all, Instant::now()));
            }
        }
    });
    let mut stream = scene.at("site", || TcpStream::connect(hub()))?;
    let (began, octets) = (Instant::now(), vec![0; 1 << 16]);
    while began.elapsed() < duration + FIRST {
        stream.write_all(&octets)?;
    }
    drop(stream);
    let received = received.join().map_err(|_| io::Error::other("the receiver failed"))?;
    let (octets, time) = received?;
    Ok(Result { mbps: octets as f64 * 8e-6 / time.as_secs_f64(), udp: None })
}
