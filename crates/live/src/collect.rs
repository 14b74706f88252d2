//! The outcome of an emulation: the rows of a simulation, as far as kernels tell what is in them.

use crate::application::Progress;
use crate::board::Seen;
use crate::observer::{Observed, Other, path};
use ropewalk_mptcp::PathManager;
use ropewalk_scenario::plan::{
    AddressIndex, Application, Bulk, ConnectionPlan, Plan, Protocol, RequestResponse,
};
use ropewalk_scenario::{ConnectionRow, DatagramCounts, SocketRow, SubflowRow};
use ropewalk_units::{Duration, Instant};
use std::net::IpAddr;
use std::sync::Arc;

/// Mbit/s of `octets` in `time`; zero for no time.
fn mbps(octets: u64, time: Duration) -> f64 {
    if time.is_zero() { 0.0 } else { octets as f64 * 8e-6 / time.as_secs_f64() }
}

/// Rows of all connections at the end of the run.
pub(crate) fn connections(
    plan: &Plan,
    progress: &[Arc<Progress>],
    observed: &Observed,
) -> Vec<ConnectionRow> {
    let all = plan.connections.iter().zip(progress).zip(&observed.multipath);
    all.map(|((connection, progress), multipath)| ConnectionRow {
        reinjected_bytes: multipath.and_then(|sample| sample.reinjected_bytes),
        ..connection_row(plan, connection, progress)
    })
    .collect()
}

fn connection_row(plan: &Plan, connection: &ConnectionPlan, progress: &Progress) -> ConnectionRow {
    let run_end = Instant::ZERO + plan.settings.duration;
    let (bytes, error) = (progress.bytes(), progress.error());
    let (transactions, response_time) = progress.exchanges();
    let udp = matches!(connection.protocol, Protocol::Udp);
    let (datagrams, duplicates) = udp.then(|| progress.datagrams()).unzip();
    let all = match &connection.application {
        Application::Bulk(Bulk { bytes: Some(wanted), .. }) => bytes == *wanted,
        Application::RequestResponse(RequestResponse { count: Some(count), .. }) => {
            transactions == u64::from(*count)
        }
        _ if udp => progress.has_sent_all(),
        _ => progress.is_complete(),
    };
    let finite = connection.application.is_finite();
    let end = if finite { progress.last_at().filter(|_| all) } else { Some(run_end) };
    let time = end.unwrap_or(run_end).saturating_since(connection.start);
    ConnectionRow {
        name: connection.name.clone(),
        protocol: connection.protocol.name(),
        source: plan.nodes[connection.source].name.clone(),
        destination: plan.nodes[connection.destination].name.clone(),
        bytes,
        goodput_mbps: mbps(bytes, time),
        start: connection.start,
        end,
        completed: error.is_none() && (all || (!finite && bytes > 0)),
        hol_blocked_s: None,
        reorder_buffer_max: None,
        reinjected_bytes: None,
        duplicate_bytes: duplicates,
        transactions,
        mean_response_s: (transactions > 0).then(|| response_time.as_secs_f64() / transactions as f64),
        datagrams,
        error,
    }
}

/// Rows of all subflows, as the kernel of the sender counts.
pub(crate) fn subflows(plan: &Plan, rows: &[ConnectionRow], observed: &Observed) -> Vec<SubflowRow> {
    let mut all = Vec::new();
    for ((connection, row), seen) in plan.connections.iter().zip(rows).zip(&observed.subflows) {
        let end = row.end.unwrap_or(Instant::ZERO + plan.settings.duration);
        let time = end.saturating_since(row.start);
        if let Some(counts) = &row.datagrams {
            all.push(flow_row(connection, row.bytes, counts, time));
            continue;
        }
        let rows = seen.iter().enumerate();
        all.extend(rows.map(|(number, seen)| subflow_row(plan, connection, number, (seen, time))));
    }
    all
}

fn subflow_row(
    plan: &Plan,
    connection: &ConnectionPlan,
    number: usize,
    (seen, time): (&Seen, Duration),
) -> SubflowRow {
    let info = &seen.info;
    SubflowRow {
        connection: connection.name.clone(),
        subflow: number as u32,
        path: path_name(plan, connection, seen),
        bytes: seen.bytes,
        throughput_mbps: mbps(seen.bytes, time),
        retransmissions: info.retransmissions.into(),
        spurious_retransmissions: info.dsack_dups.map(u64::from),
        timeouts: info.timeouts.map(u64::from),
        srtt_ms: info.srtt_ms(),
        fast_recoveries: None,
        segments: info.segments_out.into(),
        backup: is_backup(connection, number),
    }
}

/// The one row of a UDP flow, as simulations have it.
fn flow_row(connection: &ConnectionPlan, bytes: u64, counts: &DatagramCounts, time: Duration) -> SubflowRow {
    SubflowRow {
        connection: connection.name.clone(),
        subflow: 0,
        path: connection.paths[0].name.clone(),
        bytes,
        throughput_mbps: mbps(bytes, time),
        retransmissions: 0,
        spurious_retransmissions: Some(0),
        timeouts: Some(0),
        srtt_ms: None,
        fast_recoveries: Some(0),
        segments: counts.sent,
        backup: false,
    }
}

/// The name of a subflow's path; `b>a` for a pair that is none of the connection's paths, from the
/// client's link to the server's.
fn path_name(plan: &Plan, connection: &ConnectionPlan, seen: &Seen) -> String {
    if let Some(index) = path(plan, connection, seen) {
        return connection.paths[index].name.clone();
    }
    let link = |address: IpAddr| {
        let index = (0..2 * plan.links.len()).map(AddressIndex).find(|index| plan.address(*index) == address);
        index.map_or("?", |index| plan.links[index.link()].name.as_str())
    };
    let mut ends = [link(seen.local.ip()), link(seen.remote.ip())];
    if connection.server_sends() {
        ends.reverse();
    }
    ends.join(">")
}

/// As the scenario asks for it: the path manager makes all but the first subflow backups.
fn is_backup(connection: &ConnectionPlan, number: usize) -> bool {
    match &connection.protocol {
        Protocol::Mptcp(config) => config.path_manager == PathManager::Backup && number > 0,
        Protocol::Tcp(_) | Protocol::Udp => false,
    }
}

/// Rows of the sockets that are of no connection.
pub(crate) fn sockets(plan: &Plan, others: &[Other]) -> Vec<SocketRow> {
    let row = |other: &Other| {
        let (node, info) = (&plan.nodes[other.node], &other.socket.info);
        SocketRow {
            host: node.name.clone(),
            command: other.program.map(|index| node.commands[index].name.clone()),
            local: other.socket.local.to_string(),
            remote: other.socket.remote.to_string(),
            acked_bytes: info.bytes_acked,
            received_bytes: info.bytes_received,
            retransmissions: info.retransmissions.into(),
            timeouts: info.timeouts.map(u64::from),
            srtt_ms: info.srtt_ms(),
        }
    };
    others.iter().map(row).collect()
}
