//! The event queue: a hierarchical timing wheel whose current slot is sorted.
//!
//! Chosen by measurement over a binary and a 4-ary heap: `docs/decisions/0002-event-queue.md`.

use ropewalk_units::Instant;

/// A slot of the finest level covers 2^8 ns.
const SLOT_BITS: u32 = 8;
/// Each level has 2^12 slots, two steps of a 64-way bitmap.
const LEVEL_BITS: u32 = 12;
const SLOTS: usize = 1 << LEVEL_BITS;
const SLOT_MASK: u64 = SLOTS as u64 - 1;
/// Five levels of 12 bits over 8 cover the 64 bits of time: there is no overflow list.
const LEVELS: usize = 5;
/// End of a list.
const NIL: u32 = u32::MAX;

/// Pending events in order of time; those of one time in order of insertion.
///
/// A push and a pop cost a constant number of steps, whatever is pending. Events are moved by value.
///
/// The order of insertion is kept without storing it. Every list is in that order (backwards). An event reaches a
/// level by a cascade before any event can be put there directly. The current slot is sorted stably.
pub struct EventQueue<E> {
    /// The current slot's events in order; those before `next` are gone.
    current: Vec<(u64, E)>,
    next: usize,
    /// The finest slot that `current` stands for. Whatever is pushed for it, or before it, goes to `current`.
    cursor: u64,
    levels: [Level; LEVELS],
    entries: Vec<Entry<E>>,
    free: u32,
    len: usize,
}

/// An event in some slot's list, or a free entry.
#[derive(Clone, Copy)]
struct Entry<E> {
    time: u64,
    event: E,
    /// The entry before this one in its slot, or the next free one.
    link: u32,
}

struct Level {
    /// The last entry put into each slot, [`NIL`] in empty ones; each entry leads to the one before it. Without a tail
    /// of the list, a push needs no branch that is hard to predict, and half of the memory.
    lists: Box<[u32; SLOTS]>,
    occupied: [u64; SLOTS / 64],
    /// One bit for each word of `occupied` that is not zero.
    words: u64,
}

impl Level {
    fn new() -> Self {
        Self { lists: Box::new([NIL; SLOTS]), occupied: [0; SLOTS / 64], words: 0 }
    }

    /// The first occupied slot.
    fn first(&self) -> Option<usize> {
        if self.words == 0 {
            return None;
        }
        let word = self.words.trailing_zeros() as usize;
        Some(word * 64 + self.occupied[word % (SLOTS / 64)].trailing_zeros() as usize)
    }

    /// Empties `slot` and returns its last entry.
    fn take(&mut self, slot: usize) -> u32 {
        let word = slot / 64 % (SLOTS / 64);
        self.occupied[word] &= !(1 << (slot % 64));
        self.words &= !(u64::from(self.occupied[word] == 0) << word);
        std::mem::replace(&mut self.lists[slot % SLOTS], NIL)
    }

    /// Makes `entry` the last one of `slot`; returns the one before it.
    fn put(&mut self, slot: usize, entry: u32) -> u32 {
        let word = slot / 64 % (SLOTS / 64);
        self.occupied[word] |= 1 << (slot % 64);
        self.words |= 1 << word;
        std::mem::replace(&mut self.lists[slot % SLOTS], entry)
    }
}

impl<E: Copy> Default for EventQueue<E> {
    fn default() -> Self {
        Self::new()
    }
}

impl<E: Copy> EventQueue<E> {
    /// Nothing pending.
    pub fn new() -> Self {
        Self {
            current: Vec::new(),
            next: 0,
            cursor: 0,
            levels: std::array::from_fn(|_| Level::new()),
            entries: Vec::new(),
            free: NIL,
            len: 0,
        }
    }

    /// How many events are pending.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Is nothing pending?
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Adds an event. One that lies before an event already popped is popped next.
    #[inline]
    pub fn push(&mut self, at: Instant, event: E) {
        self.len += 1;
        let time = at.as_nanos();
        let slot = time >> SLOT_BITS;
        if slot <= self.cursor {
            self.insert_current(time, event);
            return;
        }
        let entry = self.allocate(time, event);
        self.link(slot, entry);
    }

    /// No event lies before this time; [`Instant::MAX`] if none is pending.
    pub fn earliest(&self) -> Instant {
        if let Some(&(time, _)) = self.current.get(self.next) {
            return Instant::from_nanos(time);
        }
        let first = (0..LEVELS).find_map(|level| Some(self.start(level, self.levels[level].first()?)));
        first.map_or(Instant::MAX, |slot| Instant::from_nanos(slot << SLOT_BITS))
    }

    /// Where a slot of a level begins, in slots of the finest.
    fn start(&self, level: usize, slot: usize) -> u64 {
        let shift = level as u32 * LEVEL_BITS;
        let above = u64::MAX.checked_shl(shift + LEVEL_BITS).unwrap_or(0);
        (self.cursor & above) | (slot as u64) << shift
    }

