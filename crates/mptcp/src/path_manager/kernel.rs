//! Linux's in-kernel path manager: endpoints with flags, and limits, as `ip mptcp` sets them. Checked against Linux 6.18, case by
//! case (docs/models/mptcp.md).

mod changes;

use super::rule::{Action, Event, PathManagerRule, of_server};
use crate::config::{Config, EndpointFlags, KernelEndpoint, KernelHost};
use crate::id::{Path, Wanted, of_one_family};
use crate::role::Role;
use ropewalk_units::Instant;
use std::net::{IpAddr, SocketAddr};

/// A subflow that lives.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Pair {
    /// Without a port if this end opened it.
    local: SocketAddr,
    remote: SocketAddr,
    /// Not the initial one: it counts.
    extra: bool,
    /// Closed because its address is gone: what is left of it does not count.
    leaving: bool,
}

impl Pair {
    fn is(&self, path: Path) -> bool {
        self.local.ip() == path.local.ip() && self.remote == path.remote
    }
}

/// An endpoint, and what this connection has done with it.
#[derive(Clone, PartialEq, Debug)]
struct Slot {
    endpoint: KernelEndpoint,
    /// Nothing yet.
    available: bool,
    /// ADD_ADDR was sent.
    announced: bool,
    /// A subflow other than the initial one was opened from it.
    used: bool,
}

impl From<KernelEndpoint> for Slot {
    fn from(endpoint: KernelEndpoint) -> Self {
        Self { endpoint, available: true, announced: false, used: false }
    }
}

impl Slot {
    fn flags(&self) -> EndpointFlags {
        self.endpoint.flags
    }

    /// Is it the endpoint of this local address?
    fn has(&self, local: SocketAddr) -> bool {
        self.endpoint.address == local.ip() && self.endpoint.port.is_none_or(|port| port == local.port())
    }
}

/// The state of one connection.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Kernel {
    host: KernelHost,
    role: Role,
    initial: Path,
    /// The scenario's paths: a subflow from an address of theirs belongs to the path.
    paths: Vec<Path>,
    /// In the order in which they were added.
    slots: Vec<Slot>,
    /// Changes of the host that have been made.
    changed: usize,
    established: bool,
    /// The endpoint of the initial subflow's address counts as used. Linux sees to that when it first has something to do.
    accounted: bool,
    pairs: Vec<Pair>,
    /// Announced addresses of the peer that subflows were opened to.
    remotes: Vec<(u8, SocketAddr)>,
    /// Announcements that were followed.
    accepted: u32,
    /// Announcements are followed.
    accept: bool,
    /// The peer lets nobody join at its initial address (MP_CAPABLE's C flag).
    deny_initial: bool,
}

impl PathManagerRule for Kernel {
    fn client(config: &Config, paths: &[Path]) -> Self {
        let host = config.kernel_host(Role::Client).cloned().unwrap_or_default();
        Self::new(host, Role::Client, paths[0], paths)
    }

    fn server(config: &Config, addresses: &[SocketAddr], initial: Path) -> Self {
        let host = config.kernel_host(Role::Server).cloned().unwrap_or_default();
        Self::new(host, Role::Server, initial, &of_server(addresses, initial))
    }

    fn on(&mut self, now: Instant, event: Event) -> Vec<Action> {
        let mut actions = Vec::new();
        self.make_changes(now, &mut actions);
        match event {
            Event::Established => {
                self.begin(&mut actions);
                return actions;
            }
            Event::SubflowEstablished { path, .. } => self.subflow_established(path),
            Event::AnnouncementDone => {}
            Event::SubflowClosed { path, .. } => self.closed(path),
            Event::AddressAnnounced { address, address_id } => {
                self.announced(address, address_id, &mut actions);
                return actions;
            }
            Event::AddressRemoved { address_id } => self.removed(address_id),
            Event::SubflowLeaving { path } => {
                self.leave(|pair| pair.is(path));
                return actions;
            }
            Event::Tick => return actions,
        }
        self.proceed(&mut actions);
        actions
    }

