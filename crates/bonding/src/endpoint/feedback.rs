//! Reports and keepalives: what the two ends tell each other.

use super::Endpoint;
use crate::clock::micros;
use crate::config::Config;
use crate::event::{Event, PathState, TimerKind};
use crate::id::{MAX_PATHS, PathId, PathSet};
use crate::path::{Path, WayBack};
use crate::queue::Payload;
use crate::receive::incoming::Incoming;
use crate::scheduler::{AnyScheduler, Progress, Scheduler};
use crate::wire::control::{Control, Keepalive, KeepaliveReply, Missing, PathReport, Report, TrainPacket};
use ropewalk_congestion::INITIAL_WINDOW;
use ropewalk_units::{Duration, Instant};

/// Octets of UDP's and IPv4's headers.
pub(super) const OUTER: u32 = 28;

/// The paths that reports and keepalives may take.
pub(super) struct Outgoing<'a, C> {
    pub(super) paths: &'a [Path<C>],
    /// Those that carry data.
    pub(super) usable: PathSet,
    /// The one that reports take.
    pub(super) way: Option<PathId>,
}

/// The control packets to send, and the times of the next ones.
pub(super) struct Feedback {
    report_at: Instant,
    reported_at: Instant,
    keepalive_at: Instant,
    report: Option<Report>,
    reports_sent: u32,
    keepalives_sent: u32,
    report_on: PathSet,
    keepalive_on: PathSet,
    replies: [Option<KeepaliveReply>; MAX_PATHS],
    reply_on: PathSet,
    is_controlled: bool,
    /// Time between reports while data come.
    soon: Duration,
    /// Data have come since the last report.
    has_data: bool,
    /// The path that the last report went by which went by one alone.
    way: Option<PathId>,
    missing: [Option<Missing>; MAX_PATHS],
    missing_on: PathSet,
    last_heard: Option<u32>,
    /// How often this end's clock has stood still, and the peer's, as its reports tell.
    gaps: u8,
    peers_gaps: u8,
    /// Train packets that are still to be sent, by path.
    trains: [u32; MAX_PATHS],
}

impl Feedback {
    pub(super) fn new(config: &Config, now: Instant) -> Self {
        Self {
            report_at: now.saturating_add(config.report_interval),
            reported_at: now,
            keepalive_at: now,
            report: None,
            reports_sent: 0,
            keepalives_sent: 0,
            report_on: PathSet::EMPTY,
            keepalive_on: PathSet::EMPTY,
            replies: [None; MAX_PATHS],
            reply_on: PathSet::EMPTY,
            is_controlled: AnyScheduler::is_controlled(config),
            soon: config.tuning.copa.report_interval,
            trains: [0; MAX_PATHS],
            has_data: false,
            way: None,
            missing: [None; MAX_PATHS],
            missing_on: PathSet::EMPTY,
            last_heard: None,
            gaps: 0,
            peers_gaps: 0,
        }
    }

    /// The path that reports take.
    pub(super) const fn way(&self) -> Option<PathId> {
        self.way
    }

    pub(super) fn deadline(&self) -> (Instant, TimerKind) {
        let report_at = self.report_at.min(self.soon_at());
        if report_at <= self.keepalive_at {
            (report_at, TimerKind::Report)
        } else {
            (self.keepalive_at, TimerKind::Keepalive)
        }
    }

    /// Prepares the reports and keepalives that are due.
    pub(super) fn tick<C>(
        &mut self,
        now: Instant,
        config: &Config,
        incoming: &mut [Incoming],
        Outgoing { paths, usable, way }: Outgoing<'_, C>,
    ) {
        if self.soon_at() <= now && now < self.report_at {
            self.reported_at = now;
            self.make_report(now, config, incoming);
            self.way = way;
            self.report_on = way.map_or(PathSet::EMPTY, PathSet::one);
        }
        if now >= self.report_at {
            self.report_at = next(self.report_at, config.report_interval, now);
            self.step_aside(config.tuning.bond.report_apart);
            self.reported_at = now;
            self.make_report(now, config, incoming);
            let is_told = |path: &&Path<_>| {
                (path.liveness.state != PathState::Down || usable.contains(path.id)) && !path.is_resting()
            };
            paths.iter().filter(is_told).for_each(|path| self.report_on.insert(path.id));
        }
        if now >= self.keepalive_at {
            self.keepalive_at = next(self.keepalive_at, config.keepalive.interval, now);
            self.keepalives_sent = self.keepalives_sent.wrapping_add(1);
            let usual = config.keepalive.interval;
            let is_due = |path: &&Path<_>| {
                let ticks = path.keepalive(&config.keepalive).interval.as_nanos() / usual.as_nanos();
                self.keepalives_sent.is_multiple_of(ticks as u32)
            };
            paths.iter().filter(is_due).for_each(|path| self.keepalive_on.insert(path.id));
        }
    }

