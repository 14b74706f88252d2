//! Fading of single frames: many paths between two stations that add up differently each time.

use ropewalk_sim::Stream;

/// By how much the power of a frame differs from its mean. Drawn for each frame and each station
/// that hears it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Fading {
    /// Not at all.
    None,
    /// Many paths of equal strength and no line of sight: the power has an exponential
    /// distribution.
    Rayleigh,
    /// Nakagami (1960): the power has a gamma distribution.
    Nakagami {
        /// At least 0.5. 1 is Rayleigh's; the larger, the less fading.
        m: f64,
    },
}

impl Fading {
    /// Draws a factor with mean 1.
    pub(crate) fn gain(self, stream: &mut Stream) -> f64 {
        match self {
            Self::None => 1.0,
            Self::Rayleigh => stream.exponential(1.0),
            Self::Nakagami { m } => gamma(m, stream) / m,
        }
    }
}

/// A gamma variate of this shape and scale 1 (Marsaglia and Tsang, "A simple method for generating
/// gamma variables", 2000).
fn gamma(shape: f64, stream: &mut Stream) -> f64 {
    if shape < 1.0 {
        // Its §6: one of a shape larger by 1, times a uniform one to the power of 1 / shape.
        let power = libm::exp(-stream.exponential(1.0) / shape);
        return gamma(shape + 1.0, stream) * power;
    }
    let d = shape - 1.0 / 3.0;
    let c = 1.0 / (9.0 * d).sqrt();
    loop {
        let x = stream.normal(0.0, 1.0);
        let root = 1.0 + c * x;
        // The exponential is minus the logarithm of a uniform variate.
        let limit = stream.exponential(1.0);
        let v = root * root * root;
        if root > 0.0 && -limit < 0.5 * x * x + d - d * v + d * libm::log(v) {
            return d * v;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ropewalk_sim::Streams;

    const DRAWS: u32 = 100_000;

    /// Mean and variance of a gamma distribution over its mean: 1 and 1/m.
    #[test]
    fn gains_have_the_mean_and_variance_of_their_distribution() {
        for (fading, m) in
            [(Fading::Rayleigh, 1.0), (Fading::Nakagami { m: 0.5 }, 0.5), (Fading::Nakagami { m: 4.0 }, 4.0)]
        {
            let mut stream = Streams::new(7).stream("gains");
            let (mut sum, mut squares) = (0.0, 0.0);
            for _ in 0..DRAWS {
                let gain = fading.gain(&mut stream);
                assert!(gain >= 0.0 && gain.is_finite());
                sum += gain;
                squares += gain * gain;
            }
            let mean = sum / f64::from(DRAWS);
            let variance = squares / f64::from(DRAWS) - mean * mean;
            assert!((mean - 1.0).abs() < 0.02, "m = {m}: {mean}");
            assert!((variance * m - 1.0).abs() < 0.05, "m = {m}: {variance}");
        }
    }

    #[test]
    fn without_fading_nothing_is_drawn() {
        let mut stream = Streams::new(7).stream("gains");
        let mut same = stream.clone();
        assert_eq!(Fading::None.gain(&mut stream).to_bits(), 1.0_f64.to_bits());
        assert_eq!(stream.next_u64(), same.next_u64());
    }
}
