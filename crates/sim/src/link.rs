//! One direction of a link: queue, transmitter, channel.
//!
//! A departure is no event: the end of the packet in transmission is known. The link catches up when something looks
//! at it next: an arriving packet, the arrival event of the first packet in flight, a timed change or a statistic.
//! Then everything that was due happens in order: departures, losses, and what the queue decides at dequeue. So a
//! link has one pending event, and a packet costs one event, under every queue discipline.
//!
//! Where nothing is random (drop-tail, a constant rate and delay, no loss) even that is not needed: `foreseen` stores
//! each packet once, with the times of its departure and its arrival.

mod channel;
mod discipline;
mod foreseen;
mod loss;
mod stats;
mod streams;
mod transmitter;

use discipline::Queued;
pub use stats::LinkStats;

use crate::config::{Change, DirectionConfig, Queue, QueueLimit};
use crate::ids::{LinkId, NodeId, Port};
use crate::packet::{Arena, Packet, PacketId};
use crate::random::Streams;
use crate::tap::{DropReason, Tap};
use channel::Channel;
use discipline::{Discipline, Load, Offer, QueueContext};
use foreseen::{Constants, Foreseen, Slot};
use ropewalk_units::{Duration, Instant, Rate};
use stats::Counters;
use streams::LinkStreams;
use transmitter::Transmitter;

/// What [`crate::World::connect`] needs for one direction.
#[derive(Clone, Debug)]
pub struct LinkSetup {
    /// Names its random streams (`link/<name>/loss` and so on): unique, and different in both directions.
    pub name: String,
    /// What it is made of.
    pub config: DirectionConfig,
    /// Where the random streams come from.
    pub streams: Streams,
}

/// What a link works on beside itself.
pub(crate) struct Effects<'a, P, T> {
    pub(crate) link: LinkId,
    pub(crate) packets: &'a mut Arena<P>,
    pub(crate) tap: &'a mut T,
}

/// The packet in transmission.
#[derive(Clone, Copy)]
struct Sending {
    queued: Queued,
    /// Start of the transmission, or the last change of rate.
    since: Instant,
    /// What is left from `since` on, in 10^-9 bit: rate times nanoseconds.
    work: u64,
}

impl Sending {
    fn new(since: Instant, queued: Queued) -> Self {
        Self { queued, since, work: u64::from(queued.bytes) * transmitter::WORK_PER_OCTET }
    }
}

/// When packets leave a direction's queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Departures {
    /// Each by an event of its own: a tap hears of it.
    AtTheirTime,
    /// For each packet when it is offered, as long as nothing is random.
    MayBeForeseen,
}

/// One direction of a link.
pub(crate) struct Direction {
    to: (NodeId, Port),
    up: bool,
    discipline: Discipline,
    transmitter: Transmitter,
    sending: Option<Sending>,
    /// When the packet in transmission leaves; [`Instant::MAX`] without one, and at rate zero.
    departure: Instant,
    /// When the transmitter fell idle.
    idle_since: Instant,
    channel: Channel,
    /// All its packets, as long as nothing about the link changes and nothing is random.
    foreseen: Option<Foreseen>,
    streams: LinkStreams,
    counters: Counters,
    /// Time of the pending event; [`Instant::MAX`]: none. An event of another time is stale.
    pending: Instant,
}

impl Direction {
    pub(crate) fn new(setup: LinkSetup, to: (NodeId, Port), now: Instant, departures: Departures) -> Self {
        let LinkSetup { name, config, streams } = setup;
        let channel = Channel::new(&config);
        let foreseen =
            Constants::of(&config).filter(|_| departures == Departures::MayBeForeseen).map(Foreseen::new);
        Self {
            to,
            up: true,
            discipline: Discipline::new(config.queue),
            streams: LinkStreams::new(name, streams),
            transmitter: Transmitter::new(config.rate, config.trace, now),
            sending: None,
            departure: Instant::MAX,
            idle_since: now,
            channel,
            foreseen,
            counters: Counters::default(),
            pending: Instant::MAX,
        }
    }

