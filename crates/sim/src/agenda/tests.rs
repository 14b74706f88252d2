use super::*;
use proptest::prelude::*;
use std::collections::BTreeMap;

fn at(nanos: u64) -> Instant {
    Instant::from_nanos(nanos)
}

#[derive(Clone, Debug)]
enum Operation {
    /// An event of this index, so long after the last one popped.
    Push(u32, u64),
    /// A link plans its event.
    Plan(u32, u64),
    /// Pop up to this long after the last one; a link that came plans its next event so much later.
    Pop(u64, Option<u64>),
}

fn operation() -> impl Strategy<Value = Operation> {
    // Few times, so that many events are of one time, and some far ahead.
    let span = || prop_oneof![4 => 0u64..4, 2 => 0u64..2_000, 1 => 0u64..5_000_000_000];
    prop_oneof![
        2 => (0u32..1000, span()).prop_map(|(index, span)| Operation::Push(index, span)),
        2 => (0u32..9, span()).prop_map(|(link, span)| Operation::Plan(link, span)),
        3 => (span(), prop::option::of(span())).prop_map(|(limit, next)| Operation::Pop(limit, next)),
    ]
}

/// What an event is, for comparisons.
fn name(event: Event) -> (bool, u32) {
    match event {
        Event::Arrival(link) => (true, link.0),
        Event::Change(index) => (false, index),
        Event::Timer { .. } | Event::Medium { .. } => unreachable!("none is pushed"),
    }
}

proptest! {
    /// Whatever is pushed and planned comes in order of time and insertion, superseded plans included.
    #[test]
    fn events_come_in_order_of_time_and_insertion(operations in prop::collection::vec(operation(), 0..300)) {
        let mut agenda = Agenda::new();
        let mut model: BTreeMap<(u64, u32), (bool, u32)> = BTreeMap::new();
        let mut plans = [None; 9];
        let (mut now, mut inserted) = (0u64, 0u32);
        let mut insert = |model: &mut BTreeMap<_, _>, time: u64, event| {
            inserted += 1;
            model.insert((time, inserted), event);
        };
        for operation in operations {
            match operation {
                Operation::Push(index, span) => {
                    agenda.push(at(now + span), Event::Change(index));
                    insert(&mut model, now + span, (false, index));
                }
                Operation::Plan(link, span) => {
                    // As links do: only what comes earlier replaces a plan.
                    if plans[link as usize].is_some_and(|planned| planned <= now + span) {
                        continue;
                    }
                    plans[link as usize] = Some(now + span);
                    agenda.plan(LinkId(link), at(now + span));
                    insert(&mut model, now + span, (true, link));
                }
                Operation::Pop(span, next) => {
                    let limit = now + span;
                    let expected = model.first_entry().filter(|first| first.key().0 <= limit);
                    let expected = expected.map(|first| (first.key().0, first.remove()));
                    let popped = agenda.pop_until(at(limit));
                    prop_assert_eq!(popped.map(|(at, event)| (at.as_nanos(), name(event))), expected);
                    let Some((time, (is_link, link))) = expected else { continue };
                    now = time;
                    // An event of another time than planned is stale.
                    if is_link && plans[link as usize] == Some(now) {
                        let next = next.map(|span| now + span);
                        plans[link as usize] = next;
                        agenda.follow(LinkId(link), next.map(at));
                        if let Some(time) = next {
                            insert(&mut model, time, (true, link));
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn a_superseded_plan_comes_at_its_time_and_in_its_turn() {
    let mut agenda = Agenda::new();
    agenda.plan(LinkId(3), at(10));
    agenda.push(at(10), Event::Change(0));
    agenda.plan(LinkId(3), at(5));
    let mut popped = Vec::new();
    while let Some((time, event)) = agenda.pop_until(Instant::MAX) {
        popped.push((time.as_nanos(), name(event)));
        if time == at(5) {
            agenda.follow(LinkId(3), None);
        }
    }
    assert_eq!(popped.len(), 3);
    assert_eq!((popped[0], popped[1].0, popped[2].0), ((5, (true, 3)), 10, 10));
}

#[test]
fn links_are_found_however_many_there_are() {
    let mut agenda = Agenda::new();
    for link in 0..1000 {
        agenda.plan(LinkId(link), at(u64::from(link * 7919 % 1000)));
    }
    for time in 0..1000 {
        let (popped, event) = agenda.pop_until(Instant::MAX).expect("one of a thousand");
        assert_eq!(popped, at(time));
        let Event::Arrival(link) = event else { panic!("no arrival") };
        agenda.follow(link, None);
    }
    assert!(agenda.pop_until(Instant::MAX).is_none());
}
