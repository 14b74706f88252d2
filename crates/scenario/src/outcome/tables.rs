//! The columns of the tables, each declared once: name, type, unit, meaning and value. The rows, the Arrow schema,
//! the summary and `docs/reference/columns.md` follow. A new column is a line here, and the place where the row is made.

use super::Outcome;
use super::columns::{Fields, TableDoc, table};
use super::rows::{BondEgress, BondPathSample, BondTraffic, DatagramCounts, MptcpSample, SubflowSample};
use crate::application::FrameArrival;
use arrow_array::RecordBatch;
use ropewalk_units::{Duration, Instant};
use ropewalk_wifi::position::Position;
use ropewalk_wifi::{HopStats, RadioStats};

table! {
    CONNECTIONS:
    /// One row per connection.
    connections_table, connections_summary of connections, outcome, row {
        /// as in the scenario; copies carry a number behind a hyphen
        name: text of row, summary;
        /// `tcp`, `mptcp` or `udp`
        protocol: text, summary = row.protocol;
        /// the host that opens it
        source: text of row;
        /// the host that it is opened to
        destination: text of row;
        /// delivered to the application, in order and verified
        bytes: u64 of row ["octets"], summary;
        /// `bytes` over the time from start to end
        goodput_mbps: f64 of row ["Mbit/s"], summary;
        /// when it was opened
        start_s: f64 ["s"], summary = row.start.as_secs_f64();
        /// when its last octet was delivered; for one that the end of the run cut off, that end
        end_s: optional_f64 ["s"], summary = row.end.map(Instant::as_secs_f64);
        /// did it do all that it was asked to, without an error?
        completed: bool of row, summary;
        /// time in which data waited behind a hole at connection level (head-of-line blocking)
        hol_blocked_s: optional_f64 of row ["s"];
        /// most that waited so
        reorder_buffer_max_bytes: optional_u64 ["octets"] = row.reorder_buffer_max;
        /// sent again on another subflow
        reinjected_bytes: optional_u64 of row ["octets"], summary;
        /// arrived more than once at connection level
        duplicate_bytes: optional_u64 of row ["octets"];
        /// request/response exchanges completed
        transactions: u64 of row;
        /// their mean time
        mean_response_s: optional_f64 of row ["s"];
        /// UDP: sent
        datagrams_sent: optional_u64 ["datagrams"] = row.datagrams.map(|counts| counts.sent);
        /// UDP: received, each once
        datagrams_received: optional_u64 ["datagrams"] = row.datagrams.map(|counts| counts.received);
        /// UDP: received after one with a higher number
        datagrams_reordered: optional_u64 ["datagrams"] = row.datagrams.map(|counts| counts.reordered);
        /// UDP: median of the one-way delays, to three digits
        delay_median_ms: optional_f64 ["ms"] = row.datagrams.and_then(|counts| counts.delay_median_ms);
        /// UDP: 99th percentile of the one-way delays, to three digits
        delay_p99_ms: optional_f64 ["ms"] = row.datagrams.and_then(|counts| counts.delay_p99_ms);
        /// why it failed
        error: optional_text of row;
    }

    /// A connection.
    #[derive(Clone, PartialEq, Debug)]
    pub struct ConnectionRow {
        /// `tcp`, `mptcp` or `udp`.
        pub protocol: &'static str,
        /// When it was opened.
        pub start: Instant,
        /// When its last octet was delivered; for one that the end of the run cut off, that end.
        pub end: Option<Instant>,
        /// Most octets that waited so.
        pub reorder_buffer_max: Option<u64>,
        /// What only datagrams have; `None` for a stream.
        pub datagrams: Option<DatagramCounts>,
    }
}

table! {
    SUBFLOWS:
    /// One row per subflow; a TCP or UDP connection has one.
    subflows_table, subflows_summary of subflows, outcome, row {
        /// its connection's name
        connection: text of row;
        /// number, in order of creation
        subflow: u32 of row;
        /// its path's name
        path: text of row, summary;
        /// payload acknowledged at subflow level: what was sent on two subflows counts on both
        bytes: u64 of row ["octets"], summary;
        /// `bytes` over the connection's time
        throughput_mbps: f64 of row ["Mbit/s"], summary;
        /// sent again
        retransmissions: u64 of row ["segments"], summary;
        /// of these, found to have been needless
        spurious_retransmissions: optional_u64 of row ["segments"], summary;
        /// expiries of the retransmission timer
        timeouts: optional_u64 of row, summary;
        /// smoothed round-trip time at the end
        srtt_ms: optional_f64 of row ["ms"], summary;
        /// recoveries without a timeout
        fast_recoveries: optional_u64 of row;
        /// sent, pure ACKs included
        segments: u64 of row ["segments"];
        /// is it a backup?
        backup: bool of row;
    }

    /// A subflow.
    #[derive(Clone, PartialEq, Debug)]
    pub struct SubflowRow {}
}

