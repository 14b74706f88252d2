//! What cannot be emulated: where the kernel does otherwise than a scenario says whose hosts are Linux's.

mod gateway;
mod keys;

pub(crate) use gateway::words as on_daemon;
pub(crate) use keys::OnKernel;

use super::context::{Context, Place};
use super::{ConnectionPlan, NodeKind, NodePlan, Plan, Protocol, Stack};
use crate::error::ScenarioError;
use ropewalk_mptcp::{Coupling, PathManager};

/// Each end of a connection is a thread of its own.
const MOST_CONNECTIONS: usize = 500;

/// Subflows beside the first that Linux opens at most (`ip mptcp limits`).
const MOST_SUBFLOWS: usize = 8;

/// What the hosts' stack does otherwise than the scenario says.
///
/// The first of it is a mistake, unless the stack was asked for whatever the file says. What cannot run at all is a mistake
/// in any case.
pub(crate) fn departures(context: &Context<'_>, plan: &Plan) -> Result<Vec<ScenarioError>, ScenarioError> {
    let mut found = Vec::new();
    gateway::check(context, plan)?;
    match plan.nodes.iter().find(|node| node.stack == Stack::Linux) {
        Some(linux) => of_kernel(context, plan, linux, &mut found)?,
        None => of_simulation(context, plan.nodes.iter(), &mut found),
    }
    // Connections share the tables of the file.
    let mut once: Vec<ScenarioError> = Vec::new();
    found.into_iter().for_each(|one| {
        if !once.contains(&one) {
            once.push(one);
        }
    });
    match once.first() {
        Some(first) if context.stack.is_none() => Err(first.clone()),
        _ => Ok(once),
    }
}

/// A simulation runs no programs.
fn of_simulation<'a>(
    context: &Context<'_>,
    nodes: impl Iterator<Item = &'a NodePlan>,
    found: &mut Vec<ScenarioError>,
) {
    for node in nodes {
        let place = Place::new(context, format!("hosts.{}", node.name));
        found.extend(node.commands.iter().map(|command| {
            let key = format!("commands.{}", command.name);
            place.misplaced(&key, "a simulated host runs no programs", "stack = \"linux\" at this host")
        }));
    }
}

fn of_kernel(
    context: &Context<'_>,
    plan: &Plan,
    linux: &NodePlan,
    found: &mut Vec<ScenarioError>,
) -> Result<(), ScenarioError> {
    check_worlds(context, linux)?;
    if plan.connections.len() > MOST_CONNECTIONS {
        let message = format!("{} connections in real time are too many", plan.connections.len());
        let expected = format!("at most {MOST_CONNECTIONS} with Linux hosts");
        return Err(context.wrong("connections", message, expected));
    }
    plan.connections.iter().try_for_each(|connection| check_datagrams(context, plan, connection))?;
    of_nodes(context, &plan.nodes, found);
    gateway::departures(context, plan, found);
    of_simulation(context, plan.nodes.iter().filter(|node| node.stack == Stack::Ropewalk), found);
    for connection in plan.connections.iter().filter(|connection| connection.meets_linux(plan)) {
        let base = format!("connections.{}", connection.group);
        Emulated { place: Place::new(context, base), connection }.departures(found);
    }
    Ok(())
}

/// Only wires lead to a kernel.
fn check_worlds(context: &Context<'_>, linux: &NodePlan) -> Result<(), ScenarioError> {
    let key = format!("hosts.{}.stack", linux.name);
    if context.file.wifi.is_some() {
        let message = format!("`{}` is a Linux host, and no radio of `wifi` is in its kernel", linux.name);
        return Err(context.wrong(&key, message, "`ropewalk` here, or `links` instead of `wifi`"));
    }
    Ok(())
}

/// A simulated host beside Linux's has TCP and Multipath TCP.
fn check_datagrams(
    context: &Context<'_>,
    plan: &Plan,
    connection: &ConnectionPlan,
) -> Result<(), ScenarioError> {
    let mut ends = [connection.source, connection.destination].into_iter();
    let own = ends.find(|node| plan.nodes[*node].stack == Stack::Ropewalk);
    let (Protocol::Udp, Some(own)) = (&connection.protocol, own) else { return Ok(()) };
    let key = format!("connections.{}.protocol", connection.group);
    let name = &plan.nodes[own].name;
    let message = format!("`{name}` is simulated beside Linux hosts, and has no datagrams there");
    Err(context.wrong(&key, message, "`tcp` or `mptcp`, or stack = \"linux\" at both hosts"))
}

/// What simulated nodes do and emulated ones do not.
fn of_nodes(context: &Context<'_>, nodes: &[NodePlan], found: &mut Vec<ScenarioError>) {
    for node in nodes {
        let (table, what) = match node.kind {
            NodeKind::Host => ("hosts", "a Linux host is as late as the kernel is"),
            NodeKind::Router => ("routers", "between Linux hosts a router forwards at once"),
        };
        let place = Place::new(context, format!("{table}.{}", node.name));
        if !node.jitter.is_idle() {
            found.push(place.misplaced("jitter", what, "`jitter` of a link"));
        }
        if node.ecmp {
            let message = "between Linux hosts a router sends all flows the same way";
            found.push(place.misplaced("ecmp", message, "no `ecmp` between Linux hosts"));
        }
        if !node.strips.is_idle() {
            let message = "options of Linux's own segments are not taken out yet";
            found.push(place.misplaced("strips", message, "no `strips` between Linux hosts"));
        }
    }
}

/// One connection between Linux hosts.
struct Emulated<'a> {
    place: Place<'a>,
    connection: &'a ConnectionPlan,
}

impl Emulated<'_> {
    fn departures(&self, found: &mut Vec<ScenarioError>) {
        let protocol = &self.connection.protocol;
        if let Some(config) = protocol.tcp() {
            keys::of_tcp(&self.place, config, matches!(protocol, Protocol::Mptcp(_)), found);
        }
        if let Protocol::Mptcp(config) = protocol {
            keys::of_mptcp(&self.place, config, found);
            found.extend(self.coupling(config.coupling));
            found.extend(self.path_manager(&config.path_manager));
        }
    }

    fn wrong(&self, name: &str, message: &str, expected: &str) -> ScenarioError {
        let key = self.place.context.document.protocol_key(&self.place.base, "mptcp", name);
        self.place.context.wrong(&key, message, expected)
    }

    fn coupling(&self, coupling: Coupling) -> Option<ScenarioError> {
        match coupling {
            Coupling::Uncoupled | Coupling::Cubic | Coupling::Bbr => None,
            _ => Some(self.wrong(
                "congestion_control",
                "the kernel couples no windows",
                "`cubic`, `bbr`, or `uncoupled` for Reno on each subflow",
            )),
        }
    }

    fn path_manager(&self, manager: &PathManager) -> Option<ScenarioError> {
        if self.connection.paths.len() > 1 + MOST_SUBFLOWS {
            let message = format!("{} paths: the kernel opens fewer subflows", self.connection.paths.len());
            let expected = format!("at most {}", 1 + MOST_SUBFLOWS);
            return Some(self.place.wrong("paths", message, expected));
        }
        match manager {
            PathManager::FullMesh | PathManager::Backup | PathManager::Kernel { .. } => None,
            _ => Some(self.wrong(
                "path_manager",
                "the kernel's path manager knows endpoints and limits only",
                "`full-mesh`, `backup` or `kernel`",
            )),
        }
    }
}
