//! What the kernels tell of their subflows while a run goes on.

use crate::application::{Progress, server_port};
use crate::clock::Clock;
use crate::netlink::{Diag, TcpInfo, TcpSocket};
use ropewalk_scenario::plan::{ConnectionPlan, NodeIndex, Plan};
use ropewalk_scenario::{SeriesRow, SubflowSample};
use ropewalk_units::{Duration, Instant};
use std::collections::BTreeMap;
use std::net::SocketAddrV4;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Without a series the kernels are asked this often: a subflow that ends is then known by what it was.
const RARELY: Duration = Duration::from_millis(200);

/// A subflow at the sender of the data.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen {
    pub(crate) local: SocketAddrV4,
    pub(crate) remote: SocketAddrV4,
    /// As it was when it was seen last.
    pub(crate) info: TcpInfo,
    /// Octets of payload acknowledged.
    pub(crate) bytes: u64,
}

/// All that was seen: subflows by connection, in the order in which they came.
#[derive(Debug, Default)]
pub(crate) struct Observed {
    pub(crate) subflows: Vec<Vec<Seen>>,
    pub(crate) series: Vec<SeriesRow>,
}

/// Looks into the namespaces from time to time.
pub(crate) struct Observer<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) diags: BTreeMap<NodeIndex, Diag>,
    pub(crate) progress: Vec<Arc<Progress>>,
    pub(crate) clock: Clock,
    /// Is the series wanted?
    pub(crate) series: bool,
}

impl Observer<'_> {
    /// Looks until `stop`, and once more then.
    pub(crate) fn watch(mut self, stop: &AtomicBool) -> Observed {
        let connections = self.plan.connections.len();
        let mut observed = Observed { subflows: vec![Vec::new(); connections], series: Vec::new() };
        let mut delivered = vec![0; connections];
        let interval = if self.series { self.plan.settings.sample_interval } else { RARELY };
        let mut next = Instant::ZERO;
        let mut last = Instant::ZERO;
        loop {
            let goes_on = self.clock.wait_until(next, stop);
            let now = self.clock.now();
            let before = self.look(&mut observed);
            if self.series && now > last {
                let time = now.saturating_since(last);
                self.sample((now, time), &before, &mut delivered, &mut observed);
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

    /// Asks every kernel. Gives what subflows had before, as far as they were known.
    fn look(&mut self, observed: &mut Observed) -> Vec<Vec<u64>> {
        let bytes = |seen: &Vec<Seen>| seen.iter().map(|seen| seen.bytes).collect();
        let before = observed.subflows.iter().map(bytes).collect();
        for (node, diag) in &mut self.diags {
            // What a kernel does not tell is not known.
            let Ok(mut sockets) = diag.tcp() else { continue };
            sockets.sort_unstable_by_key(|socket| (socket.local, socket.remote));
            for socket in sockets {
                let owner = self.plan.connections.iter().enumerate().find_map(|(index, connection)| {
                    let opened = !connection.server_sends();
                    let port = if opened { socket.remote.port() } else { socket.local.port() };
                    (connection.sender() == *node && port == server_port(index)).then_some((index, opened))
                });
                if let Some((index, opened)) = owner {
                    keep(&mut observed.subflows[index], &socket, opened);
                }
            }
        }
        before
    }

    fn sample(
        &self,
        (now, time): (Instant, Duration),
        before: &[Vec<u64>],
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
                let had = before[index].get(number).copied().unwrap_or(0);
                observed.series.push(SeriesRow {
                    time: now,
                    connection: index as u32,
                    subflow: Some(subflow_sample(self.plan, connection, number, seen)),
                    throughput_mbps: mbps(seen.bytes.saturating_sub(had)),
                    reorder_buffer: None,
                    hol_blocked_ms: None,
                });
            }
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

/// Keeps what a socket tells now; `opened` is true at the end that has sent a SYN, which counts as an octet.
fn keep(subflows: &mut Vec<Seen>, socket: &TcpSocket, opened: bool) {
    let handshake = u64::from(opened) + u64::from(socket.fin_acked);
    let bytes = socket.info.bytes_acked.saturating_sub(handshake);
    let (local, remote) = (socket.local, socket.remote);
    let seen = Seen { local, remote, info: socket.info, bytes };
    match subflows.iter_mut().find(|known| (known.local, known.remote) == (local, remote)) {
        Some(known) => *known = seen,
        None => subflows.push(seen),
    }
}

/// The index of the path whose addresses these are, if they are those of one.
pub(crate) fn path(plan: &Plan, connection: &ConnectionPlan, seen: &Seen) -> Option<usize> {
    let own = [*seen.local.ip(), *seen.remote.ip()];
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
        // The kernel's "none yet" is a number of segments that no window has.
        ssthresh: if info.ssthresh >= i32::MAX as u32 {
            u32::MAX
        } else {
            info.ssthresh.saturating_mul(info.mss)
        },
        srtt_ms: (info.rtt_us > 0).then(|| f64::from(info.rtt_us) * 1e-3),
        flight: info.unacked.saturating_mul(info.mss),
    }
}

/// Says to a watching observer that the run is over, when it goes.
pub(crate) struct Ending<'a>(pub(crate) &'a AtomicBool);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
