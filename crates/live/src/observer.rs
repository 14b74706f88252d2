//! What the kernels tell of their subflows while a run goes on.

use crate::application::{Progress, server_port};
use crate::board::{Board, Seen};
use crate::clock::Clock;
use crate::netlink::{Diag, TcpSocket};
use crate::processes;
use ropewalk_scenario::plan::{ConnectionPlan, NodeIndex, Plan, Protocol};
use ropewalk_scenario::{MptcpSample, MptcpSeriesRow, SeriesRow, SubflowSample};
use ropewalk_units::{Duration, Instant};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

/// Without a series the kernels are asked this often. When a subflow ends, its last counts are then
/// known.
const RARELY: Duration = Duration::from_millis(200);

/// With programs the kernels are asked at least this often: a program may close a socket at any
/// time.
const OFTEN: Duration = Duration::from_millis(50);

/// All that was seen: subflows by connection, in the order in which they came.
#[derive(Debug, Default)]
pub(crate) struct Observed {
    pub(crate) subflows: Vec<Vec<Seen>>,
    pub(crate) series: Vec<SeriesRow>,
    /// What each connection's sender has told last of Multipath TCP.
    pub(crate) multipath: Vec<Option<MptcpSample>>,
    pub(crate) mptcp_series: Vec<MptcpSeriesRow>,
    /// Sockets of no connection.
    pub(crate) others: Vec<Other>,
}

/// A socket of no connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Other {
    pub(crate) node: NodeIndex,
    /// As it was when it was seen last.
    pub(crate) socket: TcpSocket,
    /// Index of the program of that host whose socket it is.
    pub(crate) program: Option<usize>,
}

/// Looks into the namespaces from time to time.
pub(crate) struct Observer<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) diags: BTreeMap<NodeIndex, Diag>,
    /// What hosts of ours tell.
    pub(crate) board: Arc<Board>,
    pub(crate) progress: Vec<Arc<Progress>>,
    pub(crate) clock: Clock,
    /// Is the series wanted?
    pub(crate) series: bool,
    /// Process groups of the programs of each host.
    pub(crate) groups: &'a BTreeMap<NodeIndex, Vec<AtomicI32>>,
}

impl Observer<'_> {
    /// Looks until `stop`, and once more then.
    pub(crate) fn watch(mut self, stop: &AtomicBool) -> Observed {
        let connections = self.plan.connections.len();
        let mut observed = Observed {
            subflows: vec![Vec::new(); connections],
            multipath: vec![None; connections],
            ..Observed::default()
        };
        let mut delivered = vec![0; connections];
        let interval = if self.series { self.plan.settings.sample_interval } else { RARELY };
        let interval = if self.groups.is_empty() { interval } else { interval.min(OFTEN) };
        let mut next = Instant::ZERO;
        let mut last = Instant::ZERO;
        loop {
            let goes_on = self.clock.wait_until(next, stop);
            let now = self.clock.now();
            let looked = self.look(&mut observed);
            if self.series && now > last {
                let time = now.saturating_since(last);
                self.sample((now, time), &looked, &mut delivered, &mut observed);
            }
            if !goes_on {
                return observed;
            }
            last = now;
            // A machine that is too slow gets fewer samples, not late ones in a row.
            while next <= now {
                next = next.saturating_add(interval);
            }
        }
    }

    /// Asks every kernel.
    fn look(&mut self, observed: &mut Observed) -> Looked {
        let bytes = |seen: &Vec<Seen>| seen.iter().map(|seen| seen.bytes).collect();
        let before = observed.subflows.iter().map(bytes).collect();
        let mut open = vec![None; observed.multipath.len()];
        self.board.read(|connection, told| {
            told.subflows.iter().for_each(|seen| keep_seen(&mut observed.subflows[connection], *seen));
            observed.multipath[connection] = told.multipath;
            open[connection] = told.multipath.filter(|_| told.is_open);
        });
        for (node, diag) in &mut self.diags {
            // What a kernel does not tell is not known.
            let Ok(mut sockets) = diag.tcp() else { continue };
            sockets.sort_unstable_by_key(|socket| (socket.local, socket.remote));
            for socket in sockets {
                match owner(self.plan, *node, [socket.local, socket.remote]) {
                    Some(owner) => keep(&mut observed.subflows[owner.connection], &socket, owner.syn_octets),
                    None if is_of_connection(self.plan, *node, &socket) => {}
                    None => keep_other(&mut observed.others, *node, socket, self.groups.get(node)),
                }
            }
            if has_multipath(self.plan, *node) {
                for socket in diag.mptcp().unwrap_or_default() {
                    if let Some(owner) = owner(self.plan, *node, [socket.local, socket.remote]) {
                        observed.multipath[owner.connection] = Some(socket.info);
                        open[owner.connection] = Some(socket.info);
                    }
                }
            }
        }
        Looked { before, open }
    }

    fn sample(
        &self,
        (now, time): (Instant, Duration),
        looked: &Looked,
        delivered: &mut [u64],
        observed: &mut Observed,
    ) {
        let mbps = |octets: u64| octets as f64 * 8e-6 / time.as_secs_f64();
        for (index, seen) in observed.subflows.iter().enumerate() {
            let connection = &self.plan.connections[index];
            if connection.start > now {
                continue;
            }
            for (number, seen) in seen.iter().enumerate() {
                let had = looked.before[index].get(number).copied().unwrap_or(0);
                observed.series.push(SeriesRow {
                    time: now,
                    connection: index as u32,
                    subflow: Some(subflow_sample(self.plan, connection, number, seen)),
                    throughput_mbps: mbps(seen.bytes.saturating_sub(had)),
                    reorder_buffer: None,
                    hol_blocked_ms: None,
                });
            }
            let row = |sample| MptcpSeriesRow { time: now, connection: index as u32, sample };
            observed.mptcp_series.extend(looked.open[index].map(row));
            let bytes = self.progress[index].bytes();
            observed.series.push(SeriesRow {
                time: now,
                connection: index as u32,
                subflow: None,
                throughput_mbps: mbps(bytes - delivered[index]),
                reorder_buffer: None,
                hol_blocked_ms: None,
            });
            delivered[index] = bytes;
        }
    }
}