    fn next_tick(&self) -> Option<Instant> {
        self.next_change()
    }

    /// May another subflow of the peer's come up?
    fn admits(&self) -> bool {
        self.room() > 0
    }

    /// Does the host listen there? At the connection's own port, on any address, and at those of endpoints.
    fn listens_at(&self, local: SocketAddr) -> bool {
        local.port() == self.initial.local.port() || self.by_port(local).is_some()
    }

    /// An endpoint's port takes the joins of those peers that know it by ADD_ADDR.
    fn has_announced(&self, local: SocketAddr) -> bool {
        local.port() == self.initial.local.port() || self.by_port(local).is_some_and(|slot| slot.announced)
    }

    /// Does this host ask its peer to use subflows of this address as backups only?
    fn is_backup(&self, local: SocketAddr) -> bool {
        self.slots.iter().any(|slot| slot.has(local) && slot.flags().backup)
    }

    fn deny_initial(&mut self) {
        self.deny_initial = true;
    }
}

impl Kernel {
    fn new(host: KernelHost, role: Role, initial: Path, paths: &[Path]) -> Self {
        let Path { local, remote } = initial;
        Self {
            role,
            initial,
            paths: paths.to_vec(),
            slots: host.endpoints.iter().copied().map(Slot::from).collect(),
            changed: 0,
            established: false,
            accounted: false,
            pairs: vec![Pair { local, remote, extra: false, leaving: false }],
            remotes: Vec::new(),
            accepted: 0,
            accept: host.limits.accept(),
            deny_initial: false,
            host,
        }
    }

    /// The connection may be joined.
    fn begin(&mut self, actions: &mut Vec<Action>) {
        self.established = true;
        let room = self.host.limits.subflows > 0;
        let asks = |flags: EndpointFlags| flags.signal || flags.subflow && room;
        self.account_initial(actions);
        self.accounted = self.slots.iter().any(|slot| asks(slot.flags()));
        let first = self.announce_next(actions);
        match self.role {
            Role::Client => self.open_endpoints(first, actions),
            // A server cannot open before its application has accepted the connection, which is after this.
            Role::Server => self.mark_tried(),
        }
    }

    /// Subflows of this host count since they were opened, those of the peer count from here.
    fn subflow_established(&mut self, path: Path) {
        if !self.living().any(|pair| pair.is(path)) {
            let Path { local, remote } = path;
            self.pairs.push(Pair { local, remote, extra: true, leaving: false });
        }
    }

    fn by_port(&self, local: SocketAddr) -> Option<&Slot> {
        self.slots.iter().find(|slot| slot.endpoint.port.is_some() && slot.has(local))
    }

    /// Subflows that have not been closed because of their address.
    fn living(&self) -> impl Iterator<Item = &Pair> {
        self.pairs.iter().filter(|pair| !pair.leaving)
    }

    /// Subflows that may still be opened or admitted.
    fn room(&self) -> usize {
        let extra = self.living().filter(|pair| pair.extra).count();
        usize::from(self.host.limits.subflows).saturating_sub(extra)
    }

    /// The endpoint of the initial subflow's address is in use from the start; its priority is told.
    fn account_initial(&mut self, actions: &mut Vec<Action>) {
        self.accounted = true;
        let local = self.initial.local;
        let Some(slot) = self.slots.iter_mut().find(|slot| slot.has(local)) else { return };
        slot.available = false;
        if slot.flags().backup {
            actions.push(Action::SetBackup { path_index: 0, backup: true });
        }
    }

    fn closed(&mut self, path: Path) {
        let left = self.pairs.iter().position(|pair| pair.leaving && pair.is(path));
        // Of two between the same addresses, one that counts.
        if let Some(at) = left.or_else(|| self.pairs.iter().rposition(|pair| pair.is(path))) {
            self.pairs.remove(at);
        }
    }

