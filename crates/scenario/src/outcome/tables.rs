//! The rows as Arrow tables.

use super::{Outcome, SeriesRow};
use arrow_array::builder::StringDictionaryBuilder;
use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, BooleanArray, Float64Array, RecordBatch, StringArray, UInt32Array, UInt64Array};
use ropewalk_units::{Duration, Instant};
use std::sync::Arc;

/// A table under construction: named columns of equal length.
struct Table {
    columns: Vec<(&'static str, ArrayRef, bool)>,
}

impl Table {
    /// Starts with the provenance, the same in each of `rows` rows.
    fn new(outcome: &Outcome, rows: usize) -> Self {
        let constant = |text: &str| {
            let mut column = StringDictionaryBuilder::<Int32Type>::new();
            (0..rows).for_each(|_| column.append_value(text));
            Arc::new(column.finish()) as ArrayRef
        };
        let provenance = &outcome.provenance;
        let seeds: ArrayRef = Arc::new(UInt64Array::from_value(provenance.seed, rows));
        Self {
            columns: vec![
                ("scenario", constant(&provenance.scenario), false),
                ("scenario_hash", constant(&provenance.scenario_hash), false),
                ("seed", seeds, false),
            ],
        }
    }

    fn push(&mut self, name: &'static str, column: ArrayRef, nullable: bool) {
        self.columns.push((name, column, nullable));
    }

    fn text<T: AsRef<str>>(mut self, name: &'static str, values: impl Iterator<Item = T>) -> Self {
        self.push(name, Arc::new(values.map(Some).collect::<StringArray>()), false);
        self
    }

    fn optional_text<T: AsRef<str>>(
        mut self,
        name: &'static str,
        values: impl Iterator<Item = Option<T>>,
    ) -> Self {
        self.push(name, Arc::new(values.collect::<StringArray>()), true);
        self
    }

    fn u64(mut self, name: &'static str, values: impl Iterator<Item = u64>) -> Self {
        self.push(name, Arc::new(UInt64Array::from_iter_values(values)), false);
        self
    }

    fn optional_u64(mut self, name: &'static str, values: impl Iterator<Item = Option<u64>>) -> Self {
        self.push(name, Arc::new(values.collect::<UInt64Array>()), true);
        self
    }

    fn u32(mut self, name: &'static str, values: impl Iterator<Item = u32>) -> Self {
        self.push(name, Arc::new(UInt32Array::from_iter_values(values)), false);
        self
    }

    fn optional_u32(mut self, name: &'static str, values: impl Iterator<Item = Option<u32>>) -> Self {
        self.push(name, Arc::new(values.collect::<UInt32Array>()), true);
        self
    }

    fn f64(mut self, name: &'static str, values: impl Iterator<Item = f64>) -> Self {
        self.push(name, Arc::new(Float64Array::from_iter_values(values)), false);
        self
    }

    fn optional_f64(mut self, name: &'static str, values: impl Iterator<Item = Option<f64>>) -> Self {
        self.push(name, Arc::new(values.collect::<Float64Array>()), true);
        self
    }

    fn bool(mut self, name: &'static str, values: impl Iterator<Item = bool>) -> Self {
        self.push(name, Arc::new(values.map(Some).collect::<BooleanArray>()), false);
        self
    }

