//! Endpoints and limits of the kernel's path manager: names and checks.

use super::{Layers, Way};
use crate::error::ScenarioError;
use crate::plan::{NodeIndex, NodeKind};
use crate::schema::endpoints::{
    EndpointAction, EndpointChangeTable, EndpointFlag, EndpointTable, HostNames, Listed, Names, Refused,
};
use crate::schema::quantity::Name;
use std::collections::BTreeMap;
use std::net::IpAddr;

/// What hosts have, by their name.
type Lists = BTreeMap<String, Listed>;

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
        topology.links[index.link()].addresses[index.end()]
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

/// The keys of a change beside `at`, `host` and `action`: whether they are there, and what they go with.
fn keys_of(change: &EndpointChangeTable) -> [(&'static str, bool, &'static [EndpointAction]); 6] {
    use EndpointAction::{Add, Change, Delete, Limits};
    [
        ("link", change.link.is_some(), &[Add, Delete, Change]),
        ("flags", change.flags.is_some(), &[Add, Change]),
        ("id", change.id.is_some(), &[Add, Delete]),
        ("port", change.port.is_some(), &[Add, Delete, Change]),
        ("subflows", change.subflows.is_some(), &[Limits]),
        ("add_addr_accepted", change.add_addr_accepted.is_some(), &[Limits]),
    ]
}

