//! What two honest ends are set up with, drawn from a seed.

use crate::host::address;
use ropewalk_adversary::{Random, Source};
use ropewalk_mptcp::{
    Config, Coupling, EndpointFlags, KernelEndpoint, KernelHost, KernelLimits, PathManager, Scheduler,
};
use ropewalk_units::Duration;

/// What one path does, the same both ways.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line {
    pub(crate) delay: Duration,
    pub(crate) jitter: Duration,
    /// In a thousand.
    pub(crate) loss: u64,
    pub(crate) duplicates: u64,
}

/// One life of a connection.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) configs: [Config; 2],
    pub(crate) octets: [u64; 2],
    /// One for each path.
    pub(crate) lines: Vec<Line>,
    /// A middlebox takes every option of Multipath TCP off: the connection falls back to TCP.
    pub(crate) strips: bool,
    /// The low 32 bits of the data sequence numbers wrap within the first 40 kB.
    pub(crate) wraps: bool,
    pub(crate) seed: u64,
}

/// `ip mptcp` of one host: all of its addresses but the first, for any of their purposes.
fn kernel_host(random: &mut Random, host: u8) -> KernelHost {
    let endpoint = |id: u8| {
        let purpose = random.below(4);
        let signal = host == 2 || purpose == 0;
        let flags = EndpointFlags {
            subflow: !signal,
            signal,
            backup: purpose == 1,
            fullmesh: !signal && purpose == 2,
            laminar: false,
        };
        KernelEndpoint { id, address: address(usize::from(id), host, 0).ip(), port: None, flags }
    };
    let limits = KernelLimits { subflows: 4, add_addr_accepted: 4 };
    KernelHost { limits, endpoints: (1..4).map(endpoint).collect(), routed: Vec::new() }
}

fn path_manager(random: &mut Random) -> PathManager {
    match random.below(5) {
        4 => PathManager::Kernel { client: kernel_host(random, 1), server: kernel_host(random, 2) },
        0 => PathManager::Ndiffports { subflows: 1 + random.below(3) as u32 },
        1 => PathManager::Backup,
        _ => PathManager::FullMesh,
    }
}

fn config(random: &mut Random) -> Config {
    let mut config = if random.one_in(3) { Config::classic() } else { Config::linux() };
    let mut flip = |value: bool| value ^ random.one_in(4);
    config.tcp.timestamps = flip(config.tcp.timestamps);
    config.tcp.sack = flip(config.tcp.sack);
    config.tcp.report_duplicates = flip(config.tcp.report_duplicates);
    config.tcp.ecn = flip(config.tcp.ecn);
    config.tcp.nagle = flip(config.tcp.nagle);
    config.checksum = flip(config.checksum);
    config.tcp.mss = random.pick(&[536, 1400, 1460]);
    config.tcp.delayed_ack.timeout = Duration::from_millis(40);
    Config {
        scheduler: scheduler(random.below(5)),
        coupling: random.pick(&[Coupling::Uncoupled, Coupling::Lia, Coupling::Olia, Coupling::Cubic]),
        path_manager: path_manager(random),
        receive_buffer: random.pick(&[20_000, 100_000, 1_000_000]),
        // What a dead subflow carried must come another way.
        reinjection: true,
        ..config
    }
}

fn scheduler(number: u64) -> Scheduler {
    match number {
        0 => Scheduler::RoundRobin,
        1 => Scheduler::LowestRtt,
        2 => Scheduler::Linux,
        3 => Scheduler::Redundant,
        _ => Scheduler::Blest,
    }
}

fn line(random: &mut Random) -> Line {
    Line {
        delay: Duration::from_millis(1 + random.below(60)),
        jitter: Duration::from_micros(random.pick(&[0, 0, 500, 30_000])),
        loss: random.pick(&[0, 0, 10, 30]),
        duplicates: random.pick(&[0, 0, 20]),
    }
}

impl Settings {
    /// Drawn.
    pub(crate) fn draw(seed: u64) -> Self {
        let random = &mut Random::new(seed);
        let configs = [config(random), config(random)];
        let octets = [random.pick(&[1, 1000, 60_000, 150_000]), random.pick(&[0, 0, 500, 50_000])];
        let paths = 1 + random.below(4);
        let lines = (0..paths).map(|_| line(random)).collect();
        Self {
            configs,
            octets,
            lines,
            strips: random.one_in(8),
            wraps: random.one_in(4),
            seed: random.next(),
        }
    }
}

impl Settings {
    /// By how much a connection may be slower than ten times its time in peace. The answers to what is not acceptable are
    /// duplicate ACKs to the peer, and so cost it cwnd. Honest losses fall elsewhere, and those of SYNs and FINs cost a
    /// back-off that begins with 3 s.
    pub(crate) fn patience(&self) -> Duration {
        let loses = self.lines.iter().any(|line| line.loss > 0);
        Duration::from_secs(if loses { 200 } else { 5 })
    }
}

/// A variable of the environment.
pub(crate) fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

/// How many connections are attacked.
pub(crate) fn connections() -> u64 {
    number("ROPEWALK_CONNECTIONS").unwrap_or(2_000)
}

/// The first one's seed.
pub(crate) fn first_seed() -> u64 {
    number("PROPTEST_RNG_SEED").unwrap_or(1) << 32
}
