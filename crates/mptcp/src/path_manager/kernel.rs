//! Linux's in-kernel path manager: endpoints with flags, and limits, as `ip mptcp` sets them. Checked against Linux 6.18, case by
//! case (docs/models/mptcp.md).

use super::{Action, Event};
use crate::config::{KernelEndpoint, KernelHost};
use crate::id::{Path, Wanted};
use crate::role::Role;
use std::net::{IpAddr, SocketAddr};

/// A subflow that lives.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Pair {
    local: IpAddr,
    remote: SocketAddr,
    /// Not the initial one: it counts.
    extra: bool,
}

/// The state of one connection.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Kernel {
    host: KernelHost,
    role: Role,
    initial: Path,
    /// The scenario's paths: a subflow from an address of theirs belongs to the path.
    paths: Vec<Path>,
    /// Endpoints that have not been used yet, by their place in the list.
    available: Vec<bool>,
    pairs: Vec<Pair>,
    /// Announced addresses of the peer.
    remotes: Vec<(u8, SocketAddr)>,
    /// `subflow` endpoints that were used, `signal` ones that were announced, announcements that were followed.
    used: usize,
    signaled: usize,
    accepted: u32,
    /// Announcements are followed.
    accept: bool,
    /// The peer lets nobody join at its initial address (MP_CAPABLE's C flag).
    deny_initial: bool,
}

impl Kernel {
    pub(super) fn new(host: KernelHost, role: Role, initial: Path, paths: &[Path]) -> Self {
        let accept = host.limits.add_addr_accepted > 0 && host.limits.subflows > 0;
        let pairs = vec![Pair { local: initial.local.ip(), remote: initial.remote, extra: false }];
        let available = vec![true; host.endpoints.len()];
        let paths = paths.to_vec();
        let (remotes, deny_initial) = (Vec::new(), false);
        let (used, signaled, accepted) = (0, 0, 0);
        Self {
            host,
            role,
            initial,
            paths,
            available,
            pairs,
            remotes,
            used,
            signaled,
            accepted,
            accept,
            deny_initial,
        }
    }

    pub(super) fn on(&mut self, event: Event) -> Vec<Action> {
        let mut actions = Vec::new();
        match event {
            Event::Established => self.account_initial(&mut actions),
            Event::SubflowEstablished { path, .. } => self.established(path),
            Event::AnnouncementDone => {}
            Event::SubflowClosed { path, .. } => self.closed(path),
            Event::AddressAnnounced { address, address_id } => {
                self.announced(address, address_id, &mut actions);
                return actions;
            }
            Event::AddressRemoved { address_id } => {
                self.removed(address_id);
                return actions;
            }
            Event::Tick => return actions,
        }
        self.proceed(&mut actions);
        actions
    }

    /// See [`super::PathManager::deny_initial`].
    pub(super) fn deny_initial(&mut self) {
        self.deny_initial = true;
    }

    /// May another subflow of the peer's come up?
    pub(super) fn admits(&self) -> bool {
        self.room() > 0
    }

    /// Subflows of this host count since they were opened, those of the peer count from here.
    fn established(&mut self, path: Path) {
        let (local, remote) = (path.local.ip(), path.remote);
        if self.pairs.iter().all(|pair| (pair.local, pair.remote) != (local, remote)) {
            self.pairs.push(Pair { local, remote, extra: true });
        }
    }

    /// Does this host ask its peer to use subflows of this address as backups only?
    pub(super) fn is_backup(&self, local: IpAddr) -> bool {
        self.host.endpoints.iter().any(|endpoint| endpoint.address == local && endpoint.flags.backup)
    }

    /// Subflows that may still be opened or admitted.
    fn room(&self) -> usize {
        let extra = self.pairs.iter().filter(|pair| pair.extra).count();
        usize::from(self.host.limits.subflows).saturating_sub(extra)
    }

    /// The endpoint of the initial subflow's address is in use from the start; its priority is told.
    fn account_initial(&mut self, actions: &mut Vec<Action>) {
        let local = self.initial.local;
        let at = self.host.endpoints.iter().position(|endpoint| {
            endpoint.address == local.ip() && endpoint.port.is_none_or(|port| port == local.port())
        });
        let Some(at) = at else { return };
        self.available[at] = false;
        if self.host.endpoints[at].flags.backup {
            actions.push(Action::SetBackup { path_index: 0, backup: true });
        }
    }

    fn closed(&mut self, path: Path) {
        let same = |pair: &Pair| pair.local == path.local.ip() && pair.remote == path.remote;
        // Of two between the same addresses, one that counts.
        let at = self.pairs.iter().rposition(same);
        if let Some(at) = at {
            self.pairs.remove(at);
        }
    }

    /// One more announcement, and all subflows that there is room for.
    fn proceed(&mut self, actions: &mut Vec<Action>) {
        let first = self.announce_next(actions);
        // A server cannot open before its application has accepted the connection, which is after this.
        if self.role == Role::Client {
            self.open_endpoints(first, actions);
        } else {
            self.mark_tried();
        }
    }

    fn next_available(&self, wanted: impl Fn(&KernelEndpoint) -> bool) -> Option<usize> {
        let endpoints = self.host.endpoints.iter().zip(&self.available);
        endpoints.into_iter().position(|(endpoint, available)| *available && wanted(endpoint))
    }

