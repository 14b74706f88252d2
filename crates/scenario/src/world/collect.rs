//! The result of a finished simulation.

use super::datagrams::Due;
use super::endpoint::StreamEndpoint;
use super::packet::Packet;
use super::simulation::Simulation;
use super::view::{DataEnds, SubflowView, Transactions, mptcp_stats, subflows};
use crate::outcome::{ConnectionRow, DatagramCounts, FrameRow, LinkRow, SubflowRow};
use crate::plan::{Application, Bulk, ConnectionPlan, Plan, RequestResponse};
use ropewalk_sim::{LinkStats, Medium, Tap};
use ropewalk_units::{Duration, Instant};

/// Mbit/s of `octets` in `time`; zero for no time.
fn mbps(octets: u64, time: Duration) -> f64 {
    if time.is_zero() { 0.0 } else { octets as f64 * 8e-6 / time.as_secs_f64() }
}

/// The outcome of a connection.
struct Result {
    bytes: u64,
    last_at: Option<Instant>,
    /// All octets that were asked for have arrived.
    all: bool,
    error: Option<String>,
}

fn stream_result(plan: &ConnectionPlan, sender: &StreamEndpoint, receiver: &StreamEndpoint) -> Result {
    let sink = &receiver.sink;
    let corrupt = [sender, receiver].iter().find_map(|end| end.sink.corrupt_at);
    let corrupt = corrupt.map(|at| format!("octet {at} of the stream was not the one that was sent"));
    let all = match &plan.application {
        Application::Bulk(Bulk { bytes: Some(bytes), .. }) => sink.bytes == *bytes,
        Application::RequestResponse(RequestResponse { count: Some(count), .. }) => {
            Transactions::of(receiver).completed == u64::from(*count)
        }
        _ => sink.finished_at.is_some() || (sender.source.is_finished() && sink.bytes > 0),
    };
    let error = corrupt.or_else(|| sender.error.clone()).or_else(|| receiver.error.clone());
    Result { bytes: sink.bytes, last_at: sink.last_at, all, error }
}

fn connection_row(plan: &Plan, index: usize, ends: DataEnds<'_>) -> ConnectionRow {
    let connection = &plan.connections[index];
    let result = match ends {
        DataEnds::Stream { sender, receiver } => stream_result(connection, sender, receiver),
        DataEnds::Udp { sender, receiver } => Result {
            bytes: receiver.bytes,
            last_at: receiver.last_at,
            all: sender.due.is_finished(),
            error: receiver
                .corrupt_at
                .map(|at| format!("the datagram with octet {at} was not the one that was sent")),
        },
    };
    let run_end = Instant::ZERO + plan.settings.duration;
    let finite = connection.application.is_finite();
    let completed = result.error.is_none() && (result.all || (!finite && result.bytes > 0));
    let end = if finite { result.last_at.filter(|_| result.all) } else { Some(run_end) };
    let time = end.unwrap_or(run_end).saturating_since(connection.start);
    let (stats, transactions) = match ends {
        DataEnds::Stream { sender, receiver } => {
            ((mptcp_stats(sender), mptcp_stats(receiver)), Transactions::of(receiver))
        }
        DataEnds::Udp { .. } => ((None, None), Transactions::default()),
    };
    let (datagrams, udp_duplicates) = match ends {
        DataEnds::Udp { sender, receiver } => {
            (Some(DatagramCounts::new(sender.due.sent(), receiver)), receiver.duplicate_bytes)
        }
        DataEnds::Stream { .. } => (None, 0),
    };
    ConnectionRow {
        name: connection.name.clone(),
        protocol: connection.protocol.name(),
        source: plan.nodes[connection.source].name.clone(),
        destination: plan.nodes[connection.destination].name.clone(),
        bytes: result.bytes,
        goodput_mbps: mbps(result.bytes, time),
        start: connection.start,
        end,
        completed,
        hol_blocked_s: Some(stats.1.map_or(0.0, |stats| stats.hol_blocked.as_secs_f64())),
        reorder_buffer_max: Some(stats.1.map_or(0, |stats| stats.reorder_buffer_max)),
        reinjected_bytes: Some(stats.0.map_or(0, |stats| stats.reinjected_bytes)),
        duplicate_bytes: Some(stats.1.map_or(udp_duplicates, |stats| stats.duplicate_bytes)),
        transactions: transactions.completed,
        mean_response_s: transactions.mean_response_s(),
        datagrams,
        error: result.error,
    }
}

/// Rows of all connections.
pub(crate) fn connections<T: Tap<Packet>, M: Medium<Packet>>(
    plan: &Plan,
    simulation: &Simulation<T, M>,
) -> Vec<ConnectionRow> {
    let ends = |index: usize| simulation.data_ends(&plan.connections[index], simulation.ends[index]);
    (0..plan.connections.len()).map(|index| connection_row(plan, index, ends(index))).collect()
}

