//! Shortest paths through the routers, static routes, and the way of a packet.

use super::context::Context;
use super::{AddressIndex, LinkIndex, LinkPlan, NodeIndex, NodeKind, NodePlan, Routing};
use crate::error::ScenarioError;
use crate::schema::connection::RouteTable;
use std::collections::{BTreeMap, VecDeque};

/// Nodes, links, and what follows from them.
pub(crate) struct Topology {
    pub(crate) nodes: Vec<NodePlan>,
    pub(crate) links: Vec<LinkPlan>,
    pub(crate) routing: Routing,
    /// Links at each node, ascending.
    at: Vec<Vec<LinkIndex>>,
}

/// Why a packet does not arrive.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum NoRoute {
    /// It came to a host that is not its destination.
    Host(NodeIndex),
    /// A router knows no way.
    Unknown(NodeIndex),
    /// It came to a router twice.
    Loop(NodeIndex),
}

impl Topology {
    /// With shortest paths.
    pub(super) fn new(nodes: Vec<NodePlan>, links: Vec<LinkPlan>) -> Self {
        let mut at = vec![Vec::new(); nodes.len()];
        for (index, link) in links.iter().enumerate() {
            at[link.ends[0]].push(index);
            at[link.ends[1]].push(index);
        }
        let routing =
            Routing { next: vec![vec![None; 2 * links.len()]; nodes.len()], equal: BTreeMap::new() };
        let mut topology = Self { nodes, links, routing, at };
        for address in 0..2 * topology.links.len() {
            topology.shortest(AddressIndex(address));
        }
        topology
    }

    /// Shortest paths by hops to one address of a host; ties to a bond, then to the link with the lower index. Hosts
    /// forward nothing. Only a bond's own packets go to a router: their ways are laid by the bond.
    fn shortest(&mut self, address: AddressIndex) {
        let owner = self.owner(address);
        if self.nodes[owner].kind == NodeKind::Router {
            return;
        }
        let mut distance = vec![usize::MAX; self.nodes.len()];
        distance[owner] = 0;
        let mut queue = VecDeque::from([owner]);
        while let Some(node) = queue.pop_front() {
            for &link in &self.at[node] {
                // A host is reached at the address of the link on which the packet comes, and only there.
                if self.nodes[node].kind == NodeKind::Host && (node != owner || link != address.link()) {
                    continue;
                }
                let neighbour = self.other(link, node);
                let further = distance[node] + 1;
                if further < distance[neighbour] {
                    distance[neighbour] = further;
                    self.routing.next[neighbour][address.0] = Some(link);
                    queue.push_back(neighbour);
                } else if further == distance[neighbour] {
                    let best = &mut self.routing.next[neighbour][address.0];
                    let rank = |link: LinkIndex| (self.links[link].bond().is_none(), link);
                    *best = best.map(|known| if rank(link) < rank(known) { link } else { known });
                }
            }
        }
        self.share(address, &distance);
    }

    /// The equally short ways of the routers that share flows out among them.
    fn share(&mut self, address: AddressIndex, distance: &[usize]) {
        let routers = self.nodes.iter().enumerate().filter(|(_, node)| node.ecmp);
        for (router, _) in routers.filter(|(router, _)| distance[*router] < usize::MAX) {
            let is_shortest = |link: &LinkIndex| {
                let other = self.other(*link, router);
                let is_way = self.nodes[other].kind == NodeKind::Router || *link == address.link();
                is_way && distance[other].saturating_add(1) == distance[router]
            };
            let ways: Vec<LinkIndex> = self.at[router].iter().copied().filter(is_shortest).collect();
            let is_wired = |link: &LinkIndex| self.links[*link].wire().is_some();
            if ways.len() > 1 && ways.iter().all(is_wired) {
                self.routing.equal.insert((router, address), ways);
            }
        }
    }

    /// The node that has an address.
    pub(crate) fn owner(&self, address: AddressIndex) -> NodeIndex {
        self.links[address.link()].ends[address.end()]
    }

    /// The node at the other end of a link.
    pub(crate) fn other(&self, link: LinkIndex, node: NodeIndex) -> NodeIndex {
        let ends = self.links[link].ends;
        if ends[0] == node { ends[1] } else { ends[0] }
    }

    /// The links at a node.
    pub(crate) fn links_at(&self, node: NodeIndex) -> &[LinkIndex] {
        &self.at[node]
    }

    /// The address of a node on one of its links.
    pub(crate) fn address(&self, node: NodeIndex, link: LinkIndex) -> AddressIndex {
        AddressIndex::new(link, usize::from(self.links[link].ends[1] == node))
    }

