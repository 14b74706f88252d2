//! Random cases: what is drawn depends on the drawing, the gate and the number of the case alone.

use ropewalk_sim::{Stream, Streams};

/// A set of cases. Nobody tunes on the second and the third.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub(crate) enum Drawing {
    /// For work.
    First,
    /// For judging what was worked out on the first.
    Second,
    /// For judging what the second has shown.
    Third,
}

impl Drawing {
    /// The seeds were chosen before any case was run, and stay.
    const fn seed(self) -> u64 {
        match self {
            Self::First => 20_260_901,
            Self::Second => 77_003_177,
            Self::Third => 31_415_927,
        }
    }
}

/// What draws one case.
pub(crate) struct Draw(Stream);

impl Draw {
    /// For this case.
    pub(crate) fn new(drawing: Drawing, gate: &str, number: usize) -> Self {
        Self(Streams::new(drawing.seed()).stream(&format!("{gate}/{number}")))
    }

    /// Uniform between two values.
    pub(crate) fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.0.uniform()
    }

    /// Between two values, uniform on a logarithmic scale, with three significant digits or fewer.
    pub(crate) fn log_between(&mut self, low: f64, high: f64) -> f64 {
        let drawn = low * libm::pow(high / low, self.0.uniform());
        let unit = libm::pow(10.0, libm::floor(libm::log10(drawn)) - 2.0);
        libm::round(libm::round(drawn / unit) * unit * 1e6) / 1e6
    }

    /// A whole number between two, both included, uniform on a logarithmic scale.
    pub(crate) fn log_count(&mut self, low: u32, high: u32) -> u32 {
        libm::round(self.log_between(f64::from(low), f64::from(high))) as u32
    }

    /// One of these.
    pub(crate) fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.0.range(choices.len() as u64) as usize]
    }

    /// True with this probability.
    pub(crate) fn chance(&mut self, probability: f64) -> bool {
        self.0.bernoulli(probability)
    }

    /// A seed for a run.
    pub(crate) fn seed(&mut self) -> u64 {
        1 + self.0.range(1_000_000)
    }
}
