//! The summary: one JSON object. Its keys are columns of the tables.

use super::columns::Fields;
use super::{ConnectionRow, ENGINE_VERSION, LatenessRow, Outcome};
use serde::Serialize;
use std::collections::BTreeMap;

#[derive(Serialize)]
struct Summary<'a> {
    scenario: &'a str,
    seed: u64,
    version: &'static str,
    duration_s: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    lateness: Option<Lateness>,
    connections: Vec<Connection>,
    links: Vec<Fields>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    commands: Vec<Fields>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    sockets: Vec<Fields>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    processes: Vec<Fields>,
}

/// Of an emulation.
#[derive(Serialize)]
struct Lateness {
    packets: u64,
    mean_ms: f64,
    p99_ms: f64,
    worst_ms: f64,
}

#[derive(Serialize)]
struct Connection {
    #[serde(flatten)]
    columns: Fields,
    subflows: Vec<Fields>,
}

impl Outcome {
    fn connections_with_subflows(&self) -> Vec<Connection> {
        let mut subflows: BTreeMap<&str, Vec<Fields>> = BTreeMap::new();
        for (row, columns) in self.subflows.iter().zip(self.subflows_summary()) {
            subflows.entry(&row.connection).or_default().push(columns);
        }
        let rows = self.connections.iter().zip(self.connections_summary());
        let connection = |(row, columns): (&ConnectionRow, Fields)| Connection {
            columns,
            subflows: subflows.remove(row.name.as_str()).unwrap_or_default(),
        };
        rows.map(connection).collect()
    }

    /// The summary as one JSON object: of each table in it the columns that are marked so.
    pub fn summary_json(&self) -> String {
        let summary = Summary {
            scenario: &self.provenance.scenario,
            seed: self.provenance.seed,
            version: ENGINE_VERSION,
            duration_s: self.duration.as_secs_f64(),
            lateness: self.lateness.map(|LatenessRow { packets, mean_ms, p99_ms, worst_ms }| Lateness {
                packets,
                mean_ms,
                p99_ms,
                worst_ms,
            }),
            connections: self.connections_with_subflows(),
            links: self.links_summary().collect(),
            commands: self.commands_summary().collect(),
            sockets: self.sockets_summary().collect(),
            processes: self.processes_summary().collect(),
        };
        serde_json::to_string_pretty(&summary).expect("plain numbers and texts always serialise")
    }
}