    /// These subflows are being closed.
    fn leave(&mut self, which: impl Fn(&Pair) -> bool) {
        for pair in self.pairs.iter_mut().filter(|pair| which(pair)) {
            pair.leaving = true;
        }
    }

    /// One more announcement, and all subflows that there is room for.
    fn proceed(&mut self, actions: &mut Vec<Action>) {
        let first = self.announce_next(actions);
        self.open_endpoints(first, actions);
    }

    fn next_available(&self, wanted: impl Fn(EndpointFlags) -> bool) -> Option<usize> {
        self.slots.iter().position(|slot| slot.available && wanted(slot.flags()))
    }

    /// Announces the next `signal` endpoint; the one after it waits for the echo, or for another occasion. Returns the
    /// endpoint if subflows are to be opened from it too.
    fn announce_next(&mut self, actions: &mut Vec<Action>) -> Option<usize> {
        let at = self.next_available(|flags| flags.signal)?;
        let slot = &mut self.slots[at];
        (slot.available, slot.announced) = (false, true);
        let port = slot.endpoint.port.unwrap_or(self.initial.local.port());
        actions.push(Action::Announce { address: SocketAddr::new(slot.endpoint.address, port) });
        slot.flags().subflow.then_some(at)
    }

    fn open_endpoints(&mut self, mut first: Option<usize>, actions: &mut Vec<Action>) {
        while self.room() > 0 {
            let Some(at) = first.take().or_else(|| self.next_available(|flags| flags.subflow)) else {
                return;
            };
            self.use_up(at);
            let endpoint = self.slots[at].endpoint;
            for remote in self.remotes_for(&endpoint) {
                self.open(endpoint.address, remote, endpoint.flags.backup, actions);
            }
        }
    }

    /// A subflow is opened from an endpoint.
    fn use_up(&mut self, at: usize) {
        let initial = self.is_initial(at);
        let slot = &mut self.slots[at];
        (slot.available, slot.used) = (false, !initial);
    }

    /// Is its address that of the first subflow, whose identifier is 0?
    fn is_initial(&self, at: usize) -> bool {
        self.slots[at].has(self.initial.local)
    }

    /// As when all of them had been tried, and had failed.
    fn mark_tried(&mut self) {
        for slot in &mut self.slots {
            slot.available &= !slot.flags().subflow;
        }
    }

    /// Where a `subflow` endpoint connects to: the initial address, or with `fullmesh` every address of the peer that a
    /// subflow goes to, and none from here yet.
    fn remotes_for(&self, endpoint: &KernelEndpoint) -> Vec<SocketAddr> {
        let allowed = |remote: &SocketAddr| {
            of_one_family(endpoint.address, *remote) && !(self.deny_initial && *remote == self.initial.remote)
        };
        if !endpoint.flags.fullmesh {
            return Some(self.initial.remote).filter(allowed).into_iter().collect();
        }
        let mut remotes: Vec<SocketAddr> = Vec::new();
        for pair in self.living() {
            let taken = |other: &Pair| other.local.ip() == endpoint.address && other.remote == pair.remote;
            if allowed(&pair.remote) && !self.living().any(taken) && !remotes.contains(&pair.remote) {
                remotes.push(pair.remote);
            }
        }
        remotes.truncate(self.room());
        remotes
    }

    /// ADD_ADDR came.
    fn announced(&mut self, address: SocketAddr, address_id: u8, actions: &mut Vec<Action>) {
        // The initial address has the identifier 0, and no other.
        let sound = address_id > 0 || address == self.initial.remote;
        if !sound || address_id > 0 && !self.accepts() {
            return;
        }
        if self.living().any(|pair| pair.remote == address) {
            return;
        }
        let locals = self.locals_for(address);
        if locals.is_empty() {
            return;
        }
        self.remotes.retain(|(known, _)| *known != address_id);
        self.remotes.push((address_id, address));
        for local in locals {
            let backup = self.is_backup(SocketAddr::new(local, 0));
            self.open(local, address, backup, actions);
        }
        if address_id > 0 {
            self.accepted += 1;
        }
        let limit = u32::from(self.host.limits.add_addr_accepted);
        self.accept &= self.accepted < limit && self.room() > 0;
    }

