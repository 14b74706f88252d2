//! Random numbers by draw: number i of a run can be had without the numbers before it, so that it does not matter
//! which worker draws what.

use crate::position::Position;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use sha2::{Digest, Sha256};

/// 2^-32: the spacing of uniform numbers made of one word.
const ULP: f64 = 1.0 / (1u64 << 32) as f64;

/// The generators of a run. ChaCha8 under a key of seed and purpose; the number of the draw is its nonce.
#[derive(Clone, Debug)]
pub(crate) struct Draws {
    generator: ChaCha8Rng,
}

impl Draws {
    /// The generators of a seed for one purpose, at draw 0.
    pub(crate) fn new(seed: u64, purpose: &str) -> Self {
        let key = Sha256::new().chain_update(seed.to_le_bytes()).chain_update(purpose.as_bytes()).finalize();
        Self { generator: ChaCha8Rng::from_seed(key.into()) }
    }

    /// To the beginning of a draw.
    pub(crate) fn seek(&mut self, draw: u64) {
        self.generator.set_word_pos(0);
        self.generator.set_stream(draw);
    }

    /// Fills with random words.
    pub(crate) fn fill(&mut self, words: &mut [u32]) {
        for word in words {
            *word = self.generator.next_u32();
        }
    }

    /// Uniform in (0, 1): an odd multiple of 2^-33.
    pub(crate) fn uniform(&mut self) -> f64 {
        fraction(self.generator.next_u32())
    }

    /// Poisson with this mean: arrivals of a process of rate 1 until then. Takes time in proportion to the mean.
    pub(crate) fn poisson(&mut self, mean: f64) -> usize {
        let mut time = -libm::log(self.uniform());
        let mut arrivals = 0;
        while time < mean {
            arrivals += 1;
            time -= libm::log(self.uniform());
        }
        arrivals
    }

    /// So many points, uniform in a rectangle with a corner at the origin: first all x, then all y.
    pub(crate) fn positions(&mut self, words: &mut Vec<u32>, nodes: usize, size: Position) -> Vec<Position> {
        words.resize(2 * nodes, 0);
        self.fill(words);
        positions(words, size)
    }
}

/// A word as a number in (0, 1).
fn fraction(word: u32) -> f64 {
    (f64::from(word) + 0.5) * ULP
}

/// The points that words stand for: the first half are x, the second y.
pub(crate) fn positions(words: &[u32], size: Position) -> Vec<Position> {
    let (xs, ys) = words.split_at(words.len() / 2);
    let point = |(&x, &y)| Position::new(fraction(x) * size.x, fraction(y) * size.y);
    xs.iter().zip(ys).map(point).collect()
}
