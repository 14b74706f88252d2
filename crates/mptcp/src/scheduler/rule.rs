//! What a scheduler is: its decisions, and what it needs for them.

use crate::config::Config;
use crate::id::SubflowId;
use crate::view::{QueueView, SubflowView};
use ropewalk_units::Instant;

/// What to do next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Decision {
    /// Hand the next octets over, `octets` at most.
    Send {
        /// To whom.
        subflow: SubflowId,
        /// At most; never 0.
        octets: u64,
        /// For the trace.
        reason: &'static str,
    },
    /// Hand over a second copy of octets that another subflow carries already: the latest ones that are not
    /// DATA_ACKed and that this subflow has not carried. No pointer moves. With nothing of that kind the
    /// connection asks for the next decision: a scheduler counts the copies it asks for.
    Copy {
        /// To whom.
        subflow: SubflowId,
        /// At most; never 0.
        octets: u64,
        /// For the trace.
        reason: &'static str,
    },
    /// Nothing until something changes.
    Wait {
        /// For the trace.
        reason: &'static str,
    },
}

impl Decision {
    /// Wait until something changes.
    pub(crate) const fn wait(reason: &'static str) -> Self {
        Self::Wait { reason }
    }

    /// One segment on `subflow`, or what is left.
    pub(crate) fn segment(subflow: &SubflowView, queue: &QueueView, reason: &'static str) -> Self {
        let octets = u64::from(subflow.smss).min(queue.unsent).min(queue.window_left).min(subflow.send_space);
        Self::Send { subflow: subflow.id, octets, reason }
    }
}

/// How much of the views a scheduler looks at; the rest may be out of date.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Needs {
    /// Which subflows have room, and how fast they are.
    Rooms,
    /// All but the rates, which are costly.
    Views,
    /// Pacing and delivery rates too.
    Rates,
}

/// A choice that stands as long as the chosen subflow has room, because giving it data takes room from nobody else.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Standing {
    /// Nobody has room.
    Nobody,
    Subflow {
        id: SubflowId,
        /// Others have room too.
        others: bool,
        /// For the trace.
        reason: &'static str,
    },
}

/// A scheduler with its state.
pub(crate) trait SchedulingRule {
    /// What it looks at.
    const NEEDS: Needs = Needs::Views;
    /// Each subflow has its own pointer into the queue: [`Decision::Send`] means "the next octets from *its* pointer", and
    /// [`SubflowView::own_backlog`] is filled in.
    const OWN_POINTERS: bool = false;
    /// [`Self::standing`] says what [`Self::pick`] would, while data and window are ample.
    const STANDS: bool = false;

    /// It gives subflows more than their windows let out, so that reinjections have to take their turn: before all that is
    /// new, to whom the rule says.
    const REINJECTS_IN_TURN: bool = false;

    /// As the configuration says.
    fn of(config: &Config) -> Self;

    /// The next step. The state assumes that the connection obeys: it hands over exactly `octets`.
    fn pick(&mut self, now: Instant, subflows: &[SubflowView], queue: &QueueView) -> Decision;

    /// As [`Self::pick`], when nothing new may be sent for `reason`.
    fn pick_blocked(
        &mut self,
        _now: Instant,
        _subflows: &[SubflowView],
        _queue: &QueueView,
        reason: &'static str,
    ) -> Decision {
        Decision::wait(reason)
    }

    /// With [`Self::STANDS`]: the choice that stands.
    fn standing(&self, _subflows: &[SubflowView]) -> Standing {
        Standing::Nobody
    }

    /// Whether subflow `id` takes part in coupled congestion control.
    fn participates(&self, _id: SubflowId) -> bool {
        true
    }

    /// A place in the connection has another subflow.
    fn forget(&mut self, _place: SubflowId) {}
}

impl<R: SchedulingRule> SchedulingRule for Box<R> {
    const NEEDS: Needs = R::NEEDS;
    const OWN_POINTERS: bool = R::OWN_POINTERS;
    const STANDS: bool = R::STANDS;
    const REINJECTS_IN_TURN: bool = R::REINJECTS_IN_TURN;

    fn of(config: &Config) -> Self {
        Self::new(R::of(config))
    }

    fn pick(&mut self, now: Instant, subflows: &[SubflowView], queue: &QueueView) -> Decision {
        (**self).pick(now, subflows, queue)
    }

    fn pick_blocked(
        &mut self,
        now: Instant,
        subflows: &[SubflowView],
        queue: &QueueView,
        reason: &'static str,
    ) -> Decision {
        (**self).pick_blocked(now, subflows, queue, reason)
    }

    fn standing(&self, subflows: &[SubflowView]) -> Standing {
        (**self).standing(subflows)
    }

    fn participates(&self, id: SubflowId) -> bool {
        (**self).participates(id)
    }

    fn forget(&mut self, place: SubflowId) {
        (**self).forget(place);
    }
}

/// The candidates of one decision: usable subflows that are not backups, or the backups if there is no other
/// (RFC 8684 §3.3.8).
pub(super) fn candidates(subflows: &[SubflowView]) -> impl Iterator<Item = &SubflowView> + Clone {
    let backups = !subflows.iter().any(|s| s.usable && !s.backup);
    subflows.iter().filter(move |s| s.usable && s.backup == backups)
}