/// What was there when the kernels were asked.
struct Looked {
    /// The octets that the known subflows of each connection had before.
    before: Vec<Vec<u64>>,
    /// Each connection of Multipath TCP that is open.
    open: Vec<Option<MptcpSample>>,
}

/// What a socket that sends data belongs to.
struct Owner {
    /// Index in the plan.
    connection: usize,
    /// The SYN of the end that opened the connection counts as an octet.
    syn_octets: u64,
}

/// The connection whose data a socket with these ends sends.
fn owner(plan: &Plan, node: NodeIndex, [local, remote]: [SocketAddr; 2]) -> Option<Owner> {
    plan.connections.iter().enumerate().find_map(|(index, connection)| {
        let opened = !connection.server_sends();
        let port = if opened { remote.port() } else { local.port() };
        (connection.sender() == node && port == server_port(index))
            .then(|| Owner { connection: index, syn_octets: u64::from(opened) })
    })
}

/// Does this node send data of a connection of Multipath TCP?
fn has_multipath(plan: &Plan, node: NodeIndex) -> bool {
    let mut all = plan.connections.iter();
    all.any(|connection| connection.sender() == node && matches!(connection.protocol, Protocol::Mptcp(_)))
}

/// Keeps what a socket tells now. Its SYN and its FIN are no data.
fn keep(subflows: &mut Vec<Seen>, socket: &TcpSocket, syn_octets: u64) {
    let handshake = syn_octets + u64::from(socket.fin_acked);
    let bytes = socket.info.bytes_acked.saturating_sub(handshake);
    keep_seen(subflows, Seen { local: socket.local, remote: socket.remote, info: socket.info, bytes });
}

fn keep_seen(subflows: &mut Vec<Seen>, seen: Seen) {
    match subflows.iter_mut().find(|known| (known.local, known.remote) == (seen.local, seen.remote)) {
        Some(known) => *known = seen,
        None => subflows.push(seen),
    }
}

/// Is it the other end of a connection, which has nothing to tell?
fn is_of_connection(plan: &Plan, node: NodeIndex, socket: &TcpSocket) -> bool {
    plan.connections.iter().enumerate().any(|(index, connection)| {
        let ports =
            [(connection.source, socket.remote.port()), (connection.destination, socket.local.port())];
        ports.contains(&(node, server_port(index)))
    })
}

/// Keeps what a socket of no connection tells now.
fn keep_other(others: &mut Vec<Other>, node: NodeIndex, socket: TcpSocket, groups: Option<&Vec<AtomicI32>>) {
    let ends = (node, socket.local, socket.remote);
    let known = others.iter_mut().find(|other| (other.node, other.socket.local, other.socket.remote) == ends);
    let program = || groups.and_then(|groups| processes::owner(groups, socket.inode));
    match known {
        Some(known) => *known = Other { socket, program: known.program.or_else(program), ..*known },
        None => others.push(Other { node, socket, program: program() }),
    }
}

/// The index of the path whose addresses these are, if they are those of one.
pub(crate) fn path(plan: &Plan, connection: &ConnectionPlan, seen: &Seen) -> Option<usize> {
    let own = [seen.local.ip(), seen.remote.ip()];
    connection.paths.iter().position(|path| {
        let mut ends = path.addresses().map(|address| plan.address(address));
        if connection.server_sends() {
            ends.reverse();
        }
        ends == own
    })
}

fn subflow_sample(plan: &Plan, connection: &ConnectionPlan, number: usize, seen: &Seen) -> SubflowSample {
    let info = &seen.info;
    SubflowSample {
        subflow: number as u32,
        path: path(plan, connection, seen).unwrap_or(connection.paths.len()) as u32,
        cwnd: info.cwnd.saturating_mul(info.mss),
        // For "no threshold yet" the kernel tells a number of segments that no window reaches.
        ssthresh: if info.ssthresh >= i32::MAX as u32 {
            u32::MAX
        } else {
            info.ssthresh.saturating_mul(info.mss)
        },
        srtt_ms: info.srtt_ms(),
        flight: info.unacked.saturating_mul(info.mss),
    }
}

/// Tells observers that the run is over when this is dropped.
pub(crate) struct Ending<'a>(pub(crate) &'a AtomicBool);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
