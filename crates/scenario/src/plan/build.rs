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
    context.needed(check_times(context, &settings))?;
    let nodes = node::nodes(context);
    let Some(mut links) = link::links(context, &nodes) else {
        // Without the whole topology, only names can be looked at.
        connection::check_ends(context, &Topology::new(nodes, Vec::new()));
        context.settled()?;
        unreachable!("a link without its ends is a mistake");
    };
    let (wifi, routes) = context.needed(wifi::wifi(context, &nodes, links.len(), settings.seed))?;
    links.extend(routes);
    let mut topology = Topology::new(nodes, links);
    let bonds = context.needed(bond::bonds(context, &topology, wifi.as_ref()))?;
    if !bonds.is_empty() {
        let Topology { nodes, mut links, .. } = topology;
        links.extend(bonds);
        topology = Topology::new(nodes, links);
        context.needed(bond::routes::lay(context, &mut topology))?;
    }
    if context.note(route::static_routes(context, &mut topology)).is_none() {
        // Whether a connection has a way may hang on the routes.
        connection::check_ends(context, &topology);
        context.settled()?;
    }
    let connections = connection::connections(context, &topology, settings.duration);
    context.settled()?;
    let Topology { nodes, links, routing, .. } = topology;
    Ok(Plan { settings, nodes, links, wifi: wifi.map(Box::new), routing, connections })
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
