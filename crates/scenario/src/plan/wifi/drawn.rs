//! The results of searches for a deployment, so that each is made once. Checking a scenario, running it, and running
//! each of its paths alone take the same deployment, which may be one in millions.

use crate::watch::Watch;
use ropewalk_routing::{Deployment, Effort, RoutingError, Search};
use std::sync::{Mutex, PoisonError};

/// Searches that are remembered.
const MOST: usize = 256;

/// Searches and the draws they came to, the latest at the end.
static ENDED: Mutex<Vec<(Search, u64)>> = Mutex::new(Vec::new());

/// The first deployment that the search comes to within so many draws, and its number, from 1.
pub(super) fn first(
    search: &Search,
    draws: u64,
    watch: &Watch<'_>,
) -> Result<(Deployment, u64), RoutingError> {
    let known = known(search).filter(|&draw| draw < draws);
    let (first, draws) = known.map_or((0, draws), |draw| (draw, 1));
    let effort = Effort { first, draws: Some(draws), workers: 1, stop: watch.stop, progress: watch.progress };
    let found = search.run(1, effort, |deployment| deployment)?;
    let drawn = first + found.drawn;
    let Some(deployment) = found.items.into_iter().next() else {
        return Err(RoutingError::Interrupted { found: 0, drawn });
    };
    if known.is_none() {
        remember(search, deployment.draw);
    }
    Ok((deployment, drawn))
}

fn known(search: &Search) -> Option<u64> {
    let ended = ENDED.lock().unwrap_or_else(PoisonError::into_inner);
    ended.iter().rev().find(|(known, _)| known == search).map(|&(_, draw)| draw)
}

fn remember(search: &Search, draw: u64) {
    let mut ended = ENDED.lock().unwrap_or_else(PoisonError::into_inner);
    if ended.len() >= MOST {
        ended.remove(0);
    }
    ended.push((search.clone(), draw));
}

#[cfg(test)]
mod tests {
    use super::*;
    use ropewalk_routing::Progress;
    use std::sync::atomic::Ordering;

    #[test]
    fn a_search_is_made_once_and_ends_where_it_did() {
        let search = Search::papers(32, 987_654_321);
        let progress = Progress::default();
        let watch = Watch { stop: None, progress: Some(&progress) };
        let (once, drawn) = first(&search, 1_000_000, &watch).expect("one in a hundred");
        assert_eq!(progress.limit.load(Ordering::Relaxed), 1_000_000);
        assert_eq!(progress.drawn.load(Ordering::Relaxed), drawn);
        assert!(drawn > 1, "another seed, please");
        let (again, number) = first(&search, 1_000_000, &watch).expect("as before");
        assert_eq!((again, number), (once, drawn));
        assert_eq!(progress.drawn.load(Ordering::Relaxed), 1, "nothing else was drawn");
        let limited = first(&search, drawn - 1, &watch);
        assert!(matches!(limited, Err(RoutingError::Rare { .. })), "a limit holds whatever is known");
    }
}