table! {
    LINKS:
    /// One row per link and direction.
    links_table, links_summary of links, outcome, row {
        /// the link's name
        name: text of row, summary;
        /// `from->to`
        direction: text of row, summary;
        /// transmitted, headers included; of a wireless route in all attempts of all hops
        bytes: u64 of row ["octets"], summary;
        /// transmitted; of a wireless route attempts of all hops
        packets: u64 of row ["packets"], summary;
        /// dropped by the queue
        drops_queue: u64 of row ["packets"], summary;
        /// lost on the medium, or because the link was down
        drops_loss: u64 of row ["packets"], summary;
        /// octets transmitted, of those that it could have transmitted while it was up; none of wireless routes, whose hops share
        /// a medium: see `radios`
        utilisation: optional_f64 of row ["0 … 1"], summary;
        /// marked with congestion experienced
        ecn_marks: u64 of row ["packets"];
        /// handed to it
        offered: u64 of row ["packets"];
        /// copies that it made
        duplicates: u64 of row ["packets"];
        /// arrived at the other end
        delivered: u64 of row ["packets"];
        /// in the queue or on their way at the end
        queued: u64 of row ["packets"];
    }

    /// A link direction.
    #[derive(Clone, PartialEq, Debug)]
    pub struct LinkRow {}
}

table! {
    SERIES:
    /// The time series, sampled every `sample_interval`: a row per subflow, and one per connection without a subflow.
    series_table of series, outcome, row {
        /// end of the interval
        time_s: f64 ["s"] = row.time.as_secs_f64();
        /// the connection's name
        connection: text = &outcome.connections[row.connection as usize].name;
        /// the subflow's number
        subflow: optional_u32 = row.subflow.map(|sample| sample.subflow);
        /// its path's name
        path: optional_text = row.subflow.map(|sample| outcome.path_name(row.connection, sample.subflow));
        /// congestion window of the sender
        cwnd_bytes: optional_u32 ["octets"] = row.subflow.map(|sample| sample.cwnd);
        /// slow-start threshold; empty until a loss sets it
        ssthresh_bytes: optional_u32 ["octets"] = row.subflow.map(|sample| sample.ssthresh).filter(|&octets| octets < u32::MAX);
        /// smoothed round-trip time
        srtt_ms: optional_f64 ["ms"] = row.subflow.and_then(|sample| sample.srtt_ms);
        /// sent and not acknowledged
        flight_bytes: optional_u32 ["octets"] = row.subflow.map(|sample| sample.flight);
        /// over the interval; subflow: payload acknowledged, connection: delivered in order
        throughput_mbps: f64 of row ["Mbit/s"];
        /// connection: waiting behind a hole
        reorder_buffer_bytes: optional_u64 ["octets"] = row.reorder_buffer;
        /// connection: part of this interval in which data waited behind a hole
        hol_blocked_ms: optional_f64 of row ["ms"];
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
        /// Connection: octets waiting behind a hole.
        pub reorder_buffer: Option<u64>,
    }
}

