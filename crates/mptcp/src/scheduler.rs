//! Which subflow carries the next data: pure decisions on snapshots, dispatched statically.
//!
//! How a connection drives a scheduler, whenever data, windows or subflows have changed: it builds the views, calls
//! [`Scheduler::pick`] and follows the answer. Then it updates the queue and the view of the subflow that got data,
//! and asks again until the answer is [`Decision::Wait`].

mod blest;
mod ecf;
mod guard;
mod linux;
pub(crate) mod lowest_rtt;
mod redundant;
mod round_robin;
mod weighted;

#[cfg(test)]
mod tests;

use crate::config;
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
    /// Nothing now.
    Wait {
        /// For the trace.
        reason: &'static str,
        /// Ask again then, if nothing happens before.
        until: Option<Instant>,
    },
}

impl Decision {
    /// Wait until something changes.
    pub(crate) const fn wait(reason: &'static str) -> Self {
        Self::Wait { reason, until: None }
    }

    /// One segment on `subflow`, or what is left.
    #[inline]
    pub(crate) fn segment(subflow: &SubflowView, queue: &QueueView, reason: &'static str) -> Self {
        let octets = u64::from(subflow.smss).min(queue.unsent).min(queue.window_left).min(subflow.send_space);
        Self::Send { subflow: subflow.id, octets, reason }
    }
}

/// A scheduler with its state.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Scheduler {
    /// Cycle.
    RoundRobin(round_robin::RoundRobin),
    /// Lowest SRTT first.
    LowestRtt(lowest_rtt::LowestRtt),
    /// Upstream Linux.
    Linux(linux::Linux),
    /// Cycle with weights.
    Weighted(weighted::Weighted),
    /// All on each.
    Redundant(redundant::Redundant),
    /// BLEST.
    Blest(blest::Blest),
    /// ECF.
    Ecf(ecf::Ecf),
    /// Goodput guard.
    Guard(Box<guard::Guard>),
}

impl Scheduler {
    /// The scheduler that `config` names.
    pub(crate) fn new(config: &config::Config) -> Self {
        match &config.scheduler {
            config::Scheduler::RoundRobin => Self::RoundRobin(round_robin::RoundRobin::default()),
            config::Scheduler::LowestRtt => Self::LowestRtt(lowest_rtt::LowestRtt),
            config::Scheduler::Linux => Self::Linux(linux::Linux::default()),
            config::Scheduler::WeightedRoundRobin { weights } => {
                Self::Weighted(weighted::Weighted::new(weights.clone()))
            }
            config::Scheduler::Redundant => Self::Redundant(redundant::Redundant),
            config::Scheduler::Blest => Self::Blest(blest::Blest::default()),
            config::Scheduler::Ecf => Self::Ecf(ecf::Ecf::default()),
            config::Scheduler::GoodputGuard(guard) => Self::Guard(Box::new(guard::Guard::new(
                *guard,
                config.coupling,
                segments_per_ack(&config.tcp),
            ))),
        }
    }

    /// The next step. The state assumes that the connection obeys: it hands over exactly `octets`.
    #[inline]
    pub(crate) fn pick(&mut self, now: Instant, subflows: &[SubflowView], queue: &QueueView) -> Decision {
        if let Self::Redundant(redundant) = self {
            return redundant.pick(subflows);
        }
        if let Some(reason) = blocked(subflows, queue) {
            return match self {
                Self::Guard(guard) => guard.pick_blocked(now, subflows, queue, reason),
                _ => Decision::wait(reason),
            };
        }
        match self {
            Self::RoundRobin(scheduler) => scheduler.pick(subflows, queue),
            Self::LowestRtt(scheduler) => scheduler.pick(subflows, queue),
            Self::Linux(scheduler) => scheduler.pick(subflows, queue),
            Self::Weighted(scheduler) => scheduler.pick(subflows, queue),
            Self::Redundant(scheduler) => scheduler.pick(subflows),
            Self::Blest(scheduler) => scheduler.pick(now, subflows, queue),
            Self::Ecf(scheduler) => scheduler.pick(subflows, queue),
            Self::Guard(scheduler) => scheduler.pick(now, subflows, queue),
        }
    }

    /// Whether subflow `id` takes part in coupled congestion control: one that the guard left out must not
    /// slow the others down. Put it (with "is established") into [`SubflowView::coupled`].
    #[inline]
    pub(crate) fn participates(&self, id: SubflowId) -> bool {
        match self {
            Self::Guard(guard) => guard.participates(id),
            _ => true,
        }
    }

    /// A place in the connection has another subflow: what is remembered of the one before is not that one's.
    #[cold]
    pub(crate) fn forget(&mut self, place: SubflowId) {
        match self {
            Self::Linux(scheduler) => scheduler.forget(place),
            Self::Blest(scheduler) => scheduler.forget(place),
            Self::Guard(scheduler) => scheduler.forget(place),
            _ => {}
        }
    }

    /// Each subflow has its own pointer into the queue: `Send` means "the next octets from *its* pointer", and
    /// [`SubflowView::own_backlog`] must be filled in.
    #[inline]
    pub(crate) fn own_pointers(&self) -> bool {
        matches!(self, Self::Redundant(_))
    }
}

/// How many segments each ACK stands for that lets a window grow. The peer is taken to delay its ACKs as this end
/// does: nothing on the wire says so.
fn segments_per_ack(tcp: &ropewalk_tcp::Config) -> u32 {
    use ropewalk_tcp::CongestionControl::{Bbr, Coupled, Cubic, Dctcp, NewReno};
    match tcp.congestion_control {
        Bbr | Dctcp | Cubic { .. } | NewReno { byte_counting: true } | Coupled { byte_counting: true } => 1,
        NewReno { .. } | Coupled { .. } => tcp.delayed_ack.segments,
    }
}

/// Why no scheduler may send anything new, if so.
#[inline]
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

/// The candidates of one decision: usable subflows that are not backups, or the backups if there is no other
/// (RFC 8684 §3.3.8).
#[inline]
pub(crate) fn candidates(subflows: &[SubflowView]) -> impl Iterator<Item = &SubflowView> + Clone {
    let backups = !subflows.iter().any(|s| s.usable && !s.backup);
    subflows.iter().filter(move |s| s.usable && s.backup == backups)
}
