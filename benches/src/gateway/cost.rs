//! What packets cost, both ends together, beside the least that a tunnel does. Lines are as fast as the machine.

use crate::tunnel::{self, Line, Start};
use crate::{Bar, Value, wireguard};
use ropewalk_gateway::demo::{Bare, HUB, Plan, SITE, Scene, inside};
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

/// Octets of a datagram's payload: a packet of 1400.
const PAYLOAD: usize = 1372;
const PORT: u16 = 7000;
/// A sender that floods rests a little after so many, so that others have the processor.
const BURST: usize = 64;

/// Two processes that make a tunnel, and the namespaces at its ends.
struct Tunnel {
    pids: [u32; 2],
    hub: PathBuf,
    site: PathBuf,
}

/// CPU time of two processes, of the user and of the kernel, in µs.
#[derive(Clone, Copy)]
struct Cpu {
    /// Of all their threads.
    all: f64,
    /// Of the first thread of each.
    first: [f64; 2],
}

impl Cpu {
    fn of(pids: [u32; 2]) -> Self {
        let first = pids.map(|pid| thread_cpu(&PathBuf::from(format!("/proc/{pid}/task/{pid}"))));
        let tasks = pids.map(|pid| std::fs::read_dir(format!("/proc/{pid}/task")));
        let tasks = tasks.into_iter().flatten().flatten().flatten();
        Self { all: tasks.map(|task| thread_cpu(&task.path())).sum(), first }
    }

    /// What was needed since `before`, for each of `count`.
    fn since(self, before: Self, count: f64) -> Needed {
        let first = [0, 1].map(|end| (self.first[end] - before.first[end]) / count);
        Needed { all: (self.all - before.all) / count, busier: first[0].max(first[1]) }
    }
}

/// CPU time of a thread, in µs.
fn thread_cpu(task: &Path) -> f64 {
    let text = std::fs::read_to_string(task.join("schedstat")).unwrap_or_default();
    text.split_whitespace().next().and_then(|nanos| nanos.parse::<f64>().ok()).unwrap_or(0.0) * 1e-3
}

/// µs of CPU for each packet, or each KiB.
struct Needed {
    /// Of both ends.
    all: f64,
    /// Of the first thread of the end whose first thread needs more. With one core for each thread
    /// this bounds what the tunnel carries.
    busier: f64,
}

/// For each packet that came.
fn flood(tunnel: &Tunnel, duration: Duration) -> io::Result<Needed> {
    let receiver = inside(&tunnel.hub, || UdpSocket::bind((std::net::Ipv4Addr::from(HUB), PORT)))?;
    receiver.set_read_timeout(Some(Duration::from_millis(500)))?;
    let sender = inside(&tunnel.site, || UdpSocket::bind((std::net::Ipv4Addr::from(SITE), 0)))?;
    let before = Cpu::of(tunnel.pids);
    let received = thread::spawn(move || {
        let (mut count, mut octets) = (0u64, [0; 2048]);
        while receiver.recv(&mut octets).is_ok() {
            count += 1;
        }
        count
    });
    let (began, octets) = (Instant::now(), [0; PAYLOAD]);
    while began.elapsed() < duration {
        for _ in 0..BURST {
            // What the interface does not take is not counted.
            let _ = sender.send_to(&octets, (std::net::Ipv4Addr::from(HUB), PORT));
        }
        thread::yield_now();
    }
    let count = received.join().map_err(|_| io::Error::other("the receiver failed"))?;
    Ok(Cpu::of(tunnel.pids).since(before, count.max(1) as f64))
}

/// For each KiB of a TCP flow.
fn bulk(tunnel: &Tunnel, duration: Duration) -> io::Result<Needed> {
    let address = (std::net::Ipv4Addr::from(HUB), PORT);
    let listener = inside(&tunnel.hub, || TcpListener::bind(address))?;
    let mut stream = inside(&tunnel.site, || TcpStream::connect(address))?;
    let received = thread::spawn(move || -> io::Result<u64> {
        let (mut stream, _) = listener.accept()?;
        let (mut all, mut octets) = (0, vec![0; 1 << 16]);
        loop {
            match stream.read(&mut octets)? {
                0 => return Ok(all),
                len => all += len as u64,
            }
        }
    });
    let before = Cpu::of(tunnel.pids);
    let (began, octets) = (Instant::now(), vec![0; 1 << 16]);
    while began.elapsed() < duration {
        stream.write_all(&octets)?;
    }
    drop(stream);
    let all = received.join().map_err(|_| io::Error::other("the receiver failed"))??;
    Ok(Cpu::of(tunnel.pids).since(before, all as f64 / 1024.0))
}

