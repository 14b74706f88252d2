//! Hidden Markov chains of any number of states.

use ropewalk_sim::Stream;
use std::fmt;

/// A chain that moves before each attempt and fails it with the probability of its new state.
#[derive(Clone, PartialEq, Debug)]
pub struct HiddenMarkov {
    /// Row by row: from state i to j.
    transitions: Vec<f64>,
    loss: Vec<f64>,
    stationary: Vec<f64>,
}

/// Why numbers are no hidden Markov model. States are counted from 1.
#[derive(Clone, PartialEq, Debug)]
pub enum MarkovError {
    /// There is no state.
    Empty,
    /// A row has not one entry per state.
    Shape {
        /// The row's state; one above the number of states when rows themselves are missing or too
        /// many.
        state: usize,
        /// How many entries there should be.
        expected: usize,
        /// How many there are.
        found: usize,
    },
    /// Not from 0 to 1.
    NotAProbability {
        /// The state whose transitions or loss it is.
        state: usize,
        /// The number.
        value: f64,
    },
    /// A row's sum is not 1.
    RowSum {
        /// The row's state.
        state: usize,
        /// Its sum.
        sum: f64,
    },
    /// The chain cannot get from one state to another, so that the long run depends on where it
    /// starts.
    Unreachable {
        /// The state from which the other one is never reached.
        from: usize,
        /// The state that is never reached.
        to: usize,
    },
}

impl fmt::Display for MarkovError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("a hidden Markov model needs at least one state"),
            Self::Shape { state, expected, found } if state > expected => {
                write!(f, "expected {expected} rows of transitions, one per state, found {found}")
            }
            Self::Shape { state, expected, found } => {
                write!(
                    f,
                    "state {state} needs {expected} transition probabilities, one to each state, found {found}"
                )
            }
            Self::NotAProbability { state, value } => {
                write!(f, "state {state}: {value} is no probability from 0 to 1")
            }
            Self::RowSum { state, sum } => {
                write!(f, "the transition probabilities of state {state} add up to {sum}, not to 1")
            }
            Self::Unreachable { from, to } => {
                write!(
                    f,
                    "state {to} cannot be reached from state {from}: every state must be reachable from all"
                )
            }
        }
    }
}

impl std::error::Error for MarkovError {}

/// Sums of probabilities written with nine digits still count as 1.
const SUM_TOLERANCE: f64 = 1e-9;

impl HiddenMarkov {
    /// A chain with these transition probabilities (a row per state, each adding up to 1) and this
    /// loss per state.
    ///
    /// # Errors
    /// When the shapes do not fit, a number is no probability, a row does not add up to 1, or a
    /// state cannot be reached from another.
    pub fn new(transitions: &[Vec<f64>], loss: &[f64]) -> Result<Self, MarkovError> {
        let states = loss.len();
        if states == 0 {
            return Err(MarkovError::Empty);
        }
        if transitions.len() != states {
            let found = transitions.len();
            return Err(MarkovError::Shape { state: states + 1, expected: states, found });
        }
        for (state, (row, &loss)) in (1..).zip(transitions.iter().zip(loss)) {
            if row.len() != states {
                return Err(MarkovError::Shape { state, expected: states, found: row.len() });
            }
            if let Some(&value) = row.iter().chain([&loss]).find(|value| !(0.0..=1.0).contains(*value)) {
                return Err(MarkovError::NotAProbability { state, value });
            }
            let sum: f64 = row.iter().sum();
            if !(1.0 - SUM_TOLERANCE..=1.0 + SUM_TOLERANCE).contains(&sum) {
                return Err(MarkovError::RowSum { state, sum });
            }
        }
        check_reachable(transitions)?;
        Ok(Self {
            transitions: transitions.concat(),
            loss: loss.to_vec(),
            stationary: stationary(transitions.to_vec()),
        })
    }

    /// How many states it has.
    pub fn states(&self) -> usize {
        self.loss.len()
    }

    /// The loss of a state, counted from 0.
    ///
    /// # Panics
    /// When there is no such state.
    pub fn loss(&self, state: usize) -> f64 {
        self.loss[state]
    }

    /// The part of the attempts spent in each state.
    #[cfg(test)]
    pub(crate) fn stationary(&self) -> &[f64] {
        &self.stationary
    }

    /// The mean loss: Σ π_i h_i.
    pub fn mean_loss(&self) -> f64 {
        self.stationary.iter().zip(&self.loss).map(|(share, loss)| share * loss).sum()
    }

    /// The mean number of failures in a row; 0 when nothing fails, infinite when everything does.
    pub fn mean_burst(&self) -> f64 {
        let loss_after =
            |state: usize| -> f64 { self.row(state).iter().zip(&self.loss).map(|(p, h)| p * h).sum() };
        let starts =
            (0..self.states()).map(|i| self.stationary[i] * (1.0 - self.loss[i]) * loss_after(i)).sum();
        super::runs::mean_run(self.mean_loss(), starts)
    }

    pub(super) fn draw_stationary(&self, stream: &mut Stream) -> usize {
        choose(&self.stationary, stream)
    }

    pub(super) fn draw_next(&self, state: usize, stream: &mut Stream) -> usize {
        choose(self.row(state), stream)
    }

    fn row(&self, state: usize) -> &[f64] {
        let states = self.states();
        &self.transitions[state * states..(state + 1) * states]
    }
}

/// Draws an index with the probability that stands there. The last possible index takes what
/// rounding leaves over.
fn choose(probabilities: &[f64], stream: &mut Stream) -> usize {
    let mut rest = stream.uniform();
    let mut chosen = 0;
    for (index, &probability) in probabilities.iter().enumerate() {
        if probability > 0.0 {
            chosen = index;
            if rest < probability {
                break;
            }
            rest -= probability;
        }
    }
    chosen
}

fn check_reachable(transitions: &[Vec<f64>]) -> Result<(), MarkovError> {
    for from in 0..transitions.len() {
        let mut is_reached = vec![false; transitions.len()];
        let mut waiting = vec![from];
        is_reached[from] = true;
        while let Some(state) = waiting.pop() {
            for (next, &probability) in transitions[state].iter().enumerate() {
                if probability > 0.0 && !is_reached[next] {
                    is_reached[next] = true;
                    waiting.push(next);
                }
            }
        }
        if let Some(to) = is_reached.iter().position(|&is_reached| !is_reached) {
            return Err(MarkovError::Unreachable { from: from + 1, to: to + 1 });
        }
    }
    Ok(())
}

/// π = πP of an irreducible chain, by state reduction, which subtracts nothing and so loses no
/// digits (Grassmann, Taksar, Heyman 1985).
fn stationary(mut p: Vec<Vec<f64>>) -> Vec<f64> {
    let states = p.len();
    for last in (1..states).rev() {
        // Irreducible: the last state is left for an earlier one.
        let leaves: f64 = p[last][..last].iter().sum();
        for i in 0..last {
            p[i][last] /= leaves;
            for j in 0..last {
                p[i][j] += p[i][last] * p[last][j];
            }
        }
    }
    let mut shares = vec![1.0];
    while shares.len() < states {
        let flow_into = |state: usize| shares.iter().zip(&p).map(|(share, row)| share * row[state]).sum();
        shares.push(flow_into(shares.len()));
    }
    let total: f64 = shares.iter().sum();
    shares.into_iter().map(|share| share / total).collect()
}
