//! Which octets of a stream have been seen, and how long those beyond a hole waited.

use ropewalk_units::{Duration, Instant};
use std::collections::BTreeMap;

/// A stream of octets, numbered from 0, that come in any order.
#[derive(Debug, Default)]
pub(crate) struct Reassembly {
    /// Everything before it has been seen, or is known to have come.
    next: u64,
    /// What was seen beyond: begin, end and when it came.
    beyond: BTreeMap<u64, (u64, Instant)>,
    /// Octets × nanoseconds that octets waited for others before them.
    waited: u128,
    /// Since when something waits.
    blocked_since: Option<Instant>,
    /// How long something waited in all.
    pub(crate) blocked: Duration,
    /// The longest such time.
    pub(crate) longest_block: Duration,
    /// Octets that were acknowledged and never seen: the capture lacks them.
    pub(crate) missing: u64,
}

impl Reassembly {
    /// The end of the octet that stands farthest.
    pub(crate) fn highest(&self) -> u64 {
        self.beyond.last_key_value().map_or(self.next, |(_, (end, _))| *end)
    }

    /// Mean time that an octet of `octets` waited for others before it.
    pub(crate) fn mean_wait(&self, octets: u64) -> Duration {
        Duration::from_nanos(self.waited.checked_div(u128::from(octets)).unwrap_or(0) as u64)
    }

    /// Takes the octets from `begin` to `end`; returns how many of them are new.
    pub(crate) fn insert(&mut self, now: Instant, begin: u64, end: u64) -> u64 {
        let mut new = 0;
        let mut at = begin.max(self.next);
        while at < end {
            let (to, is_new) = self.piece(at, end);
            if is_new {
                new += to - at;
                self.beyond.insert(at, (to, now));
            }
            at = to;
        }
        self.advance(now);
        new
    }

    /// The end of the run of octets from `at` that are all new or all seen, and whether they are
    /// new. It is `end` at most.
    fn piece(&self, at: u64, end: u64) -> (u64, bool) {
        if let Some((_, (seen, _))) = self.beyond.range(..=at).next_back()
            && *seen > at
        {
            return ((*seen).min(end), false);
        }
        let following = self.beyond.range(at + 1..end).next().map_or(end, |(begin, _)| *begin);
        (following, true)
    }

    /// The receiver says that everything before `next` has come.
    pub(crate) fn acknowledged(&mut self, now: Instant, next: u64) {
        while self.next < next {
            let hole = self.beyond.first_key_value().map_or(next, |(begin, _)| (*begin).min(next));
            self.missing += hole.saturating_sub(self.next);
            self.next = self.next.max(hole);
            self.advance(now);
        }
    }

    /// What still waits has waited until `now`: nothing more is seen.
    pub(crate) fn end(&mut self, now: Instant) {
        for (begin, (end, came)) in std::mem::take(&mut self.beyond) {
            self.waited += u128::from(end - begin) * u128::from(now.saturating_since(came).as_nanos());
        }
        self.advance(now);
    }

    /// Moves over what joins on, and notes whether something still waits.
    fn advance(&mut self, now: Instant) {
        while let Some(entry) = self.beyond.first_entry()
            && *entry.key() <= self.next
        {
            let (begin, (end, came)) = entry.remove_entry();
            self.waited += u128::from(end - begin) * u128::from(now.saturating_since(came).as_nanos());
            self.next = self.next.max(end);
        }
        match (self.beyond.is_empty(), self.blocked_since) {
            (false, None) => self.blocked_since = Some(now),
            (true, Some(since)) => {
                let block = now.saturating_since(since);
                self.blocked += block;
                self.longest_block = self.longest_block.max(block);
                self.blocked_since = None;
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(millis: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(millis)
    }

    #[test]
    fn what_waits_is_timed_by_octet() {
        let mut stream = Reassembly::default();
        assert_eq!(stream.insert(at(0), 0, 100), 100);
        assert_eq!(stream.insert(at(1), 200, 300), 100);
        assert_eq!(stream.insert(at(3), 250, 400), 100);
        assert_eq!(stream.highest(), 400);
        assert_eq!(stream.insert(at(11), 50, 220), 100);
        assert_eq!(stream.blocked, Duration::from_millis(10));
        // 100 octets waited 10 ms, 100 waited 8 ms, 200 did not wait.
        assert_eq!(stream.mean_wait(400), Duration::from_micros(4500));
    }

    #[test]
    fn what_waits_at_the_end_has_waited_until_then() {
        let mut stream = Reassembly::default();
        stream.insert(at(0), 100, 200);
        stream.end(at(7));
        assert_eq!(
            (stream.blocked, stream.mean_wait(100)),
            (Duration::from_millis(7), Duration::from_millis(7))
        );
    }

    #[test]
    fn octets_that_the_capture_lacks_block_nobody() {
        let mut stream = Reassembly::default();
        stream.insert(at(0), 100, 200);
        stream.insert(at(0), 300, 400);
        stream.acknowledged(at(5), 250);
        assert_eq!(stream.missing, 150);
        stream.acknowledged(at(6), 400);
        assert_eq!((stream.missing, stream.longest_block), (200, Duration::from_millis(6)));
    }

    proptest! {
        #[test]
        fn new_octets_are_those_never_seen(pieces in prop::collection::vec((0u64..300, 0u64..40), 0..60)) {
            let mut stream = Reassembly::default();
            let mut seen = [false; 400];
            for (begin, len) in pieces {
                let range = begin as usize..(begin + len) as usize;
                let expected = seen[range.clone()].iter().filter(|seen| !**seen).count() as u64;
                prop_assert_eq!(stream.insert(at(0), begin, begin + len), expected);
                seen[range].fill(true);
                let highest = seen.iter().rposition(|seen| *seen).map_or(0, |last| last as u64 + 1);
                prop_assert_eq!(stream.highest(), highest);
            }
        }
    }
}