    fn accepts(&self) -> bool {
        self.accept || self.is_default_despite_denial()
    }

    /// A peer that denies its initial address would get no subflow under the default limits: one announcement is
    /// followed then.
    fn is_default_despite_denial(&self) -> bool {
        let unused = self.slots.iter().all(|slot| !slot.used);
        self.deny_initial && unused && self.host.limits.add_addr_accepted == 0 && self.room() > 0
    }

    /// Which local addresses connect to an announced one. Those with `fullmesh`, if there are any. Else, if there are
    /// endpoints with `laminar`, one of them that has no subflow. Else the one that routing picks.
    fn locals_for(&mut self, remote: SocketAddr) -> Vec<IpAddr> {
        let room = self.room();
        if room == 0 {
            return Vec::new();
        }
        let reaches = |slot: &Slot| of_one_family(slot.endpoint.address, remote);
        let mesh = self.slots.iter().filter(|slot| slot.flags().fullmesh && reaches(slot));
        let mesh: Vec<IpAddr> = mesh.map(|slot| slot.endpoint.address).take(room).collect();
        if !mesh.is_empty() {
            return mesh;
        }
        if self.slots.iter().any(|slot| slot.flags().laminar) {
            return self.laminar(remote);
        }
        if self.is_default_despite_denial() {
            return self.unused_subflow_endpoints(room, remote);
        }
        let routed = self.host.routed_to(remote.ip()).unwrap_or(self.initial.local.ip());
        Some(routed).filter(|&local| of_one_family(local, remote)).into_iter().collect()
    }

    fn laminar(&mut self, remote: SocketAddr) -> Vec<IpAddr> {
        let idle = |slot: &Slot| !self.living().any(|pair| pair.local.ip() == slot.endpoint.address);
        let fits =
            |slot: &Slot| slot.flags().laminar && of_one_family(slot.endpoint.address, remote) && idle(slot);
        let found = self.slots.iter().position(fits);
        let Some(at) = found else { return Vec::new() };
        if self.slots[at].flags().subflow {
            self.use_up(at);
        }
        vec![self.slots[at].endpoint.address]
    }

    fn unused_subflow_endpoints(&mut self, room: usize, remote: SocketAddr) -> Vec<IpAddr> {
        let fits = |slot: &Slot| {
            slot.available && slot.flags().subflow && of_one_family(slot.endpoint.address, remote)
        };
        let mut locals = Vec::new();
        while locals.len() < room
            && let Some(at) = self.slots.iter().position(fits)
        {
            self.use_up(at);
            locals.push(self.slots[at].endpoint.address);
        }
        locals
    }

    /// REMOVE_ADDR came: another announcement may be followed. The connection itself closes the subflows.
    fn removed(&mut self, address_id: u8) {
        let Some(at) = self.remotes.iter().position(|(known, _)| *known == address_id) else { return };
        self.remotes.remove(at);
        if address_id > 0 {
            self.accepted = self.accepted.saturating_sub(1);
            self.accept = self.accepted < u32::from(self.host.limits.add_addr_accepted);
        }
    }

    fn open(&mut self, local: IpAddr, remote: SocketAddr, backup: bool, actions: &mut Vec<Action>) {
        let from = SocketAddr::new(local, 0);
        self.pairs.push(Pair { local: from, remote, extra: true, leaving: false });
        let path = Path { local: from, remote };
        let index = self.paths.iter().position(|path| path.local.ip() == local);
        let path_index = index.unwrap_or(self.paths.len()) as u32;
        actions.push(Action::Open(Wanted { path, path_index, backup }));
    }
}
