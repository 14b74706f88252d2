//! Bonds between Linux hosts: their gateways are the daemon `ropewalk-gateway`, which has fewer keys than a simulated bond.

use super::super::context::{Context, Place};
use super::super::{
    Application, BondPlan, ClockPlan, LinkPlan, NodeIndex, NodeKind, Plan, Protocol, Stack, UDP_HEADER,
};
use crate::error::ScenarioError;
use crate::plan::bond::config::explicit;
use ropewalk_bonding::{
    Class, Config, CostFirstConfig, FlowAwareConfig, KeepaliveConfig, PathConfig, PathId, SchedulerConfig,
};
use serde_json::Value;
use std::collections::BTreeMap;

/// Octets that the daemon's sealing adds to what a simulated bond sends (`docs/gateway-protocol.md`: a header of 16, a tag of 16).
const SEALING: u32 = 32;

/// Keys of a bond that the daemon is told; of its paths those behind `paths[N].`.
const TOLD: [&str; 6] = [
    "scheduler",
    "scheduler.kind",
    "repair",
    "keepalive.interval",
    "keepalive.suspect_after",
    "keepalive.down_after",
];
const TOLD_OF_PATHS: [&str; 3] = ["link", "via", "cost"];

/// What becomes of a bond's key, by its name below the bond, where its gateways are the daemon.
pub(crate) fn words(key: &str) -> &'static str {
    let of_path = key.strip_prefix("paths[").and_then(|rest| rest.split_once("].")).map(|(_, name)| name);
    let is_told = match of_path {
        Some(name) => TOLD_OF_PATHS.iter().any(|told| name == *told || name.starts_with("via[")),
        None => TOLD.contains(&key) || key.starts_with("classes["),
    };
    match key {
        _ if key.starts_with("between") => "",
        "run_up" => "in real time",
        _ if is_told => "set in the daemon",
        _ => "fixed by the daemon",
    }
}

/// Gateways that cannot be: no bond ends there, or its other end or the hosts are simulated.
pub(super) fn check(context: &Context<'_>, plan: &Plan) -> Result<(), ScenarioError> {
    let bonds = || plan.links.iter().filter(|link| link.bond().is_some());
    for (index, node) in plan.nodes.iter().enumerate().filter(|(_, node)| node.is_gateway()) {
        let key = format!("routers.{}.stack", node.name);
        if !bonds().any(|bond| bond.ends.contains(&index)) {
            let message = format!("no bond ends at `{}`: there is nothing for the daemon to do", node.name);
            return Err(context.wrong(
                &key,
                message,
                "`ropewalk`, or a bond between this router and another",
            ));
        }
        let host = plan.nodes.iter().find(|node| node.kind == NodeKind::Host && node.stack != Stack::Linux);
        if let Some(host) = host {
            let message =
                format!("`{}` is simulated, and the daemon carries packets of Linux hosts", host.name);
            return Err(context.wrong(&key, message, "`ropewalk` here, or stack = \"linux\" at all hosts"));
        }
    }
    let linux = plan.nodes.iter().find(|node| node.stack == Stack::Linux);
    for bond in bonds() {
        let simulated = bond.ends.into_iter().find(|end| !plan.nodes[*end].is_gateway());
        if let (Some(linux), Some(end)) = (linux, simulated) {
            let name = &plan.nodes[end].name;
            let message = format!(
                "`{}` is a Linux host, and the gateway `{name}` of the bond `{}` is simulated",
                linux.name, bond.name
            );
            let expected = format!("stack = \"gateway\" at the router `{name}`, or no Linux hosts");
            return Err(context.misplaced(&format!("routers.{name}"), message, expected));
        }
        if let (Some(_), Some(plan)) = (linux, bond.bond()) {
            check_scheduler(context, bond, plan)?;
        }
    }
    Ok(())
}

fn check_scheduler(context: &Context<'_>, link: &LinkPlan, bond: &BondPlan) -> Result<(), ScenarioError> {
    if !matches!(bond.config.scheduler, SchedulerConfig::WeightedRoundRobin(_)) {
        return Ok(());
    }
    let message = "the daemon has no weighted round robin";
    let expected = "`cost-first`, `rate-aware`, `flow-aware` or `redundant`";
    Err(context.wrong(&format!("bonds.{}.scheduler", link.name), message, expected))
}

