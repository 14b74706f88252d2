//! What flows ask for, as their packets tell that come from the LAN.
//!
//! A flow that a path holds back sends as much as that path carries, so its rate does not tell what it has. But a flow that
//! had the room to grow, and did not, asks for what it sends: its application has no more. The ACKs of a download are such a
//! flow, too: they come as fast as its packets do.

use crate::flow::FlowKey;
use crate::tuning::Tuning;
use crate::wire::FULL_PACKET;
use ropewalk_congestion::{MIN_RTT_FILTER_LEN, STARTUP_GAIN, UNKNOWN};
use ropewalk_units::{Duration, Instant};

/// Flows that are followed. Others are new with each packet.
const CAPACITY: usize = 256;

/// Does a packet of so many octets tell that its sender has more? Those of half the size and less are
/// acknowledgements and the like.
const fn is_full(size: u32) -> bool {
    size > FULL_PACKET / 2
}

/// What is expected to follow a packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Followers {
    /// Octets of the packet.
    size: u32,
    /// Octets that its host sends at once.
    at_once: u32,
    /// Octets per second that the flow asked for.
    asked: f64,
    known: Option<Known>,
}

/// What is known of a flow that is not new.
#[derive(Clone, Copy, Debug)]
struct Known {
    /// A path of this rate, in octets per second, does not hold the flow back.
    needs: f64,
    /// Octets of its greatest burst.
    burst: u32,
    /// Octets that it is expected to send yet, whatever holds it back.
    left: f64,
}

impl Followers {
    /// Those of a flow's first packet.
    pub(crate) const fn of_first(size: u32, at_once: u32) -> Self {
        Self { size, at_once, asked: 0.0, known: None }
    }

    /// Octets, the packet included; `None`: nothing follows it. The path by which a single packet arrives first has this
    /// `rate`, in octets per second. The sender hears of its packets after `round_trip` nanoseconds at the latest.
    #[inline]
    pub(crate) fn octets(&self, rate: f64, round_trip: i64) -> Option<f64> {
        let in_round_trip = |asked: f64| f64::from(self.at_once).max(asked * round_trip as f64 / 1e9);
        let octets = match self.known {
            Some(known) if rate >= known.needs => f64::from(known.burst.min(self.at_once)),
            // The path that holds it back may be a longer one that its sender does not fill yet.
            Some(known) => in_round_trip(rate).max(known.left),
            None => in_round_trip(self.asked.min(rate)),
        };
        (octets > f64::from(self.size)).then_some(octets)
    }
}

/// Octets in one interval, or the most of several.
#[derive(Clone, Copy, Debug, Default)]
struct Asked {
    /// In a second.
    second: u32,
    /// In one burst: an interval of reports, before which nobody hears of them.
    burst: u32,
}

impl Asked {
    fn most(self, other: Self) -> Self {
        Self { second: self.second.max(other.second), burst: self.burst.max(other.burst) }
    }
}

/// Octets since the beginning of an interval.
#[derive(Clone, Copy, Debug)]
struct Count {
    since: Instant,
    octets: u32,
}

impl Count {
    /// Adds octets; another interval begins if this one has lasted for `length`.
    #[inline]
    fn add(&mut self, now: Instant, length: Duration, octets: u32) -> u32 {
        if now.saturating_since(self.since) >= length {
            *self = Self { since: now, octets: 0 };
        }
        self.octets = self.octets.saturating_add(octets);
        self.octets
    }
}

/// One flow. What it asked for is the most of twice [`MIN_RTT_FILTER_LEN`], and up to half of it before. A sender that comes to a
/// longer path may believe the shorter one's round trip for one such time, and is held back by that. In another it grows.
#[derive(Clone, Copy, Debug)]
struct Flow {
    hash: u32,
    last: Instant,
    second: Count,
    burst: Count,
    /// Octets that it has sent.
    total: u64,
    current: Asked,
    /// In the halves of [`MIN_RTT_FILTER_LEN`] before, the newest first.
    before: [Option<Asked>; 4],
    since: Instant,
}

impl Flow {
    fn new(hash: u32, now: Instant) -> Self {
        let count = Count { since: now, octets: 0 };
        let current = Asked::default();
        Self {
            hash,
            last: now,
            second: count,
            burst: count,
            total: 0,
            current,
            before: [None; 4],
            since: now,
        }
    }

    #[inline]
    fn add(&mut self, now: Instant, burst: Duration, octets: u32) {
        if now.saturating_since(self.since) >= MIN_RTT_FILTER_LEN / 2 {
            self.before.rotate_right(1);
            self.before[0] = Some(std::mem::take(&mut self.current));
            self.since = now;
        }
        self.last = now;
        self.total += u64::from(octets);
        let second = self.second.add(now, UNKNOWN, octets);
        let burst = self.burst.add(now, burst, octets);
        self.current = self.current.most(Asked { second, burst });
    }

    fn is_active(&self, now: Instant) -> bool {
        now.saturating_since(self.last) < UNKNOWN
    }

