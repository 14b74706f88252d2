//! ADD_ADDR, REMOVE_ADDR and MP_PRIO (RFC 8684 §3.3.8, §3.4), and what the path manager asks for.

use super::{Connection, Finish};
use crate::config::KernelEndpoint;
use crate::event::Event;
use crate::id::{Path, SubflowId};
use crate::keys;
use crate::path_manager::{self, Action};
use crate::subflow::Phase;
use ropewalk_units::{Duration, Instant};
use ropewalk_wire::{AddAddress, MptcpOption, Priority, RemoveAddress, ResetReason, is_of_one_host};
use std::net::{IpAddr, SocketAddr};

/// How often an unanswered ADD_ADDR is repeated (Linux: three).
const ANNOUNCEMENTS: u32 = 4;

/// How long an announcement waits for a subflow to carry it; and for its echo, if it is never repeated.
const PATIENCE: Duration = Duration::from_secs(1);

/// An ADD_ADDR on its way.
#[derive(Clone, Copy, Debug)]
struct Announcement {
    address_id: u8,
    address: SocketAddr,
    due: Option<Instant>,
    sent: u32,
}

/// Identifiers of addresses on both sides (RFC 8684 §3.2: 0 is that of the initial subflow).
#[derive(Clone, Debug, Default)]
pub(super) struct Addresses {
    /// With the one port that is meant, or 0 for all.
    local: Vec<(u8, SocketAddr)>,
    listed: Vec<SocketAddr>,
    initial_remote: Option<SocketAddr>,
    remote: Vec<(u8, SocketAddr)>,
    announcements: Vec<Announcement>,
}

impl Addresses {
    /// `local` are this host's addresses in the scenario's order. Some have identifiers of their own (`named`).
    pub(super) fn new(initial: Path, local: &[SocketAddr], named: &[KernelEndpoint]) -> Self {
        let mut addresses = Self {
            local: vec![(0, all_ports(initial.local))],
            listed: local.to_vec(),
            initial_remote: Some(initial.remote),
            remote: Vec::new(),
            announcements: Vec::new(),
        };
        for endpoint in named {
            addresses.name(endpoint.id, endpoint.socket());
        }
        for &address in local {
            addresses.local_id(address);
        }
        addresses
    }

    /// Gives a local address this identifier if it is free; the initial address keeps its own.
    fn name(&mut self, id: u8, address: SocketAddr) {
        if self.local.iter().all(|(known, at)| *known != id && (*known, *at) != (0, address)) {
            self.forget_local(address);
            self.local.push((id, address));
        }
    }

    /// The identifier of the address that a subflow of the peer's comes in at. With the initial one it is 0, whatever the port.
    pub(super) fn joined_id(&mut self, address: SocketAddr) -> u8 {
        let initial = |(id, known): &(u8, SocketAddr)| *id == 0 && known.ip() == address.ip();
        if self.local.iter().any(initial) { 0 } else { self.local_id(address) }
    }

    fn forget_local(&mut self, address: SocketAddr) {
        self.local.retain(|(id, known)| *id == 0 || *known != address);
    }

    /// The identifier of a local address, or of its port, if that has one; a new one if it is not known.
    pub(super) fn local_id(&mut self, address: SocketAddr) -> u8 {
        let of = |address: SocketAddr| self.local.iter().find(|(_, known)| *known == address);
        if let Some((id, _)) = of(address).or_else(|| of(all_ports(address))) {
            return *id;
        }
        let free = (1..=255).find(|id| self.local.iter().all(|(known, _)| known != id));
        let id = free.unwrap_or(255);
        self.local.push((id, all_ports(address)));
        id
    }

    /// The identifier of a remote address as the peer announced it, or 0.
    pub(super) fn remote_id(&self, address: SocketAddr) -> u8 {
        let known = |same: fn(&SocketAddr, &SocketAddr) -> bool| {
            self.remote.iter().find(|(_, known)| same(known, &address)).map(|(id, _)| *id)
        };
        known(|a, b| a == b).or_else(|| known(|a, b| a.ip() == b.ip())).unwrap_or(0)
    }

