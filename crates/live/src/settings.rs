//! What a scenario asks of the kernel of each host: sysctls, routes' metrics, endpoints and limits
//! of its path manager.

mod endpoints;

pub(crate) use endpoints::named;
mod sysctls;

use crate::netlink::{Endpoint, RouteMetrics};
use ropewalk_mptcp::{KernelChange, KernelLimits, PathManager};
use ropewalk_scenario::plan::{
    AddressIndex, ConnectionPlan, LinkIndex, LinkPlan, NodeIndex, NodeKind, Plan, Protocol, Stack,
};
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::net::IpAddr;

/// Octets of a TCP header without options.
const TCP_HEADER: u32 = 20;
/// Linux's own (`ip mptcp limits`), where no connection is Multipath TCP.
const LIMITS: KernelLimits = KernelLimits { subflows: 2, add_addr_accepted: 0 };
/// The largest limits that the kernel takes: the scenario's paths say which subflows there are.
const MOST: KernelLimits = KernelLimits { subflows: 8, add_addr_accepted: 8 };

/// Two connections want different things of one kernel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Conflict {
    /// The later one, as the scenario names it.
    pub(crate) connection: String,
    /// The other.
    pub(crate) other: String,
    /// `tcp`, `mptcp` or nothing.
    pub(crate) kind: &'static str,
    /// The key of that table, or of the connection.
    pub(crate) key: &'static str,
    /// Whose kernel.
    pub(crate) host: NodeIndex,
}

/// A value, and the connection that asked for it.
#[derive(Clone, Debug)]
struct Asked<T> {
    value: T,
    by: String,
}

/// Where values are asked for.
struct Asking<'a> {
    connection: &'a ConnectionPlan,
    host: NodeIndex,
}

impl Asking<'_> {
    /// Keeps the value, if no other connection has asked for another.
    fn ask<T: PartialEq + Debug>(
        &self,
        slot: &mut Option<Asked<T>>,
        value: T,
        kind: &'static str,
        key: &'static str,
    ) -> Result<(), Conflict> {
        match slot {
            Some(asked) if asked.value != value => Err(Conflict {
                connection: self.connection.group.clone(),
                other: asked.by.clone(),
                kind,
                key,
                host: self.host,
            }),
            Some(_) => Ok(()),
            None => {
                *slot = Some(Asked { value, by: self.connection.group.clone() });
                Ok(())
            }
        }
    }
}

/// What one host's kernel has to be told.
#[derive(Default, Debug)]
pub(crate) struct Settings {
    sysctls: BTreeMap<&'static str, Option<Asked<String>>>,
    metrics: Option<Asked<RouteMetrics>>,
    /// Of the connections that it opens, and of those that it accepts.
    endpoints: [Option<Asked<Vec<Endpoint>>>; 2],
    limits: [Option<Asked<KernelLimits>>; 2],
    changes: [Option<Asked<Vec<KernelChange>>>; 2],
    /// By which link packets leave for an address, where it does not matter from which they come.
    routes: BTreeMap<IpAddr, LinkIndex>,
}

impl Settings {
    /// Files below `/proc/sys` and what to write into them.
    pub(crate) fn sysctls(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let all = self.sysctls.iter();
        all.filter_map(|(file, asked)| Some((*file, asked.as_ref()?.value.as_str())))
    }

    /// Of a route out of an interface whose packets have room for so many octets behind the IP
    /// header.
    pub(crate) fn metrics(&self, room: u32) -> RouteMetrics {
        let default = RouteMetrics { mss: room.saturating_sub(TCP_HEADER), initial_window: 10 };
        self.metrics.as_ref().map_or(default, |asked| asked.value)
    }

    /// Endpoints of the path manager, each address once.
    pub(crate) fn endpoints(&self) -> Vec<Endpoint> {
        let mut all: Vec<Endpoint> = Vec::new();
        for endpoint in self.endpoints.iter().flatten().flat_map(|asked| &asked.value) {
            match all.iter_mut().find(|known| known.address == endpoint.address) {
                Some(known) => known.flags = known.flags.with(endpoint.flags),
                None => all.push(endpoint.clone()),
            }
        }
        all
    }

    /// The limits of its path manager.
    pub(crate) fn limits(&self) -> KernelLimits {
        let all = self.limits.iter().flatten().map(|asked| asked.value);
        let larger = |a: KernelLimits, b: KernelLimits| KernelLimits {
            subflows: a.subflows.max(b.subflows),
            add_addr_accepted: a.add_addr_accepted.max(b.add_addr_accepted),
        };
        all.reduce(larger).unwrap_or(LIMITS)
    }

