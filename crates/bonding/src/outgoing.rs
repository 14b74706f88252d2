//! One path as the sending gateway sees it: what was sent, what the peer reported, and what follows about the path's
//! rate and queue.

mod base;
mod capacity;
mod growth;
mod limit;
mod log;
mod loss;
mod queue;
mod repair;
mod train;

#[cfg(test)]
mod tests;

use crate::clock::micros;
use crate::control::PathReport;
use crate::event::PathState;
use crate::id::{GlobalSeq, PathId, PathSeq};
use crate::liveness::Liveness;
pub(crate) use log::Kept;

use base::BaseDelay;
use capacity::{Capacity, FULL_PACKET, Waits};
use limit::{Fullness, LossVerdict, News, QueueLimit};
use log::{Entry, SentLog};
use queue::QueueModel;
use repair::Credit;
use ropewalk_units::{Duration, Instant, Rate};
use train::Train;

/// One in the fixed-point share of packets.
pub(crate) const WHOLE_SHARE: i32 = 1 << 20;
/// A share is averaged over about 2⁸ packets.
const SHARE_SHIFT: u32 = 8;

/// Packets that a path of unknown rate is sent before it has reported.
const INITIAL_WINDOW: u32 = 10;
/// So many probes are sent as soon as they may be.
const PROBES: u32 = 50;
/// So many packets it is sent if nothing else has room.
const LAST_RESORT: u32 = 3 * INITIAL_WINDOW;
/// A path on which nobody has sent for so long may be probed.
const QUIET: Duration = Duration::from_millis(200);
/// Bursts show a rate if nothing was lost for so long.
const CLEAN: Duration = Duration::from_secs(1);
/// The mean length of packets is that of about 2⁴.
const LENGTH_SHIFT: u32 = 4;

/// What a report says beyond the one before it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Progress {
    /// Data packets lost on this path.
    pub(crate) lost_packets: u32,
    pub(crate) lost_bytes: u32,
    /// Data packets sent on it since the report before came.
    pub(crate) sent_packets: u32,
    pub(crate) sent_bytes: u32,
}

/// A path's sending side.
pub(crate) struct Outgoing {
    pub(crate) id: PathId,
    pub(crate) liveness: Liveness,
    pub(crate) next: PathSeq,
    pub(crate) sent_packets: u64,
    pub(crate) sent_bytes: u64,
    pub(crate) lost_packets: u64,
    pub(crate) lost_bytes: u64,
    /// Packets sent again.
    pub(crate) repaired: u64,
    /// Share of the bond's packets, out of [`WHOLE_SHARE`].
    pub(crate) share: i32,
    /// Rate of what is sent, measured between reports, bits per second.
    pub(crate) sending_rate: f64,
    queue: QueueModel,
    capacity: Capacity,
    base: BaseDelay,
    limit: QueueLimit,
    log: SentLog,
    /// How many packets may be sent again; `None`: none is kept.
    credit: Option<Credit>,
    is_paced: bool,
    /// Of the packets sent of late, octets.
    mean_len: i32,
    pub(crate) probes: u32,
    train: Train,
    /// The first packet sent since it has been tried.
    tried_from: Option<PathSeq>,
    lost_at: Option<Instant>,
    /// The first packet sent since the buffer is given what it is now.
    trial_from: PathSeq,
    /// When the last packet leaves.
    departs_at: Instant,
    /// What had left before the packets that are held: the next numbers on the path and in the bond.
    departed: (PathSeq, GlobalSeq),
    /// The number at which it went down, until the losses of that are counted.
    died_at: Option<PathSeq>,
    last: PathReport,
    at_last_report: (u64, u64, Instant),
    /// Bytes missing at the last report, whether counted as lost yet or not.
    lost_bytes_reported: u32,
}

impl Outgoing {
    pub(crate) fn new(id: PathId, now: Instant, is_paced: bool, repairs: bool) -> Self {
        Self {
            id,
            liveness: Liveness::new(now),
            next: PathSeq::new(0),
            sent_packets: 0,
            sent_bytes: 0,
            lost_packets: 0,
            lost_bytes: 0,
            repaired: 0,
            share: 0,
            sending_rate: 0.0,
            queue: QueueModel::new(now),
            capacity: Capacity::default(),
            base: BaseDelay::new(now),
            limit: QueueLimit::new(repairs),
            log: SentLog::new(),
            credit: repairs.then(Credit::default),
            is_paced,
            mean_len: FULL_PACKET as i32,
            probes: 0,
            train: Train::default(),
            tried_from: None,
            lost_at: None,
            trial_from: PathSeq::new(0),
            departs_at: now,
            departed: (PathSeq::new(0), GlobalSeq::new(0)),
            died_at: None,
            last: PathReport::default(),
            at_last_report: (0, 0, now),
            lost_bytes_reported: 0,
        }
    }

