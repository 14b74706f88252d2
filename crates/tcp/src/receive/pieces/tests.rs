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

    /// Runs that touch in place.
    fn blocks(&self) -> Vec<(u64, u64)> {
        let mut blocks: Vec<(u64, u64)> = Vec::new();
        for &at in self.0.keys() {
            match blocks.last_mut().filter(|block| block.1 == at) {
                Some(block) => block.1 = at + 1,
                None => blocks.push((at, at + 1)),
            }
        }
        blocks
    }

    /// Runs that touch in place and in the stream.
    fn pieces(&self) -> usize {
        let continues =
            |at: u64, octet: u64| at > 0 && self.0.get(&(at - 1)).is_some_and(|before| before + 1 == octet);
        self.0.iter().filter(|&(&at, &octet)| !continues(at, octet)).count()
    }
}

/// Do they hold the same octets, in the same pieces and blocks?
fn assert_same(pieces: &Pieces, model: &Model) {
    let mut octets = Vec::new();
    pieces.visit(&mut |piece| octets.extend(piece.offset..piece.offset + u64::from(piece.len)));
    assert_eq!(octets, model.0.values().copied().collect::<Vec<_>>());
    assert_eq!((pieces.octets(), pieces.len()), (octets.len() as u64, model.pieces()));
    assert_eq!(pieces.end(), model.0.last_key_value().map(|(at, _)| at + 1));
    for block in model.blocks() {
        assert_eq!([block.0, block.1 - 1].map(|at| pieces.block_around(at)), [Some(block); 2]);
        assert_eq!([block.0 - 1, block.1].map(|at| pieces.block_around(at)), [None; 2]);
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

#[test]
fn with_as_many_as_there_may_be_nothing_else_is_put_together() {
    let mut pieces = Pieces::default();
    for i in 0..100 {
        let place = 2 * (i * 37 % 100);
        assert_eq!(pieces.insert(10 + place, payload(place, 1), 100), Some(1));
    }
    assert!(pieces.many.is_some(), "they came in no order");
    let held = |pieces: &Pieces| (pieces.len(), pieces.octets(), pieces.end());
    assert_eq!(held(&pieces), (100, 100, Some(209)));
    assert_eq!(pieces.insert(209, payload(5000, 1), 100), None, "another stream");
    assert_eq!(pieces.insert(300, payload(199, 1), 100), None, "another place");
    assert_eq!(held(&pieces), (100, 100, Some(209)));
}

#[test]
fn what_overlaps_at_the_hole_is_taken_to_its_end() {
    for hole in [1, 2, 50, 51] {
        let mut pieces = Pieces::default();
        assert_eq!(pieces.insert(hole, payload(0, 50), MANY), Some(50));
        assert_eq!(pieces.insert(hole, payload(0, 100), MANY), Some(50), "behind {hole} octets");
        assert_eq!((pieces.len(), pieces.block_around(hole + 60)), (1, Some((hole, hole + 100))));
    }
}

/// As long as one length can say how long they are.
#[test]
fn long_pieces_are_one_too() {
    let joined = |lens: &[u32]| {
        let (mut pieces, mut octets) = (Pieces::default(), 0);
        for len in lens {
            assert_eq!(pieces.insert(1 + octets, payload(octets, *len), MANY), Some(*len));
            octets += u64::from(*len);
        }
        assert_eq!((pieces.octets(), pieces.block_around(1)), (octets, Some((1, 1 + octets))));
        let (count, mut next) = (pieces.len(), 0);
        while let Some((piece, _)) = pieces.connect(1 + next) {
            assert_eq!(piece.offset, next);
            next += u64::from(piece.len);
        }
        assert_eq!(next, octets, "all of it comes out");
        count
    };
    assert_eq!(joined(&[100_000; 5]), 1);
    assert!(joined(&[u32::MAX / 2, u32::MAX / 4, u32::MAX / 2]) > 1);
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

/// Every fourth octet downwards, which makes a list that is long; then those between them, from the middle outwards.
#[test]
fn octets_in_the_midst_of_a_long_list_cost_what_their_number_allows() {
    const ARRIVALS: u64 = 20_000;
    let order = |i| match (i < ARRIVALS / 2, i % 2) {
        (true, _) => ARRIVALS - 2 * i,
        (false, 0) => 1 + i,
        (false, _) => ARRIVALS - i,
    };
    let (taken, refused) = steps((0..ARRIVALS).map(|i| 1 + 2 * order(i)), usize::MAX);
    assert_eq!(refused, 0);
    assert!(taken < 80 * ARRIVALS as usize, "{taken} steps for {ARRIVALS} octets");
}

/// One arrival that covers all others, and carries another stream, so that it is cut at each of them.
#[test]
fn an_arrival_over_many_pieces_costs_what_their_number_allows() {
    const PIECES: u64 = 5_000;
    const FIRST: u64 = 1_000_000;
    STEPS.set(0);
    let mut pieces = Pieces::default();
    for i in 0..PIECES {
        assert_eq!(pieces.insert(FIRST + 2 * i, payload(2 * i, 1), usize::MAX), Some(1));
    }
    let all = payload(1 << 40, 2 * PIECES as u32);
    assert_eq!(pieces.insert(FIRST, all, usize::MAX), Some(PIECES as u32));
    assert_eq!((pieces.len() as u64, pieces.octets()), (2 * PIECES, 2 * PIECES));
    assert!(STEPS.get() < 80 * PIECES as usize, "{} steps", STEPS.get());
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

    /// The same of pieces that lie in trees, with RCV.NXT moving on between the arrivals.
    #[test]
    fn trees_as_the_naive_model(
        steps in prop::collection::vec((1u64..400, 1u32..40, 0u64..3, prop::bool::weighted(0.3)), 1..80),
    ) {
        let (mut pieces, mut model, mut next) = (Pieces::default(), Model::default(), 0);
        for i in 0..100 {
            let at = 1 + 4 * (i * 37 % 100);
            let payload = payload(1000 * (i % 3) + at, 2);
            prop_assert_eq!(pieces.insert(at, payload, MANY), Some(model.insert(at, payload)));
        }
        prop_assert!(pieces.many.is_some(), "they came in no order");
        for (above, len, stream, connect) in steps {
            if connect {
                next += u64::from(len);
                let (mut out, expected) = (Vec::new(), model.connect(next));
                while let Some((piece, _)) = pieces.connect(next) {
                    out.extend(piece.offset..piece.offset + u64::from(piece.len));
                    next += u64::from(piece.len);
                }
                prop_assert_eq!(out, expected);
                prop_assert_eq!(pieces.block_around(next - 1), None, "what is out is in no block");
            } else {
                let at = next + above;
                let payload = payload(1000 * stream + at, len);
                prop_assert_eq!(pieces.insert(at, payload, MANY), Some(model.insert(at, payload)));
            }
            assert_same(&pieces, &model);
        }
    }
}