/// What a bond's configuration becomes at the daemon.
fn of_daemon(config: &Config) -> Config {
    let paths = config.paths.iter().map(|path| PathConfig::new(&path.name, path.cost)).collect();
    let scheduler = match config.scheduler {
        SchedulerConfig::CostFirst(_) => SchedulerConfig::CostFirst(CostFirstConfig::default()),
        SchedulerConfig::FlowAware(_) => SchedulerConfig::FlowAware(FlowAwareConfig::default()),
        other => other,
    };
    let mut daemon = Config::new(paths, scheduler);
    daemon.repair = config.repair;
    daemon.keepalive = KeepaliveConfig {
        interval: config.keepalive.interval,
        suspect_after: config.keepalive.suspect_after,
        down_after: config.keepalive.down_after,
        ..KeepaliveConfig::default()
    };
    daemon.paths = (0..daemon.paths.len()).map(|place| daemon.explicit_path(PathId(place as u8))).collect();
    daemon
}

/// What the daemons do otherwise than the scenario says.
pub(super) fn departures(context: &Context<'_>, plan: &Plan, found: &mut Vec<ScenarioError>) {
    for node in plan.nodes.iter().filter(|node| node.is_gateway() && node.clock != ClockPlan::default()) {
        let place = Place::new(context, format!("routers.{}", node.name));
        found.push(place.misplaced("clock", "the daemon has this machine's clock", "no `clock` here"));
    }
    for link in &plan.links {
        if let Some(bond) = link.bond() {
            of_bond(context, plan, (link, bond), found);
            too_long(context, plan, link, found);
        }
    }
}

fn of_bond(
    context: &Context<'_>,
    plan: &Plan,
    (link, bond): (&LinkPlan, &BondPlan),
    found: &mut Vec<ScenarioError>,
) {
    let place = Place::new(context, format!("bonds.{}", link.name));
    let leaves = |config: Config| {
        let between = link.ends.map(|end: NodeIndex| plan.nodes[end].name.clone());
        let table = explicit(between, &BondPlan { config, ..bond.clone() }, &plan.links);
        let mut leaves = BTreeMap::new();
        flatten("", &serde_json::to_value(table).unwrap_or_default(), &mut leaves);
        leaves
    };
    let (given, daemon) = (leaves(bond.config.clone()), leaves(of_daemon(&bond.config)));
    for (key, value) in &given {
        if daemon.get(key) != Some(value) {
            let expected =
                daemon.get(key).map_or("no such key".to_owned(), |value| format!("`{}`", text(value)));
            found.push(place.wrong(key, format!("`{key}` is fixed in the daemon"), expected));
        }
    }
    for (index, class) in bond.classes.iter().enumerate() {
        if class.treatment == Class::LowDelay {
            let key = format!("classes[{index}].treatment");
            found.push(place.wrong(&key, "the daemon treats no packets so", "`normal`"));
        }
    }
}

/// Datagrams that fit through a simulated bond, and through the daemon's in two pieces only.
fn too_long(context: &Context<'_>, plan: &Plan, link: &LinkPlan, found: &mut Vec<ScenarioError>) {
    let family = plan.settings.address_family;
    let room = link.mtu.saturating_sub(SEALING);
    let most = room.saturating_sub(family.header() + UDP_HEADER);
    for connection in &plan.connections {
        let size = match &connection.application {
            Application::ConstantRate(paced) => paced.packet_size,
            Application::OnOff(paced) => paced.packet_size,
            Application::Frames(frames) => frames.packet_size,
            Application::Bulk(_) | Application::RequestResponse(_) => continue,
        };
        let goes_there = connection
            .paths
            .iter()
            .any(|path| path.forward.iter().any(|&(way, _)| plan.links[way].name == link.name));
        if matches!(connection.protocol, Protocol::Udp) && goes_there && size > most {
            let key = format!("connections.{}.application.packet_size", connection.group);
            let message = format!(
                "the daemon seals packets, which takes {SEALING} octets: datagrams of {size} octets go in two pieces"
            );
            found.push(context.wrong(&key, message, format!("at most {most} B")));
        }
    }
}

fn flatten(path: &str, value: &Value, leaves: &mut BTreeMap<String, Value>) {
    let below = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    match value {
        Value::Object(object) => object.iter().for_each(|(key, value)| flatten(&below(key), value, leaves)),
        Value::Array(items) => {
            items
                .iter()
                .enumerate()
                .for_each(|(index, item)| flatten(&format!("{path}[{index}]"), item, leaves));
        }
        Value::Null => {}
        leaf => drop(leaves.insert(path.to_owned(), leaf.clone())),
    }
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