    /// A packet, the bond's number `global`, is sent: its number on the path, and when it is to leave.
    #[inline]
    pub(crate) fn on_sent(&mut self, now: Instant, wire_len: u32, global: GlobalSeq) -> (PathSeq, Instant) {
        let seq = self.count(wire_len);
        self.train.spoil();
        self.mean_len += (wire_len as i32 - self.mean_len) >> LENGTH_SHIFT;
        let backlog = self.queue.backlog(now);
        let backlog = if self.is_paced { backlog } else { self.limit.bounded(backlog) };
        let departure = self.depart(now, backlog, seq, global);
        self.queue.push(now, backlog, wire_len, self.capacity.time_of(wire_len));
        self.note(now, seq, wire_len, backlog, departure);
        (seq, departure)
    }

    /// A probe is sent: its number on the path.
    pub(crate) fn on_probe(&mut self, now: Instant, wire_len: u32) -> PathSeq {
        let seq = self.count(wire_len);
        self.probes += 1;
        if !self.train.is_under_way() {
            self.tried_from = None;
            let span = self.train_span().unwrap_or_default();
            let plan = self.train.plan(wire_len, span, self.capacity.bits_per_sec());
            self.train.begin(now, wire_len, plan, &self.last);
            self.limit.begin_count();
        }
        self.train.on_probe(seq);
        let backlog = self.queue.backlog(now);
        self.queue.push(now, backlog, wire_len, self.capacity.time_of(wire_len));
        self.note(now, seq, wire_len, backlog, now);
        seq
    }

    /// The next number on the path is taken.
    #[inline]
    fn count(&mut self, wire_len: u32) -> PathSeq {
        let seq = self.next;
        self.next = seq.next();
        self.sent_packets += 1;
        self.sent_bytes += u64::from(wire_len);
        seq
    }

    /// Remembers what is to be known of a packet when the peer reports on it.
    #[inline]
    fn note(&mut self, now: Instant, seq: PathSeq, len: u32, backlog: i64, departure: Instant) {
        let held = departure.saturating_since(now).as_nanos() as i64;
        self.queue.note_held(held, len);
        let (busy_bytes, busy_us, held_bytes) = self.queue.busy(departure);
        self.log.push(
            seq,
            Entry {
                bytes: self.sent_bytes as u32,
                backlog: ((backlog - held).max(0) / 1000) as i32,
                corrections: self.queue.corrections_us(),
                len,
                busy_bytes,
                busy_us,
                held_bytes,
                left_at: micros(departure),
                kept: None,
            },
        );
    }

    /// When a packet that finds `backlog` leaves: when what is before it in the path's own buffer is no more than that bears.
    #[inline]
    fn depart(&mut self, now: Instant, backlog: i64, seq: PathSeq, global: GlobalSeq) -> Instant {
        let excess = if self.is_paced {
            let noise = self.base.noise() * 1000;
            let transmission = self.capacity.time_of(FULL_PACKET);
            (backlog - self.limit.in_buffer(now, backlog, self.fullness(), noise, transmission)).max(0)
        } else {
            0
        };
        if excess > 0 && self.departs_at <= now {
            self.departed = (seq, global);
        }
        let departure = now.saturating_add(Duration::from_nanos(excess as u64)).max(self.departs_at);
        self.departs_at = departure;
        departure
    }

    /// How much of a full packet one of late is.
    #[inline]
    fn fullness(&self) -> Fullness {
        Fullness::new(self.mean_len)
    }

    /// The next numbers on the path and in the bond, of which `next_global` is the latter's, that have not left yet.
    pub(crate) fn departed(&self, now: Instant, next_global: GlobalSeq) -> (PathSeq, GlobalSeq) {
        if self.departs_at <= now { (self.next, next_global) } else { self.departed }
    }

    /// Some packet of the bond was sent, on this path or not.
    #[inline]
    pub(crate) fn note_share(&mut self, is_chosen: bool) {
        let target = if is_chosen { WHOLE_SHARE } else { 0 };
        self.share += (target - self.share) >> SHARE_SHIFT;
    }

    /// The share of packets in percent, rounded.
    pub(crate) fn share_percent(&self) -> u32 {
        ((i64::from(self.share) * 100 + i64::from(WHOLE_SHARE) / 2) / i64::from(WHOLE_SHARE)) as u32
    }

