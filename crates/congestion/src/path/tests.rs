//! Controlled paths over one bottleneck, with reports that come in lumps.

use super::{ControlledPath, CopaTuning, PathBbr, PathController, PathCopa, PathSample, Spread, Transparent};
use crate::rate_sample::{LostPacket, PacketState};
use ropewalk_adversary::{Random, Source};
use ropewalk_units::{Duration, Instant, Rate};
use std::collections::VecDeque;

pub(super) const SIZE: u32 = 1000;
const CATCH_UP: Duration = Duration::from_millis(10);

/// A path over one line: packets leave the line in order, and every `report_each` the peer reports what came. Not the
/// test network: a controller knows only octets and times, no packets.
struct Line<C> {
    path: ControlledPath<C>,
    /// Octets of each packet.
    size: u32,
    now: Instant,
    /// Octets per second.
    rate: f64,
    one_way: Duration,
    /// Octets that may wait.
    buffer: f64,
    report_each: Duration,
    /// Reports come so much later than by the shortest way back. Round trips are counted without it.
    late: Duration,
    /// Every so many packets one is lost; 0 for none.
    lose_each: u64,
    /// What everybody waits besides, for a queue that others hold.
    foreign: Duration,
    /// The times of a report are longer by up to so much, all by the same.
    jitter: Duration,
    random: Random,
    /// Nothing is to be sent.
    idle: bool,
    /// Octets per second that the application has to send; infinite: always more than may leave.
    offered: f64,
    /// Octets that wait to be sent.
    waiting: f64,
    free: Instant,
    sent: u64,
    /// Arrival, if it arrives.
    flying: VecDeque<(Option<Instant>, PacketState)>,
    delivered: u64,
    queues: Vec<Duration>,
}

impl<C: PathController> Line<C> {
    fn new(controller: C, mbps: f64, rtt_ms: u64) -> Self {
        Self {
            path: ControlledPath::new(controller, CATCH_UP, Instant::ZERO),
            size: SIZE,
            now: Instant::ZERO,
            rate: mbps * 1e6 / 8.0,
            one_way: Duration::from_millis(rtt_ms) / 2,
            buffer: 1e9,
            report_each: Duration::from_millis(5),
            late: Duration::ZERO,
            lose_each: 0,
            foreign: Duration::ZERO,
            jitter: Duration::ZERO,
            random: Random::new(1),
            idle: false,
            offered: f64::INFINITY,
            waiting: 0.0,
            free: Instant::ZERO,
            sent: 0,
            flying: VecDeque::new(),
            delivered: 0,
            queues: Vec::new(),
        }
    }

    fn run(&mut self, seconds: f64) {
        let end = self.now + Duration::from_secs_f64(seconds);
        let step = Duration::from_micros(10);
        while self.now < end {
            self.now += step;
            if self.now.as_nanos().is_multiple_of(self.report_each.as_nanos()) {
                self.report();
            }
            self.waiting += self.offered * step.as_secs_f64();
            if self.has_nothing_to_send() {
                self.path.on_nothing_to_send();
            }
            while !self.has_nothing_to_send() && self.path.may_send(self.now, self.size) {
                self.waiting -= f64::from(self.size);
                self.depart();
            }
            if !self.has_nothing_to_send() {
                self.path.on_waiting(self.now, self.size);
            }
        }
    }

    fn has_nothing_to_send(&self) -> bool {
        self.idle || self.waiting < f64::from(self.size)
    }

    /// The peer wrote the report as long ago as its way takes.
    fn report(&mut self) {
        let told = |at: Instant| at + self.one_way + self.late <= self.now;
        let came = |arrival: &Option<Instant>| arrival.is_some_and(told);
        let Some(last) = self.flying.iter().rposition(|(arrival, _)| came(arrival)) else { return };
        let jitter = self.jitter.mul_f64((self.random.next() >> 40) as f64 / (1 << 24) as f64);
        let (mut least, mut newest) = (Duration::MAX, Duration::MAX);
        for (arrival, state) in self.flying.drain(..=last) {
            let Some(arrival) = arrival else {
                self.path.on_lost(self.now, self.size, &state);
                continue;
            };
            self.delivered += u64::from(self.size);
            let rtt = arrival.saturating_since(state.send_time) + self.one_way + jitter;
            (least, newest) = (least.min(rtt), rtt);
            self.path.on_delivered(self.size, &state, rtt);
        }
        let excess = newest.saturating_sub(least);
        self.path.on_spread(Spread { excess, late: self.late, ..Spread::default() });
        self.path.end_report(self.now);
    }

