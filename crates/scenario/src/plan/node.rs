//! Hosts and routers.

use super::context::{Context, Place};
use super::{ClockPlan, CommandPlan, JitterPlan, NodeKind, NodePlan, Stack, StripPlan, clock};
use crate::error::ScenarioError;
use crate::schema::connection::CommandTable;
use crate::schema::quantity::Name;
use crate::schema::router::{RouterStack, RouterTable};
use ropewalk_units::Instant;

/// All nodes, sorted by name.
pub(super) fn nodes(context: &Context<'_>) -> Vec<NodePlan> {
    let mut nodes = Vec::new();
    for (name, table) in &context.file.hosts {
        let place = Place::new(context, format!("hosts.{}", name.as_str()));
        let jitter = context.note(clock::jitter(&place, table.jitter.as_ref())).unwrap_or_default();
        let commands = context.note(commands(&place, table.commands.iter().flatten())).unwrap_or_default();
        let stack = context.stack.or(table.stack).unwrap_or_default();
        let offloads = table.read().offloads;
        nodes.push(NodePlan { stack, jitter, offloads, commands, ..plain(name.as_str(), NodeKind::Host) });
    }
    for (name, table) in &context.file.routers {
        let place = Place::new(context, format!("routers.{}", name.as_str()));
        if context.file.hosts.contains_key(name) {
            let message = format!("there is a host `{}` already", name.as_str());
            context.note::<()>(Err(context.misplaced(&place.base, message, "a name of its own")));
            continue;
        }
        let router = context.note(router(&place, name.as_str(), table));
        nodes.push(router.unwrap_or_else(|| plain(name.as_str(), NodeKind::Router)));
    }
    nodes.sort_by(|a, b| a.name.cmp(&b.name));
    nodes
}

/// A node with its name, and everything else by default.
fn plain(name: &str, kind: NodeKind) -> NodePlan {
    NodePlan {
        name: name.to_owned(),
        kind,
        stack: Stack::Ropewalk,
        forwarding: RouterStack::Ropewalk,
        strips: StripPlan::default(),
        ecmp: false,
        clock: ClockPlan::default(),
        jitter: JitterPlan::default(),
        offloads: false,
        commands: Vec::new(),
    }
}

fn router(place: &Place<'_>, name: &str, table: &RouterTable) -> Result<NodePlan, ScenarioError> {
    if table.strips_from.is_some() && table.strips.is_none() {
        return Err(place.misplaced("strips_from", "nothing is stripped", "a key `strips` beside it"));
    }
    let keys = table.read();
    Ok(NodePlan {
        forwarding: forwarding(place.context, name, keys.stack),
        strips: StripPlan::new(table),
        ecmp: keys.ecmp,
        clock: clock::clock(place, name, table.clock.as_ref())?,
        jitter: clock::jitter(place, table.jitter.as_ref())?,
        ..plain(name, NodeKind::Router)
    })
}

/// Who forwards at a router: with a stack for all hosts the gateways of bonds follow them.
fn forwarding(context: &Context<'_>, name: &str, said: RouterStack) -> RouterStack {
    let mut bonds = context.file.bonds.values();
    match context.stack {
        None => said,
        Some(Stack::Linux) if bonds.any(|bond| bond.between.iter().any(|end| end.as_str() == name)) => {
            RouterStack::Gateway
        }
        Some(_) => RouterStack::Ropewalk,
    }
}

/// The programs of the host whose table is at `place`.
fn commands<'a>(
    place: &Place<'_>,
    tables: impl Iterator<Item = (&'a Name, &'a CommandTable)>,
) -> Result<Vec<CommandPlan>, ScenarioError> {
    let duration = place.context.file.scenario.read().duration;
    let mut all = Vec::new();
    for (name, table) in tables {
        let plan = CommandPlan { name: name.0.clone(), ..table.read() };
        if plan.start >= Instant::ZERO + duration {
            let key = format!("commands.{}.start", name.as_str());
            return Err(place.wrong(&key, "it would start after the end", format!("less than {duration}")));
        }
        if plan.command.trim().is_empty() {
            let key = format!("commands.{}.command", name.as_str());
            return Err(place.wrong(&key, "there is nothing to run", "what a shell can run"));
        }
        all.push(plan);
    }
    Ok(all)
}
