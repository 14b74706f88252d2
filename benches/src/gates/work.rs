//! Runs what is not stored yet, on several threads.

use crate::case::{Case, Run};
use crate::measure::{Record, measure};
use crate::store::{Labels, Store, key};
use std::collections::HashSet;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::{available_parallelism, scope};

/// The repository.
const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// The records of each case's runs, in their order.
pub(crate) fn records(cases: &[Case], store: &Path, workers: Option<usize>) -> io::Result<Vec<Vec<Record>>> {
    let labels = Labels::of_sources(Path::new(ROOT))?;
    let store = Mutex::new(Store::open(store)?);
    let keys: Vec<Vec<String>> =
        cases.iter().map(|case| case.runs.iter().map(|run| key(run, &labels)).collect()).collect();
    let missing = missing(cases, &keys, &lock(&store));
    run_all(&missing, &store, workers)?;
    let store = lock(&store);
    let of = |key: &String| store.get(key).cloned().unwrap_or_default();
    Ok(keys.iter().map(|keys| keys.iter().map(of).collect()).collect())
}

/// Runs without a record, each once.
fn missing<'a>(cases: &'a [Case], keys: &[Vec<String>], store: &Store) -> Vec<(String, &'a Run)> {
    let mut seen = HashSet::new();
    let runs = cases.iter().zip(keys).flat_map(|(case, keys)| keys.iter().cloned().zip(&case.runs));
    runs.filter(|(key, _)| store.get(key).is_none() && seen.insert(key.clone())).collect()
}

fn run_all(runs: &[(String, &Run)], store: &Mutex<Store>, workers: Option<usize>) -> io::Result<()> {
    let workers = workers.unwrap_or_else(|| available_parallelism().map_or(1, usize::from)).max(1);
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let failed = Mutex::new(None);
    scope(|threads| {
        for _ in 0..workers {
            threads.spawn(|| {
                while let Some((key, run)) = runs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let record = measure(&run.text);
                    if let Err(error) = lock(store).put(key.clone(), record) {
                        next.store(runs.len(), Ordering::Relaxed);
                        *lock(&failed) = Some(error);
                    }
                    let done = done.fetch_add(1, Ordering::Relaxed) + 1;
                    if done.is_multiple_of(20) || done == runs.len() {
                        eprintln!("{done} of {} runs", runs.len());
                    }
                }
            });
        }
    });
    failed.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