    /// A direction that nothing enters: only its end is known.
    pub(crate) fn unused(to: (NodeId, Port), now: Instant) -> Self {
        let queue = Queue::DropTail { limit: QueueLimit::Packets(0), mark_above: None };
        let config = DirectionConfig { queue, ..DirectionConfig::new(Rate::ZERO) };
        Self::new(
            LinkSetup { name: String::new(), config, streams: Streams::new(0) },
            to,
            now,
            Departures::AtTheirTime,
        )
    }

    pub(crate) fn to(&self) -> (NodeId, Port) {
        self.to
    }

    /// A packet is offered to the queue. Returns whether its transmission has begun: only then may an event be due
    /// earlier than before.
    pub(crate) fn offer<P: Packet, T: Tap<P>>(
        &mut self,
        now: Instant,
        id: PacketId,
        fx: &mut Effects<'_, P, T>,
    ) -> bool {
        if self.foreseen.is_some() {
            return self.offer_foreseen(now, id, fx);
        }
        self.settle(now, fx);
        let queued = Queued { packet: id, bytes: fx.packets.get(id).wire_len(), enqueued: now };
        let load = Load { packets: self.counters.queued, bytes: self.counters.queued_bytes };
        self.counters.offered += 1;
        self.counters.queued += 1;
        self.counters.queued_bytes += u64::from(queued.bytes);
        let is_idle = self.sending.is_none();
        if let Discipline::DropTail(queue) = &mut self.discipline
            && self.up
        {
            // The common case, without detour.
            if is_idle && queue.passes_when_idle(queued.bytes) {
                self.start(now, queued);
                return true;
            }
            queue.enqueue(
                queued,
                Offer { now, load, idle: None },
                &mut Reach { fx, counters: &mut self.counters },
            );
        } else {
            self.offer_managed(queued, now, load, fx);
        }
        if is_idle {
            self.start_first(now, fx);
        }
        is_idle
    }

    /// The same where departures are foreseen.
    fn offer_foreseen<P: Packet, T: Tap<P>>(
        &mut self,
        now: Instant,
        id: PacketId,
        fx: &mut Effects<'_, P, T>,
    ) -> bool {
        let Some(foreseen) = &mut self.foreseen else { return false };
        let queued = Queued { packet: id, bytes: fx.packets.get(id).wire_len(), enqueued: now };
        let load = foreseen.load(now);
        self.counters.offered += 1;
        if !foreseen.constants.limit.fits(load, queued.bytes) {
            self.refuse(now, queued, fx);
            return false;
        }
        // It counts as transmitted from now on; [`Self::stats`] takes back what has not left.
        let time = self.transmitter.time(queued.bytes);
        self.counters.transmitted += 1;
        self.counters.transmitted_bytes += u64::from(queued.bytes);
        self.counters.busy += time;
        let mark = load.packets >= foreseen.constants.mark_above;
        foreseen.accept(now, queued, time);
        if mark {
            Reach { fx, counters: &mut self.counters }.mark(now, id);
        }
        load.packets == 0
    }

    /// The queue is full.
    #[cold]
    fn refuse<P: Packet, T: Tap<P>>(&mut self, now: Instant, queued: Queued, fx: &mut Effects<'_, P, T>) {
        Reach { fx, counters: &mut self.counters }.drop_packet(now, queued.packet, DropReason::QueueFull);
    }

