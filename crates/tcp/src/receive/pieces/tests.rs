use super::step::STEPS;
use super::*;
use proptest::prelude::*;
use std::collections::BTreeMap;

const MANY: usize = 10_000;

fn payload(offset: u64, len: u32) -> Payload {
    Payload { offset, len }
}

/// Octet by octet: which octet of which stream is held at a place.
#[derive(Default)]
struct Model(BTreeMap<u64, u64>);

impl Model {
    fn insert(&mut self, at: u64, payload: Payload) -> u32 {
        let before = self.0.len();
        for i in 0..u64::from(payload.len) {
            self.0.entry(at + i).or_insert(payload.offset + i);
        }
        (self.0.len() - before) as u32
    }

    fn connect(&mut self, mut next: u64) -> Vec<u64> {
        self.0 = self.0.split_off(&next);
        let mut out = Vec::new();
        while let Some(octet) = self.0.remove(&next) {
            out.push(octet);
            next += 1;
        }
        out
    }

    fn block_around(&self, at: u64) -> Option<(u64, u64)> {
        self.0.get(&at)?;
        let from = (0..=at).rev().take_while(|at| self.0.contains_key(at)).last()?;
        let to = (at..).take_while(|at| self.0.contains_key(at)).last()? + 1;
        Some((from, to))
    }

    /// Runs that touch in place and in the stream.
    fn pieces(&self) -> usize {
        let continues =
            |at: u64, octet: u64| at > 0 && self.0.get(&(at - 1)).is_some_and(|before| before + 1 == octet);
        self.0.iter().filter(|&(&at, &octet)| !continues(at, octet)).count()
    }
}

#[test]
fn pieces_of_different_streams_stay_apart_and_are_one_block() {
    let mut pieces = Pieces::default();
    assert_eq!(pieces.insert(100, payload(5000, 50), MANY), Some(50));
    assert_eq!(pieces.insert(150, payload(9000, 50), MANY), Some(50));
    assert_eq!((pieces.len(), pieces.octets(), pieces.end()), (2, 100, Some(200)));
    assert_eq!(pieces.block_around(120), Some((100, 200)));
    let mut visited = Vec::new();
    pieces.visit(&mut |piece| visited.push(piece));
    assert_eq!(visited, [payload(5000, 50), payload(9000, 50)]);
    assert_eq!(pieces.block_around(200), None);
    assert_eq!((pieces.insert(300, payload(1, 0), MANY), pieces.len()), (Some(0), 2), "nothing is no piece");
    assert_eq!(pieces.connect(110), Some((payload(5010, 40), 10)));
    assert_eq!(pieces.connect(150), Some((payload(9000, 50), 0)));
    assert!(pieces.is_empty() && pieces.connect(200).is_none());
}

#[test]
fn no_more_pieces_than_allowed_and_what_continues_the_last_always() {
    let mut pieces = Pieces::default();
    for i in 0..4 {
        assert_eq!(pieces.insert(10 + 2 * i, payload(2 * i, 1), 4), Some(1));
    }
    assert_eq!(pieces.insert(30, payload(20, 1), 4), None);
    assert_eq!(pieces.insert(17, payload(7, 1), 4), Some(1));
    assert_eq!((pieces.len(), pieces.octets()), (4, 5));
}

#[test]
fn many_pieces_take_what_continues_the_last_too_and_nothing_else() {
    let mut pieces = Pieces::default();
    for i in 0..200 {
        let place = 2 * (i * 77 % 200);
        assert_eq!(pieces.insert(10 + place, payload(place, 1), 200), Some(1));
    }
    assert!(pieces.many.is_some(), "they came in no order");
    assert_eq!(pieces.insert(409, payload(399, 3), 200), Some(3));
    assert_eq!(pieces.insert(700, payload(690, 1), 200), None);
    assert_eq!(pieces.insert(700, payload(690, 0), 200), Some(0));
    assert_eq!((pieces.len(), pieces.octets(), pieces.end()), (200, 203, Some(412)));
    let mut last = None;
    pieces.visit(&mut |piece| last = Some(piece));
    assert_eq!(last, Some(payload(398, 4)));
}

