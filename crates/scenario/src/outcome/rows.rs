//! The rows of the tables.

use crate::application::{Datagrams, FrameArrival};
use ropewalk_units::Instant;
use ropewalk_wifi::position::Position;
use ropewalk_wifi::{HopStats, RadioStats};

/// A connection.
#[derive(Clone, PartialEq, Debug)]
pub struct ConnectionRow {
    /// Its name in the scenario; copies have a suffix.
    pub name: String,
    /// `tcp`, `mptcp` or `udp`.
    pub protocol: &'static str,
    /// The host that opens it.
    pub source: String,
    /// The host that it is opened to.
    pub destination: String,
    /// Octets delivered in order to the application at the end of the data direction.
    pub bytes: u64,
    /// `bytes` over the time from start to end, in Mbit/s.
    pub goodput_mbps: f64,
    /// When it was opened.
    pub start: Instant,
    /// When its last octet was delivered; for one that the end of the run cut off, that end.
    pub end: Option<Instant>,
    /// Did it do all that it was asked to, without an error?
    pub completed: bool,
    /// Time in which data waited behind a hole at connection level, in seconds. `None`, here and below: a kernel does
    /// not tell.
    pub hol_blocked_s: Option<f64>,
    /// Most octets that waited so.
    pub reorder_buffer_max: Option<u64>,
    /// Octets sent again on another subflow.
    pub reinjected_bytes: Option<u64>,
    /// Octets that arrived more than once at connection level.
    pub duplicate_bytes: Option<u64>,
    /// Request/response transactions completed.
    pub transactions: u64,
    /// Their mean time in seconds.
    pub mean_response_s: Option<f64>,
    /// What only datagrams have; `None` for a stream.
    pub datagrams: Option<DatagramCounts>,
    /// Why it failed.
    pub error: Option<String>,
}

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

/// A frame of voice or video.
#[derive(Clone, PartialEq, Debug)]
pub struct FrameRow {
    /// The connection's name.
    pub connection: String,
    /// Counted from 0.
    pub frame: u64,
    /// When it was there to be sent.
    pub captured: Instant,
    /// Its packets.
    pub packets: u64,
    /// What has come of it.
    pub arrival: FrameArrival,
}

/// A subflow.
#[derive(Clone, PartialEq, Debug)]
pub struct SubflowRow {
    /// The connection's name.
    pub connection: String,
    /// Its number, in the order of creation.
    pub subflow: u32,
    /// The path's name.
    pub path: String,
    /// Octets of payload acknowledged at subflow level.
    pub bytes: u64,
    /// `bytes` over the connection's time, in Mbit/s.
    pub throughput_mbps: f64,
    /// Segments retransmitted.
    pub retransmissions: u64,
    /// Those that turned out to be needless. `None`, here and below: a kernel does not tell.
    pub spurious_retransmissions: Option<u64>,
    /// Retransmission timeouts.
    pub timeouts: Option<u64>,
    /// Smoothed round-trip time at the end, in ms.
    pub srtt_ms: Option<f64>,
    /// Fast recoveries.
    pub fast_recoveries: Option<u64>,
    /// Segments sent, pure ACKs included.
    pub segments: u64,
    /// Is it a backup?
    pub backup: bool,
}

