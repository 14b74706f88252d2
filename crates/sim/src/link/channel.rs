//! What happens between transmitter and receiver: loss, delay, jitter, duplication.

use super::discipline::Queued;
use super::loss::LossProcess;
use super::stats::Counters;
use super::streams::LinkStreams;
use super::{Effects, Reach};
use crate::config::{DirectionConfig, Jitter, Loss};
use crate::packet::{Packet, PacketId};
use crate::tap::{DropReason, Tap};
use ropewalk_units::{Duration, Instant, Probability};
use std::collections::VecDeque;

/// A delay that wanders: the targets around the time that was last asked for.
#[derive(Clone, Copy, Default)]
struct Wandering {
    /// Number of the interval that `from` and `to` bound; 0: none drawn yet, interval k begins at (k − 1) intervals.
    interval: u64,
    /// Part of the greatest delay at its beginning and at its end.
    from: f64,
    to: f64,
}

impl Wandering {
    /// The additional delay in seconds at `at`. Every target is drawn once, whether a packet saw it or not, so that
    /// the delay does not depend on the traffic.
    fn delay(
        &mut self,
        at: Instant,
        max: Duration,
        interval: Duration,
        mut draw: impl FnMut() -> f64,
    ) -> f64 {
        let since = (at - Instant::ZERO).as_nanos();
        let wanted = since / interval.as_nanos() + 1;
        if self.interval == 0 {
            self.to = draw();
        }
        while self.interval < wanted {
            (self.from, self.to) = (self.to, draw());
            self.interval += 1;
        }
        let part = (since % interval.as_nanos()) as f64 / interval.as_nanos() as f64;
        max.as_secs_f64() * (self.from + (self.to - self.from) * part)
    }
}

/// A packet on its way.
#[derive(Clone, Copy)]
struct InFlight {
    arrival: Instant,
    packet: PacketId,
    /// Did it leave this link's transmitter? What was put on its way is counted nowhere.
    is_own: bool,
}

pub(super) struct Channel {
    delay: Duration,
    jitter: Jitter,
    wandering: Wandering,
    reorder: bool,
    loss: LossProcess,
    duplicate: f64,
    down_loses_in_flight: bool,
    /// Sorted by arrival; those of one time in order of departure.
    flight: VecDeque<InFlight>,
    /// How many were put into it that are not this link's own.
    moved_in: u64,
    /// Without reordering nothing arrives before this.
    last_arrival: Instant,
}

impl Channel {
    pub(super) fn new(config: &DirectionConfig) -> Self {
        Self {
            delay: config.delay,
            jitter: config.jitter,
            wandering: Wandering::default(),
            reorder: config.reorder,
            loss: LossProcess::new(config.loss.clone()),
            duplicate: config.duplicate.get(),
            down_loses_in_flight: config.down_loses_in_flight,
            flight: VecDeque::new(),
            moved_in: 0,
            last_arrival: Instant::ZERO,
        }
    }

    pub(super) fn set_delay(&mut self, delay: Duration) {
        self.delay = delay;
    }

    pub(super) fn set_jitter(&mut self, jitter: Jitter) {
        self.jitter = jitter;
    }

    pub(super) fn set_reorder(&mut self, reorder: bool) {
        self.reorder = reorder;
    }

    pub(super) fn set_loss(&mut self, loss: Loss) {
        self.loss = LossProcess::new(loss);
    }

    pub(super) fn set_duplicate(&mut self, probability: Probability) {
        self.duplicate = probability.get();
    }

    pub(super) fn set_down_loses_in_flight(&mut self, loses: bool) {
        self.down_loses_in_flight = loses;
    }

    pub(super) fn in_flight(&self) -> usize {
        self.flight.iter().filter(|packet| packet.is_own).count()
    }

    /// How many have arrived that are not this link's own. Looked up here, so that an arrival need not ask.
    pub(super) fn moved_in_arrived(&self) -> u64 {
        self.moved_in - (self.flight.len() - self.in_flight()) as u64
    }

    /// When the link must be looked at again, if the packet in transmission leaves at `departure`: at the first
    /// arrival, or when it could be known.
    pub(super) fn next_event(&self, departure: Instant) -> Instant {
        let first = self.flight.front().map_or(Instant::MAX, |packet| packet.arrival);
        // The jitter is drawn at the departure; without any the arrival is known before.
        let unsent = if matches!(self.jitter, Jitter::None) {
            departure.saturating_add(self.delay)
        } else {
            departure
        };
        first.min(unsent)
    }

    /// The first packet that has arrived by `now`.
    pub(super) fn arrived(&mut self, now: Instant) -> Option<PacketId> {
        if self.flight.front()?.arrival > now {
            return None;
        }
        self.flight.pop_front().map(|packet| packet.packet)
    }

