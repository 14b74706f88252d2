//! One gateway's end of a bond.

mod dispatch;
mod egress;
mod events;
mod feedback;
mod ingress;
mod repair;

#[cfg(test)]
mod tests;

pub use dispatch::Dispatch;
pub use egress::{Refusal, Refused};

use crate::clock::DelayReference;
use crate::config::{Config, ConfigError};
use crate::event::{Event, PathState, TimerKind};
use crate::id::{FlowSeq, GlobalSeq, PathId, PathSet};
use crate::incoming::Incoming;
use crate::outgoing::Outgoing;
use crate::replay::ReplayWindow;
use crate::resequencer::Resequencer;
use crate::scheduler::{AnyScheduler, Scheduler};
use crate::view::{PathView, ResequencerView};
use events::Events;
use feedback::Feedback;
use ingress::SoloRun;
use repair::Repairs;
use ropewalk_units::Instant;

/// One gateway's end of a bond: ingress of what it sends, egress of what it receives. `P` is the driver's handle of a
/// packet: octets, or a number in an arena.
///
/// A driver hands in what comes ([`Self::ingress`], [`Self::handle_data`], [`Self::handle_control`]), then polls
/// [`Self::poll_deliver`], [`Self::poll_transmit`], [`Self::poll_repair`] and [`Self::poll_event`] until they have nothing more, and calls
/// [`Self::handle_timeout`] at the time that [`Self::poll_timeout`] names. It sends each copy of a packet when its
/// [`Dispatch::departure`] says, those of one path in their order, and keeps those that [`Dispatch::kept_as`] names ([`crate::Keep`]).
pub struct Endpoint<P> {
    config: Config,
    /// The time of the last input.
    now: Instant,
    // Ingress.
    outgoing: Vec<Outgoing>,
    scheduler: AnyScheduler,
    usable: PathSet,
    /// Is every path down?
    is_dead: bool,
    next_global: GlobalSeq,
    run: SoloRun,
    flow_seqs: Vec<FlowSeq>,
    /// Of delays that the peer reports.
    reported_reference: DelayReference,
    // Egress.
    incoming: Vec<Incoming>,
    replay: ReplayWindow,
    resequencer: Resequencer<P>,
    /// Of delays measured here.
    measured_reference: DelayReference,
    // Both.
    feedback: Feedback,
    repairs: Repairs,
    events: Events,
}

impl<P> Endpoint<P> {
    /// A bond that begins at `now`.
    ///
    /// # Errors
    ///
    /// What is wrong with the configuration: the key, and what was expected.
    pub fn new(config: Config, now: Instant) -> Result<Self, ConfigError> {
        config.validate()?;
        let ids = || (0..config.paths.len()).map(|place| PathId(place as u8));
        let mut usable = PathSet::EMPTY;
        ids().for_each(|id| usable.insert(id));
        let own = config.resequencer;
        Ok(Self {
            outgoing: ids()
                .map(|id| Outgoing::new(id, now, AnyScheduler::paces(&config), config.repair))
                .collect(),
            scheduler: AnyScheduler::new(&config, now),
            usable,
            is_dead: false,
            next_global: GlobalSeq::new(0),
            run: SoloRun::default(),
            flow_seqs: vec![FlowSeq::new(0); own.flow_buckets as usize],
            reported_reference: DelayReference::default(),
            incoming: ids().map(|_| Incoming::new(own.path_reordering, now)).collect(),
            replay: ReplayWindow::new(),
            resequencer: Resequencer::new(own.max_packets, own.flow_buckets),
            measured_reference: DelayReference::default(),
            feedback: Feedback::new(&config, now),
            repairs: Repairs::new(),
            events: Events::default(),
            now,
            config,
        })
    }

    /// The next packet for the LAN side.
    #[inline]
    pub fn poll_deliver(&mut self, _now: Instant) -> Option<P> {
        self.resequencer.pop()
    }

    /// To be called when the time of [`Self::poll_timeout`] has come; harmless at other times.
    pub fn handle_timeout(&mut self, now: Instant) {
        self.now = now;
        self.check_paths(now);
        self.check_repairs(now);
        self.feedback.tick(now, &self.config, &mut self.incoming, &self.outgoing, self.usable);
        self.give_up_in_time(now);
        self.note_given_up();
    }

