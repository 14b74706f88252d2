//! One path as the sending gateway sees it: a controlled channel, what was sent on it, and what the
//! peer reported of that.

mod base_rtt;
mod controller;
pub(crate) mod liveness;
mod losses;
mod quota;
mod sent_log;
mod watch;

pub(crate) use controller::AnyController;
pub use quota::{Quota, Spending};
pub(crate) use sent_log::{Kept, RepairTerms};

use crate::clock::micros;
use crate::config::KeepaliveConfig;
use crate::event::PathState;
use crate::id::{PathId, PathSeq};
use crate::path::liveness::Liveness;
use crate::scheduler::{LossDelay, Progress, View};
use crate::tuning::{BondTuning, Tuning};
use crate::wire::FULL_PACKET;
use crate::wire::control::{PathReport, TICK};
use base_rtt::BaseRtt;
use losses::Losses;
use ropewalk_congestion::{ControlledPath, PacketState, PathController, Spread};
use ropewalk_units::{Duration, Instant, Rate};
use sent_log::{Fate, Sent, SentLog};
use std::collections::VecDeque;
use watch::Watch;

/// By which way, and how late, a report came.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct WayBack {
    /// The round trip without queue of the shortest path.
    pub(crate) shortest: Duration,
    /// By how much later the report came than the quickest packet by the path with the shortest way
    /// back. These are one-way delays by the peer's clock, so a queue on the way to the peer is not
    /// part of them.
    pub(crate) late: Duration,
}

impl WayBack {
    /// The round trip `rtt` as if its report had come by the shortest way back, and as quickly as
    /// possible. What the way back adds is not a delay of the path.
    fn usual(self, rtt: Duration) -> Duration {
        // A wait cannot be longer than the round trip that it is a part of. If it seems so, the
        // peer slept, and its clock stood still.
        if self.late < rtt { rtt - self.late } else { rtt }
    }
}

/// A path's sending side.
pub(crate) struct Path<P> {
    pub(crate) id: PathId,
    tuning: BondTuning,
    pub(crate) liveness: Liveness,
    watch: Watch,
    pub(crate) quota: Quota,
    channel: ControlledPath<AnyController>,
    base_rtt: BaseRtt,
    losses: Losses,
    pub(crate) next: PathSeq,
    pub(crate) sent_packets: u64,
    /// Packets that left until then give no round trip: the clock was set, or stood still.
    unmeasured_until: Option<Instant>,
    pub(crate) sent_bytes: u64,
    pub(crate) last_len: u32,
    pub(crate) lost_packets: u64,
    pub(crate) lost_bytes: u64,
    /// Packets sent again.
    pub(crate) repaired: u64,
    /// Until then the line is busy with the repairs that took it.
    repairing_until: Instant,
    /// Share of the bond's packets, 0 to 1.
    share: f64,
    log: SentLog<P>,
    /// Sent before the highest number that came, and neither reported as received nor as lost.
    pending: VecDeque<PathSeq>,
    last: PathReport,
    at_last_report: (u64, u64),
    /// Bytes that count as lost by the reports so far, wrapping.
    lost_bytes_reported: u32,
    /// The rate of a packet train that has not been used yet.
    train: Option<Rate>,
    /// The rate in octets per second, once the controller knows it.
    known_rate: Option<f64>,
    /// The first number since the path went down or came back.
    begun_at: PathSeq,
    /// By how much losses delay packets on average.
    loss_delay: LossDelay,
}

/// What a report says of lost packets, beside the one before.
struct Lost {
    packets: u32,
    /// Packets that came after all.
    taken_back: u32,
}

impl<P> Path<P> {
    pub(crate) fn new(
        id: PathId,
        now: Instant,
        controller: AnyController,
        quota: Quota,
        tuning: &Tuning,
    ) -> Self {
        Self {
            id,
            tuning: tuning.bond,
            liveness: Liveness::new(now),
            watch: Watch::new(tuning.bond.resting, now),
            quota,
            channel: ControlledPath::new(controller, tuning.copa.catch_up, now),
            base_rtt: BaseRtt::new(now),
            losses: Losses::new(tuning.bond.some_losses, now),
            next: PathSeq::new(0),
            sent_packets: 0,
            unmeasured_until: None,
            sent_bytes: 0,
            last_len: 0,
            lost_packets: 0,
            lost_bytes: 0,
            repaired: 0,
            repairing_until: now,
            share: 0.0,
            log: SentLog::new(),
            pending: VecDeque::new(),
            last: PathReport::default(),
            at_last_report: (0, 0),
            lost_bytes_reported: 0,
            train: None,
            known_rate: None,
            begun_at: PathSeq::new(0),
            loss_delay: LossDelay::default(),
        }
    }