    /// The queue that a packet sent now would find, in nanoseconds.
    #[inline]
    pub(crate) fn backlog(&self, now: Instant) -> i64 {
        self.queue.backlog(now)
    }

    /// How long `wire_len` octets occupy the path, in nanoseconds.
    #[inline]
    pub(crate) fn transmission(&self, wire_len: u32) -> i64 {
        self.capacity.time_of(wire_len)
    }

    /// When a packet sent now would arrive, in nanoseconds on a scale common to all paths: least one-way delay,
    /// queue, transmission.
    #[inline]
    pub(crate) fn expected_delivery(&self, now: Instant, wire_len: u32) -> i64 {
        self.length() + self.backlog(now) + self.transmission(wire_len)
    }

    /// Has it carried enough to be measured?
    #[inline]
    pub(crate) fn is_tried(&self) -> bool {
        self.capacity.is_tried()
    }

    /// Has a queue shown its rate?
    #[inline]
    pub(crate) fn is_measured(&self) -> bool {
        self.capacity.is_measured()
    }

    /// Is a train of probes to be sent? Over a path that nothing is known of, not often if that has not led to anything: perhaps it
    /// carries no packets as long as that. Once it is known to carry some, only while nobody uses it.
    pub(crate) fn wants_probes(&self, now: Instant, is_rare: bool) -> bool {
        if !self.is_paced || self.train.is_under_way() || self.liveness.state != PathState::Up {
            return false;
        }
        if !self.is_tried() {
            return self.may_be_tried() && (self.probes < PROBES || is_rare);
        }
        let is_quiet = !self.has_data() || now.saturating_since(self.departs_at) >= QUIET;
        let is_wanted = self.train.is_wanted(now, self.random_loss() > 0.0);
        let may_show = !self.train.shows_rate() || self.train_span().is_some();
        is_wanted && may_show && is_quiet && self.is_idle()
    }

    /// Octets of the packet sent last.
    pub(crate) fn last_len(&self) -> u32 {
        self.log.get(self.next.previous(), self.next).map_or(0, |entry| entry.len)
    }

    /// Has anybody ever sent on it?
    fn has_data(&self) -> bool {
        self.sent_packets > u64::from(self.probes)
    }

    /// Are the next probes to show losses, not a rate?
    pub(crate) fn counts_losses(&self) -> bool {
        !self.train.shows_rate()
    }

    fn train_span(&self) -> Option<Duration> {
        let (deviation, answers) = self.liveness.deviation()?;
        train::span(deviation, answers)
    }

    /// Is one more probe due?
    pub(crate) fn is_probe_due(&self, now: Instant) -> bool {
        self.train.next_at().is_none_or(|at| at <= now)
    }

    /// Are all probes of the train sent?
    pub(crate) fn is_train_complete(&self) -> bool {
        self.train.is_complete()
    }

    /// When its next probes are to be sent.
    pub(crate) fn next_probes_at(&self) -> Option<Instant> {
        self.train.next_at().map(Train::tick)
    }

    /// Of a path that has not carried enough: may it be sent more before it has reported? RFC 6928's initial window.
    #[inline]
    pub(crate) fn may_be_tried(&self) -> bool {
        self.next.since(self.last.next) < INITIAL_WINDOW + self.train.len()
    }

    /// And if no other path has room either?
    #[inline]
    pub(crate) fn is_last_resort(&self) -> bool {
        self.next.since(self.last.next) < LAST_RESORT
    }

    /// May it be sent more before another path is tried? Not beyond the queue at which it loses packets, nor, if untried, beyond
    /// the initial window.
    #[inline]
    pub(crate) fn has_room(&self, now: Instant, queue: i64) -> bool {
        (self.is_tried() || self.may_be_tried()) && self.backlog(now) < queue.min(self.queue_limit())
    }

    /// Would a packet sent now wait longer than it need, if another path has room? `longest`: the length of the longest path used
    /// beside it.
    #[inline]
    pub(crate) fn is_full(&self, now: Instant, longest: i64) -> bool {
        self.backlog(now) >= self.allowance(longest)
    }

    /// Would it wait before the path longer than any should? As long as no loss has shown what the buffer bears, none does.
    #[inline]
    pub(crate) fn is_overfull(&self, now: Instant, longest: i64) -> bool {
        self.is_paced && self.limit.is_known() && self.is_full(now, longest)
    }

    /// The longest queue, in the path's buffer and before it, in nanoseconds: what the buffer bears, but at least a round trip. With
    /// less, a TCP flow that halves its window after a loss leaves the path idle. Beside a longer path it is as much more as that
    /// takes longer: what waits no longer than that comes sooner than by the other.
    #[inline]
    fn allowance(&self, longest: i64) -> i64 {
        let round_trip = self.liveness.srtt.map_or(0, |srtt| srtt.as_nanos() as i64);
        self.limit.proven().max(round_trip + (longest - self.length()).max(0))
    }

