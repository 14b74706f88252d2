//! Hosts and routers.

use super::context::{Context, Place};
use super::{ClockPlan, CommandPlan, NodeKind, NodePlan, Stack, StripPlan, clock};
use crate::error::ScenarioError;
use crate::schema::connection::CommandTable;
use crate::schema::quantity::Name;
use crate::schema::router::RouterTable;
use ropewalk_units::Instant;

/// All nodes, sorted by name.
pub(super) fn nodes(context: &Context<'_>) -> Result<Vec<NodePlan>, ScenarioError> {
    let mut nodes = Vec::new();
    for (name, host) in &context.file.hosts {
        let place = Place::new(context, format!("hosts.{}", name.as_str()));
        let jitter = clock::jitter(&place, host.jitter.as_ref())?;
        let (strips, clock) = (StripPlan::default(), ClockPlan::default());
        let stack = context.stack.or(host.stack).unwrap_or_default();
        let (name, kind, commands) =
            (name.0.clone(), NodeKind::Host, commands(&place, host.commands.iter().flatten())?);
        nodes.push(NodePlan { name, kind, stack, strips, clock, jitter, commands });
    }
    for (name, table) in &context.file.routers {
        let place = Place::new(context, format!("routers.{}", name.as_str()));
        if context.file.hosts.contains_key(name) {
            let message = format!("there is a host `{}` already", name.as_str());
            return Err(context.misplaced(&place.base, message, "a name of its own"));
        }
        nodes.push(router(&place, name.as_str(), table)?);
    }
    nodes.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(nodes)
}

fn router(place: &Place<'_>, name: &str, table: &RouterTable) -> Result<NodePlan, ScenarioError> {
    if table.strips_from.is_some() && table.strips.is_none() {
        return Err(place.misplaced("strips_from", "nothing is stripped", "a key `strips` beside it"));
    }
    Ok(NodePlan {
        name: name.to_owned(),
        kind: NodeKind::Router,
        stack: Stack::Ropewalk,
        strips: StripPlan::new(table),
        clock: clock::clock(place, name, table.clock.as_ref())?,
        jitter: clock::jitter(place, table.jitter.as_ref())?,
        commands: Vec::new(),
    })
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
