//! Traffic through the tunnel, and how much of it arrives.

use super::Lines;
use socket2::{Domain, Protocol, Socket, Type};
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::thread;
use std::time::{Duration, Instant};

/// The hub's inner address.
pub const HUB: [u8; 4] = [10, 9, 0, 1];
/// The site's inner address.
pub const SITE: [u8; 4] = [10, 9, 0, 2];
/// Octets of the headers of IPv4 and UDP.
const HEADERS: usize = 28;
/// The time at the beginning that is left out, while the lines' rates are found.
const FIRST: Duration = Duration::from_secs(1);
/// A flow may stand still so long: on a bad line that it shares it does.
const STALL: Duration = Duration::from_secs(30);
/// How long to wait for what is still on its way.
const TAIL: Duration = Duration::from_secs(2);

/// Datagrams at a constant rate, from the site to the hub.
#[derive(Clone, Copy, Debug)]
pub struct Udp {
    /// Their number in a second.
    pub per_second: u32,
    /// Octets of each, with its UDP and IP headers.
    pub len: usize,
    /// The port at the hub.
    pub port: u16,
}

impl Udp {
    /// `mbps` Mbit/s in packets of 1400 octets.
    pub const fn mbps(mbps: u32) -> Self {
        Self { per_second: mbps * 1_000_000 / (1400 * 8), len: 1400, port: 7000 }
    }
}

/// A datagram that came.
#[derive(Clone, Copy, Debug)]
pub struct Came {
    /// Its place among those sent.
    pub number: u64,
    /// When it was sent, after the first.
    pub sent: Duration,
    /// When it came, after the first was sent.
    pub at: Duration,
}

/// What became of datagrams.
#[derive(Clone, Debug)]
pub struct UdpResult {
    /// How many were sent after the first second.
    pub sent: u64,
    /// What came of these, in the order of arrival.
    pub came: Vec<Came>,
    /// How long these datagrams were sent.
    pub duration: Duration,
    len: usize,
}

fn percent(part: u64, whole: u64) -> f64 {
    100.0 * part as f64 / whole.max(1) as f64
}

impl UdpResult {
    fn distinct(&self) -> u64 {
        let mut numbers = self.came.iter().map(|came| came.number).collect::<Vec<_>>();
        numbers.sort_unstable();
        numbers.dedup();
        numbers.len() as u64
    }

    /// Mbit/s that came, each datagram counted once.
    pub fn mbps(&self) -> f64 {
        self.distinct() as f64 * self.len as f64 * 8e-6 / self.duration.as_secs_f64()
    }

    /// Datagrams that never came.
    pub fn lost(&self) -> u64 {
        self.sent - self.distinct()
    }

    /// Datagrams that never came, in per cent of those sent.
    pub fn lost_percent(&self) -> f64 {
        percent(self.lost(), self.sent)
    }

    /// Datagrams that came after a later one, in per cent of those sent.
    pub fn late_percent(&self) -> f64 {
        let mut highest = 0;
        let is_late = |came: &&Came| {
            let is_late = came.number < highest;
            highest = highest.max(came.number);
            is_late
        };
        percent(self.came.iter().filter(is_late).count() as u64, self.sent)
    }

    /// Copies that came beside the first.
    pub fn twice(&self) -> u64 {
        self.came.len() as u64 - self.distinct()
    }

    /// The one-way delay that a share (0 to 1) of the datagrams that came does not exceed.
    pub fn delay(&self, share: f64) -> Duration {
        let mut delays = self.came.iter().map(|came| came.at.saturating_sub(came.sent)).collect::<Vec<_>>();
        delays.sort_unstable();
        let place = (delays.len() as f64 * share) as usize;
        delays.get(place.min(delays.len().saturating_sub(1))).copied().unwrap_or_default()
    }
}

/// Sends datagrams for `duration`, after a first second that is not counted.
///
/// # Errors
/// There is no tunnel.
pub fn datagrams(ends: &impl AsRef<Lines>, udp: Udp, duration: Duration) -> io::Result<UdpResult> {
    let (ends, hub) = (ends.as_ref(), SocketAddr::from((HUB, udp.port)));
    let receiver = ends.at("hub", || UdpSocket::bind(hub))?;
    receiver.set_read_timeout(Some(TAIL))?;
    let sender = ends.at("site", || UdpSocket::bind(SocketAddr::from((SITE, 0))))?;
    let began = Instant::now();
    let received = thread::spawn(move || receive(&receiver, began));
    let (sent, first) = send(&sender, hub, udp, began, duration);
    let mut came = received.join().map_err(|_| io::Error::other("the receiver failed"))?;
    came.retain(|came| came.number >= first);
    Ok(UdpResult { sent: sent - first, came, duration, len: udp.len })
}