table! {
    MPTCP_SERIES:
    /// Connections of Multipath TCP over time, as the sender of the data sees them: a row per connection and sample while it is open.
    mptcp_series_table of mptcp_series, outcome, row {
        /// when
        time_s: f64 ["s"] = row.time.as_secs_f64();
        /// the connection's name
        connection: text = &outcome.connections[row.connection as usize].name;
        /// that are open
        subflows: optional_u32 = row.sample.subflows;
        /// of these: beside the first
        further_subflows: optional_u32 = row.sample.further_subflows;
        /// 1: it has fallen back to TCP; else 0
        fallen_back: optional_u32 = row.sample.is_fallen_back.map(u32::from);
        /// the DSN behind the last octet that the application has written
        write_seq: optional_u64 = row.sample.write_seq;
        /// the first DSN that is not DATA_ACKed
        snd_una: optional_u64 = row.sample.snd_una;
        /// the DSN that is expected next
        rcv_nxt: optional_u64 = row.sample.rcv_nxt;
        /// written and not DATA_ACKed
        unacked_bytes: optional_u64 ["octets"] = row.sample.unacked_bytes();
        /// expiries of the connection-level retransmission timer, as a kernel counts them; empty for our stack
        retransmits: optional_u32 = row.sample.retransmits;
        /// sent once more on another subflow
        reinjected_bytes: optional_u64 ["octets"] = row.sample.reinjected_bytes;
        /// sent, each octet once
        sent_bytes: optional_u64 ["octets"] = row.sample.sent_bytes;
        /// DATA_ACKed
        acked_bytes: optional_u64 ["octets"] = row.sample.acked_bytes;
        /// received in order
        received_bytes: optional_u64 ["octets"] = row.sample.received_bytes;
    }

    /// A sample of a connection of Multipath TCP.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct MptcpSeriesRow {
        /// When.
        pub time: Instant,
        /// Index into [`super::Outcome::connections`].
        pub connection: u32,
        /// What its sender has counted.
        pub sample: MptcpSample,
    }
}

table! {
    LINK_SERIES:
    /// Links over time, sampled every `sample_interval`: a row per link and direction.
    link_series_table of link_series, outcome, row {
        /// end of the interval
        time_s: f64 ["s"] = row.time.as_secs_f64();
        /// the link's name
        name: text = &outcome.links[row.link as usize].name;
        /// `from->to`
        direction: text = &outcome.links[row.link as usize].direction;
        /// waiting or in transmission
        queue_packets: u64 of row ["packets"];
        /// their octets
        queue_bytes: u64 of row ["octets"];
        /// transmitted in the interval, headers included
        throughput_mbps: f64 of row ["Mbit/s"];
        /// dropped by the queue in the interval
        drops_queue: u64 of row ["packets"];
        /// lost in the interval on the medium, or because the link was down
        drops_loss: u64 of row ["packets"];
        /// octets transmitted in the interval, of those that it could have transmitted while it was up; none of wireless routes
        utilisation: optional_f64 of row ["0 … 1"];
    }

    /// A sample of one direction of a link.
    #[derive(Clone, Copy, PartialEq, Debug)]
    pub struct LinkSeriesRow {
        /// When; counts and rates are over the interval that ends here.
        pub time: Instant,
        /// Index into [`super::Outcome::links`].
        pub link: u32,
    }
}

table! {
    EVENTS:
    /// What happened and why: the kinds that `events` of `[scenario]` names, by time.
    events_table of happenings as events, outcome, row {
        /// when
        time_s: f64 ["s"] = row.time.as_secs_f64();
        /// as `events` names it
        kind: text = row.kind.name();
        /// what
        event: text = row.event;
        /// whose connection it is
        connection: optional_text = row.connection.map(|index| &outcome.connections[index as usize].name);
        /// the subflow's number
        subflow: optional_u32 = row.subflow;
        /// the path of the subflow, or of the bond
        path: optional_text = outcome.path_of(row);
        /// the host or station where it happened
        node: optional_text = outcome.node_of(row);
        /// the link or bond where it happened
        link: optional_text = outcome.link_of(row).map(|(name, _)| name);
        /// its direction, `from->to`
        direction: optional_text = outcome.link_of(row).map(|(_, direction)| direction);
        /// position of the first octet in the connection's stream
        data: optional_u64 = row.data;
        /// of data; of drops and marks the whole packet
        bytes: optional_u64 ["octets"] = row.octets.map(u64::from);
        /// congestion window
        cwnd_bytes: optional_u32 ["octets"] = row.window.map(|[cwnd, _]| cwnd);
        /// slow-start threshold; empty until a loss sets it
        ssthresh_bytes: optional_u32 ["octets"] = row.window.map(|[_, ssthresh]| ssthresh).filter(|&octets| octets < u32::MAX);
        /// `rtt`: the sample; `timeout`: the timer after its back-off; `unblocked`: how long data waited
        duration_ms: optional_f64 ["ms"] = row.duration.map(|duration| duration.as_secs_f64() * 1e3);
        /// where the station is
        x_m: optional_f64 ["m"] = row.position.map(|position| position.x);
        /// where the station is
        y_m: optional_f64 ["m"] = row.position.map(|position| position.y);
        /// why, in words
        reason: optional_text = (!row.reason.is_empty()).then_some(&*row.reason);
    }
}

