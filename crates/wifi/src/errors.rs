//! Frames that fail although nothing interfered: independently, or in bursts.
//!
//! A model belongs to one direction of one link and judges every attempt (transmission) of a data
//! frame. Frames that carry little ([`FrameErrors::above`]) never fail and are not seen by the
//! model: a bursty one does not move for them.

mod chain;
mod runs;

pub use chain::{HiddenMarkov, MarkovError};

use ropewalk_sim::Stream;
use ropewalk_units::{Duration, Instant, Probability};
use runs::mean_run;
use std::fmt;

/// Which frames can fail, and how.
#[derive(Clone, PartialEq, Debug)]
pub struct FrameErrors {
    /// The model that decides which frames fail.
    pub model: ErrorModel,
    /// Only frames whose payload is larger than this can fail, in bytes. The caller decides what
    /// the payload is.
    pub above: u32,
}

impl FrameErrors {
    /// No frame fails.
    pub const NONE: Self = Self { model: ErrorModel::None, above: 0 };
}

/// How frames fail.
#[derive(Clone, PartialEq, Debug)]
pub enum ErrorModel {
    /// Never.
    None,
    /// Each attempt with this probability.
    Bernoulli(Probability),
    /// Two states.
    GilbertElliott(GilbertElliott),
    /// Any number of states.
    HiddenMarkov(HiddenMarkov),
}

/// Two states, good and bad (Gilbert 1960, Elliott 1963).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct GilbertElliott {
    /// p: good to bad, per step.
    pub good_to_bad: Probability,
    /// r: bad to good, per step.
    pub bad_to_good: Probability,
    /// h_G: the part of the attempts that fails in the good state.
    pub loss_good: Probability,
    /// h_B: the part that fails in the bad state.
    pub loss_bad: Probability,
    /// What a step is.
    pub step: Step,
}

/// When a chain moves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// Once before each attempt that can fail: bursts are counted in attempts, whatever time lies
    /// between them.
    Attempt,
    /// Once per this much time, whether or not frames are sent: bursts last. Above zero.
    Every(Duration),
}

/// A mean loss and a mean burst that no Gilbert–Elliott chain has.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct BurstError {
    /// The mean loss asked for.
    pub mean_loss: f64,
    /// The mean burst asked for, in steps.
    pub mean_burst: f64,
}

impl fmt::Display for BurstError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { mean_loss, mean_burst } = self;
        if !(1.0..f64::INFINITY).contains(mean_burst) {
            return write!(f, "a mean burst is a finite number of steps, at least 1, not {mean_burst}");
        }
        if !(0.0..1.0).contains(mean_loss) {
            return write!(f, "a mean loss is at least 0 and below 1, not {mean_loss}");
        }
        write!(
            f,
            "a mean loss of {mean_loss} needs bursts longer than {mean_burst} steps: at least {}",
            mean_loss / (1.0 - mean_loss)
        )
    }
}

impl std::error::Error for BurstError {}

impl GilbertElliott {
    /// The chain that loses everything in the bad state and nothing in the good one. It has this
    /// mean loss, and this mean burst: the number of steps lost in a row.
    ///
    /// # Errors
    /// When the burst is below 1 or not finite, the loss outside [0, 1), or the bursts too short
    /// for so much loss.
    pub fn with_mean_burst(mean_loss: f64, mean_burst: f64, step: Step) -> Result<Self, BurstError> {
        let error = BurstError { mean_loss, mean_burst };
        if !(1.0..f64::INFINITY).contains(&mean_burst) || !(0.0..1.0).contains(&mean_loss) {
            return Err(error);
        }
        // The bad state lasts 1/r steps and holds p/(p + r) of all.
        let bad_to_good = 1.0 / mean_burst;
        let good_to_bad = bad_to_good * mean_loss / (1.0 - mean_loss);
        match (Probability::new(good_to_bad), Probability::new(bad_to_good), Probability::new(1.0)) {
            (Some(good_to_bad), Some(bad_to_good), Some(loss_bad)) => {
                Ok(Self { good_to_bad, bad_to_good, loss_good: Probability::ZERO, loss_bad, step })
            }
            _ => Err(error),
        }
    }

    /// π_B: the part of the steps spent in the bad state. Without any movement that is 0: the chain
    /// starts good.
    pub fn bad_share(&self) -> f64 {
        let (p, r) = (self.good_to_bad.get(), self.bad_to_good.get());
        if p == 0.0 { 0.0 } else { p / (p + r) }
    }

    /// The mean loss: (r h_G + p h_B) / (p + r).
    pub fn mean_loss(&self) -> f64 {
        let bad = self.bad_share();
        (1.0 - bad) * self.loss_good.get() + bad * self.loss_bad.get()
    }

