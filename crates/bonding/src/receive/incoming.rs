//! One path as the receiving gateway sees it: what came, what is missing, how long it took.

mod delays;
mod gaps;
mod reordering;
mod train;

pub(crate) use delays::Extremes;

use crate::clock::micros;
use crate::config::ResequencerConfig;
use crate::id::{GlobalSeq, PathId, PathSeq};
use crate::tuning::Tuning;
use crate::wire::control::{Keepalive, Missing, PathReport, TICK, TrainPacket};
use crate::wire::header::{DataHeader, Transmission};
use gaps::{Gaps, Terms};
use reordering::ReorderingWindow;
use ropewalk_units::{Duration, Instant};
use train::Train;

/// A packet or keepalive is overtaken by fewer packets of the bond than this.
const MOST_OVERTAKEN: u32 = 1 << 20;

/// A time in the unit of reports, or the greatest that they can tell.
fn ticks(micros: u32) -> u16 {
    u16::try_from(micros / TICK).unwrap_or(u16::MAX)
}

/// A path's receiving side.
pub(crate) struct Incoming {
    next: PathSeq,
    pub(crate) received_packets: u64,
    pub(crate) received_bytes: u64,
    gaps: Gaps,
    window: ReorderingWindow,
    /// How many later packets must have come, at least, before a missing one is not waited for.
    reordering: u32,
    /// The timestamp of the packet with the highest number, and when it came (µs, wrapping).
    newest: u32,
    arrived_at: u32,
    /// The least one-way delay since the last report, as the wrapping difference of two clocks.
    least_delay: Option<u32>,
    train: Train,
    /// Recent one-way delays, for the resequencer.
    pub(crate) recent: Extremes,
    /// What comes before this gives no one-way delay: one of the clocks has stood still.
    measured_from: Instant,
    /// The bond's greatest number known to have been sent before or with what came.
    highest: Option<GlobalSeq>,
    /// All packets of the bond from `solo_from` to `solo_until` went on this path alone.
    solo_from: GlobalSeq,
    solo_until: GlobalSeq,
    /// When anything came last, and whether anything did.
    pub(crate) heard_at: Instant,
    pub(crate) is_heard: bool,
    /// Time until the next keepalive, if the peer said that the path rests; else zero.
    rest: Duration,
    /// When data came last.
    data_at: Option<Instant>,
    /// If data came less than this ago, missing packets may still wait in the path's queue.
    busy: Duration,
    /// When a repair came last for what was not known to be missing: the peer suspects this path.
    suspected_at: Option<Instant>,
    /// Does the peer keep what it sends on this path?
    is_kept: bool,
    /// The time from a request until its repair comes; `None`: nothing is asked for.
    repair_time: Option<Duration>,
    /// The longest time that a missing packet is asked for.
    patience: Duration,
    /// For this long, a missing packet may only be late.
    reordering_time: Duration,
}

impl Incoming {
    pub(crate) fn new(config: &ResequencerConfig, tuning: &Tuning, now: Instant) -> Self {
        Self {
            next: PathSeq::new(0),
            received_packets: 0,
            received_bytes: 0,
            gaps: Gaps::default(),
            window: ReorderingWindow::new(&tuning.bond, now),
            reordering: u32::from(config.path_reordering),
            newest: 0,
            arrived_at: 0,
            least_delay: None,
            train: Train::new(tuning),
            recent: Extremes::new(now),
            measured_from: Instant::ZERO,
            highest: None,
            solo_from: GlobalSeq::new(0),
            solo_until: GlobalSeq::new(0),
            heard_at: now,
            is_heard: false,
            rest: Duration::ZERO,
            data_at: None,
            suspected_at: None,
            is_kept: false,
            repair_time: None,
            patience: config.blind_timeout(),
            busy: tuning.bond.slack,
            reordering_time: Duration::MAX,
        }
    }

    /// The number that comes next if nothing is lost or overtaken.
    #[inline]
    pub(crate) const fn next(&self) -> PathSeq {
        self.next
    }