/// Steps of one run of arrivals, each with the place of its one octet, and how many arrivals were refused.
fn steps(arrivals: impl Iterator<Item = u64>, most: usize) -> (usize, u64) {
    let (mut pieces, mut refused) = (Pieces::default(), 0);
    STEPS.set(0);
    for at in arrivals {
        refused += u64::from(pieces.insert(at, payload(at, 1), most).is_none());
        assert!(pieces.len() <= most);
    }
    assert_eq!(pieces.connect(0), None, "the hole is still there");
    (STEPS.get(), refused)
}

/// What it is called, and where the arrival of a number lies.
type Order = (&'static str, fn(u64) -> u64);

/// Every second octet: upwards, downwards, from the middle outwards, scattered, and so that the holes are filled in turn.
#[test]
fn single_octets_cost_what_their_number_allows() {
    const ARRIVALS: u64 = 100_000;
    let orders: [Order; 5] = [
        ("upwards", |i| i),
        ("downwards", |i| ARRIVALS - i),
        ("outwards", |i| if i % 2 == 0 { ARRIVALS / 2 + i / 2 } else { ARRIVALS / 2 - i / 2 - 1 }),
        ("scattered", |i| i * 7919 % ARRIVALS),
        ("at both ends by turns", |i| if i % 2 == 0 { i / 2 } else { ARRIVALS - i / 2 }),
    ];
    for (name, order) in orders {
        // Room for all of them: 25 000 pieces on the mean, which a list would move for each.
        let (taken, refused) = steps((0..ARRIVALS).map(|i| 1 + 2 * order(i)), usize::MAX);
        assert_eq!(refused, 0, "{name}");
        assert!(taken < 80 * ARRIVALS as usize, "{name}: {taken} steps for {ARRIVALS} octets");
        let (taken, refused) = steps((0..ARRIVALS).map(|i| 1 + 2 * order(i)), 4096);
        assert_eq!(refused, ARRIVALS - 4096, "{name}");
        assert!(taken < 80 * ARRIVALS as usize, "{name}: {taken} steps for {ARRIVALS} octets");
    }
}

/// Holes that are filled, and emptied into the stream, over and over.
#[test]
fn rounds_of_holes_cost_what_their_octets_allow() {
    const ROUND: u64 = 2_000;
    STEPS.set(0);
    let (mut pieces, mut next) = (Pieces::default(), 0);
    for _ in 0..50 {
        for i in 0..ROUND {
            let at = next + 1 + i * 7919 % ROUND;
            assert!(pieces.insert(at, payload(at, 1), 4096).is_some());
        }
        next += 1;
        while let Some((piece, _)) = pieces.connect(next) {
            next += u64::from(piece.len);
        }
        assert!(pieces.is_empty());
    }
    assert!(STEPS.get() < 80 * 50 * ROUND as usize, "{} steps", STEPS.get());
}

proptest! {
    /// Any order, any overlap, any stream.
    #[test]
    fn as_the_naive_model(
        // Short ones, so that there are many pieces too, which lie in trees.
            short in any::<bool>(),
            steps in prop::collection::vec((0u64..300, 1u32..40, 0u64..3, prop::bool::weighted(0.2)), 1..150),
    ) {
        let (mut pieces, mut model) = (Pieces::default(), Model::default());
        let mut next = 0;
        for (at, len, stream, connect) in steps {
            let len = if short { 1 } else { len };
            let payload = payload(1000 * stream + at, len);
            if at > next {
                prop_assert_eq!(pieces.insert(at, payload, MANY), Some(model.insert(at, payload)));
            } else if connect {
                next = next.max(at + u64::from(len));
                let mut out = Vec::new();
                let expected = model.connect(next);
                while let Some((piece, _)) = pieces.connect(next) {
                    out.extend(piece.offset..piece.offset + u64::from(piece.len));
                    next += u64::from(piece.len);
                }
                prop_assert_eq!(out, expected);
            }
            prop_assert_eq!(pieces.octets(), model.0.len() as u64);
            prop_assert_eq!(pieces.len(), model.pieces());
            prop_assert_eq!(pieces.end(), model.0.last_key_value().map(|(at, _)| at + 1));
            for at in (0..350).step_by(7) {
                prop_assert_eq!(pieces.block_around(at), model.block_around(at));
            }
        }
    }
}
