//! What a multipath result is compared with: the same scenario with a connection as TCP on one of its paths, or with a bond of one of its
//! paths.

use crate::document::Document;
use crate::plan::{BondPlan, Carrier, LinkIndex, PathPlan};
use crate::scenario::Scenario;

/// What has several paths, and is judged against each of them alone.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Multipath {
    /// The name of a Multipath TCP connection, as the file has it, or `bonds.NAME` of a bond.
    pub name: String,
    /// The connections whose goodput counts: copies of the one, or all that go over the bond.
    pub connections: Vec<String>,
}

/// One scenario to compare with.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reference {
    /// As [`Multipath::name`].
    pub name: String,
    /// The path that is left.
    pub path: String,
    /// The scenario's TOML text. Trace files are relative to the original file, which belongs to it as its path.
    pub source: String,
}

impl Scenario {
    /// The Multipath TCP connections, then the bonds that have several paths and carry connections.
    pub fn multipath(&self) -> Vec<Multipath> {
        let mut found: Vec<Multipath> = Vec::new();
        for connection in self.plan.connections.iter().filter(|one| one.protocol.is_multipath()) {
            match found.last_mut().filter(|last| last.name == connection.group) {
                Some(last) => last.connections.push(connection.name.clone()),
                None => found.push(Multipath {
                    name: connection.group.clone(),
                    connections: vec![connection.name.clone()],
                }),
            }
        }
        found.extend(self.bonds().map(|(index, name, _)| Multipath {
            name: format!("bonds.{name}"),
            connections: self.over(index),
        }));
        found.retain(|one| !one.connections.is_empty());
        found
    }

    /// For each Multipath TCP connection and each of its paths: the scenario in which it is TCP on that path alone. For each bond and each
    /// of its paths: the scenario in which that path alone, through a bare tunnel, stands for the bond. Everything else is as it was,
    /// overrides included.
    pub fn references(&self) -> Vec<Reference> {
        let multipath = self.multipath();
        multipath.iter().flat_map(|one| self.alone(&one.name)).collect()
    }

    fn alone(&self, name: &str) -> Vec<Reference> {
        let reference =
            |path: &PathPlan, source| Reference { name: name.to_owned(), path: path.name.clone(), source };
        let bond = self.bonds().find(|(_, bond, _)| name.strip_prefix("bonds.") == Some(bond));
        if let Some((_, bond, plan)) = bond {
            return plan.paths.iter().map(|path| reference(path, self.bare_tunnel(bond, path))).collect();
        }
        let connection = self.plan.connections.iter().find(|connection| connection.group == name);
        let paths = connection.iter().flat_map(|connection| &connection.paths);
        paths.map(|path| reference(path, single_path(&self.document, name, &path.name))).collect()
    }

    /// Bonds of several paths.
    fn bonds(&self) -> impl Iterator<Item = (LinkIndex, &str, &BondPlan)> {
        self.plan.links.iter().enumerate().filter_map(|(index, link)| match &link.carrier {
            Carrier::Bond(bond) if bond.paths.len() > 1 => Some((index, link.name.as_str(), &**bond)),
            _ => None,
        })
    }

    /// The connections with a path over this link.
    fn over(&self, link: LinkIndex) -> Vec<String> {
        let is_over = |path: &PathPlan| path.forward.iter().any(|&(index, _)| index == link);
        let connections = self.plan.connections.iter().filter(|one| one.paths.iter().any(is_over));
        connections.map(|one| one.name.clone()).collect()
    }

    /// With one path there is nothing to schedule, order or repair: `redundant` only numbers the packets. A daemon
    /// always restores order, which costs nothing on one path.
    fn bare_tunnel(&self, bond: &str, path: &PathPlan) -> String {
        let mut document = self.document.clone();
        let base = format!("bonds.{bond}");
        let name = |&(link, _): &(LinkIndex, usize)| self.plan.links[link].name.as_str();
        let links: Vec<&str> = path.forward.iter().map(name).collect();
        document.keep_only(&base, &["between", "run_up"]);
        document.remove("scenario", "events");
        document.put_text(&base, "scheduler", "redundant");
        if !self.plan.is_emulation() {
            document.put_text(&base, "order", "off");
        }
        document.turn_off(&base, "repair");
        document.put_way(&base, "paths", &links);
        document.to_toml()
    }
}

fn single_path(document: &Document, connection: &str, path: &str) -> String {
    let mut document = document.clone();
    let base = format!("connections.{connection}");
    document.put_text(&base, "protocol", "tcp");
    document.put_list(&base, "paths", &[path]);
    document.remove(&base, "mptcp");
    document.remove("scenario", "events");
    document.to_toml()
}
