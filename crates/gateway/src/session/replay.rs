//! A window over counters: each is taken once, and none that is too old (RFC 6479's blocks of bits).

/// Counters that are remembered below the highest. A path may reorder by so many.
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
    /// Has it not come yet, as far as is known? What is too old counts as come.
    pub fn is_new(&self, counter: u64) -> bool {
        if counter >= self.next {
            return true;
        }
        let (word, bit) = place(counter);
        self.next - 1 - counter < WINDOW && self.bits[word] & bit == 0
    }

    /// It came, and is authentic. Is it the highest so far?
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

    /// Forgets the blocks that `counter` and those before it begin to use.
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
        /// Against a set of all that came.
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
