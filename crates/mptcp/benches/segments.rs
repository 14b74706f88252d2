//! Nanoseconds per packet-hop of two connections over two paths of 1 Gbit/s and 1 ms: the stack alone, with FIFO
//! paths in place of the simulator. A packet-hop is a data packet or an ACK delivered over a path.
//!
//! `cargo bench -p ropewalk-mptcp -- [seconds of simulated time] [how many schedulers]`

use ropewalk_mptcp::{
    Accepting, Config, Connecting, Connection, Coupling, Path, Scheduler, Secret, SubflowId,
};
use ropewalk_units::{Duration, Instant, Seq};
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

/// The two ends, and when each wants to be woken.
struct Ends {
    client: Connection,
    server: Option<Connection>,
    timers: [Instant; 2],
    up: [Pipe; 2],
    down: [Pipe; 2],
}

impl Ends {
    /// Lets one end do what follows from its last input.
    fn settle(&mut self, now: Instant, side: usize) {
        let timer = if side == 0 {
            self.client.push(self.client.send_space());
            drain(&mut self.client, now, &mut self.up);
            self.client.poll_timeout()
        } else {
            let Some(server) = &mut self.server else { return };
            drain(server, now, &mut self.down);
            server.poll_timeout()
        };
        self.timers[side] = timer.map_or(Instant::MAX, |(at, _)| at);
    }

    fn deliver(&mut self, now: Instant, config: &Config, paths: &[Path], index: usize) {
        let (_, id, segment) = self.up[index].packets.pop_front().expect("it is due");
        let path = Path { local: paths[index].remote, remote: paths[index].local };
        let joins = segment.options.mptcp.rare().iter().any(|o| matches!(o, MptcpOption::Join(_)));
        match &mut self.server {
            None => {
                let local_addresses = (0..2).map(|k| address(k, 2, 5001)).collect();
                let (iss, secret) = (Seq::new(2), Secret([2; 32]));
                let accepting = Accepting { path, local_addresses, iss, secret };
                self.server = Some(Connection::accept(config.clone(), accepting, &segment, now));
            }
            Some(server) if joins && server.subflow(id).is_none() => {
                server.accept_join(now, path, &segment, Seq::new(3)).expect("two subflows are few");
            }
            Some(server) => server.handle_segment(now, id, &segment),
        }
    }
}

fn run(config: &Config, seconds: u64) -> (u64, u64) {
    let paths: Vec<Path> = (0..2)
        .map(|k| Path { local: address(k, 1, 40_000 * u16::from(k == 0)), remote: address(k, 2, 5001) })
        .collect();
    let mut now = Instant::ZERO;
    let end = now + Duration::from_secs(seconds);
    let connecting = Connecting { paths: paths.clone(), iss: Seq::new(1), secret: Secret([1; 32]) };
    let mut ends = Ends {
        client: Connection::connect(config.clone(), connecting, now),
        server: None,
        timers: [Instant::MAX; 2],
        up: Default::default(),
        down: Default::default(),
    };
    ends.settle(now, 0);
    let mut hops = 0;
    while now < end {
        let packets = [ends.up[0].due(), ends.up[1].due(), ends.down[0].due(), ends.down[1].due()];
        let (first, packet) = packets.into_iter().enumerate().min_by_key(|(_, at)| *at).expect("four pipes");
        now = packet.min(ends.timers[0]).min(ends.timers[1]);
        let side = if packet == now {
            hops += 1;
            if first < 2 {
                ends.deliver(now, config, &paths, first);
                1
            } else {
                let (_, id, segment) = ends.down[first - 2].packets.pop_front().expect("it is due");
                ends.client.handle_segment(now, id, &segment);
                0
            }
        } else if ends.timers[0] == now {
            ends.client.handle_timeout(now);
            0
        } else {
            ends.server.as_mut().expect("it has a timer").handle_timeout(now);
            1
        };
        ends.settle(now, side);
    }
    (hops, ends.server.map_or(0, |server| server.stats().bytes_delivered))
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
    let combinations = numbers.get(1).copied().unwrap_or(u64::MAX);
    for (name, scheduler) in schedulers.into_iter().take(combinations as usize) {
        for coupling in [Coupling::Uncoupled, Coupling::Lia] {
            let config = Config { scheduler: scheduler.clone(), coupling, ..Config::linux() };
            let before = cpu();
            let (hops, delivered) = run(&config, seconds);
            let spent = cpu() - before;
            println!(
                "{name}, {coupling:?}: {:.1} ns per packet-hop, {hops} hops, {:.0} Mbit/s",
                spent * 1e9 / hops as f64,
                delivered as f64 * 8e-6 / seconds as f64
            );
        }
    }
}
