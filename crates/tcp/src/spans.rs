//! What lies above an edge of sequence space, RCV.NXT or SND.UNA.

use ropewalk_units::Seq;
use std::collections::VecDeque;

/// Ranges `[left, right)` above the edge, in order, that do not touch. To find one takes O(log n).
#[derive(Clone, Debug, Default)]
pub(crate) struct Spans {
    spans: VecDeque<(Seq, Seq)>,
}

impl Spans {
    /// The octets from `left` up to `right` are in.
    pub(crate) fn cover(&mut self, left: Seq, right: Seq) {
        // Above all others, or part of the last one: the rule.
        match self.spans.back_mut() {
            Some(last) if last.1.before(left) => return self.spans.push_back((left, right)),
            Some(last) if last.0.before_eq(left) => {
                last.1 = last.1.max(right);
                return;
            }
            _ => {}
        }
        let from = self.spans.partition_point(|span| span.1.before(left));
        let to = self.spans.partition_point(|span| span.0.before_eq(right));
        if from == to {
            return self.spans.insert(from, (left, right));
        }
        let joined = (self.spans[from].0.min(left), self.spans[to - 1].1.max(right));
        self.spans[from] = joined;
        self.spans.drain(from + 1..to);
    }

    /// The first range that ends above `seq`.
    pub(crate) fn ending_above(&self, seq: Seq) -> Option<(Seq, Seq)> {
        let last = self.spans.back().copied().filter(|last| last.1.after(seq))?;
        if last.0.before_eq(seq) {
            return Some(last);
        }
        let index = self.spans.partition_point(|span| span.1.before_eq(seq));
        self.spans.get(index).copied()
    }

    /// The range that holds `seq`.
    pub(crate) fn around(&self, seq: Seq) -> Option<(Seq, Seq)> {
        self.ending_above(seq).filter(|span| span.0.before_eq(seq))
    }

    /// The highest range.
    pub(crate) fn last(&self) -> Option<(Seq, Seq)> {
        self.spans.back().copied()
    }

    /// All ranges, the highest first.
    pub(crate) fn highest_first(&self) -> impl Iterator<Item = (Seq, Seq)> {
        self.spans.iter().rev().copied()
    }

    /// The edge has moved on: what lies below is out.
    pub(crate) fn forget_below(&mut self, edge: Seq) {
        while let Some(front) = self.spans.front_mut() {
            if front.1.after(edge) {
                front.0 = front.0.max(edge);
                return;
            }
            self.spans.pop_front();
        }
    }

    pub(crate) fn clear(&mut self) {
        self.spans.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Ranges in any order, the edge moving on between them: what is in is in, and neighbours are one.
        #[test]
        fn ranges_in_any_order_agree_with_single_octets(
            steps in proptest::collection::vec((0u32..300, 1u32..30, any::<bool>()), 1..60),
            start in any::<u32>(),
        ) {
            let seq = |octet: u32| Seq::new(start.wrapping_add(octet));
            let (mut spans, mut held, mut edge) = (Spans::default(), [false; 400], 0);
            for (from, len, forget) in steps {
                if forget {
                    edge = edge.max(from.min(edge + len));
                    spans.forget_below(seq(edge));
                    held[..edge as usize].fill(false);
                } else if from >= edge {
                    spans.cover(seq(from), seq(from + len));
                    held[from as usize..(from + len) as usize].fill(true);
                }
                for octet in edge..399 {
                    let around = spans.around(seq(octet));
                    prop_assert_eq!(around.is_some(), held[octet as usize]);
                    if let Some((left, right)) = around {
                        let (left, right) = (left.since(seq(0)), right.since(seq(0)));
                        prop_assert!(held[left as usize..right as usize].iter().all(|held| *held));
                        prop_assert!(!held[right as usize] && (left == edge || !held[left as usize - 1]));
                    }
                }
            }
        }
    }
}