    /// The place of a local address in the scenario's list.
    pub(super) fn path_index(&self, address: SocketAddr) -> u32 {
        let listed = self.listed.iter().position(|known| known.ip() == address.ip());
        listed.unwrap_or(self.listed.len()) as u32
    }

    /// May the peer announce this address? One under a known identifier must be the one that has it (§3.4.1), and of
    /// others there are so many.
    fn admits(&self, address_id: u8, address: IpAddr, most: u32) -> bool {
        let known = self.remote.iter().find(|(id, _)| *id == address_id);
        known.map_or(self.remote.len() < most as usize, |(_, known)| known.ip() == address)
    }

    fn forget_remote(&mut self, address_id: u8) {
        self.remote.retain(|(id, _)| *id != address_id);
    }

    pub(super) fn note_remote(&mut self, address_id: u8, address: SocketAddr) {
        self.remote.retain(|(id, _)| *id != address_id);
        self.remote.push((address_id, address));
    }

    pub(super) fn next_due(&self) -> Option<Instant> {
        self.announcements.iter().filter_map(|a| a.due).min()
    }
}

fn all_ports(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip(), 0)
}

impl Connection {
    /// Does what the path manager wants.
    pub(super) fn act(&mut self, now: Instant, action: Action) {
        match action {
            Action::Open(wanted) => {
                if !self.is_closing() {
                    self.emit(Event::SubflowWanted(wanted));
                }
            }
            Action::Name { address_id, address } => self.addresses.name(address_id, address),
            Action::Announce { address } => self.announce(now, address),
            Action::Withdraw { address } => self.withdraw(now, address),
            Action::Remove { address, announced } => self.remove_address(address, announced),
            Action::CloseFrom { address } => {
                for at in self.at_address(address) {
                    self.abandon_subflow(at);
                }
            }
            Action::SetBackupFrom { address, backup } => {
                let subflows = self.at_address(address).into_iter();
                let first = subflows.min_by_key(|&at| self.subflows[at].id);
                self.set_backup(first.into_iter().collect(), backup);
            }
            Action::SetBackup { path_index, backup } => self.set_backup(self.on_path(path_index), backup),
            Action::Close { path_index } => {
                for at in self.on_path(path_index) {
                    self.close_subflow(at);
                }
            }
            Action::Reset { path_index } => {
                for at in self.on_path(path_index) {
                    self.reset_subflow(now, at, ResetReason::Prohibited);
                }
            }
        }
    }

    fn on_path(&self, path_index: u32) -> Vec<usize> {
        let living = self.subflows.live.iter().map(|&at| at as usize);
        living
            .filter(|&at| {
                self.subflows[at].path_index == path_index && self.subflows[at].phase != Phase::Closed
            })
            .collect()
    }

    fn announce(&mut self, now: Instant, address: SocketAddr) {
        let address_id = self.addresses.local_id(address);
        let announcement = Announcement { address_id, address, due: None, sent: 0 };
        self.addresses.announcements.push(announcement);
        self.send_announcements(now);
    }

    /// Sends every ADD_ADDR that is due: first ones, and those that were not echoed in time (§3.4.1).
    pub(super) fn send_announcements(&mut self, now: Instant) {
        let carriers: Vec<usize> = self.subflows.open().collect();
        let ending = self.sending.finish == Finish::Acknowledged
            || (self.sending.finish != Finish::No && self.receiving.fin().is_some());
        let Some(peer_key) = self.agreement.peer_key.filter(|_| !ending && !carriers.is_empty()) else {
            // Later, perhaps: nobody can carry it, or the connection is about to end.
            for announcement in &mut self.addresses.announcements {
                announcement.due = Some(now + PATIENCE);
            }
            return;
        };
        // As Linux: the longest RTO, doubled each time, up to `add_addr_timeout`.
        let rto = carriers.iter().map(|&at| self.subflows[at].tcp.rto()).max().unwrap_or(PATIENCE);
        let timeout = self.config.add_addr_timeout;
        let once = timeout.is_zero();
        let before = self.addresses.announcements.len();
        let most = if once { 1 } else { ANNOUNCEMENTS };
        self.addresses.announcements.retain(|a| a.sent < most || a.due.is_some_and(|due| due > now));
        let given_up = self.addresses.announcements.len() < before;
        let initial_port = self.subflows[0].path.local.port();
        for announcement in &mut self.addresses.announcements {
            if announcement.due.is_some_and(|due| due > now) {
                continue;
            }
            // Another subflow each time: one may have died silently.
            let carrier = carriers[announcement.sent as usize % carriers.len()];
            let period = rto.saturating_mul(1 << announcement.sent);
            announcement.due = Some(now + if once { PATIENCE } else { period.min(timeout) });
            announcement.sent += 1;
            let Announcement { address_id, address, .. } = *announcement;
            // The port is left out when it is that of the initial subflow (RFC 8684 §3.4.1).
            let port = (address.port() != initial_port).then_some(address.port());
            let hmac = keys::address_hmac(self.agreement.own_key, peer_key, address_id, address.ip(), port);
            let option = AddAddress { address_id, address: address.ip(), port, hmac: Some(hmac) };
            self.subflows[carrier].signal(MptcpOption::AddAddress(option));
        }
        if given_up {
            self.notify_path_manager(now, path_manager::Event::AnnouncementDone);
        }
    }

