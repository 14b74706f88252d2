//! One gateway's end of a bond.

mod change;
mod egress;
mod events;
mod feedback;
mod ingress;
mod repair;

#[cfg(test)]
mod tests;

pub use egress::Refusal;

use crate::clock::{Reading, SteadyClock};
use crate::config::{Config, ConfigError};
use crate::demand::Demands;
use crate::event::{Event, PathState, TimerKind};
use crate::id::{FlowSeq, GlobalSeq, PathId, PathSet};
use crate::path::{AnyController, Path, Quota};
use crate::queue::{Backlog, Payload};
use crate::receive::incoming::Incoming;
use crate::receive::replay::ReplayWindow;
use crate::receive::resequencer::Resequencer;
use crate::scheduler::{AnyScheduler, Reason, Scheduler};
use crate::view::{PathView, ResequencerView};
use crate::ways::Ways;
use crate::wire::control::Control;
use crate::wire::header::DataHeader;
use events::Events;
use feedback::{Feedback, Outgoing};
use ingress::SoloRun;
use repair::{Due, Repairs};
use ropewalk_units::{Instant, Rate};

/// What goes over a path.
#[derive(Clone, PartialEq, Eq, Debug)]
#[expect(clippy::large_enum_variant, reason = "most are data; control packets are rare")]
pub enum Datagram<P> {
    /// A data packet with its header.
    Data(DataHeader, P),
    /// A control packet between the gateways.
    Control(Control),
}

/// One gateway's end of a bond. `P` is the packet: its octets, or what stands for them.
///
/// A driver hands in what comes ([`Self::handle_packet`], [`Self::handle_datagram`]), and calls
/// [`Self::handle_timeout`] at the time that [`Self::poll_timeout`] names. After each call it polls
/// [`Self::poll_deliver`], [`Self::poll_transmit`] and [`Self::poll_event`] until they return
/// `None`.
pub struct Endpoint<P> {
    config: Config,
    clock: SteadyClock,
    /// The time of the last call, by `clock`. All times inside the endpoint are by this clock.
    now: Instant,
    // Ingress.
    paths: Vec<Path<P>>,
    backlog: Backlog<P>,
    /// Copies of the packet that was numbered last, still to be sent; the next one is at the end.
    copies: Vec<(PathId, Datagram<P>)>,
    /// Octets of the packet that was bound last: the next one is likely as long.
    last_len: u32,
    /// Why that packet took its path.
    last_reason: Reason,
    scheduler: AnyScheduler,
    /// What flows ask for. `None`: no path has a controller, so that rates are not known.
    demands: Option<Demands>,
    usable: PathSet,
    /// Is no path up or suspected, of those with quota left?
    is_dead: bool,
    next_global: GlobalSeq,
    run: SoloRun,
    flow_seqs: Vec<FlowSeq>,
    // Egress.
    incoming: Vec<Incoming>,
    replay: ReplayWindow,
    resequencer: Resequencer<P>,
    ways: Ways,
    // Both.
    feedback: Feedback,
    repairs: Repairs,
    events: Events,
}

fn new_path<P>(config: &Config, id: PathId, now: Instant) -> Path<P> {
    let quota = Quota::new(&config.paths[id.index()], now);
    let controller = if AnyScheduler::is_controlled(config) {
        AnyController::copa(id.index() as u64 + 1, &config.tuning.copa, now)
    } else {
        AnyController::transparent()
    };
    Path::new(id, now, controller, quota, &config.tuning)
}

