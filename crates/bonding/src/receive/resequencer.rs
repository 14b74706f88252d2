//! Puts packets back into order, for a bounded time and in bounded memory.
//!
//! One order per bucket: a missing packet holds back its own bucket only. Packets that wait are
//! kept in one pool, linked in the order of their numbers; what may be delivered is moved to
//! `ready`.

mod pool;

#[cfg(test)]
mod tests;

use crate::id::{FlowSeq, GlobalSeq};
use crate::view::ResequencerView;
use pool::{NONE, Pool, Waiting};
use ropewalk_units::{Duration, Instant};
use std::collections::VecDeque;

/// The order of one flow bucket.
#[derive(Clone, Copy)]
struct Bucket {
    /// The number to deliver next.
    next: FlowSeq,
    /// The global number of the last one delivered.
    last: Option<GlobalSeq>,
    /// The pool's slots of the waiting packets with the lowest and the highest number.
    head: u32,
    tail: u32,
    /// Its place in the list of buckets with waiting packets.
    place: u32,
    /// No packet has come yet.
    is_new: bool,
}

const FRESH: Bucket =
    Bucket { next: FlowSeq::new(0), last: None, head: NONE, tail: NONE, place: NONE, is_new: true };

/// A packet that may have to wait.
pub(crate) struct Arrival<P> {
    pub(crate) bucket: u16,
    pub(crate) seq: FlowSeq,
    pub(crate) global: GlobalSeq,
    pub(crate) len: u32,
    pub(crate) packet: P,
}

/// The egress's order.
pub(crate) struct Resequencer<P> {
    buckets: Vec<Bucket>,
    pool: Pool<P>,
    /// Buckets with waiting packets.
    blocked: Vec<u16>,
    /// Not later than the earliest deadline of a blocked bucket's first packet.
    next_deadline: Instant,
    /// Not later than the earliest global number of such a packet.
    next_global: Option<GlobalSeq>,
    ready: VecDeque<P>,
    most: usize,
    view: ResequencerView,
    added_nanos: u128,
    /// Packets given up since they were last asked for.
    newly_given_up: u32,
}

impl<P> Resequencer<P> {
    pub(crate) fn new(max_packets: u32, flow_buckets: u32) -> Self {
        let most = max_packets as usize;
        Self {
            buckets: vec![FRESH; flow_buckets as usize],
            pool: Pool::new(most),
            blocked: Vec::with_capacity(most.min(1 << 16)),
            next_deadline: Instant::MAX,
            next_global: None,
            ready: VecDeque::with_capacity(most + 1),
            most,
            view: ResequencerView::default(),
            added_nanos: 0,
            newly_given_up: 0,
        }
    }

    /// Has the driver left too many packets undelivered?
    #[inline]
    pub(crate) fn is_full(&self) -> bool {
        self.ready.len() >= self.most
    }

    #[inline]
    pub(crate) fn pop(&mut self) -> Option<P> {
        self.ready.pop_front()
    }

    /// Delivers a packet at once, whatever else is missing.
    #[inline]
    pub(crate) fn pass(&mut self, packet: P) {
        self.view.delivered += 1;
        self.ready.push_back(packet);
    }

    /// Takes a packet of an ordered flow. If one before it is missing, it waits for `patience` at
    /// most. The packet is returned if it is too late or there already.
    #[inline]
    pub(crate) fn offer(
        &mut self,
        now: Instant,
        arrival: Arrival<P>,
        patience: impl Fn() -> Duration,
    ) -> Result<(), P> {
        let place = usize::from(arrival.bucket);
        if place >= self.buckets.len() {
            self.buckets.resize(place + 1, FRESH);
        }
        let bucket = &mut self.buckets[place];
        if bucket.is_new {
            bucket.is_new = false;
            // The peer began long ago: begin at its number.
            if arrival.seq.before(bucket.next) {
                bucket.next = arrival.seq;
            }
        }
        if arrival.seq == bucket.next {
            bucket.next = arrival.seq.next();
            bucket.last = Some(arrival.global);
            let is_blocked = bucket.head != NONE;
            self.pass(arrival.packet);
            if is_blocked {
                self.release(now, arrival.bucket);
            }
            return Ok(());
        }
        if arrival.seq.before(bucket.next) {
            self.view.late += 1;
            return Err(arrival.packet);
        }
        if self.pool.is_full() {
            self.make_room(now, arrival.bucket);
            return self.offer(now, arrival, patience);
        }
        self.hold(now, arrival, now.saturating_add(patience()))
    }

    /// The number that a bucket delivers next.
    #[inline]
    pub(crate) fn next(&self, bucket: u16) -> FlowSeq {
        self.buckets.get(usize::from(bucket)).unwrap_or(&FRESH).next
    }

    /// Keeps a packet that came before one it has to wait for.
    fn hold(&mut self, now: Instant, arrival: Arrival<P>, deadline: Instant) -> Result<(), P> {
        let id = arrival.bucket;
        let bucket = &mut self.buckets[usize::from(id)];
        let waiting =
            Waiting { seq: arrival.seq, global: arrival.global, arrived_at: now, deadline, len: arrival.len };
        let is_first = self.pool.insert(&mut bucket.head, &mut bucket.tail, waiting, arrival.packet)?;
        self.view.depth_packets += 1;
        self.view.depth_bytes += u64::from(arrival.len);
        self.view.max_depth_packets = self.view.max_depth_packets.max(self.view.depth_packets);
        if is_first {
            self.note_head(id);
        }
        Ok(())
    }

