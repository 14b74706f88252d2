//! Connections: their paths, their transports, and their copies.

use super::application::application;
use super::context::{Context, Place, both};
use super::protocol::{self, Layers};
use super::route::{NoRoute, Topology};
use super::{
    AddressIndex, Application, ConnectionPlan, LinkIndex, MOST_DSCP, NodeIndex, NodeKind, PathPlan, Protocol,
};
use crate::error::ScenarioError;
use crate::schema::connection::{ConnectionKeys, ConnectionTable, ProtocolName};
use crate::schema::quantity::Time;
use ropewalk_units::{Duration, Instant};

/// Copies in all that one scenario may have.
const MOST_CONNECTIONS: usize = 100_000;

/// Ends of connections that one host may have: each has a local port, and some are left for further subflows.
const MOST_ENDS: usize = 50_000;

/// One connection of the file on its way to a plan.
struct Draft<'a> {
    context: &'a Context<'a>,
    topology: &'a Topology,
    table: &'a ConnectionTable,
    keys: ConnectionKeys,
    name: &'a str,
    /// `connections.NAME`.
    place: Place<'a>,
}

/// All connections, by name, with their copies written out; those that cannot be are noted and left out.
pub(super) fn connections(
    context: &Context<'_>,
    topology: &Topology,
    duration: Duration,
) -> Vec<ConnectionPlan> {
    let broadcasts = context.file.wifi.as_ref().is_some_and(|wifi| !wifi.broadcasts.is_empty());
    let commands = context.file.hosts.values().any(|host| host.commands.is_some());
    if context.file.connections.is_empty() && !broadcasts && !commands {
        let message = "the scenario has no connection: nothing would happen";
        context.note::<()>(Err(context.wrong("connections", message, "a table such as [connections.bulk]")));
    }
    let mut all = Vec::new();
    for draft in drafts(context, topology) {
        let before = all.len();
        if context.note(draft.build(duration, &mut all)).is_some() {
            context.note(draft.check_ports(&all, before));
        }
    }
    all
}

/// Notes connections whose ends cannot be, whatever the links are.
pub(super) fn check_ends(context: &Context<'_>, topology: &Topology) {
    for draft in drafts(context, topology) {
        context.note(draft.ends());
    }
}

fn drafts<'a>(context: &'a Context<'_>, topology: &'a Topology) -> impl Iterator<Item = Draft<'a>> {
    context.file.connections.iter().map(move |(name, table)| {
        let place = Place::new(context, format!("connections.{}", name.as_str()));
        Draft { context, topology, table, keys: table.read(), name: name.as_str(), place }
    })
}

