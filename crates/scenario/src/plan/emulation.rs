//! What cannot be emulated: a scenario whose hosts are Linux's is refused where the kernel cannot do what it says.

mod keys;

use super::context::{Context, Place};
use super::{ConnectionPlan, NodeKind, NodePlan, Protocol, Stack};
use crate::error::ScenarioError;
use ropewalk_mptcp::{Coupling, PathManager, Scheduler};

/// Each end of a connection is a thread of its own.
const MOST_CONNECTIONS: usize = 500;

/// Subflows beside the first that Linux opens at most (`ip mptcp limits`).
const MOST_SUBFLOWS: usize = 8;

/// Checks a scenario that has a Linux host.
pub(super) fn check(
    context: &Context<'_>,
    nodes: &[NodePlan],
    connections: &[ConnectionPlan],
) -> Result<(), ScenarioError> {
    let Some(linux) = nodes.iter().find(|node| node.stack == Stack::Linux) else { return Ok(()) };
    check_worlds(context, linux, nodes)?;
    check_nodes(context, nodes)?;
    if connections.len() > MOST_CONNECTIONS {
        let message = format!("{} connections in real time are too many", connections.len());
        let expected = format!("at most {MOST_CONNECTIONS} with Linux hosts");
        return Err(context.wrong("connections", message, expected));
    }
    for connection in connections {
        let base = format!("connections.{}", connection.group);
        Emulated { place: Place::new(context, base), connection }.check()?;
    }
    Ok(())
}

/// Only wires lead to a kernel, and only kernels are at their ends.
fn check_worlds(context: &Context<'_>, linux: &NodePlan, nodes: &[NodePlan]) -> Result<(), ScenarioError> {
    let key = format!("hosts.{}.stack", linux.name);
    let other = nodes.iter().find(|node| node.kind == NodeKind::Host && node.stack != Stack::Linux);
    if let Some(other) = other {
        let message = format!(
            "`{}` is a Linux host and `{}` is simulated: both in one scenario are not supported yet",
            linux.name, other.name
        );
        return Err(context.wrong(&key, message, "the same `stack` at all hosts"));
    }
    if context.file.wifi.is_some() {
        let message = format!("`{}` is a Linux host, and no radio of `wifi` is in its kernel", linux.name);
        return Err(context.wrong(&key, message, "`ropewalk` here, or `links` instead of `wifi`"));
    }
    if !context.file.bonds.is_empty() {
        let message = "the gateways of `bonds` do not carry the packets of Linux hosts yet";
        return Err(context.wrong(&key, message, "`ropewalk` here, or no `bonds`"));
    }
    Ok(())
}

/// What simulated nodes do and emulated ones do not.
fn check_nodes(context: &Context<'_>, nodes: &[NodePlan]) -> Result<(), ScenarioError> {
    for node in nodes {
        let (table, what) = match node.kind {
            NodeKind::Host => ("hosts", "a Linux host is as late as the kernel is"),
            NodeKind::Router => ("routers", "between Linux hosts a router forwards at once"),
        };
        let place = Place::new(context, format!("{table}.{}", node.name));
        if !node.jitter.is_idle() {
            return Err(place.misplaced("jitter", what, "`jitter` of a link"));
        }
        if !node.strips.is_idle() {
            let message = "options of Linux's own segments are not taken out yet";
            return Err(place.misplaced("strips", message, "no `strips` between Linux hosts"));
        }
    }
    Ok(())
}

/// One connection between Linux hosts.
struct Emulated<'a> {
    place: Place<'a>,
    connection: &'a ConnectionPlan,
}

impl Emulated<'_> {
    fn check(&self) -> Result<(), ScenarioError> {
        if let Some(config) = self.connection.protocol.tcp() {
            keys::check_tcp(&self.place, config)?;
        }
        if let Protocol::Mptcp(config) = &self.connection.protocol {
            keys::check_mptcp(&self.place, config)?;
            self.check_coupling(config.coupling)?;
            self.check_scheduler(&config.scheduler)?;
            self.check_path_manager(&config.path_manager)?;
        }
        Ok(())
    }

    fn wrong(&self, name: &str, message: &str, expected: &str) -> ScenarioError {
        let key = self.place.context.document.protocol_key(&self.place.base, "mptcp", name);
        self.place.context.wrong(&key, message, expected)
    }

    fn check_coupling(&self, coupling: Coupling) -> Result<(), ScenarioError> {
        match coupling {
            Coupling::Uncoupled | Coupling::Cubic | Coupling::Bbr => Ok(()),
            _ => Err(self.wrong(
                "congestion_control",
                "the kernel couples no windows",
                "`cubic`, `bbr`, or `uncoupled` for Reno on each subflow",
            )),
        }
    }

    fn check_scheduler(&self, scheduler: &Scheduler) -> Result<(), ScenarioError> {
        match scheduler {
            Scheduler::Linux => Ok(()),
            _ => Err(self.wrong("scheduler", "the kernel has its own scheduler only", "`linux`")),
        }
    }

    fn check_path_manager(&self, manager: &PathManager) -> Result<(), ScenarioError> {
        if self.connection.paths.len() > 1 + MOST_SUBFLOWS {
            let message = format!("{} paths: the kernel opens fewer subflows", self.connection.paths.len());
            let expected = format!("at most {}", 1 + MOST_SUBFLOWS);
            return Err(self.place.wrong("paths", message, expected));
        }
        match manager {
            PathManager::Kernel { client, server }
                if !(client.changes.is_empty() && server.changes.is_empty()) =>
            {
                let message = "endpoints and limits of a Linux host do not change while it runs yet";
                Err(self.wrong("changes", message, "no `changes`"))
            }
            PathManager::FullMesh | PathManager::Backup | PathManager::Kernel { .. } => Ok(()),
            PathManager::Ndiffports { .. } | PathManager::Scripted { .. } => Err(self.wrong(
                "path_manager",
                "the kernel's path manager knows endpoints and limits only",
                "`full-mesh`, `backup` or `kernel`",
            )),
        }
    }
}