    /// From now on every departure happens at its time.
    #[cold]
    fn stop_foreseeing(&mut self, now: Instant) {
        let Some(mut foreseen) = self.foreseen.take() else { return };
        self.counters = self.counters_foreseen(foreseen.load(now));
        self.idle_since = foreseen.last_departure();
        let last = foreseen.last_departure();
        let (flying, unsent) = foreseen.into_slots(now);
        for slot in flying {
            self.channel.put_own(slot.arrival, slot.queued.packet);
        }
        let mut unsent = unsent.into_iter();
        if let Some(Slot { departure, queued, .. }) = unsent.next() {
            let since = departure - self.transmitter.time(queued.bytes);
            self.counters.busy -= last - since;
            self.sending = Some(Sending::new(since, queued));
            self.departure = departure;
        }
        for slot in unsent {
            self.discipline.append(slot.queued);
        }
    }

    /// The counters of a link whose departures are foreseen, with this load. Its time in transmission is that of all packets.
    fn counters_foreseen(&self, load: Load) -> Counters {
        let mut counters = self.counters.clone();
        counters.queued = load.packets;
        counters.queued_bytes = load.bytes;
        counters.transmitted -= u64::from(load.packets);
        counters.transmitted_bytes -= load.bytes;
        counters
    }

    /// [`Self::start_next`], out of line where it is rare.
    #[inline(never)]
    fn start_first<P: Packet, T: Tap<P>>(&mut self, now: Instant, fx: &mut Effects<'_, P, T>) {
        self.start_next(now, fx);
    }

    /// The same for a link that is down or under active queue management.
    #[inline(never)]
    fn offer_managed<P: Packet, T: Tap<P>>(
        &mut self,
        queued: Queued,
        now: Instant,
        load: Load,
        fx: &mut Effects<'_, P, T>,
    ) {
        let reach = &mut Reach { fx, counters: &mut self.counters };
        if !self.up {
            reach.discard(now, queued, DropReason::Down);
            return;
        }
        let idle = self.sending.is_none().then(|| now.saturating_since(self.idle_since));
        let idle = idle.map(|idle| self.transmitter.small_packets_in(idle));
        self.discipline.enqueue(queued, Offer { now, load, idle }, &mut self.streams, reach);
    }

    /// Lets everything happen that is due by `now`.
    pub(crate) fn settle<P: Packet, T: Tap<P>>(&mut self, now: Instant, fx: &mut Effects<'_, P, T>) {
        if self.departure <= now {
            self.settle_due(now, fx);
        }
    }

    /// One function with all that a departure does inside: it is called once per packet, from two places.
    #[inline(never)]
    fn settle_due<P: Packet, T: Tap<P>>(&mut self, now: Instant, fx: &mut Effects<'_, P, T>) {
        while self.departure <= now
            && let Some(sending) = self.sending
        {
            let at = self.departure;
            self.depart(at, sending, fx);
            self.start_next(at, fx);
        }
    }

    /// The first packet that has arrived by `now`.
    pub(crate) fn arrived(&mut self, now: Instant) -> Option<PacketId> {
        let id = match &mut self.foreseen {
            Some(foreseen) => foreseen.arrived(now)?,
            None => self.channel.arrived(now)?,
        };
        self.counters.delivered += 1;
        Some(id)
    }

    /// Takes out what is on its way to the receiver, with its arrivals: it has left the link, which is what `delivered`
    /// counts.
    pub(crate) fn take_in_flight(&mut self, now: Instant) -> impl Iterator<Item = (Instant, PacketId)> {
        self.stop_foreseeing(now);
        self.counters.delivered += self.channel.in_flight() as u64;
        self.channel.take_in_flight()
    }

    /// A packet that another world's transmitter has sent is on its way.
    pub(crate) fn put_in_flight(&mut self, now: Instant, arrival: Instant, id: PacketId) {
        self.stop_foreseeing(now);
        self.channel.put_in_flight(arrival, id);
    }

    /// Is an event of time `now` the pending one? Then it no longer is.
    pub(crate) fn expects(&mut self, now: Instant) -> bool {
        if self.pending != now {
            return false;
        }
        self.pending = Instant::MAX;
        true
    }