    /// May a packet of `size` octets leave now?
    #[inline]
    pub(crate) fn may_send(&self, now: Instant, size: u32) -> bool {
        self.channel.may_send(now, size)
    }

    /// Is there room for a packet of `size` octets, whatever the pacer says?
    #[inline]
    pub(crate) fn has_room(&self, size: u32) -> bool {
        self.channel.has_room(size)
    }

    /// When its pacer lets a packet go; `None` if it waits for a report instead.
    pub(crate) fn next_send_time(&self, size: u32) -> Option<Instant> {
        self.channel.has_room(size).then(|| self.channel.next_send_time())
    }

    /// A packet leaves. Returns its number on the path.
    #[inline]
    pub(crate) fn on_sent(&mut self, now: Instant, wire_len: u32, kept: Option<Kept<P>>) -> PathSeq {
        let state = self.channel.on_sent(now, wire_len);
        self.note_sent(now, wire_len, state, kept)
    }

    /// The same for an acknowledgement. If it has not waited for the pacer, nothing waits for it: what congestion control does not hold back
    /// would hold the path for seconds once the others have gone.
    #[inline]
    pub(crate) fn on_ack_sent(&mut self, now: Instant, wire_len: u32, kept: Option<Kept<P>>) -> PathSeq {
        if self.may_send(now, wire_len) {
            return self.on_sent(now, wire_len, kept);
        }
        let state = self.channel.on_sent_unpaced(now, wire_len);
        self.note_sent(now, wire_len, state, kept)
    }

    #[inline]
    fn note_sent(
        &mut self,
        now: Instant,
        wire_len: u32,
        state: PacketState,
        kept: Option<Kept<P>>,
    ) -> PathSeq {
        self.wake(now);
        let seq = self.next;
        self.next = seq.next();
        self.sent_packets += 1;
        self.sent_bytes += u64::from(wire_len);
        self.last_len = wire_len;
        let sent = Sent {
            seq,
            state,
            len: wire_len,
            bytes: self.sent_bytes as u32,
            fate: Fate::Unknown,
            kept,
            repaired_at: None,
        };
        if let Some(forgotten) = self.log.push(sent)
            && forgotten.fate == Fate::Unknown
        {
            self.channel.on_lost(now, forgotten.len, &forgotten.state);
        }
        seq
    }

    /// Lets the path rest from now on if it is up and nobody uses it.
    pub(crate) fn rest_if_idle(&mut self, now: Instant) {
        if self.liveness.state == PathState::Up {
            self.watch.rest_if_idle(now);
        }
    }

    /// Watches the path closely from now on: it is used, or may not rest.
    #[inline]
    pub(crate) fn wake(&mut self, now: Instant) {
        if self.watch.wake(now) {
            self.liveness.begin_watch(now);
        }
    }

    /// Does it rest?
    pub(crate) fn is_resting(&self) -> bool {
        self.watch.is_resting() && self.liveness.state == PathState::Up
    }

    /// The keepalive settings of this path: while it rests, the interval is longer.
    pub(crate) fn keepalive(&self, config: &KeepaliveConfig) -> KeepaliveConfig {
        let interval = if self.is_resting() { self.watch.interval(config.interval) } else { config.interval };
        KeepaliveConfig { interval, ..*config }
    }

    /// A packet of the bond was sent, by this path or not.
    #[inline]
    pub(crate) fn note_share(&mut self, is_own: bool) {
        let target = if is_own { 1.0 } else { 0.0 };
        self.share += (target - self.share) * self.tuning.share_gain;
    }

    /// The share of the packets in percent.
    pub(crate) fn share_percent(&self) -> u32 {
        (self.share * 100.0 + 0.5) as u32
    }

    /// A round trip was measured.
    pub(crate) fn on_round_trip(&mut self, now: Instant, rtt: Duration) {
        self.base_rtt.note(now, rtt);
    }

