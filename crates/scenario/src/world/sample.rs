//! The time series: the state of every connection at regular times.

use super::bonds;
use super::packet::Packet;
use super::simulation::Simulation;
use super::view::{DataEnds, mptcp_stats, open_mptcp, subflows};
use crate::outcome::{
    BondSeries, BondSeriesRow, LinkSeriesRow, MptcpSample, MptcpSeriesRow, SeriesRow, SubflowSample,
};
use crate::plan::Plan;
use ropewalk_sim::{LinkStats, Medium, Tap};
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
    multipath: Vec<MptcpSeriesRow>,
    bonds: BondSeries,
    links: LinkSampler,
}

/// All rows of a run.
#[derive(Debug, Default)]
pub(crate) struct Samples {
    pub(crate) series: Vec<SeriesRow>,
    pub(crate) mptcp_series: Vec<MptcpSeriesRow>,
    pub(crate) bond_series: Vec<BondSeriesRow>,
    pub(crate) link_series: Vec<LinkSeriesRow>,
}

/// Takes samples of the links.
#[derive(Debug, Default)]
struct LinkSampler {
    /// By direction.
    seen: Vec<LinkStats>,
    rows: Vec<LinkSeriesRow>,
}

impl LinkSampler {
    /// Adds the rows of this time; `elapsed` has passed since the last.
    fn sample<T: Tap<Packet>, M: Medium<Packet>>(
        &mut self,
        plan: &Plan,
        simulation: &mut Simulation<T, M>,
        elapsed: Duration,
    ) {
        let (world, links) = (&mut simulation.world, &simulation.links);
        let time = world.now();
        self.seen.resize(links.len() * 2, LinkStats::default());
        for (place, &id) in links.iter().flatten().enumerate() {
            let stats = world.link(id);
            let before = std::mem::replace(&mut self.seen[place], stats);
            let bytes = stats.transmitted_bytes - before.transmitted_bytes;
            let capacity = stats.capacity_bytes - before.capacity_bytes;
            let share = || if capacity == 0 { 0.0 } else { (bytes as f64 / capacity as f64).min(1.0) };
            self.rows.push(LinkSeriesRow {
                time,
                link: place as u32,
                queue_packets: stats.queued,
                queue_bytes: stats.queued_bytes,
                throughput_mbps: bytes as f64 * 8e-6 / elapsed.as_secs_f64(),
                drops_queue: stats.drops_queue - before.drops_queue,
                drops_loss: stats.drops_loss - before.drops_loss,
                utilisation: plan.links[place / 2].wireless().is_none().then(share),
            });
        }
    }
}

impl Sampler {
    /// Nothing seen yet.
    pub(crate) fn new(plan: &Plan) -> Self {
        Self {
            last_at: Instant::ZERO,
            seen: vec![Seen::default(); plan.connections.len()],
            rows: Vec::new(),
            multipath: Vec::new(),
            bonds: BondSeries::default(),
            links: LinkSampler::default(),
        }
    }

    /// Adds the rows of this time.
    pub(crate) fn sample<T: Tap<Packet>, M: Medium<Packet>>(
        &mut self,
        plan: &Plan,
        simulation: &mut Simulation<T, M>,
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
        self.bonds.add(simulation.world.now(), elapsed, bonds::totals(plan, simulation));
        self.links.sample(plan, simulation, elapsed);
        self.last_at = now;
    }

    fn sample_connection(&mut self, now: Instant, elapsed: Duration, index: usize, ends: DataEnds<'_>) {
        let seen = &mut self.seen[index];
        let rate = |octets: u64| octets as f64 * 8e-6 / elapsed.as_secs_f64();
        let connection = index as u32;
        let (delivered, stats) = match ends {
            DataEnds::Udp { receiver, .. } => (receiver.bytes, None),
            DataEnds::Stream { sender, receiver } => {
                let sample = open_mptcp(sender).map(MptcpSample::of);
                self.multipath.extend(sample.map(|sample| MptcpSeriesRow { time: now, connection, sample }));
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

    /// All rows.
    pub(crate) fn finish(self) -> Samples {
        Samples {
            series: self.rows,
            mptcp_series: self.multipath,
            bond_series: self.bonds.into_rows(),
            link_series: self.links.rows,
        }
    }
}