    fn finish(self) -> RecordBatch {
        RecordBatch::try_from_iter_with_nullable(self.columns).expect("columns of one table have one length")
    }
}

impl Outcome {
    /// One row per connection.
    pub fn connections_table(&self) -> RecordBatch {
        let rows = || self.connections.iter();
        let datagrams = || rows().map(|row| row.datagrams);
        Table::new(self, self.connections.len())
            .text("name", rows().map(|r| &r.name))
            .text("protocol", rows().map(|r| r.protocol))
            .text("source", rows().map(|r| &r.source))
            .text("destination", rows().map(|r| &r.destination))
            .u64("bytes", rows().map(|r| r.bytes))
            .f64("goodput_mbps", rows().map(|r| r.goodput_mbps))
            .f64("start_s", rows().map(|r| r.start.as_secs_f64()))
            .optional_f64("end_s", rows().map(|r| r.end.map(Instant::as_secs_f64)))
            .bool("completed", rows().map(|r| r.completed))
            .f64("hol_blocked_s", rows().map(|r| r.hol_blocked_s))
            .u64("reorder_buffer_max_bytes", rows().map(|r| r.reorder_buffer_max))
            .u64("reinjected_bytes", rows().map(|r| r.reinjected_bytes))
            .u64("duplicate_bytes", rows().map(|r| r.duplicate_bytes))
            .u64("transactions", rows().map(|r| r.transactions))
            .optional_f64("mean_response_s", rows().map(|r| r.mean_response_s))
            .optional_u64("datagrams_sent", datagrams().map(|d| d.map(|d| d.sent)))
            .optional_u64("datagrams_received", datagrams().map(|d| d.map(|d| d.received)))
            .optional_u64("datagrams_reordered", datagrams().map(|d| d.map(|d| d.reordered)))
            .optional_f64("delay_median_ms", datagrams().map(|d| d.and_then(|d| d.delay_median_ms)))
            .optional_f64("delay_p99_ms", datagrams().map(|d| d.and_then(|d| d.delay_p99_ms)))
            .optional_text("error", rows().map(|r| r.error.as_ref()))
            .finish()
    }

    /// One row per subflow.
    pub fn subflows_table(&self) -> RecordBatch {
        let rows = || self.subflows.iter();
        Table::new(self, self.subflows.len())
            .text("connection", rows().map(|r| &r.connection))
            .u32("subflow", rows().map(|r| r.subflow))
            .text("path", rows().map(|r| &r.path))
            .u64("bytes", rows().map(|r| r.bytes))
            .f64("throughput_mbps", rows().map(|r| r.throughput_mbps))
            .u64("retransmissions", rows().map(|r| r.retransmissions))
            .u64("spurious_retransmissions", rows().map(|r| r.spurious_retransmissions))
            .u64("timeouts", rows().map(|r| r.timeouts))
            .optional_f64("srtt_ms", rows().map(|r| r.srtt_ms))
            .u64("fast_recoveries", rows().map(|r| r.fast_recoveries))
            .u64("segments", rows().map(|r| r.segments))
            .bool("backup", rows().map(|r| r.backup))
            .finish()
    }

    /// One row per link direction.
    pub fn links_table(&self) -> RecordBatch {
        let rows = || self.links.iter();
        Table::new(self, self.links.len())
            .text("name", rows().map(|r| &r.name))
            .text("direction", rows().map(|r| &r.direction))
            .u64("bytes", rows().map(|r| r.bytes))
            .u64("packets", rows().map(|r| r.packets))
            .u64("drops_queue", rows().map(|r| r.drops_queue))
            .u64("drops_loss", rows().map(|r| r.drops_loss))
            .optional_f64("utilisation", rows().map(|r| r.utilisation))
            .u64("ecn_marks", rows().map(|r| r.ecn_marks))
            .u64("offered", rows().map(|r| r.offered))
            .u64("duplicates", rows().map(|r| r.duplicates))
            .u64("delivered", rows().map(|r| r.delivered))
            .u64("queued", rows().map(|r| r.queued))
            .finish()
    }

    /// The time series: a row per subflow and one per connection at each sample.
    pub fn series_table(&self) -> RecordBatch {
        let rows = || self.series.iter();
        let name = |row: &SeriesRow| &self.connections[row.connection as usize].name;
        let sample = || rows().map(|row| row.subflow);
        let path = |row: &SeriesRow| row.subflow.map(|s| self.path_name(row.connection, s.subflow));
        Table::new(self, self.series.len())
            .f64("time_s", rows().map(|r| r.time.as_secs_f64()))
            .text("connection", rows().map(name))
            .optional_u32("subflow", sample().map(|s| s.map(|s| s.subflow)))
            .optional_text("path", rows().map(path))
            .optional_u32("cwnd_bytes", sample().map(|s| s.map(|s| s.cwnd)))
            .optional_u32("ssthresh_bytes", sample().map(|s| s.map(|s| s.ssthresh).filter(|&t| t < u32::MAX)))
            .optional_f64("srtt_ms", sample().map(|s| s.and_then(|s| s.srtt_ms)))
            .optional_u32("flight_bytes", sample().map(|s| s.map(|s| s.flight)))
            .f64("throughput_mbps", rows().map(|r| r.throughput_mbps))
            .optional_u64("reorder_buffer_bytes", rows().map(|r| r.reorder_buffer))
            .optional_f64("hol_blocked_ms", rows().map(|r| r.hol_blocked_ms))
            .finish()
    }

