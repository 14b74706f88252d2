//! What scenarios call the addresses of a connection's hosts, and the endpoints and limits that name them.

use super::quantity::Name;
use ropewalk_mptcp::{EndpointFlags, KernelEndpoint, KernelHost, PathManager};
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
    pub(super) fn apply(
        &self,
        endpoints: Option<&[EndpointTable]>,
        limits: Option<&BTreeMap<Name, LimitsTable>>,
        kernel: &mut KernelHost,
    ) {
        kernel.routed.clone_from(&self.routed);
        if let Some(limits) = limits.and_then(|limits| limits.get(&Name(self.name.clone()))) {
            kernel.limits.subflows = limits.subflows.unwrap_or(kernel.limits.subflows);
            kernel.limits.add_addr_accepted =
                limits.add_addr_accepted.unwrap_or(kernel.limits.add_addr_accepted);
        }
        let Some(endpoints) = endpoints else { return };
        kernel.endpoints.clear();
        for endpoint in endpoints.iter().filter(|endpoint| endpoint.host.as_str() == self.name) {
            if let Some(address) = self.address(endpoint.link.as_str()) {
                let id =
                    endpoint.id.unwrap_or_else(|| next_id(kernel.endpoints.iter().map(|known| known.id)));
                let flags = flags(endpoint.flags.as_deref().unwrap_or_default());
                kernel.endpoints.push(KernelEndpoint { id, address, port: None, flags });
            }
        }
    }

    fn explicit(&self, kernel: &KernelHost) -> (Vec<EndpointTable>, LimitsTable) {
        let limits = LimitsTable {
            subflows: Some(kernel.limits.subflows),
            add_addr_accepted: Some(kernel.limits.add_addr_accepted),
        };
        let table = |endpoint: &KernelEndpoint| EndpointTable {
            host: Name(self.name.clone()),
            link: Name(self.link(endpoint.address).unwrap_or_default().to_owned()),
            flags: Some(names(endpoint.flags)),
            id: Some(endpoint.id),
        };
        (kernel.endpoints.iter().map(table).collect(), limits)
    }
}

/// The tables of both hosts.
pub(super) fn explicit(
    manager: &PathManager,
    names: &Names,
) -> (Option<Vec<EndpointTable>>, Option<BTreeMap<Name, LimitsTable>>) {
    let PathManager::Kernel { client, server } = manager else { return (None, None) };
    let (mut endpoints, of_client) = names.client.explicit(client);
    let (more, of_server) = names.server.explicit(server);
    endpoints.extend(more);
    let name = |host: &HostNames| Name(host.name.clone());
    let limits = BTreeMap::from([(name(&names.client), of_client), (name(&names.server), of_server)]);
    (Some(endpoints), Some(limits))
}

/// As Linux counts them: behind the greatest so far.
fn next_id(before: impl Iterator<Item = u8>) -> u8 {
    before.max().map_or(1, |id| id.saturating_add(1))
}

/// The identifiers that endpoints of one host get.
pub(crate) fn ids<'a>(endpoints: impl Iterator<Item = &'a EndpointTable>) -> Vec<u8> {
    let mut ids: Vec<u8> = Vec::new();
    for endpoint in endpoints {
        ids.push(endpoint.id.unwrap_or_else(|| next_id(ids.iter().copied())));
    }
    ids
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