    /// When [`Self::handle_timeout`] is to be called next, and why.
    pub fn poll_timeout(&self) -> Option<(Instant, TimerKind)> {
        let mut first = self.feedback.deadline();
        let mut consider = |at: Instant, kind: TimerKind| {
            if at < first.0 {
                first = (at, kind);
            }
        };
        consider(self.resequencer.deadline(), TimerKind::Resequencing);
        for path in &self.outgoing {
            let deadline = path.liveness.deadline(&self.config.keepalive);
            consider(deadline.unwrap_or(Instant::MAX), TimerKind::PathState);
            consider(path.next_probes_at().unwrap_or(Instant::MAX), TimerKind::Probe);
        }
        Some(first)
    }

    /// The next event.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop()
    }

    /// One path, as of the last call that was told the time.
    ///
    /// # Panics
    ///
    /// If there is no such path.
    pub fn path(&self, id: PathId) -> PathView {
        let (outgoing, incoming) = (&self.outgoing[id.index()], &self.incoming[id.index()]);
        PathView {
            id,
            state: outgoing.liveness.state,
            sent_packets: outgoing.sent_packets,
            probes: u64::from(outgoing.probes),
            last_len: outgoing.last_len(),
            sent_bytes: outgoing.sent_bytes,
            received_packets: incoming.received_packets,
            received_bytes: incoming.received_bytes,
            lost_received: incoming.lost(),
            lost_reported: outgoing.lost_packets,
            lost_reported_bytes: outgoing.lost_bytes,
            repaired: outgoing.repaired,
            weight: self.scheduler.weight(outgoing),
            srtt: outgoing.liveness.srtt,
            queueing_delay: outgoing.queueing_delay(self.now),
            delivery_rate: outgoing.delivery_rate(),
        }
    }

    /// All paths, in their order.
    pub fn paths(&self) -> impl Iterator<Item = PathView> + '_ {
        self.outgoing.iter().map(move |path| self.path(path.id))
    }

    /// The resequencer.
    pub fn resequencer(&self) -> ResequencerView {
        let fastest = self.incoming.iter().filter_map(|path| path.recent.least()).min();
        self.resequencer.view(egress::patience(&self.config, &self.incoming, self.now, fastest.unwrap_or(0)))
    }

    /// Notices silence, and which paths may be used.
    fn check_paths(&mut self, now: Instant) {
        for place in 0..self.outgoing.len() {
            let was = self.outgoing[place].liveness.state;
            self.outgoing[place].liveness.check(now, &self.config.keepalive);
            self.note_state(now, place, was);
        }
    }

    /// A path may have changed its state.
    fn note_state(&mut self, now: Instant, place: usize, from: PathState) {
        let path = &mut self.outgoing[place];
        let to = path.liveness.state;
        if from == to {
            return;
        }
        path.set_state(now, from);
        self.events.push(Event::PathStateChanged { path: path.id, from, to });
        let was_alive = !self.is_dead;
        self.find_usable();
        if self.is_dead && was_alive {
            self.events.push(Event::NoPath);
        }
    }

    /// The paths that are up, else those suspected, else the one that showed a sign of life last: if any gets anything through, it
    /// is likely that one, and there is nothing to lose.
    fn find_usable(&mut self) {
        let in_state = |state: PathState| {
            let mut set = PathSet::EMPTY;
            let paths = self.outgoing.iter().filter(|path| path.liveness.state == state);
            paths.for_each(|path| set.insert(path.id));
            set
        };
        let up = in_state(PathState::Up);
        self.usable = if up.is_empty() { in_state(PathState::Suspected) } else { up };
        self.is_dead = self.usable.is_empty();
        if self.is_dead {
            let last = self.outgoing.iter().rev().max_by_key(|path| path.liveness.heard_at);
            self.usable = last.map_or(PathSet::EMPTY, |path| PathSet::one(path.id));
        }
    }

    fn note_given_up(&mut self) {
        let packets = self.resequencer.take_given_up();
        if packets > 0 {
            self.events.push(Event::GaveUp { packets });
        }
    }
}