/// Returns how many were sent, and how many of these in the first second.
fn send(sender: &UdpSocket, hub: SocketAddr, udp: Udp, began: Instant, duration: Duration) -> (u64, u64) {
    let (mut number, mut first, mut octets) = (0u64, 0, vec![0; udp.len - HEADERS]);
    while began.elapsed() < duration + FIRST {
        let due = Duration::from_secs_f64(number as f64 / f64::from(udp.per_second));
        if let Some(early) = due.checked_sub(began.elapsed()) {
            thread::sleep(early);
        }
        let now = began.elapsed();
        octets[..8].copy_from_slice(&number.to_be_bytes());
        octets[8..16].copy_from_slice(&(now.as_nanos() as u64).to_be_bytes());
        // What the interface does not take counts as lost, as what the tunnel drops does.
        let _ = sender.send_to(&octets, hub);
        number += 1;
        if now < FIRST {
            first = number;
        }
    }
    (number, first)
}

fn receive(socket: &UdpSocket, began: Instant) -> Vec<Came> {
    let (mut all, mut octets) = (Vec::new(), [0; 2048]);
    while socket.recv(&mut octets).is_ok() {
        let at = began.elapsed();
        let field =
            |place: usize| octets[place..].first_chunk().map_or(0, |chunk| u64::from_be_bytes(*chunk));
        all.push(Came { number: field(0), sent: Duration::from_nanos(field(8)), at });
    }
    all
}

/// One TCP flow, from the site to the hub.
#[derive(Clone, Copy, Debug)]
pub struct Tcp {
    /// The site's address that it comes from.
    pub from: Ipv4Addr,
    /// Where it goes.
    pub to: (Ipv4Addr, u16),
    /// The name of its congestion control; the kernel's default if not given.
    pub control: Option<&'static str>,
}

const fn address([a, b, c, d]: [u8; 4]) -> Ipv4Addr {
    Ipv4Addr::new(a, b, c, d)
}

impl Tcp {
    /// A flow through the tunnel, to this port at the hub.
    pub const fn inside(port: u16) -> Self {
        Self { from: address(SITE), to: (address(HUB), port), control: None }
    }
}

/// What one TCP flow through the tunnel carries in each second after its first one, in Mbit/s.
///
/// # Errors
/// There is no tunnel.
pub fn stream(ends: &impl AsRef<Lines>, port: u16, duration: Duration) -> io::Result<Vec<f64>> {
    flow(ends, Tcp::inside(port), duration)
}

/// What a TCP flow carries in each second after its first one, in Mbit/s.
///
/// # Errors
/// There is no way for it, or the kernel does not have its congestion control.
pub fn flow(ends: &impl AsRef<Lines>, tcp: Tcp, duration: Duration) -> io::Result<Vec<f64>> {
    let ends = ends.as_ref();
    let listener = ends.at("hub", || TcpListener::bind(tcp.to))?;
    let received = thread::spawn(move || count(&listener));
    let mut stream = ends.at("site", || connect(tcp))?;
    let (began, octets) = (Instant::now(), vec![0; 1 << 16]);
    stream.set_write_timeout(Some(STALL))?;
    while began.elapsed() < duration + FIRST {
        stream.write_all(&octets)?;
    }
    drop(stream);
    let counted = received.join().map_err(|_| io::Error::other("the receiver failed"))??;
    let whole = duration.as_secs() as usize;
    let seconds = counted.get(1..=whole).ok_or_else(|| io::Error::other("the stream ended early"))?;
    Ok(seconds.iter().map(|octets| *octets as f64 * 8e-6).collect())
}

fn connect(tcp: Tcp) -> io::Result<TcpStream> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::TCP))?;
    if let Some(control) = tcp.control {
        socket.set_tcp_congestion(control.as_bytes())?;
    }
    socket.bind(&SocketAddr::from((tcp.from, 0)).into())?;
    socket.connect(&SocketAddr::from(tcp.to).into())?;
    Ok(socket.into())
}

/// Octets that came in each second.
fn count(listener: &TcpListener) -> io::Result<Vec<u64>> {
    let (mut stream, _) = listener.accept()?;
    let (began, mut octets, mut seconds) = (Instant::now(), vec![0; 1 << 16], Vec::new());
    loop {
        let len = stream.read(&mut octets)?;
        if len == 0 {
            return Ok(seconds);
        }
        let second = began.elapsed().as_secs() as usize;
        if seconds.len() <= second {
            seconds.resize(second + 1, 0);
        }
        seconds[second] += len as u64;
    }
}

/// The mean of what [`stream`] gives.
pub fn mean(seconds: &[f64]) -> f64 {
    seconds.iter().sum::<f64>() / seconds.len().max(1) as f64
}
