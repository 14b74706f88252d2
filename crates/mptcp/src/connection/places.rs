//! Where subflows are kept: in a bounded number of places. A place is used again when its subflow is gone, so that
//! memory depends on how many subflows live, not on how many there ever were.

use super::Connection;
use crate::event::Event;
use crate::subflow::{New, Phase, Subflow};
use ropewalk_units::Instant;
use ropewalk_wire::ResetReason;
use std::cmp::Reverse;

/// Most places: a subflow has one bit in the send queue's sets.
const PLACES: usize = 64;

impl Connection {
    /// A place for another subflow: a new one, or else that of the oldest subflow which is gone, or else of the
    /// oldest in TIME-WAIT. The initial subflow keeps its own.
    pub(super) fn free_place(&mut self) -> Option<usize> {
        let len = self.subflows.len();
        if len < PLACES.min(self.config.limits.subflows as usize) {
            return Some(len);
        }
        let over = (1..len).filter(|&at| self.subflows[at].phase == Phase::Closed);
        over.min_by_key(|&at| (self.subflows.live.contains(&(at as u32)), self.subflows[at].id))
    }

    /// Puts a subflow into a place that [`Self::free_place`] gave; what was there is forgotten.
    pub(super) fn occupy(&mut self, at: usize, new: New) {
        let (id, path) = (new.id, new.path);
        if at < self.subflows.len() {
            self.vacate(at);
            self.subflows[at] = Subflow::new(new);
            self.planner.on_occupied(&mut self.subflows, at);
        } else {
            self.subflows.all.push(Subflow::new(new));
        }
        self.subflows.live.push(at as u32);
        self.emit(Event::SubflowCreated { id, path });
    }

    /// Nothing is left of the subflow at a place, TIME-WAIT included.
    fn vacate(&mut self, at: usize) {
        if let Some(index) = self.subflows.live.iter().position(|&live| live as usize == at) {
            self.subflows.live.remove(index);
            self.emit(Event::SubflowGone(self.subflows[at].id));
        }
    }

    /// Joins that the peer has begun and not finished have a bound of their own. One too many ends the oldest join of
    /// the address that has most of them. So a flood from one address does not keep others out.
    pub(super) fn bound_half_open(&mut self, now: Instant) {
        let half_open: Vec<usize> =
            self.subflows.living().filter(|&at| self.subflows[at].is_half_open()).collect();
        if half_open.len() < self.config.limits.half_open_subflows as usize {
            return;
        }
        let address = |at: usize| self.subflows[at].path.remote.ip();
        let crowd = |at: usize| half_open.iter().filter(|&&other| address(other) == address(at)).count();
        let oldest = |at: usize| Reverse(self.subflows[at].id);
        if let Some(at) = half_open.iter().copied().max_by_key(|&at| (crowd(at), oldest(at))) {
            self.reset_subflow(now, at, ResetReason::Resources);
        }
    }
}