    /// Octets that are expected of it yet. Sizes of flows have a heavy tail: the more one has sent, the more is left. So as
    /// much is expected again, once it has lasted for longer than a sender needs to learn of a longer path.
    fn left(&self) -> f64 {
        if self.before[1].is_some() { self.total as f64 } else { 0.0 }
    }

    fn most(&self) -> Asked {
        self.before.iter().flatten().fold(self.current, |most, &before| most.most(before))
    }
}

/// Flows that were active lately.
#[derive(Clone, Copy, Debug)]
struct Active {
    /// When they were counted.
    at: Instant,
    flows: usize,
    /// Octets per second that they ask for together.
    asked: f64,
}

/// The flows of a bond.
#[derive(Debug)]
pub(crate) struct Demands {
    /// By the lowest bits of their hashes.
    flows: Vec<Option<Flow>>,
    active: Active,
    /// What comes within this time comes in one burst.
    burst: Duration,
    /// Octets that a host sends at once.
    at_once: u32,
}

impl Demands {
    pub(crate) fn new(tuning: &Tuning, now: Instant) -> Self {
        let (burst, at_once) = (tuning.copa.report_interval, tuning.bond.followers);
        let active = Active { at: now, flows: 0, asked: 0.0 };
        Self { flows: vec![None; CAPACITY], active, burst, at_once }
    }

    /// A packet comes.
    #[inline]
    pub(crate) fn note(&mut self, now: Instant, FlowKey { hash, .. }: FlowKey, octets: u32) {
        if now.saturating_since(self.active.at) >= UNKNOWN {
            self.count(now);
        }
        let place = &mut self.flows[hash as usize % CAPACITY];
        let flow = match place {
            Some(flow) if flow.hash == hash && flow.is_active(now) => flow,
            // It is followed for as long as it goes on.
            Some(flow) if flow.hash != hash && flow.is_active(now) => return,
            _ => place.insert(Flow::new(hash, now)),
        };
        flow.add(now, self.burst, octets);
    }

    fn count(&mut self, now: Instant) {
        self.active = Active { at: now, flows: 0, asked: 0.0 };
        for flow in self.flows.iter().flatten().filter(|flow| flow.is_active(now)) {
            self.active.flows += 1;
            self.active.asked += f64::from(flow.most().second);
        }
    }

    /// What is expected to follow a packet of so many octets.
    #[inline]
    pub(crate) fn followers(&self, flow: FlowKey, size: u32) -> Followers {
        if flow.opens {
            return Followers::of_first(size, self.at_once);
        }
        let first = Followers::of_first(size, if is_full(size) { self.at_once } else { size });
        let own = self.flows[flow.hash as usize % CAPACITY].as_ref();
        let Some(own) = own.filter(|own| own.hash == flow.hash) else { return first };
        let most = own.most();
        let asked = f64::from(most.second);
        let left = if is_full(size) { own.left() } else { 0.0 };
        let known = own.before[0].map(|_| Known { needs: self.needs(asked), burst: most.burst, left });
        Followers { asked, known, ..first }
    }

    /// A path of this rate, in octets per second, does not hold back a flow that asked for so much. One that is held back
    /// grows by the gain in a round trip, as soon as it is not. All flows have the same right to a path, and what one does
    /// not need is left to the others.
    fn needs(&self, asked: f64) -> f64 {
        let all_like_it = asked * self.active.flows.max(1) as f64;
        all_like_it.min(self.active.asked.max(asked)) * STARTUP_GAIN
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(millis)
    }

    fn key(hash: u32) -> FlowKey {
        FlowKey { hash, ..FlowKey::default() }
    }

    fn demands() -> Demands {
        Demands::new(&Tuning::default(), at(0))
    }

    /// Each `apart` ms so many full packets of 1000 octets.
    fn run(demands: &mut Demands, hash: u32, millis: std::ops::Range<u64>, apart: u64, packets: u32) {
        for now in millis.step_by(apart as usize) {
            (0..packets).for_each(|_| demands.note(at(now), key(hash), 1000));
        }
    }

    /// A full packet of each flow every 10 ms for six seconds.
    fn run_together(demands: &mut Demands, hashes: &[u32]) {
        for now in (0..6000).step_by(10) {
            hashes.iter().for_each(|&hash| run(demands, hash, now..now + 10, 10, 1));
        }
    }

    /// The followers of a packet of this size on paths of 20 ms; 0: none.
    fn octets_of(demands: &Demands, flow: FlowKey, size: u32, rate: f64) -> u32 {
        demands.followers(flow, size).octets(rate, 20_000_000).unwrap_or(0.0) as u32
    }

    /// Those of a full packet.
    fn octets(demands: &Demands, hash: u32, rate: f64) -> u32 {
        octets_of(demands, key(hash), 1000, rate)
    }

    #[test]
    fn what_a_flow_held_back_asks_for_in_a_round_trip_follows() {
        let mut demands = demands();
        run(&mut demands, 1, 0..1000, 1, 1);
        let held = demands.followers(key(1), 1000);
        let in_round_trip = |millis: i64| held.octets(1e6, millis * 1_000_000);
        assert_eq!([20, 100].map(in_round_trip), [Some(65_536.0), Some(100e3)]);
    }