    fn withdraw(&mut self, now: Instant, address: SocketAddr) {
        let address_id = self.addresses.local_id(address);
        self.addresses.announcements.retain(|a| a.address_id != address_id);
        let affected: Vec<usize> = self.with_local_id(address_id);
        let carrier = self.subflows.open().find(|at| !affected.contains(at));
        if let Some(carrier) = carrier {
            let option = RemoveAddress { address_ids: vec![address_id] };
            self.subflows[carrier].signal(MptcpOption::RemoveAddress(option));
        }
        for at in affected {
            // The peer closes them (§3.4.2). If REMOVE_ADDR is lost, we do.
            let wait = self.subflows[at].tcp.rto().saturating_mul(3);
            self.subflows[at].close_by = Some(now + wait);
        }
    }

    fn at_address(&mut self, address: SocketAddr) -> Vec<usize> {
        let address_id = self.addresses.local_id(address);
        self.with_local_id(address_id)
    }

    fn with_local_id(&self, address_id: u8) -> Vec<usize> {
        let living = self.subflows.live.iter().map(|&at| at as usize);
        living
            .filter(|&at| {
                self.subflows[at].local_id == address_id && self.subflows[at].phase != Phase::Closed
            })
            .collect()
    }

    /// An endpoint is gone. REMOVE_ADDR goes on a subflow of another address if there is one (§3.4.2), and this end closes
    /// those of this address at once, as Linux.
    fn remove_address(&mut self, address: SocketAddr, announced: bool) {
        let address_id = self.addresses.local_id(address);
        self.addresses.forget_local(address);
        self.addresses.announcements.retain(|a| a.address_id != address_id);
        let affected = self.with_local_id(address_id);
        if announced || !affected.is_empty() {
            let other = self.subflows.open().find(|at| !affected.contains(at));
            if let Some(carrier) = other.or_else(|| self.subflows.open().next()) {
                let option = RemoveAddress { address_ids: vec![address_id] };
                self.subflows[carrier].signal(MptcpOption::RemoveAddress(option));
            }
        }
        for at in affected {
            self.abandon_subflow(at);
        }
    }

    fn set_backup(&mut self, subflows: Vec<usize>, backup: bool) {
        for at in subflows {
            let subflow = &mut self.subflows[at];
            subflow.backup_own = backup;
            subflow.upkeep.on_numbers();
            subflow.signal(MptcpOption::Priority(Priority { backup }));
        }
        self.planner.due.request_schedule();
    }

    fn on_echo(&mut self, now: Instant, address_id: u8) {
        let before = self.addresses.announcements.len();
        self.addresses.announcements.retain(|a| a.address_id != address_id);
        if self.addresses.announcements.len() < before {
            self.notify_path_manager(now, path_manager::Event::AnnouncementDone);
        }
    }