impl Layers<'_> {
    /// Endpoints and limits may stand for all connections: their hosts need not be this one's.
    pub(super) fn check_endpoints(&self) -> Result<(), ScenarioError> {
        let own = self.table.mptcp.as_ref();
        let global = &self.place.context.file.mptcp;
        let endpoints = own.and_then(|table| table.endpoints.as_deref()).or(global.endpoints.as_deref());
        let mut lists = Lists::default();
        for (index, endpoint) in endpoints.into_iter().flatten().enumerate() {
            let base = format!("endpoints[{index}]");
            self.check_link(&base, endpoint.host.as_str(), endpoint.link.as_str())?;
            self.check_endpoint(&base, endpoint, &mut lists)?;
        }
        let limits = own.and_then(|table| table.limits.as_ref()).or(global.limits.as_ref());
        for (host, table) in limits.into_iter().flatten() {
            let base = format!("limits.{}", host.as_str());
            let key = self.key("mptcp", &base);
            self.way.topology.named(self.place.context, &key, host.as_str(), NodeKind::Host)?;
            self.check_limits(&base, [table.subflows, table.add_addr_accepted])?;
        }
        let changes = own.and_then(|table| table.changes.as_deref()).or(global.changes.as_deref());
        let mut changes: Vec<_> = changes.into_iter().flatten().enumerate().collect();
        changes.sort_by_key(|(_, change)| change.at.0);
        for (index, change) in changes {
            self.check_change(&format!("changes[{index}]"), change, &mut lists)?;
        }
        Ok(())
    }

    fn check_link(&self, base: &str, host: &str, link: &str) -> Result<(), ScenarioError> {
        let key = |name: &str| self.key("mptcp", &format!("{base}.{name}"));
        let (context, topology) = (self.place.context, self.way.topology);
        let node = topology.named(context, &key("host"), host, NodeKind::Host)?;
        topology.link_at(context, &key("link"), link, node)?;
        Ok(())
    }

    /// What `ip mptcp` refuses is refused here.
    fn check_endpoint(
        &self,
        base: &str,
        endpoint: &EndpointTable,
        lists: &mut Lists,
    ) -> Result<(), ScenarioError> {
        let wrong = |key: &str, message: &str, expected: &str| {
            Err(self.wrong("mptcp", &format!("{base}{key}"), message.to_owned(), expected))
        };
        let flags = endpoint.flags.as_deref().unwrap_or_default();
        let has = |flag: EndpointFlag| flags.contains(&flag);
        let (link, host) = (endpoint.link.as_str(), endpoint.host.as_str());
        match lists.entry(host.to_owned()).or_default().add(link, endpoint.port, endpoint.id) {
            Err(Refused::TooMany) => {
                let message = format!("`{host}` has more endpoints than Linux takes");
                return wrong("", &message, "at most 8 for each host");
            }
            Err(Refused::Twice) => {
                return wrong(".link", &format!("`{link}` is there twice"), "each address of a host once");
            }
            Err(Refused::Identifier) => {
                let message = "0 is the first subflow's address, and no other is there twice";
                return wrong(".id", message, "a free number from 1 to 255");
            }
            Ok(_) => {}
        }
        if has(EndpointFlag::Signal) && has(EndpointFlag::Fullmesh) {
            let message = "an announced address does not open a full mesh";
            return wrong(".flags", message, "signal or fullmesh, not both");
        }
        if endpoint.port == Some(0) {
            return wrong(".port", "nobody can listen at port 0", "1 to 65535");
        }
        if endpoint.port.is_some() && (!has(EndpointFlag::Signal) || has(EndpointFlag::Subflow)) {
            let message = "only an address that is announced, and opens nothing, has a port";
            return wrong(".port", message, "the flag signal, and not subflow");
        }
        Ok(())
    }

    fn check_limits(&self, base: &str, given: [Option<u8>; 2]) -> Result<(), ScenarioError> {
        for (name, given) in ["subflows", "add_addr_accepted"].into_iter().zip(given) {
            if given.is_some_and(|number| usize::from(number) > Listed::MOST) {
                let message = "Linux takes no greater limit than 8".to_owned();
                return Err(self.wrong("mptcp", &format!("{base}.{name}"), message, "0 to 8"));
            }
        }
        Ok(())
    }

    fn check_change(
        &self,
        base: &str,
        change: &EndpointChangeTable,
        lists: &mut Lists,
    ) -> Result<(), ScenarioError> {
        let context = self.place.context;
        let stray =
            |(_, given, with): &(_, bool, &[EndpointAction])| *given && !with.contains(&change.action);
        if let Some((name, ..)) = keys_of(change).into_iter().find(stray) {
            let message = format!("`{name}` has no use with this action");
            let key = self.key("mptcp", &format!("{base}.{name}"));
            return Err(context.wrong(&key, message, "the action that it goes with"));
        }
        let host = change.host.as_str();
        if change.action == EndpointAction::Limits {
            let key = self.key("mptcp", &format!("{base}.host"));
            self.way.topology.named(context, &key, host, NodeKind::Host)?;
            return self.check_limits(base, [change.subflows, change.add_addr_accepted]);
        }
        let Some(link) = change.link.as_ref().map(Name::as_str) else {
            let message = "an endpoint is an address of its host".to_owned();
            return Err(self.wrong("mptcp", base, message, "a link of the host"));
        };
        self.check_link(base, host, link)?;
        match change.action {
            EndpointAction::Add => {
                change.endpoint().map_or(Ok(()), |endpoint| self.check_endpoint(base, &endpoint, lists))
            }
            EndpointAction::Delete if change.id == Some(0) => Ok(()),
            _ => self.check_known(base, change, link, lists.entry(host.to_owned()).or_default()),
        }
    }

    /// A change or a deletion of an endpoint that is there.
    fn check_known(
        &self,
        base: &str,
        change: &EndpointChangeTable,
        link: &str,
        listed: &mut Listed,
    ) -> Result<(), ScenarioError> {
        let wrong = |key: &str, message: &str, expected: &str| {
            Err(self.wrong("mptcp", &format!("{base}.{key}"), message.to_owned(), expected))
        };
        if change.id.is_some() {
            return wrong("id", "an endpoint is known by its link here", "0, or no identifier");
        }
        let told = change.flags.as_deref().unwrap_or_default();
        let fixed = |flag: &EndpointFlag| !matches!(flag, EndpointFlag::Backup | EndpointFlag::Fullmesh);
        if let Some(at) = told.iter().position(fixed) {
            return wrong(&format!("flags[{at}]"), "Linux does not change this flag", "backup or fullmesh");
        }
        let known = match change.action {
            EndpointAction::Delete => listed.delete(link, change.port),
            _ => listed.id(link, change.port),
        };
        if known.is_none() {
            return wrong("link", "there is no such endpoint then", "an endpoint that the host has then");
        }
        Ok(())
    }
}
