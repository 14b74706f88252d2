//! Where choices come from.

/// A source of choices.
pub trait Source {
    /// Any 64 bits.
    fn next(&mut self) -> u64;

    /// A number below `bound`, which is not 0.
    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    /// True with probability 1 / `times`.
    fn one_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }

    /// One of `values`, of which there is at least one.
    fn pick<T: Copy>(&mut self, values: &[T]) -> T {
        values[self.below(values.len() as u64) as usize]
    }

    /// A number at most `spread` before or after `centre`, modulo 2^64.
    fn near(&mut self, centre: u64, spread: u64) -> u64 {
        centre.wrapping_sub(spread).wrapping_add(self.below(2 * spread + 1))
    }
}

/// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014, §4).
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// A generator with this seed.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }
}

impl Source for Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}