    /// ADD_ADDR came, or its echo.
    pub(super) fn on_add_address(&mut self, now: Instant, at: usize, add: &AddAddress) {
        let Some(hmac) = add.hmac else { return self.on_echo(now, add.address_id) };
        let Some(peer_key) = self.agreement.peer_key else { return };
        // §3.4.1: an announcement with a wrong HMAC is ignored silently.
        let expected =
            keys::address_hmac(peer_key, self.agreement.own_key, add.address_id, add.address, add.port);
        if !keys::hmacs_agree(&expected.to_be_bytes(), &hmac.to_be_bytes()) {
            return;
        }
        // RFC 9293 §3.9.1.1 (MUST-46): nobody can be reached there, or too many.
        if !is_of_one_host(add.address) || add.port == Some(0) {
            return;
        }
        // §3.4.1: announcements may be discarded at will; without an echo, the peer repeats them.
        let limits = self.config.limits;
        let waiting = &self.subflows[at].rare;
        let echo = MptcpOption::AddAddress(AddAddress { hmac: None, ..*add });
        if !self.addresses.admits(add.address_id, add.address, limits.remote_addresses)
            || waiting.len() >= limits.queued_options as usize
            || waiting.contains(&echo)
        {
            return;
        }
        self.subflows[at].signal(echo);
        let initial_port = self.addresses.initial_remote.map_or(0, |remote| remote.port());
        let address = SocketAddr::new(add.address, add.port.unwrap_or(initial_port));
        self.note_peer_address(add.address_id, address);
        self.emit(Event::AddressAnnounced { address_id: add.address_id, address });
        let event = path_manager::Event::AddressAnnounced { address, address_id: add.address_id };
        self.notify_path_manager(now, event);
    }

    /// REMOVE_ADDR came (§3.4.2): the subflows to that address are closed, as Linux does it. Without any other, each of
    /// them is asked first whether its address is really gone.
    pub(super) fn on_remove_address(&mut self, now: Instant, remove: &RemoveAddress) {
        for &address_id in &remove.address_ids {
            self.emit(Event::AddressRemoved { address_id });
            self.addresses.forget_remote(address_id);
            let (affected, others): (Vec<usize>, Vec<usize>) =
                self.subflows.living().partition(|&at| self.subflows[at].remote_id == address_id);
            let alone = !others.iter().any(|&at| self.subflows[at].phase == Phase::Open);
            for at in affected {
                if alone {
                    self.doubt(now, at);
                } else {
                    self.abandon_subflow(at);
                    let path = self.subflows[at].path;
                    self.notify_path_manager(now, path_manager::Event::SubflowLeaving { path });
                }
            }
            self.notify_path_manager(now, path_manager::Event::AddressRemoved { address_id });
        }
    }

    /// Probes the peer of a subflow; without an answer the subflow is closed.
    fn doubt(&mut self, now: Instant, at: usize) {
        self.timers.on_slow_change();
        let subflow = &mut self.subflows[at];
        if subflow.finished || subflow.close_by.is_some() {
            return;
        }
        subflow.doubted = true;
        subflow.close_by = Some(now + subflow.tcp.rto().saturating_mul(3));
        subflow.tcp.probe();
        subflow.touch();
    }

    /// The peer has answered on a doubted subflow. It closes the subflow itself, if it wants to.
    #[cold]
    pub(super) fn trust(&mut self, at: usize) {
        self.timers.on_slow_change();
        let subflow = &mut self.subflows[at];
        subflow.doubted = false;
        subflow.close_by = None;
    }

    /// MP_PRIO came: it is about the subflow that it travels on (§3.3.8).
    pub(super) fn on_priority(&mut self, at: usize, priority: Priority) {
        let subflow = &mut self.subflows[at];
        if subflow.backup_peer != priority.backup {
            subflow.backup_peer = priority.backup;
            subflow.upkeep.on_numbers();
            let id: SubflowId = subflow.id;
            self.planner.due.request_schedule();
            self.emit(Event::PriorityChanged { id, backup: priority.backup });
        }
    }

    /// Has everything been delivered, both ways, so that opening further subflows is pointless? A DATA_FIN that came
    /// before data of another subflow does not say so.
    pub(super) fn is_closing(&self) -> bool {
        self.end.is_some()
            || matches!(self.sending.finish, Finish::Acknowledged) && self.receiving.is_finished()
    }
}