    /// What is changed of endpoints and limits meanwhile, in order of time.
    pub(crate) fn changes(&self) -> Vec<KernelChange> {
        let mut all = self.changes.iter().flatten().flat_map(|asked| asked.value.clone()).collect::<Vec<_>>();
        all.sort_by_key(|change| change.at);
        all
    }

    /// Where its packets go.
    pub(crate) const fn routes(&self) -> &BTreeMap<IpAddr, LinkIndex> {
        &self.routes
    }
}

/// The hosts' settings, in the order of the plan's nodes.
pub(crate) fn settings(plan: &Plan) -> Result<Vec<Settings>, Conflict> {
    let mut all: Vec<Settings> = (0..plan.nodes.len()).map(|_| Settings::default()).collect();
    for connection in &plan.connections {
        for path in &connection.paths {
            let [local, remote] = path.addresses();
            for (node, to, from) in
                [(connection.source, remote, local), (connection.destination, local, remote)]
            {
                all[node].routes.entry(plan.address(to)).or_insert(from.link());
            }
        }
        for (end, host) in [connection.source, connection.destination].into_iter().enumerate() {
            if plan.nodes[host].stack != Stack::Linux {
                continue;
            }
            let asking = Asking { connection, host };
            ask(plan, &asking, end, &mut all[host])?;
        }
    }
    for (node, settings) in all.iter_mut().enumerate() {
        add_shortest(plan, node, settings);
    }
    Ok(all)
}

/// Adds routes to the addresses of no connection, for programs that run inside.
fn add_shortest(plan: &Plan, node: NodeIndex, settings: &mut Settings) {
    if plan.nodes[node].kind != NodeKind::Host && !plan.nodes[node].is_gateway() {
        return;
    }
    for address in (0..2 * plan.links.len()).map(AddressIndex) {
        if let Some(link) = plan.routing.next(node, address) {
            settings.routes.entry(plan.address(address)).or_insert(link);
        }
    }
}

/// What one connection asks of one of its hosts; `end` is 0 for the one that opens it.
fn ask(plan: &Plan, asking: &Asking<'_>, end: usize, settings: &mut Settings) -> Result<(), Conflict> {
    let connection = asking.connection;
    let Some(tcp) = connection.protocol.tcp() else { return Ok(()) };
    let metrics = RouteMetrics { mss: u32::from(tcp.mss), initial_window: tcp.initial_window };
    let key = match &settings.metrics {
        Some(asked) if asked.value.mss != metrics.mss => "mss",
        _ => "initial_window",
    };
    asking.ask(&mut settings.metrics, metrics, "tcp", key)?;
    for sysctl in sysctls::of(&connection.protocol, tcp) {
        let slot = settings.sysctls.entry(sysctl.file).or_default();
        asking.ask(slot, sysctl.value, sysctl.kind, sysctl.key)?;
    }
    let Protocol::Mptcp(config) = &connection.protocol else { return Ok(()) };
    let endpoints = endpoints::of(plan, connection, &config.path_manager, end);
    let (kind, key) = match config.path_manager {
        PathManager::Kernel { .. } => ("mptcp", "endpoints"),
        _ => ("", "paths"),
    };
    asking.ask(&mut settings.endpoints[end], endpoints, kind, key)?;
    let limits = match (&config.path_manager, end) {
        (PathManager::Kernel { client, .. }, 0) => client.limits,
        (PathManager::Kernel { server, .. }, _) => server.limits,
        _ => MOST,
    };
    asking.ask(&mut settings.limits[end], limits, "mptcp", "limits")?;
    let changes = match (&config.path_manager, end) {
        (PathManager::Kernel { client, .. }, 0) => client.changes.clone(),
        (PathManager::Kernel { server, .. }, _) => server.changes.clone(),
        _ => Vec::new(),
    };
    asking.ask(&mut settings.changes[end], changes, "mptcp", "changes")
}

/// The wires of a host or a gateway, in the order of the plan, and which of their ends it is.
pub(crate) fn links_of(plan: &Plan, node: NodeIndex) -> impl Iterator<Item = (LinkIndex, &LinkPlan, usize)> {
    let wires = plan.links.iter().enumerate().filter(|(_, link)| link.wire().is_some());
    wires.flat_map(move |(index, link)| {
        let ends = link.ends.iter().enumerate().filter(move |(_, end)| **end == node);
        ends.map(move |(end, _)| (index, link, end))
    })
}
