//! Minstrel rate control: a rate is used if it has delivered much.
//!
//! It follows Derek Smithies' description of the algorithm (2005). Every tenth frame tries a random
//! rate. Every 100 ms a rate's success probability moves by a quarter towards the measured one, and
//! the rates are ranked by expected throughput. A frame gets a chain of rates. Each is tried for at
//! most 6 ms, so that TCP sees no long delay.
//!
//! One instance belongs to one sender and one neighbour.

mod chain;

pub use chain::RetryChain;

use crate::phy::{self, Rate, RateSet, Standard};
use ropewalk_sim::Stream;
use ropewalk_units::{Duration, Instant};

/// How often the statistics are updated.
const INTERVAL: Duration = Duration::from_millis(100);
/// The weight of the newest interval against all before it.
const NEWEST: f64 = 0.25;
/// The part of the frames that try a random rate.
const LOOKAROUND: f64 = 0.1;
/// A rate below this success probability counts as useless: it would fill the air with retries.
const HOPELESS: f64 = 0.1;
/// Rates above this success probability count as equally safe.
const SAFE: f64 = 0.95;
/// How long a frame stays at one rate of its chain.
const SEGMENT: Duration = Duration::from_millis(6);
/// The most attempts at one rate of the chain.
const MAX_TRIES: u32 = 7;
/// The frame whose duration ranks the rates, MAC header and check sequence included.
const REFERENCE_OCTETS: u32 = 1200;

/// How the transmission of a frame ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TxStatus {
    /// Its last attempt was acknowledged.
    Acknowledged,
    /// It was given up after its last attempt.
    GivenUp,
}

/// Rate control for the frames to one neighbour.
#[derive(Clone, Debug)]
pub struct Minstrel {
    /// Slowest first.
    rates: Vec<RateStats>,
    ranking: Ranking,
    next_update: Instant,
    stream: Stream,
}

/// What is known of a rate.
#[derive(Clone, Debug)]
struct RateStats {
    rate: Rate,
    /// A reference frame, its response and the mean wait before it.
    cost: Duration,
    /// Attempts that fit into a segment.
    tries: u32,
    /// In the present interval.
    attempts: u32,
    /// In the present interval.
    successes: u32,
    /// `None` until it was tried.
    probability: Option<f64>,
}

impl RateStats {
    /// Reference frames delivered per second.
    fn throughput(&self) -> f64 {
        let probability = self.probability.unwrap_or(0.0);
        if probability < HOPELESS { 0.0 } else { probability / self.cost.as_secs_f64() }
    }

    fn work_up(&mut self) {
        if self.attempts == 0 {
            return;
        }
        let seen = f64::from(self.successes) / f64::from(self.attempts);
        self.probability = Some(self.probability.map_or(seen, |before| before + NEWEST * (seen - before)));
        self.attempts = 0;
        self.successes = 0;
    }
}

/// Positions in the list of rates.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
struct Ranking {
    best: usize,
    second: usize,
    safest: usize,
}

impl Minstrel {
    /// For a neighbour that receives `rates` and answers at the `basic` ones. It begins at the
    /// slowest. The stream is this pair's own.
    ///
    /// # Panics
    /// When the standard has none of the rates.
    pub fn new(standard: Standard, rates: RateSet, basic: RateSet, stream: Stream) -> Self {
        let usable = rates.intersection(standard.rates());
        assert!(!usable.is_empty(), "no rate of {} to choose from", standard.name());
        let rates = usable.iter().map(|rate| RateStats::new(standard, rate, basic)).collect();
        Self { rates, ranking: Ranking::default(), next_update: Instant::ZERO, stream }
    }

