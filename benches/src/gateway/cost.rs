//! What packets cost, both ends together, beside the least that a tunnel does. Lines are as fast as the machine.

use crate::wireguard::{self, Side};
use crate::{Bar, Value};
use ropewalk_gateway::demo::{Bare, HUB, Plan, SITE, Scene, inside, program};
use ropewalk_gateway::key::SecretKey;
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::path::PathBuf;
use std::process::{Child, Command};
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

/// A process that is ended with this value.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn copier(load: Load, duration: Duration) -> io::Result<f64> {
    let bare = Bare::new(&["line"])?;
    let start = |host: &str, arguments: [&str; 4]| {
        inside(&bare.namespace(host), || Command::new(program("copier")).args(arguments).spawn()).map(Ended)
    };
    let hub = start("hub", ["copy0", "10.9.0.1", "192.0.1.1:5000", "192.0.1.2:5000"])?;
    let site = start("site", ["copy0", "10.9.0.2", "192.0.1.2:5000", "192.0.1.1:5000"])?;
    thread::sleep(Duration::from_secs(1));
    let pids = [hub.0.id(), site.0.id()];
    load(&Tunnel { pids, hub: bare.namespace("hub"), site: bare.namespace("site") }, duration)
}

/// `None`: there is no such program.
fn wireguard(load: Load, duration: Duration) -> io::Result<Option<f64>> {
    let Some(program) = wireguard::program() else { return Ok(None) };
    let bare = Bare::new(&["line"])?;
    let (hub, site) = (bare.namespace("hub"), bare.namespace("site"));
    let secrets = [SecretKey([0x48; 32]), SecretKey([0x50; 32])];
    let side =
        |namespace, secret, interface, inner, outer| Side { namespace, interface, secret, inner, outer };
    let own = side(&hub, &secrets[0], "wghub", "10.9.0.1/24", "192.0.1.1:5000");
    let theirs = side(&site, &secrets[1], "wgsite", "10.9.0.2/24", "192.0.1.2:5000");
    let ends =
        [Ended(wireguard::start(program, &own, &theirs)?), Ended(wireguard::start(program, &theirs, &own)?)];
    thread::sleep(Duration::from_secs(1));
    let pids = ends.each_ref().map(|end| end.0.id());
    load(&Tunnel { pids, hub: hub.clone(), site: site.clone() }, duration).map(Some)
}

fn compare(load: Load, duration: Duration) -> io::Result<([f64; 2], Option<f64>)> {
    Ok(([gateway(load, duration)?, copier(load, duration)?], wireguard(load, duration)?))
}

pub(crate) fn packets(duration: Duration) -> io::Result<Vec<Value>> {
    let ([own, least], peer) = compare(flood, duration)?;
    let values = [
        Value::new("µs for each packet, gateway", own, Bar::None),
        Value::new("µs for each packet, copier", least, Bar::None),
        Value::new("times the copier", own / least, Bar::Most(2.0)),
    ];
    let peer = peer.map(|peer| Value::new("µs for each packet, wireguard-go", peer, Bar::None));
    Ok(values.into_iter().chain(peer).collect())
}

pub(crate) fn stream(duration: Duration) -> io::Result<Vec<Value>> {
    let ([own, least], peer) = compare(bulk, duration)?;
    let values = [
        Value::new("µs for each KiB, gateway", own, Bar::None),
        Value::new("µs for each KiB, copier", least, Bar::None),
        Value::new("times the copier", own / least, Bar::Most(1.0)),
    ];
    let peer = peer.map(|peer| Value::new("µs for each KiB, wireguard-go", peer, Bar::None));
    Ok(values.into_iter().chain(peer).collect())
}