    /// The time of the event that must now be pushed, if any.
    pub(crate) fn reschedule(&mut self) -> Option<Instant> {
        let wanted = match &self.foreseen {
            Some(foreseen) => foreseen.first_arrival(),
            None => self.channel.next_event(self.departure),
        };
        if wanted >= self.pending {
            return None;
        }
        self.pending = wanted;
        Some(wanted)
    }

    /// The packet's transmission ends.
    fn depart<P: Packet, T: Tap<P>>(&mut self, at: Instant, sending: Sending, fx: &mut Effects<'_, P, T>) {
        let Sending { queued, since, .. } = sending;
        self.counters.queued -= 1;
        self.counters.queued_bytes -= u64::from(queued.bytes);
        self.counters.transmitted += 1;
        self.counters.transmitted_bytes += u64::from(queued.bytes);
        self.counters.busy += at.saturating_since(since);
        if T::ACTIVE {
            fx.tap.transmitted(at, fx.link, fx.packets.get(queued.packet));
        }
        self.channel.carry(at, queued, &mut self.streams, &mut self.counters, fx);
    }

    fn start_next<P: Packet, T: Tap<P>>(&mut self, at: Instant, fx: &mut Effects<'_, P, T>) {
        let reach = &mut Reach { fx, counters: &mut self.counters };
        match self.discipline.dequeue(at, reach) {
            Some(queued) => self.start(at, queued),
            None => {
                self.sending = None;
                self.departure = Instant::MAX;
                self.idle_since = at;
            }
        }
    }

    fn start(&mut self, at: Instant, queued: Queued) {
        self.departure = self.transmitter.departure(at, queued.bytes);
        self.sending = Some(Sending::new(at, queued));
    }

    pub(crate) fn change<P: Packet, T: Tap<P>>(
        &mut self,
        now: Instant,
        change: Change,
        fx: &mut Effects<'_, P, T>,
    ) {
        self.stop_foreseeing(now);
        self.settle(now, fx);
        match change {
            Change::Rate(rate) => {
                self.count_capacity(now);
                if let Some(sending) = &mut self.sending
                    && let Some(rest) =
                        self.transmitter.rest(now.saturating_since(sending.since), sending.work)
                {
                    self.counters.busy += now.saturating_since(sending.since);
                    sending.work = rest;
                    sending.since = now;
                    self.departure = now.saturating_add(transmitter::time_for(rest, rate));
                }
                self.transmitter.set_rate(rate, now);
            }
            Change::Trace(trace) => {
                self.count_capacity(now);
                self.transmitter.set_trace(trace, now);
            }
            Change::Delay(delay) => self.channel.set_delay(delay),
            Change::Jitter(jitter) => self.channel.set_jitter(jitter),
            Change::Reorder(reorder) => self.channel.set_reorder(reorder),
            Change::Loss(loss) => self.channel.set_loss(loss),
            Change::Duplicate(probability) => self.channel.set_duplicate(probability),
            Change::DownLosesInFlight(loses) => self.channel.set_down_loses_in_flight(loses),
            Change::Queue(queue) => self.replace_queue(now, queue, fx),
            Change::Down => self.go_down(now, fx),
            Change::Up => {
                if !self.up {
                    self.up = true;
                    self.idle_since = now;
                    self.transmitter.resume(now);
                }
            }
        }
    }

    /// Before the capacity changes. Time in which the link is down has none.
    fn count_capacity(&mut self, now: Instant) {
        if self.up {
            self.counters.capacity_bytes += self.transmitter.capacity(now);
        }
    }

