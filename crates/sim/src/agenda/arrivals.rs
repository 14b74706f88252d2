//! A tournament of the links' next arrivals: the first of all is known, and a change costs one match a round.

use crate::ids::LinkId;
use ropewalk_units::Instant;

/// Bits of a key that name the link, and that number the insertion.
const LINK_BITS: u32 = 24;
const NUMBER_BITS: u32 = 64 - LINK_BITS;

/// When, in which order of insertion, and by which link: the smallest comes first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Key(u128);

impl Key {
    /// No arrival is known.
    pub(super) const NONE: Self = Self(u128::MAX);

    pub(super) fn new(at: Instant, number: u64, link: LinkId) -> Self {
        debug_assert!(number >> NUMBER_BITS == 0 && link.0 >> LINK_BITS == 0, "they have room");
        Self(u128::from(at.as_nanos()) << 64 | u128::from(number << LINK_BITS | u64::from(link.0)))
    }

    pub(super) fn at(self) -> Instant {
        Instant::from_nanos((self.0 >> 64) as u64)
    }

    pub(super) fn link(self) -> LinkId {
        LinkId(self.0 as u32 & ((1 << LINK_BITS) - 1))
    }
}

/// The arrivals by link.
pub(super) struct Arrivals {
    /// The matches: that at `n` is won by one of the winners of those at `2n` and `2n + 1`. The last half is of the links
    /// themselves, the final is at 1.
    pairs: Vec<[Key; 2]>,
    first: Key,
}

impl Arrivals {
    pub(super) fn new() -> Self {
        Self { pairs: vec![[Key::NONE; 2]; 2], first: Key::NONE }
    }

    /// The first of all.
    pub(super) fn first(&self) -> Key {
        self.first
    }

    /// A link's own.
    pub(super) fn of(&self, link: LinkId) -> Key {
        let place = self.pairs.len() + link.0 as usize;
        self.pairs.get(place / 2).map_or(Key::NONE, |pair| pair[place % 2])
    }

    /// Changes a link's arrival.
    pub(super) fn set(&mut self, link: LinkId, key: Key) {
        if link.0 as usize >= self.pairs.len() {
            self.grow(link);
        }
        let (mut place, mut winner) = (self.pairs.len() + link.0 as usize, key);
        while place > 1 {
            let pair = &mut self.pairs[place / 2];
            pair[place % 2] = winner;
            winner = pair[0].min(pair[1]);
            place /= 2;
        }
        self.first = winner;
    }

    /// Makes room for a link.
    #[cold]
    fn grow(&mut self, link: LinkId) {
        let links = self.pairs.len();
        let old = std::mem::take(&mut self.pairs);
        self.pairs = vec![[Key::NONE; 2]; (link.0 as usize + 1).next_power_of_two()];
        for (number, key) in old[links / 2..].as_flattened().iter().enumerate() {
            self.set(LinkId(number as u32), *key);
        }
    }
}