    fn depart(&mut self) {
        let state = self.path.on_sent(self.now, self.size);
        self.sent += 1;
        let queue = self.free.saturating_since(self.now);
        let unlucky = self.lose_each > 0 && self.sent.is_multiple_of(self.lose_each);
        if unlucky || queue.as_secs_f64() * self.rate > self.buffer {
            return self.flying.push_back((None, state));
        }
        self.queues.push(queue);
        self.free = self.free.max(self.now) + Duration::from_secs_f64(f64::from(self.size) / self.rate);
        self.flying.push_back((Some(self.free + self.foreign + self.one_way), state));
    }

    /// For 50 ms one packet in so many is lost.
    fn burst(&mut self, lose_each: u64) {
        let usual = std::mem::replace(&mut self.lose_each, lose_each);
        self.run(0.05);
        self.lose_each = usual;
    }

    fn share(&mut self, seconds: f64) -> f64 {
        let before = self.delivered;
        self.queues.clear();
        self.run(seconds);
        (self.delivered - before) as f64 / seconds / self.rate
    }

    /// What leaves in so many seconds, as a part of the line's rate, and what comes.
    fn sent_and_came(&mut self, seconds: f64) -> (f64, f64) {
        let before = self.sent;
        let came = self.share(seconds);
        ((self.sent - before) as f64 * f64::from(self.size) / seconds / self.rate, came)
    }
}

#[test]
fn a_transparent_path_may_always_send() {
    let mut path = ControlledPath::new(Transparent, CATCH_UP, Instant::ZERO);
    for _ in 0..100_000 {
        assert!(path.may_send(Instant::ZERO, SIZE));
        path.on_sent(Instant::ZERO, SIZE);
    }
    assert_eq!(path.inflight(), 100_000 * SIZE);
    path.on_timeout(Instant::ZERO);
    assert_eq!(path.inflight(), 0);
}

/// Eight packets may be on their way, and one leaves in a millisecond.
struct Fixed;

impl PathController for Fixed {
    fn on_restart_from_idle(&mut self, _: Instant) {}
    fn on_sent(&mut self, _: Instant, _: u32, _: u32) {}
    fn on_lost(&mut self, _: Instant, _: &LostPacket) {}
    fn on_report(&mut self, _: Instant, _: &PathSample) {}
    fn on_timeout(&mut self, _: Instant) {}
    fn inflight_bound(&self) -> u32 {
        8 * SIZE
    }
    fn pacing_rate(&self, _: Instant) -> Option<Rate> {
        Some(Rate::from_bits_per_sec(8_000_000))
    }
    fn bandwidth(&self) -> Option<Rate> {
        None
    }
    fn base_rtt(&self) -> Option<Duration> {
        None
    }
    fn limits_itself(&self) -> bool {
        false
    }
}

/// All packets that may leave now, and what the path knows of them.
fn send_all(path: &mut ControlledPath<Fixed>, now: Instant) -> Vec<PacketState> {
    let mut sent = Vec::new();
    while path.may_send(now, SIZE) {
        sent.push(path.on_sent(now, SIZE));
    }
    path.on_waiting(now, SIZE);
    sent
}

#[test]
fn what_the_pacer_alone_held_is_caught_up_with() {
    let at = |millis: u64| Instant::ZERO + Duration::from_millis(millis);
    let mut path = ControlledPath::new(Fixed, CATCH_UP, at(0));
    assert_eq!(send_all(&mut path, at(0)).len(), 1);
    // The timer of the first millisecond is late by five.
    assert_eq!(send_all(&mut path, at(6)).len(), 6);
}

