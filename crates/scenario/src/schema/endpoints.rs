//! What scenarios call the addresses of a connection's hosts, and the endpoints and limits that name them.

use super::quantity::{Name, Time};
use ropewalk_mptcp::{
    EndpointFlags, KernelChange, KernelCommand, KernelEndpoint, KernelHost, KernelLimits, PathManager,
};
use ropewalk_units::Instant;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::net::IpAddr;

/// An address of a host, and what it is for.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EndpointTable {
    /// Of which host.
    pub(crate) host: Name,
    /// Its address on which link.
    pub(crate) link: Name,
    /// What it is for (default nothing).
    pub(crate) flags: Option<Vec<EndpointFlag>>,
    /// Address identifier, from 1 (default the next one).
    pub(crate) id: Option<u8>,
    /// With signal, and without subflow: the host listens at this port too, and announces it.
    pub(crate) port: Option<u16>,
}

/// A command of `ip mptcp`, given while the scenario runs.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EndpointChangeTable {
    /// When.
    pub(crate) at: Time,
    /// What.
    pub(crate) action: EndpointAction,
    /// On which host.
    pub(crate) host: Name,
    /// With add, delete and change: the host's address on which link.
    pub(crate) link: Option<Name>,
    /// With add: what the endpoint is for. With change: which of backup and fullmesh it has from now on (default none).
    pub(crate) flags: Option<Vec<EndpointFlag>>,
    /// With add: address identifier, from 1 (default the next one). With delete: 0 for the first subflow's address.
    pub(crate) id: Option<u8>,
    /// With add, delete and change: as that of an endpoint.
    pub(crate) port: Option<u16>,
    /// With limits: subflows beside the first one, 0 to 8 (default as before).
    pub(crate) subflows: Option<u8>,
    /// With limits: announced addresses that subflows are opened to, 0 to 8 (default as before).
    pub(crate) add_addr_accepted: Option<u8>,
}

/// What `ip mptcp` does.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum EndpointAction {
    /// `endpoint add`.
    Add,
    /// `endpoint delete`: the peer is told, and the subflows from there are closed.
    Delete,
    /// `endpoint change`: the flags backup and fullmesh.
    Change,
    /// `limits set`.
    Limits,
}

/// What an endpoint is for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum EndpointFlag {
    /// A client opens a subflow from it to the server's first address.
    Subflow,
    /// It is announced to the peer (ADD_ADDR).
    Signal,
    /// Its subflows are backups.
    Backup,
    /// Its subflows go to every address of the peer.
    Fullmesh,
    /// It opens one subflow, to one announced address.
    Laminar,
}

/// Limits of a host.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct LimitsTable {
    /// Subflows beside the first one, 0 to 8 (default 2).
    pub(crate) subflows: Option<u8>,
    /// Announced addresses that subflows are opened to, 0 to 8 (default 0).
    pub(crate) add_addr_accepted: Option<u8>,
}

/// The names that a connection's keys may use.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Names {
    /// Its paths.
    pub(crate) paths: Vec<String>,
    /// The host that opens it.
    pub(crate) client: HostNames,
    /// The host that accepts it.
    pub(crate) server: HostNames,
}

/// A host, its interfaces, and where its routes lead.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct HostNames {
    /// Its name.
    pub(crate) name: String,
    /// Links with its address there.
    pub(crate) interfaces: Vec<(String, IpAddr)>,
    /// For addresses of the other host, the own one that packets leave from.
    pub(crate) routed: Vec<(IpAddr, IpAddr)>,
}

impl HostNames {
    fn address(&self, link: &str) -> Option<IpAddr> {
        self.interfaces.iter().find(|(name, _)| name == link).map(|(_, address)| *address)
    }

    fn link(&self, address: IpAddr) -> Option<&str> {
        self.interfaces.iter().find(|(_, known)| *known == address).map(|(name, _)| name.as_str())
    }

    /// Puts this host's keys over `kernel`. Endpoints on links that do not end here were refused before.
    pub(super) fn apply(&self, tables: &Tables<'_>, kernel: &mut KernelHost) {
        kernel.routed.clone_from(&self.routed);
        if let Some(limits) = tables.limits.and_then(|limits| limits.get(&Name(self.name.clone()))) {
            put_limits(&mut kernel.limits, limits.subflows, limits.add_addr_accepted);
        }
        if let Some(endpoints) = tables.endpoints {
            let own = endpoints.iter().filter(|endpoint| endpoint.host.as_str() == self.name);
            kernel.endpoints = own
                .scan(Listed::default(), |listed, table| Some(self.endpoint(listed, table)))
                .flatten()
                .collect();
        }
        if let Some(changes) = tables.changes {
            self.apply_changes(changes, kernel);
        }
    }

    fn endpoint(&self, listed: &mut Listed, table: &EndpointTable) -> Option<KernelEndpoint> {
        let EndpointTable { link, id, port, .. } = table;
        let address = self.address(link.as_str())?;
        let id = listed.add(link.as_str(), *port, *id).ok()?;
        let flags = flags(table.flags.as_deref().unwrap_or_default());
        Some(KernelEndpoint { id, address, port: *port, flags })
    }

