//! Which event queue? The hold model: with n events pending, pop the first and push one a random time later.
//!
//! `cargo bench -p ropewalk-sim --bench event_queue` prints nanoseconds per hold for the shipped timing wheel and for what
//! it was chosen over. The draws are made beforehand. The written conclusion: `docs/decisions/0002-event-queue.md`.

use ropewalk_sim::{EventQueue, Streams};
use ropewalk_units::Instant;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hint::black_box;

/// As large as the engine's event.
type Event = [u32; 3];

trait Pending {
    fn push(&mut self, at: u64, event: Event);
    fn pop(&mut self) -> (u64, Event);
}

/// The shipped queue.
struct Wheel(EventQueue<Event>);

impl Pending for Wheel {
    #[inline]
    fn push(&mut self, at: u64, event: Event) {
        self.0.push(Instant::from_nanos(at), event);
    }
    #[inline]
    fn pop(&mut self) -> (u64, Event) {
        let (at, event) = self.0.pop_until(Instant::MAX).expect("never empty");
        (at.as_nanos(), event)
    }
}

/// The standard library's binary heap, with an insertion number to order equal times.
#[derive(Default)]
struct Binary {
    heap: BinaryHeap<Reverse<(u64, u64, Event)>>,
    inserted: u64,
}

impl Pending for Binary {
    #[inline]
    fn push(&mut self, at: u64, event: Event) {
        self.inserted += 1;
        self.heap.push(Reverse((at, self.inserted, event)));
    }
    #[inline]
    fn pop(&mut self) -> (u64, Event) {
        let Reverse((at, _, event)) = self.heap.pop().expect("never empty");
        (at, event)
    }
}

/// An implicit heap of four children per node: half the levels, and the children share a cache line or two.
#[derive(Default)]
struct FourAry {
    heap: Vec<(u64, u64, Event)>,
    inserted: u64,
}

/// Time and insertion number in one word that compares without a branch.
fn key(entry: &(u64, u64, Event)) -> u128 {
    u128::from(entry.0) << 64 | u128::from(entry.1)
}

impl FourAry {
    fn key(&self, place: usize) -> u128 {
        key(&self.heap[place])
    }

    fn smallest_child(&self, parent: usize) -> Option<usize> {
        let first = 4 * parent + 1;
        if let Some([a, b, c, d]) = self.heap.get(first..first + 4) {
            let left = usize::from(key(b) < key(a));
            let right = 2 + usize::from(key(d) < key(c));
            let (left, right) = (first + left, first + right);
            return Some(if self.key(right) < self.key(left) { right } else { left });
        }
        (first..self.heap.len()).min_by_key(|&child| self.key(child))
    }
}

impl Pending for FourAry {
    #[inline]
    fn push(&mut self, at: u64, event: Event) {
        self.inserted += 1;
        let mut place = self.heap.len();
        let entry = (at, self.inserted, event);
        self.heap.push(entry);
        while place > 0 && self.key((place - 1) / 4) > key(&entry) {
            self.heap[place] = self.heap[(place - 1) / 4];
            place = (place - 1) / 4;
        }
        self.heap[place] = entry;
    }
    #[inline]
    fn pop(&mut self) -> (u64, Event) {
        let last = self.heap.pop().expect("never empty");
        let Some(&first) = self.heap.first() else { return (last.0, last.2) };
        let mut place = 0;
        while let Some(child) = self.smallest_child(place) {
            if self.key(child) > key(&last) {
                break;
            }
            self.heap[place] = self.heap[child];
            place = child;
        }
        self.heap[place] = last;
        (first.0, first.2)
    }
}

const HOLDS: usize = 50_000;

/// Nanoseconds per hold with `pending` events, and a checksum that must not depend on the queue.
fn hold(queue: &mut impl Pending, pending: usize, increments: &[u64]) -> (f64, u64) {
    for (event, increment) in increments.iter().take(pending).enumerate() {
        queue.push(*increment, [event as u32; 3]);
    }
    let mut checksum = 0u64;
    let mask = increments.len() - 1;
    let mut run = |holds: usize| {
        for hold in 0..holds {
            let (at, event) = queue.pop();
            checksum = checksum.wrapping_mul(31).wrapping_add(at ^ u64::from(event[0]));
            queue.push(at + increments[hold & mask], event);
        }
    };
    run(HOLDS / 4);
    #[expect(clippy::disallowed_methods, reason = "a benchmark measures real time")]
    let start = std::time::Instant::now();
    run(HOLDS);
    let elapsed = start.elapsed().as_nanos() as f64 / HOLDS as f64;
    (elapsed, black_box(checksum))
}

/// The best of sixty short runs: the others were disturbed.
fn best<Q: Pending>(make: impl Fn() -> Q, pending: usize, increments: &[u64]) -> (f64, u64) {
    (0..60)
        .map(|_| hold(&mut make(), pending, increments))
        .min_by(|a, b| a.0.total_cmp(&b.0))
        .expect("some runs")
}

fn main() {
    let mut stream = Streams::new(1).stream("hold");
    println!("{:<44} {:>8} {:>8} {:>8}", "ns per hold", "binary", "4-ary", "wheel");
    for (name, pending, mean) in [
        ("1 000 pending, exponential, mean 1 ms", 1_000, 1e6),
        ("1 000 pending, exponential, mean 10 us", 1_000, 1e4),
        ("1 000 pending, exponential, mean 100 ms", 1_000, 1e8),
        ("10 pending, exponential, mean 100 us", 10, 1e5),
        ("100 000 pending, exponential, mean 10 ms", 100_000, 1e7),
    ] {
        let increments: Vec<u64> = (0..1 << 16).map(|_| stream.exponential(mean) as u64).collect();
        let binary = best(Binary::default, pending, &increments);
        let four = best(FourAry::default, pending, &increments);
        let wheel = best(|| Wheel(EventQueue::new()), pending, &increments);
        assert!(binary.1 == four.1 && four.1 == wheel.1, "the queues disagree on the order");
        println!("{name:<44} {:>8.1} {:>8.1} {:>8.1}", binary.0, four.0, wheel.0);
    }
}
