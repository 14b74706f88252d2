//! A window over counters: each is taken once, and none that is too old. It consists of blocks of
//! bits, as in RFC 6479.

/// How many counters are remembered. A path may reorder by this many datagrams.
pub const WINDOW: u64 = 2048;
const WORDS: usize = (WINDOW / 64) as usize + 1;

/// Which counters of one path have come.
#[derive(Clone, Debug)]
pub struct ReplayWindow {
    /// One above the highest that came; 0: none did.
    next: u64,
    bits: [u64; WORDS],
}

impl Default for ReplayWindow {
    fn default() -> Self {
        Self { next: 0, bits: [0; WORDS] }
    }
}

const fn place(counter: u64) -> (usize, u64) {
    ((counter / 64) as usize % WORDS, 1 << (counter % 64))
}

impl ReplayWindow {
    /// One above the highest counter that came; 0: none did.
    pub const fn next(&self) -> u64 {
        self.next
    }

    /// Has this counter not come yet? One that is older than the window counts as come.
    pub fn is_new(&self, counter: u64) -> bool {
        if counter >= self.next {
            return true;
        }
        let (word, bit) = place(counter);
        self.next - 1 - counter < WINDOW && self.bits[word] & bit == 0
    }

    /// Notes a counter that came and is authentic. Returns whether it is the highest so far.
    pub fn note(&mut self, counter: u64) -> bool {
        let is_highest = counter >= self.next;
        if is_highest {
            self.clear_up_to(counter);
            self.next = counter + 1;
        }
        let (word, bit) = place(counter);
        self.bits[word] |= bit;
        is_highest
    }

    /// Clears the blocks that the counters up to `counter` begin to use.
    fn clear_up_to(&mut self, counter: u64) {
        let first = self.next.div_ceil(64);
        let last = counter / 64;
        for block in first..=last.min(first + WORDS as u64 - 1) {
            self.bits[block as usize % WORDS] = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        /// The window agrees with a set of all counters that came.
        #[test]
        fn takes_each_counter_once(start in 0u64..1 << 40, steps in prop::collection::vec(-3000i64..3000, 1..300)) {
            let (mut window, mut seen) = (ReplayWindow::default(), BTreeSet::new());
            let mut at = start as i64;
            for step in steps {
                at = (at + step).max(0);
                let counter = at as u64;
                let highest = seen.last().copied().unwrap_or(0u64);
                let is_old = !seen.is_empty() && highest.saturating_sub(counter) >= WINDOW;
                let expected = !is_old && !seen.contains(&counter);
                prop_assert_eq!(window.is_new(counter), expected, "{} after {}", counter, highest);
                if expected {
                    let is_highest = seen.last().is_none_or(|&highest| counter > highest);
                    prop_assert_eq!(window.note(counter), is_highest);
                    seen.insert(counter);
                }
            }
        }
    }
}
