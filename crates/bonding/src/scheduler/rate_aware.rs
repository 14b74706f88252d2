//! Each packet takes the path that is expected to deliver it first.
//!
//! Expected delivery = least one-way delay + queue + transmission. A path is not filled beyond its allowance while another would
//! deliver not much later, and a path whose losses would cost a TCP flow more than its rate gains is used only for what
//! the others drop.

mod together;

use super::{Ask, Scheduler};
use crate::config::RateAwareConfig;
use crate::event::PathState;
use crate::id::{MAX_PATHS, PathId, PathSet};
use crate::outgoing::{Outgoing, Progress};
use ropewalk_units::{Duration, Instant};
use together::{Together, by_losses};

const FULL_PACKET: f64 = 1500.0;
/// Packets are small if they are less than this part of full ones.
const SMALL: f64 = 0.2;
/// The mean length of packets is that of about 64.
const LENGTH_GAIN: f64 = 1.0 / 64.0;
/// A path of less than this part of what a flow gets of the best one is not worth the losses it may show: it carries what the others
/// drop.
const LEAST_GAIN: f64 = 1.0 / 8.0;
/// And of less than this part if it was not worth it before: to change costs more than either.
const LEAST_GAIN_AT_FIRST: f64 = 1.0 / 7.0;
/// A path of less than this part of the fastest one's rate is not for acknowledgements: those of what that carries take a fiftieth of it,
/// and would nearly fill the slow one.
const LEAST_RATE: f64 = 1.0 / 32.0;
/// Other paths than those used now are worth a change if they are better by this factor: to change costs a flow more than either.
const HABIT: f64 = 1.15;
/// As long as fewer than this share find no room, they wait for it all the same: it is who keeps coming that has to slow down.
const SPARED: f64 = 1.0 / 1024.0;
/// Before anything is known, as much of a queue is made on the first path, in nanoseconds at the rate assumed.
const BLIND_WAIT: i64 = 10_000_000;
/// Who does not slow down although so many have been dropped for so long wants them late rather than never.
const UNHEEDED: f64 = 0.05;
const UNHEEDED_FOR: Duration = Duration::from_secs(1);
/// That is, by a path however long, but not after a longer queue than this, in nanoseconds: a flow that would slow down still hears of it.
const UNHEEDED_QUEUE: i64 = 20_000_000;
/// A repair may wait so long in a queue.
const REPAIR_WAIT: Duration = Duration::from_millis(5);
/// The rate of packets is that of about eight reports.
const RATE_GAIN: f64 = 1.0 / 8.0;
/// The share of packets dropped is averaged over so many.
const DROP_WINDOW: f64 = 4096.0;

/// Which paths are worth their losses.
pub(crate) struct RateAware {
    loss_cost: f64,
    /// Of packets of late, octets.
    mean_len: f64,
    admitted: PathSet,
    /// The length of the longest of them, in nanoseconds, repairs included.
    longest: i64,
    /// By how much longer each path counts for its losses, in nanoseconds.
    penalty: [i64; MAX_PATHS],
    /// Packets per second of late, and when they were counted.
    packet_rate: f64,
    counted_at: Option<Instant>,
    /// The share of packets that found no room on the admitted paths.
    overflow: f64,
    /// The share of those for which no other would do either.
    unserved: f64,
    /// Since when that has been too large.
    unheeded_since: Option<Instant>,
}

/// The best path and when it would deliver.
#[derive(Clone, Copy)]
struct Best {
    path: PathId,
    delivery: i64,
}

/// Counts one more packet.
#[inline]
fn average(share: &mut f64, is_one: bool) {
    let target = if is_one { 1.0 } else { 0.0 };
    *share += (target - *share) * (1.0 / DROP_WINDOW);
}

fn better(best: Option<Best>, path: PathId, delivery: i64) -> Option<Best> {
    match best {
        Some(best) if best.delivery <= delivery => Some(best),
        _ => Some(Best { path, delivery }),
    }
}