    /// A data packet with its relative one-way delay in µs.
    #[inline]
    pub(crate) fn on_data(&mut self, now: Instant, header: &DataHeader, wire_len: u32, relative: i64) {
        self.data_at = Some(now);
        self.rest = Duration::ZERO;
        // Copies and what needs no order are never kept, beside flows that are.
        if header.class.is_ordered() && !header.class.is_duplicated() {
            self.is_kept = header.transmission == Transmission::First;
        }
        let numbers = (header.path_seq, header.global_seq);
        if self.count(now, numbers, header.timestamp, wire_len, relative) {
            self.solo_from = header.global_seq.minus((1 << header.solo) - 1);
            self.solo_until = header.global_seq;
        }
    }

    /// Counts a packet that has a number on the path. Returns whether this is the highest number so
    /// far.
    #[inline]
    fn count(
        &mut self,
        now: Instant,
        (seq, global): (PathSeq, GlobalSeq),
        timestamp: u32,
        wire_len: u32,
        relative: i64,
    ) -> bool {
        self.hear(now, relative);
        let is_in_order = !seq.before(self.next);
        if is_in_order {
            self.expect(seq, now);
            self.next = seq.next();
            (self.newest, self.arrived_at) = (timestamp, micros(now));
            let delay = self.arrived_at.wrapping_sub(timestamp);
            let is_least = |least: u32| (delay.wrapping_sub(least) as i32) < 0;
            if self.is_measured(now) && self.least_delay.is_none_or(is_least) {
                self.least_delay = Some(delay);
            }
            self.gaps.note_arrivals(1);
            self.window.on_packet();
            self.raise(global);
        } else {
            let Some(found) = self.gaps.fill(now, seq, global) else { return false };
            self.window.note(now, found.late_by);
            if found.is_lost {
                self.gaps.take_back();
            }
        }
        self.received_packets += 1;
        self.received_bytes += u64::from(wire_len);
        is_in_order
    }

    #[inline]
    fn hear(&mut self, now: Instant, relative: i64) {
        self.heard_at = now;
        self.is_heard = true;
        if self.is_measured(now) {
            self.recent.note(now, relative);
        }
    }

    /// One of the clocks has stood still: one-way delays from before and after cannot be compared.
    /// What comes in the next round trip may have left before, and seems to have taken a shorter
    /// time than any way has.
    pub(crate) fn on_gap(&mut self, now: Instant, round_trip: Duration) {
        self.recent = Extremes::new(now);
        self.least_delay = None;
        self.measured_from = now.saturating_add(round_trip);
    }

    fn is_measured(&self, now: Instant) -> bool {
        now >= self.measured_from
    }

    /// The longest silence of a path that is alive. On a resting path two keepalives may be
    /// missing.
    pub(crate) fn bearable(&self, usual: Duration) -> Duration {
        usual + self.rest * 2
    }

    /// A packet of a train, which has no number.
    pub(crate) fn on_train(&mut self, now: Instant, packet: &TrainPacket, octets: u32) {
        self.train.note(now, packet, octets);
    }

    /// A keepalive with its relative one-way delay in µs.
    pub(crate) fn on_keepalive(&mut self, now: Instant, keepalive: &Keepalive, relative: i64) {
        self.hear(now, relative);
        self.rest = Duration::from_millis(u64::from(keepalive.rest));
        let was_complete = !self.next.before(keepalive.next_path_seq);
        self.expect(keepalive.next_path_seq, now);
        // If nothing later is under way, no later packet will show that the missing ones are lost.
        self.gaps.note_arrivals(if was_complete { self.reordering } else { 1 });
        self.raise(keepalive.next_global_seq.previous());
    }

    /// All numbers before `seq` should have come: those that have not are a gap.
    #[inline]
    fn expect(&mut self, seq: PathSeq, now: Instant) {
        if self.next.before(seq) {
            self.gaps.open(self.next, seq, now, self.highest);
            self.next = seq;
        }
    }