    /// The way of a packet that leaves `from` by `link` towards a host's address.
    pub(crate) fn walk(
        &self,
        from: NodeIndex,
        link: LinkIndex,
        to: AddressIndex,
    ) -> Result<Vec<(LinkIndex, usize)>, NoRoute> {
        let mut way = Vec::new();
        let (mut node, mut link) = (from, link);
        loop {
            way.push((link, usize::from(self.links[link].ends[1] == node)));
            node = self.other(link, node);
            // A host takes a packet only on the interface that has the address.
            if node == self.owner(to) && link == to.link() {
                return Ok(way);
            }
            if self.nodes[node].kind == NodeKind::Host {
                return Err(NoRoute::Host(node));
            }
            if way.len() > self.nodes.len() {
                return Err(NoRoute::Loop(node));
            }
            link = self.routing.next(node, to).ok_or(NoRoute::Unknown(node))?;
        }
    }

    /// The reason in words.
    pub(crate) fn explain(&self, reason: &NoRoute) -> String {
        let name = |node: &NodeIndex| &self.nodes[*node].name;
        match reason {
            NoRoute::Host(node) => {
                format!("the way leads to the host `{}`, which forwards nothing", name(node))
            }
            NoRoute::Unknown(node) => format!("the router `{}` knows no way", name(node)),
            NoRoute::Loop(node) => format!("the routes go round in a circle at `{}`", name(node)),
        }
    }

    /// The least MTU of the links among which routers share flows out: nobody knows a flow's way before it is there.
    pub(super) fn shared_mtu(&self) -> Option<u32> {
        self.routing.equal.values().flatten().map(|&link| self.links[link].mtu).min()
    }

    pub(crate) fn find(&self, name: &str) -> Option<NodeIndex> {
        self.nodes.iter().position(|node| node.name == name)
    }

    /// Names of the nodes of one kind.
    pub(crate) fn names(&self, kind: NodeKind) -> Vec<&str> {
        self.nodes.iter().filter(|node| node.kind == kind).map(|node| node.name.as_str()).collect()
    }

    /// A node of one kind by its name.
    pub(crate) fn named(
        &self,
        context: &Context<'_>,
        key: &str,
        name: &str,
        kind: NodeKind,
    ) -> Result<NodeIndex, ScenarioError> {
        let (word, other) = match kind {
            NodeKind::Host => ("host", "`{}` is a router, and routers have no connections"),
            NodeKind::Router => {
                ("router", "`{}` is a host: it sends by the interface of its path, not by routes")
            }
        };
        match self.find(name) {
            Some(node) if self.nodes[node].kind == kind => Ok(node),
            Some(_) => {
                Err(context.document.name_error(key, name, other.replace("{}", name), self.names(kind)))
            }
            None => Err(context.unknown(key, word, name, self.names(kind))),
        }
    }

    /// A link at a node by its name.
    pub(crate) fn link_at(
        &self,
        context: &Context<'_>,
        key: &str,
        name: &str,
        node: NodeIndex,
    ) -> Result<LinkIndex, ScenarioError> {
        let here = || self.at[node].iter().map(|&link| self.links[link].name.as_str()).collect::<Vec<_>>();
        match self.links.iter().position(|link| link.name == name) {
            Some(link) if self.at[node].contains(&link) => Ok(link),
            Some(_) => {
                let message = format!("the link `{name}` does not end at `{}`", self.nodes[node].name);
                Err(context.document.name_error(key, name, message, here()))
            }
            None => Err(context.unknown(key, "link", name, here())),
        }
    }
}

/// Puts the file's routes over the shortest paths.
pub(super) fn static_routes(context: &Context<'_>, topology: &mut Topology) -> Result<(), ScenarioError> {
    let mut targets = Vec::new();
    for (index, route) in context.file.routes.iter().enumerate() {
        let base = format!("routes[{index}]");
        let (at, via, addresses) = static_route(context, topology, &base, route)?;
        for address in addresses {
            topology.routing.next[at][address.0] = Some(via);
            topology.routing.equal.remove(&(at, address));
            targets.push((base.clone(), at, via, address));
        }
    }
    for (base, at, via, address) in targets {
        topology.walk(at, via, address).map_err(|reason| {
            let message = format!("this route leads nowhere: {}", topology.explain(&reason));
            context.wrong(&format!("{base}.via"), message, "a link on the way")
        })?;
    }
    Ok(())
}

fn static_route(
    context: &Context<'_>,
    topology: &Topology,
    base: &str,
    route: &RouteTable,
) -> Result<(NodeIndex, LinkIndex, Vec<AddressIndex>), ScenarioError> {
    let at = topology.named(context, &format!("{base}.at"), route.at.as_str(), NodeKind::Router)?;
    let to = topology.named(context, &format!("{base}.to"), route.to.as_str(), NodeKind::Host)?;
    let via = topology.link_at(context, &format!("{base}.via"), route.via.as_str(), at)?;
    let links = match &route.interface {
        Some(name) => vec![topology.link_at(context, &format!("{base}.interface"), name.as_str(), to)?],
        None => topology.links_at(to).to_vec(),
    };
    Ok((at, via, links.into_iter().map(|link| topology.address(to, link)).collect()))
}