table! {
    BONDS:
    /// For each direction of a bond a row of the whole, without a path, and one per path.
    bonds_table of bonds, outcome, row {
        /// the bond's name
        name: text of row;
        /// `from->to`
        direction: text of row;
        /// the path's name; empty: the whole
        path: optional_text of row;
        /// sent by the path, its probes too (also those on their way when the run begins); of the whole: handed to the bond
        sent_packets: u64 ["packets"] = row.traffic.sent_packets;
        /// their octets, without tunnel headers
        sent_bytes: u64 ["octets"] = row.traffic.sent_bytes;
        /// come by the path; of the whole: delivered by it
        received_packets: u64 ["packets"] = row.traffic.received_packets;
        /// their octets
        received_bytes: u64 ["octets"] = row.traffic.received_bytes;
        /// of a path: missing by the path's own numbers; of the whole: given up by the resequencer
        lost: u64 of row ["packets"];
        /// sent again because the path had lost them (by whichever path is shortest, there not counted as `sent`); of the whole: because any had
        repaired: u64 of row ["packets"];
        /// whole: came when given up
        late: optional_u64 ["packets"] = row.egress.map(|egress| egress.late);
        /// whole: had come before
        duplicates: optional_u64 ["packets"] = row.egress.map(|egress| egress.duplicates);
        /// whole: found every path full
        unsent: optional_u64 ["packets"] = row.egress.map(|egress| egress.unsent);
        /// whole: acknowledgements of TCP that did not leave, since later ones told all that they told
        superseded: optional_u64 ["packets"] = row.egress.map(|egress| egress.superseded);
        /// whole: most that waited for one before them
        depth_max: optional_u64 ["packets"] = row.egress.map(|egress| egress.depth_max);
        /// whole: mean time that resequencing added
        added_delay_mean_ms: optional_f64 ["ms"] = row.egress.map(|egress| egress.added_delay_mean_ms);
        /// whole: greatest such time
        added_delay_max_ms: optional_f64 ["ms"] = row.egress.map(|egress| egress.added_delay_max_ms);
    }

    /// One direction of a bond: a path of it, or (without a path) the whole.
    #[derive(Clone, PartialEq, Debug)]
    pub struct BondRow {
        /// What both rows count.
        pub traffic: BondTraffic,
        /// Of the whole alone.
        pub egress: Option<BondEgress>,
    }
}

table! {
    BOND_SERIES:
    /// Bonds over time, sampled every `sample_interval`: the rows of `bonds` at each sample.
    bond_series_table of bond_series, outcome, row {
        /// end of the interval
        time_s: f64 ["s"] = row.time.as_secs_f64();
        /// the bond's name
        name: text = &outcome.bonds[row.row as usize].name;
        /// `from->to`
        direction: text = &outcome.bonds[row.row as usize].direction;
        /// the path's name; empty: the whole
        path: optional_text = outcome.bonds[row.row as usize].path.as_ref();
        /// sent in the interval, without tunnel headers
        sent_mbps: f64 of row ["Mbit/s"];
        /// received in the interval; of the whole: delivered
        received_mbps: f64 of row ["Mbit/s"];
        /// found missing in the interval
        lost: u64 of row ["packets"];
        /// of a path, as its scheduler counts
        weight: optional_f64 = row.path.map(|path| path.weight);
        /// of a path: round trip of keepalives
        srtt_ms: optional_f64 ["ms"] = row.path.and_then(|path| path.srtt_ms);
        /// of a path: estimated queueing delay
        queueing_ms: optional_f64 ["ms"] = row.path.and_then(|path| path.queueing_ms);
        /// of a path: `up`, `suspected`, `down`
        state: optional_text = row.path.map(|path| path.state);
        /// whole: waiting for one before them
        depth: optional_u64 of row ["packets"];
    }

    /// A sample of one direction of a bond: a path of it, or the whole.
    #[derive(Clone, PartialEq, Debug)]
    pub struct BondSeriesRow {
        /// When; rates and losses are over the interval that ends here.
        pub time: Instant,
        /// Index into [`super::Outcome::bonds`] of the row with its names.
        pub row: u32,
        /// Of a path: its state at the sender.
        pub path: Option<BondPathSample>,
    }
}

