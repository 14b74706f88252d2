//! What the routers between two gateways know of the bond's paths.

use super::key::member_key;
use crate::error::ScenarioError;
use crate::plan::context::Context;
use crate::plan::route::Topology;
use crate::plan::{AddressIndex, LinkIndex, NodeIndex, PathPlan};
use std::collections::BTreeMap;

/// By router and destination: the link that a path goes on by.
type Laid = BTreeMap<(NodeIndex, AddressIndex), LinkIndex>;

/// Two paths would leave a router by different links towards the same address.
struct Conflict {
    at: NodeIndex,
    to: AddressIndex,
    known: LinkIndex,
    wanted: LinkIndex,
}

/// Tells every router on the way of a path where its packets go, in both directions.
pub(in crate::plan) fn lay(context: &Context<'_>, topology: &mut Topology) -> Result<(), ScenarioError> {
    let mut laid = Laid::new();
    let bonds = topology.links.iter().filter_map(|link| Some((link.name.as_str(), link.bond()?)));
    for (name, bond) in bonds {
        for (index, path) in bond.paths.iter().enumerate() {
            lay_path(topology, path, &mut laid).map_err(|conflict| {
                refused(context, topology, &member_key(context, name, index), &conflict)
            })?;
        }
    }
    for ((node, to), link) in laid {
        topology.routing.next[node][to.0] = Some(link);
    }
    Ok(())
}

fn lay_path(topology: &Topology, path: &PathPlan, laid: &mut Laid) -> Result<(), Conflict> {
    for (way, to) in [(&path.forward, path.remote), (&path.backward, path.local)] {
        // The gateway itself sends by the path's interface.
        for &(wanted, direction) in &way[1..] {
            let at = topology.links[wanted].ends[direction];
            let known = *laid.entry((at, to)).or_insert(wanted);
            if known != wanted {
                return Err(Conflict { at, to, known, wanted });
            }
        }
    }
    Ok(())
}

fn refused(context: &Context<'_>, topology: &Topology, key: &str, conflict: &Conflict) -> ScenarioError {
    let link = |index: LinkIndex| &topology.links[index].name;
    let router = &topology.nodes[conflict.at].name;
    let gateway = &topology.nodes[topology.owner(conflict.to)].name;
    let message = format!(
        "`{router}` would send this path's packets on by `{}`, but those of another path by `{}`, and both to \
         the address of `{gateway}` on `{}`",
        link(conflict.wanted),
        link(conflict.known),
        link(conflict.to.link()),
    );
    context.wrong(key, message, "paths that end on links of their own, or do not part after they met")
}