fn up(paths: &[Outgoing]) -> PathSet {
    let mut set = PathSet::EMPTY;
    paths.iter().filter(|path| path.liveness.state == PathState::Up).for_each(|path| set.insert(path.id));
    set
}

impl RateAware {
    pub(crate) fn new(config: RateAwareConfig) -> Self {
        Self {
            loss_cost: config.loss_cost.as_nanos() as f64,
            mean_len: FULL_PACKET,
            admitted: PathSet::EMPTY,
            longest: 0,
            penalty: [0; MAX_PATHS],
            packet_rate: 0.0,
            counted_at: None,
            overflow: 0.0,
            unserved: 0.0,
            unheeded_since: None,
        }
    }

    /// The paths that a loss-based flow gets most of, out of the usable ones: each alone, and the best so many by their losses.
    fn worth_it(&self, paths: &[Outgoing]) -> PathSet {
        let fullness = self.fullness();
        let alone = |path: &Outgoing| Together::default().with(path, fullness).goodput();
        let up = up(paths);
        let most = up.iter().map(|id| alone(&paths[id.index()])).fold(0.0, f64::max);
        let may_be_worth_it = |id: PathId| {
            let least = if self.admitted.contains(id) { LEAST_GAIN } else { LEAST_GAIN_AT_FIRST };
            paths[id.index()].rate() >= least * most
        };
        let (mut best, mut most) = (PathSet::EMPTY, 0.0);
        let (mut set, mut together) = (PathSet::EMPTY, Together::default());
        let (order, count) = by_losses(paths, up.filter(may_be_worth_it));
        for &id in &order[..count] {
            set.insert(id);
            together = together.with(&paths[id.index()], fullness);
            let one = PathSet::one(id);
            let alone = alone(&paths[id.index()]) * self.habit(one);
            if alone > most {
                (best, most) = (one, alone);
            }
            let together = together.goodput() * self.habit(set);
            if together >= most {
                (best, most) = (set, together);
            }
        }
        best
    }

    /// Paths that bear the acknowledgements of the fastest one.
    fn not_slow(paths: &[Outgoing]) -> PathSet {
        let up = up(paths);
        let most = up.iter().map(|id| paths[id.index()].rate()).fold(0.0, f64::max);
        up.filter(|id| paths[id.index()].rate() >= LEAST_RATE * most)
    }

    /// By how much paths count for more than they bring.
    fn habit(&self, set: PathSet) -> f64 {
        if set == self.admitted { HABIT } else { 1.0 }
    }

    /// Who sends small packets only, as acknowledgements are, has little use for rates: all paths but the slowest, for the least delay.
    fn admit(&mut self, paths: &[Outgoing]) {
        self.admitted = if self.fullness() < SMALL { Self::not_slow(paths) } else { self.worth_it(paths) };
        let pause = |path: &Outgoing| if path.repaired_loss() > 0.0 { Self::repair_time(paths) } else { 0 };
        let delays = self.admitted.iter().map(|id| paths[id.index()].length() + pause(&paths[id.index()]));
        self.longest = delays.max().unwrap_or(0);
    }

    /// How many packets are sent.
    fn count(&mut self, now: Instant, progress: &[Progress]) {
        let elapsed = self.counted_at.map_or(0.0, |at| now.saturating_since(at).as_secs_f64());
        self.counted_at = Some(now);
        if elapsed > 0.0 {
            let sent: u32 = progress.iter().map(|path| path.sent_packets).sum();
            self.packet_rate += (f64::from(sent) / elapsed - self.packet_rate) * RATE_GAIN;
        }
    }

    /// By how much longer a path counts for its losses.
    fn judge_losses(&mut self, paths: &[Outgoing]) {
        let repair_time = Self::repair_time(paths);
        for path in paths {
            self.penalty[path.id.index()] =
                self.wait_for_repairs(path, repair_time) + self.cost_of_loss(paths, path);
        }
    }

