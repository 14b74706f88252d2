//! Packets in the order of their sequence numbers: RFC 2890 §2.2.

use ropewalk_units::{Duration, Instant};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// An end that was silent for this long may have begun anew: its next packet counts as the first.
/// RFC 2890 leaves this open.
const SILENCE: Duration = Duration::from_secs(3);

/// Restores order: a packet that comes too early waits for the missing ones before it.
pub(super) struct Order {
    /// The RFC's OUTOFORDER_TIMER.
    timer: Duration,
    /// The RFC's MAX_PERFLOW_BUFFER.
    most: usize,
    /// The next number, in 64 bits so that it does not wrap. Its lower 32 bits are the header's.
    next: Option<u64>,
    heard_at: Instant,
    held: BTreeMap<u64, (Instant, Vec<u8>)>,
    /// When each of them came, and its number.
    waiting: BTreeSet<(Instant, u64)>,
    ready: VecDeque<Vec<u8>>,
    pub(super) late: u64,
    pub(super) given_up: u64,
}

impl Order {
    pub(super) fn new(timer: Duration, most: usize) -> Self {
        Self {
            timer,
            most,
            next: None,
            heard_at: Instant::ZERO,
            held: BTreeMap::new(),
            waiting: BTreeSet::new(),
            ready: VecDeque::new(),
            late: 0,
            given_up: 0,
        }
    }

    /// A packet with its number came.
    pub(super) fn handle(&mut self, now: Instant, sequence: u32, packet: &[u8]) {
        if now.saturating_since(self.heard_at) >= SILENCE {
            self.release_all();
            self.next = None;
        }
        self.heard_at = now;
        // The offset keeps numbers away from zero and from the end.
        let next = *self.next.get_or_insert(u64::from(sequence) + (1 << 32));
        let ahead = i64::from(sequence.wrapping_sub(next as u32) as i32);
        let Some(number) = next.checked_add_signed(ahead).filter(|_| ahead >= 0) else {
            self.late += 1;
            return;
        };
        match self.held.entry(number) {
            Entry::Vacant(place) => {
                place.insert((now, packet.to_vec()));
                self.waiting.insert((now, number));
            }
            Entry::Occupied(_) => self.late += 1,
        }
        self.release();
        while self.held.len() > self.most {
            self.skip();
        }
    }

    /// Releases the packets that have no gap before them.
    fn release(&mut self) {
        while let Some(next) = self.next
            && let Some((at, packet)) = self.held.remove(&next)
        {
            self.waiting.remove(&(at, next));
            self.ready.push_back(packet);
            self.next = Some(next + 1);
        }
    }

    /// Gives up the missing packets before the lowest one that waits.
    fn skip(&mut self) {
        if let (Some(next), Some((&first, _))) = (self.next, self.held.first_key_value()) {
            self.given_up += first - next;
            self.next = Some(first);
            self.release();
        }
    }

    fn release_all(&mut self) {
        while !self.held.is_empty() {
            self.skip();
        }
    }

    /// When the packet that has waited longest has waited for the whole timer. RFC 2890 §2.2: none
    /// waits longer, whatever its number.
    pub(super) fn deadline(&self) -> Instant {
        self.waiting.first().map_or(Instant::MAX, |(at, _)| *at + self.timer)
    }

    pub(super) fn handle_timeout(&mut self, now: Instant) {
        while self.deadline() <= now {
            self.skip();
        }
    }

    pub(super) fn pop(&mut self) -> Option<Vec<u8>> {
        self.ready.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(millis: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(millis)
    }

    fn order() -> Order {
        Order::new(Duration::from_millis(50), 4)
    }

    fn out(order: &mut Order) -> Vec<u8> {
        std::iter::from_fn(|| order.pop()).map(|packet| packet[0]).collect()
    }

    #[test]
    fn what_comes_too_early_waits_for_what_is_missing() {
        let mut order = order();
        for (sequence, expected) in [(u32::MAX, vec![1]), (1, vec![]), (0, vec![3, 2]), (0, vec![])] {
            let mark = [1, 3, 2][sequence.wrapping_add(1) as usize % 3];
            order.handle(at(1), sequence, &[mark]);
            assert_eq!(out(&mut order), expected, "after number {sequence}: numbers begin anew at 0");
        }
        assert_eq!((order.late, order.given_up), (1, 0));
    }

    #[test]
    fn a_gap_is_given_up_after_the_timer_or_when_too_much_waits() {
        let mut order = order();
        order.handle(at(0), 0, &[0]);
        order.handle(at(1), 2, &[2]);
        order.handle_timeout(at(50));
        assert_eq!(out(&mut order), [0]);
        assert_eq!(order.deadline(), at(51));
        order.handle_timeout(at(51));
        assert_eq!((out(&mut order), order.given_up), (vec![2], 1));
        (4..9).for_each(|number| order.handle(at(52), number, &[number as u8]));
        assert_eq!((out(&mut order), order.given_up), (vec![4, 5, 6, 7, 8], 2));
        order.handle(at(53), 3, &[3]);
        assert_eq!((out(&mut order), order.late), (vec![], 1));
    }

    /// RFC 2890 §2.2
    #[test]
    fn no_packet_waits_longer_than_the_timer_whatever_comes_before_it() {
        let mut order = order();
        for (millis, number) in [(0, 0), (1, 5), (41, 3), (45, 7)] {
            order.handle(at(millis), u32::from(number), &[number]);
        }
        assert_eq!(order.deadline(), at(51));
        order.handle_timeout(at(51));
        assert_eq!((out(&mut order), order.given_up), (vec![0, 3, 5], 3), "1, 2 and 4 are missing");
        assert_eq!(order.deadline(), at(95), "number 7 has time left");
    }

    #[test]
    fn an_end_that_begins_anew_after_silence_is_heard() {
        let mut order = order();
        order.handle(at(5000), 1000, &[1]);
        order.handle(at(7999), 0, &[2]);
        assert_eq!(out(&mut order), [1], "its silence was too short");
        order.handle(at(11_000), 1, &[3]);
        assert_eq!(out(&mut order), [3]);
    }

    proptest! {
        /// Whatever comes, in whatever order: each number goes out at most once, and numbers rise.
        #[test]
        fn numbers_rise(begin in any::<u32>(), all in prop::collection::vec(0u8..60, 1..200)) {
            let mut order = Order::new(Duration::from_millis(5), 8);
            let mut got = Vec::new();
            for (millis, offset) in (0..).zip(&all) {
                order.handle_timeout(at(millis));
                order.handle(at(millis), begin.wrapping_add(u32::from(*offset)), &[*offset]);
                got.extend(out(&mut order));
            }
            order.handle_timeout(at(1000));
            got.extend(out(&mut order));
            prop_assert!(got.windows(2).all(|two| two[0] < two[1]), "{got:?}");
        }
    }
}