/// Seven that congestion control does not hold back leave besides, or none.
#[test]
fn what_is_not_held_back_takes_room_and_none_of_the_pacers_time() {
    for besides in [0, 7] {
        let mut path = ControlledPath::new(Fixed, CATCH_UP, Instant::ZERO);
        path.on_sent(Instant::ZERO, SIZE);
        (0..besides).for_each(|_| {
            path.on_sent_unpaced(Instant::ZERO, SIZE);
        });
        assert_eq!(path.next_send_time(), Instant::ZERO + Duration::from_millis(1));
        assert_eq!(path.has_room(SIZE), besides == 0);
    }
}

#[test]
fn what_the_bound_held_leaves_at_the_pacers_rate() {
    let at = |millis: u64| Instant::ZERO + Duration::from_millis(millis);
    let mut path = ControlledPath::new(Fixed, CATCH_UP, at(0));
    let sent: Vec<_> = (0..20).flat_map(|millis| send_all(&mut path, at(millis))).collect();
    assert_eq!(sent.len(), 8);
    for state in sent {
        path.on_delivered(SIZE, &state, Duration::from_millis(20));
    }
    path.end_report(at(20));
    assert_eq!(send_all(&mut path, at(20)).len(), 1);
}

#[test]
fn bbr_fills_the_line_whatever_lumps_reports_come_in() {
    for report_each in [1, 5, 25] {
        let mut line = Line::new(PathBbr::new(7, SIZE, Instant::ZERO), 20.0, 50);
        line.report_each = Duration::from_millis(report_each);
        line.run(5.0);
        let share = line.share(20.0);
        assert!(share > 0.93, "reports each {report_each} ms: {share}");
        let bandwidth = line.path.controller().bandwidth().expect("known").as_mbps();
        assert!((19.0..21.0).contains(&bandwidth), "{bandwidth}");
        // The wait of a report is no round trip.
        let base = line.path.controller().base_rtt().expect("known").as_secs_f64();
        assert!((0.0499..0.052).contains(&base), "{base}");
    }
}

#[test]
fn bbr_survives_a_timeout_and_comes_back() {
    let mut line = Line::new(PathBbr::new(7, SIZE, Instant::ZERO), 20.0, 50);
    line.run(5.0);
    line.flying.clear();
    line.path.on_timeout(line.now);
    assert!(line.path.may_send(line.now + Duration::from_secs(1), SIZE));
    line.run(1.0);
    let share = line.share(5.0);
    assert!(share > 0.9, "{share}");
}

#[test]
fn bbr_leaves_startup_by_losses_in_a_short_buffer() {
    let mut line = Line::new(PathBbr::new(7, SIZE, Instant::ZERO), 20.0, 50);
    line.buffer = 12_500.0;
    line.run(2.0);
    let share = line.share(20.0);
    assert!(share > 0.85, "{share}");
    let longest = line.queues.iter().copied().fold(Duration::ZERO, Duration::max);
    assert!(longest <= Duration::from_millis(6), "{longest:?}");
}

fn copa(mbps: f64, rtt_ms: u64) -> Line<PathCopa> {
    Line::new(PathCopa::new(7, SIZE, &CopaTuning::default(), Instant::ZERO), mbps, rtt_ms)
}

#[test]
fn copa_alone_fills_the_line_and_keeps_its_queue_short() {
    for (mbps, rtt_ms) in [(2.0, 20), (10.0, 26), (60.0, 150)] {
        let mut line = copa(mbps, rtt_ms);
        line.run(10.0);
        let share = line.share(20.0);
        assert!(share > 0.93, "{mbps} Mbit/s, {rtt_ms} ms: {share}");
        line.queues.sort_unstable();
        let p99 = line.queues[line.queues.len() * 99 / 100].as_secs_f64();
        // 2.5 of the queue that Copa wants, two packets or a millisecond, with two packets' time for the grain of reports.
        let packet = f64::from(SIZE) / line.rate;
        let wanted = (2.0 * packet).max(0.001);
        assert!(p99 < 2.5 * wanted + 2.0 * packet + 0.002, "{mbps} Mbit/s, {rtt_ms} ms: {p99}");
        assert!(!line.path.controller().is_competing());
    }
}