    /// There is room within the in-flight bound, but nothing to send. What is measured now says
    /// nothing about the rate, and nothing waits for the pacer.
    #[inline]
    pub(crate) fn on_nothing_to_send(&mut self) {
        self.channel.on_nothing_to_send();
    }

    /// Packets wait, the next of `size` octets, and none leaves at `now`.
    #[inline]
    pub(crate) fn on_waiting(&mut self, now: Instant, size: u32) {
        self.channel.on_waiting(now, size);
    }

    /// Numbers of which nothing is known: missing, or not reported on.
    pub(crate) fn in_doubt(&self) -> impl Iterator<Item = PathSeq> + '_ {
        let fresh = self.next.since(self.last.next);
        self.pending.iter().copied().chain((0..fresh).map(|place| self.last.next.plus(place)))
    }

    /// The clock was set, or the driver slept: no time from before until after is a measurement.
    pub(crate) fn on_gap(&mut self, now: Instant) {
        self.liveness.on_gap(now);
        self.on_peers_gap(now);
    }

    /// The peer's clock has stood still.
    pub(crate) fn on_peers_gap(&mut self, now: Instant) {
        self.unmeasured_until = Some(now);
        self.channel.on_gap(now);
    }

    /// The path goes down or comes back: nothing that was sent before counts as on its way. If a
    /// dead line still delivers it later, that is no measurement.
    pub(crate) fn begin_anew(&mut self, now: Instant) {
        let fresh = self.next.since(self.last.next);
        let fresh = (0..fresh).map(|place| self.last.next.plus(place));
        for seq in self.pending.iter().copied().chain(fresh) {
            self.log.settle(seq, Fate::Lost);
        }
        self.channel.on_timeout(now);
        // What an outage takes is no part that the path loses.
        self.begun_at = self.next;
        self.losses.forget_part();
    }

    /// The packet to send again, and its octets on the wire. `None`: it is not to be sent again.
    pub(crate) fn repair(
        &mut self,
        now: Instant,
        seq: PathSeq,
        terms: &RepairTerms,
    ) -> Option<(&Kept<P>, u32)> {
        let sent = self.log.repair(now, seq, terms)?;
        let kept = sent.kept.as_ref()?;
        self.repaired += 1;
        Some((kept, sent.len))
    }

    /// A repair leaves by this path, without a number on it.
    pub(crate) fn on_repair(&mut self, now: Instant, len: u32) {
        self.channel.pace(now, len);
        self.repairing_until = self.repairing_until.max(now).saturating_add(self.own_time(len));
    }

    /// What a packet of `len` octets takes on the line.
    fn own_time(&self, len: u32) -> Duration {
        Duration::from_secs_f64(f64::from(len) / self.rate().max(1.0))
    }

    /// Starts the controller with the rate of a train, once the base round trip is known. The train
    /// may be reported before the first keepalive is answered.
    fn start_with_train(&mut self, now: Instant, way: WayBack) {
        if let (Some(rate), Some(expected)) = (self.train, self.expected(way)) {
            self.channel.on_train(now, rate, Some(expected));
            self.train = None;
        }
    }

    /// What a round trip without queues takes by keepalives, if its report comes by the shortest way back.
    fn expected(&self, way: WayBack) -> Option<Duration> {
        self.base_rtt.get().map(|own| own / 2 + way.shortest / 2)
    }

    /// Its round trip without queues.
    pub(crate) fn base_rtt(&self) -> Option<Duration> {
        self.base_rtt.get()
    }

    /// Is this report possible for what was sent? Numbers that were never sent must not be looked
    /// for.
    fn is_possible(&self, report: &PathReport) -> bool {
        let is_sent = !self.next.before(report.next) && !report.next.before(self.last.next);
        let missing = report.next.get().wrapping_sub(report.received_packets);
        is_sent && (missing.wrapping_sub(report.lost_packets) as i32) >= 0
    }

    /// Takes the peer's report on this path. Returns what has changed since the report before.
    pub(crate) fn on_report(
        &mut self,
        now: Instant,
        report: &PathReport,
        way: WayBack,
        config: &KeepaliveConfig,
    ) -> Progress {
        if !self.is_possible(report) {
            return Progress::default();
        }
        let progress = self.progress(report);
        self.losses.note(now, progress.lost_packets);
        if report.next != self.last.next {
            let held = Duration::from_micros(u64::from(report.held));
            self.liveness.on_progress(now, held, &self.keepalive(config));
        }
        self.settle(now, report, way);
        self.last = *report;
        if report.train > 0 {
            self.train = Some(Rate::from_bits_per_sec(u64::from(report.train) * 1000));
        }
        self.start_with_train(now, way);
        self.learn_rate();
        progress
    }

    /// Tells the controller what was delivered and what was lost. Reports hold totals, so a lost
    /// report loses nothing. Of the missing packets, the oldest count as lost.
    fn settle(&mut self, now: Instant, report: &PathReport, way: WayBack) {
        let fresh = report.next.since(self.last.next).min(self.next.since(self.last.next));
        self.pending.extend((0..fresh).map(|place| self.last.next.plus(place)));
        while self.pending.front().is_some_and(|&seq| self.log.has_forgotten(seq)) {
            self.pending.pop_front();
        }
        let Lost { packets: lost, taken_back } = self.lost_since(report);
        let mut counted = 0;
        for _ in 0..lost.min(self.pending.len() as u32) {
            let Some(seq) = self.pending.pop_front() else { break };
            counted += u32::from(!seq.before(self.begun_at));
            if let Some(sent) = self.log.settle(seq, Fate::Lost) {
                let (len, state) = (sent.len, sent.state);
                self.channel.on_lost(now, len, &state);
            }
        }
        // What was taken back left the list when it was told to be lost.
        let received =
            report.received_packets.wrapping_sub(self.last.received_packets).saturating_sub(taken_back);
        self.losses.note_part(counted, received.min(u32::from(u16::MAX)));
        let held = Duration::from_micros(u64::from(report.held));
        let (mut place, mut late) = (self.pending.len(), Duration::ZERO);
        for _ in 0..received.min(self.pending.len() as u32) {
            // A packet that left after the newest one has not come, though a keepalive may have
            // announced it.
            let seq = loop {
                let Some(before) = place.checked_sub(1) else { break None };
                place = before;
                let seq = self.pending[place];
                let is_later =
                    |sent: &Sent<P>| (micros(sent.state.send_time).wrapping_sub(report.newest) as i32) > 0;
                if !self.log.get(seq).is_some_and(is_later) {
                    break self.pending.remove(place);
                }
            };
            let Some(sent) = seq.and_then(|seq| self.log.settle(seq, Fate::Delivered)) else { continue };
            let (len, state) = (sent.len, sent.state);
            // The clock shows the same right before and right after it has stood still.
            if self.unmeasured_until.is_some_and(|until| state.send_time <= until) {
                self.channel.on_delivered_unmeasured(len);
                continue;
            }
            let whole = now.saturating_since(state.send_time).saturating_sub(held);
            let rtt = way.usual(whole);
            late = late.max(whole - rtt);
            self.channel.on_delivered(len, &state, rtt);
        }
        let time = |ticks: u16| Duration::from_micros(u64::from(ticks) * u64::from(TICK));
        let (excess, reordering) = (time(report.excess), time(report.reordering));
        self.channel.on_spread(Spread { excess, reordering, late, expected: self.expected(way) });
        self.channel.end_report(now);
    }

    /// Takes over the controller's rate, once its start is over.
    fn learn_rate(&mut self) {
        let controller = self.channel.controller();
        if let Some(bandwidth) = controller.bandwidth()
            && (self.known_rate.is_some() || controller.knows_rate())
        {
            self.known_rate = Some(bandwidth.bits_per_sec() as f64 / 8.0);
        }
    }

    /// The difference of lost packets to the report before.
    fn lost_since(&self, report: &PathReport) -> Lost {
        let more = report.lost_packets.wrapping_sub(self.last.lost_packets) as i32;
        Lost { packets: more.max(0).unsigned_abs(), taken_back: more.min(0).unsigned_abs() }
    }

    /// The differences to the report before.
    fn progress(&mut self, report: &PathReport) -> Progress {
        let Lost { packets: lost_packets, taken_back } = self.lost_since(report);
        let lost_total = self.lost_bytes_at(report);
        let lost_bytes = lost_total.wrapping_sub(self.lost_bytes_reported);
        // The split between lost and merely missing is an estimate: never let the total fall.
        let lost_bytes = if lost_packets == 0 || (lost_bytes as i32) < 0 { 0 } else { lost_bytes };
        self.lost_bytes_reported = self.lost_bytes_reported.wrapping_add(lost_bytes);
        self.lost_packets += u64::from(lost_packets);
        self.lost_packets = self.lost_packets.saturating_sub(u64::from(taken_back));
        self.lost_bytes += u64::from(lost_bytes);
        let (packets, bytes) =
            std::mem::replace(&mut self.at_last_report, (self.sent_packets, self.sent_bytes));
        Progress {
            lost_packets,
            lost_bytes,
            sent_packets: (self.sent_packets - packets) as u32,
            sent_bytes: (self.sent_bytes - bytes) as u32,
        }
    }

    /// Bytes lost since the session began, wrapping. The bytes that are missing are those sent up
    /// to the highest number that arrived, less those that arrived. They count as lost in
    /// proportion to the missing packets that do.
    fn lost_bytes_at(&self, report: &PathReport) -> u32 {
        let Some(sent) = self.log.get(report.next.previous()) else { return self.lost_bytes_reported };
        let missing_bytes = sent.bytes.wrapping_sub(report.received_bytes);
        let missing = report.next.get().wrapping_sub(report.received_packets);
        let waiting = missing.wrapping_sub(report.lost_packets);
        if waiting == 0 || missing == 0 {
            return missing_bytes;
        }
        (u64::from(missing_bytes) * u64::from(report.lost_packets) / u64::from(missing)) as u32
    }

    /// The rate in octets per second: the controller's, or the in-flight bound over a round trip
    /// while that is not known.
    pub(crate) fn rate(&self) -> f64 {
        let controller = self.channel.controller();
        if let Some(bandwidth) = self.known_rate {
            return bandwidth;
        }
        let rtt = self.base_rtt.get().unwrap_or(Duration::from_millis(100)).as_secs_f64();
        f64::from(controller.inflight_bound()) / rtt.max(1e-4)
    }

    /// The in-flight bound in octets.
    pub(crate) fn inflight_bound(&self) -> u32 {
        self.channel.controller().inflight_bound()
    }

    /// By how much later reports come than by the shortest way back without a queue.
    pub(crate) fn lag(&self) -> Duration {
        self.channel.lag()
    }

    /// How long a packet that is sent now waits in queues. It is the time for what is on its way
    /// beyond what the path itself holds, and at least as long as the latest packets have waited.
    /// The rate alone shows neither a queue of others' packets, nor what each packet costs beside
    /// its octets.
    pub(crate) fn queueing_delay(&self, now: Instant) -> Duration {
        let base = self.channel.controller().base_rtt().or(self.base_rtt.get());
        let Some(base) = base else { return Duration::ZERO };
        let inflight = f64::from(self.channel.inflight());
        let time =
            self.known_rate.map_or(Duration::ZERO, |rate| Duration::from_secs_f64(inflight / rate.max(1.0)));
        time.saturating_sub(base + self.channel.lag()).max(self.channel.measured_queue(now, base))
    }

    /// By how much later a packet comes that the path loses. The next packet shows that it is
    /// missing, for a quarter of a round trip it may only be late (RFC 8985 §6.2), and a repair
    /// takes `repair_time`. Zero while the path loses none.
    pub(crate) fn repair_delay(&self, repair_time: Duration) -> Duration {
        if !self.losses.are_some() {
            return Duration::ZERO;
        }
        self.time_to_repair(repair_time)
    }

    fn time_to_repair(&self, repair_time: Duration) -> Duration {
        self.own_time(FULL_PACKET) + self.base_rtt.get().unwrap_or_default() / 4 + repair_time
    }

    /// Sets the time of a repair, and how many `tries` it takes on average. `None`: nothing is
    /// repaired.
    pub(crate) fn set_repair_time(&mut self, repair_time: Option<Duration>, tries: f64) {
        let (part, part_of_all) =
            (self.losses.part(), self.losses.part_of_runs(self.tuning.followers / FULL_PACKET));
        let later = |time: Duration| {
            let time = self.time_to_repair(Duration::from_secs_f64(time.as_secs_f64() * tries));
            let nanos = time.as_nanos() as f64;
            LossDelay { of_one: (nanos * part) as i64, of_all: (nanos * part_of_all) as i64 }
        };
        self.loss_delay = repair_time.map_or(LossDelay::default(), later);
    }

    /// How often a packet has to be sent on average until it arrives.
    pub(crate) fn tries(&self) -> f64 {
        1.0 / (1.0 - self.losses.part()).max(0.01)
    }

    /// The mean time until a packet sent now arrives if a lost one is sent again.
    pub(crate) fn expected_one_way(&self, now: Instant) -> Option<Duration> {
        let one_way = self.base_rtt.get()? / 2 + self.queueing_delay(now);
        Some(Duration::from_secs_f64(one_way.as_secs_f64() * self.tries()))
    }

    /// The mean time until a repair of `size` octets has come whole if it waits for the path, and for those before it. Room
    /// comes with reports, each `interval`.
    pub(crate) fn expected_repair(&self, now: Instant, size: u32, interval: Duration) -> Option<Duration> {
        let until_room = if self.channel.has_room(size) { Duration::ZERO } else { interval };
        let busy_until = self.repairing_until.max(self.channel.next_send_time());
        let held = busy_until.saturating_since(now).max(until_room);
        Some(held + self.own_time(size) + self.expected_one_way(now)?)
    }

    /// The time until it has surely arrived: four mean deviations more (RFC 6298 §2).
    pub(crate) fn surest_one_way(&self, now: Instant) -> Option<Duration> {
        self.expected_one_way(now).map(|one_way| one_way + self.channel.rttvar() * 4)
    }

    /// The mean round trip by keepalives if a lost packet is sent again.
    pub(crate) fn expected_round_trip(&self) -> Option<Duration> {
        self.liveness.srtt().map(|srtt| Duration::from_secs_f64(srtt.as_secs_f64() * self.tries()))
    }

    /// Do others hold the queue on it, as far as its controller can tell?
    pub(crate) fn is_crowded(&self) -> bool {
        self.channel.controller().is_crowded()
    }

    /// The path as a scheduler sees it, for a packet of `size` octets.
    #[inline]
    pub(crate) fn view(&self, now: Instant, size: u32) -> View {
        let is_in_use = self.channel.inflight() > 0;
        View {
            id: self.id,
            is_up: self.liveness.state == PathState::Up,
            may_send: self.may_send(now, size),
            has_room: self.channel.has_room(size),
            is_crowded: false,
            may_copy: self.channel.may_send_early(now, size, self.tuning.early_packets * FULL_PACKET),
            one_way: self.base_rtt.get().map(|rtt| (rtt / 2).as_nanos() as i64),
            queue: self.queueing_delay(now).as_nanos() as i64,
            loss_delay: self.loss_delay,
            deviation: self.channel.rttvar().as_nanos() as i64,
            rate: self.rate(),
            is_rate_known: self.known_rate.is_some(),
            is_in_use,
            enough: if is_in_use { self.tuning.hysteresis } else { 1.0 },
            share_percent: self.share_percent(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::PathConfig;
    use crate::id::{FlowSeq, GlobalSeq};

    fn at(millis: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(millis)
    }

    /// A path that sent `count` full packets, one each ms from 1 ms on.
    fn sent(count: u64) -> Path<()> {
        let quota = Quota::new(&PathConfig::new("dsl", None), at(0));
        let tuning = Tuning::default();
        let mut path =
            Path::new(PathId(0), at(0), AnyController::copa(1, &tuning.copa, at(0)), quota, &tuning);
        (1..=count).for_each(|millis| {
            path.on_sent(at(millis), 1500, None);
        });
        path
    }

    /// A report: of the first `next` packets `received` came and `lost` count as lost. The newest
    /// was sent at `newest` ms, and came 2 ms before the report.
    fn report(next: u32, received: u32, lost: u32, newest: u32) -> PathReport {
        PathReport {
            next: PathSeq::new(next),
            received_packets: received,
            received_bytes: received * 1500,
            lost_packets: lost,
            newest: newest * 1000,
            held: 2_000,
            ..PathReport::default()
        }
    }

    #[test]
    fn what_is_neither_received_nor_lost_stays_on_its_way() {
        let mut path = sent(10);
        path.on_report(at(42), &report(8, 6, 0, 8), WayBack::default(), &KeepaliveConfig::default());
        assert_eq!((path.channel.inflight(), path.pending.len()), (4 * 1500, 2));
        let progress =
            path.on_report(at(50), &report(10, 8, 1, 10), WayBack::default(), &KeepaliveConfig::default());
        assert_eq!((progress.lost_packets, progress.lost_bytes), (1, 1500));
        assert_eq!((path.channel.inflight(), path.pending.len()), (1500, 1));
        path.on_report(at(60), &report(10, 8, 2, 10), WayBack::default(), &KeepaliveConfig::default());
        assert_eq!((path.channel.inflight(), path.in_doubt().count()), (0, 0));
    }

    #[test]
    fn a_round_trip_is_that_of_the_packet_that_came_last_without_the_wait_of_the_report() {
        let mut path = sent(10);
        // A keepalive announced all ten. Only the first four came, the last of them 2 ms before the
        // report.
        path.on_report(at(42), &report(10, 4, 0, 4), WayBack::default(), &KeepaliveConfig::default());
        assert_eq!(path.channel.srtt(), Some(Duration::from_millis(42 - 4 - 2)));
        assert_eq!(path.pending, (4..10).map(PathSeq::new).collect::<Vec<_>>());
    }

    #[test]
    fn what_a_report_waited_on_its_way_is_taken_off_unless_the_peers_clock_stood_still() {
        let ms = Duration::from_millis;
        let way = |late| WayBack { late: ms(late), ..WayBack::default() };
        assert_eq!(way(12).usual(ms(40)), ms(28));
        assert_eq!(way(5_000).usual(ms(40)), ms(40));
    }

    #[test]
    fn a_round_trip_that_is_shorter_than_one_clock_shows_is_in_doubt() {
        let mut path = sent(10);
        path.on_round_trip(at(40), Duration::from_millis(36));
        // Of the 40 ms it took, 30 are said to be a wait: the peer's clock was set in between.
        let way = WayBack { late: Duration::from_millis(30), shortest: Duration::from_millis(20) };
        path.on_report(at(49), &report(10, 10, 0, 9), way, &KeepaliveConfig::default());
        assert_eq!(path.channel.srtt(), Some(Duration::from_millis(28)));
    }

    #[test]
    fn what_a_dead_line_held_is_no_measurement() {
        let mut path = sent(10);
        path.begin_anew(at(500));
        assert_eq!((path.channel.inflight(), path.channel.srtt()), (0, None));
        // The line delivers what it held, 20 s late.
        path.on_report(at(20_042), &report(10, 10, 0, 10), WayBack::default(), &KeepaliveConfig::default());
        assert_eq!((path.channel.srtt(), path.known_rate), (None, None));
        path.on_sent(at(20_050), 1500, None);
        path.on_report(
            at(20_070),
            &report(11, 11, 0, 20_050),
            WayBack::default(),
            &KeepaliveConfig::default(),
        );
        assert_eq!(path.channel.srtt(), Some(Duration::from_millis(18)));
    }

    /// It tells nothing of what is sent once the line is back.
    #[test]
    fn what_an_outage_took_is_no_part_that_the_path_loses() {
        let lost_of = |mut path: Path<()>, count: u32| {
            path.on_sent(at(520), 1500, None);
            let told = report(count + 1, count - 7, 8, 520);
            path.on_report(at(540), &told, WayBack::default(), &KeepaliveConfig::default());
            path.losses.part()
        };
        assert_eq!(lost_of(sent(10), 10), 8.0 / 11.0 / 8.0);
        let mut out = sent(10);
        out.begin_anew(at(500));
        assert_eq!(lost_of(out, 10), 0.0);
    }

    #[test]
    fn what_left_until_the_clock_stood_still_is_no_measurement() {
        let mut path = sent(10);
        path.on_gap(at(10));
        // The line has brought all of it meanwhile, the last packet within a millisecond by this clock.
        path.on_report(at(13), &report(10, 10, 0, 10), WayBack::default(), &KeepaliveConfig::default());
        assert_eq!((path.channel.inflight(), path.channel.srtt()), (0, None));
        let answered = |path: &mut Path<()>, millis, number, rtt| {
            let rtt = Duration::from_millis(rtt);
            path.liveness.on_answer(at(millis), number, rtt, &KeepaliveConfig::default())
        };
        assert_eq!(answered(&mut path, 13, 1, 3), None, "asked when the clock stood still");
        assert_eq!(answered(&mut path, 40, 2, 28), Some(Duration::from_millis(28)));
        path.on_sent(at(20), 1500, None);
        path.on_report(at(50), &report(11, 11, 0, 20), WayBack::default(), &KeepaliveConfig::default());
        assert_eq!(path.channel.srtt(), Some(Duration::from_millis(28)));
    }

    /// Its path fell silent, and was heard again before a repair could leave.
    #[test]
    fn what_was_in_doubt_and_has_come_does_not_go_again() {
        let (mut path, global, flow_seq) = (sent(0), GlobalSeq::new(7), FlowSeq::new(3));
        let kept = || Some(Kept { packet: (), global, flow_seq, bucket: 1 });
        (1..=3).for_each(|millis| {
            path.on_sent(at(millis), 1500, kept());
        });
        let second = Duration::from_secs(1);
        let goes_again = |path: &mut Path<()>, seq: u32, is_in_doubt: bool| {
            let terms = RepairTerms { is_in_doubt, age: second, round_trip: Duration::ZERO };
            path.repair(at(200), PathSeq::new(seq), &terms).is_some()
        };
        assert!(goes_again(&mut path, 0, true));
        path.on_report(at(150), &report(2, 2, 0, 2), WayBack::default(), &KeepaliveConfig::default());
        assert_eq!([0, 1, 2].map(|seq| goes_again(&mut path, seq, true)), [false, false, true]);
        assert!(goes_again(&mut path, 1, false), "the peer knows better what it misses");
        // What a dead path was told to have lost may come.
        path.begin_anew(at(160));
        assert!(goes_again(&mut path, 2, true));
        path.on_report(at(170), &report(3, 3, 0, 3), WayBack::default(), &KeepaliveConfig::default());
        assert!(!goes_again(&mut path, 2, true));
    }

    /// Others' packets stand in the queue, so neither what is on its way nor the rate shows it.
    #[test]
    fn a_queue_is_as_long_as_what_came_last_has_waited_in_it() {
        let ms = Duration::from_millis;
        let mut path = sent(10);
        path.on_report(at(42), &report(10, 4, 0, 4), WayBack::default(), &KeepaliveConfig::default());
        assert_eq!(path.queueing_delay(at(42)), ms(0));
        // The quickest of the others took 130 ms, the first ones 36.
        path.on_report(at(142), &report(10, 10, 0, 10), WayBack::default(), &KeepaliveConfig::default());
        assert_eq!(path.queueing_delay(at(142)), ms(94));
        // None of our packets is in the queue, so it may be empty after that time.
        assert_eq!(path.queueing_delay(at(172)), ms(64));
        assert_eq!(path.queueing_delay(at(300)), ms(0));
        path.on_sent(at(172), 1500, None);
        assert_eq!(path.queueing_delay(at(300)), ms(94));
    }

    /// Over a path that reorders more than it did before.
    #[test]
    fn what_comes_after_it_counted_as_lost_is_taken_back() {
        let mut path = sent(10);
        path.on_report(at(42), &report(8, 5, 2, 8), WayBack::default(), &KeepaliveConfig::default());
        assert_eq!((path.channel.inflight(), path.pending.len(), path.lost_packets), (3 * 1500, 1, 2));
        let late = report(8, 7, 0, 8);
        let progress = path.on_report(at(50), &late, WayBack::default(), &KeepaliveConfig::default());
        assert_eq!((progress.lost_packets, path.lost_packets), (0, 0));
        assert_eq!((path.channel.inflight(), path.pending.len()), (3 * 1500, 1), "they were settled before");
        path.on_report(at(60), &report(10, 10, 0, 10), WayBack::default(), &KeepaliveConfig::default());
        assert_eq!((path.channel.inflight(), path.lost_packets), (0, 0));
    }

    #[test]
    fn a_lost_report_loses_nothing() {
        let (mut one, mut other) = (sent(10), sent(10));
        one.on_report(at(30), &report(5, 4, 0, 5), WayBack::default(), &KeepaliveConfig::default());
        one.on_report(at(42), &report(10, 8, 2, 10), WayBack::default(), &KeepaliveConfig::default());
        other.on_report(at(42), &report(10, 8, 2, 10), WayBack::default(), &KeepaliveConfig::default());
        for path in [&one, &other] {
            assert_eq!((path.channel.inflight(), path.lost_packets, path.lost_bytes), (0, 2, 3000));
        }
    }
}