    /// The changes of this host, in order of time; what makes no sense was refused before.
    fn apply_changes(&self, changes: &[EndpointChangeTable], kernel: &mut KernelHost) {
        let mut listed = Listed::default();
        for endpoint in &kernel.endpoints {
            let link = self.link(endpoint.address).unwrap_or_default();
            let _ = listed.add(link, endpoint.port, Some(endpoint.id));
        }
        let mut limits = kernel.limits;
        let mut changes: Vec<&EndpointChangeTable> =
            changes.iter().filter(|change| change.host.as_str() == self.name).collect();
        changes.sort_by_key(|change| change.at.0);
        let command = |change: &EndpointChangeTable| {
            let command = self.command(&mut listed, &mut limits, change)?;
            Some(KernelChange { at: Instant::ZERO + change.at.0, command })
        };
        kernel.changes = changes.into_iter().filter_map(command).collect();
    }

    fn command(
        &self,
        listed: &mut Listed,
        limits: &mut KernelLimits,
        change: &EndpointChangeTable,
    ) -> Option<KernelCommand> {
        if change.action == EndpointAction::Limits {
            put_limits(limits, change.subflows, change.add_addr_accepted);
            return Some(KernelCommand::SetLimits(*limits));
        }
        let link = change.link.as_ref()?.as_str();
        let given = flags(change.flags.as_deref().unwrap_or_default());
        Some(match change.action {
            EndpointAction::Add => KernelCommand::Add(self.endpoint(listed, &change.endpoint()?)?),
            EndpointAction::Delete if change.id == Some(0) => {
                KernelCommand::DeleteInitial { address: self.address(link)? }
            }
            EndpointAction::Delete => KernelCommand::Delete { id: listed.delete(link, change.port)? },
            EndpointAction::Change | EndpointAction::Limits => {
                let id = listed.id(link, change.port)?;
                KernelCommand::Change { id, backup: given.backup, fullmesh: given.fullmesh }
            }
        })
    }

    fn explicit(&self, kernel: &KernelHost) -> (Vec<EndpointTable>, LimitsTable) {
        let limits = LimitsTable {
            subflows: Some(kernel.limits.subflows),
            add_addr_accepted: Some(kernel.limits.add_addr_accepted),
        };
        (kernel.endpoints.iter().map(|endpoint| self.table(endpoint)).collect(), limits)
    }

    fn table(&self, endpoint: &KernelEndpoint) -> EndpointTable {
        EndpointTable {
            host: Name(self.name.clone()),
            link: Name(self.link(endpoint.address).unwrap_or_default().to_owned()),
            flags: Some(names(endpoint.flags)),
            id: Some(endpoint.id),
            port: endpoint.port,
        }
    }

    fn explicit_changes(&self, kernel: &KernelHost) -> Vec<EndpointChangeTable> {
        let mut endpoints = kernel.endpoints.clone();
        let explicit = |change: &KernelChange| {
            if let KernelCommand::Add(endpoint) = &change.command {
                endpoints.push(*endpoint);
            }
            let known =
                |id: u8| endpoints.iter().rfind(|endpoint| endpoint.id == id).map(|found| self.table(found));
            self.explicit_change(change, known)
        };
        kernel.changes.iter().map(explicit).collect()
    }

    fn explicit_change(
        &self,
        change: &KernelChange,
        known: impl Fn(u8) -> Option<EndpointTable>,
    ) -> EndpointChangeTable {
        let at = Time(change.at.saturating_since(Instant::ZERO));
        let host = Name(self.name.clone());
        let none = EndpointChangeTable {
            at,
            host,
            action: EndpointAction::Limits,
            link: None,
            flags: None,
            id: None,
            port: None,
            subflows: None,
            add_addr_accepted: None,
        };
        let of = |action: EndpointAction, endpoint: Option<EndpointTable>| {
            let (link, port) = endpoint.map_or((None, None), |endpoint| (Some(endpoint.link), endpoint.port));
            EndpointChangeTable { action, link, port, ..none.clone() }
        };
        match &change.command {
            KernelCommand::Add(endpoint) => {
                let EndpointTable { flags, id, .. } = self.table(endpoint);
                EndpointChangeTable { flags, id, ..of(EndpointAction::Add, known(endpoint.id)) }
            }
            KernelCommand::Delete { id } => of(EndpointAction::Delete, known(*id)),
            KernelCommand::DeleteInitial { address } => {
                let link = Some(Name(self.link(*address).unwrap_or_default().to_owned()));
                EndpointChangeTable { action: EndpointAction::Delete, link, id: Some(0), ..none }
            }
            KernelCommand::Change { id, backup, fullmesh } => {
                let flags =
                    EndpointFlags { backup: *backup, fullmesh: *fullmesh, ..EndpointFlags::default() };
                EndpointChangeTable { flags: Some(names(flags)), ..of(EndpointAction::Change, known(*id)) }
            }
            KernelCommand::SetLimits(limits) => EndpointChangeTable {
                subflows: Some(limits.subflows),
                add_addr_accepted: Some(limits.add_addr_accepted),
                ..none
            },
        }
    }
}

