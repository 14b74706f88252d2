//! A copy on every usable path; the egress delivers the first.

use super::{Ask, Scheduler};
use crate::id::PathSet;
use crate::outgoing::Outgoing;

/// Has no state.
pub(crate) struct Redundant;

impl Scheduler for Redundant {
    #[inline]
    fn pick(&mut self, ask: &Ask, _paths: &[Outgoing]) -> PathSet {
        ask.usable
    }
}
