//! Which subflow carries the next data: pure decisions on snapshots, dispatched statically.
//!
//! How a connection drives a scheduler, whenever data, windows or subflows have changed: it builds the views, calls
//! [`Scheduler::pick`] and follows the answer. Then it updates the queue and the view of the subflow that got data,
//! and asks again until the answer is [`Decision::Wait`].

mod blest;
mod ecf;
mod guard;
mod linux;
mod lowest_rtt;
mod redundant;
mod round_robin;
mod rule;
mod weighted;

#[cfg(test)]
mod tests;

pub(crate) use rule::{Decision, Needs, Standing};

use crate::config::{self, Config};
use crate::id::SubflowId;
use crate::view::{QueueView, SubflowView};
use ropewalk_units::Instant;
use rule::SchedulingRule;

macro_rules! scheduler_rules {
    ($($(#[$doc:meta])* $name:ident $({ $field:ident: $type:ty })? $(($constants:ty))? = $rule:ty;)*) => {
        /// A scheduler with its state.
        #[derive(Clone, PartialEq, Debug)]
        pub(crate) enum Scheduler {
            $($(#[$doc])* $name($rule),)*
        }

        impl Scheduler {
            /// The scheduler that `config` names.
            pub(crate) fn new(config: &Config) -> Self {
                match config.scheduler {
                    $(config::Scheduler::$name { .. } => Self::$name(<$rule>::of(config)),)*
                }
            }

            /// What it looks at.
            pub(crate) fn needs(&self) -> Needs {
                match self {
                    $(Self::$name(_) => <$rule>::NEEDS,)*
                }
            }

            /// Each subflow has its own pointer into the queue: `Send` means "the next octets from *its* pointer", and
            /// [`SubflowView::own_backlog`] must be filled in.
            pub(crate) fn own_pointers(&self) -> bool {
                match self {
                    $(Self::$name(_) => <$rule>::OWN_POINTERS,)*
                }
            }

            /// Do reinjections take their turn in this scheduler's order, before everything new?
            pub(crate) fn reinjects_in_turn(&self) -> bool {
                match self {
                    $(Self::$name(_) => <$rule>::REINJECTS_IN_TURN,)*
                }
            }

            /// The choice that stands as long as data and window are ample and the chosen subflow has room; `None`: this
            /// scheduler decides on each segment.
            pub(crate) fn standing(&self, subflows: &[SubflowView]) -> Option<Standing> {
                match self {
                    $(Self::$name(rule) => <$rule>::STANDS.then(|| rule.standing(subflows)),)*
                }
            }

            /// Whether subflow `id` takes part in coupled congestion control: one that the guard left out must not
            /// slow the others down. Put it (with "is established") into [`SubflowView::coupled`].
            pub(crate) fn participates(&self, id: SubflowId) -> bool {
                match self {
                    $(Self::$name(rule) => rule.participates(id),)*
                }
            }

            /// Another subflow has this place from now on: forgets what is known of the one before.
            pub(crate) fn forget(&mut self, place: SubflowId) {
                match self {
                    $(Self::$name(rule) => rule.forget(place),)*
                }
            }

            fn pick_free(&mut self, now: Instant, subflows: &[SubflowView], queue: &QueueView) -> Decision {
                match self {
                    $(Self::$name(rule) => rule.pick(now, subflows, queue),)*
                }
            }

            fn pick_blocked(
                &mut self,
                now: Instant,
                subflows: &[SubflowView],
                queue: &QueueView,
                reason: &'static str,
            ) -> Decision {
                match self {
                    $(Self::$name(rule) => rule.pick_blocked(now, subflows, queue, reason),)*
                }
            }
        }
    };
}

schedulers!(scheduler_rules);

impl Scheduler {
    /// The next step. The state assumes that the connection obeys: it hands over exactly `octets`.
    pub(crate) fn pick(&mut self, now: Instant, subflows: &[SubflowView], queue: &QueueView) -> Decision {
        // There the queue's new octets do not say what a subflow has left to carry.
        if self.own_pointers() {
            return self.pick_free(now, subflows, queue);
        }
        match blocked(subflows, queue) {
            Some(reason) => self.pick_blocked(now, subflows, queue, reason),
            None => self.pick_free(now, subflows, queue),
        }
    }
}

/// Why no scheduler may send anything new, if so.
fn blocked(subflows: &[SubflowView], queue: &QueueView) -> Option<&'static str> {
    if queue.unsent == 0 {
        return Some("nothing to send");
    }
    if queue.window_left == 0 {
        return Some("connection-level window full");
    }
    // RFC 9293 §3.8.6.2.1, at the connection level: the rest of a window that ends within a segment is left until
    // more opens. Otherwise small segments would circulate. No segment is longer than an IP packet.
    if queue.window_left >= u64::from(u16::MAX) {
        return None;
    }
    let segment = subflows.iter().filter(|s| s.usable).map(|s| u64::from(s.smss)).max().unwrap_or(0);
    if queue.window_left < segment.min(queue.unsent) && queue.in_flight > 0 {
        return Some("connection-level window leaves no whole segment");
    }
    None
}