    /// How long it takes without queues, in nanoseconds on a scale common to all paths: the least one-way delay, and what delays
    /// usually exceed it by.
    #[inline]
    pub(crate) fn length(&self) -> i64 {
        self.base.nanos(self.liveness.srtt) + self.base.noise() * 1000
    }

    /// The queue beyond which packets are expected to be lost, in nanoseconds; far away until losses show it.
    #[inline]
    pub(crate) fn queue_limit(&self) -> i64 {
        self.limit.limit()
    }

    /// Losses without a full queue for each packet; those of a round trip count once.
    #[inline]
    pub(crate) fn random_loss(&self) -> f64 {
        self.limit.random_loss(self.capacity.time_of(FULL_PACKET))
    }

    /// Measured rate in bits per second; a guess until there is a measurement.
    pub(crate) fn rate(&self) -> f64 {
        self.capacity.bits_per_sec()
    }

    pub(crate) fn queueing_delay(&self, now: Instant) -> Duration {
        Duration::from_nanos(self.backlog(now) as u64)
    }

    /// Measured rate, zero before there is one.
    pub(crate) fn delivery_rate(&self) -> Rate {
        let measured = if self.capacity.is_measured() { self.rate() } else { 0.0 };
        Rate::from_bits_per_sec(measured as u64)
    }

    /// The state as of `now`; a path that went down has lost its queue.
    pub(crate) fn set_state(&mut self, now: Instant, was: PathState) {
        if was != PathState::Down && self.liveness.state == PathState::Down {
            self.queue.clear(now);
            self.died_at = Some(self.next);
        }
    }

    /// Takes in the peer's report. `relative` turns its delays into µs on the scale common to all paths.
    pub(crate) fn on_report(
        &mut self,
        now: Instant,
        report: &PathReport,
        mut relative: impl FnMut(u32) -> i64,
    ) -> Progress {
        let progress = self.progress(now, report);
        if report.is_fresh {
            self.measure(now, report, &mut relative);
        }
        let counts_losses = self.train.counts_losses();
        if let Some(shown) = self.train.settle(now, report) {
            self.capacity.note_train(shown);
            if self.is_measured() {
                self.limit.settle_for(now);
            }
            self.train.climb(shown, self.capacity.bits_per_sec(), self.limit.is_known());
        }
        if progress.lost_packets > 0 {
            self.lost_at = Some(now);
        }
        let lost = if self.is_of_a_death(report) { 0 } else { progress.lost_packets };
        let news = News {
            lost,
            received: self.newly_received(report),
            round_trip: self.liveness.srtt.unwrap_or_default(),
        };
        let own = self.capacity.time_of(FULL_PACKET);
        let verdict = if counts_losses {
            self.limit.count(now, news, !self.train.is_under_way())
        } else if self.is_blind(report) {
            self.limit.on_blind(now, lost, !self.train.is_first(), own)
        } else {
            self.limit.on_report(now, news, own)
        };
        if verdict == LossVerdict::Full && self.departs_at <= now {
            self.queue.bound(now, self.limit.limit());
        }
        self.try_more(report, lost);
        if report.next != self.last.next {
            self.liveness.on_progress(now);
        }
        self.last = *report;
        progress
    }

    /// What the path's buffer is given doubles when a packet that had to wait for it has come and nothing was lost, nor is missing.
    fn try_more(&mut self, report: &PathReport, lost: u32) {
        let last = report.next.previous();
        let is_held = |entry: Entry| entry.held_bytes > 0;
        if lost == 0
            && missing(report) == 0
            && !last.before(self.trial_from)
            && self.log.get(last, self.next).is_some_and(is_held)
        {
            self.limit.double();
            self.trial_from = self.next;
        }
    }

    /// Are the losses of this report what was under way when the path died?
    fn is_of_a_death(&mut self, report: &PathReport) -> bool {
        let Some(died_at) = self.died_at else { return false };
        if died_at.before(report.next) && missing(report) == 0 {
            self.died_at = None;
        }
        true
    }

    /// Does this report speak of what was sent when nothing was known of the path: probes, and what had nowhere else to go?
    fn is_blind(&mut self, report: &PathReport) -> bool {
        if self.is_tried() && self.tried_from.is_none() && !self.train.is_under_way() {
            self.tried_from = Some(self.next);
        }
        self.tried_from.is_none_or(|from| !from.before(report.next))
    }

