//! Makes the plan: calls the steps in their order. Each takes what those before it have returned.

use super::context::Context;
use super::route::{self, Topology};
use super::{Plan, Settings, bond, connection, link, node, wifi};
use crate::error::ScenarioError;

/// Points of the time series that one run may have at most: more is a mistake in a unit.
const MOST_SAMPLES: u64 = 1_000_000;

/// Checks everything and makes the plan.
pub(crate) fn plan(context: &Context<'_>) -> Result<Plan, ScenarioError> {
    let settings = context.file.scenario.read();
    if context.note(check_times(context, &settings)).is_none() && settings.duration.is_zero() {
        // Everything would be after the end.
        return Err(context.mistakes());
    }
    let nodes = node::nodes(context);
    let links = link::links(context, &nodes);
    let wifi = context.note(wifi::wifi(context, &nodes, context.file.links.len(), settings.seed));
    let (Some(mut links), Some((wifi, routes))) = (links, wifi) else {
        return Err(without_ways(context, &Topology::new(nodes, Vec::new())));
    };
    links.extend(routes);
    let mut topology = Topology::new(nodes, links);
    let Some(bonds) = context.note(bond::bonds(context, &topology, wifi.as_ref())) else {
        return Err(without_ways(context, &topology));
    };
    if !bonds.is_empty() {
        let Topology { nodes, mut links, .. } = topology;
        links.extend(bonds);
        topology = Topology::new(nodes, links);
        context.needed(bond::routes::lay(context, &mut topology))?;
    }
    if context.note(route::static_routes(context, &mut topology)).is_none() {
        return Err(without_ways(context, &topology));
    }
    let connections = connection::connections(context, &topology, settings.duration);
    context.settled()?;
    let Topology { nodes, links, routing, .. } = topology;
    Ok(Plan { settings, nodes, links, wifi: wifi.map(Box::new), routing, connections })
}

/// All mistakes, where one hides which ways there are: of connections, only the ends can be looked at.
fn without_ways(context: &Context<'_>, topology: &Topology) -> ScenarioError {
    connection::check_ends(context, topology);
    context.mistakes()
}

fn check_times(context: &Context<'_>, settings: &Settings) -> Result<(), ScenarioError> {
    let Settings { duration, sample_interval: interval, .. } = settings;
    if duration.is_zero() {
        return Err(context.wrong("scenario.duration", "the simulation lasts no time", "a time above zero"));
    }
    let key = "scenario.sample_interval";
    if interval.is_zero() {
        return Err(context.wrong(key, "the points of the series have no distance", "a time above zero"));
    }
    let samples = duration.as_nanos() / interval.as_nanos();
    if samples > MOST_SAMPLES {
        let message = format!("{duration} in steps of {interval} makes {samples} samples");
        return Err(context.wrong(key, message, format!("an interval with at most {MOST_SAMPLES} samples")));
    }
    Ok(())
}
