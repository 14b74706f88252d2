//! What a multipath result is compared with: the same scenario with the connection as TCP on one of its paths.

use crate::document::Document;
use crate::scenario::Scenario;

/// One scenario to compare with.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reference {
    /// The Multipath TCP connection, as the file names it.
    pub connection: String,
    /// The path that is left to it.
    pub path: String,
    /// The scenario's TOML text. Trace files are relative to the original file, which belongs to it as its path.
    pub source: String,
}

impl Scenario {
    /// The names of the Multipath TCP connections, as the file has them.
    pub fn multipath(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for connection in &self.plan.connections {
            let is_multipath = connection.protocol.is_multipath();
            if is_multipath && names.last() != Some(&connection.group) {
                names.push(connection.group.clone());
            }
        }
        names
    }

    /// For each Multipath TCP connection and each of its paths: the scenario in which that connection is TCP on
    /// that path alone, and everything else is as it was, overrides included.
    pub fn references(&self) -> Vec<Reference> {
        let mut references = Vec::new();
        for name in self.multipath() {
            let connection = self.plan.connections.iter().find(|connection| connection.group == name);
            for path in connection.iter().flat_map(|connection| &connection.paths) {
                references.push(Reference {
                    connection: name.clone(),
                    path: path.name.clone(),
                    source: single_path(&self.document, &name, &path.name),
                });
            }
        }
        references
    }
}

fn single_path(document: &Document, connection: &str, path: &str) -> String {
    let mut document = document.clone();
    let base = format!("connections.{connection}");
    document.put_text(&base, "protocol", "tcp");
    document.put_list(&base, "paths", &[path]);
    document.remove(&base, "mptcp");
    document.to_toml()
}
