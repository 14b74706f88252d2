//! Running a scenario given as text, and statistics of its results.

use ropewalk_scenario::{Outcome, RunOptions, load, run};

/// Runs a scenario given as text, with `overrides` as `--set` takes them, and a seed.
///
/// # Panics
/// With the scenario's own message if it is wrong.
pub fn simulate(source: &str, overrides: &[(&str, &str)], seed: u64) -> Outcome {
    let overrides: Vec<(String, String)> =
        overrides.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    let scenario = load(source, None, &overrides).unwrap_or_else(|error| panic!("{error}"));
    run(&scenario, &RunOptions { seed: Some(seed), ..RunOptions::default() }).expect("the run ends")
}

/// As [`simulate`], with the time series.
///
/// # Panics
/// With the scenario's own message if it is wrong.
pub fn simulate_series(source: &str, seed: u64) -> Outcome {
    let scenario = load(source, None, &[]).unwrap_or_else(|error| panic!("{error}"));
    run(&scenario, &RunOptions { seed: Some(seed), series: true, ..RunOptions::default() })
        .expect("the run ends")
}

/// The goodput of a connection in Mbit/s.
///
/// # Panics
/// If there is none of that name.
pub fn goodput(outcome: &Outcome, connection: &str) -> f64 {
    let row = outcome.connections.iter().find(|row| row.name == connection);
    let row = row.unwrap_or_else(|| panic!("no connection {connection}"));
    assert_eq!(row.error, None, "{connection}");
    row.goodput_mbps
}

/// Mean of some values.
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Half the width of the 95 % confidence interval of the mean (normal quantile; for ten values and more).
pub fn half_width(values: &[f64]) -> f64 {
    let mean = mean(values);
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (values.len() - 1) as f64;
    1.96 * (variance / values.len() as f64).sqrt()
}

/// Jain's fairness index (Jain, Chiu, Hawe 1984): 1 when all are equal, 1/n when one has all.
pub fn jain(values: &[f64]) -> f64 {
    let sum: f64 = values.iter().sum();
    sum * sum / (values.len() as f64 * values.iter().map(|value| value * value).sum::<f64>())
}
