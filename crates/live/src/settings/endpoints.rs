//! The paths of a connection as endpoints of the kernel's path manager.

use crate::netlink::{Endpoint, EndpointFlags};
use ropewalk_mptcp::{KernelEndpoint, KernelHost, PathManager};
use ropewalk_scenario::plan::{ConnectionPlan, Plan};
use std::net::IpAddr;

/// The endpoints that a connection needs at one of its hosts; `end` is 0 for the one that opens it.
///
/// A path that ends at the server's first address is opened by the client, from an endpoint of its
/// own. A path that ends elsewhere is opened when the server has announced that address, and the
/// client's routes say from where.
pub(super) fn of(
    plan: &Plan,
    connection: &ConnectionPlan,
    manager: &PathManager,
    end: usize,
) -> Vec<Endpoint> {
    let backup = match manager {
        PathManager::Kernel { client, server } => return given(if end == 0 { client } else { server }),
        PathManager::Backup => EndpointFlags::BACKUP,
        _ => EndpointFlags::default(),
    };
    let Some((first, others)) = connection.paths.split_first() else { return Vec::new() };
    let mut endpoints = Vec::new();
    let mut add = |address: IpAddr, flags: EndpointFlags| {
        endpoints.push(Endpoint { address, id: 0, port: None, flags: flags.with(backup) });
    };
    for path in others {
        match (path.remote == first.remote, end) {
            (true, 0) => add(plan.address(path.local), EndpointFlags::SUBFLOW),
            (false, 1) => add(plan.address(path.remote), EndpointFlags::SIGNAL),
            _ => {}
        }
    }
    endpoints
}

/// Those that the file names.
fn given(host: &KernelHost) -> Vec<Endpoint> {
    host.endpoints.iter().map(named).collect()
}

/// One that the file names.
pub(crate) fn named(endpoint: &KernelEndpoint) -> Endpoint {
    let &KernelEndpoint { address, id, port, .. } = endpoint;
    Endpoint { address, id, port, flags: flags(endpoint) }
}

fn flags(endpoint: &KernelEndpoint) -> EndpointFlags {
    let given = endpoint.flags;
    let all = [
        (given.subflow, EndpointFlags::SUBFLOW),
        (given.signal, EndpointFlags::SIGNAL),
        (given.backup, EndpointFlags::BACKUP),
        (given.fullmesh, EndpointFlags::FULLMESH),
        (given.laminar, EndpointFlags::LAMINAR),
    ];
    let set = all.into_iter().filter(|(given, _)| *given);
    set.fold(EndpointFlags::default(), |flags, (_, flag)| flags.with(flag))
}
