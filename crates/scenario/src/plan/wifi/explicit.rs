//! The table that would say everything.

use super::errors::step_time;
use super::{BroadcastPlan, DeploymentPlan, StationPlan, WifiPlan};
use crate::schema::loss::{BernoulliTable, NoKeys};
use crate::schema::quantity::Name;
use crate::schema::table::full;
use crate::schema::wifi::{
    BroadcastTable, BurstKeys, BurstTable, DeploymentTable, ErrorKeys, ErrorsTable, FrameLossTable,
    LayoutTable, StatesKeys, StatesTable, StationTable, WifiTable, WirelessRouteKeys, WirelessRouteTable,
};
use ropewalk_units::Probability;

/// `table` with every default written out.
pub(crate) fn explicit(table: &WifiTable, plan: &WifiPlan) -> Option<WifiTable> {
    let routes = table.routes.iter().zip(&plan.routes);
    Some(WifiTable {
        stations: stations(plan),
        deployment: plan.deployment.as_ref().and_then(deployment),
        movement: table.movement.clone(),
        routes: routes.map(|((name, given), plan)| (name.clone(), route(given, &plan.channels))).collect(),
        errors: table.errors.iter().map(errors).collect(),
        broadcasts: plan.broadcasts.iter().filter_map(broadcast).collect(),
        ..WifiTable::show(&plan.keys)?
    })
}

fn stations(plan: &WifiPlan) -> std::collections::BTreeMap<Name, StationTable> {
    let scripted = |name: &String| plan.movement.as_ref().is_some_and(|file| file.stations.contains(name));
    let table = |station: &StationPlan| {
        let table = StationTable::show(station)?;
        let mobility = table.mobility.filter(|_| !scripted(&station.name));
        Some((Name(station.name.clone()), StationTable { mobility, ..table }))
    };
    plan.stations.iter().filter_map(table).collect()
}

fn broadcast(plan: &BroadcastPlan) -> Option<(Name, BroadcastTable)> {
    Some((Name(plan.name.clone()), BroadcastTable::show(plan)?))
}

fn deployment(plan: &DeploymentPlan) -> Option<DeploymentTable> {
    let table = DeploymentTable::show(&plan.keys)?;
    // What comes from a file is not drawn until something holds.
    let is_drawn = !matches!(table.layout, LayoutTable::File(_));
    Some(DeploymentTable { until: table.until.filter(|_| is_drawn), ..table })
}

fn route(given: &WirelessRouteTable, channels: &[u8]) -> WirelessRouteTable {
    let table = full::<WirelessRouteKeys, _>(given);
    WirelessRouteTable {
        via: table.via.filter(|_| given.find.is_none()),
        channel: if given.channels.is_some() { None } else { channels.first().copied() },
        ..table
    }
}

fn errors(given: &ErrorsTable) -> ErrorsTable {
    ErrorsTable { loss: loss(&given.loss), ..full::<ErrorKeys, _>(given) }
}

fn loss(given: &FrameLossTable) -> FrameLossTable {
    let full = match given {
        FrameLossTable::Bernoulli(BernoulliTable { probability }) if probability.0 == Probability::ZERO => {
            Some(FrameLossTable::None(NoKeys {}))
        }
        FrameLossTable::Bursts(table) => {
            let keys = table.read();
            let step = step_time(keys.per, keys.step);
            BurstTable::show(&BurstKeys { step, ..keys }).map(FrameLossTable::Bursts)
        }
        FrameLossTable::GilbertElliott(table) => {
            let keys = table.read();
            let step = step_time(keys.per, keys.step);
            StatesTable::show(&StatesKeys { step, ..keys }).map(FrameLossTable::GilbertElliott)
        }
        _ => None,
    };
    full.unwrap_or_else(|| given.clone())
}
