//! Nanoseconds per packet-hop of two connections over two paths of 1 Gbit/s and 1 ms: the stack alone, with FIFO
//! paths in place of the simulator. A packet-hop is a data packet or an ACK delivered over a path.
//!
//! `cargo bench -p ropewalk-mptcp -- [seconds of simulated time] [scheduler]`

use ropewalk_mptcp::{Config, Connection, Coupling, Path, Scheduler, Secret, SubflowId};
use ropewalk_units::{Duration, Instant};
use ropewalk_wire::{MptcpOption, Segment};
use std::collections::VecDeque;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

const RATE: u64 = 125_000_000;
const QUEUE: u64 = 250_000;

fn address(path: u8, host: u8, port: u16) -> SocketAddr {
    SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, 0, path, host)), port)
}

#[derive(Default)]
struct Pipe {
    free: Instant,
    packets: VecDeque<(Instant, SubflowId, Segment)>,
}

impl Pipe {
    fn send(&mut self, now: Instant, id: SubflowId, segment: Segment) {
        let start = now.max(self.free);
        if start.saturating_since(now).as_nanos() * RATE / 1_000_000_000 > QUEUE {
            return;
        }
        let octets = u64::from(segment.wire_len() + 20);
        self.free = start + Duration::from_nanos(octets * 1_000_000_000 / RATE);
        self.packets.push_back((self.free + Duration::from_millis(1), id, segment));
    }

    fn due(&self) -> Instant {
        self.packets.front().map_or(Instant::MAX, |packet| packet.0)
    }
}

fn drain(connection: &mut Connection, now: Instant, pipes: &mut [Pipe]) {
    while connection.poll_event().is_some() {}
    while connection.read(u64::MAX).is_some() {}
    while let Some((id, segment)) = connection.poll_transmit(now) {
        pipes[id.0 as usize].send(now, id, segment);
    }
}

fn run(config: Config, seconds: u64) -> (u64, u64) {
    let paths: Vec<Path> = (0..2)
        .map(|k| Path { local: address(k, 1, 40_000 * u16::from(k == 0)), remote: address(k, 2, 5001) })
        .collect();
    let mut now = Instant::ZERO;
    let end = now + Duration::from_secs(seconds);
    let mut client = Connection::connect(config.clone(), paths.clone(), Secret([1; 32]), now);
    let mut server: Option<Connection> = None;
    let mut up = [Pipe::default(), Pipe::default()];
    let mut down = [Pipe::default(), Pipe::default()];
    let mut hops = 0;
    while now < end {
        client.push(client.send_space());
        drain(&mut client, now, &mut up);
        if let Some(server) = &mut server {
            drain(server, now, &mut down);
        }
        let timers = [client.poll_timeout(), server.as_ref().and_then(Connection::poll_timeout)];
        let timers = timers.map(|t| t.map_or(Instant::MAX, |(at, _)| at));
        let next = up.iter().chain(&down).map(Pipe::due).chain(timers).min().unwrap_or(end);
        now = next;
        if timers[0] == now {
            client.handle_timeout(now);
            continue;
        }
        if timers[1] == now {
            server.as_mut().expect("it has a timer").handle_timeout(now);
            continue;
        }
        hops += 1;
        if let Some(pipe) = down.iter_mut().find(|pipe| pipe.due() == now) {
            let (_, id, segment) = pipe.packets.pop_front().expect("it is due");
            client.handle_segment(now, id, &segment);
            continue;
        }
        let index = up.iter().position(|pipe| pipe.due() == now).expect("somebody is due");
        let (_, id, segment) = up[index].packets.pop_front().expect("it is due");
        let path = Path { local: paths[index].remote, remote: paths[index].local };
        match &mut server {
            None => {
                let local = (0..2).map(|k| address(k, 2, 5001)).collect();
                server =
                    Some(Connection::accept(config.clone(), local, path, &segment, Secret([2; 32]), now));
            }
            Some(server)
                if segment.options.mptcp.rare().iter().any(|o| matches!(o, MptcpOption::Join(_)))
                    && server.subflow(id).is_none() =>
            {
                server.accept_join(now, path, &segment);
            }
            Some(server) => server.handle_segment(now, id, &segment),
        }
    }
    (hops, server.map_or(0, |s| s.stats().bytes_delivered))
}

/// User CPU time of this process in seconds.
fn cpu() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let user = stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().nth(11)).unwrap_or("0");
    user.parse::<f64>().unwrap_or(0.0) / 100.0
}

fn main() {
    let numbers: Vec<u64> = std::env::args().filter_map(|argument| argument.parse().ok()).collect();
    let seconds = numbers.first().copied().unwrap_or(10);
    let schedulers = [
        ("round robin", Scheduler::RoundRobin),
        ("lowest RTT", Scheduler::LowestRtt),
        ("linux", Scheduler::Linux),
    ];
    for (name, scheduler) in schedulers {
        for coupling in [Coupling::Uncoupled, Coupling::Lia] {
            let config = Config { scheduler: scheduler.clone(), coupling, ..Config::linux() };
            let before = cpu();
            let (hops, delivered) = run(config, seconds);
            let spent = cpu() - before;
            println!(
                "{name}, {coupling:?}: {:.1} ns per packet-hop, {hops} hops, {:.0} Mbit/s",
                spent * 1e9 / hops as f64,
                delivered as f64 * 8e-6 / seconds as f64
            );
        }
    }
}
