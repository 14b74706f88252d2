//! Waiting packets of all buckets, in one pool of doubly linked lists.

use crate::id::{FlowSeq, GlobalSeq};
use ropewalk_units::Instant;

/// No slot.
pub(super) const NONE: u32 = u32::MAX;

/// What is known of a waiting packet, without the packet itself.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    pub(super) seq: FlowSeq,
    pub(super) global: GlobalSeq,
    pub(super) arrived_at: Instant,
    pub(super) deadline: Instant,
    pub(super) len: u32,
}

struct Slot<P> {
    waiting: Waiting,
    before: u32,
    after: u32,
    packet: Option<P>,
}

const EMPTY: Waiting = Waiting {
    seq: FlowSeq::new(0),
    global: GlobalSeq::new(0),
    arrived_at: Instant::ZERO,
    deadline: Instant::ZERO,
    len: 0,
};

/// The slots; free ones are linked by `after`.
pub(super) struct Pool<P> {
    slots: Vec<Slot<P>>,
    free: u32,
}

impl<P> Pool<P> {
    pub(super) fn new(capacity: usize) -> Self {
        let slot = |place: usize| {
            let after = if place + 1 < capacity { place as u32 + 1 } else { NONE };
            Slot { waiting: EMPTY, before: NONE, after, packet: None }
        };
        Self { slots: (0..capacity).map(slot).collect(), free: if capacity > 0 { 0 } else { NONE } }
    }

    #[inline]
    pub(super) fn is_full(&self) -> bool {
        self.free == NONE
    }

    #[inline]
    pub(super) fn get(&self, slot: u32) -> &Waiting {
        &self.slots[slot as usize].waiting
    }

    /// Sets another deadline for a waiting packet.
    pub(super) fn renew(&mut self, slot: u32, deadline: Instant) {
        self.slots[slot as usize].waiting.deadline = deadline;
    }

    /// Puts a packet into its place in a list. The place is looked for from the end, since most
    /// packets come in order. The pool must not be full. Returns whether the packet is the first,
    /// or the packet itself if its number is there already.
    pub(super) fn insert(
        &mut self,
        head: &mut u32,
        tail: &mut u32,
        waiting: Waiting,
        packet: P,
    ) -> Result<bool, P> {
        let own = self.free;
        let before = self.place(*tail, waiting.seq);
        if before != NONE && self.get(before).seq == waiting.seq {
            return Err(packet);
        }
        let slot = &mut self.slots[own as usize];
        self.free = slot.after;
        slot.waiting = waiting;
        slot.packet = Some(packet);
        let after = if before == NONE { *head } else { self.slots[before as usize].after };
        self.slots[own as usize].before = before;
        self.slots[own as usize].after = after;
        if before == NONE {
            *head = own;
        } else {
            self.slots[before as usize].after = own;
        }
        if after == NONE {
            *tail = own;
        } else {
            self.slots[after as usize].before = own;
        }
        Ok(before == NONE)
    }

    /// The last slot of the list that does not come after `seq`.
    fn place(&self, tail: u32, seq: FlowSeq) -> u32 {
        let mut at = tail;
        while at != NONE && seq.before(self.slots[at as usize].waiting.seq) {
            at = self.slots[at as usize].before;
        }
        at
    }

    /// Takes the first packet of a list that is not empty.
    pub(super) fn take_first(&mut self, head: &mut u32, tail: &mut u32) -> (Waiting, P) {
        let own = *head;
        let slot = &mut self.slots[own as usize];
        let packet = slot.packet.take().expect("a linked slot holds a packet");
        let waiting = slot.waiting;
        *head = std::mem::replace(&mut slot.after, self.free);
        self.free = own;
        if *head == NONE {
            *tail = NONE;
        } else {
            self.slots[*head as usize].before = NONE;
        }
        (waiting, packet)
    }
}
