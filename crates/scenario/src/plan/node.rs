//! Hosts and routers.

use super::context::{Context, Place};
use super::{ClockPlan, NodeKind, NodePlan, Stack, StripPlan, clock};
use crate::error::ScenarioError;
use crate::schema::router::RouterTable;

/// All nodes, sorted by name.
pub(super) fn nodes(context: &Context<'_>) -> Result<Vec<NodePlan>, ScenarioError> {
    let mut nodes = Vec::new();
    for (name, host) in &context.file.hosts {
        let place = Place::new(context, format!("hosts.{}", name.as_str()));
        let jitter = clock::jitter(&place, host.jitter.as_ref())?;
        let (strips, clock) = (StripPlan::default(), ClockPlan::default());
        let stack = context.stack.or(host.stack).unwrap_or_default();
        nodes.push(NodePlan { name: name.0.clone(), kind: NodeKind::Host, stack, strips, clock, jitter });
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
    })
}