/// Twenty milliseconds by one path, reported by another that takes up to 80 ms longer.
#[test]
fn reports_by_a_longer_way_leave_the_line_full() {
    for late in [10, 40, 80] {
        let mut line = copa(60.0, 20);
        line.late = Duration::from_millis(late);
        line.run(10.0);
        let share = line.share(20.0);
        assert!(share > 0.93, "{late} ms late: {share}");
        line.queues.sort_unstable();
        let p99 = line.queues[line.queues.len() * 99 / 100];
        assert!(p99 < Duration::from_millis(6), "{late} ms late: {p99:?}");
    }
}

/// What a path of 20 Mbit/s, 30 ms has of 15 Mbit/s that come, once reports of it have become late by so many seconds. Until then
/// a tenth of that comes, so that no window grows.
fn share_once_reports_are_late<C: PathController>(controller: C, late: f64) -> f64 {
    let mut line = Line::new(controller, 20.0, 30);
    line.run(3.0);
    line.offered = 1.5e6 / 8.0;
    line.waiting = 0.0;
    for step in 1..=50 {
        line.late = Duration::from_secs_f64(late * f64::from(step) / 50.0);
        line.run(0.2);
    }
    line.offered = 15e6 / 8.0;
    let (sent, _) = line.sent_and_came(4.0);
    sent * 20.0 / 15.0
}

/// What is delivered and not told of is not on its way.
#[test]
fn reports_that_become_late_by_seconds_hold_no_source_back() {
    for late in [0.1, 0.5, 2.0] {
        let copa = PathCopa::new(7, SIZE, &CopaTuning::default(), Instant::ZERO);
        let bbr = PathBbr::new(7, SIZE, Instant::ZERO);
        let shares = [share_once_reports_are_late(copa, late), share_once_reports_are_late(bbr, late)];
        assert!(shares[0] > 0.95, "Copa, {late} s late: {shares:?}");
        assert!(shares[1] > 0.9, "BBR, {late} s late: {shares:?}");
    }
}

/// The rate in Mbit/s that a path of 60 Mbit/s, 40 ms is believed to have after half a minute in which the application sends
/// `offered` Mbit/s, and what is done to the line then.
fn believed(offered: f64, change: impl Fn(&mut Line<PathCopa>)) -> f64 {
    let mut line = copa(60.0, 40);
    line.run(5.0);
    line.offered = offered * 1e6 / 8.0;
    line.waiting = 0.0;
    line.run(2.0);
    change(&mut line);
    line.run(30.0);
    line.path.controller().bandwidth().map_or(0.0, |rate| rate.bits_per_sec() as f64 / 1e6)
}

/// Reports come by a way with a queue that varies, and what of it stays seems to be this path's. A path that carries ACKs alone
/// is then not as slow as these come.
#[test]
fn a_queue_on_the_way_of_reports_makes_no_path_slow() {
    for (offered, wait, late) in [(2.0, 8, 15), (0.1, 8, 15), (5.0, 20, 25)] {
        let rate = believed(offered, |line| {
            (line.foreign, line.late) = (Duration::from_millis(wait), Duration::from_millis(late));
        });
        assert!(rate > 30.0, "{offered} Mbit/s, {wait} ms: {rate}");
    }
}

/// The path is busy all the time, though the application never fills its window.
#[test]
fn a_rate_that_falls_below_what_the_application_sends_is_learned() {
    let rate = believed(30.0, |line| line.rate /= 3.0);
    assert!((18.0..24.0).contains(&rate), "{rate}");
}

#[test]
fn delays_that_vary_by_themselves_are_no_queue() {
    for (mbps, rtt_ms) in [(10.0, 26), (60.0, 30), (100.0, 20)] {
        let mut line = copa(mbps, rtt_ms);
        line.jitter = Duration::from_millis(5);
        line.run(10.0);
        let share = line.share(20.0);
        assert!(share > 0.9, "{mbps} Mbit/s, {rtt_ms} ms: {share}");
    }
}

