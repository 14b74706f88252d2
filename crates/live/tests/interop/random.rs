//! Numbers that look random and are the same for each seed.

/// Xorshift (Marsaglia 2003).
#[derive(Clone)]
pub(crate) struct Xorshift(u64);

impl Xorshift {
    /// From a seed that is not zero, which would stay zero.
    pub(crate) fn new(seed: u64) -> Self {
        assert_ne!(seed, 0);
        Self(seed)
    }

    pub(crate) fn draw(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}
