//! The time series: the state of every connection at regular times.

use super::bonds::BondSampler;
use super::packet::Packet;
use super::simulation::Simulation;
use super::view::{DataEnds, mptcp_stats, subflows};
use crate::outcome::{BondSeriesRow, SeriesRow, SubflowSample};
use crate::plan::Plan;
use ropewalk_sim::{Medium, Tap};
use ropewalk_units::{Duration, Instant};

/// What was seen of a connection at the last sample.
#[derive(Clone, Debug, Default)]
struct Seen {
    delivered: u64,
    hol_blocked: Duration,
    /// Octets acknowledged, by subflow.
    acknowledged: Vec<u64>,
}

/// Takes samples.
#[derive(Debug)]
pub(crate) struct Sampler {
    last_at: Instant,
    seen: Vec<Seen>,
    rows: Vec<SeriesRow>,
    bonds: BondSampler,
}

impl Sampler {
    /// Nothing seen yet.
    pub(crate) fn new(plan: &Plan) -> Self {
        Self {
            last_at: Instant::ZERO,
            seen: vec![Seen::default(); plan.connections.len()],
            rows: Vec::new(),
            bonds: BondSampler::default(),
        }
    }

    /// Adds the rows of this time.
    pub(crate) fn sample<T: Tap<Packet>, M: Medium<Packet>>(
        &mut self,
        plan: &Plan,
        simulation: &Simulation<T, M>,
    ) {
        let now = simulation.world.now();
        let elapsed = now.saturating_since(self.last_at);
        if elapsed.is_zero() {
            return;
        }
        for (index, connection) in plan.connections.iter().enumerate() {
            if connection.start > now {
                continue;
            }
            let ends = simulation.data_ends(connection, simulation.ends[index]);
            self.sample_connection(now, elapsed, index, ends);
        }
        self.bonds.sample(plan, simulation, elapsed);
        self.last_at = now;
    }

    fn sample_connection(&mut self, now: Instant, elapsed: Duration, index: usize, ends: DataEnds<'_>) {
        let seen = &mut self.seen[index];
        let rate = |octets: u64| octets as f64 * 8e-6 / elapsed.as_secs_f64();
        let connection = index as u32;
        let (delivered, stats) = match ends {
            DataEnds::Udp { receiver, .. } => (receiver.bytes, None),
            DataEnds::Stream { sender, receiver } => {
                for view in subflows(sender) {
                    let number = view.subflow as usize;
                    if seen.acknowledged.len() <= number {
                        seen.acknowledged.resize(number + 1, 0);
                    }
                    let acknowledged = view.tcp.stats().bytes_acked;
                    let octets = acknowledged - seen.acknowledged[number];
                    seen.acknowledged[number] = acknowledged;
                    let sample = SubflowSample {
                        subflow: view.subflow,
                        path: view.path,
                        cwnd: view.tcp.cwnd(),
                        ssthresh: view.tcp.ssthresh(),
                        srtt_ms: view.tcp.srtt().map(|srtt| srtt.as_secs_f64() * 1e3),
                        flight: view.tcp.flight_size(),
                    };
                    self.rows.push(SeriesRow {
                        time: now,
                        connection,
                        subflow: Some(sample),
                        throughput_mbps: rate(octets),
                        reorder_buffer: None,
                        hol_blocked_ms: None,
                    });
                }
                (receiver.sink.bytes, mptcp_stats(receiver))
            }
        };
        let blocked = stats.map(|stats| stats.hol_blocked);
        self.rows.push(SeriesRow {
            time: now,
            connection,
            subflow: None,
            throughput_mbps: rate(delivered - seen.delivered),
            reorder_buffer: stats.map(|stats| stats.reorder_buffer),
            hol_blocked_ms: blocked.map(|total| (total - seen.hol_blocked).as_secs_f64() * 1e3),
        });
        seen.delivered = delivered;
        seen.hol_blocked = blocked.unwrap_or_default();
    }

    /// All rows: the connections', and the bonds'.
    pub(crate) fn finish(self) -> (Vec<SeriesRow>, Vec<BondSeriesRow>) {
        (self.rows, self.bonds.finish())
    }
}