table! {
    RADIOS:
    /// One row per station and channel of a wireless network.
    radios_table of radios, outcome, row {
        /// the station's name
        station: text of row;
        /// the radio's channel
        channel: u32 = u32::from(row.channel);
        /// where the station was at the end
        x_m: f64 ["m"] = row.position.x;
        /// where the station was at the end
        y_m: f64 ["m"] = row.position.y;
        /// data frames sent, retries among them
        data_sent: u64 ["frames"] = row.stats.data_sent;
        /// the retries
        retries: u64 ["frames"] = row.stats.retries;
        /// of those sent: acknowledged
        acknowledged: u64 ["frames"] = row.stats.acknowledged;
        /// of those sent: not acknowledged in time
        ack_timeouts: u64 ["frames"] = row.stats.ack_timeouts;
        /// RTS sent
        rts_sent: u64 ["frames"] = row.stats.rts_sent;
        /// CTS sent
        cts_sent: u64 ["frames"] = row.stats.cts_sent;
        /// RTS without a CTS in time
        cts_timeouts: u64 ["frames"] = row.stats.cts_timeouts;
        /// ACKs sent
        acks_sent: u64 ["frames"] = row.stats.acks_sent;
        /// received for this station
        data_received: u64 ["frames"] = row.stats.data_received;
        /// received before
        duplicates: u64 ["frames"] = row.stats.duplicates;
        /// begun to be received and spoiled by another signal, whomever they were for
        collisions: u64 ["frames"] = row.stats.collisions;
        /// begun to be received and spoiled by noise alone, whomever they were for
        noise: u64 ["frames"] = row.stats.noise;
        /// spoiled by configured errors
        frame_errors: u64 ["frames"] = row.stats.frame_errors;
        /// in reception when the radio itself began to send
        missed: u64 ["frames"] = row.stats.missed;
        /// given up after the last retry
        drops_retries: u64 ["packets"] = row.stats.drops_retries;
        /// dropped by the queue
        drops_queue: u64 ["packets"] = row.stats.drops_queue;
        /// dropped because their lifetime was over
        drops_lifetime: u64 ["packets"] = row.stats.drops_lifetime;
        /// still waiting at the end
        queued: u64 ["packets"] = u64::from(row.stats.queued);
        /// part of the time in which it sent
        sending: f64 ["0 … 1"] = outcome.share(row.stats.sending);
        /// part of the time in which the medium was busy here, own frames included
        busy: f64 ["0 … 1"] = outcome.share(row.stats.busy);
    }

    /// A radio: a station on a channel.
    #[derive(Clone, PartialEq, Debug)]
    pub struct RadioRow {
        /// Its channel.
        pub channel: u8,
        /// Where the station was at the end.
        pub position: Position,
        /// What it has done.
        pub stats: RadioStats,
    }
}

table! {
    HOPS:
    /// One row per station, channel and station that it has sent data frames to; broadcasts are not among them.
    hops_table of hops, outcome, row {
        /// the station that sends
        from: text of row;
        /// the station that they are for
        to: text of row;
        /// the channel
        channel: u32 = u32::from(row.channel);
        /// data frames sent, retries among them
        sent: u64 ["frames"] = row.stats.sent;
        /// the retries
        retries: u64 ["frames"] = row.stats.retries;
        /// of those sent: acknowledged
        acknowledged: u64 ["frames"] = row.stats.acknowledged;
        /// of those sent: their preamble was recognised
        heard: u64 ["frames"] = row.stats.heard;
        /// of those heard: decoded, duplicates among them
        received: u64 ["frames"] = row.stats.received;
        /// given up after the last retry
        given_up: u64 ["packets"] = row.stats.given_up;
        /// mean ratio of signal to noise of those heard; empty on disks, which know no powers
        mean_snr_db: optional_f64 ["dB"] = row.stats.mean_snr_db();
    }

    /// What became of the data frames from one station to another on a channel.
    #[derive(Clone, PartialEq, Debug)]
    pub struct HopRow {
        /// The channel.
        pub channel: u8,
        /// What became of them.
        pub stats: HopStats,
    }
}

