//! What is refused before anything is made, since this machine or its kernel cannot do it.

use crate::application::{LEAST_DATAGRAM, control};
use crate::machine::Machine;
use crate::settings::{Conflict, Settings, links_of, settings};
use ropewalk_scenario::plan::{
    AddressFamily, Application, ConnectionPlan, NodeKind, PathPlan, Protocol, Stack,
};
use ropewalk_scenario::{Scenario, ScenarioError};

/// Interfaces of one host: each has a routing table of its own.
const MOST_INTERFACES: usize = 100;

/// Checks a scenario with Linux hosts, and gives what each of their kernels has to be told.
pub(crate) fn check(scenario: &Scenario, machine: &Machine) -> Result<Vec<Settings>, ScenarioError> {
    check_machine(scenario, machine)?;
    check_hosts(scenario)?;
    check_gateways(scenario, machine)?;
    for connection in &scenario.plan().connections {
        check_connection(scenario, connection, machine)?;
    }
    settings(scenario.plan()).map_err(|conflict| conflicting(scenario, &conflict))
}

fn check_machine(scenario: &Scenario, machine: &Machine) -> Result<(), ScenarioError> {
    let host = scenario.plan().nodes.iter().find(|node| node.stack == Stack::Linux);
    let key = host.map_or(String::new(), |host| format!("hosts.{}.stack", host.name));
    let wrong = |message: String, expected: &str| Err(scenario.mistake(&key, message, expected));
    if !machine.namespaces {
        return wrong(
            "this kernel has no network namespaces, and a Linux host is one".to_owned(),
            "`ropewalk`, or a kernel with CONFIG_NET_NS",
        );
    }
    if !machine.capable {
        return wrong(
            "only root may make a Linux host: a network namespace with interfaces".to_owned(),
            "`ropewalk`, or to be run by root: sudo ropewalk run …",
        );
    }
    if let Some(reason) = &machine.tun {
        return wrong(
            format!("there are no TUN interfaces for a Linux host: /dev/net/tun: {reason}"),
            "`ropewalk`, or the kernel's TUN driver: modprobe tun",
        );
    }
    if scenario.plan().settings.address_family == AddressFamily::Ipv6 && !machine.ipv6 {
        let message = "the kernel of this machine has no IPv6";
        let expected = "`ipv4`, or a kernel with CONFIG_IPV6 that was not started with ipv6.disable=1";
        return Err(scenario.mistake("scenario.address_family", message, expected));
    }
    Ok(())
}

fn check_hosts(scenario: &Scenario) -> Result<(), ScenarioError> {
    let plan = scenario.plan();
    for (index, node) in plan.nodes.iter().enumerate() {
        let interfaces = links_of(plan, index).count();
        let (table, what) = match node.kind {
            NodeKind::Host => ("hosts", "Linux host"),
            NodeKind::Router => ("routers", "gateway"),
        };
        if (node.kind == NodeKind::Host || node.is_gateway()) && interfaces > MOST_INTERFACES {
            let message = format!("{interfaces} interfaces are too many for a {what}");
            let expected = format!("at most {MOST_INTERFACES} links at `{}`", node.name);
            return Err(scenario.mistake(&format!("{table}.{}.stack", node.name), message, expected));
        }
    }
    Ok(())
}

/// The daemon is a program of its own.
fn check_gateways(scenario: &Scenario, machine: &Machine) -> Result<(), ScenarioError> {
    let Some(gateway) = scenario.plan().nodes.iter().find(|node| node.is_gateway()) else { return Ok(()) };
    if machine.gateway.is_some() {
        return Ok(());
    }
    let key = format!("routers.{}.stack", gateway.name);
    let message = "there is no program `ropewalk-gateway`, which a gateway between Linux hosts is";
    let expected = "it in the search path, beside this program, or named by ROPEWALK_GATEWAY: cargo install --path crates/gateway";
    Err(scenario.mistake(&key, message, expected))
}

fn check_connection(
    scenario: &Scenario,
    connection: &ConnectionPlan,
    machine: &Machine,
) -> Result<(), ScenarioError> {
    let base = format!("connections.{}", connection.group);
    if !connection.meets_linux(scenario.plan()) {
        return Ok(());
    }
    check_datagrams(scenario, connection)?;
    check_control(scenario, connection, machine)?;
    if let Protocol::Mptcp(_) = connection.protocol {
        if !machine.mptcp {
            let message = "the kernel of this machine has no Multipath TCP";
            let expected = "`tcp`, or a kernel with CONFIG_MPTCP (Linux 5.6 or later)";
            return Err(scenario.mistake(&format!("{base}.protocol"), message, expected));
        }
        check_class(scenario, connection)?;
        check_pairs(scenario, connection)?;
    }
    Ok(())
}

