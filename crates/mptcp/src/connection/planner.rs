//! Which subflow carries what, and how fast windows grow: the scheduler, the coupling, and the snapshots that both
//! decide from. Only this part renews snapshots, and it knows which are out of date.

use super::sending::Sending;
use super::subflows::Subflows;
use super::views::{Sources, Views};
use crate::config::{Config, ReinjectAfterTimeout};
use crate::coupling::{Control, CoupledControl, Decrease, WindowUpdate};
use crate::id::SubflowId;
use crate::memory::Memory;
use crate::scheduler::{Decision, Needs, Scheduler, Standing};
use crate::send_queue::Slots;
use crate::upkeep::Due;
use crate::view::{QueueView, SubflowView};
use ropewalk_units::Instant;

/// Decisions, and what they are made from.
#[derive(Clone, Debug)]
pub(super) struct Planner {
    scheduler: Scheduler,
    coupled: CoupledControl,
    views: Views,
    /// What is left to be done.
    pub(super) due: Due,
    /// Timeouts in a row after which a subflow is not usable.
    stale_loss_cnt: u32,
    memory: Memory,
}

impl Planner {
    pub(super) fn new(config: &Config) -> Self {
        Self {
            scheduler: Scheduler::new(config),
            coupled: CoupledControl::new(config.coupling, Decrease::of(&config.tcp)),
            views: Views::default(),
            due: Due::FIRST,
            // Where idle subflows reinject, a missing DATA_ACK shows a dead subflow, and not its timeouts. 0: nothing does.
            stale_loss_cnt: match config.reinject_after_timeout {
                ReinjectAfterTimeout::Head | ReinjectAfterTimeout::All if config.stale_loss_cnt > 0 => {
                    config.stale_loss_cnt
                }
                _ => u32::MAX,
            },
            memory: Memory::new(config),
        }
    }

    /// What the TCP of every subflow runs.
    pub(super) fn control(&self) -> Control {
        self.coupled.control()
    }

    /// Does the coupling set the subflows' increases and decreases?
    pub(super) fn is_coupled(&self) -> bool {
        self.coupled.is_coupled()
    }

    /// Does each subflow have its own pointer into the queue?
    pub(super) fn own_pointers(&self) -> bool {
        self.scheduler.own_pointers()
    }

    /// Do reinjections take their turn in the scheduler's order, before everything new?
    pub(super) fn reinjects_in_turn(&self) -> bool {
        self.scheduler.reinjects_in_turn()
    }

    /// The snapshots by place, as the last renewal left them.
    pub(super) fn views(&self) -> &[SubflowView] {
        &self.views
    }

    /// Renews all snapshots.
    pub(super) fn renew(&mut self, subflows: &mut Subflows) {
        let (views, mut sources) = self.sources(subflows);
        views.refresh(&mut sources);
    }

    /// Renews one subflow's snapshot.
    pub(super) fn renew_one(&mut self, subflows: &mut Subflows, at: usize) {
        let (views, mut sources) = self.sources(subflows);
        views.refresh_one(at, &mut sources);
    }

    /// Renews what the scheduler looks at.
    pub(super) fn renew_for_scheduler(&mut self, subflows: &mut Subflows) {
        let rooms = self.scheduler.needs() == Needs::Rooms;
        let (views, mut sources) = self.sources(subflows);
        if rooms { views.refresh_rooms(&mut sources) } else { views.refresh(&mut sources) }
    }

    /// Tells a subflow's TCP its increase and decrease, from the windows as they are before an ACK or timeout.
    #[inline(always)]
    pub(super) fn set_coupling(&mut self, subflows: &mut Subflows, at: usize) {
        let (views, mut sources) = self.sources(subflows);
        views.refresh_windows(&mut sources);
        let coupling = self.coupled.coupling(&self.views, at);
        subflows[at].tcp.set_coupling(coupling);
    }

    /// An ACK or a timeout was handled: `acked_before` octets had been acknowledged before.
    #[inline(always)]
    pub(super) fn after_ack(&mut self, subflows: &mut Subflows, at: usize, acked_before: u64) {
        let subflow = &subflows[at];
        let stats = subflow.tcp.stats();
        let acked = (stats.bytes_acked - acked_before) as u32;
        let losses = stats.fast_recoveries + stats.timeouts;
        let lost = losses != subflow.loss_events;
        if acked == 0 && !lost {
            return;
        }
        if lost {
            subflows[at].loss_events = losses;
        }
        if let Some(update) = self.on_acked(subflows, at, acked, lost) {
            subflows[at].tcp.set_cwnd(update.cwnd, update.ssthresh);
            subflows[at].upkeep.on_numbers();
        }
    }

    /// A subflow has had `acked` octets acknowledged, and perhaps has `lost` some: what the coupling makes of it.
    #[inline(always)]
    fn on_acked(
        &mut self,
        subflows: &mut Subflows,
        at: usize,
        acked: u32,
        lost: bool,
    ) -> Option<WindowUpdate> {
        if lost || self.coupled.looks_after_ack() {
            self.renew(subflows);
        }
        if lost {
            self.coupled.on_loss(&self.views, at);
        }
        if acked > 0 { self.coupled.on_acked(&self.views, at, acked) } else { None }
    }

    /// The choice that stands as long as data and window are ample; `None`: each segment is decided.
    pub(super) fn standing(&self) -> Option<Standing> {
        self.scheduler.standing(&self.views)
    }

    /// The scheduler's next step.
    pub(super) fn pick(&mut self, now: Instant, queue: &QueueView) -> Decision {
        self.scheduler.pick(now, &self.views, queue)
    }

    /// The same, as if these subflows could carry nothing.
    pub(super) fn pick_without(&mut self, now: Instant, queue: &QueueView, places: Slots) -> Decision {
        let hidden = self.views.hide(places);
        let decision = self.pick(now, queue);
        self.views.show(hidden);
        decision
    }

    /// A subflow was given octets to carry.
    pub(super) fn on_given(&mut self, at: usize, octets: u32) {
        self.views.on_given(at, octets);
    }

    /// Redundant scheduling: how much each subflow has left to carry.
    pub(super) fn renew_backlogs(&mut self, subflows: &mut Subflows, sending: &Sending) {
        let una = sending.queue.una();
        let end = sending.queue.written().min(sending.queue.next() + sending.window_left());
        subflows.for_each_live(|subflow| {
            subflow.pointer = subflow.pointer.max(una);
            self.views.set_own_backlog(usize::from(subflow.place), end.saturating_sub(subflow.pointer));
        });
    }

    /// The shortest of the subflows' whole segments.
    pub(super) fn least_segment(&self) -> u32 {
        self.views.iter().map(|view| view.smss).min().unwrap_or(0)
    }

    /// Another subflow has this place from now on.
    pub(super) fn on_occupied(&mut self, subflows: &mut Subflows, at: usize) {
        self.scheduler.forget(SubflowId(at as u32));
        self.coupled.forget(at);
        self.renew_one(subflows, at);
    }

    /// The snapshots, and what they are made from.
    fn sources<'a>(&'a mut self, subflows: &'a mut Subflows) -> (&'a mut Views, Sources<'a>) {
        let sources = Sources {
            live: &subflows.live,
            subflows: &mut subflows.all,
            scheduler: &self.scheduler,
            stale_loss_cnt: self.stale_loss_cnt,
            memory: &self.memory,
        };
        (&mut self.views, sources)
    }
}