    /// The rates for a frame about to be sent, in the order of its attempts.
    pub fn plan(&mut self, now: Instant) -> RetryChain {
        self.work_up(now);
        let Ranking { best, second, safest } = self.ranking;
        let chain = RetryChain::new(self.stage(0));
        let Some(sample) = self.draw_sample() else {
            return chain.preceded_by([self.stage(best), self.stage(second), self.stage(safest)]);
        };
        // A faster rate is tried first. A slower one is tried only when the best has failed: it has
        // less to win, and its probability seldom needs to be known well.
        let (first, then) =
            if self.rates[sample].cost < self.rates[best].cost { (sample, best) } else { (best, sample) };
        chain.preceded_by([self.stage(first), self.stage(then), self.stage(safest)])
    }

    /// Counts a frame of which `attempts` attempts of its chain were made.
    pub fn report(&mut self, chain: &RetryChain, attempts: u32, status: TxStatus) {
        for attempt in 0..attempts {
            let rate = chain.rate(attempt);
            let Some(stats) = self.rates.iter_mut().find(|stats| stats.rate == rate) else { continue };
            stats.attempts += 1;
            stats.successes += u32::from(status == TxStatus::Acknowledged && attempt + 1 == attempts);
        }
    }

    /// The rate that promised the highest throughput at the last update.
    pub fn best(&self) -> Rate {
        self.rates[self.ranking.best].rate
    }

    /// The success probability of a rate at the last update; `None` while it has not been tried.
    pub fn probability(&self, rate: Rate) -> Option<f64> {
        self.rates.iter().find(|stats| stats.rate == rate)?.probability
    }

    fn stage(&self, index: usize) -> (Rate, u32) {
        (self.rates[index].rate, self.rates[index].tries)
    }

    /// A random rate for every tenth frame. It is never the best rate, which is tried all the time.
    fn draw_sample(&mut self) -> Option<usize> {
        let others = self.rates.len() as u64 - 1;
        if !self.stream.bernoulli(LOOKAROUND) || others == 0 {
            return None;
        }
        let drawn = self.stream.range(others) as usize;
        Some(if drawn < self.ranking.best { drawn } else { drawn + 1 })
    }

    fn work_up(&mut self, now: Instant) {
        if now < self.next_update {
            return;
        }
        self.next_update = now.saturating_add(INTERVAL);
        self.rates.iter_mut().for_each(RateStats::work_up);
        self.ranking = rank(&self.rates);
    }
}

impl RateStats {
    fn new(standard: Standard, rate: Rate, basic: RateSet) -> Self {
        let timing = standard.timing();
        let response = timing.sifs + phy::ppdu_duration(standard, phy::control_rate(basic, rate), phy::ACK);
        let attempt = timing.difs + phy::ppdu_duration(standard, rate, REFERENCE_OCTETS) + response;
        // The mean backoff is half the window, which doubles with each attempt.
        let backoff = |window: u32| timing.slot * u64::from(window) / 2;
        let (mut tries, mut window, mut spent) = (0, timing.cw_min, Duration::ZERO);
        while tries < MAX_TRIES {
            spent = spent + attempt + backoff(window);
            if tries > 0 && spent > SEGMENT {
                break;
            }
            tries += 1;
            window = (2 * window + 1).min(timing.cw_max);
        }
        let cost = attempt + backoff(timing.cw_min);
        Self { rate, cost, tries, attempts: 0, successes: 0, probability: None }
    }
}

/// Ranks the rates. Of equal rates the slower one counts.
fn rank(rates: &[RateStats]) -> Ranking {
    let highest = |value: &dyn Fn(usize) -> f64| {
        (0..rates.len()).fold(0, |best, index| if value(index) > value(best) { index } else { best })
    };
    let best = highest(&|index| rates[index].throughput());
    let second = highest(&|index| if index == best { -1.0 } else { rates[index].throughput() });
    let probability = |index: usize| rates[index].probability.unwrap_or(0.0);
    // Among safe rates the fastest; they stand above all others, whose probability is below 1.
    let safest = highest(&|index| match probability(index) {
        safe if safe >= SAFE => 1.0 + rates[index].throughput(),
        unsafe_ => unsafe_,
    });
    Ranking { best, second, safest }
}

#[cfg(test)]
mod tests;
