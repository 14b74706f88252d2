//! What two honest ends are set up with, drawn from a seed.

use ropewalk_adversary::{Random, Source};
use ropewalk_mptcp::{
    Config, Coupling, EndpointFlags, KernelChange, KernelCommand, KernelEndpoint, KernelHost, KernelLimits,
    PathManager, Scheduler, Secret,
};
use ropewalk_testnet::attack::line;
use ropewalk_testnet::{Line, MptcpHost, Network, address, both_ways, paths};
use ropewalk_units::{Duration, Instant};

/// One life of a connection.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) configs: [Config; 2],
    pub(crate) octets: [u64; 2],
    /// One for each path, the same both ways.
    pub(crate) lines: Vec<Line>,
    /// A middlebox takes every option of Multipath TCP off: the connection falls back to TCP.
    pub(crate) strips: bool,
    /// The low 32 bits of the data sequence numbers wrap within the first 40 kB.
    pub(crate) wraps: bool,
    pub(crate) seed: u64,
}

/// Endpoints that come, go and change while the connection lives.
fn changes(random: &mut Random, endpoints: &[KernelEndpoint]) -> Vec<KernelChange> {
    let mut changes = Vec::new();
    let mut at = Instant::ZERO;
    for _ in 0..random.below(6) {
        at += Duration::from_millis(random.below(400));
        let endpoint = random.pick(endpoints);
        let id = endpoint.id;
        let command = match random.below(4) {
            0 => KernelCommand::Change { id, backup: random.one_in(2), fullmesh: random.one_in(2) },
            1 => KernelCommand::SetLimits(KernelLimits { subflows: 1 + id, add_addr_accepted: id }),
            _ => KernelCommand::Delete { id },
        };
        let deleted = matches!(command, KernelCommand::Delete { .. });
        changes.push(KernelChange { at, command });
        if deleted && random.one_in(2) {
            at += Duration::from_millis(random.below(200));
            changes.push(KernelChange { at, command: KernelCommand::Add(endpoint) });
        }
    }
    changes
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
    let endpoints: Vec<_> = (1..4).map(endpoint).collect();
    let changes = changes(random, &endpoints);
    KernelHost { limits, endpoints, routed: Vec::new(), changes }
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

impl Settings {
    /// Does a host add or delete endpoints while the connection lives?
    pub(crate) fn endpoints_change(&self) -> bool {
        let changes = |config: &Config| match &config.path_manager {
            PathManager::Kernel { client, server } => {
                !client.changes.is_empty() || !server.changes.is_empty()
            }
            _ => false,
        };
        self.configs.iter().any(changes)
    }

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

/// What a host draws its key from; `wraps`: such that its data sequence numbers soon pass 2³².
fn secret(host: u8, wraps: bool) -> Secret {
    let found = if host == 1 { 28_302u32 } else { 71_844 };
    let mut secret = [host; 32];
    secret[28..].copy_from_slice(&if wraps { found } else { 0 }.to_be_bytes());
    Secret(secret)
}

impl Settings {
    /// The client's SYN is about to leave.
    pub(crate) fn network(&self) -> Network<MptcpHost> {
        let [client, server] = self.configs.clone();
        let count = self.lines.len();
        let client = MptcpHost::client(client, count, self.octets[0]);
        let server = MptcpHost::server(server, count, self.octets[1]);
        let mut client = client.with_secret(secret(1, self.wraps));
        client.connect(paths(count), Instant::ZERO);
        let line = |line: &Line| {
            let mut line = line.clone();
            line.middlebox.strips_from = self.strips.then_some(Instant::ZERO);
            both_ways(line)
        };
        let lines = self.lines.iter().map(line).collect();
        Network::new([client, server.with_secret(secret(2, self.wraps))], lines, self.seed)
    }
}
