//! The channel around a controller: what is on its way, rate samples, the pacer, round-trip times.

use super::doubt::Doubt;
use super::{PathController, PathSample};
use crate::Pacer;
use crate::rate_sample::{PacketState, RateSampler};
use crate::signals::LossRange;
use ropewalk_units::{Duration, Instant, Rate};

/// What a report has told so far.
#[derive(Clone, Copy, Debug, Default)]
struct Report {
    octets: u32,
    /// The packet sent last, with its round-trip time.
    newest: Option<(PacketState, Duration)>,
    spread: Spread,
}

/// By how much times differ that a report tells of, and its own.
#[derive(Clone, Copy, Debug, Default)]
pub struct Spread {
    /// The report's newest packet took longer than its quickest.
    pub excess: Duration,
    /// Packets were late that others overtook.
    pub reordering: Duration,
    /// The report came so much later than round trips say: they are by the shortest way back.
    pub late: Duration,
    /// A round trip without queues by another measurement, if there is one. What takes less may be an error of a clock.
    pub expected: Option<Duration>,
}

/// A paced, congestion-controlled path. One packet leaves at a time, however small: a burst could be longer than the line's
/// buffer. The path keeps no packets: the caller remembers the [`PacketState`] of each until the
/// packet is reported.
///
/// When a report comes: [`Self::on_lost`] and [`Self::on_delivered`] for its packets, then [`Self::end_report`].
#[derive(Clone, Debug)]
pub struct ControlledPath<C> {
    controller: C,
    sampler: RateSampler,
    pacer: Pacer,
    /// So much of what a late timer held back is sent when it fires.
    catch_up: Duration,
    /// Did the pacer alone hold what waited, when it was last asked for?
    is_held: bool,
    /// Octets.
    inflight: u32,
    report: Report,
    /// The packet lost last was followed by none that was delivered.
    loss_goes_on: bool,
    /// The bound held packets back; samples are of a used path until this much is delivered.
    bound_used_until: u64,
    srtt: Option<Duration>,
    /// Mean deviation of round trips (RFC 6298 §2).
    rttvar: Duration,
    min_rtt: Duration,
    doubt: Doubt,
    /// The round trip of the quickest packet told of last, and when it was.
    latest: Option<(Instant, Duration)>,
    /// By how much later reports come than round trips say, smoothed.
    lag: Duration,
    /// Octets that come in this time: they are delivered, and not told of.
    unreported: u32,
    /// The sampler's clock: the times of ACKs that reports stand for.
    acked_at: Instant,
}

impl<C: PathController> ControlledPath<C> {
    /// Nothing was sent yet. When the pacer's timer is late, `catch_up` of what it held back is sent at once.
    pub fn new(controller: C, catch_up: Duration, now: Instant) -> Self {
        Self {
            controller,
            sampler: RateSampler::new(now),
            pacer: Pacer::new(),
            catch_up,
            is_held: false,
            inflight: 0,
            report: Report::default(),
            loss_goes_on: false,
            bound_used_until: 0,
            srtt: None,
            rttvar: Duration::ZERO,
            min_rtt: Duration::MAX,
            doubt: Doubt::default(),
            latest: None,
            lag: Duration::ZERO,
            unreported: 0,
            acked_at: now,
        }
    }

    /// The controller.
    pub fn controller(&self) -> &C {
        &self.controller
    }

    /// Octets on their way, or delivered and not told of.
    pub fn inflight(&self) -> u32 {
        self.inflight
    }

    /// What of it is on its way, as far as the controller is concerned.
    fn on_their_way(&self) -> u32 {
        self.inflight.saturating_sub(self.unreported)
    }

    /// The smoothed round-trip time.
    pub fn srtt(&self) -> Option<Duration> {
        self.srtt
    }

    /// By how much round trips deviate from the smoothed one, on average.
    pub fn rttvar(&self) -> Duration {
        self.rttvar
    }

    /// By how much later than round-trip times say a report comes, on average: round trips are by the shortest way back.
    pub fn lag(&self) -> Duration {
        self.lag
    }

    /// What the packets told of last waited in queues, `base` being a round trip without any. While none is on its way, the queue empties as
    /// time goes.
    pub fn measured_queue(&self, now: Instant, base: Duration) -> Duration {
        let Some((at, rtt)) = self.latest else { return Duration::ZERO };
        let idle = if self.inflight > 0 { Duration::ZERO } else { now.saturating_since(at) };
        rtt.saturating_sub(base + idle)
    }

    /// May a packet of `size` octets leave? One may always be on its way.
    pub fn may_send(&self, now: Instant, size: u32) -> bool {
        self.has_room(size) && !self.pacer.holds(now)
    }

    /// May it leave before its time, by what this many octets take to be paced?
    pub fn may_send_early(&self, now: Instant, size: u32, octets: u32) -> bool {
        let early =
            self.controller.pacing_rate(now).map_or(Duration::ZERO, |rate| rate.transmission_time(octets));
        self.has_room(size) && self.pacer.next_send_time() <= now.saturating_add(early)
    }

    /// Is the bound what holds a packet of `size` octets back, not the pacer?
    pub fn has_room(&self, size: u32) -> bool {
        self.inflight == 0 || self.on_their_way().saturating_add(size) <= self.controller.inflight_bound()
    }

    /// When the pacer lets the next burst go. Room within the bound comes with reports only.
    pub fn next_send_time(&self) -> Instant {
        self.pacer.next_send_time()
    }

    /// A packet leaves.
    pub fn on_sent(&mut self, now: Instant, size: u32) -> PacketState {
        let state = self.on_sent_unpaced(now, size);
        // The timer of the pacer may have been late. Had the bound held the packet, nothing would have to be caught up with.
        let due =
            if self.is_held { now - self.catch_up.min(now.saturating_since(Instant::ZERO)) } else { now };
        self.pace(due, size);
        state
    }