    /// One row per direction of a bond and one per path of it.
    pub fn bonds_table(&self) -> RecordBatch {
        let rows = || self.bonds.iter();
        let egress = || rows().map(|row| row.egress);
        Table::new(self, self.bonds.len())
            .text("name", rows().map(|r| &r.name))
            .text("direction", rows().map(|r| &r.direction))
            .optional_text("path", rows().map(|r| r.path.as_ref()))
            .u64("sent_packets", rows().map(|r| r.traffic.sent_packets))
            .u64("sent_bytes", rows().map(|r| r.traffic.sent_bytes))
            .u64("received_packets", rows().map(|r| r.traffic.received_packets))
            .u64("received_bytes", rows().map(|r| r.traffic.received_bytes))
            .u64("lost", rows().map(|r| r.lost))
            .u64("repaired", rows().map(|r| r.repaired))
            .optional_u64("late", egress().map(|e| e.map(|e| e.late)))
            .optional_u64("duplicates", egress().map(|e| e.map(|e| e.duplicates)))
            .optional_u64("unsent", egress().map(|e| e.map(|e| e.unsent)))
            .optional_u64("depth_max", egress().map(|e| e.map(|e| e.depth_max)))
            .optional_f64("added_delay_mean_ms", egress().map(|e| e.map(|e| e.added_delay_mean_ms)))
            .optional_f64("added_delay_max_ms", egress().map(|e| e.map(|e| e.added_delay_max_ms)))
            .finish()
    }

    /// The time series of bonds: a row per direction and one per path of it at each sample.
    pub fn bond_series_table(&self) -> RecordBatch {
        let rows = || self.bond_series.iter();
        let names = || rows().map(|row| &self.bonds[row.row as usize]);
        let path = || rows().map(|row| row.path);
        Table::new(self, self.bond_series.len())
            .f64("time_s", rows().map(|r| r.time.as_secs_f64()))
            .text("name", names().map(|n| &n.name))
            .text("direction", names().map(|n| &n.direction))
            .optional_text("path", names().map(|n| n.path.as_ref()))
            .f64("sent_mbps", rows().map(|r| r.sent_mbps))
            .f64("received_mbps", rows().map(|r| r.received_mbps))
            .u64("lost", rows().map(|r| r.lost))
            .optional_f64("weight", path().map(|p| p.map(|p| p.weight)))
            .optional_f64("srtt_ms", path().map(|p| p.and_then(|p| p.srtt_ms)))
            .optional_f64("queueing_ms", path().map(|p| p.and_then(|p| p.queueing_ms)))
            .optional_text("state", path().map(|p| p.map(|p| p.state)))
            .optional_u64("depth", rows().map(|r| r.depth))
            .finish()
    }