    /// Keeps reports and keepalives `apart` from each other.
    fn step_aside(&mut self, apart: Duration) {
        let (first, second) = (self.report_at.min(self.keepalive_at), self.report_at.max(self.keepalive_at));
        if second.saturating_since(first) < apart {
            self.report_at = self.keepalive_at.saturating_add(apart);
        }
    }

    /// Asks for missing packets. It replaces a request for the same path that was not sent in time.
    pub(super) fn ask(&mut self, missing: Missing) {
        self.missing_on.insert(missing.path);
        self.missing[missing.path.index()] = Some(missing);
    }

    /// A train is to measure the rate of a path, if paths are controlled. Returns the number of the
    /// last keepalive that may leave before it: one that is due at this moment.
    fn begin_train(&mut self, path: PathId) -> Option<u32> {
        self.is_controlled.then(|| {
            self.trains[path.index()] = INITIAL_WINDOW;
            self.keepalives_sent.wrapping_add(1)
        })
    }

    /// Data came, so a report is due soon if paths are controlled.
    #[inline]
    pub(super) fn note_data(&mut self) {
        self.has_data = self.is_controlled;
    }

    /// When the next report is due because data came.
    fn soon_at(&self) -> Instant {
        if self.has_data { self.reported_at.saturating_add(self.soon) } else { Instant::MAX }
    }

    fn make_report(&mut self, now: Instant, config: &Config, incoming: &mut [Incoming]) {
        self.has_data = false;
        let mut entries = [PathReport::default(); MAX_PATHS];
        for (entry, path) in entries.iter_mut().zip(incoming.iter_mut()) {
            *entry = path.report(now, config.loss_timeout);
        }
        let mut report = Report::new(self.reports_sent, micros(now), &entries[..incoming.len()]);
        report.gaps = self.gaps;
        self.report = Some(report);
        self.reports_sent = self.reports_sent.wrapping_add(1);
    }

    /// This end's clock has stood still: the peer is told at once.
    pub(super) fn tell_of_gap(&mut self, now: Instant) {
        self.gaps = self.gaps.wrapping_add(1);
        self.report_at = now;
    }

    /// Does a report tell that the peer's clock has stood still since the report before?
    fn tells_of_gap(&mut self, report: &Report) -> bool {
        std::mem::replace(&mut self.peers_gaps, report.gaps) != report.gaps
    }

    /// Is this report newer than all before? Notes it.
    fn is_news(&mut self, report: &Report) -> bool {
        let is_news = self.last_heard.is_none_or(|last| (report.number.wrapping_sub(last) as i32) > 0);
        if is_news {
            self.last_heard = Some(report.number);
        }
        is_news
    }
}

/// The next time of a periodic timer. If it has passed already, the timer counts from `now`.
fn next(at: Instant, interval: Duration, now: Instant) -> Instant {
    let next = at.saturating_add(interval);
    if next > now { next } else { now.saturating_add(interval) }
}

impl<P: Payload> Endpoint<P> {
    /// The bond begins, or a path has come back: a train measures the path's rate.
    pub(super) fn begin_train(&mut self, path: PathId) {
        if let Some(before) = self.feedback.begin_train(path) {
            self.paths[path.index()].liveness.on_train(before);
        }
    }

    /// The next control packet to send, and its path: requests for missing packets, answers,
    /// keepalives, trains, then reports.
    pub(super) fn next_control(&mut self, now: Instant) -> Option<(PathId, Control)> {
        if let Some(path) = self.feedback.missing_on.first() {
            self.feedback.missing_on.remove(path);
            let missing = self.feedback.missing[path.index()].take()?;
            return Some((self.soonest(now).unwrap_or(path), Control::Missing(missing)));
        }
        let feedback = &mut self.feedback;
        if let Some(path) = feedback.reply_on.first() {
            feedback.reply_on.remove(path);
            let reply = feedback.replies[path.index()].take()?;
            return Some((path, Control::KeepaliveReply(reply)));
        }
        if let Some(path) = feedback.keepalive_on.first() {
            feedback.keepalive_on.remove(path);
            let own = &self.paths[path.index()];
            let interval = own.keepalive(&self.config.keepalive).interval;
            let keepalive = Keepalive {
                path,
                rest: if own.is_resting() { interval.as_millis() as u16 } else { 0 },
                number: feedback.keepalives_sent,
                timestamp: micros(now),
                next_path_seq: own.next,
                next_global_seq: self.next_global,
            };
            return Some((path, Control::Keepalive(keepalive)));
        }
        if let Some(place) = feedback.trains.iter().position(|&left| left > 0) {
            let number = INITIAL_WINDOW - feedback.trains[place];
            feedback.trains[place] -= 1;
            let path = PathId(place as u8);
            return Some((path, Control::Train(TrainPacket { path, number, timestamp: micros(now) })));
        }
        let path = feedback.report_on.first()?;
        feedback.report_on.remove(path);
        feedback.report.map(|report| (path, Control::Report(report)))
    }