/// A datagram carries its number and its time.
fn check_datagrams(scenario: &Scenario, connection: &ConnectionPlan) -> Result<(), ScenarioError> {
    let size = match &connection.application {
        Application::ConstantRate(paced) => paced.packet_size,
        Application::OnOff(paced) => paced.packet_size,
        Application::Frames(_) => {
            let key = format!("connections.{}.application", connection.group);
            let message =
                "frames are simulated: between Linux hosts there is nothing that puts them together";
            return Err(scenario.mistake(&key, message, "\"constant-rate\" or \"on-off\""));
        }
        Application::Recorded(_) => {
            let key = format!("connections.{}.application", connection.group);
            let message = "recorded datagrams are simulated: a Linux host sends none of them";
            return Err(scenario.mistake(&key, message, "\"constant-rate\" or \"on-off\""));
        }
        Application::Bulk(_) | Application::RequestResponse(_) => return Ok(()),
    };
    if !matches!(connection.protocol, Protocol::Udp) || size >= LEAST_DATAGRAM {
        return Ok(());
    }
    let key = format!("connections.{}.application.packet_size", connection.group);
    let message = format!("{size} octets have no room for a datagram's number and time between Linux hosts");
    Err(scenario.mistake(&key, message, format!("at least {LEAST_DATAGRAM} B")))
}

fn check_control(
    scenario: &Scenario,
    connection: &ConnectionPlan,
    machine: &Machine,
) -> Result<(), ScenarioError> {
    let name = control(&connection.protocol);
    if connection.protocol.tcp().is_none() || machine.controls.iter().any(|known| known == name) {
        return Ok(());
    }
    let kind = connection.protocol.name();
    let key = scenario.protocol_key(&connection.group, kind, "congestion_control");
    let message = format!("the kernel of this machine has no congestion control `{name}`");
    let expected = format!("one of {}, or its module: modprobe tcp_{name}", machine.controls.join(", "));
    Err(scenario.mistake(&key, message, expected))
}

/// A socket of Multipath TCP has an option for the class of its packets in IPv4 alone (Linux 6.18).
fn check_class(scenario: &Scenario, connection: &ConnectionPlan) -> Result<(), ScenarioError> {
    if connection.dscp == 0 || scenario.plan().settings.address_family == AddressFamily::Ipv4 {
        return Ok(());
    }
    let key = format!("connections.{}.dscp", connection.group);
    let message = "the kernel gives Multipath TCP no class of packets over IPv6";
    Err(scenario.mistake(&key, message, "0, or `address_family = \"ipv4\"`"))
}

/// Of the paths to an announced address the kernel opens the one that its routes lead to.
fn check_pairs(scenario: &Scenario, connection: &ConnectionPlan) -> Result<(), ScenarioError> {
    let Protocol::Mptcp(config) = &connection.protocol else { return Ok(()) };
    let Some((first, others)) = connection.paths.split_first() else { return Ok(()) };
    if matches!(config.path_manager, ropewalk_mptcp::PathManager::Kernel { .. }) {
        return Ok(());
    }
    let shared = |(index, path): &(usize, &PathPlan)| {
        path.remote != first.remote && others[..*index].iter().any(|other| other.remote == path.remote)
    };
    let Some((_, path)) = others.iter().enumerate().find(shared) else { return Ok(()) };
    let message = format!("the kernel pairs the path `{}` with an address that another has", path.name);
    let expected = "an interface of the server for each path, one for all, or path_manager = \"kernel\"";
    Err(scenario.mistake(&format!("connections.{}.paths", connection.group), message, expected))
}

fn conflicting(scenario: &Scenario, conflict: &Conflict) -> ScenarioError {
    let Conflict { connection, other, kind, key, host } = conflict;
    let path = match *kind {
        "" => format!("connections.{connection}.{key}"),
        kind => scenario.protocol_key(connection, kind, key),
    };
    let host = &scenario.plan().nodes[*host].name;
    let message = format!(
        "the kernel of `{host}` has one `{key}` for all, and `{other}` wants another than `{connection}`"
    );
    scenario.mistake(&path, message, format!("the same `{key}` at both connections"))
}

#[cfg(test)]
mod tests;