/// Others held the queue, and had gone long before the line becomes longer: eight round trips of 66 ms, and what reports wait.
#[test]
fn a_base_delay_that_rose_is_looked_for_as_soon_after_a_drain_as_before() {
    let until_found = |line: &mut Line<PathCopa>| {
        line.foreign = Duration::from_millis(16);
        let steps = (1..).find(|_| {
            line.run(0.01);
            line.path.controller().is_competing()
        });
        f64::from(steps.expect("it looks like a queue of others")) / 100.0
    };
    // What the application sends makes no queue: no round tells that the path's own has found its level.
    let quiet = |line: &mut Line<PathCopa>| {
        (line.offered, line.waiting) = (0.8 * line.rate, 0.0);
        line.run(20.0);
    };
    let mut fresh = copa(20.0, 50);
    fresh.run(5.0);
    quiet(&mut fresh);
    let mut drained = copa(20.0, 50);
    drained.run(5.0);
    until_found(&mut drained);
    drained.foreign = Duration::ZERO;
    quiet(&mut drained);
    assert!(!drained.path.controller().is_competing(), "others have gone");
    let times = [fresh, drained].map(|mut line| until_found(&mut line));
    assert!(times.iter().all(|&time| time < 0.75), "{times:?} s");
}

#[test]
fn random_losses_do_not_move_copa() {
    let mut line = copa(20.0, 50);
    line.lose_each = 100;
    line.run(10.0);
    let share = line.share(20.0);
    assert!(share > 0.95, "{share}");
}

/// Where chance takes many in one round trip, that seems the overflow of a buffer of a millisecond. Copa wants less of a queue then, and
/// what is lost beside its own swings is still no loss of others.
#[test]
fn random_losses_that_seem_an_overflow_do_not_move_copa() {
    let mut line = copa(150.0, 14);
    line.run(3.0);
    line.lose_each = 128;
    let mut shares = Vec::new();
    for _ in 0..10 {
        line.burst(30);
        shares.push(line.share(4.0));
    }
    assert!(shares.iter().all(|&share| share > 0.93), "{shares:?}");
}

/// A radio loses in bursts, which seem overflows one by one.
#[test]
fn losses_in_bursts_leave_copa_its_line() {
    for (mbps, rtt_ms) in [(100.0, 14), (50.0, 30), (20.0, 50), (150.0, 100)] {
        let mut line = copa(mbps, rtt_ms);
        line.run(3.0);
        let mut shares = Vec::new();
        for _ in 0..40 {
            line.burst(20);
            shares.push(line.share(0.5));
        }
        let mean = shares[20..].iter().sum::<f64>() / 20.0;
        assert!(mean > 0.95, "{mbps} Mbit/s, {rtt_ms} ms: {mean}, {shares:?}");
    }
}

/// A queue of others that comes and goes is none to compete with. What is lost beside it is lost to them as well, and a CUBIC flow has
/// some 15 packets on its way then, where the line holds 150.
#[test]
fn losses_beside_a_queue_of_others_slow_copa_down() {
    let mut line = copa(20.0, 50);
    line.lose_each = 100;
    line.run(10.0);
    let mut shares = Vec::new();
    for _ in 0..20 {
        line.foreign = Duration::from_millis(15);
        line.run(0.1);
        line.foreign = Duration::ZERO;
        shares.push(line.share(0.2));
        assert!(!line.path.controller().is_competing());
    }
    let last = shares[15..].iter().sum::<f64>() / 5.0;
    assert!(last < 0.7, "{shares:?}");
}

#[test]
fn a_queue_that_others_hold_is_competed_with_until_it_goes() {
    let mut line = copa(20.0, 50);
    line.run(10.0);
    line.foreign = Duration::from_millis(40);
    line.run(1.0);
    assert!(line.path.controller().is_competing(), "half a second of a full queue is enough");
    line.foreign = Duration::ZERO;
    line.run(6.0);
    assert!(!line.path.controller().is_competing(), "a drain has found nobody");
    let share = line.share(10.0);
    assert!(share > 0.97, "{share}");
}

/// Others' queue fell just when drains looked at it. Copa takes what stands there for its own queue then, and yields to it.
#[test]
fn others_that_drains_missed_are_competed_with_again_within_a_few_rounds() {
    let mut line = copa(20.0, 50);
    line.run(10.0);
    line.foreign = Duration::from_millis(60);
    line.run(3.0);
    assert!(line.path.controller().is_competing());
    line.foreign = Duration::ZERO;
    while line.path.controller().is_competing() {
        line.run(0.01);
    }
    line.foreign = Duration::from_millis(60);
    let from = line.now;
    while !line.path.controller().is_competing() {
        line.run(0.01);
    }
    let yielded = line.now.saturating_since(from).as_secs_f64();
    println!("it has yielded for {yielded:.2} s");
    // A round takes 0.11 s, and sixteen without an empty queue nearly two seconds.
    assert!(yielded < 0.8, "{yielded}");
}

