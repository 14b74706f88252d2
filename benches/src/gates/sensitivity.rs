//! What hangs on a value that is from no publication: cases with it halved and doubled.

use crate::case::{Case, Finding};
use crate::measure::{Record, measure, measure_tuned};
use ropewalk_bonding::Tuning;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::{available_parallelism, scope};

/// The first case of each of these gates: a few of every kind of trouble, none of which takes long.
pub(crate) const GATES: [&str; 12] = [
    "long-one",
    "cross-tcp",
    "clocks",
    "late",
    "steps",
    "slow-death",
    "short-queues",
    "reordering",
    "voice",
    "cost-tcp",
    "upload-beside",
    "slow-uplinks",
];

/// What came of all cases with one tuning.
#[derive(Clone, Copy)]
struct Outcome {
    /// Bars that were missed.
    missed: usize,
    /// What bonds delivered over what they deliver as they are: the mean over their runs, and the least.
    mean: f64,
    least: f64,
    /// The gate with the least.
    at: &'static str,
}

/// Prints the table.
pub(crate) fn print(cases: &[Case]) {
    let usual: Vec<Vec<Record>> =
        cases.iter().map(|case| case.runs.iter().map(|run| measure(&run.text)).collect()).collect();
    let settings: Vec<Tuning> = Tuning::names()
        .flat_map(|name| [0.5, 2.0].map(|factor| Tuning::default().scaled(name, factor)))
        .collect();
    let outcomes = all(&settings, |tuning| outcome(cases, &usual, tuning));
    let bars: usize = cases.iter().zip(&usual).map(|(case, records)| (case.judge)(records).len()).sum();
    let missed = outcome(cases, &usual, &Tuning::default()).missed;
    println!("{} cases, {bars} numbers; as it is, {missed} bars are missed.\n", cases.len());
    println!(
        "| value | is | halved: missed | goodput: mean | least | doubled: missed | goodput: mean | least |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    for (name, pair) in Tuning::names().zip(outcomes.chunks(2)) {
        let least = |own: &Outcome| match own.least {
            least if least < 0.995 => format!("{least:.2}, {}", own.at),
            _ => "1.00".to_owned(),
        };
        let shown = |own: &Outcome| format!("{} | {:.3} | {}", own.missed, own.mean, least(own));
        let is = Tuning::default().show(name).unwrap_or_default();
        println!("| `{name}` | {is} | {} | {} |", shown(&pair[0]), shown(&pair[1]));
    }
}

/// The cases with this tuning. Runs without a bond are as usual.
fn outcome(cases: &[Case], usual: &[Vec<Record>], tuning: &Tuning) -> Outcome {
    let (mut missed, mut sum, mut count) = (0, 0.0, 0.0);
    let mut least = (f64::INFINITY, "");
    for (case, usual) in cases.iter().zip(usual) {
        let runs = case.runs.iter().zip(usual);
        let records: Vec<Record> = runs
            .map(|(run, usual)| if run.is_bare { usual.clone() } else { measure_tuned(&run.text, tuning) })
            .collect();
        missed += (case.judge)(&records).iter().filter(|finding| !Finding::is_kept(finding)).count();
        for (own, usual) in
            records.iter().zip(usual).zip(&case.runs).filter(|(_, run)| !run.is_bare).map(|both| both.0)
        {
            let ratio = own.inside_mbps() / usual.inside_mbps().max(1e-9);
            (sum, count) = (sum + ratio, count + 1.0);
            if ratio < least.0 {
                least = (ratio, case.gate);
            }
        }
    }
    Outcome { missed, mean: sum / f64::max(count, 1.0), least: least.0, at: least.1 }
}

/// Works on several threads; results in the order of the settings.
fn all(settings: &[Tuning], work: impl Fn(&Tuning) -> Outcome + Sync) -> Vec<Outcome> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::new());
    scope(|threads| {
        for _ in 0..available_parallelism().map_or(1, usize::from) {
            threads.spawn(|| {
                loop {
                    let place = next.fetch_add(1, Ordering::Relaxed);
                    let Some(tuning) = settings.get(place) else { break };
                    let outcome = work(tuning);
                    done.lock().unwrap_or_else(PoisonError::into_inner).push((place, outcome));
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(place, _)| *place);
    done.into_iter().map(|(_, outcome)| outcome).collect()
}