    /// One row per station and channel of the wireless network.
    pub fn radios_table(&self) -> RecordBatch {
        let rows = || self.radios.iter();
        let stats = || rows().map(|row| &row.stats);
        let share = |time: Duration| time.as_secs_f64() / self.duration.as_secs_f64();
        Table::new(self, self.radios.len())
            .text("station", rows().map(|r| &r.station))
            .u32("channel", rows().map(|r| u32::from(r.channel)))
            .f64("x_m", rows().map(|r| r.position.x))
            .f64("y_m", rows().map(|r| r.position.y))
            .u64("data_sent", stats().map(|s| s.data_sent))
            .u64("retries", stats().map(|s| s.retries))
            .u64("acknowledged", stats().map(|s| s.acknowledged))
            .u64("ack_timeouts", stats().map(|s| s.ack_timeouts))
            .u64("rts_sent", stats().map(|s| s.rts_sent))
            .u64("cts_sent", stats().map(|s| s.cts_sent))
            .u64("cts_timeouts", stats().map(|s| s.cts_timeouts))
            .u64("acks_sent", stats().map(|s| s.acks_sent))
            .u64("data_received", stats().map(|s| s.data_received))
            .u64("duplicates", stats().map(|s| s.duplicates))
            .u64("collisions", stats().map(|s| s.collisions))
            .u64("frame_errors", stats().map(|s| s.frame_errors))
            .u64("missed", stats().map(|s| s.missed))
            .u64("drops_retries", stats().map(|s| s.drops_retries))
            .u64("drops_queue", stats().map(|s| s.drops_queue))
            .u64("drops_lifetime", stats().map(|s| s.drops_lifetime))
            .u64("queued", stats().map(|s| u64::from(s.queued)))
            .f64("sending", stats().map(|s| share(s.sending)))
            .f64("busy", stats().map(|s| share(s.busy)))
            .finish()
    }

    /// One row per broadcast, sending station, and station that was in range at the end or has heard it.
    pub fn broadcasts_table(&self) -> RecordBatch {
        let rows = || self.broadcasts.iter();
        Table::new(self, self.broadcasts.len())
            .text("name", rows().map(|r| &r.name))
            .u32("channel", rows().map(|r| u32::from(r.channel)))
            .text("from", rows().map(|r| &r.from))
            .text("to", rows().map(|r| &r.to))
            .u64("sent", rows().map(|r| r.sent))
            .u64("received", rows().map(|r| r.received))
            .optional_f64("mean_delay_ms", rows().map(|r| r.mean_delay_ms))
            .finish()
    }

    /// One row per wireless route: its way at the beginning, and how stable it was.
    pub fn routes_table(&self) -> RecordBatch {
        let rows = || self.routes.iter();
        Table::new(self, self.routes.len())
            .text("name", rows().map(|r| &r.name))
            .u32("hops", rows().map(|r| r.hops))
            .text("stations", rows().map(|r| &r.stations))
            .u64("changes", rows().map(|r| r.changes))
            .optional_f64("mean_duration_s", rows().map(|r| r.mean_duration_s))
            .f64("broken_s", rows().map(|r| r.broken_s))
            .optional_f64("first_broken_s", rows().map(|r| r.first_broken_s))
            .finish()
    }

    /// One row per way that a wireless route has taken, by time.
    pub fn route_changes_table(&self) -> RecordBatch {
        let rows = || self.route_changes.iter();
        Table::new(self, self.route_changes.len())
            .text("name", rows().map(|r| &r.name))
            .f64("from_s", rows().map(|r| r.from.as_secs_f64()))
            .optional_f64("until_s", rows().map(|r| r.until.map(Instant::as_secs_f64)))
            .u32("hops", rows().map(|r| r.hops))
            .text("stations", rows().map(|r| &r.stations))
            .finish()
    }

    /// The tables that only some scenarios have, by name: those with rows.
    pub fn special_tables(&self) -> Vec<(&'static str, RecordBatch)> {
        let tables = [
            ("bonds", self.bonds_table()),
            ("bond_series", self.bond_series_table()),
            ("radios", self.radios_table()),
            ("broadcasts", self.broadcasts_table()),
            ("routes", self.routes_table()),
            ("route_changes", self.route_changes_table()),
        ];
        tables.into_iter().filter(|(_, table)| table.num_rows() > 0).collect()
    }

    fn path_name(&self, connection: u32, subflow: u32) -> &str {
        let name = &self.connections[connection as usize].name;
        let row = self.subflows.iter().find(|row| row.connection == *name && row.subflow == subflow);
        row.map_or("", |row| &row.path)
    }
}
