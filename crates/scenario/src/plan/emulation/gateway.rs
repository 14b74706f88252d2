//! Bonds between Linux hosts: their gateways are the daemon `ropewalk-gateway`, which takes the keys of a simulated bond.

use super::super::context::{Context, Place};
use super::super::{Application, ClockPlan, LinkPlan, NodeKind, Plan, Protocol, Stack, UDP_HEADER};
use crate::error::ScenarioError;
use ropewalk_bonding::{CompactHeader, DataHeader};

/// Octets that the daemon's sealing adds to what a simulated bond sends (`docs/gateway-protocol.md`): a header of 6 and a tag of 16,
/// less what the compact form of the bond's header is shorter.
const SEALING: u32 = 6 + 16 - (DataHeader::LEN - CompactHeader::LEN);
/// The daemon's tunnel has to carry packets of so many octets: IPv6 needs it (RFC 8200 §5).
const LEAST_INSIDE: u32 = 1280;

/// What becomes of a bond's key, by its name below the bond, where its gateways are the daemon.
pub(crate) fn words(key: &str) -> &'static str {
    match key {
        _ if key.starts_with("between") => "",
        "run_up" => "in real time",
        _ => "set in the daemon",
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
    check_lengths(context, plan)?;
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
    }
    Ok(())
}

/// Links that are too short for the daemon: it refuses to run over such a path.
fn check_lengths(context: &Context<'_>, plan: &Plan) -> Result<(), ScenarioError> {
    let header = plan.settings.address_family.header();
    let least = LEAST_INSIDE + DataHeader::LEN + SEALING + UDP_HEADER + header;
    let is_real = |link: &&LinkPlan| link.ends.into_iter().any(|end| plan.nodes[end].is_gateway());
    let bonds = plan.links.iter().filter(is_real).filter_map(LinkPlan::bond);
    let ways = bonds.flat_map(|bond| &bond.paths).flat_map(|path| &path.forward);
    let Some(link) = ways.map(|&(link, _)| &plan.links[link]).find(|link| link.mtu < least) else {
        return Ok(());
    };
    let message = format!(
        "an MTU of {} octets leaves {} inside the daemon's tunnel, which has to carry {LEAST_INSIDE}",
        link.mtu,
        (link.mtu + LEAST_INSIDE).saturating_sub(least),
    );
    let expected = format!("at least {least} between gateways that are the daemon");
    Err(context.wrong(&format!("links.{}.mtu", link.name), message, expected))
}

/// What the daemons do otherwise than the scenario says.
pub(super) fn departures(context: &Context<'_>, plan: &Plan, found: &mut Vec<ScenarioError>) {
    for node in plan.nodes.iter().filter(|node| node.is_gateway() && node.clock != ClockPlan::default()) {
        let place = Place::new(context, format!("routers.{}", node.name));
        found.push(place.misplaced("clock", "the daemon has this machine's clock", "no `clock` here"));
    }
    for link in &plan.links {
        if link.bond().is_some() {
            too_long(context, plan, link, found);
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
            Application::Recorded(recorded) => recorded.lengths().1,
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