/// What a path has of its line of 20 Mbit/s beside others that hold a queue, where one packet in so many is lost.
fn share_beside_others(size: u32, lose_each: u64) -> f64 {
    let mut line = copa(20.0, 50);
    line.size = size;
    line.lose_each = 100;
    line.run(10.0);
    let alone = line.share(3.0);
    assert!(alone > 0.9, "{alone}");
    line.lose_each = lose_each;
    line.foreign = Duration::from_millis(40);
    line.run(2.0);
    assert!(line.path.controller().is_competing());
    line.share(3.0)
}

/// The others lose as much: a CUBIC flow has some 15 packets on its way then, where the line holds 150.
#[test]
fn beside_others_a_path_slows_down_for_losses() {
    let beside = share_beside_others(SIZE, 100);
    assert!((0.05..0.4).contains(&beside), "{beside}");
}

/// RFC 4828 §3: as many octets, and not as many packets.
#[test]
fn beside_others_small_packets_have_the_share_of_full_ones() {
    for lose_each in [100, 10] {
        let [small, full] = [SIZE / 8, SIZE].map(|size| share_beside_others(size, lose_each));
        assert!((0.7..1.5).contains(&(small / full)), "one in {lose_each} lost: {small} and {full}");
    }
}

/// ACKs of which a fifth is lost: BBR goes down to its least window (MinPipeCwnd).
#[test]
fn beside_others_small_packets_have_room_for_four_full_ones() {
    let mut line = copa(20.0, 50);
    line.size = SIZE / 8;
    line.lose_each = 100;
    line.run(10.0);
    line.foreign = Duration::from_millis(40);
    // Until BBR's Startup is over, which a source that sends little does not end.
    line.run(4.0);
    (line.offered, line.waiting, line.lose_each) = (20e3, 0.0, 5);
    let mut least = u32::MAX;
    for _ in 0..60 {
        line.run(0.1);
        let controller = line.path.controller();
        if controller.is_competing() {
            least = least.min(controller.inflight_bound());
        }
    }
    assert!((4 * SIZE..20 * SIZE).contains(&least), "{least}");
}

#[test]
fn a_base_delay_that_rose_is_learned_by_drains() {
    let mut line = copa(20.0, 50);
    line.run(10.0);
    line.one_way = Duration::from_millis(55);
    line.run(25.0);
    let base = line.path.controller().base_rtt().expect("known").as_secs_f64();
    assert!((0.109..0.113).contains(&base), "{base}");
    assert!(!line.path.controller().is_competing());
    let share = line.share(10.0);
    assert!(share > 0.95, "{share}");
}

/// BBR, which takes over, bounds what is in flight by twice what the old round trip holds, until the first drain tells the new one.
#[test]
fn a_base_delay_that_rose_by_a_hundred_ms_holds_a_source_back_for_two_seconds_at_most() {
    let mut line = copa(37.0, 9);
    line.run(5.0);
    line.offered = 15e6 / 8.0;
    line.waiting = 0.0;
    line.run(25.0);
    line.one_way += Duration::from_millis(50);
    line.run(2.0);
    line.waiting = 0.0;
    let came = line.share(6.0) * line.rate / line.offered;
    assert!(came > 0.95, "{came}");
}

#[test]
fn copa_comes_back_after_idleness_and_after_a_timeout() {
    let mut line = copa(20.0, 50);
    line.run(10.0);
    line.idle = true;
    line.run(60.0);
    line.idle = false;
    line.run(0.3);
    let share = line.share(2.0);
    assert!(share > 0.9, "after a minute of silence: {share}");
    line.flying.clear();
    line.path.on_timeout(line.now);
    line.run(1.0);
    let share = line.share(5.0);
    assert!(share > 0.9, "after a timeout: {share}");
}

