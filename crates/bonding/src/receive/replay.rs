//! Which packets of the bond were accepted already.

use crate::id::GlobalSeq;

/// How many numbers are remembered: those of 1.6 s at 40 000 packets/s.
const WINDOW: u32 = 65_536;

/// A sliding window of one bit per packet, as in IPsec (RFC 4303 §3.4.3).
pub(crate) struct ReplayWindow {
    bits: Vec<u64>,
    highest: Option<GlobalSeq>,
}

/// What is known of a number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Seen {
    New,
    Duplicate,
    /// So old that it is not remembered.
    Unknown,
}

impl ReplayWindow {
    pub(crate) fn new() -> Self {
        Self { bits: vec![0; WINDOW as usize / 64], highest: None }
    }

    /// The highest number that was seen.
    #[inline]
    pub(crate) const fn highest(&self) -> Option<GlobalSeq> {
        self.highest
    }

    /// What is known of this number; it counts as seen from now on.
    #[inline]
    pub(crate) fn note(&mut self, seq: GlobalSeq) -> Seen {
        let highest = *self.highest.get_or_insert(seq.previous());
        if highest.before(seq) {
            self.advance(highest, seq);
            self.set(seq);
            return Seen::New;
        }
        if highest.since(seq) >= WINDOW {
            return Seen::Unknown;
        }
        let (word, bit) = Self::place(seq);
        if self.bits[word] & bit != 0 {
            return Seen::Duplicate;
        }
        self.set(seq);
        Seen::New
    }

    /// Forgets what the numbers after `highest`, up to `seq`, overwrite.
    #[inline]
    fn advance(&mut self, highest: GlobalSeq, seq: GlobalSeq) {
        let steps = seq.since(highest);
        if steps >= WINDOW {
            self.bits.fill(0);
        } else {
            for step in 1..=steps {
                let (word, bit) = Self::place(highest.plus(step));
                self.bits[word] &= !bit;
            }
        }
        self.highest = Some(seq);
    }

    #[inline]
    fn set(&mut self, seq: GlobalSeq) {
        let (word, bit) = Self::place(seq);
        self.bits[word] |= bit;
    }

    #[inline]
    const fn place(seq: GlobalSeq) -> (usize, u64) {
        let place = seq.get() % WINDOW;
        (place as usize / 64, 1 << (place % 64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn each_number_is_new_once() {
        let mut window = ReplayWindow::new();
        for start in [0, u32::MAX - 5] {
            for number in [0, 1, 5, 3, 4, 2, 100, 99] {
                assert_eq!(window.note(GlobalSeq::new(start).plus(number)), Seen::New, "{start} + {number}");
            }
            for number in [0, 1, 2, 3, 4, 5, 99, 100] {
                assert_eq!(
                    window.note(GlobalSeq::new(start).plus(number)),
                    Seen::Duplicate,
                    "{start} + {number}"
                );
            }
            window = ReplayWindow::new();
        }
    }

    #[test]
    fn what_fell_out_of_the_window_is_unknown() {
        let mut window = ReplayWindow::new();
        window.note(GlobalSeq::new(0));
        window.note(GlobalSeq::new(WINDOW - 1));
        assert_eq!(window.note(GlobalSeq::new(0)), Seen::Duplicate);
        window.note(GlobalSeq::new(WINDOW));
        assert_eq!(window.note(GlobalSeq::new(0)), Seen::Unknown);
        assert_eq!(window.note(GlobalSeq::new(1)), Seen::New);
        window.note(GlobalSeq::new(10 * WINDOW));
        assert_eq!(window.note(GlobalSeq::new(10 * WINDOW - 1)), Seen::New);
    }

    proptest::proptest! {
        #[test]
        fn agrees_with_a_set(first: u32, steps in proptest::collection::vec(-300i32..400, 1..400)) {
            let (mut window, mut set) = (ReplayWindow::new(), BTreeSet::new());
            let mut at = 0i64;
            for step in steps {
                at += i64::from(step);
                let expected = if set.insert(at) { Seen::New } else { Seen::Duplicate };
                let highest = *set.last().unwrap();
                let is_known = highest - at < i64::from(WINDOW) && set.first() != Some(&at);
                let got = window.note(GlobalSeq::new(first.wrapping_add(at as u32)));
                if is_known || set.len() == 1 {
                    proptest::prop_assert_eq!(got, expected);
                }
            }
        }
    }
}
