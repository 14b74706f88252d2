//! Bonds: two gateways, the member links between them, and how they are laid into one.

use super::build::Builder;
use super::connection::MOST_DSCP;
use super::route::{NoRoute, Topology};
use super::{Carrier, LinkIndex, LinkPlan, NodeIndex, NodeKind, PathPlan, link};
use crate::error::ScenarioError;
use crate::schema::bond::BondTable;
use ropewalk_bonding::{Class, Config, DataHeader};

/// IPv4 and UDP headers of what the gateways exchange.
const TUNNEL_HEADERS: u32 = 28;

pub(crate) mod config;

/// A bond between two gateways.
#[derive(Clone, PartialEq, Debug)]
pub struct BondPlan {
    /// Its members, in the file's order; addresses and ways as the first gateway sees them.
    pub paths: Vec<PathPlan>,
    /// What both gateways run.
    pub config: Config,
    /// How packets with a code point are treated; all others are in order.
    pub classes: Vec<(u8, Class)>,
}

/// All bonds, by name, as links behind those of the topology.
pub(super) fn bonds(builder: &Builder<'_>, topology: &Topology) -> Result<Vec<LinkPlan>, ScenarioError> {
    let first = topology.links.len();
    let tables = builder.file.bonds.iter().enumerate();
    tables
        .map(|(index, (name, table))| bond(builder, topology, first + index, name.as_str(), table))
        .collect()
}

fn bond(
    builder: &Builder<'_>,
    topology: &Topology,
    index: LinkIndex,
    name: &str,
    table: &BondTable,
) -> Result<LinkPlan, ScenarioError> {
    let draft = Draft { builder, topology, table, base: format!("bonds.{name}") };
    if topology.links.iter().any(|link| link.name == name) {
        let message = format!("there is a link `{name}` already");
        return Err(builder.document.key_error(&draft.base, message, "a name of its own"));
    }
    let ends = draft.ends()?;
    let paths = draft.paths(ends)?;
    let ways = paths.iter().flat_map(|path| path.forward.iter().chain(&path.backward));
    let mtu = ways.map(|&(link, _)| topology.links[link].mtu).min().unwrap_or(u32::from(u16::MAX));
    let config = config::config(builder, &draft.base, table)?;
    let plan = BondPlan { paths, config, classes: draft.classes()? };
    Ok(LinkPlan {
        name: name.to_owned(),
        ends,
        addresses: link::addresses(index),
        mtu: mtu - TUNNEL_HEADERS - DataHeader::LEN,
        carrier: Carrier::Bond(Box::new(plan)),
    })
}

/// One bond of the file on its way to a plan.
struct Draft<'a> {
    builder: &'a Builder<'a>,
    topology: &'a Topology,
    table: &'a BondTable,
    /// `bonds.NAME`.
    base: String,
}

impl Draft<'_> {
    fn key(&self, name: &str) -> String {
        format!("{}.{name}", self.base)
    }

    fn ends(&self) -> Result<[NodeIndex; 2], ScenarioError> {
        let mut ends = [0; 2];
        for (end, name) in self.table.between.iter().enumerate() {
            let key = self.key(&format!("between[{end}]"));
            ends[end] = self.topology.named(self.builder, &key, name.as_str(), NodeKind::Router)?;
        }
        if ends[0] == ends[1] {
            let message = format!("this bond joins `{}` with itself", self.table.between[0].as_str());
            return Err(self.builder.wrong(&self.key("between"), message, "two different routers"));
        }
        Ok(ends)
    }

    fn paths(&self, ends: [NodeIndex; 2]) -> Result<Vec<PathPlan>, ScenarioError> {
        let mut found: Vec<PathPlan> = Vec::new();
        for (index, member) in self.table.paths.iter().enumerate() {
            let key = self.key(&format!("paths[{index}]"));
            let key = if member.is_name() { key } else { format!("{key}.link") };
            let name = member.fields().link.as_str();
            let link = self.topology.link_at(self.builder, &key, name, ends[0])?;
            if found.iter().any(|path| path.local.link() == link) {
                let message = format!("the path `{name}` is there twice");
                return Err(self.builder.wrong(&key, message, "each path once"));
            }
            let path =
                self.path(ends, link, &found).map_err(|reason| self.unreachable(&key, link, &reason))?;
            found.push(path);
        }
        Ok(found)
    }

    fn unreachable(&self, key: &str, link: LinkIndex, reason: &NoRoute) -> ScenarioError {
        let [from, to] = &self.table.between;
        let why = self.topology.explain(reason);
        let link = &self.topology.links[link].name;
        let (from, to) = (from.as_str(), to.as_str());
        let message = format!("no way from `{from}` to `{to}` and back over the link `{link}`: {why}");
        self.builder.wrong(key, message, "a link that leads there")
    }

    /// The path that leaves the first gateway by `link`: to the second one's nearest interface that no other path
    /// uses.
    fn path(&self, ends: [NodeIndex; 2], link: LinkIndex, others: &[PathPlan]) -> Result<PathPlan, NoRoute> {
        let local = self.topology.address(ends[0], link);
        let mut best: Option<((bool, usize), PathPlan)> = None;
        let mut reason = NoRoute::Unknown(self.topology.other(link, ends[0]));
        for &last in self.topology.links_at(ends[1]) {
            let remote = self.topology.address(ends[1], last);
            let there = self.topology.walk(ends[0], link, remote);
            match there.and_then(|there| Ok((there, self.topology.walk(ends[1], last, local)?))) {
                Ok((forward, backward)) => {
                    let taken = others.iter().any(|path| path.remote == remote);
                    let rank = (taken, forward.len() + backward.len());
                    if best.as_ref().is_none_or(|(least, _)| rank < *least) {
                        let name = self.topology.links[link].name.clone();
                        best = Some((rank, PathPlan { name, local, remote, forward, backward }));
                    }
                }
                Err(error) => reason = error,
            }
        }
        best.map(|(_, path)| path).ok_or(reason)
    }

    fn classes(&self) -> Result<Vec<(u8, Class)>, ScenarioError> {
        let mut classes = Vec::new();
        for (index, table) in self.table.classes.iter().enumerate() {
            let key = self.key(&format!("classes[{index}].dscp"));
            if table.dscp > MOST_DSCP {
                let message = format!("there is no code point {}", table.dscp);
                return Err(self.builder.wrong(&key, message, format!("0 to {MOST_DSCP}")));
            }
            if classes.iter().any(|&(dscp, _)| dscp == table.dscp) {
                let message = format!("the code point {} is there twice", table.dscp);
                return Err(self.builder.wrong(&key, message, "each code point once"));
            }
            classes.push((table.dscp, config::class(table.treatment)));
        }
        Ok(classes)
    }
}
