//! What rows of the tables hold beside their columns.

use crate::application::Datagrams;

/// What became of a flow's datagrams.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct DatagramCounts {
    /// Sent.
    pub sent: u64,
    /// Received, duplicates not counted. What is on its way at the end is not among them.
    pub received: u64,
    /// Received after one with a higher number.
    pub reordered: u64,
    /// Median of their one-way delays in ms; `None` when none came.
    pub delay_median_ms: Option<f64>,
    /// The 99th percentile of their one-way delays in ms.
    pub delay_p99_ms: Option<f64>,
}

impl DatagramCounts {
    /// Of a flow of which so many were sent.
    pub fn new(sent: u64, receiver: &Datagrams) -> Self {
        let quantile = |part: f64| {
            (receiver.datagrams > 0).then(|| receiver.delays.value_at_quantile(part) as f64 / 1e3)
        };
        Self {
            sent,
            received: receiver.datagrams,
            reordered: receiver.reordered,
            delay_median_ms: quantile(0.5),
            delay_p99_ms: quantile(0.99),
        }
    }
}

/// How far the real time was ahead when packets came out of the links of an emulation.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LatenessRow {
    /// Packets that came out.
    pub packets: u64,
    /// Their mean lateness in ms.
    pub mean_ms: f64,
    /// The 99th percentile in ms.
    pub p99_ms: f64,
    /// The worst in ms.
    pub worst_ms: f64,
}

/// The sender's state of a subflow.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SubflowSample {
    /// Its number.
    pub subflow: u32,
    /// Index of its path in the scenario's list.
    pub path: u32,
    /// Congestion window in octets.
    pub cwnd: u32,
    /// Slow start threshold in octets; [`u32::MAX`]: not set yet.
    pub ssthresh: u32,
    /// Smoothed round-trip time in ms.
    pub srtt_ms: Option<f64>,
    /// Octets sent and not acknowledged.
    pub flight: u32,
}

/// A connection of Multipath TCP as the sender of its data sees it. `None`: its kernel does not tell.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct MptcpSample {
    /// Subflows.
    pub subflows: Option<u32>,
    /// Those beside the first.
    pub further_subflows: Option<u32>,
    /// Has it fallen back to TCP?
    pub is_fallen_back: Option<bool>,
    /// The DSN behind the last octet that the application has written.
    pub write_seq: Option<u64>,
    /// The first DSN that is not DATA_ACKed.
    pub snd_una: Option<u64>,
    /// The DSN that is expected next.
    pub rcv_nxt: Option<u64>,
    /// Expiries of the connection-level retransmission timer, as a kernel counts them.
    pub retransmits: Option<u32>,
    /// Octets sent once more on another subflow.
    pub reinjected_bytes: Option<u64>,
    /// Octets sent, each once.
    pub sent_bytes: Option<u64>,
    /// Octets DATA_ACKed.
    pub acked_bytes: Option<u64>,
    /// Octets received in order.
    pub received_bytes: Option<u64>,
}

impl MptcpSample {
    /// A connection of our stack. It does not tell how often its timer has expired.
    pub fn of(connection: &ropewalk_mptcp::Connection) -> Self {
        let (position, stats) = (connection.position(), connection.stats());
        let is_alive = |subflow: &&ropewalk_mptcp::Subflow| subflow.was_established() && !subflow.is_closed();
        let alive = connection.subflows().filter(is_alive);
        let (all, further) =
            alive.fold((0, 0), |(all, further), subflow| (all + 1, further + u32::from(subflow.id().0 > 0)));
        Self {
            subflows: Some(all),
            further_subflows: Some(further),
            is_fallen_back: Some(connection.is_fallen_back()),
            write_seq: Some(position.written.get()),
            snd_una: Some(position.unacknowledged.get()),
            rcv_nxt: Some(position.expected.get()),
            retransmits: None,
            reinjected_bytes: Some(stats.reinjected_bytes),
            sent_bytes: Some(position.sent),
            acked_bytes: Some(stats.bytes_acked),
            received_bytes: Some(stats.bytes_delivered),
        }
    }

    /// Octets written and not DATA_ACKed. DSNs wrap.
    pub(super) fn unacked_bytes(&self) -> Option<u64> {
        Some(self.write_seq?.wrapping_sub(self.snd_una?))
    }
}

/// What passed one direction of a bond, or of one of its paths.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct BondTraffic {
    /// Packets sent; for the whole, packets that came to the gateway for it.
    pub sent_packets: u64,
    /// Their octets, without the tunnel's headers.
    pub sent_bytes: u64,
    /// Packets that came out at the other gateway; for the whole, delivered.
    pub received_packets: u64,
    /// Their octets.
    pub received_bytes: u64,
}

/// What became of packets at the end of a bond.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct BondEgress {
    /// Packets that came when they had been given up.
    pub late: u64,
    /// Packets that had come before.
    pub duplicates: u64,
    /// Most packets that waited for one before them.
    pub depth_max: u64,
    /// Mean time that resequencing added to a packet, in ms.
    pub added_delay_mean_ms: f64,
    /// Greatest such time in ms.
    pub added_delay_max_ms: f64,
    /// Packets that found every path down or full.
    pub unsent: u64,
    /// Acknowledgements of TCP that did not leave, since later ones told all that they told.
    pub superseded: u64,
}

/// The sender's view of a path.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct BondPathSample {
    /// Its weight.
    pub weight: f64,
    /// Smoothed round-trip time in ms.
    pub srtt_ms: Option<f64>,
    /// Estimated queueing delay in ms.
    pub queueing_ms: Option<f64>,
    /// `up`, `suspected` or `down`.
    pub state: &'static str,
}
