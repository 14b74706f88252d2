//! Endpoints and limits of the kernel's path manager: names and checks.

use super::{Layers, Way};
use crate::error::ScenarioError;
use crate::plan::{NodeIndex, NodeKind};
use crate::schema::endpoints::{EndpointFlag, EndpointTable, HostNames, LimitsTable, Names, ids};
use std::net::IpAddr;

/// As many as Linux takes, of endpoints, subflows and announcements.
const MOST: usize = 8;

/// What a connection's keys may name.
pub(super) fn names(way: &Way<'_>) -> Names {
    let [source, destination] = way.ends;
    let paths = way.paths.iter().map(|path| path.name.clone()).collect();
    Names { paths, client: host(way, source, destination), server: host(way, destination, source) }
}

fn host(way: &Way<'_>, own: NodeIndex, other: NodeIndex) -> HostNames {
    let topology = way.topology;
    let address = |node: NodeIndex, link: usize| -> IpAddr {
        let index = topology.address(node, link);
        topology.links[index.link()].addresses[index.end()].into()
    };
    let links = topology.links_at(own);
    let interfaces =
        links.iter().map(|&link| (topology.links[link].name.clone(), address(own, link))).collect();
    // The shortest way wins; of several, that of the first link.
    let routed = topology.links_at(other).iter().filter_map(|&last| {
        let remote = topology.address(other, last);
        let way = |&link: &usize| Some((topology.walk(own, link, remote).ok()?.len(), link));
        let (_, first) = links.iter().filter_map(way).min()?;
        Some((address(other, last), address(own, first)))
    });
    HostNames { name: topology.nodes[own].name.clone(), interfaces, routed: routed.collect() }
}

impl Layers<'_> {
    /// Endpoints and limits may stand for all connections: their hosts need not be this one's.
    pub(super) fn check_endpoints(&self) -> Result<(), ScenarioError> {
        let own = self.table.mptcp.as_ref();
        let global = &self.place.context.file.mptcp;
        let endpoints = own.and_then(|table| table.endpoints.as_ref()).or(global.endpoints.as_ref());
        let endpoints = endpoints.map_or(&[][..], Vec::as_slice);
        for (index, endpoint) in endpoints.iter().enumerate() {
            let key = |name: &str| self.key("mptcp", &format!("endpoints[{index}].{name}"));
            let (context, topology) = (self.place.context, self.way.topology);
            let node = topology.named(context, &key("host"), endpoint.host.as_str(), NodeKind::Host)?;
            topology.link_at(context, &key("link"), endpoint.link.as_str(), node)?;
            self.check_endpoint(&format!("endpoints[{index}]"), endpoint, &endpoints[..index])?;
        }
        let limits = own.and_then(|table| table.limits.as_ref()).or(global.limits.as_ref());
        for (host, table) in limits.into_iter().flatten() {
            let key = self.key("mptcp", &format!("limits.{}", host.as_str()));
            self.way.topology.named(self.place.context, &key, host.as_str(), NodeKind::Host)?;
            self.check_limits(host.as_str(), table)?;
        }
        Ok(())
    }

    /// What `ip mptcp` refuses is refused here.
    fn check_endpoint(
        &self,
        base: &str,
        endpoint: &EndpointTable,
        before: &[EndpointTable],
    ) -> Result<(), ScenarioError> {
        let wrong =
            |name: &str, message: String, expected: &str| Err(self.wrong("mptcp", name, message, expected));
        let of_host: Vec<_> = before.iter().filter(|other| other.host == endpoint.host).collect();
        if of_host.len() >= MOST {
            let message = format!("`{}` has more endpoints than Linux takes", endpoint.host.as_str());
            return wrong(base, message, "at most 8 for each host");
        }
        if of_host.iter().any(|other| other.link == endpoint.link) {
            let message = format!("`{}` is there twice", endpoint.link.as_str());
            return wrong(&format!("{base}.link"), message, "each address of a host once");
        }
        let taken = ids(of_host.iter().copied());
        let next = ids(of_host.iter().copied().chain([endpoint]));
        let id = next.last().copied().unwrap_or(0);
        if id == 0 || taken.contains(&id) {
            let message = "0 is the first subflow's address, and no other is there twice".to_owned();
            return wrong(&format!("{base}.id"), message, "a free number from 1 to 255");
        }
        let flags = endpoint.flags.as_deref().unwrap_or_default();
        if flags.contains(&EndpointFlag::Signal) && flags.contains(&EndpointFlag::Fullmesh) {
            let message = "an announced address does not open a full mesh".to_owned();
            return wrong(&format!("{base}.flags"), message, "signal or fullmesh, not both");
        }
        Ok(())
    }

    fn check_limits(&self, host: &str, table: &LimitsTable) -> Result<(), ScenarioError> {
        let keys = [("subflows", table.subflows), ("add_addr_accepted", table.add_addr_accepted)];
        for (name, given) in keys {
            if given.is_some_and(|number| usize::from(number) > MOST) {
                let message = "Linux takes no greater limit than 8".to_owned();
                let key = format!("limits.{host}.{name}");
                return Err(self.wrong("mptcp", &key, message, "0 to 8"));
            }
        }
        Ok(())
    }
}
