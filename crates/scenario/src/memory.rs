//! What a run may keep in memory, estimated from its plan before it runs.
//!
//! The estimate is an upper one: buffers that could fill count as full, and links that could be busy count as busy.

use crate::outcome::{EventRow, LinkSeriesRow, MptcpSeriesRow, SeriesRow};
use crate::plan::{Application, ConnectionPlan, EventKind, EventKinds, Plan, Protocol};
use crate::scenario::Scenario;
use crate::world::MOST_EVENTS;
use ropewalk_sim::{DirectionConfig, Queue, QueueLimit};
use ropewalk_units::Instant;

/// Octets for one data packet under way: the packet, its place in a queue, what sender and receiver keep of it, and its
/// acknowledgement. `tests/python/test_isolated.py` compares the whole with what runs take.
const PER_PACKET: u64 = 640;
/// Octets of one end of a connection, or of a subflow, without its packets.
const PER_END: u64 = 8 * 1024;
/// Octets of one direction of a link, without its packets.
const PER_DIRECTION: u64 = 2 * 1024;
/// The engine itself, its tables and what reads them.
const FIXED: u64 = 64 * 1024 * 1024;
/// A row of results is kept three times at the end: as it was noted, as columns, and as the content of a file.
const COPIES: u64 = 3;
/// The shortest packet: headers alone.
const LEAST_PACKET: u64 = 40;
/// Frames that a radio can send in a second at most, roughly: a frame without content and its acknowledgement at 54 Mbit/s.
const MOST_FRAMES: u64 = 10_000;

/// What a run may keep in memory at most, in octets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Memory {
    /// The network, its connections and packets.
    pub world: u64,
    /// The time series, if they are collected.
    pub series: u64,
    /// The events.
    pub events: u64,
}

impl Scenario {
    /// What a run may keep in memory.
    pub fn memory(&self) -> Memory {
        let plan = self.plan();
        Memory { world: world(plan), series: series(plan), events: events(plan) }
    }
}

fn world(plan: &Plan) -> u64 {
    let connections = plan.connections.iter().map(|connection| {
        let ends = 2 * PER_END * (1 + connection.paths.len() as u64);
        ends.saturating_add(most_packets(plan, connection).saturating_mul(PER_PACKET))
    });
    let directions = 2 * PER_DIRECTION * plan.links.len() as u64;
    let addresses = plan.routing.next.iter().map(|next| 16 * next.len() as u64).sum::<u64>();
    let stations = plan.wifi.as_ref().map_or(0, |wifi| wifi.scene.stations.len() as u64);
    let air = stations * stations * 64;
    connections.fold(FIXED + directions + addresses + air, u64::saturating_add)
}

/// Packets of a connection that can be under way, or wait for what is before them.
fn most_packets(plan: &Plan, connection: &ConnectionPlan) -> u64 {
    let window = match &connection.protocol {
        Protocol::Tcp(config) => Some((config.receive_buffer.max(config.send_buffer), config.mss)),
        Protocol::Mptcp(config) => Some((config.receive_buffer.max(config.send_buffer), config.tcp.mss)),
        Protocol::Udp => None,
    };
    match window {
        Some((octets, mss)) => u64::from(octets).div_ceil(u64::from(mss.max(1))),
        None => room(plan, connection),
    }
}

/// Packets that there is room for on a connection's ways.
fn room(plan: &Plan, connection: &ConnectionPlan) -> u64 {
    let least = least_packet(&connection.application);
    let links = connection.paths.iter().flat_map(|path| &path.forward);
    let directions =
        links.filter_map(|&(link, direction)| Some(&plan.links[link].wire()?.directions[direction]));
    directions.map(|direction| room_of(direction, least)).fold(0, u64::saturating_add)
}

fn room_of(direction: &DirectionConfig, least: u64) -> u64 {
    let limit = match &direction.queue {
        Queue::DropTail { limit, .. }
        | Queue::Red { limit, .. }
        | Queue::Codel { limit, .. }
        | Queue::FqCodel { limit, .. } => *limit,
    };
    let queued = match limit {
        QueueLimit::Packets(packets) => u64::from(packets),
        QueueLimit::Bytes(octets) => octets / least,
    };
    let under_way = u128::from(octets_per_second(direction)) * u128::from(direction.delay.as_nanos())
        / (1_000_000_000 * u128::from(least));
    queued.saturating_add(u64::try_from(under_way).unwrap_or(u64::MAX))
}

