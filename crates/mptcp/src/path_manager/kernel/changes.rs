//! Endpoints and limits that change while a connection lives.

use super::{Kernel, Slot};
use crate::config::{EndpointFlags, KernelCommand, KernelEndpoint};
use crate::path_manager::rule::Action;
use ropewalk_units::Instant;
use std::net::{IpAddr, SocketAddr};

impl Kernel {
    /// When the next change is due.
    pub(super) fn next_change(&self) -> Option<Instant> {
        self.host.changes.get(self.changed).filter(|_| self.established).map(|change| change.at)
    }

    /// Makes the changes that are due.
    pub(super) fn make_changes(&mut self, now: Instant, actions: &mut Vec<Action>) {
        while let Some(change) = self.host.changes.get(self.changed).filter(|change| change.at <= now) {
            self.changed += 1;
            match change.command.clone() {
                KernelCommand::Add(endpoint) => self.add(endpoint, actions),
                KernelCommand::Delete { id } => self.delete(id, actions),
                KernelCommand::DeleteInitial { address } => self.delete_initial(address, actions),
                KernelCommand::Change { id, backup, fullmesh } => {
                    let change = |flags| EndpointFlags { backup, fullmesh, ..flags };
                    self.change(id, change, actions);
                }
                KernelCommand::SetLimits(limits) => {
                    self.host.limits = limits;
                    if !self.established {
                        self.accept = limits.accept();
                    }
                }
            }
        }
    }

    fn place(&self, id: u8) -> Option<usize> {
        self.slots.iter().position(|slot| slot.endpoint.id == id)
    }

    /// The endpoint of a subflow's local address. One with that very port comes first, but all ports of the initial
    /// address belong to the initial subflow's endpoint.
    fn owner(&self, local: SocketAddr) -> Option<u8> {
        let initial = self.initial.local;
        let local = if local.ip() == initial.ip() { initial } else { local };
        let slot = self.by_port(local).or_else(|| self.slots.iter().find(|slot| slot.has(local)));
        slot.map(|slot| slot.endpoint.id)
    }

    /// Something is to be done after the start.
    fn resume(&mut self, actions: &mut Vec<Action>) {
        if !self.accounted {
            self.account_initial(actions);
        }
        self.proceed(actions);
    }

    /// The subflows from an endpoint's address are closed.
    fn leave_endpoint(&mut self, at: usize) {
        let id = self.slots[at].endpoint.id;
        let locals: Vec<SocketAddr> =
            self.living().map(|pair| pair.local).filter(|local| self.owner(*local) == Some(id)).collect();
        self.leave(|pair| locals.contains(&pair.local));
    }

    fn add(&mut self, endpoint: KernelEndpoint, actions: &mut Vec<Action>) {
        actions.push(Action::Name { address_id: endpoint.id, address: endpoint.socket() });
        self.slots.push(Slot::from(endpoint));
        if self.established {
            self.resume(actions);
        }
    }

    fn delete(&mut self, id: u8, actions: &mut Vec<Action>) {
        let Some(at) = self.place(id) else { return };
        // Linux knows that an endpoint is the initial subflow's only when it has accounted it.
        if self.established && (self.accounted || !self.is_initial(at)) {
            let Slot { endpoint, announced, .. } = &self.slots[at];
            actions.push(Action::Remove { address: endpoint.socket(), announced: *announced });
            self.leave_endpoint(at);
        }
        self.slots.remove(at);
        if self.established {
            self.proceed(actions);
        }
    }

    /// The initial address gives way to other endpoints. Its own, if there is one, may be used again later.
    fn delete_initial(&mut self, address: IpAddr, actions: &mut Vec<Action>) {
        if !self.established || address != self.initial.local.ip() {
            return;
        }
        let initial = self.initial.local;
        actions.push(Action::Remove { address: initial, announced: true });
        self.leave(|pair| pair.local.ip() == initial.ip());
        self.proceed(actions);
        if let Some(slot) = self.slots.iter_mut().find(|slot| slot.has(initial)) {
            slot.available = true;
        }
    }

    /// Another `backup` is told to the peer. With another `fullmesh` the subflows are opened anew.
    fn change(&mut self, id: u8, change: impl Fn(EndpointFlags) -> EndpointFlags, actions: &mut Vec<Action>) {
        let Some(at) = self.place(id) else { return };
        let before = self.slots[at].flags();
        let EndpointFlags { backup, fullmesh, .. } = change(before);
        self.slots[at].endpoint.flags = change(before);
        if !self.established {
            return;
        }
        let address = self.slots[at].endpoint.socket();
        if before.backup != backup {
            actions.push(Action::SetBackupFrom { address, backup });
        }
        if before.fullmesh != fullmesh && before.subflow {
            actions.push(Action::CloseFrom { address });
            self.leave_endpoint(at);
            (self.slots[at].available, self.slots[at].used) = (true, false);
            self.resume(actions);
        }
    }
}