    /// The link goes down: loses what is on its way, if it shall. What arrives just then has arrived.
    pub(super) fn go_down<P: Packet, T: Tap<P>>(&mut self, now: Instant, reach: &mut Reach<'_, '_, P, T>) {
        if !self.down_loses_in_flight {
            return;
        }
        let arrived = self.flight.partition_point(|packet| packet.arrival <= now);
        for InFlight { packet, is_own, .. } in self.flight.drain(arrived..) {
            if is_own {
                reach.drop_packet(now, packet, DropReason::Down);
            } else {
                self.moved_in -= 1;
                reach.forget(now, packet, DropReason::Down);
            }
        }
        self.last_arrival = self.last_arrival.min(now);
    }

    /// Takes out what is on its way, in order of arrival.
    pub(super) fn take_in_flight(&mut self) -> impl Iterator<Item = (Instant, PacketId)> {
        self.moved_in = self.moved_in_arrived();
        std::mem::take(&mut self.flight).into_iter().map(|packet| (packet.arrival, packet.packet))
    }

    /// A packet is on its way here without having come through the transmitter.
    pub(super) fn put_in_flight(&mut self, arrival: Instant, packet: PacketId) {
        self.moved_in += 1;
        self.overtake(InFlight { arrival, packet, is_own: false });
        self.last_arrival = self.last_arrival.max(arrival);
    }

    /// A packet that left this link's transmitter is on its way, behind all others.
    pub(super) fn put_own(&mut self, arrival: Instant, packet: PacketId) {
        self.flight.push_back(InFlight { arrival, packet, is_own: true });
        self.last_arrival = arrival;
    }

    /// A packet has left the transmitter at `at`.
    pub(super) fn carry<P: Packet, T: Tap<P>>(
        &mut self,
        at: Instant,
        queued: Queued,
        streams: &mut LinkStreams,
        counters: &mut Counters,
        fx: &mut Effects<'_, P, T>,
    ) {
        if self.loss.loses(queued.bytes, || fx.packets.get(queued.packet).is_data(), streams) {
            Reach { fx, counters }.drop_packet(at, queued.packet, DropReason::Loss);
            return;
        }
        self.fly(at, queued.packet, streams);
        if self.duplicate > 0.0 {
            self.maybe_duplicate(at, queued.packet, streams, counters, fx);
        }
    }

    #[inline(never)]
    fn maybe_duplicate<P: Packet, T: Tap<P>>(
        &mut self,
        at: Instant,
        packet: PacketId,
        streams: &mut LinkStreams,
        counters: &mut Counters,
        fx: &mut Effects<'_, P, T>,
    ) {
        if streams.duplicate().bernoulli(self.duplicate) {
            let copy = fx.packets.get(packet).duplicate();
            let copy = fx.packets.insert(copy);
            counters.duplicates += 1;
            self.fly(at, copy, streams);
        }
    }

    fn fly(&mut self, departure: Instant, packet: PacketId, streams: &mut LinkStreams) {
        let mut arrival = departure.saturating_add(self.travel(departure, streams));
        if self.reorder {
            self.overtake(InFlight { arrival, packet, is_own: true });
        } else {
            arrival = arrival.max(self.last_arrival);
            self.flight.push_back(InFlight { arrival, packet, is_own: true });
        }
        self.last_arrival = self.last_arrival.max(arrival);
    }

    #[inline(never)]
    fn overtake(&mut self, packet: InFlight) {
        let place = self.flight.partition_point(|before| before.arrival <= packet.arrival);
        self.flight.insert(place, packet);
    }

    fn travel(&mut self, departure: Instant, streams: &mut LinkStreams) -> Duration {
        // Tested by itself, so that most links take a branch that is always the same.
        if matches!(self.jitter, Jitter::None) {
            return self.delay;
        }
        self.jittered(departure, streams)
    }

    #[inline(never)]
    fn jittered(&mut self, departure: Instant, streams: &mut LinkStreams) -> Duration {
        let seconds = match self.jitter {
            Jitter::None => 0.0,
            Jitter::Uniform(width) => width.as_secs_f64() * streams.jitter().uniform(),
            Jitter::Normal(deviation) => streams.jitter().normal(0.0, deviation.as_secs_f64()),
            Jitter::Exponential(mean) => streams.jitter().exponential(mean.as_secs_f64()),
            Jitter::Wander { max, interval } => {
                self.wandering.delay(departure, max, interval, || streams.jitter().uniform())
            }
        };
        if seconds < 0.0 {
            return self.delay.saturating_sub(Duration::from_secs_f64(-seconds));
        }
        self.delay + Duration::from_secs_f64(seconds)
    }
}