    /// Takes a control packet that came by a path. Duplicates, late and senseless ones are ignored.
    pub(super) fn handle_control(&mut self, now: Instant, path: PathId, control: &Control) {
        if path.index() >= self.paths.len() {
            return;
        }
        match control {
            Control::Report(report) => self.handle_report(now, path, report),
            Control::Keepalive(keepalive) if keepalive.path == path => {
                self.handle_keepalive(now, keepalive);
            }
            Control::KeepaliveReply(reply) if reply.path == path => self.handle_reply(now, reply),
            Control::Missing(missing) => self.handle_missing(missing),
            Control::Train(train) if train.path == path => {
                let octets = control.wire_len() + OUTER;
                self.incoming[path.index()].on_train(now, train, octets);
                self.feedback.note_data();
            }
            Control::Keepalive(_) | Control::KeepaliveReply(_) | Control::Train(_) => {}
        }
    }

    fn handle_keepalive(&mut self, now: Instant, keepalive: &Keepalive) {
        let path = keepalive.path;
        let delay = self.ways.on_arrival(now, path, keepalive.timestamp);
        self.incoming[path.index()].on_keepalive(now, keepalive, delay);
        self.ask_for_repairs(now, path);
        let reply = KeepaliveReply { path, number: keepalive.number, echoed: keepalive.timestamp };
        self.feedback.replies[path.index()] = Some(reply);
        self.feedback.reply_on.insert(path);
        if self.resequencer.is_blocked() {
            self.give_up_what_is_lost(now);
            self.note_given_up();
        }
    }

    fn handle_reply(&mut self, now: Instant, reply: &KeepaliveReply) {
        let place = reply.path.index();
        let was = self.paths[place].liveness.state;
        let rtt = Duration::from_micros(u64::from(micros(now).wrapping_sub(reply.echoed)));
        let path = &mut self.paths[place];
        if let Some(rtt) = path.liveness.on_answer(now, reply.number, rtt, &self.config.keepalive) {
            // What others' packets hold on the way back is no part of the path.
            let wait = self.ways.standing(now, reply.path);
            path.on_round_trip(now, if wait < rtt { rtt - wait } else { rtt });
        }
        self.note_state(place, was);
        if self.is_dead {
            self.find_usable();
        }
    }

    fn handle_report(&mut self, now: Instant, path: PathId, report: &Report) {
        if report.paths().len() != self.paths.len() {
            return;
        }
        self.ways.on_arrival(now, path, report.made);
        if !self.feedback.is_news(report) {
            return;
        }
        if self.feedback.tells_of_gap(report) {
            self.paths.iter_mut().for_each(|path| path.on_peers_gap(now));
            self.on_gap(now);
        }
        let mut progress = [Progress::default(); MAX_PATHS];
        let before = self.weights(now);
        let shortest = self.paths.iter().filter_map(Path::base_rtt).min().unwrap_or_default();
        let way = WayBack { shortest, late: self.ways.on_report(now, path, report) };
        for (place, entry) in report.paths().iter().enumerate() {
            let was = self.paths[place].liveness.state;
            progress[place] = self.paths[place].on_report(now, entry, way, &self.config.keepalive);
            self.note_state(place, was);
        }
        let (views, count) = self.views(now);
        self.scheduler.on_report(now, &progress[..count], &views[..count]);
        self.note_weights(now, &before);
        self.note_spread(now);
    }

    fn weights(&self, now: Instant) -> [u32; MAX_PATHS] {
        let (views, count) = self.views(now);
        let mut weights = [0; MAX_PATHS];
        for (weight, view) in weights.iter_mut().zip(&views[..count]) {
            *weight = self.scheduler.weight(view);
        }
        weights
    }

    fn note_weights(&mut self, now: Instant, before: &[u32; MAX_PATHS]) {
        let after = self.weights(now);
        for (path, (&from, to)) in self.paths.iter().zip(before.iter().zip(after)) {
            if from != to {
                self.events.push(Event::WeightChanged { path: path.id, from, to });
            }
        }
    }
}