/// A line of 100 Mbit/s and 100 ms whose buffer holds a sixteenth of what is on its way.
fn with_short_buffer() -> Line<PathCopa> {
    let mut line = copa(100.0, 100);
    line.buffer = f64::from(80 * SIZE);
    line.run(10.0);
    line
}

/// The parts of the line's rate that leave and come within a second from now on, and the least that Copa believes in meanwhile.
fn next_second(line: &mut Line<PathCopa>) -> [f64; 3] {
    let mut sum = [0.0, 0.0, f64::INFINITY];
    for _ in 0..100 {
        let (sent, came) = line.sent_and_came(0.01);
        let believed =
            line.path.controller().bandwidth().map_or(0.0, |rate| rate.bits_per_sec() as f64 / 8.0);
        sum = [sum[0] + sent / 100.0, sum[1] + came / 100.0, sum[2].min(believed / line.rate)];
    }
    sum
}

#[test]
fn after_a_pause_a_window_leaves_no_faster_than_it_comes() {
    let mut line = with_short_buffer();
    line.idle = true;
    line.run(1.0);
    line.idle = false;
    let [sent, came, believed] = next_second(&mut line);
    // What left last has not come yet.
    assert!(sent - came < 0.112 && came > 0.88 && believed > 0.97, "{sent} sent, {came} came, {believed}");
}

/// The peer sleeps, and then tells of all that came meanwhile.
#[test]
fn after_a_silence_of_reports_a_window_leaves_no_faster_than_it_comes() {
    let mut line = with_short_buffer();
    line.report_each = Duration::from_millis(200);
    line.run(0.2);
    line.report_each = Duration::from_millis(5);
    line.path.on_gap(line.now);
    let [sent, came, believed] = next_second(&mut line);
    assert!(sent - came < 0.112 && came > 0.88 && believed > 0.97, "{sent} sent, {came} came, {believed}");
}

#[test]
fn a_buffer_shorter_than_copas_queue_is_not_flooded() {
    let mut line = copa(20.0, 50);
    line.buffer = 3_000.0;
    line.run(10.0);
    let (sent, delivered) = (line.sent, line.delivered);
    line.run(20.0);
    let told = (line.delivered - delivered) as f64 / f64::from(SIZE) / (line.sent - sent) as f64;
    assert!(told > 0.96, "{told}");
}

/// The window falls once for what one overflow has lost, though that is told over several round trips.
#[test]
fn a_buffer_shorter_than_copas_queue_is_filled_nearly_all_the_time() {
    for (mbps, rtt_ms, packets) in
        [(20.0, 50, 3), (16.0, 20, 2), (16.0, 100, 3), (30.0, 60, 4), (10.0, 100, 2)]
    {
        let mut line = copa(mbps, rtt_ms);
        line.buffer = f64::from(packets * SIZE);
        line.run(10.0);
        let (sent, came) = line.sent_and_came(20.0);
        assert!(came > 0.965 && came > 0.98 * sent, "{mbps} Mbit/s, {rtt_ms} ms: {sent} sent, {came} came");
    }
}

/// Copa wants a millisecond's queue, which is much of such a buffer. Once it has overflowed Copa wants less.
#[test]
fn a_buffer_of_a_few_milliseconds_hardly_ever_overflows() {
    for (mbps, rtt_ms, packets) in [(100.0, 9, 23), (100.0, 40, 33), (200.0, 30, 60), (60.0, 60, 15)] {
        let mut line = copa(mbps, rtt_ms);
        line.buffer = f64::from(packets * SIZE);
        line.run(10.0);
        let (sent, came) = line.sent_and_came(20.0);
        assert!(came > 0.99 && sent - came < 0.001, "{mbps} Mbit/s, {rtt_ms} ms: {sent} sent, {came} came");
    }
}

/// Two full packets are a longer queue than the buffer holds. So Copa never sees the queue that it wants, and losses have to tell.
#[test]
fn a_buffer_of_few_small_packets_is_not_flooded() {
    let mut line = copa(3.0, 10);
    line.size = SIZE / 10;
    line.buffer = f64::from(15 * line.size);
    line.path.on_train(Instant::ZERO, Rate::from_bits_per_sec(3_000_000), Some(Duration::from_millis(10)));
    line.run(2.0);
    let (sent, came) = line.sent_and_came(20.0);
    assert!(came > 0.7 && came > 0.96 * sent, "{sent} sent, {came} came");
}