    /// Announces the next `signal` endpoint; the one after it waits for the echo, or for another occasion. Returns the
    /// endpoint if subflows are to be opened from it too.
    fn announce_next(&mut self, actions: &mut Vec<Action>) -> Option<usize> {
        let signals = self.host.endpoints.iter().filter(|endpoint| endpoint.flags.signal).count();
        if self.signaled >= signals {
            return None;
        }
        let at = self.next_available(|endpoint| endpoint.flags.signal)?;
        self.available[at] = false;
        self.signaled += 1;
        let endpoint = &self.host.endpoints[at];
        let port = endpoint.port.unwrap_or(self.initial.local.port());
        actions.push(Action::Announce { address: SocketAddr::new(endpoint.address, port) });
        endpoint.flags.subflow.then_some(at)
    }

    fn open_endpoints(&mut self, mut first: Option<usize>, actions: &mut Vec<Action>) {
        let subflows = self.host.endpoints.iter().filter(|endpoint| endpoint.flags.subflow).count();
        while self.used < subflows && self.room() > 0 {
            let Some(at) = first.take().or_else(|| self.next_available(|endpoint| endpoint.flags.subflow))
            else {
                return;
            };
            self.available[at] = false;
            self.used += 1;
            let endpoint = self.host.endpoints[at].clone();
            for remote in self.remotes_for(&endpoint) {
                self.open(endpoint.address, remote, endpoint.flags.backup, actions);
            }
        }
    }

    /// As when all of them had been tried, and had failed.
    fn mark_tried(&mut self) {
        for (endpoint, available) in self.host.endpoints.iter().zip(&mut self.available) {
            *available &= !endpoint.flags.subflow;
        }
    }

    /// Where a `subflow` endpoint connects to: the initial address, or with `fullmesh` every address of the peer that a
    /// subflow goes to, and none from here yet.
    fn remotes_for(&self, endpoint: &KernelEndpoint) -> Vec<SocketAddr> {
        let allowed = |remote: &SocketAddr| !self.deny_initial || *remote != self.initial.remote;
        if !endpoint.flags.fullmesh {
            return Some(self.initial.remote).filter(allowed).into_iter().collect();
        }
        let mut remotes: Vec<SocketAddr> = Vec::new();
        for pair in &self.pairs {
            let taken = |other: &Pair| other.local == endpoint.address && other.remote == pair.remote;
            if allowed(&pair.remote) && !self.pairs.iter().any(taken) && !remotes.contains(&pair.remote) {
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
        if self.pairs.iter().any(|pair| pair.remote == address) {
            return;
        }
        self.remotes.retain(|(known, _)| *known != address_id);
        self.remotes.push((address_id, address));
        let locals = self.locals_for(address);
        if locals.is_empty() {
            return;
        }
        for local in locals {
            let backup = self.is_backup(local);
            self.open(local, address, backup, actions);
        }
        if address_id > 0 {
            self.accepted += 1;
        }
        let limit = u32::from(self.host.limits.add_addr_accepted);
        self.accept = self.accepted < limit && self.room() > 0;
    }

    fn accepts(&self) -> bool {
        self.accept || self.is_default_despite_denial()
    }

    /// A peer that denies its initial address would get no subflow under the default limits: one announcement is
    /// followed then.
    fn is_default_despite_denial(&self) -> bool {
        self.deny_initial && self.used == 0 && self.host.limits.add_addr_accepted == 0 && self.room() > 0
    }

    /// Which local addresses connect to an announced one. Those with `fullmesh`, if there are any. Else, if there are
    /// endpoints with `laminar`, one of them that has no subflow. Else the one that routing picks.
    fn locals_for(&mut self, remote: SocketAddr) -> Vec<IpAddr> {
        let room = self.room();
        if room == 0 {
            return Vec::new();
        }
        let with = |wanted: fn(&KernelEndpoint) -> bool| {
            self.host
                .endpoints
                .iter()
                .filter(move |endpoint| wanted(endpoint))
                .map(|endpoint| endpoint.address)
        };
        let mesh: Vec<IpAddr> = with(|endpoint| endpoint.flags.fullmesh).take(room).collect();
        if !mesh.is_empty() {
            return mesh;
        }
        if self.host.endpoints.iter().any(|endpoint| endpoint.flags.laminar) {
            return self.laminar();
        }
        if self.is_default_despite_denial() {
            return self.unused_subflow_endpoints(room);
        }
        vec![self.host.routed_to(remote.ip()).unwrap_or(self.initial.local.ip())]
    }

    fn laminar(&mut self) -> Vec<IpAddr> {
        let idle = |endpoint: &KernelEndpoint| self.pairs.iter().all(|pair| pair.local != endpoint.address);
        let found = self.host.endpoints.iter().position(|endpoint| endpoint.flags.laminar && idle(endpoint));
        let Some(at) = found else { return Vec::new() };
        if self.host.endpoints[at].flags.subflow {
            self.available[at] = false;
            self.used += 1;
        }
        vec![self.host.endpoints[at].address]
    }

    fn unused_subflow_endpoints(&mut self, room: usize) -> Vec<IpAddr> {
        let mut locals = Vec::new();
        while locals.len() < room
            && let Some(at) = self.next_available(|endpoint| endpoint.flags.subflow)
        {
            self.available[at] = false;
            self.used += 1;
            locals.push(self.host.endpoints[at].address);
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
        self.pairs.push(Pair { local, remote, extra: true });
        let path = Path { local: SocketAddr::new(local, 0), remote };
        let index = self.paths.iter().position(|path| path.local.ip() == local);
        let path_index = index.unwrap_or(self.paths.len()) as u32;
        actions.push(Action::Open(Wanted { path, path_index, backup }));
    }
}