type Load = fn(&Tunnel, Duration) -> io::Result<Needed>;

/// `tables` are further ones of both configurations.
fn gateway(tables: &str, load: Load, duration: Duration) -> io::Result<Needed> {
    let scene = Scene::new(&Plan { tables: tables.into(), ..Plan::bare("rate-aware") })?;
    scene.settle()?;
    let [hub, site] = scene.pids();
    load(&Tunnel { pids: [hub, site], hub: scene.namespace("hub"), site: scene.namespace("site") }, duration)
}

fn other(start: Start, load: Load, duration: Duration) -> io::Result<f64> {
    let bare = Bare::new(&["line"])?;
    let namespaces = ["hub", "site"].map(|host| bare.namespace(host));
    let line = Line { namespaces, addresses: ["192.0.1.1".into(), "192.0.1.2".into()] };
    let ends = start(&line)?;
    let pids = ends.each_ref().map(|end| end.0.id());
    let [hub, site] = line.namespaces;
    Ok(load(&Tunnel { pids, hub, site }, duration)?.all)
}

/// `None`: there is no such program.
fn wireguard(load: Load, duration: Duration) -> io::Result<Option<f64>> {
    wireguard::program().map(|_| other(tunnel::wireguard, load, duration)).transpose()
}

fn compare(load: Load, duration: Duration) -> io::Result<([f64; 2], Option<f64>)> {
    let own = gateway("", load, duration)?.all;
    Ok(([own, other(tunnel::copier, load, duration)?], wireguard(load, duration)?))
}

/// One queue of the TUN interface beside two with threads of their own.
pub(crate) fn queues(duration: Duration) -> io::Result<Vec<Value>> {
    const TWO: &str = "[offload]\nqueues = 2\n";
    let [packet_of_one, packet] = [gateway("", flood, duration)?, gateway(TWO, flood, duration)?];
    let [kib_of_one, kib] = [gateway("", bulk, duration)?, gateway(TWO, bulk, duration)?];
    Ok([
        ("µs for each packet, one queue", packet_of_one.all),
        ("µs for each packet, two queues", packet.all),
        ("the same of the busier first thread, one queue", packet_of_one.busier),
        ("the same of the busier first thread, two queues", packet.busier),
        ("µs for each KiB, one queue", kib_of_one.all),
        ("µs for each KiB, two queues", kib.all),
        ("the same of the busier first thread, one queue", kib_of_one.busier),
        ("the same of the busier first thread, two queues", kib.busier),
    ]
    .map(|(what, got)| Value::new(what, got, Bar::None))
    .into())
}

pub(crate) fn packets(duration: Duration) -> io::Result<Vec<Value>> {
    let ([own, least], peer) = compare(flood, duration)?;
    let values = [
        Value::new("µs for each packet, gateway", own, Bar::None),
        Value::new("µs for each packet, copier", least, Bar::None),
        Value::new("times the copier", own / least, Bar::Most(2.0)),
    ];
    Ok(values.into_iter().chain([Value::of("µs for each packet, wireguard-go", peer)]).collect())
}

pub(crate) fn stream(duration: Duration) -> io::Result<Vec<Value>> {
    let ([own, least], peer) = compare(bulk, duration)?;
    let values = [
        Value::new("µs for each KiB, gateway", own, Bar::None),
        Value::new("µs for each KiB, copier", least, Bar::None),
        Value::new("times the copier", own / least, Bar::Most(1.0)),
    ];
    Ok(values.into_iter().chain([Value::of("µs for each KiB, wireguard-go", peer)]).collect())
}