#[test]
fn slow_start_ends_at_an_overflow_that_no_queue_shows() {
    for (mbps, rtt_ms, buffer) in [(20.0, 50, 500.0), (100.0, 80, 1_000.0), (100.0, 80, 2_000.0)] {
        let mut line = copa(mbps, rtt_ms);
        line.buffer = buffer;
        // Ten packets have doubled to what the line holds in seven.
        line.run(14.0 * rtt_ms as f64 / 1e3);
        assert!(!line.path.controller().is_starting(), "{mbps} Mbit/s, {buffer} octets");
        let (sent, delivered) = (line.sent, line.delivered);
        line.run(10.0);
        let told = (line.delivered - delivered) as f64 / f64::from(SIZE) / (line.sent - sent) as f64;
        assert!(told > 0.99, "{mbps} Mbit/s, {buffer} octets: {told}");
    }
}

/// The rate at which a source that has 80 Mbit/s sends over a line of 64, as a part of the line's, in each of five
/// times two seconds. A train has told `told` times the line's rate.
fn sent_of_a_limited_source<C: PathController>(line: &mut Line<C>, told: u64) -> [f64; 5] {
    let rate = Rate::from_bits_per_sec(told * 64_000_000);
    line.path.on_train(Instant::ZERO, rate, Some(Duration::from_millis(26)));
    line.offered = 80e6 / 8.0;
    [(); 5].map(|()| line.sent_and_came(2.0).0)
}

#[test]
fn what_the_line_drops_ends_a_rate_that_a_train_told_too_great() {
    for (told, buffer) in [1, 2, 10, 60].into_iter().flat_map(|told| [150e3, 300e3, 600e3].map(|b| (told, b)))
    {
        let mut line = copa(64.0, 26);
        line.buffer = buffer;
        let [first, rest @ ..] = sent_of_a_limited_source(&mut line, told);
        assert!(first < 1.1, "{told} times the rate, {buffer} octets of buffer: {first}");
        assert!(rest.iter().all(|part| (0.9..1.02).contains(part)), "{told}, {buffer}: {rest:?}");
    }
}

/// The draft's test "Exiting STARTUP on Loss When Application-Limited".
#[test]
fn losses_end_the_startup_of_a_path_that_the_application_limits() {
    let mut line = Line::new(PathBbr::new(7, SIZE, Instant::ZERO), 64.0, 26);
    line.buffer = 150e3;
    // Slowly at first, so that no sample is of a path that is used.
    line.offered = 10e6 / 8.0;
    line.run(1.0);
    let [_, rest @ ..] = sent_of_a_limited_source(&mut line, 1);
    assert!(rest.iter().all(|part| (0.85..1.05).contains(part)), "{rest:?}");
}

/// From `least` to `most`, evenly on a logarithmic scale.
fn drawn(random: &mut Random, least: f64, most: f64) -> f64 {
    let part = (random.next() >> 11) as f64 / (1_u64 << 53) as f64;
    least * libm::pow(most / least, part)
}

#[test]
fn lines_drawn_at_random_end_it_within_thirty_round_trips() {
    let mut random = Random::new(4242);
    let mut draw = |least, most| drawn(&mut random, least, most);
    for _ in 0..40 {
        let (mbps, rtt_ms) = (draw(2.0, 200.0), draw(8.0, 300.0) as u64);
        let mut line = copa(mbps, rtt_ms);
        let rtt = line.one_way * 2;
        line.buffer = (line.rate * rtt.as_secs_f64() * draw(0.2, 4.0)).max(15e3);
        let told = draw(1.0, 60.0);
        line.path.on_train(Instant::ZERO, Rate::from_bits_per_sec((told * mbps * 1e6) as u64), Some(rtt));
        line.offered = draw(1.05, 3.0) * line.rate;
        line.run((rtt.as_secs_f64() * 30.0).max(2.0));
        let (sent, came) = line.sent_and_came(5.0);
        let case = (mbps, rtt_ms, line.buffer, told, line.offered / line.rate);
        assert!(came > 0.8 && sent < 1.06, "{case:?}: {came} came, {sent} sent");
    }
}