fn put_limits(limits: &mut KernelLimits, subflows: Option<u8>, add_addr_accepted: Option<u8>) {
    limits.subflows = subflows.unwrap_or(limits.subflows);
    limits.add_addr_accepted = add_addr_accepted.unwrap_or(limits.add_addr_accepted);
}

/// What a file says of endpoints and limits.
pub(super) struct Tables<'a> {
    pub(super) endpoints: Option<&'a [EndpointTable]>,
    pub(super) limits: Option<&'a BTreeMap<Name, LimitsTable>>,
    pub(super) changes: Option<&'a [EndpointChangeTable]>,
}

/// The same for both hosts of a connection, all of it said.
#[derive(Default)]
pub(super) struct Explicit {
    pub(super) endpoints: Option<Vec<EndpointTable>>,
    pub(super) limits: Option<BTreeMap<Name, LimitsTable>>,
    pub(super) changes: Option<Vec<EndpointChangeTable>>,
}

/// The tables of both hosts.
pub(super) fn explicit(manager: &PathManager, names: &Names) -> Explicit {
    let PathManager::Kernel { client, server } = manager else { return Explicit::default() };
    let (mut endpoints, of_client) = names.client.explicit(client);
    let (more, of_server) = names.server.explicit(server);
    endpoints.extend(more);
    let name = |host: &HostNames| Name(host.name.clone());
    let limits = BTreeMap::from([(name(&names.client), of_client), (name(&names.server), of_server)]);
    let mut changes = names.client.explicit_changes(client);
    changes.extend(names.server.explicit_changes(server));
    let changes = (!changes.is_empty()).then_some(changes);
    Explicit { endpoints: Some(endpoints), limits: Some(limits), changes }
}

impl EndpointChangeTable {
    /// With add: the endpoint that it makes.
    pub(crate) fn endpoint(&self) -> Option<EndpointTable> {
        let Self { host, flags, id, port, .. } = self.clone();
        Some(EndpointTable { host, link: self.link.clone()?, flags, id, port })
    }
}

/// The endpoints that a host has at a time, and the identifiers that new ones get.
#[derive(Clone, Default)]
pub(crate) struct Listed {
    /// Link, port, identifier.
    endpoints: Vec<(String, Option<u16>, u8)>,
    greatest: u8,
}

/// Why an endpoint is refused.
pub(crate) enum Refused {
    /// The host has as many as Linux takes.
    TooMany,
    /// The address is there already.
    Twice,
    /// The identifier is 0 or another one's.
    Identifier,
}

impl Listed {
    /// As many as Linux takes, of endpoints, subflows and announcements.
    pub(crate) const MOST: usize = 8;

    /// A new endpoint's identifier. As Linux counts them: the next free one from the greatest so far.
    pub(crate) fn add(&mut self, link: &str, port: Option<u16>, id: Option<u8>) -> Result<u8, Refused> {
        if self.endpoints.len() >= Self::MOST {
            return Err(Refused::TooMany);
        }
        // An address without a port means all ports.
        let same = |(known, its, _): &(String, Option<u16>, u8)| {
            known == link && (*its == port || its.is_none() && port.is_none())
        };
        if self.endpoints.iter().any(same) {
            return Err(Refused::Twice);
        }
        let taken = |id: u8| self.endpoints.iter().any(|(_, _, known)| *known == id);
        let next = (self.greatest.max(1)..=u8::MAX).find(|id| !taken(*id));
        let id = id.or(next).filter(|id| *id > 0 && !taken(*id)).ok_or(Refused::Identifier)?;
        self.greatest = self.greatest.max(id);
        self.endpoints.push((link.to_owned(), port, id));
        Ok(id)
    }

    fn place(&self, link: &str, port: Option<u16>) -> Option<usize> {
        self.endpoints.iter().position(|(known, its, _)| known == link && *its == port)
    }

    /// The identifier of an endpoint.
    pub(crate) fn id(&self, link: &str, port: Option<u16>) -> Option<u8> {
        self.place(link, port).map(|at| self.endpoints[at].2)
    }

    /// The identifier of the endpoint that is deleted.
    pub(crate) fn delete(&mut self, link: &str, port: Option<u16>) -> Option<u8> {
        self.place(link, port).map(|at| self.endpoints.remove(at).2)
    }
}

const FLAGS: [EndpointFlag; 5] = [
    EndpointFlag::Subflow,
    EndpointFlag::Signal,
    EndpointFlag::Backup,
    EndpointFlag::Fullmesh,
    EndpointFlag::Laminar,
];

fn flags(names: &[EndpointFlag]) -> EndpointFlags {
    let [subflow, signal, backup, fullmesh, laminar] = FLAGS.map(|flag| names.contains(&flag));
    EndpointFlags { subflow, signal, backup, fullmesh, laminar }
}

fn names(flags: EndpointFlags) -> Vec<EndpointFlag> {
    let given = [flags.subflow, flags.signal, flags.backup, flags.fullmesh, flags.laminar];
    FLAGS.into_iter().zip(given).filter_map(|(flag, given)| given.then_some(flag)).collect()
}