    fn newly_received(&self, report: &PathReport) -> u32 {
        report.received_packets.wrapping_sub(self.last.received_packets)
    }

    /// The differences to the report before, and the rate sent at meanwhile.
    fn progress(&mut self, now: Instant, report: &PathReport) -> Progress {
        let lost_packets = report.lost_packets.wrapping_sub(self.last.lost_packets);
        let lost_total = self.lost_bytes_at(report);
        let lost_bytes = lost_total.wrapping_sub(self.lost_bytes_reported);
        // The split between lost and merely missing is an estimate: never let the total fall.
        let lost_bytes = if lost_packets == 0 || (lost_bytes as i32) < 0 { 0 } else { lost_bytes };
        self.lost_bytes_reported = self.lost_bytes_reported.wrapping_add(lost_bytes);
        self.lost_packets += u64::from(lost_packets);
        self.lost_bytes += u64::from(lost_bytes);
        let (packets, bytes, at) = self.at_last_report;
        self.at_last_report = (self.sent_packets, self.sent_bytes, now);
        let sent_bytes = self.sent_bytes - bytes;
        let elapsed = now.saturating_since(at).as_secs_f64();
        if elapsed > 0.0 {
            let rate = sent_bytes as f64 * 8.0 / elapsed;
            self.sending_rate += (rate - self.sending_rate) / 4.0;
        }
        Progress {
            lost_packets,
            lost_bytes,
            sent_packets: (self.sent_packets - packets) as u32,
            sent_bytes: sent_bytes as u32,
        }
    }

    /// Bytes lost since the session began, wrapping: what was sent up to the highest number that arrived, less what
    /// arrived; of that, the share of the missing packets that counts as lost.
    fn lost_bytes_at(&self, report: &PathReport) -> u32 {
        let Some(entry) = self.log.get(report.next.previous(), self.next) else {
            return self.lost_bytes_reported;
        };
        let missing_bytes = entry.bytes.wrapping_sub(report.received_bytes);
        let missing = report.next.get().wrapping_sub(report.received_packets);
        let waiting = missing.wrapping_sub(report.lost_packets);
        if waiting == 0 || missing == 0 {
            return missing_bytes;
        }
        (u64::from(missing_bytes) * u64::from(report.lost_packets) / u64::from(missing)) as u32
    }

    /// Base delay, rate and queue from the delays of a report.
    fn measure(&mut self, now: Instant, report: &PathReport, relative: &mut impl FnMut(u32) -> i64) {
        let (least, most) = (relative(report.least_delay), relative(report.most_delay));
        let entry = self.log.get(report.next.previous(), self.next);
        let has_data = self.newly_received(report) > 0;
        let was_idle = if has_data { entry.is_some_and(|entry| entry.backlog == 0) } else { self.is_idle() };
        self.base.note(now, least, was_idle);
        let base = self.base.micros();
        let own = self.capacity.time_of(FULL_PACKET);
        self.limit.note_queue(now, (most - base) * 1000 - own, self.fullness());
        if has_data {
            let Some(entry) = entry else { return };
            let delay = relative(report.delay);
            let taken = (delay - base).max(0);
            self.train.note(report, least, delay, &entry);
            // Probes speak through their trains.
            if !self.train.is_under_way() && self.has_data() {
                let waits = Waits { least: least - base - self.base.noise(), last: delay - base };
                self.capacity.note(report, waits, self.limit.lost_at_random(), &entry);
                // What was lost, or may be, was sent, but not delivered.
                let is_clean = self.lost_at.is_none_or(|at| now.saturating_since(at) >= CLEAN);
                if is_clean && missing(report) == 0 {
                    self.capacity.note_burst(entry.busy_bytes, i64::from(entry.busy_us) + taken);
                }
            }
            let waited = (taken - self.capacity.time_of(entry.len) / 1000).max(0);
            self.queue.correct(now, waited, &entry);
            // All that was sent since is served after it.
            let since = i64::from(micros(now).wrapping_sub(entry.left_at) as i32);
            let left = self.capacity.time_of((self.sent_bytes as u32).wrapping_sub(entry.bytes));
            self.queue.at_least(now, (left + (taken - since) * 1000).min(self.queue_limit()));
        } else if self.is_idle() {
            // Only keepalives came: what they waited for are others' packets.
            self.queue.set(now, (least - base).max(0) * 1000);
        }
    }

    /// Has everything sent been reported on?
    fn is_idle(&self) -> bool {
        self.last.next == self.next
    }
}

/// Packets that have not come and do not count as lost yet.
fn missing(report: &PathReport) -> u32 {
    report.next.get().wrapping_sub(report.received_packets).wrapping_sub(report.lost_packets)
}