    /// A packet leaves that congestion control does not hold back: it takes none of the pacer's time.
    pub fn on_sent_unpaced(&mut self, now: Instant, size: u32) -> PacketState {
        if self.inflight == 0 && self.sampler.is_app_limited() {
            self.controller.on_restart_from_idle(now);
        }
        let mut state = self.sampler.on_sent(now, self.inflight, size);
        self.inflight = self.inflight.saturating_add(size);
        state.tx_in_flight = self.on_their_way();
        self.controller.on_sent(now, size, self.on_their_way());
        if !self.has_room(size) {
            self.bound_used_until = self.sampler.delivered() + u64::from(self.inflight);
        }
        state
    }

    /// A packet leaves that no report will tell of: it takes its time only.
    pub fn pace(&mut self, now: Instant, size: u32) {
        if let Some(rate) = self.controller.pacing_rate(now) {
            self.pacer.on_sent_alone(now, size, rate);
        }
    }

    /// There is nothing to send though a packet might leave: what is measured now says nothing about the line's rate.
    pub fn on_nothing_to_send(&mut self) {
        self.is_held = false;
        self.sampler.mark_app_limited(self.inflight);
    }

    /// Packets wait, the next of `size` octets, and none leaves at `now`.
    pub fn on_waiting(&mut self, now: Instant, size: u32) {
        self.is_held = self.has_room(size) && self.pacer.holds(now);
    }

    /// The report tells a packet as missing, `size` octets.
    pub fn on_lost(&mut self, now: Instant, size: u32, state: &PacketState) {
        self.inflight = self.inflight.saturating_sub(size);
        let goes_on = std::mem::replace(&mut self.loss_goes_on, true);
        let range = if goes_on { LossRange::GoesOn } else { LossRange::Begins };
        let lost = self.sampler.on_lost(size, Some(state), range);
        self.controller.on_lost(now, &lost);
    }

    /// The report tells a packet as delivered, `size` octets. `rtt`: from its departure to now, less what the report
    /// waited after its arrival.
    pub fn on_delivered(&mut self, size: u32, state: &PacketState, rtt: Duration) {
        self.loss_goes_on = false;
        self.inflight = self.inflight.saturating_sub(size);
        self.report.octets = self.report.octets.saturating_add(size);
        if self.report.newest.is_none_or(|(newest, _)| newest.send_time <= state.send_time) {
            self.report.newest = Some((*state, rtt));
        }
    }

    /// The same for a packet of which no round-trip time is known.
    pub fn on_delivered_unmeasured(&mut self, size: u32) {
        self.loss_goes_on = false;
        self.inflight = self.inflight.saturating_sub(size);
        self.report.octets = self.report.octets.saturating_add(size);
    }

    /// By how much the times of the report's packets differ.
    pub fn on_spread(&mut self, spread: Spread) {
        self.report.spread = spread;
    }

    /// The report tells the rate at which a packet train came.
    pub fn on_train(&mut self, now: Instant, rate: Rate, base_rtt: Option<Duration>) {
        self.controller.on_train(now, rate, base_rtt);
    }

    /// One of the two ends has stood still, and the path has carried nothing for a while. What leaves before anything of it is told of says
    /// nothing about the line's rate.
    pub fn on_gap(&mut self, now: Instant) {
        self.sampler.mark_app_limited(self.inflight);
        self.controller.on_restart_from_idle(now);
    }

    /// The report ends.
    pub fn end_report(&mut self, now: Instant) {
        let report = std::mem::take(&mut self.report);
        let Some((newest, rtt)) = report.newest else {
            if report.octets > 0 {
                self.sampler.on_acked(self.acked_at, report.octets, None, self.min_rtt);
            }
            return;
        };
        let Spread { excess, reordering, late, expected } = report.spread;
        let known = self.controller.base_rtt().or(expected);
        let floor = expected.min(known).unwrap_or_default();
        let least = self.doubt.settle(now, rtt.saturating_sub(excess), floor);
        let rtt = rtt.max(least);
        self.min_rtt = self.min_rtt.min(least);
        self.latest = Some((now, least.saturating_sub(reordering)));
        let error = self.srtt.map_or(Duration::ZERO, |srtt| srtt.max(rtt) - srtt.min(rtt));
        self.rttvar = self.rttvar - self.rttvar / 4 + error / 4;
        let srtt = self.srtt.map_or(rtt, |srtt| srtt - srtt / 8 + rtt / 8);
        self.srtt = Some(srtt);
        self.lag = self.lag - self.lag / 8 + late / 8;
        self.acked_at = newest.send_time.saturating_add(rtt).min(now).max(self.acked_at);
        let mut rate = self.sampler.on_acked(self.acked_at, report.octets, Some(&newest), self.min_rtt);
        rate.rtt = Some(rtt);
        rate.inflight = self.on_their_way();
        rate.is_cwnd_limited = rate.total_delivered <= self.bound_used_until;
        self.controller
            .on_report(now, &PathSample { rate, least_rtt: Some(least), srtt, reordering, lag: self.lag });
        if self.controller.limits_itself() {
            self.sampler.mark_app_limited(self.inflight);
        }
        let rate = self.controller.bandwidth().map_or(0.0, |rate| rate.bits_per_sec() as f64 / 8.0);
        self.unreported = (rate * self.lag.as_secs_f64()) as u32;
    }

    /// No report came for long: nothing that was sent is on its way any more.
    pub fn on_timeout(&mut self, now: Instant) {
        self.inflight = 0;
        self.latest = None;
        self.controller.on_timeout(now);
    }
}