table! {
    BROADCASTS:
    /// One row per broadcast, sending station and station that was in its range at the end or has heard it.
    broadcasts_table of broadcasts, outcome, row {
        /// as in the scenario
        name: text of row;
        /// its channel
        channel: u32 = u32::from(row.channel);
        /// the station that sends
        from: text of row;
        /// the station that hears
        to: text of row;
        /// sent, those still queued among them
        sent: u64 of row ["datagrams"];
        /// heard
        received: u64 of row ["datagrams"];
        /// mean one-way delay of those that were heard
        mean_delay_ms: optional_f64 of row ["ms"];
    }

    /// A broadcast of a station, as another hears it.
    #[derive(Clone, PartialEq, Debug)]
    pub struct BroadcastRow {
        /// Its channel.
        pub channel: u8,
    }
}

table! {
    FRAMES:
    /// One row per frame of voice or video that was sent; none of other applications.
    frames_table of frames, outcome, row {
        /// its connection's name
        connection: text of row;
        /// number, from 0
        frame: u64 of row;
        /// when it was there to be sent
        captured_s: f64 ["s"] = row.captured.as_secs_f64();
        /// its packets
        packets: u64 of row ["packets"];
        /// received, each once
        received: u64 ["packets"] = row.arrival.received;
        /// when the last of them came; empty: not all did
        complete_s: optional_f64 ["s"] = row.arrival.complete_at.map(Instant::as_secs_f64);
    }

    /// A frame of voice or video.
    #[derive(Clone, PartialEq, Debug)]
    pub struct FrameRow {
        /// When it was there to be sent.
        pub captured: Instant,
        /// What has come of it.
        pub arrival: FrameArrival,
    }
}

table! {
    COMMANDS:
    /// One row per program of a Linux host.
    commands_table, commands_summary of commands, outcome, row {
        /// the host
        host: text of row, summary;
        /// its name there
        name: text of row, summary;
        /// what a shell was given
        command: text of row, summary;
        /// when it started; empty: never
        start_s: optional_f64 ["s"], summary = row.start.map(Instant::as_secs_f64);
        /// when it ended by itself; empty: it was ended with the run
        end_s: optional_f64 ["s"], summary = row.end.map(Instant::as_secs_f64);
        /// its exit code, if it ended by itself
        exit_code: optional_u32 of row, summary;
        /// the signal that ended it before the run was over
        signal: optional_u32 of row, summary;
        /// the last 64 KiB of its standard output and error
        output: text of row, summary;
        /// octets that it wrote in all
        output_bytes: u64 of row ["octets"], summary;
        /// why it could not be run
        error: optional_text of row, summary;
    }

    /// A program that a Linux host has run.
    #[derive(Clone, PartialEq, Eq, Debug)]
    pub struct CommandRow {
        /// When it started; `None` when the run was over before, or it could not be started.
        pub start: Option<Instant>,
        /// When it ended by itself; `None` when it was ended with the run.
        pub end: Option<Instant>,
    }
}

table! {
    SOCKETS:
    /// One row per TCP socket of a Linux host that is of no connection, as it was when it was seen last: at most 50 ms before it closed.
    sockets_table, sockets_summary of sockets, outcome, row {
        /// the host
        host: text of row, summary;
        /// the program whose socket it is; empty where the kernel does not tell, as for subflows of Multipath TCP
        command: optional_text of row, summary;
        /// its own address and port
        local: text of row, summary;
        /// its peer's
        remote: text of row, summary;
        /// acknowledged, SYN and FIN counted
        acked_bytes: u64 of row ["octets"], summary;
        /// received, likewise
        received_bytes: u64 of row ["octets"], summary;
        /// sent again
        retransmissions: u64 of row ["segments"], summary;
        /// expiries of the retransmission timer
        timeouts: optional_u64 of row, summary;
        /// smoothed round-trip time
        srtt_ms: optional_f64 of row ["ms"], summary;
    }

    /// A TCP socket of a Linux host that is of no connection of the scenario, as it was when it was seen last.
    #[derive(Clone, PartialEq, Debug)]
    pub struct SocketRow {}
}