    #[inline]
    fn raise(&mut self, global: GlobalSeq) {
        // While this path was dead, others may have brought more packets than half of the circle of
        // numbers has: what seems very old is new.
        if self.highest.is_none_or(|highest| highest.since(global) >= MOST_OVERTAKEN) {
            self.highest = Some(global);
        }
    }

    /// A repair has come by some path. This path had lost the packet.
    pub(crate) fn on_repair(&mut self, now: Instant, header: &DataHeader) {
        if !header.path_seq.before(self.next) {
            self.suspected_at = Some(now);
        }
        self.gaps.repair(now, header.path_seq, header.global_seq);
    }

    /// Something from the peer came by this path that has no number on it.
    pub(crate) fn on_unnumbered(&mut self, now: Instant, relative: i64) {
        self.hear(now, relative);
    }

    /// Sets the time of a repair (`None`: nothing is to be asked for), and the path's round trip,
    /// if it is known. A packet may be late by a quarter of it (RFC 8985 §6.2).
    pub(crate) fn set_repair_time(
        &mut self,
        config: &ResequencerConfig,
        time: Option<Duration>,
        own: Option<Duration>,
    ) {
        self.repair_time = time;
        self.patience = config.repair_timeout(time.unwrap_or_default());
        self.reordering_time = own.map_or(Duration::MAX, |round_trip| round_trip / 4);
    }

    /// The request for the missing packets that are due now, if the peer keeps what it sends.
    #[inline]
    pub(crate) fn ask(&mut self, now: Instant, path: PathId) -> Option<Missing> {
        if !self.gaps.may_be_asked_for(now) || !self.is_kept {
            return None;
        }
        let (reordering, window, repair_time) = (self.reordering, self.window.length(now), self.repair_time?);
        let mut missing = Missing::new(path);
        let (reordering_time, patience) = (self.reordering_time, self.patience);
        let terms = Terms { now, reordering, reordering_time, window, repair_time, patience };
        self.gaps.ask(&terms, &mut missing);
        (!missing.ranges().is_empty()).then_some(missing)
    }

    /// The greatest number up to which packets will not come on this path any more, reordering
    /// allowed for. Numbers on the path show that none is missing, or none that is still waited
    /// for.
    #[inline]
    pub(crate) fn passed(&mut self, now: Instant) -> Option<GlobalSeq> {
        let repair = self.is_repaired().then_some(self.patience);
        match self.gaps.awaited(now, self.reordering, &mut self.window, repair) {
            Some(after) => after,
            None => self.highest,
        }
    }

    /// Is any packet under repair that is still waited for?
    fn is_under_repair(&self, now: Instant) -> bool {
        self.is_repaired() && self.gaps.are_under_repair(now, self.patience)
    }

    /// Does the peer send again what is asked for?
    fn is_repaired(&self) -> bool {
        self.is_kept && self.repair_time.is_some()
    }

    /// The first and the last number of what was sent on this path alone and will not come any
    /// more.
    #[inline]
    pub(crate) fn passed_alone(&mut self, now: Instant) -> Option<(GlobalSeq, GlobalSeq)> {
        let passed = self.passed(now)?;
        // A keepalive passes packets of other paths, too.
        let passed = if self.solo_until.before(passed) { self.solo_until } else { passed };
        (!passed.before(self.solo_from)).then_some((self.solo_from, passed))
    }

    /// May the peer still send again what it sent on this path before `since`? If the path has died, it does so after a silence of
    /// `suspect_after`. A path that rests is silent for longer, and carries nothing. A slow one is heard again, and not dead.
    pub(crate) fn is_in_doubt(&self, now: Instant, since: Instant, suspect_after: Duration) -> bool {
        let silent_until = self.heard_at.min(since).saturating_add(suspect_after);
        let last = self.suspected_at.map_or(silent_until, |at| at.max(silent_until));
        self.is_kept && self.repair_time.is_some_and(|time| now < last.saturating_add(time))
    }