    /// Removes the first event if its time is not after `limit`.
    pub fn pop_until(&mut self, limit: Instant) -> Option<(Instant, E)> {
        self.pop_if(limit, |_, _| true)
    }

    /// Removes the first event if its time is not after `limit` and it is `wanted`.
    pub fn pop_if(&mut self, limit: Instant, wanted: impl Fn(Instant, &E) -> bool) -> Option<(Instant, E)> {
        let limit = limit.as_nanos();
        loop {
            if let Some(&(time, event)) = self.current.get(self.next) {
                if time > limit || !wanted(Instant::from_nanos(time), &event) {
                    return None;
                }
                self.next += 1;
                if self.next == self.current.len() {
                    self.current.clear();
                    self.next = 0;
                }
                self.len -= 1;
                return Some((Instant::from_nanos(time), event));
            }
            let Some(slot) = self.levels[0].first() else {
                if self.cascade(limit) {
                    continue;
                }
                return None;
            };
            let last = self.levels[0].lists[slot % SLOTS];
            let Entry { time, event, link } = self.entries[last as usize];
            if link != NIL {
                if !self.open(slot, limit) {
                    return None;
                }
                continue;
            }
            if time > limit || !wanted(Instant::from_nanos(time), &event) {
                return None;
            }
            // A slot with one event needs no sorting: the usual case.
            self.levels[0].take(slot);
            self.release(last);
            self.cursor = time >> SLOT_BITS;
            self.len -= 1;
            return Some((Instant::from_nanos(time), event));
        }
    }

    fn allocate(&mut self, time: u64, event: E) -> u32 {
        let entry = self.free;
        if let Some(place) = self.entries.get_mut(entry as usize) {
            self.free = place.link;
            place.time = time;
            place.event = event;
            return entry;
        }
        let entry = u32::try_from(self.entries.len()).expect("fewer than 2^32 pending events");
        self.entries.push(Entry { time, event, link: NIL });
        entry
    }

    fn release(&mut self, entry: u32) {
        self.entries[entry as usize].link = self.free;
        self.free = entry;
    }

    /// Puts an entry into the list of its slot, on the level of the highest bit in which it differs from the cursor.
    #[inline]
    fn link(&mut self, slot: u64, entry: u32) {
        let differs = slot ^ self.cursor;
        let before = if differs <= SLOT_MASK {
            self.levels[0].put((slot & SLOT_MASK) as usize, entry)
        } else {
            let level = (63 - differs.leading_zeros()) / LEVEL_BITS;
            self.levels[level as usize].put(((slot >> (level * LEVEL_BITS)) & SLOT_MASK) as usize, entry)
        };
        self.entries[entry as usize].link = before;
    }

    /// Turns a list around, so that it begins with the entry inserted first.
    fn reverse(&mut self, mut entry: u32) -> u32 {
        let mut reversed = NIL;
        while entry != NIL {
            let link = std::mem::replace(&mut self.entries[entry as usize].link, reversed);
            reversed = entry;
            entry = link;
        }
        reversed
    }

    fn insert_current(&mut self, time: u64, event: E) {
        let place = self.next + self.current[self.next..].partition_point(|&(other, _)| other <= time);
        self.current.insert(place, (time, event));
    }

    /// Makes the finest level's `slot`, which holds several events, the current one; false if it begins after
    /// `limit`.
    fn open(&mut self, slot: usize, limit: u64) -> bool {
        let start = (self.cursor & !SLOT_MASK) | slot as u64;
        if start << SLOT_BITS > limit {
            return false;
        }
        self.cursor = start;
        let mut entry = self.levels[0].take(slot);
        while entry != NIL {
            let Entry { time, event, link } = self.entries[entry as usize];
            self.current.push((time, event));
            self.release(entry);
            entry = link;
        }
        self.current.reverse();
        self.current.sort_by_key(|&(time, _)| time);
        true
    }

    /// Spreads the first occupied slot above the finest level over the levels below it; false if there is none
    /// or it begins after `limit`.
    #[cold]
    fn cascade(&mut self, limit: u64) -> bool {
        for level in 1..LEVELS {
            let Some(slot) = self.levels[level].first() else { continue };
            let start = self.start(level, slot);
            if start << SLOT_BITS > limit {
                return false;
            }
            self.cursor = start;
            let last = self.levels[level].take(slot);
            let mut entry = self.reverse(last);
            while entry != NIL {
                let Entry { time, event, link } = self.entries[entry as usize];
                if time >> SLOT_BITS <= self.cursor {
                    self.insert_current(time, event);
                    self.release(entry);
                } else {
                    self.link(time >> SLOT_BITS, entry);
                }
                entry = link;
            }
            return true;
        }
        false
    }
}

#[cfg(test)]
mod tests;