impl Draft<'_> {
    fn build(&self, duration: Duration, all: &mut Vec<ConnectionPlan>) -> Result<(), ScenarioError> {
        let (source, destination) = self.ends()?;
        let name = self.keys.protocol;
        let (paths, (starts, ())) = both(
            self.paths(source, destination, name),
            both(self.starts(duration, all.len()), self.check_dscp()),
        )?;
        let mtu = self.mtu(&paths);
        let ends = [source, destination];
        let layers = Layers::new(
            &self.place,
            self.table,
            protocol::Way { topology: self.topology, ends, paths: &paths, mtu },
        );
        let protocol = layers.protocol(name)?;
        let application = application(&self.place, self.table.application.as_ref(), &protocol, mtu)?;
        self.check_data(&application)?;
        let copies = starts.len();
        for (index, start) in starts.into_iter().enumerate() {
            let name =
                if copies == 1 { self.name.to_owned() } else { format!("{}-{}", self.name, index + 1) };
            all.push(ConnectionPlan {
                name,
                group: self.name.to_owned(),
                protocol: protocol.clone(),
                source,
                destination,
                paths: paths.clone(),
                application: application.clone(),
                data: self.keys.data,
                start,
                dscp: self.keys.dscp,
            });
        }
        Ok(())
    }

    /// A host has as many ports as it has: `all` connections so far, this one's copies from `before` on.
    fn check_ports(&self, all: &[ConnectionPlan], before: usize) -> Result<(), ScenarioError> {
        let Some(own) = all.get(before) else { return Ok(()) };
        for (node, name) in [(own.source, &self.table.from), (own.destination, &self.table.to)] {
            let ends = all.iter().filter(|other| other.source == node || other.destination == node).count();
            if ends > MOST_ENDS {
                let message = format!("`{}` would have {ends} ends of connections", name.as_str());
                let expected = format!("at most {MOST_ENDS} at one host, each with a port of its own");
                return Err(self.place.wrong("count", message, expected));
            }
        }
        Ok(())
    }

    fn key(&self, name: &str) -> String {
        self.place.key(name)
    }

    fn ends(&self) -> Result<(NodeIndex, NodeIndex), ScenarioError> {
        if self.table.stride.is_some() {
            let message = "`from` and `to` are no group, of which each member opens to another";
            return Err(self.place.misplaced("stride", message, "the same group at both ends"));
        }
        let find =
            |key: &str, name: &str| self.topology.named(self.context, &self.key(key), name, NodeKind::Host);
        let (source, destination) =
            both(find("from", self.table.from.as_str()), find("to", self.table.to.as_str()))?;
        if source == destination {
            let message = format!("`{}` would talk to itself", self.table.to.as_str());
            return Err(self.place.wrong("to", message, "another host"));
        }
        Ok((source, destination))
    }

    fn paths(
        &self,
        source: NodeIndex,
        destination: NodeIndex,
        protocol: ProtocolName,
    ) -> Result<Vec<PathPlan>, ScenarioError> {
        let mut found: Vec<PathPlan> = Vec::new();
        match &self.table.paths {
            Some(names) => {
                self.check_count(names.len(), protocol)?;
                for (index, name) in names.iter().enumerate() {
                    let key = self.key(&format!("paths[{index}]"));
                    let link = self.topology.link_at(self.context, &key, name.as_str(), source)?;
                    if found.iter().any(|path| path.local.link() == link) {
                        let message = format!("the path `{}` is there twice", name.as_str());
                        return Err(self.context.wrong(&key, message, "each path once"));
                    }
                    let path = self.path(source, destination, link, &found);
                    found.push(path.map_err(|reason| self.unreachable(&key, name.as_str(), &reason))?);
                }
            }
            None => {
                for &link in self.topology.links_at(source) {
                    let enough = protocol != ProtocolName::Mptcp && !found.is_empty();
                    if let (false, Ok(path)) = (enough, self.path(source, destination, link, &found)) {
                        found.push(path);
                    }
                }
                if found.is_empty() {
                    return Err(self.isolated(source, destination));
                }
            }
        }
        Ok(found)
    }

    fn check_count(&self, count: usize, protocol: ProtocolName) -> Result<(), ScenarioError> {
        let key = self.key("paths");
        match (count, protocol) {
            (0, _) => Err(self.context.wrong(&key, "the connection has no path", "at least one link")),
            (1, _) | (_, ProtocolName::Mptcp) => Ok(()),
            _ => {
                let message = format!("{count} paths, but only mptcp takes more than one");
                Err(self.context.wrong(&key, message, "one link, or protocol = \"mptcp\""))
            }
        }
    }

    fn unreachable(&self, key: &str, link: &str, reason: &NoRoute) -> ScenarioError {
        let (from, to) = (self.table.from.as_str(), self.table.to.as_str());
        let why = self.topology.explain(reason);
        let message = format!("no way from `{from}` to `{to}` and back over the link `{link}`: {why}");
        self.context.wrong(key, message, "a link that leads there")
    }

    fn isolated(&self, source: NodeIndex, destination: NodeIndex) -> ScenarioError {
        let (from, to) = (self.table.from.as_str(), self.table.to.as_str());
        let lonely = |node: NodeIndex| self.topology.links_at(node).is_empty();
        let why = if lonely(source) {
            format!(": `{from}` has no link")
        } else if lonely(destination) {
            format!(": `{to}` has no link")
        } else {
            String::new()
        };
        let message = format!("there is no way from `{from}` to `{to}` and back{why}");
        self.place.wrong("to", message, "a host that links and routers lead to")
    }

    /// The path that leaves the source by `link`. Directly joined hosts use the link's other end; through
    /// routers, the destination's interface with the shortest way, before all one that no other path uses.
    fn path(
        &self,
        source: NodeIndex,
        destination: NodeIndex,
        link: LinkIndex,
        others: &[PathPlan],
    ) -> Result<PathPlan, NoRoute> {
        let local = self.topology.address(source, link);
        let mut best: Option<((bool, usize), PathPlan)> = None;
        let mut reason = NoRoute::Unknown(self.topology.other(link, source));
        for &last in self.topology.links_at(destination) {
            let remote = self.topology.address(destination, last);
            let both_ways = self.topology.walk(source, link, remote).and_then(|forward| {
                self.topology.walk(destination, last, local).map(|backward| (forward, backward))
            });
            let (forward, backward) = match both_ways {
                Ok(ways) => ways,
                Err(error) => {
                    reason = error;
                    continue;
                }
            };
            let rank = (others.iter().any(|path| path.remote == remote), forward.len() + backward.len());
            if best.as_ref().is_none_or(|(least, _)| rank < *least) {
                let name = self.topology.links[link].name.clone();
                best = Some((rank, PathPlan { name, local, remote, forward, backward }));
            }
        }
        best.map(|(_, path)| path).ok_or(reason)
    }

    fn check_data(&self, application: &Application) -> Result<(), ScenarioError> {
        if self.table.data.is_some() && matches!(application, Application::RequestResponse(_)) {
            let message = "requests and answers flow both ways";
            return Err(self.place.misplaced("data", message, "no key `data` here"));
        }
        Ok(())
    }

    fn check_dscp(&self) -> Result<(), ScenarioError> {
        let dscp = self.keys.dscp;
        if dscp > MOST_DSCP {
            let message = format!("there is no code point {dscp}");
            return Err(self.place.wrong("dscp", message, format!("0 to {MOST_DSCP}")));
        }
        Ok(())
    }

    /// When each copy opens.
    fn starts(&self, duration: Duration, before: usize) -> Result<Vec<Instant>, ScenarioError> {
        let given = self.given_starts()?;
        let ConnectionKeys { count, spread, .. } = self.keys;
        if count == 0 {
            return Err(self.place.wrong("count", "no copy at all", "a number from 1"));
        }
        if (count as usize).saturating_mul(given.len()).saturating_add(before) > MOST_CONNECTIONS {
            let message = format!("{count} copies are too many");
            let expected = format!("at most {MOST_CONNECTIONS} connections in all");
            return Err(self.place.wrong("count", message, expected));
        }
        let mut starts = Vec::new();
        for (time, key) in given {
            for copy in 0..u64::from(count) {
                let later = spread.as_nanos() as u128 * u128::from(copy) / u128::from(count);
                let start = time.0 + Duration::from_nanos(later as u64);
                if start >= duration {
                    let message =
                        format!("a connection opens at {start}, but the simulation ends at {duration}");
                    return Err(self.context.wrong(&key, message, "a time before the end"));
                }
                starts.push(Instant::ZERO + start);
            }
        }
        Ok(starts)
    }

    fn given_starts(&self) -> Result<Vec<(Time, String)>, ScenarioError> {
        let Some(times) = &self.table.starts else {
            let start = self.table.start.unwrap_or(Time(Duration::ZERO));
            return Ok(vec![(start, self.key("start"))]);
        };
        let key = self.key("starts");
        if self.table.start.is_some() {
            return Err(self.context.misplaced(&key, "`start` is given as well", "one of the two"));
        }
        if times.is_empty() {
            return Err(self.context.wrong(&key, "no time at all", "at least one time"));
        }
        Ok(times.iter().enumerate().map(|(index, time)| (*time, format!("{key}[{index}]"))).collect())
    }

    /// Least MTU on the way of any path, there and back.
    fn mtu(&self, paths: &[PathPlan]) -> u32 {
        let ways = paths.iter().flat_map(|path| path.forward.iter().chain(&path.backward));
        let on_ways = ways.map(|&(link, _)| self.topology.links[link].mtu);
        on_ways.chain(self.topology.shared_mtu()).min().unwrap_or(u32::from(u16::MAX))
    }
}

impl PathPlan {
    /// The two addresses.
    pub const fn addresses(&self) -> [AddressIndex; 2] {
        [self.local, self.remote]
    }
}

impl Protocol {
    /// The TCP constants, of the connection or of its subflows.
    pub fn tcp(&self) -> Option<&ropewalk_tcp::Config> {
        match self {
            Self::Tcp(config) => Some(config),
            Self::Mptcp(config) => Some(&config.tcp),
            Self::Udp => None,
        }
    }
}