    /// May this path, or a repair of what it has lost, still bring what was sent before `global`?
    /// A packet after it has waited since `since`.
    pub(crate) fn may_bring(
        &mut self,
        now: Instant,
        (since, global): (Instant, GlobalSeq),
        suspect_after: Duration,
    ) -> bool {
        let is_busy = self.data_at.is_some_and(|at| now.saturating_since(at) < self.busy);
        (is_busy || self.is_in_doubt(now, since, suspect_after) || self.is_under_repair(now))
            && self.passed(now).is_none_or(|passed| passed.before(global))
    }

    /// Data packets given up as lost.
    pub(crate) fn lost(&self) -> u64 {
        self.gaps.lost
    }

    /// Counts overdue packets as lost, and makes the report on this path.
    pub(crate) fn report(&mut self, now: Instant, loss_timeout: Duration) -> PathReport {
        // A packet that may still come does not count as lost.
        self.gaps.expire(now, loss_timeout.max(self.window.length(now)), self.patience);
        let delay = self.arrived_at.wrapping_sub(self.newest);
        PathReport {
            next: self.next,
            received_packets: self.received_packets as u32,
            received_bytes: self.received_bytes as u32,
            lost_packets: self.gaps.lost as u32,
            newest: self.newest,
            excess: self.least_delay.take().map_or(0, |least| ticks(delay.wrapping_sub(least))),
            reordering: ticks(self.window.extent(now).as_micros() as u32),
            train: self.train.rate(now),
            held: micros(now).wrapping_sub(self.arrived_at),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_fell_silent_is_in_doubt_until_a_repair_is_overdue_and_a_slow_one_no_longer() {
        let (ms, at) = (Duration::from_millis, |millis| Instant::ZERO + Duration::from_millis(millis));
        let mut path = Incoming::new(&ResequencerConfig::default(), &Tuning::default(), at(0));
        path.hear(at(100), 0);
        let in_doubt = |path: &Incoming, now| path.is_in_doubt(at(now), at(110), ms(130));
        path.is_kept = true;
        assert!(!in_doubt(&path, 120), "nothing is repaired");
        path.set_repair_time(&ResequencerConfig::default(), Some(ms(40)), None);
        assert_eq!([269, 271].map(|now| in_doubt(&path, now)), [true, false]);
        // It is alive, and has not brought what was waited for.
        path.hear(at(250), 0);
        assert_eq!([279, 281].map(|now| in_doubt(&path, now)), [true, false]);
        path.suspected_at = Some(at(270));
        assert_eq!([309, 311].map(|now| in_doubt(&path, now)), [true, false]);
    }

    #[test]
    fn a_path_that_was_dead_for_long_knows_the_numbers_of_today() {
        let mut path = Incoming::new(&ResequencerConfig::default(), &Tuning::default(), Instant::ZERO);
        path.raise(GlobalSeq::new(7));
        path.raise(GlobalSeq::new(7).plus(3 << 30));
        assert_eq!(path.highest, Some(GlobalSeq::new(7).plus(3 << 30)));
        // A keepalive that was overtaken changes nothing.
        path.raise(GlobalSeq::new(5).plus(3 << 30));
        assert_eq!(path.highest, Some(GlobalSeq::new(7).plus(3 << 30)));
    }

    #[test]
    fn what_comes_soon_after_a_clock_stood_still_is_not_compared_with_what_comes_later() {
        let at = |millis| Instant::ZERO + Duration::from_millis(millis);
        let mut path = Incoming::new(&ResequencerConfig::default(), &Tuning::default(), at(0));
        path.on_unnumbered(at(1), 25_000);
        path.on_gap(at(2), Duration::from_millis(40));
        assert_eq!(path.recent.most(), None);
        // It left before, and waited for this end to go on.
        path.on_unnumbered(at(3), 2_000);
        assert_eq!(path.recent.most(), None);
        path.on_unnumbered(at(42), 31_000);
        assert_eq!(path.recent.most(), Some(31_000));
    }
}
