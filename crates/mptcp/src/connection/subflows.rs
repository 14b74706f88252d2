//! The subflows of a connection: which of them live, and which may carry data.

use crate::id::SubflowId;
use crate::send_queue::Slots;
use crate::subflow::{Phase, Subflow};
use std::ops::{Deref, DerefMut};

/// Subflows by place; the initial subflow's is the first.
#[derive(Clone, Debug, Default)]
pub(super) struct Subflows {
    /// By place ([`super::places`]).
    pub(super) all: Vec<Subflow>,
    /// Places of subflows whose TCP is not in CLOSED.
    pub(super) live: Vec<u32>,
    /// Subflows that there have been.
    created: u32,
    /// A second subflow has come up at some time.
    pub(super) joined: bool,
    /// One is gone, and its send buffer with it.
    pub(super) sum_stale: bool,
    /// Those that carry data add as much to the send buffer as any may; known unless the sum is stale.
    pub(super) all_add_most: bool,
}

impl Deref for Subflows {
    type Target = [Subflow];

    fn deref(&self) -> &[Subflow] {
        &self.all
    }
}

impl DerefMut for Subflows {
    fn deref_mut(&mut self) -> &mut [Subflow] {
        &mut self.all
    }
}

impl Subflows {
    /// The identifier of the subflow that comes next.
    pub(super) fn next_id(&mut self) -> SubflowId {
        let id = SubflowId(self.created);
        self.created += 1;
        id
    }

    /// The place of a subflow; `None` if it has been forgotten.
    pub(super) fn place_of(&self, id: SubflowId) -> Option<usize> {
        // Identifiers are places until the first place is used again.
        let at = id.0 as usize;
        if self.all.get(at).is_some_and(|subflow| subflow.id == id) { Some(at) } else { self.seek(id) }
    }

    #[cold]
    fn seek(&self, id: SubflowId) -> Option<usize> {
        self.all.iter().position(|subflow| subflow.id == id)
    }

    /// Those whose TCP is not in CLOSED.
    pub(super) fn live(&self) -> impl Iterator<Item = &Subflow> {
        self.live.iter().map(|&at| &self.all[at as usize])
    }

    /// … to change them.
    pub(super) fn for_each_live(&mut self, mut change: impl FnMut(&mut Subflow)) {
        let Self { all, live, .. } = self;
        for &at in &*live {
            change(&mut all[at as usize]);
        }
    }

    /// Places of subflows that are not over.
    pub(super) fn living(&self) -> impl Iterator<Item = usize> + '_ {
        let living = |&at: &usize| self.all[at].phase != Phase::Closed;
        self.live.iter().map(|&at| at as usize).filter(living)
    }

    /// Places of subflows that have been established and are not over.
    pub(super) fn carriers(&self) -> impl Iterator<Item = usize> + '_ {
        self.living().filter(|&at| self.all[at].phase != Phase::Opening)
    }

    /// Places of subflows that may be given new data.
    pub(super) fn open(&self) -> impl Iterator<Item = usize> + '_ {
        let usable = |&at: &usize| self.all[at].phase == Phase::Open;
        self.live.iter().map(|&at| at as usize).filter(usable)
    }

    /// Does any but the one at this place take new data?
    pub(super) fn has_others(&self, than: usize) -> bool {
        self.open().any(|other| other != than)
    }

    /// Subflows that carry data and do not wait for the peer after a timeout.
    pub(super) fn healthy(&self) -> Slots {
        self.live().filter(|subflow| subflow.is_healthy()).map(Subflow::bit).sum()
    }
}
