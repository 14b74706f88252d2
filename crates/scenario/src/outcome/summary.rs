//! The summary: one JSON object whose keys are fixed by the command line's documentation.

use super::{ConnectionRow, ENGINE_VERSION, LinkRow, Outcome, SubflowRow};
use ropewalk_units::Instant;
use serde::Serialize;

#[derive(Serialize)]
struct Summary<'a> {
    scenario: &'a str,
    seed: u64,
    version: &'static str,
    duration_s: f64,
    connections: Vec<Connection<'a>>,
    links: Vec<Link<'a>>,
}

#[derive(Serialize)]
struct Connection<'a> {
    name: &'a str,
    protocol: &'static str,
    bytes: u64,
    goodput_mbps: f64,
    start_s: f64,
    end_s: Option<f64>,
    completed: bool,
    subflows: Vec<Subflow<'a>>,
}

#[derive(Serialize)]
struct Subflow<'a> {
    path: &'a str,
    bytes: u64,
    throughput_mbps: f64,
    retransmissions: u64,
    spurious_retransmissions: u64,
    timeouts: u64,
    srtt_ms: Option<f64>,
}

#[derive(Serialize)]
struct Link<'a> {
    name: &'a str,
    direction: &'a str,
    bytes: u64,
    packets: u64,
    drops_queue: u64,
    drops_loss: u64,
    utilisation: Option<f64>,
}

impl<'a> From<&'a SubflowRow> for Subflow<'a> {
    fn from(row: &'a SubflowRow) -> Self {
        Self {
            path: &row.path,
            bytes: row.bytes,
            throughput_mbps: row.throughput_mbps,
            retransmissions: row.retransmissions,
            spurious_retransmissions: row.spurious_retransmissions,
            timeouts: row.timeouts,
            srtt_ms: row.srtt_ms,
        }
    }
}

impl<'a> From<&'a LinkRow> for Link<'a> {
    fn from(row: &'a LinkRow) -> Self {
        Self {
            name: &row.name,
            direction: &row.direction,
            bytes: row.bytes,
            packets: row.packets,
            drops_queue: row.drops_queue,
            drops_loss: row.drops_loss,
            utilisation: row.utilisation,
        }
    }
}

impl Outcome {
    fn connection<'a>(&'a self, row: &'a ConnectionRow) -> Connection<'a> {
        let subflows = self.subflows.iter().filter(|subflow| subflow.connection == row.name);
        Connection {
            name: &row.name,
            protocol: row.protocol,
            bytes: row.bytes,
            goodput_mbps: row.goodput_mbps,
            start_s: row.start.as_secs_f64(),
            end_s: row.end.map(Instant::as_secs_f64),
            completed: row.completed,
            subflows: subflows.map(Subflow::from).collect(),
        }
    }

    /// The summary as one JSON object, with exactly the keys that the documentation of `--json` lists.
    pub fn summary_json(&self) -> String {
        let summary = Summary {
            scenario: &self.provenance.scenario,
            seed: self.provenance.seed,
            version: ENGINE_VERSION,
            duration_s: self.duration.as_secs_f64(),
            connections: self.connections.iter().map(|row| self.connection(row)).collect(),
            links: self.links.iter().map(Link::from).collect(),
        };
        serde_json::to_string_pretty(&summary).expect("plain numbers and texts always serialise")
    }
}