/// A link direction.
#[derive(Clone, PartialEq, Debug)]
pub struct LinkRow {
    /// The link's name.
    pub name: String,
    /// `from->to`.
    pub direction: String,
    /// Octets transmitted, headers included; of a wireless route, in all attempts of all hops.
    pub bytes: u64,
    /// Packets transmitted; of a wireless route, attempts of all hops.
    pub packets: u64,
    /// Packets that the queue dropped.
    pub drops_queue: u64,
    /// Packets lost on the medium, or because the link was down.
    pub drops_loss: u64,
    /// Octets transmitted, of those that it could have transmitted while it was up. None of a wireless route: its hops take
    /// turns on a medium that they share
    /// with others.
    pub utilisation: Option<f64>,
    /// Packets marked with congestion experienced.
    pub ecn_marks: u64,
    /// Packets that were handed to it.
    pub offered: u64,
    /// Copies it made of packets.
    pub duplicates: u64,
    /// Packets that arrived at the other end.
    pub delivered: u64,
    /// Packets in its queue or on their way at the end.
    pub queued: u64,
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

/// A sample of a subflow, or of a connection.
#[derive(Clone, PartialEq, Debug)]
pub struct SeriesRow {
    /// When; rates are over the interval that ends here.
    pub time: Instant,
    /// Index into [`super::Outcome::connections`].
    pub connection: u32,
    /// Of a subflow; `None` for the connection's own row.
    pub subflow: Option<SubflowSample>,
    /// Subflow: payload acknowledged; connection: octets delivered in order; in Mbit/s.
    pub throughput_mbps: f64,
    /// Connection: octets waiting behind a hole.
    pub reorder_buffer: Option<u64>,
    /// Connection: time of this interval in which data waited behind a hole, in ms.
    pub hol_blocked_ms: Option<f64>,
}

/// A sample of one direction of a link.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LinkSeriesRow {
    /// When; counts and rates are over the interval that ends here.
    pub time: Instant,
    /// Index into [`super::Outcome::links`].
    pub link: u32,
    /// Packets waiting or in transmission at its end.
    pub queue_packets: u64,
    /// Their octets.
    pub queue_bytes: u64,
    /// Transmitted, headers included, in Mbit/s.
    pub throughput_mbps: f64,
    /// Packets that the queue dropped.
    pub drops_queue: u64,
    /// Packets lost on the medium, or because the link was down.
    pub drops_loss: u64,
    /// Octets transmitted, of those that it could have transmitted while it was up. None of a wireless route.
    pub utilisation: Option<f64>,
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

/// One direction of a bond: a path of it, or (without a path) the whole.
#[derive(Clone, PartialEq, Debug)]
pub struct BondRow {
    /// The bond's name.
    pub name: String,
    /// `from->to`.
    pub direction: String,
    /// The path's name; `None` for the row of the whole.
    pub path: Option<String>,
    /// What both rows count.
    pub traffic: BondTraffic,
    /// Packets that a path was found to have lost, by its own numbers; for the whole, those that never came by any.
    pub lost: u64,
    /// Packets sent again because a path had lost them; that is, of the whole, by any.
    pub repaired: u64,
    /// Of the whole alone.
    pub egress: Option<BondEgress>,
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
}

/// A sample of one direction of a bond: a path of it, or the whole.
#[derive(Clone, PartialEq, Debug)]
pub struct BondSeriesRow {
    /// When; rates and losses are over the interval that ends here.
    pub time: Instant,
    /// Index into [`super::Outcome::bonds`] of the row with its names.
    pub row: u32,
    /// Packets sent, without the tunnel's headers, in Mbit/s.
    pub sent_mbps: f64,
    /// Packets received; for the whole, delivered; in Mbit/s.
    pub received_mbps: f64,
    /// Packets found lost.
    pub lost: u64,
    /// Of a path: its state at the sender.
    pub path: Option<BondPathSample>,
    /// Of the whole: packets that wait for one before them.
    pub depth: Option<u64>,
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

/// A radio: a station on a channel.
#[derive(Clone, PartialEq, Debug)]
pub struct RadioRow {
    /// The station's name.
    pub station: String,
    /// Its channel.
    pub channel: u8,
    /// Where the station was at the end.
    pub position: Position,
    /// What it has done.
    pub stats: RadioStats,
}

/// What became of the data frames from one station to another on a channel.
#[derive(Clone, PartialEq, Debug)]
pub struct HopRow {
    /// The station that sends.
    pub from: String,
    /// The station that they are for.
    pub to: String,
    /// The channel.
    pub channel: u8,
    /// What became of them.
    pub stats: HopStats,
}

/// A broadcast of a station, as another hears it.
#[derive(Clone, PartialEq, Debug)]
pub struct BroadcastRow {
    /// The broadcast's name.
    pub name: String,
    /// Its channel.
    pub channel: u8,
    /// The station that sends.
    pub from: String,
    /// The station that hears.
    pub to: String,
    /// Datagrams sent, those still in the sender's queue among them.
    pub sent: u64,
    /// Datagrams heard.
    pub received: u64,
    /// Their mean one-way delay in ms; `None` when none was heard.
    pub mean_delay_ms: Option<f64>,
}

/// A program that a Linux host has run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CommandRow {
    /// The host.
    pub host: String,
    /// Its name at the host.
    pub name: String,
    /// What a shell was given.
    pub command: String,
    /// When it started; `None` when the run was over before, or it could not be started.
    pub start: Option<Instant>,
    /// When it ended by itself; `None` when it was ended with the run.
    pub end: Option<Instant>,
    /// Its exit code, if it ended by itself and by no signal.
    pub exit_code: Option<u32>,
    /// The signal that ended it before the run was over.
    pub signal: Option<u32>,
    /// The last of what it wrote to its standard output and error.
    pub output: String,
    /// Octets that it wrote in all.
    pub output_bytes: u64,
    /// Why it could not be run.
    pub error: Option<String>,
}

/// A TCP socket of a Linux host that is of no connection of the scenario, as it was when it was seen last.
#[derive(Clone, PartialEq, Debug)]
pub struct SocketRow {
    /// The host.
    pub host: String,
    /// The program whose socket it is; `None` if that is not known: the kernel does not say whose subflows are.
    pub command: Option<String>,
    /// Its own address and port.
    pub local: String,
    /// Its peer's.
    pub remote: String,
    /// Octets of payload acknowledged, SYN and FIN counted.
    pub acked_bytes: u64,
    /// Octets received.
    pub received_bytes: u64,
    /// Segments sent again.
    pub retransmissions: u64,
    /// Expiries of the retransmission timer; `None` where the kernel does not tell.
    pub timeouts: Option<u64>,
    /// Smoothed round-trip time.
    pub srtt_ms: Option<f64>,
}

/// A wireless route over the whole run.
#[derive(Clone, PartialEq, Debug)]
pub struct RouteRow {
    /// Its name.
    pub name: String,
    /// Hops at the beginning.
    pub hops: u32,
    /// The names of its stations at the beginning, with spaces between.
    pub stations: String,
    /// How often it was led another way.
    pub changes: u64,
    /// Mean time for which it took a way, the last one (which the end cut off) left out.
    pub mean_duration_s: Option<f64>,
    /// Time in which a hop of it was out of range, as seen at the moves of the stations, in seconds.
    pub broken_s: f64,
    /// When a hop of it was out of range for the first time, as seen at the moves of the stations; `None` when none ever
    /// was. Without a search for routes this is how long the route lasted.
    pub first_broken_s: Option<f64>,
}

/// A way that a wireless route took for some time.
#[derive(Clone, PartialEq, Debug)]
pub struct RouteChangeRow {
    /// The route's name.
    pub name: String,
    /// From when.
    pub from: Instant,
    /// Until when; `None` when it still did at the end.
    pub until: Option<Instant>,
    /// Hops.
    pub hops: u32,
    /// The names of its stations, with spaces between.
    pub stations: String,
}
