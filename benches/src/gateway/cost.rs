//! What packets cost, both ends together, beside the least that a tunnel does. Lines are as fast as the machine.

use crate::tunnel::{self, Line, Start};
use crate::{Bar, Value, wireguard};
use ropewalk_gateway::demo::{Bare, HUB, Plan, SITE, Scene, inside};
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::path::PathBuf;
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

/// CPU time of both, of the user and of the kernel, in seconds.
fn cpu(pids: [u32; 2]) -> f64 {
    let ticks = |pid: u32| {
        let text = std::fs::read_to_string(format!("/proc/{pid}/schedstat")).unwrap_or_default();
        let own = text.split_whitespace().next().and_then(|nanos| nanos.parse::<f64>().ok());
        own.unwrap_or(0.0) + threads(pid)
    };
    pids.into_iter().map(ticks).sum::<f64>() * 1e-9
}

/// Of the threads beside the first, in ns.
fn threads(pid: u32) -> f64 {
    let entries = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let others = entries.filter(|entry| entry.file_name().to_str() != Some(&pid.to_string()));
    let text = others.filter_map(|entry| std::fs::read_to_string(entry.path().join("schedstat")).ok());
    text.filter_map(|text| text.split_whitespace().next()?.parse::<f64>().ok()).sum()
}

/// µs of CPU for each packet that came.
fn flood(tunnel: &Tunnel, duration: Duration) -> io::Result<f64> {
    let receiver = inside(&tunnel.hub, || UdpSocket::bind((std::net::Ipv4Addr::from(HUB), PORT)))?;
    receiver.set_read_timeout(Some(Duration::from_millis(500)))?;
    let sender = inside(&tunnel.site, || UdpSocket::bind((std::net::Ipv4Addr::from(SITE), 0)))?;
    let before = cpu(tunnel.pids);
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
    Ok((cpu(tunnel.pids) - before) * 1e6 / count.max(1) as f64)
}

/// µs of CPU for each KiB of a TCP flow.
fn bulk(tunnel: &Tunnel, duration: Duration) -> io::Result<f64> {
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
    let before = cpu(tunnel.pids);
    let (began, octets) = (Instant::now(), vec![0; 1 << 16]);
    while began.elapsed() < duration {
        stream.write_all(&octets)?;
    }
    drop(stream);
    let all = received.join().map_err(|_| io::Error::other("the receiver failed"))??;
    Ok((cpu(tunnel.pids) - before) * 1e6 / (all as f64 / 1024.0))
}

type Load = fn(&Tunnel, Duration) -> io::Result<f64>;

fn gateway(load: Load, duration: Duration) -> io::Result<f64> {
    let scene = Scene::new(&Plan::bare("rate-aware"))?;
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
    load(&Tunnel { pids, hub, site }, duration)
}

/// `None`: there is no such program.
fn wireguard(load: Load, duration: Duration) -> io::Result<Option<f64>> {
    wireguard::program().map(|_| other(tunnel::wireguard, load, duration)).transpose()
}

fn compare(load: Load, duration: Duration) -> io::Result<([f64; 2], Option<f64>)> {
    Ok(([gateway(load, duration)?, other(tunnel::copier, load, duration)?], wireguard(load, duration)?))
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