table! {
    PROCESSES:
    /// One row per part of an emulation: its links, the scenario's applications, each gateway's daemon.
    processes_table, processes_summary of processes, outcome, row {
        /// `links`, `applications`, `gateway` and the router's name
        name: text of row, summary;
        /// processor time that it had
        cpu_s: f64 ["s"], summary = row.running.as_secs_f64();
        /// time in which it could have run and had no processor, all of its threads together: how far the machine was too busy
        waited_s: f64 ["s"], summary = row.waiting.as_secs_f64();
    }

    /// A part of an emulation, and its share of the machine.
    #[derive(Clone, PartialEq, Eq, Debug)]
    pub struct ProcessRow {
        /// Processor time that it had.
        pub running: Duration,
        /// Time in which it was ready, and had no processor.
        pub waiting: Duration,
    }
}

table! {
    ROUTES:
    /// One row per wireless route: its way at the beginning, and how stable it was.
    routes_table of routes, outcome, row {
        /// the route
        name: text of row;
        /// of its way at the beginning
        hops: u32 of row ["hops"];
        /// its way at the beginning
        stations: text of row;
        /// how often it was led another way
        changes: u64 of row;
        /// for how long it took a way, the last left out
        mean_duration_s: optional_f64 of row ["s"];
        /// time in which a hop of it was out of range
        broken_s: f64 of row ["s"];
        /// when that was so for the first time: the life of the route if no other is looked for
        first_broken_s: optional_f64 of row ["s"];
    }

    /// A wireless route over the whole run.
    #[derive(Clone, PartialEq, Debug)]
    pub struct RouteRow {}
}

table! {
    ROUTE_CHANGES:
    /// One row per way that a wireless route has taken, by time.
    route_changes_table of route_changes, outcome, row {
        /// the route
        name: text of row;
        /// from when
        from_s: f64 ["s"] = row.from.as_secs_f64();
        /// until when; the last way has no end
        until_s: optional_f64 ["s"] = row.until.map(Instant::as_secs_f64);
        /// of this way
        hops: u32 of row ["hops"];
        /// this way
        stations: text of row;
    }

    /// A way that a wireless route took for some time.
    #[derive(Clone, PartialEq, Debug)]
    pub struct RouteChangeRow {
        /// From when.
        pub from: Instant,
        /// Until when; `None` when it still did at the end.
        pub until: Option<Instant>,
    }
}

impl Outcome {
    /// The tables that only some scenarios have, by name: those with rows.
    pub fn special_tables(&self) -> Vec<(&'static str, RecordBatch)> {
        let tables = [
            ("mptcp_series", self.mptcp_series_table()),
            ("link_series", self.link_series_table()),
            ("events", self.events_table()),
            ("bonds", self.bonds_table()),
            ("bond_series", self.bond_series_table()),
            ("radios", self.radios_table()),
            ("hops", self.hops_table()),
            ("broadcasts", self.broadcasts_table()),
            ("frames", self.frames_table()),
            ("routes", self.routes_table()),
            ("route_changes", self.route_changes_table()),
            ("commands", self.commands_table()),
            ("sockets", self.sockets_table()),
            ("processes", self.processes_table()),
        ];
        tables.into_iter().filter(|(_, table)| table.num_rows() > 0).collect()
    }

    fn share(&self, time: Duration) -> f64 {
        time.as_secs_f64() / self.duration.as_secs_f64()
    }

    fn path_name(&self, connection: u32, subflow: u32) -> &str {
        let name = &self.connections[connection as usize].name;
        let row = self.subflows.iter().find(|row| row.connection == *name && row.subflow == subflow);
        row.map_or("", |row| &row.path)
    }
}

const HEAD: &str = "\
# Columns of the tables

Every column of every table, from their declarations. `ROPEWALK_BLESS=1 cargo test -p ropewalk-scenario --test scenarios` writes
this page again. Before these columns each table has `scenario`, `scenario_hash` and `seed` ([results](../results.md)). A `?` marks
columns that may be empty: there was nothing to count, or a Linux host's kernel does not tell. Mbit/s are 10⁶ bit/s.
";

/// All columns of all tables as a Markdown page.
pub fn columns_reference() -> String {
    let mut page = HEAD.to_owned();
    let general = [CONNECTIONS, SUBFLOWS, LINKS, SERIES, MPTCP_SERIES, LINK_SERIES, EVENTS];
    let special = [
        BONDS,
        BOND_SERIES,
        RADIOS,
        HOPS,
        BROADCASTS,
        FRAMES,
        ROUTES,
        ROUTE_CHANGES,
        COMMANDS,
        SOCKETS,
        PROCESSES,
    ];
    general.iter().chain(&special).for_each(|table| table.write(&mut page));
    page
}
