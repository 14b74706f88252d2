//! Bonds: two gateways, the member links between them, and how they are laid into one.

use super::context::{Context, both, every};
use super::route::Topology;
use super::{
    Carrier, LinkIndex, LinkPlan, MOST_DSCP, NodeIndex, NodeKind, PathPlan, UDP_HEADER, WifiPlan, link,
};
use crate::error::ScenarioError;
use crate::schema::bond::BondTable;
use crate::schema::bond::ClassPlan;
use crate::schema::quantity::Name;
use ropewalk_bonding::{Config, DataHeader};
use ropewalk_units::Duration;

/// A bond is up for so long before its scenario begins, if the file says nothing else, as a real one is up before its
/// traffic.
const RUN_UP: Duration = Duration::from_secs(5);
/// Whatever is learnt without traffic is known by then; more would only take time.
const LONGEST_RUN_UP: Duration = Duration::from_secs(60);

pub(crate) mod config;
mod key;
pub(super) mod routes;
mod way;

use key::member_key;
use way::{NoWay, Ways};

/// A bond between two gateways.
#[derive(Clone, PartialEq, Debug)]
pub struct BondPlan {
    /// Its members, in the file's order; addresses and ways as the first gateway sees them.
    pub paths: Vec<PathPlan>,
    /// What both gateways run.
    pub config: Config,
    /// How packets with a code point are treated; all others are in order.
    pub classes: Vec<ClassPlan>,
    /// How long it has been up when the scenario begins.
    pub run_up: Duration,
}

/// All bonds, by name, as links behind those of the topology.
pub(super) fn bonds(
    context: &Context<'_>,
    topology: &Topology,
    wifi: Option<&WifiPlan>,
) -> Result<Vec<LinkPlan>, ScenarioError> {
    let first = topology.links.len();
    let tables = context.file.bonds.iter().enumerate();
    every(tables.map(|(index, (name, table))| {
        let name = name.as_str();
        let draft = Draft { context, topology, wifi, table, name, base: format!("bonds.{name}") };
        bond(&draft, first + index)
    }))
}

fn bond(draft: &Draft<'_>, index: LinkIndex) -> Result<LinkPlan, ScenarioError> {
    let Draft { context, topology, table, name, .. } = *draft;
    if topology.links.iter().any(|link| link.name == name) {
        let message = format!("there is a link `{name}` already");
        return Err(context.misplaced(&draft.base, message, "a name of its own"));
    }
    let (paths, (config, classes)) = both(
        draft.ends().and_then(|ends| Ok((ends, draft.paths(ends)?))),
        both(config::config(context, &draft.base, table), draft.classes()),
    )?;
    let (ends, paths) = paths;
    let ways = paths.iter().flat_map(|path| path.forward.iter().chain(&path.backward));
    let mtu = ways.map(|&(link, _)| topology.links[link].mtu).min().unwrap_or(u32::from(u16::MAX));
    let run_up = draft.run_up(&config)?;
    let family = context.address_family();
    let room = mtu - family.header() - UDP_HEADER - DataHeader::LEN;
    let least = link::least_mtu(family);
    if room < least {
        let message =
            format!("packets of at most {room} octets fit through this bond, and its hosts may send {least}");
        let expected = format!("members with an MTU of at least {}", least + mtu - room);
        return Err(context.misplaced(&draft.base, message, expected));
    }
    let plan = BondPlan { paths, config, classes, run_up };
    Ok(LinkPlan {
        name: name.to_owned(),
        ends,
        addresses: family.of_link(index),
        mtu: room,
        carrier: Carrier::Bond(Box::new(plan)),
    })
}