    /// What is lost is sent again, and what comes meanwhile waits for it: always, or, if that happens more seldom than it takes, for a part of
    /// the time.
    fn wait_for_repairs(&self, path: &Outgoing, repair_time: i64) -> i64 {
        let under_repair = self.packet_rate * path.repaired_loss() * repair_time as f64 / 1e9;
        (under_repair.min(1.0) * repair_time as f64) as i64
    }

    /// Losses that are not repaired count as far as other paths could carry the traffic instead.
    fn cost_of_loss(&self, paths: &[Outgoing], path: &Outgoing) -> i64 {
        let others = up(paths).iter().filter(|&id| id != path.id).map(|id| paths[id.index()].rate());
        let replaceable = (others.sum::<f64>() / path.rate()).min(1.0);
        (path.felt_loss() * self.fullness() * replaceable * self.loss_cost) as i64
    }

    /// How long a repair takes, in nanoseconds: a round trip of the shortest path, and what it may wait there.
    fn repair_time(paths: &[Outgoing]) -> i64 {
        let round_trips = up(paths).iter().filter_map(|id| paths[id.index()].liveness.srtt);
        round_trips.min().map_or(0, |srtt| (srtt + srtt / 4 + REPAIR_WAIT).as_nanos() as i64)
    }

    /// How much later another path may deliver what the full one would lose: by a round trip, and by another as far as the
    /// other path adds to the rate. A loss costs a TCP flow round trips; a slow path's rate is no gain.
    fn patience(full: &Outgoing, other: &Outgoing) -> i64 {
        let round_trip = full.liveness.srtt.map_or(0.0, |srtt| srtt.as_nanos() as f64);
        let gain = (other.rate() / full.rate()).min(1.0);
        (round_trip + round_trip * gain) as i64
    }

    /// How full packets are of late, from 0 to 1: who loses acknowledgements loses no rate.
    #[inline]
    fn fullness(&self) -> f64 {
        (self.mean_len / FULL_PACKET).min(1.0)
    }

    /// Before anything is known: the first path; once that would make packets wait, the others, as much as an initial window holds, a
    /// few times that if need be. A shorter one only once it is known to carry something, since a flow that was quicker at
    /// first takes the longer way for a queue.
    fn blind(ask: &Ask, paths: &[Outgoing], among: PathSet, first: PathId) -> PathId {
        if paths[first.index()].backlog(ask.now) <= BLIND_WAIT {
            return first;
        }
        Self::untried(ask, paths, among).unwrap_or(first)
    }

    /// Of paths that nothing is known of, one that may be sent more: the one with the shortest queue.
    fn untried(ask: &Ask, paths: &[Outgoing], among: PathSet) -> Option<PathId> {
        let shortest = |may_take: fn(&Outgoing) -> bool| {
            let open = among.iter().filter(|id| may_take(&paths[id.index()]));
            open.min_by_key(|id| paths[id.index()].backlog(ask.now))
        };
        shortest(Outgoing::may_be_tried).or_else(|| shortest(Outgoing::is_last_resort))
    }

    /// The path for a packet, of those that have been tried, or, if they are full, that may be; none if it is to be dropped. The first
    /// of them all carries it when nothing is known.
    #[inline]
    pub(super) fn choose(
        &mut self,
        ask: &Ask,
        paths: &[Outgoing],
        among: PathSet,
        first: PathId,
    ) -> Option<PathId> {
        self.mean_len += (f64::from(ask.wire_len) - self.mean_len) * LENGTH_GAIN;
        let tried = among.filter(|id| paths[id.index()].is_tried());
        if tried.is_empty() {
            return Some(Self::blind(ask, paths, among, first));
        }
        let chosen = self.choose_tried(ask, paths, tried);
        if chosen.is_some() || tried == among {
            return chosen;
        }
        Self::untried(ask, paths, among.without(tried))
    }

