//! Endpoints and limits of a kernel's path manager that change while a scenario runs.

use crate::clock::Clock;
use crate::netlink::{EndpointFlags, MptcpPm};
use crate::settings::named;
use ropewalk_mptcp::{KernelChange, KernelCommand};
use std::io;
use std::sync::atomic::AtomicBool;

/// What is to be changed in one namespace.
pub(crate) struct Changes {
    pm: MptcpPm,
    changes: Vec<KernelChange>,
}

impl Changes {
    /// In order of time, by a path manager's socket in that namespace.
    pub(crate) fn new(pm: MptcpPm, changes: Vec<KernelChange>) -> Self {
        Self { pm, changes }
    }

    /// Makes each at its time, until the run is over.
    ///
    /// # Errors
    /// The kernel refuses one.
    pub(crate) fn make(mut self, clock: Clock, over: &AtomicBool) -> io::Result<()> {
        for change in &self.changes {
            if !clock.wait_until(change.at, over) {
                break;
            }
            let refused = |error: io::Error| {
                let what = format!("the path manager refuses {:?} at {}: {error}", change.command, change.at);
                io::Error::new(error.kind(), what)
            };
            make(&mut self.pm, &change.command).map_err(refused)?;
        }
        Ok(())
    }
}

fn make(pm: &mut MptcpPm, command: &KernelCommand) -> io::Result<()> {
    match command {
        KernelCommand::Add(endpoint) => pm.add(&named(endpoint)),
        KernelCommand::Delete { id } => pm.delete(*id, None),
        KernelCommand::DeleteInitial { address } => pm.delete(0, Some(*address)),
        KernelCommand::Change { id, backup, fullmesh } => {
            let all = [(*backup, EndpointFlags::BACKUP), (*fullmesh, EndpointFlags::FULLMESH)];
            let set = all.into_iter().filter(|(set, _)| *set);
            pm.change(*id, set.fold(EndpointFlags::default(), |flags, (_, flag)| flags.with(flag)))
        }
        KernelCommand::SetLimits(limits) => pm.set_limits(*limits),
    }
}