/// One bond of the file on its way to a plan.
struct Draft<'a> {
    context: &'a Context<'a>,
    topology: &'a Topology,
    /// Where wireless links have their delays from.
    wifi: Option<&'a WifiPlan>,
    table: &'a BondTable,
    name: &'a str,
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
            ends[end] = self.topology.named(self.context, &key, name.as_str(), NodeKind::Router)?;
        }
        if ends[0] == ends[1] {
            let message = format!("this bond joins `{}` with itself", self.table.between[0].as_str());
            return Err(self.context.wrong(&self.key("between"), message, "two different routers"));
        }
        Ok(ends)
    }

    fn paths(&self, ends: [NodeIndex; 2]) -> Result<Vec<PathPlan>, ScenarioError> {
        let mut ways: Vec<Vec<LinkIndex>> = Vec::new();
        for (index, member) in self.table.paths.iter().enumerate() {
            let key = member_key(self.context, self.name, index);
            let name = member.fields().link.as_str();
            let first = self.topology.link_at(self.context, &key, name, ends[0])?;
            if ways.iter().any(|way| way[0] == first) {
                let message = format!("the path `{name}` is there twice");
                return Err(self.context.wrong(&key, message, "each path once"));
            }
            let way = match &member.fields().via {
                Some(via) => self.named_way(ends, first, via, &self.key(&format!("paths[{index}].via")))?,
                None => Ways { topology: self.topology, wifi: self.wifi, ends, others: &ways }
                    .shortest(first)
                    .map_err(|reason| self.no_way(&key, first, &reason))?,
            };
            ways.push(way);
        }
        Ok(ways.into_iter().map(|way| self.path(ends, &way)).collect())
    }

    /// The way that the file names link by link.
    fn named_way(
        &self,
        ends: [NodeIndex; 2],
        first: LinkIndex,
        via: &[Name],
        key: &str,
    ) -> Result<Vec<LinkIndex>, ScenarioError> {
        let nodes = &self.topology.nodes;
        let mut way = vec![first];
        let mut seen = vec![ends[0]];
        let mut node = self.topology.other(first, ends[0]);
        for (index, name) in via.iter().enumerate() {
            let key = format!("{key}[{index}]");
            let here = &nodes[node].name;
            if node == ends[1] {
                let message = format!("the way is at `{here}` before `{}`", name.as_str());
                return Err(self.context.wrong(&key, message, "no link behind the gateway"));
            }
            if nodes[node].kind == NodeKind::Host {
                let message = format!("the way leads to the host `{here}`, which forwards nothing");
                return Err(self.context.wrong(&key, message, "links between routers"));
            }
            let link = self.topology.link_at(self.context, &key, name.as_str(), node)?;
            seen.push(node);
            way.push(link);
            node = self.topology.other(link, node);
            if seen.contains(&node) {
                let message = format!("`{}` leads back to `{}`", name.as_str(), nodes[node].name);
                return Err(self.context.wrong(&key, message, "a way that comes to each router once"));
            }
        }
        if node == ends[1] {
            return Ok(way);
        }
        let message = format!("the way ends at `{}`", nodes[node].name);
        Err(self.context.wrong(key, message, format!("links up to `{}`", nodes[ends[1]].name)))
    }

    fn no_way(&self, key: &str, first: LinkIndex, reason: &NoWay) -> ScenarioError {
        let [from, to] = [0, 1].map(|end| self.table.between[end].as_str());
        let node = |index: NodeIndex| &self.topology.nodes[index].name;
        let first = &self.topology.links[first].name;
        let names = |way: &[LinkIndex]| -> Vec<&str> {
            way[1..].iter().map(|&link| self.topology.links[link].name.as_str()).collect()
        };
        let no_way = format!("no way from `{from}` to `{to}` over the link `{first}`");
        let leads_there = "a link that leads there";
        match reason {
            NoWay::Host(host) => {
                let message =
                    format!("{no_way}: it leads to the host `{}`, which forwards nothing", node(*host));
                self.context.wrong(key, message, leads_there)
            }
            NoWay::Cut(router) => {
                let message =
                    format!("{no_way}: `{}` knows none that does not lead back over `{from}`", node(*router));
                self.context.wrong(key, message, leads_there)
            }
            NoWay::Tie([one, other]) => {
                let [one, other] = [names(one), names(other)];
                let message = format!(
                    "two ways from `{from}` to `{to}` over the link `{first}` are as short: by {} and by {}",
                    one.join(", "),
                    other.join(", ")
                );
                self.context.wrong(
                    key,
                    message,
                    format!("`link` and `via`, as {{ link = {first:?}, via = {one:?} }}"),
                )
            }
        }
    }

    /// There by these links, and back by the same.
    fn path(&self, ends: [NodeIndex; 2], way: &[LinkIndex]) -> PathPlan {
        let (first, last) = (way[0], way[way.len() - 1]);
        let mut forward = Vec::new();
        let mut node = ends[0];
        for &link in way {
            forward.push((link, usize::from(self.topology.links[link].ends[1] == node)));
            node = self.topology.other(link, node);
        }
        PathPlan {
            name: self.topology.links[first].name.clone(),
            local: self.topology.address(ends[0], first),
            remote: self.topology.address(ends[1], last),
            backward: forward.iter().rev().map(|&(link, direction)| (link, 1 - direction)).collect(),
            forward,
        }
    }

    fn run_up(&self, config: &Config) -> Result<Duration, ScenarioError> {
        // A weight at first falls as long as nothing is lost: after a run-up it would be as if it had not been said.
        let usual = if config::has_first_weights(config) { Duration::ZERO } else { RUN_UP };
        let run_up = self.table.read(usual).run_up;
        if run_up > LONGEST_RUN_UP {
            let message = "`run_up` cannot be used";
            return Err(self.context.wrong(
                &self.key("run_up"),
                message,
                format!("at most {LONGEST_RUN_UP}"),
            ));
        }
        Ok(run_up)
    }

    fn classes(&self) -> Result<Vec<ClassPlan>, ScenarioError> {
        let mut classes: Vec<ClassPlan> = Vec::new();
        for (index, table) in self.table.classes.iter().enumerate() {
            let key = self.key(&format!("classes[{index}].dscp"));
            if table.dscp > MOST_DSCP {
                let message = format!("there is no code point {}", table.dscp);
                return Err(self.context.wrong(&key, message, format!("0 to {MOST_DSCP}")));
            }
            if classes.iter().any(|class| class.dscp == table.dscp) {
                let message = format!("the code point {} is there twice", table.dscp);
                return Err(self.context.wrong(&key, message, "each code point once"));
            }
            classes.push(table.read());
        }
        Ok(classes)
    }
}
