//! Named random streams and the distributions drawn from them.
//!
//! All of it is value-stable: ChaCha8 is specified to the bit, and the distributions are inverse transforms over
//! `libm`, which is the same on every machine.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use sha2::{Digest, Sha256};

mod normal;

/// The source of all streams of one run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Streams {
    seed: u64,
}

impl Streams {
    /// The streams of a seed.
    pub const fn new(seed: u64) -> Self {
        Self { seed }
    }

    /// The stream of a component, such as `"link/dsl/loss"`. It depends on seed and name alone: no component
    /// shifts another's draws.
    pub fn stream(&self, name: &str) -> Stream {
        let key =
            Sha256::new().chain_update(self.seed.to_le_bytes()).chain_update(name.as_bytes()).finalize();
        Stream(ChaCha8Rng::from_seed(key.into()))
    }
}

/// A stream of random numbers.
#[derive(Clone, Debug)]
pub struct Stream(ChaCha8Rng);

/// 2^-53: the spacing of the uniform numbers.
const ULP: f64 = 1.0 / (1u64 << 53) as f64;

impl Stream {
    /// 32 random bits.
    pub fn next_u32(&mut self) -> u32 {
        self.0.next_u32()
    }

    /// 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Uniform in [0, 1), a multiple of 2^-53.
    pub fn uniform(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * ULP
    }

    /// Uniform in (0, 1), neither end included: what an inverse transform needs.
    fn open_uniform(&mut self) -> f64 {
        // Below 2^-1 the half is exact; above it is rounded to even, and the largest value must not become 1.
        (((self.next_u64() >> 11) as f64 + 0.5) * ULP).min(1.0 - ULP)
    }

    /// True with probability `p`. One draw, whatever `p`.
    pub fn bernoulli(&mut self, p: f64) -> bool {
        self.uniform() < p
    }

    /// Exponential with this mean.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * libm::log(self.open_uniform())
    }

    /// Normal with this mean and standard deviation.
    pub fn normal(&mut self, mean: f64, standard_deviation: f64) -> f64 {
        mean + standard_deviation * normal::quantile(self.open_uniform())
    }

    /// Uniform in 0..n, without bias.
    ///
    /// # Panics
    /// When `n` is 0.
    pub fn range(&mut self, n: u64) -> u64 {
        assert!(n > 0, "a range of nothing");
        // Lemire 2019, "Fast random integer generation in an interval", algorithm 5: the high word of a product
        // is uniform once the low words below 2^64 mod n are refused.
        let mut product = u128::from(self.next_u64()) * u128::from(n);
        if (product as u64) < n {
            let refused = n.wrapping_neg() % n;
            while (product as u64) < refused {
                product = u128::from(self.next_u64()) * u128::from(n);
            }
        }
        (product >> 64) as u64
    }
}

#[cfg(test)]
mod tests;