    #[inline]
    fn choose_tried(&mut self, ask: &Ask, paths: &[Outgoing], among: PathSet) -> Option<PathId> {
        let admitted = self.admitted.and(among);
        let admitted = if admitted.is_empty() { among } else { admitted };
        let chosen = self.earliest(ask, paths, admitted);
        let is_full = chosen.is_none();
        average(&mut self.overflow, is_full);
        let late = if is_full { self.late_choice(ask, paths, admitted, among) } else { None };
        average(&mut self.unserved, is_full && late.is_none());
        if chosen.or(late).is_none() && self.is_unheeded(ask.now) {
            let expected = |id: &PathId| paths[id.index()].expected_delivery(ask.now, ask.wire_len);
            let is_open = |id: &PathId| paths[id.index()].backlog(ask.now) < UNHEEDED_QUEUE;
            return self.tolerable(paths, among).iter().filter(is_open).min_by_key(expected);
        }
        chosen.or(late)
    }

    /// The path for a packet for which the admitted ones have no room: one of them all the same, if that happens seldom; else one that was
    /// left out, if that is not too late.
    fn late_choice(
        &self,
        ask: &Ask,
        paths: &[Outgoing],
        admitted: PathSet,
        among: PathSet,
    ) -> Option<PathId> {
        if self.overflow < SPARED {
            let expected = |id: &PathId| paths[id.index()].expected_delivery(ask.now, ask.wire_len);
            return admitted.iter().min_by_key(expected);
        }
        if admitted == among {
            return None;
        }
        self.earliest(ask, paths, self.tolerable(paths, among))
    }

    /// The paths that lose less than finds no room on those admitted.
    fn tolerable(&self, paths: &[Outgoing], among: PathSet) -> PathSet {
        among.filter(|id| paths[id.index()].felt_loss() < self.overflow)
    }

    /// Has nobody slowed down?
    fn is_unheeded(&mut self, now: Instant) -> bool {
        if self.unserved <= UNHEEDED {
            self.unheeded_since = None;
            return false;
        }
        now.saturating_since(*self.unheeded_since.get_or_insert(now)) >= UNHEEDED_FOR
    }

    /// The earliest of `among`; none if that is full and no other would do.
    #[inline]
    fn earliest(&self, ask: &Ask, paths: &[Outgoing], among: PathSet) -> Option<PathId> {
        let (mut best, mut best_with_room) = (None, None);
        for id in among.iter() {
            let path = &paths[id.index()];
            let delivery = path.expected_delivery(ask.now, ask.wire_len) + self.penalty[id.index()];
            best = better(best, id, delivery);
            if !path.is_full(ask.now, self.longest) {
                best_with_room = better(best_with_room, id, delivery);
            }
        }
        let best = best?;
        let earliest = &paths[best.path.index()];
        if let Some(roomy) = best_with_room {
            let patience = Self::patience(earliest, &paths[roomy.path.index()]);
            if roomy.delivery - best.delivery <= patience {
                return Some(roomy.path);
            }
        }
        (!earliest.is_overfull(ask.now, self.longest)).then_some(best.path)
    }
}

impl Scheduler for RateAware {
    #[inline]
    fn pick(&mut self, ask: &Ask, paths: &[Outgoing]) -> PathSet {
        let Some(first) = ask.usable.first() else { return PathSet::EMPTY };
        // As long as none has answered, it might not even be there.
        let is_unknown =
            |id: PathId| paths[id.index()].liveness.srtt.is_none() && !paths[id.index()].is_tried();
        if ask.usable.iter().all(is_unknown) {
            let copies = ask.usable.filter(|id| paths[id.index()].may_be_tried());
            if !copies.is_empty() {
                return copies;
            }
        }
        self.choose(ask, paths, ask.usable, first).map_or(PathSet::EMPTY, PathSet::one)
    }

    fn on_report(&mut self, now: Instant, progress: &[Progress], paths: &[Outgoing]) {
        self.count(now, progress);
        self.judge_losses(paths);
        self.admit(paths);
    }
}