fn least_packet(application: &Application) -> u64 {
    let octets = match application {
        Application::ConstantRate(paced) => u64::from(paced.packet_size),
        Application::OnOff(paced) => u64::from(paced.packet_size),
        Application::Frames(frames) => u64::from(frames.packet_size),
        Application::Recorded(recorded) => u64::from(recorded.lengths().0),
        Application::Bulk(_) | Application::RequestResponse(_) => 0,
    };
    octets.max(LEAST_PACKET)
}

/// What a direction carries in a second: of a trace what it has on average.
fn octets_per_second(direction: &DirectionConfig) -> u64 {
    match &direction.trace {
        Some(trace) => {
            let length = trace.opportunities_ms.last().copied().unwrap_or(1).max(1);
            trace.opportunities_ms.len() as u64 * 1_500_000 / length
        }
        None => direction.rate.bits_per_sec() / 8,
    }
}

fn series(plan: &Plan) -> u64 {
    let settings = &plan.settings;
    let samples = settings.duration.as_nanos() / settings.sample_interval.as_nanos().max(1) + 1;
    let is_multipath = |connection: &&ConnectionPlan| matches!(connection.protocol, Protocol::Mptcp(_));
    let multipath = plan.connections.iter().filter(is_multipath).count();
    let of_connections = plan.connections.iter().map(|connection| 1 + connection.paths.len() as u64);
    let rows = of_connections.sum::<u64>() * size_of::<SeriesRow>() as u64
        + multipath as u64 * size_of::<MptcpSeriesRow>() as u64
        + 2 * plan.links.len() as u64 * size_of::<LinkSeriesRow>() as u64;
    samples.saturating_mul(rows).saturating_mul(COPIES)
}

fn events(plan: &Plan) -> u64 {
    let kinds = plan.settings.events;
    if kinds.is_empty() {
        return 0;
    }
    let packets = plan.connections.iter().map(|connection| carried(plan, connection));
    let of_packets = packets.fold(0, u64::saturating_add).saturating_mul(with_each_packet(kinds));
    let count = of_packets.saturating_add(of_radios(plan, kinds)).min(MOST_EVENTS as u64);
    count * size_of::<EventRow>() as u64 * COPIES
}

/// How many of these kinds can come with each packet.
fn with_each_packet(kinds: EventKinds) -> u64 {
    use EventKind::{BondDecision, Drop, Mark, Rtt, Sack, Scheduling, Segment, Window};
    let frequent = [Window, Rtt, Sack, Scheduling, Segment, Drop, Mark, BondDecision];
    // Others come at most once for some packets.
    1 + frequent.into_iter().filter(|&kind| kinds.contains(kind)).count() as u64
}

/// Data packets that a connection can send until the end.
fn carried(plan: &Plan, connection: &ConnectionPlan) -> u64 {
    let mss = match &connection.protocol {
        Protocol::Tcp(config) => u64::from(config.mss),
        Protocol::Mptcp(config) => u64::from(config.tcp.mss),
        Protocol::Udp => least_packet(&connection.application),
    };
    let end = Instant::ZERO + plan.settings.duration;
    let seconds = end.saturating_since(connection.start).as_secs_f64();
    let first = connection.paths.iter().filter_map(|path| {
        let way = if connection.server_sends() { &path.backward } else { &path.forward };
        let rates = way.iter().filter_map(|&(link, direction)| {
            Some(octets_per_second(&plan.links[link].wire()?.directions[direction]))
        });
        rates.min()
    });
    let octets = first.map(|rate| rate as f64 * seconds).sum::<f64>() as u64;
    octets / mss.max(1)
}

fn of_radios(plan: &Plan, kinds: EventKinds) -> u64 {
    let Some(wifi) = &plan.wifi else { return 0 };
    let stations = wifi.scene.stations.len() as u64;
    let duration = plan.settings.duration.as_nanos();
    let frames = if kinds.contains(EventKind::Collision) {
        stations.saturating_mul(MOST_FRAMES).saturating_mul(duration / 1_000_000_000 + 1)
    } else {
        0
    };
    let moves = match kinds.contains(EventKind::Movement) && wifi.is_mobile() {
        true => stations.saturating_mul(duration / wifi.keys.update_interval.as_nanos().max(1) + 1),
        false => 0,
    };
    frames.saturating_add(moves)
}
