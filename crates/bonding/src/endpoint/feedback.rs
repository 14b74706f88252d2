//! Reports and keepalives: what the two ends tell each other.

use super::Endpoint;
use crate::clock::micros;
use crate::config::Config;
use crate::control::{Control, Keepalive, KeepaliveReply, Missing, PathReport, Probe, Report};
use crate::event::{Event, PathState, TimerKind};
use crate::header::DataHeader;
use crate::id::{MAX_PATHS, PathId, PathSet};
use crate::incoming::Incoming;
use crate::outgoing::{Outgoing, Progress};
use crate::scheduler::Scheduler;
use ropewalk_units::{Duration, Instant};

/// A path that probes have told nothing of is probed with every so manieth keepalive.
const RARE_PROBES: u32 = 20;

/// A probe is reported this soon: who sends it knows nothing yet. No more often than this, though.
const SOON: Duration = Duration::from_millis(2);
const SOONEST: Duration = Duration::from_millis(5);

/// So far apart are reports and keepalives.
const APART: Duration = Duration::from_millis(3);

/// What is to be sent, and when the next will be.
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
    probe_on: PathSet,
    missing: [Option<Missing>; MAX_PATHS],
    missing_on: PathSet,
    last_heard: Option<u32>,
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
            probe_on: PathSet::EMPTY,
            missing: [None; MAX_PATHS],
            missing_on: PathSet::EMPTY,
            last_heard: None,
        }
    }

    pub(super) fn deadline(&self) -> (Instant, TimerKind) {
        if self.report_at <= self.keepalive_at {
            (self.report_at, TimerKind::Report)
        } else {
            (self.keepalive_at, TimerKind::Keepalive)
        }
    }

    /// Makes what is due.
    pub(super) fn tick(
        &mut self,
        now: Instant,
        config: &Config,
        incoming: &mut [Incoming],
        outgoing: &[Outgoing],
        usable: PathSet,
    ) {
        if now >= self.report_at {
            self.report_at = next(self.report_at, config.report_interval, now);
            self.step_aside();
            self.reported_at = now;
            self.make_report(now, config, incoming);
            let is_told =
                |path: &&Outgoing| path.liveness.state != PathState::Down || usable.contains(path.id);
            outgoing.iter().filter(is_told).for_each(|path| self.report_on.insert(path.id));
        }
        if now >= self.keepalive_at {
            self.keepalive_at = next(self.keepalive_at, config.keepalive.interval, now);
            self.keepalives_sent = self.keepalives_sent.wrapping_add(1);
            outgoing.iter().for_each(|path| self.keepalive_on.insert(path.id));
            let is_rare = self.keepalives_sent.is_multiple_of(RARE_PROBES);
            let probed = outgoing.iter().filter(|path| path.wants_probes(now, is_rare));
            probed.for_each(|path| self.probe_on.insert(path.id));
        }
    }

    /// Reports and keepalives do not leave together: a buffer of a few packets has no room for both beside data.
    fn step_aside(&mut self) {
        let (first, second) = (self.report_at.min(self.keepalive_at), self.report_at.max(self.keepalive_at));
        if second.saturating_since(first) < APART {
            self.report_at = self.keepalive_at.saturating_add(APART);
        }
    }

    /// What is missing is to be asked for. An older request that has not been sent would come too late.
    pub(super) fn ask(&mut self, missing: Missing) {
        self.missing_on.insert(missing.path);
        self.missing[missing.path.index()] = Some(missing);
    }

    /// There is something to report that the peer waits for.
    fn hasten(&mut self, now: Instant) {
        let soon = now.saturating_add(SOON).max(self.reported_at.saturating_add(SOONEST));
        self.report_at = self.report_at.min(soon);
    }

    fn make_report(&mut self, now: Instant, config: &Config, incoming: &mut [Incoming]) {
        let mut entries = [PathReport::default(); MAX_PATHS];
        for (entry, path) in entries.iter_mut().zip(incoming.iter_mut()) {
            *entry = path.report(now, config.loss_timeout);
        }
        self.report = Some(Report::new(self.reports_sent, &entries[..incoming.len()]));
        self.reports_sent = self.reports_sent.wrapping_add(1);
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

/// What a probe counts for on its path: as if it were a data packet, with what precedes that.
fn counted_len(len: u16, config: &Config) -> u32 {
    u32::from(len) + config.overhead - DataHeader::LEN
}

/// The next time of a periodic timer; after a long sleep, from now.
fn next(at: Instant, interval: Duration, now: Instant) -> Instant {
    let next = at.saturating_add(interval);
    if next > now { next } else { now.saturating_add(interval) }
}

impl<P> Endpoint<P> {
    /// The next control packet to send, and on which path: requests, answers, then keepalives, then reports.
    pub fn poll_transmit(&mut self, now: Instant) -> Option<(PathId, Control)> {
        if let Some(path) = self.feedback.missing_on.first() {
            self.feedback.missing_on.remove(path);
            let missing = self.feedback.missing[path.index()].take()?;
            return Some((self.quickest().unwrap_or(path), Control::Missing(missing)));
        }
        let feedback = &mut self.feedback;
        if let Some(path) = feedback.reply_on.first() {
            feedback.reply_on.remove(path);
            let reply = feedback.replies[path.index()].take()?;
            return Some((path, Control::KeepaliveReply(reply)));
        }
        if let Some(path) = feedback.keepalive_on.first() {
            feedback.keepalive_on.remove(path);
            // It overtakes what the driver still holds.
            let (next_path_seq, next_global_seq) =
                self.outgoing[path.index()].departed(now, self.next_global);
            let number = feedback.keepalives_sent;
            let keepalive =
                Keepalive { path, number, timestamp: micros(now), next_path_seq, next_global_seq };
            return Some((path, Control::Keepalive(keepalive)));
        }
        if let Some(path) = feedback.report_on.first() {
            feedback.report_on.remove(path);
            return feedback.report.map(|report| (path, Control::Report(report)));
        }
        let path = feedback.probe_on.filter(|id| self.outgoing[id.index()].is_probe_due(now)).first()?;
        let probe = self.probe(now, path);
        if self.outgoing[path.index()].is_train_complete() {
            self.feedback.probe_on.remove(path);
        }
        Some((path, Control::Probe(probe)))
    }

    fn probe(&mut self, now: Instant, path: PathId) -> Probe {
        let outgoing = &mut self.outgoing[path.index()];
        let (_, next_global_seq) = outgoing.departed(now, self.next_global);
        let len = if outgoing.counts_losses() { Probe::SHORT } else { Probe::LONG };
        let path_seq = outgoing.on_probe(now, counted_len(len, &self.config));
        Probe { path, path_seq, next_global_seq, timestamp: micros(now), len }
    }

    /// A control packet that came by a path. Whatever comes twice, too late or is nonsense is ignored.
    pub fn handle_control(&mut self, now: Instant, path: PathId, control: &Control) {
        self.now = now;
        if path.index() >= self.outgoing.len() {
            return;
        }
        match control {
            Control::Report(report) => self.handle_report(now, report),
            Control::Keepalive(keepalive) if keepalive.path == path => {
                self.handle_keepalive(now, keepalive);
            }
            Control::KeepaliveReply(reply) if reply.path == path => self.handle_reply(now, reply),
            Control::Probe(probe) if probe.path == path => self.handle_probe(now, probe),
            Control::Missing(missing) => self.handle_missing(missing),
            Control::Keepalive(_) | Control::KeepaliveReply(_) | Control::Probe(_) => {}
        }
    }

    fn handle_keepalive(&mut self, now: Instant, keepalive: &Keepalive) {
        let path = keepalive.path;
        let delay = self.measured_reference.relative(micros(now).wrapping_sub(keepalive.timestamp));
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

    fn handle_probe(&mut self, now: Instant, probe: &Probe) {
        let delay = self.measured_reference.relative(micros(now).wrapping_sub(probe.timestamp));
        let wire_len = counted_len(probe.len, &self.config);
        self.incoming[probe.path.index()].on_probe(now, probe, wire_len, delay);
        if probe.len == Probe::LONG {
            self.feedback.hasten(now);
        }
    }

    fn handle_reply(&mut self, now: Instant, reply: &KeepaliveReply) {
        let place = reply.path.index();
        let was = self.outgoing[place].liveness.state;
        let rtt = Duration::from_micros(u64::from(micros(now).wrapping_sub(reply.echoed)));
        self.outgoing[place].liveness.on_answer(now, reply.number, rtt, &self.config.keepalive);
        self.note_state(now, place, was);
        if self.is_dead {
            self.find_usable();
        }
    }

    fn handle_report(&mut self, now: Instant, report: &Report) {
        if report.paths().len() != self.outgoing.len() || !self.feedback.is_news(report) {
            return;
        }
        let mut progress = [Progress::default(); MAX_PATHS];
        let mut weights = [0; MAX_PATHS];
        for (place, entry) in report.paths().iter().enumerate() {
            let path = &mut self.outgoing[place];
            weights[place] = self.scheduler.weight(path);
            let was = path.liveness.state;
            let reference = &mut self.reported_reference;
            progress[place] = path.on_report(now, entry, |delay| reference.relative(delay));
            self.note_state(now, place, was);
        }
        self.scheduler.on_report(now, &progress[..self.outgoing.len()], &self.outgoing);
        self.note_weights(&weights);
    }

    fn note_weights(&mut self, before: &[u32; MAX_PATHS]) {
        for (path, &from) in self.outgoing.iter().zip(before) {
            let to = self.scheduler.weight(path);
            if from != to {
                self.events.push(Event::WeightChanged { path: path.id, from, to });
            }
        }
    }
}
