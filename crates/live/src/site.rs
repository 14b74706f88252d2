//! The hosts and gateways of a scenario on this machine: a namespace each, with interfaces,
//! addresses, routes and rules.

use crate::changes::Changes;
use crate::error::{Error, Step};
use crate::interface::{Interface, MOST_IN_ONE};
use crate::namespace::Namespace;
use crate::netlink::{Diag, MptcpPm, Route, Routing};
use crate::ports::QUEUE;
use crate::settings::{Settings, links_of};
use ropewalk_scenario::plan::{AddressFamily, LinkIndex, LinkPlan, NodeIndex, Plan, Protocol};
use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::Arc;
use tun_rs::{DeviceBuilder, DeviceBuilderGuard, SyncDevice};

/// The loopback interface's index in every namespace.
const LOOPBACK: u32 = 1;
/// The table of a host's first interface.
const FIRST_TABLE: u8 = 100;
/// The longest name of an interface.
const LONGEST_NAME: usize = 15;
/// Names of interfaces that are taken, or mean all of them.
const RESERVED: [&str; 3] = ["lo", "all", "default"];

/// What is the same in every namespace. A packet may come by any interface. A connection knows
/// nothing of those before it, as in simulation.
const SYSCTLS: [(&str, &str); 3] = [
    ("net/ipv4/conf/all/rp_filter", "0"),
    ("net/ipv4/conf/default/rp_filter", "0"),
    ("net/ipv4/tcp_no_metrics_save", "1"),
];

/// What is set where the hosts speak IPv4 only, and where they speak IPv6. With IPv6 an interface
/// makes no addresses by itself, and asks no router for a prefix.
const IPV4_ONLY: [(&str, &str); 2] =
    [("net/ipv6/conf/all/disable_ipv6", "1"), ("net/ipv6/conf/default/disable_ipv6", "1")];
const IPV6: [(&str, &str); 5] = [
    ("net/ipv6/conf/all/disable_ipv6", "0"),
    ("net/ipv6/conf/default/disable_ipv6", "0"),
    ("net/ipv6/conf/default/addr_gen_mode", "1"),
    ("net/ipv6/conf/default/router_solicitations", "0"),
    ("net/ipv6/conf/default/accept_ra", "0"),
];

/// What is set at a gateway too. It forwards, and sends no redirects, as simulated routers send
/// none.
const FORWARDING: [(&str, &str); 4] = [
    ("net/ipv4/ip_forward", "1"),
    ("net/ipv4/conf/all/send_redirects", "0"),
    ("net/ipv4/conf/default/send_redirects", "0"),
    ("net/ipv6/conf/all/forwarding", "1"),
];

/// Files that some kernels lack. They are then left out.
const OPTIONAL: [&str; 5] = [
    "net/ipv6/conf/all/forwarding",
    "net/ipv6/conf/all/disable_ipv6",
    "net/ipv6/conf/default/disable_ipv6",
    "net/ipv4/tcp_rto_max_ms",
    "net/ipv4/tcp_rto_min_us",
];

/// The hosts and gateways of a scenario, by node.
#[derive(Default)]
pub(crate) struct Site {
    pub(crate) namespaces: BTreeMap<NodeIndex, Namespace>,
    /// What tells of the sockets inside.
    pub(crate) diags: BTreeMap<NodeIndex, Diag>,
    /// What the links carry packets between.
    pub(crate) interfaces: BTreeMap<NodeIndex, Vec<Interface>>,
    /// What is to be changed of path managers.
    pub(crate) changes: BTreeMap<NodeIndex, Changes>,
}

impl Site {
    /// Makes everything. What has been made goes again if something fails.
    pub(crate) fn new(plan: &Plan, settings: &[Settings], run: &str) -> Result<Self, Error> {
        let mut site = Self::default();
        for (index, node) in plan.nodes.iter().enumerate() {
            if node.is_of_kernel() {
                let failed = |source| Error::Kernel { step: Step::Host(node.name.clone()), source };
                let namespace = Namespace::new(run, &node.name).map_err(failed)?;
                let made = namespace.inside(|| prepare(plan, index, &settings[index]));
                let (diag, interfaces, changes) = made.map_err(failed)?;
                site.namespaces.insert(index, namespace);
                if !node.is_gateway() {
                    site.diags.insert(index, diag);
                }
                site.interfaces.insert(index, interfaces);
                site.changes.extend(changes.map(|changes| (index, changes)));
            }
        }
        Ok(site)
    }
}