impl<P: Payload> Endpoint<P> {
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
        let mut endpoint = Self {
            paths: ids().map(|id| new_path(&config, id, now)).collect(),
            backlog: Backlog::new(config.tuning.bond.codel_target),
            copies: Vec::with_capacity(config.paths.len()),
            last_len: 0,
            last_reason: Reason::Wait,
            scheduler: AnyScheduler::new(&config, now),
            demands: AnyScheduler::is_controlled(&config).then(|| Demands::new(&config.tuning, now)),
            usable,
            is_dead: false,
            next_global: GlobalSeq::new(0),
            run: SoloRun::default(),
            flow_seqs: vec![FlowSeq::new(0); own.flow_buckets as usize],
            incoming: ids().map(|_| Incoming::new(&own, &config.tuning, now)).collect(),
            replay: ReplayWindow::new(),
            resequencer: Resequencer::new(own.max_packets, own.flow_buckets),
            ways: Ways::new(config.paths.len(), &config.tuning.bond, now),
            feedback: Feedback::new(&config, now),
            repairs: Repairs::default(),
            events: Events::default(),
            clock: SteadyClock::new(now, config.report_interval),
            now,
            config,
        };
        (0..endpoint.paths.len()).for_each(|place| endpoint.begin_train(PathId(place as u8)));
        Ok(endpoint)
    }

    /// Takes a datagram that came by a path. `now` must not be before it came: a driver reads its
    /// clock after it has received. Too late a time makes no path look shorter than it is.
    ///
    /// # Errors
    ///
    /// Why a packet was not taken. Control packets that are of no use are ignored.
    #[inline]
    pub fn handle_datagram(
        &mut self,
        now: Instant,
        path: PathId,
        datagram: Datagram<P>,
    ) -> Result<(), Refusal> {
        let now = self.tell(now);
        self.spend(path, &datagram);
        match datagram {
            Datagram::Data(header, packet) => self.handle_data(now, path, &header, packet),
            Datagram::Control(control) => {
                self.handle_control(now, path, &control);
                Ok(())
            }
        }
    }

    /// The next datagram to send, and its path. Control packets come first, then repairs, then
    /// data.
    #[inline]
    pub fn poll_transmit(&mut self, now: Instant) -> Option<(PathId, Datagram<P>)> {
        let now = self.tell(now);
        // A timer may be late, so any call does what is due.
        if self.feedback.deadline().0.min(self.resequencer.deadline()) <= now {
            self.on_time(now);
        }
        loop {
            let (path, datagram) = self.next_datagram(now)?;
            // A control packet or a copy is dropped if its path's quota is spent.
            if !self.paths[path.index()].quota.is_spent() {
                self.spend(path, &datagram);
                return Some((path, datagram));
            }
        }
    }

    #[inline]
    fn next_datagram(&mut self, now: Instant) -> Option<(PathId, Datagram<P>)> {
        if let Some((path, control)) = self.next_control(now) {
            return Some((path, Datagram::Control(control)));
        }
        self.next_repair(now).or_else(|| self.next_data(now))
    }

    /// Counts a datagram that goes over a path, or came by it, against the path's quota.
    #[inline]
    fn spend(&mut self, path: PathId, datagram: &Datagram<P>) {
        let octets = match datagram {
            Datagram::Data(_, packet) => packet.wire_len() + self.config.overhead,
            Datagram::Control(control) => control.wire_len() + feedback::OUTER,
        };
        self.note_octets(path, octets);
    }

    /// Counts octets that are not the bond's own against a path's quota: the driver's probes of a
    /// path's MTU, for example. They went over the path, or came by it. Headers are included.
    pub fn note_octets(&mut self, path: PathId, octets: u32) {
        let Some(own) = self.paths.get_mut(path.index()) else { return };
        let was_spent = own.quota.is_spent();
        own.quota.note(octets);
        if own.quota.is_spent() && !was_spent {
            self.find_usable();
        }
    }

    /// Octets that went over a path in the current period of its quota, in both directions, headers
    /// included.
    ///
    /// # Panics
    ///
    /// If there is no such path.
    pub fn quota_spent(&self, id: PathId) -> u64 {
        self.paths[id.index()].quota.spent()
    }

    /// A path's quota with what was spent of it, for a bond that follows this one.
    ///
    /// # Panics
    ///
    /// If there is no such path.
    pub fn quota(&self, id: PathId) -> Quota {
        self.paths[id.index()].quota
    }

    /// Continues a path's quota from that of an earlier bond.
    ///
    /// # Panics
    ///
    /// If there is no such path.
    pub fn resume_quota(&mut self, id: PathId, before: &Quota) {
        self.paths[id.index()].quota.resume(before);
        self.find_usable();
    }

    /// The next packet for the LAN side.
    #[inline]
    pub fn poll_deliver(&mut self, _now: Instant) -> Option<P> {
        self.resequencer.pop()
    }

    /// Does what is due. To be called at the time of [`Self::poll_timeout`]; harmless at other
    /// times.
    pub fn handle_timeout(&mut self, now: Instant) {
        let now = self.tell(now);
        self.on_time(now);
    }

    fn on_time(&mut self, now: Instant) {
        self.renew_quotas(now);
        self.check_paths(now);
        self.check_repairs(now);
        self.let_rest(now);
        let outgoing = Outgoing { paths: &self.paths, usable: self.usable, way: self.way_of_reports(now) };
        self.feedback.tick(now, &self.config, &mut self.incoming, outgoing);
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
        for path in &self.paths {
            let deadline = path.liveness.deadline(&path.keepalive(&self.config.keepalive));
            consider(deadline.unwrap_or(Instant::MAX), TimerKind::PathState);
        }
        consider(self.paced_until().unwrap_or(Instant::MAX), TimerKind::Pacing);
        Some((self.clock.drivers(first.0), first.1))
    }

    /// Takes the driver's time, and returns the endpoint's own.
    #[inline]
    fn tell(&mut self, now: Instant) -> Instant {
        self.now = match self.clock.read(now) {
            Reading::Steady(now) => now,
            Reading::Jumped(now) => {
                self.paths.iter_mut().for_each(|path| path.on_gap(now));
                self.on_gap(now);
                self.feedback.tell_of_gap(now);
                now
            }
        };
        self.now
    }

    /// This clock, or the peer's, has stood still.
    fn on_gap(&mut self, now: Instant) {
        let round_trips = self.paths.iter().filter_map(|path| path.liveness.srtt());
        let longest = round_trips.max().unwrap_or_default();
        self.incoming.iter_mut().for_each(|path| path.on_gap(now, longest));
        self.ways.on_gap(now, longest);
    }

    /// Why the packet that was bound last took its path. [`Self::poll_transmit`] has just returned
    /// this packet, if it returned a first transmission.
    pub fn last_reason(&self) -> Reason {
        self.last_reason
    }

    /// The next event.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop()
    }

    /// Whether a path is up.
    ///
    /// # Panics
    /// If there is no such path.
    pub fn state(&self, id: PathId) -> PathState {
        self.paths[id.index()].liveness.state
    }

    /// One path, as of the last call with a time.
    ///
    /// # Panics
    ///
    /// If there is no such path.
    pub fn path(&self, id: PathId) -> PathView {
        let (path, incoming) = (&self.paths[id.index()], &self.incoming[id.index()]);
        PathView {
            id,
            state: self.state(id),
            sent_packets: path.sent_packets,
            last_len: path.last_len,
            sent_bytes: path.sent_bytes,
            received_packets: incoming.received_packets,
            received_bytes: incoming.received_bytes,
            lost_received: incoming.lost(),
            lost_reported: path.lost_packets,
            lost_reported_bytes: path.lost_bytes,
            repaired: path.repaired,
            weight: self.scheduler.weight(&path.view(self.now, 0)),
            srtt: path.liveness.srtt(),
            queueing_delay: path.queueing_delay(self.now),
            delivery_rate: Rate::from_bits_per_sec((path.rate() * 8.0) as u64),
            inflight_bound: path.inflight_bound(),
        }
    }

    /// All paths, in their order.
    pub fn paths(&self) -> impl Iterator<Item = PathView> + '_ {
        self.paths.iter().map(move |path| self.path(path.id))
    }

    /// Packets that were dropped while they waited for a path.
    pub fn dropped(&self) -> u64 {
        self.backlog.dropped()
    }

    /// Acknowledgements of TCP that did not leave, since later ones told all that they told before a path could take them.
    pub fn superseded(&self) -> u64 {
        self.backlog.superseded()
    }

    /// The resequencer.
    pub fn resequencer(&self) -> ResequencerView {
        let fastest = self.incoming.iter().filter_map(|path| path.recent.least()).min();
        self.resequencer.view(egress::patience(&self.config, &self.incoming, self.now, fastest.unwrap_or(0)))
    }

    fn renew_quotas(&mut self, now: Instant) {
        for place in 0..self.paths.len() {
            let quota = &mut self.paths[place].quota;
            let was_spent = quota.is_spent();
            quota.renew(now);
            if was_spent && !quota.is_spent() {
                self.find_usable();
            }
        }
    }

    /// Updates the state of each path.
    fn check_paths(&mut self, now: Instant) {
        for place in 0..self.paths.len() {
            let path = &mut self.paths[place];
            let (was, keepalive) = (path.liveness.state, path.keepalive(&self.config.keepalive));
            path.liveness.check(now, &keepalive);
            self.note_state(place, was);
        }
    }

    /// Lets unused paths rest where the scheduler allows it, and wakes the others.
    fn let_rest(&mut self, now: Instant) {
        let may_rest = self.scheduler.may_rest(self.usable);
        for place in 0..self.paths.len() {
            let id = PathId(place as u8);
            if may_rest.contains(id) {
                self.paths[place].rest_if_idle(now);
            } else {
                self.paths[place].wake(now);
            }
        }
    }

    /// Does what follows from a change of a path's state; nothing if it has not changed.
    fn note_state(&mut self, place: usize, from: PathState) {
        let path = &mut self.paths[place];
        let (id, to) = (path.id, path.liveness.state);
        if from == to {
            return;
        }
        self.events.push(Event::PathStateChanged { path: id, from, to });
        let was_alive = !self.is_dead;
        self.find_usable();
        if self.is_dead && was_alive {
            self.events.push(Event::NoPath);
        }
        if to != PathState::Up {
            self.send_again(place, to);
        }
        if from == PathState::Down || to == PathState::Down {
            self.paths[place].begin_anew(self.now);
        }
        if from == PathState::Down {
            self.begin_train(id);
        }
    }

    /// Packets in doubt on a suspected path are sent again by another path.
    fn send_again(&mut self, place: usize, state: PathState) {
        let id = self.paths[place].id;
        if self.config.repair && state == PathState::Suspected && !self.usable.contains(id) {
            let room = repair::MOST - self.repairs.len();
            let due = |seq| Due { path: id, seq, is_in_doubt: true };
            self.repairs.extend(self.paths[place].in_doubt().map(due).take(room));
        }
    }

    /// Finds the usable paths, of those with quota left. These are the paths that are up, else
    /// those suspected, else the path that showed a sign of life last, which is the most likely to
    /// work.
    fn find_usable(&mut self) {
        let in_state = |state: PathState| {
            let mut set = PathSet::EMPTY;
            let may_carry = |path: &&Path<P>| path.liveness.state == state && !path.quota.is_spent();
            let paths = self.paths.iter().filter(may_carry);
            paths.for_each(|path| set.insert(path.id));
            set
        };
        let up = in_state(PathState::Up);
        self.usable = if up.is_empty() { in_state(PathState::Suspected) } else { up };
        self.is_dead = self.usable.is_empty();
        if self.is_dead {
            let may_carry = self.paths.iter().rev().filter(|path| !path.quota.is_spent());
            let last = may_carry.max_by_key(|path| path.liveness.heard_at);
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