    #[test]
    fn a_flow_that_has_lasted_for_ten_seconds_is_expected_to_send_as_much_again() {
        let mut demands = demands();
        run(&mut demands, 1, 0..9999, 1, 1);
        assert_eq!(octets(&demands, 1, 1e6), 65_536);
        run(&mut demands, 1, 9999..10_010, 1, 1);
        assert_eq!(octets(&demands, 1, 1e6), 10_010_000);
        assert_eq!(octets(&demands, 1, 1e9), 1000 * 5, "on a path that does not hold it back");
        assert_eq!(octets_of(&demands, key(1), 100, 1e6), 20_000, "of its acknowledgements");
    }

    #[test]
    fn as_many_small_packets_follow_as_come_in_a_round_trip() {
        let mut demands = demands();
        let of = |demands: &Demands, rate| octets_of(demands, key(1), 100, rate);
        assert_eq!(of(&demands, 1e9), 0, "of a flow that is not known");
        let acks = |demands: &mut Demands, millis: std::ops::Range<u64>| {
            millis.for_each(|millis| demands.note(at(millis), key(1), 100));
        };
        // 100 kB/s.
        acks(&mut demands, 0..1000);
        assert_eq!([1e9, 50e3].map(|rate| of(&demands, rate)), [2000, 1000]);
        acks(&mut demands, 1000..5002);
        // A path of less than 2.77 times as much holds them back.
        assert_eq!([276e3, 278e3].map(|rate| of(&demands, rate)), [5520, 0]);
    }

    #[test]
    fn a_packet_is_full_from_775_octets_on_and_a_syn_counts_as_one() {
        let demands = demands();
        let opens = FlowKey { opens: true, ..key(1) };
        let of = |flow, size| octets_of(&demands, flow, size, 1e9);
        assert_eq!([of(key(1), 774), of(key(1), 775), of(opens, 60)], [0, 65_536, 65_536]);
    }

    #[test]
    fn a_flow_is_known_after_five_seconds() {
        let mut demands = demands();
        run(&mut demands, 1, 0..5000, 20, 5);
        assert_eq!(octets(&demands, 1, 1e9), 65_536);
        run(&mut demands, 1, 5000..5020, 20, 5);
        // 250 kB/s in bursts of 5 kB.
        assert_eq!(octets(&demands, 1, 2.76 * 250e3), 65_536, "it may be held back");
        assert_eq!(octets(&demands, 1, 2.78 * 250e3), 5000);
        assert_eq!(octets(&demands, 2, 1e9), 65_536);
    }

    #[test]
    fn its_greatest_second_and_burst_count_for_twenty_to_twenty_five_seconds() {
        let mut demands = demands();
        run(&mut demands, 1, 0..6000, 20, 5);
        run(&mut demands, 1, 6000..6100, 20, 50);
        let asks = |demands: &Demands| (octets(demands, 1, 800e3), octets(demands, 1, 1e9));
        run(&mut demands, 1, 6100..29_900, 20, 5);
        assert_eq!(asks(&demands), (7_700_000, 50_000), "it is held back by the slower path");
        run(&mut demands, 1, 29_900..30_100, 20, 5);
        assert_eq!(asks(&demands), (5000, 5000));
    }

    #[test]
    fn who_was_idle_for_a_second_is_not_known() {
        let mut demands = demands();
        run(&mut demands, 1, 0..6000, 20, 5);
        assert_eq!(octets(&demands, 1, 1e9), 5000);
        run(&mut demands, 1, 7100..7120, 20, 5);
        assert_eq!(octets(&demands, 1, 1e9), 65_536);
    }

    #[test]
    fn each_of_several_flows_has_a_part_of_a_path() {
        let mut demands = demands();
        run_together(&mut demands, &[1, 2, 3, 4]);
        // 100 kB/s each.
        assert_eq!(octets(&demands, 3, 1.1e6), 65_536);
        assert_eq!(octets(&demands, 3, 1.12e6), 0, "its packets come one by one");
    }

    #[test]
    fn what_others_do_not_need_is_left_to_a_flow() {
        let mut demands = demands();
        for now in (0..6000).step_by(10) {
            run(&mut demands, 1, now..now + 10, 10, 9);
            run(&mut demands, 2, now..now + 10, 10, 1);
        }
        // 900 and 100 kB/s: 2.77 MB/s are enough for both.
        assert_eq!([2.76e6, 2.78e6].map(|rate| octets(&demands, 1, rate)), [65_536, 9000]);
    }

    /// Their hashes have the same lowest bits.
    #[test]
    fn a_flow_keeps_its_place_while_it_goes_on() {
        let mut demands = demands();
        let other = 1 + CAPACITY as u32;
        run_together(&mut demands, &[1, other]);
        assert_eq!(octets(&demands, 1, 1e9), 0);
        assert_eq!(octets(&demands, other, 1e9), 65_536);
        run(&mut demands, other, 7000..12_100, 10, 1);
        assert_eq!(octets(&demands, other, 1e9), 0);
    }
}