    /// The bucket has (another) first waiting packet.
    fn note_head(&mut self, id: u16) {
        let bucket = &mut self.buckets[usize::from(id)];
        if bucket.place == NONE {
            bucket.place = self.blocked.len() as u32;
            self.blocked.push(id);
        }
        let head = self.pool.get(bucket.head);
        self.next_deadline = self.next_deadline.min(head.deadline);
        let is_lower = self.next_global.is_none_or(|global| head.global.before(global));
        if is_lower {
            self.next_global = Some(head.global);
        }
    }

    /// Delivers waiting packets as far as none is missing.
    fn release(&mut self, now: Instant, id: u16) {
        let place = usize::from(id);
        loop {
            let bucket = &mut self.buckets[place];
            if bucket.head == NONE {
                return self.unblock(id);
            }
            if self.pool.get(bucket.head).seq != bucket.next {
                return self.note_head(id);
            }
            let (waiting, packet) = self.pool.take_first(&mut bucket.head, &mut bucket.tail);
            bucket.next = bucket.next.next();
            bucket.last = Some(waiting.global);
            let added = now.saturating_since(waiting.arrived_at);
            self.added_nanos += u128::from(added.as_nanos());
            self.view.max_added_delay = self.view.max_added_delay.max(added);
            self.view.depth_packets -= 1;
            self.view.depth_bytes -= u64::from(waiting.len);
            self.pass(packet);
        }
    }

    fn unblock(&mut self, id: u16) {
        let place = std::mem::replace(&mut self.buckets[usize::from(id)].place, NONE);
        if place == NONE {
            return;
        }
        self.blocked.swap_remove(place as usize);
        if let Some(&moved) = self.blocked.get(place as usize) {
            self.buckets[usize::from(moved)].place = place;
        }
        if self.blocked.is_empty() {
            self.next_deadline = Instant::MAX;
            self.next_global = None;
        }
    }

    /// Gives up what the bucket's first waiting packet waits for.
    fn give_up(&mut self, now: Instant, id: u16) {
        let bucket = &mut self.buckets[usize::from(id)];
        let head = self.pool.get(bucket.head).seq;
        let missing = head.since(bucket.next);
        self.view.given_up += u64::from(missing);
        self.newly_given_up = self.newly_given_up.saturating_add(missing);
        bucket.next = head;
        self.release(now, id);
    }

    /// The pool is full: gives up a gap, of this bucket if it has one.
    fn make_room(&mut self, now: Instant, id: u16) {
        let own = self.buckets[usize::from(id)].head != NONE;
        let victim = if own { id } else { self.blocked[0] };
        self.give_up(now, victim);
    }

    /// When [`Self::expire`] has something to do; [`Instant::MAX`]: never.
    #[inline]
    pub(crate) fn deadline(&self) -> Instant {
        self.next_deadline
    }

    /// Gives up packets whose time is up. `renewed` is asked with the arrival time and the number
    /// of a waiting packet. It returns until when the packet goes on waiting, if it does.
    pub(crate) fn expire(
        &mut self,
        now: Instant,
        mut renewed: impl FnMut(Instant, GlobalSeq) -> Option<Instant>,
    ) {
        if now < self.next_deadline {
            return;
        }
        let mut place = 0;
        while let Some(&id) = self.blocked.get(place) {
            let first = self.buckets[usize::from(id)].head;
            let head = self.pool.get(first);
            if head.deadline > now {
                place += 1;
            } else if let Some(deadline) = renewed(head.arrived_at, head.global) {
                self.pool.renew(first, deadline);
                place += 1;
            } else {
                // This place holds another bucket now, or the same one with another first packet:
                // look at it again.
                self.give_up(now, id);
            }
        }
        self.find_next();
    }

    /// Packets up to `passed` will not come any more. If `from` is given, that holds for those from
    /// `from` on. The missing ones are lost.
    #[inline]
    pub(crate) fn on_passed(&mut self, now: Instant, from: Option<GlobalSeq>, passed: GlobalSeq) {
        if self.next_global.is_none_or(|next| passed.before(next)) {
            return;
        }
        self.give_up_where(now, |bucket, head| {
            // The missing packets were sent after what was delivered last, and before the first
            // that waits.
            let is_within = from.is_none_or(|from| bucket.last.is_some_and(|last| !last.next().before(from)));
            is_within && !passed.before(head.global)
        });
    }

    /// Is anything held back?
    #[inline]
    pub(crate) fn is_blocked(&self) -> bool {
        !self.blocked.is_empty()
    }

    /// Gives up gaps before first packets for which `is_over`.
    fn give_up_where(&mut self, now: Instant, is_over: impl Fn(&Bucket, &Waiting) -> bool) {
        let mut place = 0;
        while let Some(&id) = self.blocked.get(place) {
            let bucket = &self.buckets[usize::from(id)];
            if is_over(bucket, self.pool.get(bucket.head)) {
                // This place holds another bucket now, or the same one with another first packet:
                // look at it again.
                self.give_up(now, id);
            } else {
                place += 1;
            }
        }
        self.find_next();
    }

    /// Finds the next deadline and number again.
    fn find_next(&mut self) {
        self.next_deadline = Instant::MAX;
        self.next_global = None;
        for place in 0..self.blocked.len() {
            self.note_head(self.blocked[place]);
        }
    }

    pub(crate) fn count_duplicate(&mut self) {
        self.view.duplicates += 1;
    }

    pub(crate) fn count_late(&mut self) {
        self.view.late += 1;
    }

    /// How many packets were given up since this was last asked.
    #[inline]
    pub(crate) fn take_given_up(&mut self) -> u32 {
        std::mem::take(&mut self.newly_given_up)
    }

    pub(crate) fn view(&self, timeout: Duration) -> ResequencerView {
        let mean = self.added_nanos / u128::from(self.view.delivered.max(1));
        ResequencerView { timeout, mean_added_delay: Duration::from_nanos(mean as u64), ..self.view }
    }
}