    /// What waits moves over in its order; what does not fit any more is dropped.
    fn replace_queue<P: Packet, T: Tap<P>>(
        &mut self,
        now: Instant,
        queue: crate::config::Queue,
        fx: &mut Effects<'_, P, T>,
    ) {
        let waiting = self.discipline.drain();
        self.discipline = Discipline::new(queue);
        let mut load = Load::default();
        if let Some(sending) = &self.sending {
            load.add(sending.queued.bytes);
        }
        let reach = &mut Reach { fx, counters: &mut self.counters };
        for queued in waiting {
            if self.discipline.limit().fits(load, queued.bytes) {
                load.add(queued.bytes);
                self.discipline.restore(queued, reach);
            } else {
                reach.discard(now, queued, DropReason::QueueFull);
            }
        }
    }

    fn go_down<P: Packet, T: Tap<P>>(&mut self, now: Instant, fx: &mut Effects<'_, P, T>) {
        if !self.up {
            return;
        }
        self.count_capacity(now);
        self.up = false;
        self.transmitter.pause(now);
        let sending = self.sending.take();
        self.departure = Instant::MAX;
        if let Some(sending) = &sending {
            self.counters.busy += now.saturating_since(sending.since);
        }
        let waiting = self.discipline.drain();
        let reach = &mut Reach { fx, counters: &mut self.counters };
        self.channel.go_down(now, reach);
        for queued in sending.map(|sending| sending.queued).into_iter().chain(waiting) {
            reach.discard(now, queued, DropReason::Down);
        }
    }

    /// The statistics at `now`; the link must be settled.
    pub(crate) fn stats(&mut self, now: Instant) -> LinkStats {
        let mut capacity = self.counters.capacity_bytes;
        if self.up {
            capacity += self.transmitter.capacity(now);
        }
        if let Some(foreseen) = &mut self.foreseen {
            let load = foreseen.load(now);
            let (in_flight, rest) = (foreseen.in_flight(), foreseen.last_departure().saturating_since(now));
            let counters = self.counters_foreseen(load);
            return counters.view(in_flight, counters.busy - rest, capacity);
        }
        let sending = self.sending.map_or(Duration::ZERO, |sending| now.saturating_since(sending.since));
        let stats = self.counters.view(self.channel.in_flight(), self.counters.busy + sending, capacity);
        LinkStats { delivered: stats.delivered - self.channel.moved_in_arrived(), ..stats }
    }
}

/// What a queue discipline may reach of the world around it.
struct Reach<'r, 'e, P, T> {
    fx: &'r mut Effects<'e, P, T>,
    counters: &'r mut Counters,
}

impl<P: Packet, T: Tap<P>> Reach<'_, '_, P, T> {
    /// A packet that is not in the queue ends here.
    fn drop_packet(&mut self, at: Instant, packet: PacketId, reason: DropReason) {
        match reason {
            DropReason::QueueFull | DropReason::Aqm => self.counters.drops_queue += 1,
            DropReason::Loss | DropReason::Down => self.counters.drops_loss += 1,
        }
        self.forget(at, packet, reason);
    }

    /// The same for one that is counted nowhere.
    fn forget(&mut self, at: Instant, packet: PacketId, reason: DropReason) {
        if T::ACTIVE {
            self.fx.tap.dropped(at, self.fx.link, self.fx.packets.get(packet), reason);
        }
        self.fx.packets.discard(packet);
    }
}

impl<P: Packet, T: Tap<P>> QueueContext for Reach<'_, '_, P, T> {
    fn discard(&mut self, at: Instant, queued: Queued, reason: DropReason) {
        self.counters.queued -= 1;
        self.counters.queued_bytes -= u64::from(queued.bytes);
        self.drop_packet(at, queued.packet, reason);
    }

    fn mark(&mut self, at: Instant, id: PacketId) -> bool {
        let packet = self.fx.packets.get_mut(id);
        if !packet.ecn_capable() {
            return false;
        }
        packet.mark_ce();
        self.counters.marks += 1;
        if T::ACTIVE {
            self.fx.tap.marked(at, self.fx.link, packet);
        }
        true
    }

    fn flow_hash(&self, id: PacketId) -> u32 {
        self.fx.packets.get(id).flow_hash()
    }
}