/// What tells of sockets, what packets go through, and what is to be changed.
type Prepared = (Diag, Vec<Interface>, Option<Changes>);

/// Sets a namespace up, from inside.
fn prepare(plan: &Plan, node: NodeIndex, settings: &Settings) -> io::Result<Prepared> {
    let family = plan.settings.address_family;
    let of_family: &[(&str, &str)] = match family {
        AddressFamily::Ipv4 => &IPV4_ONLY,
        AddressFamily::Ipv6 => &IPV6,
    };
    let forwarding: &[(&str, &str)] = if plan.nodes[node].is_gateway() { &FORWARDING } else { &[] };
    let sysctls = SYSCTLS.iter().chain(of_family).chain(forwarding).copied().chain(settings.sysctls());
    sysctls.into_iter().try_for_each(|(file, value)| write(file, value))?;
    let mut routing = Routing::open()?;
    routing.set_up(LOOPBACK)?;
    let (mut interfaces, mut indices) = (Vec::new(), BTreeMap::new());
    for (number, (index, link, end)) in links_of(plan, node).enumerate() {
        let device = device(index, link, plan.nodes[node].offloads)?;
        let interface = device.if_index()?;
        if device.tcp_gso() {
            routing.set_most_segments(interface, MOST_IN_ONE as u32)?;
        }
        let from = link.addresses[end];
        let table = FIRST_TABLE + number as u8;
        let metrics = settings.metrics(link.mtu - family.header());
        routing.add_address(interface, from)?;
        routing.set_up(interface)?;
        routing.add_rule(from, table)?;
        routing.add_route(&Route { to: None, from, interface, table: Some(table), metrics })?;
        indices.insert(index, (interface, from, metrics));
        interfaces.push(Interface { address: from, mtu: link.mtu as usize, device: Arc::new(device) });
    }
    for (to, link) in settings.routes() {
        let Some(&(interface, from, metrics)) = indices.get(link) else { continue };
        routing.add_route(&Route { to: Some(*to), from, interface, table: None, metrics })?;
    }
    let changes = prepare_mptcp(plan, settings)?;
    Ok((Diag::open(family)?, interfaces, changes))
}

fn prepare_mptcp(plan: &Plan, settings: &Settings) -> io::Result<Option<Changes>> {
    if !plan.connections.iter().any(|connection| matches!(connection.protocol, Protocol::Mptcp(_))) {
        return Ok(None);
    }
    write("net/mptcp/enabled", "1")?;
    let mut pm = MptcpPm::open()?;
    pm.set_limits(settings.limits())?;
    settings.endpoints().iter().try_for_each(|endpoint| pm.add(endpoint))?;
    let changes = settings.changes();
    Ok((!changes.is_empty()).then(|| Changes::new(pm, changes)))
}

/// The name of a link's interface, or of a bond's.
pub(crate) fn interface_name(index: LinkIndex, link: &LinkPlan) -> String {
    let own = link.name.len() <= LONGEST_NAME && !RESERVED.contains(&link.name.as_str());
    if own { link.name.clone() } else { format!("link{index}") }
}

fn device(index: LinkIndex, link: &LinkPlan, offloads: bool) -> io::Result<SyncDevice> {
    let name = interface_name(index, link);
    let mtu = u16::try_from(link.mtu).unwrap_or(u16::MAX);
    let builder = DeviceBuilder::new().name(name).mtu(mtu).tx_queue_len(QUEUE);
    let wanted = |options: &mut DeviceBuilderGuard<'_>| {
        options.offload(offloads);
    };
    let device = builder.with(wanted).build_sync()?;
    device.set_nonblocking(true)?;
    Ok(device)
}

fn write(file: &str, value: &str) -> io::Result<()> {
    let path = Path::new("/proc/sys").join(file);
    if OPTIONAL.contains(&file) && !path.exists() {
        return Ok(());
    }
    std::fs::write(path, value)
        .map_err(|error| io::Error::new(error.kind(), format!("sysctl {file} = {value}: {error}")))
}
