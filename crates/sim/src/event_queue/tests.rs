use super::*;
use proptest::prelude::*;
use std::collections::BTreeMap;

/// What the queue must do, said as simply as possible.
#[derive(Default)]
struct Model {
    pending: BTreeMap<(u64, u64), u32>,
    inserted: u64,
}

impl Model {
    fn push(&mut self, time: u64, event: u32) {
        self.pending.insert((time, self.inserted), event);
        self.inserted += 1;
    }

    fn pop_until(&mut self, limit: u64) -> Option<(Instant, u32)> {
        let entry = self.pending.first_entry()?;
        let time = entry.key().0;
        (time <= limit).then(|| (Instant::from_nanos(time), entry.remove()))
    }
}

#[derive(Clone, Debug)]
enum Operation {
    /// Push this long after the last pop.
    Push(u64),
    /// Pop up to this long after the last pop.
    Pop(u64),
}

fn spans() -> impl Strategy<Value = u64> {
    prop_oneof![
        4 => 0u64..4,
        4 => 0u64..5_000,
        4 => 0u64..10_000_000,
        2 => 0u64..60_000_000_000,
        1 => 0u64..400_000_000_000_000_000,
        1 => prop_oneof![Just(1u64 << 22), Just((1 << 22) - 1), Just(1 << 34), Just(1 << 46), Just(1 << 58)],
    ]
}

fn operations() -> impl Strategy<Value = Vec<Operation>> {
    let operation =
        prop_oneof![3 => spans().prop_map(Operation::Push), 2 => spans().prop_map(Operation::Pop)];
    prop::collection::vec(operation, 0..400)
}

proptest! {
    #[test]
    fn it_pops_in_order_of_time_and_insertion(operations in operations()) {
        let (mut queue, mut model) = (EventQueue::new(), Model::default());
        let mut now = 0u64;
        for (event, operation) in (0u32..).zip(operations) {
            match operation {
                Operation::Push(span) => {
                    queue.push(Instant::from_nanos(now.saturating_add(span)), event);
                    model.push(now.saturating_add(span), event);
                }
                Operation::Pop(span) => {
                    let limit = now.saturating_add(span);
                    let popped = queue.pop_until(Instant::from_nanos(limit));
                    prop_assert_eq!(popped, model.pop_until(limit));
                    // As the driver does: without an event, time moves on to the limit.
                    now = popped.map_or(limit, |(at, _)| at.as_nanos());
                }
            }
            prop_assert_eq!(queue.len(), model.pending.len());
        }
        while let Some(expected) = model.pop_until(u64::MAX) {
            prop_assert_eq!(queue.pop_until(Instant::MAX), Some(expected));
        }
        prop_assert!(queue.is_empty());
    }
}

#[test]
fn a_thousand_events_of_one_time_come_in_order_of_insertion() {
    let mut queue = EventQueue::new();
    let at = Instant::from_nanos(5_000_000_123);
    for event in 0..1_000u32 {
        queue.push(at, event);
    }
    for event in 0..1_000u32 {
        assert_eq!(queue.pop_until(at), Some((at, event)));
    }
    assert_eq!(queue.pop_until(Instant::MAX), None);
}

#[test]
fn an_event_after_the_limit_stays() {
    let mut queue = EventQueue::new();
    queue.push(Instant::from_nanos(2_000), 'b');
    assert_eq!(queue.pop_until(Instant::from_nanos(1_999)), None);
    queue.push(Instant::from_nanos(1_999), 'a');
    assert_eq!(queue.pop_until(Instant::from_nanos(2_000)), Some((Instant::from_nanos(1_999), 'a')));
    assert_eq!(queue.pop_until(Instant::from_nanos(2_000)), Some((Instant::from_nanos(2_000), 'b')));
}

#[test]
fn the_end_of_time_is_a_time() {
    let mut queue = EventQueue::new();
    queue.push(Instant::MAX, 1u8);
    queue.push(Instant::ZERO, 0);
    assert_eq!(queue.pop_until(Instant::ZERO), Some((Instant::ZERO, 0)));
    assert_eq!(queue.pop_until(Instant::MAX), Some((Instant::MAX, 1)));
}
