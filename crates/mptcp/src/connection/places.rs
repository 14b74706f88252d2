//! Where subflows are kept: in a bounded number of places. A place is used again when its subflow is gone, so that
//! memory depends on how many subflows live, not on how many there ever were.

use super::subflows::Subflows;
use crate::config::Limits;
use crate::id::SubflowId;
use crate::subflow::{New, Phase, Subflow};
use std::cmp::Reverse;

/// Most places: a subflow has one bit in the send queue's sets.
const PLACES: usize = 64;

impl Subflows {
    /// A place for another subflow: a new one, or else that of the oldest subflow which is gone, or else of the
    /// oldest in TIME-WAIT. The initial subflow keeps its own.
    pub(super) fn free_place(&self, limits: &Limits) -> Option<usize> {
        let len = self.all.len();
        if len < PLACES.min(limits.subflows as usize) {
            return Some(len);
        }
        let over = (1..len).filter(|&at| self.all[at].phase == Phase::Closed);
        over.min_by_key(|&at| (self.live.contains(&(at as u32)), self.all[at].id))
    }

    /// Puts a subflow into a place that [`Self::free_place`] gave. What was there is forgotten; it is returned if it
    /// was still in TIME-WAIT.
    pub(super) fn occupy(&mut self, at: usize, new: New) -> Option<SubflowId> {
        let mut gone = None;
        if at < self.all.len() {
            gone = self.vacate(at);
            self.all[at] = Subflow::new(new);
        } else {
            self.all.push(Subflow::new(new));
        }
        self.live.push(at as u32);
        gone
    }

    /// Nothing is left of the subflow at a place, TIME-WAIT included.
    fn vacate(&mut self, at: usize) -> Option<SubflowId> {
        let index = self.live.iter().position(|&live| live as usize == at)?;
        self.live.remove(index);
        Some(self.all[at].id)
    }

    /// Joins that the peer has begun and not finished have a bound of their own. With `most` of them, the oldest join of
    /// the address that has most is one too many. So a flood from one address does not keep others out.
    pub(super) fn join_too_many(&self, most: usize) -> Option<usize> {
        let half_open: Vec<usize> = self.living().filter(|&at| self.all[at].is_half_open()).collect();
        if half_open.len() < most {
            return None;
        }
        let address = |at: usize| self.all[at].path.remote.ip();
        let crowd = |at: usize| half_open.iter().filter(|&&other| address(other) == address(at)).count();
        let oldest = |at: usize| Reverse(self.all[at].id);
        half_open.iter().copied().max_by_key(|&at| (crowd(at), oldest(at)))
    }
}