    /// The mean number of failures in a row when there is one attempt per step; 0 when nothing
    /// fails, infinite when everything does.
    pub fn mean_burst(&self) -> f64 {
        let (p, r, bad) = (self.good_to_bad.get(), self.bad_to_good.get(), self.bad_share());
        let (loss_good, loss_bad) = (self.loss_good.get(), self.loss_bad.get());
        let after_good = (1.0 - p) * loss_good + p * loss_bad;
        let after_bad = r * loss_good + (1.0 - r) * loss_bad;
        let starts = (1.0 - bad) * (1.0 - loss_good) * after_good + bad * (1.0 - loss_bad) * after_bad;
        mean_run(self.mean_loss(), starts)
    }
}

impl ErrorModel {
    /// The part of the attempts that fails in the long run. With [`Step::Every`]: of attempts at
    /// any time.
    pub fn mean_loss(&self) -> f64 {
        match self {
            Self::None => 0.0,
            Self::Bernoulli(p) => p.get(),
            Self::GilbertElliott(chain) => chain.mean_loss(),
            Self::HiddenMarkov(chain) => chain.mean_loss(),
        }
    }

    /// The mean number of failures in a row, with one attempt per step; 0 when nothing fails,
    /// infinite when everything does.
    pub fn mean_burst(&self) -> f64 {
        match self {
            Self::None => 0.0,
            Self::Bernoulli(p) => mean_run(p.get(), p.get() * (1.0 - p.get())),
            Self::GilbertElliott(chain) => chain.mean_burst(),
            Self::HiddenMarkov(chain) => chain.mean_burst(),
        }
    }
}

/// An error model at work on one direction of one link.
#[derive(Clone, Debug)]
pub struct FrameErrorProcess {
    above: u32,
    state: State,
    stream: Stream,
}

#[derive(Clone, Debug)]
enum State {
    Never,
    Bernoulli(f64),
    GilbertElliott { chain: GilbertElliott, is_bad: bool, since: Instant },
    HiddenMarkov { chain: HiddenMarkov, state: usize },
}

impl FrameErrorProcess {
    /// A process that begins at `now`, in a state drawn from the chain's stationary distribution.
    /// The stream is the link direction's own.
    pub fn new(errors: FrameErrors, mut stream: Stream, now: Instant) -> Self {
        let state = match errors.model {
            ErrorModel::None => State::Never,
            ErrorModel::Bernoulli(p) => State::Bernoulli(p.get()),
            ErrorModel::GilbertElliott(chain) => {
                State::GilbertElliott { chain, is_bad: stream.bernoulli(chain.bad_share()), since: now }
            }
            ErrorModel::HiddenMarkov(chain) => {
                let state = chain.draw_stationary(&mut stream);
                State::HiddenMarkov { chain, state }
            }
        };
        Self { above: errors.above, state, stream }
    }

    /// Does this attempt fail? Times must not decrease.
    #[inline]
    pub fn fails(&mut self, now: Instant, payload: u32) -> bool {
        payload > self.above && !matches!(self.state, State::Never) && self.draw(now)
    }

    /// The part of the attempts with this payload that fails in the long run.
    pub fn mean_loss(&self, payload: u32) -> f64 {
        match &self.state {
            _ if payload <= self.above => 0.0,
            State::Never => 0.0,
            State::Bernoulli(p) => *p,
            State::GilbertElliott { chain, .. } => chain.mean_loss(),
            State::HiddenMarkov { chain, .. } => chain.mean_loss(),
        }
    }

    #[inline(never)]
    fn draw(&mut self, now: Instant) -> bool {
        let stream = &mut self.stream;
        match &mut self.state {
            State::Never => false,
            State::Bernoulli(p) => stream.bernoulli(*p),
            // The chain moves first. The loss is that of its new state.
            State::GilbertElliott { chain, is_bad, since } => {
                let (steps, then) = steps_until(now, *since, chain.step);
                *since = then;
                *is_bad = stream.bernoulli(bad_after(chain, *is_bad, steps));
                stream.bernoulli(if *is_bad { chain.loss_bad.get() } else { chain.loss_good.get() })
            }
            State::HiddenMarkov { chain, state } => {
                *state = chain.draw_next(*state, stream);
                stream.bernoulli(chain.loss(*state))
            }
        }
    }
}

/// How often a chain moves before an attempt at `now`, and up to when it has then moved.
fn steps_until(now: Instant, since: Instant, step: Step) -> (u64, Instant) {
    match step {
        Step::Attempt => (1, now),
        Step::Every(step) => {
            let steps = now.saturating_since(since).as_nanos() / step.as_nanos().max(1);
            (steps, since + step * steps)
        }
    }
}

/// The probability of the bad state after `steps` steps: π_B + (s - π_B)(1 - p - r)^n.
fn bad_after(chain: &GilbertElliott, is_bad: bool, steps: u64) -> f64 {
    let (p, r) = (chain.good_to_bad.get(), chain.bad_to_good.get());
    match (steps, is_bad) {
        (0, true) => 1.0,
        (0, false) => 0.0,
        (1, true) => 1.0 - r,
        (1, false) => p,
        _ => {
            let (bad, now) = (chain.bad_share(), if is_bad { 1.0 } else { 0.0 });
            bad + (now - bad) * libm::pow(1.0 - p - r, steps as f64)
        }
    }
}

#[cfg(test)]
mod tests;
