//! The yardstick: a textbook 4-ary heap under the hold model.

use ropewalk_adversary::{Random, Source};
use std::hint::black_box;

/// An implicit 4-ary min-heap of (time, number).
struct Heap(Vec<(u64, u64)>);

impl Heap {
    fn push(&mut self, item: (u64, u64)) {
        self.0.push(item);
        let mut child = self.0.len() - 1;
        while child > 0 {
            let parent = (child - 1) / 4;
            if self.0[parent] <= self.0[child] {
                break;
            }
            self.0.swap(parent, child);
            child = parent;
        }
    }

    fn pop(&mut self) -> (u64, u64) {
        let last = self.0.pop().expect("the hold model never empties it");
        if self.0.is_empty() {
            return last;
        }
        let top = std::mem::replace(&mut self.0[0], last);
        let mut parent = 0;
        loop {
            let first = 4 * parent + 1;
            let children = first..(first + 4).min(self.0.len());
            let Some(least) = children.min_by_key(|&child| self.0[child]) else { break };
            if self.0[parent] <= self.0[least] {
                break;
            }
            self.0.swap(parent, least);
            parent = least;
        }
        top
    }
}

/// CPU time of one pop and one push with 1 000 pending events, exponential increments.
pub(crate) fn nanoseconds_per_hold() -> f64 {
    const HOLDS: u64 = 20_000_000;
    let mut heap = Heap(Vec::new());
    let mut random = Random::new(1);
    let mut draw = || random.next() >> 44;
    for number in 0..1_000 {
        heap.push((draw(), number));
    }
    let before = crate::cpu_seconds();
    for number in 0..HOLDS {
        let (time, _) = heap.pop();
        heap.push((time + draw(), 1_000 + number));
    }
    black_box(&heap.0);
    (crate::cpu_seconds() - before) * 1e9 / HOLDS as f64
}