/// The name of a subflow's path; `b>a` for a pair that is none of the connection's paths, from the client's link to the
/// server's.
fn path_name(plan: &Plan, connection: &ConnectionPlan, view: &SubflowView<'_>) -> String {
    if let Some(path) = connection.paths.get(view.path as usize) {
        return path.name.clone();
    }
    let Some(mut ends) = view.ends else { return String::new() };
    if plan.owner(ends[0]) != connection.source {
        ends.reverse();
    }
    let [from, to] = ends.map(|address| &plan.links[address.link()].name);
    format!("{from}>{to}")
}

/// Rows of all subflows, as the sender of the data counts.
pub(crate) fn subflow_rows<T: Tap<Packet>, M: Medium<Packet>>(
    plan: &Plan,
    simulation: &Simulation<T, M>,
    connections: &[ConnectionRow],
) -> Vec<SubflowRow> {
    let mut rows = Vec::new();
    for (index, connection) in plan.connections.iter().enumerate() {
        let row = &connections[index];
        let end = row.end.unwrap_or(Instant::ZERO + plan.settings.duration);
        let time = end.saturating_since(row.start);
        match simulation.data_ends(connection, simulation.ends[index]) {
            DataEnds::Stream { sender, .. } => rows.extend(subflows(sender).into_iter().map(|view| {
                let stats = view.tcp.stats();
                SubflowRow {
                    connection: connection.name.clone(),
                    subflow: view.subflow,
                    path: path_name(plan, connection, &view),
                    bytes: stats.bytes_acked,
                    throughput_mbps: mbps(stats.bytes_acked, time),
                    retransmissions: stats.retransmissions,
                    spurious_retransmissions: Some(stats.spurious_retransmissions),
                    timeouts: Some(stats.timeouts),
                    srtt_ms: view.tcp.srtt().map(|srtt| srtt.as_secs_f64() * 1e3),
                    fast_recoveries: Some(stats.fast_recoveries),
                    segments: stats.segments_sent,
                    backup: view.backup,
                }
            })),
            DataEnds::Udp { sender, receiver } => rows.push(SubflowRow {
                connection: connection.name.clone(),
                subflow: 0,
                path: connection.paths[0].name.clone(),
                bytes: receiver.bytes,
                throughput_mbps: mbps(receiver.bytes, time),
                retransmissions: 0,
                spurious_retransmissions: Some(0),
                timeouts: Some(0),
                srtt_ms: None,
                fast_recoveries: Some(0),
                segments: sender.due.sent(),
                backup: false,
            }),
        }
    }
    rows
}

/// Rows of all frames that have been sent whole.
pub(crate) fn frames<T: Tap<Packet>, M: Medium<Packet>>(
    plan: &Plan,
    simulation: &Simulation<T, M>,
) -> Vec<FrameRow> {
    let mut rows = Vec::new();
    for (index, connection) in plan.connections.iter().enumerate() {
        let DataEnds::Udp { sender, receiver } = simulation.data_ends(connection, simulation.ends[index])
        else {
            continue;
        };
        let (Due::Frames(source), Some(sink)) = (&sender.due, &receiver.frames) else { continue };
        rows.extend((0..source.frames()).map(|frame| FrameRow {
            connection: connection.name.clone(),
            frame,
            captured: source.captured_at(frame),
            packets: source.numbering().packets(frame),
            arrival: sink.arrival(frame),
        }));
    }
    rows
}

/// Rows of all link directions.
pub(crate) fn links<T: Tap<Packet>, M: Medium<Packet>>(
    plan: &Plan,
    simulation: &mut Simulation<T, M>,
) -> Vec<LinkRow> {
    let (world, links) = (&mut simulation.world, &simulation.links);
    link_rows(plan, links.iter().map(|ids| ids.map(|id| world.link(id))))
}

/// Rows of both directions of links, forward and backward, by what they have done. Bonds, which are the plan's last links,
/// have none.
pub fn link_rows(plan: &Plan, stats: impl IntoIterator<Item = [LinkStats; 2]>) -> Vec<LinkRow> {
    let mut rows = Vec::new();
    for (link, directions) in plan.links.iter().zip(stats) {
        for (direction, stats) in directions.into_iter().enumerate() {
            let name = |end: usize| &plan.nodes[link.ends[end]].name;
            rows.push(LinkRow {
                name: link.name.clone(),
                direction: format!("{}->{}", name(direction), name(1 - direction)),
                bytes: stats.transmitted_bytes,
                packets: stats.transmitted_packets,
                drops_queue: stats.drops_queue,
                drops_loss: stats.drops_loss,
                utilisation: link.wireless().is_none().then(|| stats.utilisation()),
                ecn_marks: stats.marks,
                offered: stats.offered,
                duplicates: stats.duplicates,
                delivered: stats.delivered,
                queued: stats.queued + stats.in_flight,
            });
        }
    }
    rows
}
