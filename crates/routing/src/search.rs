//! Draws deployments until enough of them meet a condition.

use crate::condition::Condition;
use crate::deployment::{Deployment, End, Nodes};
use crate::error::RoutingError;
use crate::graph::Graph;
use crate::layout::Layout;
use crate::position::Position;
use crate::random::{Draws, positions};
use crate::shortest::TieRule;
use crate::sieve::Sieve;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc;

/// What is drawn and what is kept. A search finds the same deployments for any number of workers.
#[derive(Clone, PartialEq, Debug)]
pub struct Search {
    /// How nodes are scattered.
    pub layout: Layout,
    /// Nodes closer than this many metres hear each other.
    pub range: f64,
    /// The node that sends. By a name: its number.
    pub source: End,
    /// The node that receives; among the nodes that are not the source.
    pub destination: End,
    /// What a deployment must be.
    pub condition: Condition,
    /// How the greedy algorithms break ties, where the condition asks them.
    pub ties: TieRule,
    /// Seed of everything random.
    pub seed: u64,
}

/// How a search is carried out. Workers, flag and progress have no part in its result.
#[derive(Clone, Copy, Debug)]
pub struct Effort<'a> {
    /// The draw to begin with: one more than the last of an earlier search goes on where that ended.
    pub first: u64,
    /// Give up after so many draws; `None` for [`Layout::default_draws`].
    pub draws: Option<u64>,
    /// Threads that draw.
    pub workers: usize,
    /// Stop when this is set.
    pub stop: Option<&'a AtomicBool>,
    /// Where to say how far it is.
    pub progress: Option<&'a Progress>,
}

impl Default for Effort<'_> {
    fn default() -> Self {
        Self { first: 0, draws: None, workers: 1, stop: None, progress: None }
    }
}

/// How far a search is; it may be read while the search runs.
#[derive(Debug, Default)]
pub struct Progress {
    /// Deployments drawn.
    pub drawn: AtomicU64,
    /// Deployments found.
    pub found: AtomicU64,
    /// Draws after which it gives up.
    pub limit: AtomicU64,
}

/// What a search found.
#[derive(Clone, PartialEq, Debug)]
pub struct Found<T> {
    /// What was made of each deployment, in the order of the draws.
    pub items: Vec<T>,
    /// How many were drawn, up to the last one found.
    pub drawn: u64,
    /// How many of those were connected; with [`Condition::Any`] nobody looked, and it is 0.
    pub connected: u64,
}

/// Words of a chunk's positions, roughly: a millisecond of work.
const CHUNK: f64 = 65_536.0;

/// What became of one chunk of draws.
struct Chunk<T> {
    first: u64,
    draws: u64,
    /// The draws that were connected.
    connected: Vec<u64>,
    /// The draws that were kept, and what was made of them.
    kept: Vec<(u64, T)>,
}

impl Search {
    /// The papers' setting (000 §5.1, 003 §5.2): so many nodes uniform in 100 m × 100 m, a range of 20 m, the source
    /// nearest to (20, 50) and the destination nearest to (80, 50), connected.
    pub fn papers(nodes: usize, seed: u64) -> Self {
        Self {
            layout: Layout::Uniform { nodes, size: Position::new(100.0, 100.0) },
            range: 20.0,
            source: End::Nearest(Position::new(20.0, 50.0)),
            destination: End::Nearest(Position::new(80.0, 50.0)),
            condition: Condition::Connected,
            ties: TieRule::LowestNode,
            seed,
        }
    }

    /// Refuses what makes no sense.
    ///
    /// # Errors
    /// [`RoutingError::Setting`]: the layout's (see [`Layout::validate`]), `range`, `source`, `destination`.
    pub fn validate(&self) -> Result<(), RoutingError> {
        self.layout.validate()?;
        if !(self.range > 0.0 && self.range.is_finite()) {
            let message = format!("must be a positive number of metres, not {}", self.range);
            return Err(RoutingError::setting("range", message));
        }
        for (key, end) in [("source", &self.source), ("destination", &self.destination)] {
            self.validate_end(key, end)?;
        }
        if self.source == self.destination && matches!(self.source, End::Named(_)) {
            return Err(RoutingError::setting("destination", "is the source too"));
        }
        Ok(())
    }

    fn validate_end(&self, key: &'static str, end: &End) -> Result<(), RoutingError> {
        let nodes = match self.layout {
            // The number of nodes is random: what is too short is drawn again.
            Layout::Poisson { .. } => f64::INFINITY,
            Layout::Uniform { .. } | Layout::Grid { .. } => self.layout.mean_nodes(),
        };
        match end {
            End::Nearest(at) if !at.is_finite() => {
                Err(RoutingError::setting(key, format!("({}, {}) is no point", at.x, at.y)))
            }
            End::Named(name) if name.parse::<u32>().map_or(true, |number| f64::from(number) >= nodes) => {
                let message =
                    format!("there is no node {name}; the nodes are numbered from 0 to {}", nodes - 1.0);
                Err(RoutingError::setting(key, message))
            }
            End::Nearest(_) | End::Named(_) => Ok(()),
        }
    }

    /// Draws until `count` deployments meet the condition, and makes something of each.
    ///
    /// # Errors
    /// What [`Self::validate`] finds; [`RoutingError::Rare`] at the limit of draws; [`RoutingError::Interrupted`].
    pub fn run<T: Send>(
        &self,
        count: usize,
        effort: Effort<'_>,
        make: impl Fn(Deployment) -> T + Sync,
    ) -> Result<Found<T>, RoutingError> {
        self.validate()?;
        // Every draw of a grid without jitter is the first.
        let draws = effort.draws.unwrap_or_else(|| self.layout.default_draws());
        let draws = if self.layout.is_certain() { draws.min(count as u64) } else { draws };
        if let Some(progress) = effort.progress {
            progress.limit.store(draws, Ordering::Relaxed);
        }
        let limit = effort.first.saturating_add(draws);
        let size = ((CHUNK / self.layout.mean_nodes().max(1.0)) as u64).clamp(1, 4096);
        let (next, done) = (AtomicU64::new(effort.first), AtomicBool::new(count == 0));
        let stopped = || effort.stop.is_some_and(|stop| stop.load(Ordering::Relaxed));
        let mut gathered = Gathered::new(count, effort.first);
        std::thread::scope(|scope| {
            let (sender, receiver) = mpsc::sync_channel(2 * effort.workers.max(1));
            for _ in 0..effort.workers.max(1) {
                let (sender, mut worker) = (sender.clone(), Worker::new(self));
                let (next, done, make) = (&next, &done, &make);
                scope.spawn(move || {
                    while !done.load(Ordering::Relaxed) {
                        let first = next.fetch_add(size, Ordering::Relaxed);
                        let draws = size.min(limit.saturating_sub(first));
                        if draws == 0 || sender.send(worker.chunk(first, draws, make)).is_err() {
                            break;
                        }
                    }
                });
            }
            drop(sender);
            while let Ok(chunk) = receiver.recv() {
                let enough = gathered.insert(chunk);
                gathered.report(effort.progress);
                if enough || stopped() {
                    break;
                }
            }
            done.store(true, Ordering::Relaxed);
        });
        let found = gathered.found;
        match found.items.len() {
            enough if enough >= count => Ok(found),
            found_items if stopped() => {
                Err(RoutingError::Interrupted { found: found_items, drawn: found.drawn })
            }
            found_items => Err(RoutingError::Rare {
                condition: self.condition.name(),
                wanted: count,
                found: found_items,
                connected: found.connected,
                drawn: found.drawn,
            }),
        }
    }
}

impl<T> Found<T> {
    fn new() -> Self {
        Self { items: Vec::new(), drawn: 0, connected: 0 }
    }
}

/// Chunks put into the order of their draws.
struct Gathered<T> {
    wanted: usize,
    /// The search's first draw.
    first: u64,
    /// The first draw of the chunk that comes next.
    next: u64,
    waiting: BTreeMap<u64, Chunk<T>>,
    found: Found<T>,
}

impl<T> Gathered<T> {
    fn new(wanted: usize, first: u64) -> Self {
        Self { wanted, first, next: first, waiting: BTreeMap::new(), found: Found::new() }
    }

    /// Takes a chunk in; whether enough has been found.
    fn insert(&mut self, chunk: Chunk<T>) -> bool {
        self.waiting.insert(chunk.first, chunk);
        while self.found.items.len() < self.wanted
            && let Some(chunk) = self.waiting.remove(&self.next)
        {
            self.next += chunk.draws;
            self.append(chunk);
        }
        self.found.items.len() >= self.wanted
    }

    /// Appends what is wanted of the next chunk; after the last wanted one its draws count no more.
    fn append(&mut self, chunk: Chunk<T>) {
        let missing = self.wanted - self.found.items.len();
        let last = chunk.kept.get(missing - 1).map(|&(draw, _)| draw);
        self.found.drawn = last.map_or(chunk.first + chunk.draws, |draw| draw + 1) - self.first;
        let counted = chunk.connected.iter().filter(|&&draw| last.is_none_or(|last| draw <= last));
        self.found.connected += counted.count() as u64;
        self.found.items.extend(chunk.kept.into_iter().take(missing).map(|(_, item)| item));
    }

    fn report(&self, progress: Option<&Progress>) {
        if let Some(progress) = progress {
            progress.drawn.store(self.found.drawn, Ordering::Relaxed);
            progress.found.store(self.found.items.len() as u64, Ordering::Relaxed);
        }
    }
}

/// One thread's tools.
struct Worker<'a> {
    search: &'a Search,
    draws: Draws,
    words: Vec<u32>,
    /// For layouts whose positions are the words themselves.
    sieve: Option<Sieve>,
}

impl<'a> Worker<'a> {
    fn new(search: &'a Search) -> Self {
        let sieve = match search.layout {
            Layout::Uniform { nodes, size } if search.condition.wants_connected() => {
                Sieve::new(nodes, [size.x, size.y], search.range)
            }
            _ => None,
        };
        Self { search, draws: Draws::new(search.seed, "routing/deployments"), words: Vec::new(), sieve }
    }

    /// Draws so many from `first` on.
    fn chunk<T>(&mut self, first: u64, draws: u64, make: &impl Fn(Deployment) -> T) -> Chunk<T> {
        let mut chunk = Chunk { first, draws, connected: Vec::new(), kept: Vec::new() };
        let Search { condition, ties, seed, .. } = *self.search;
        for draw in first..first + draws {
            let Some(deployment) = self.draw(draw) else { continue };
            if condition.wants_connected() {
                chunk.connected.push(draw);
            }
            if condition.holds(&deployment, ties, seed) {
                chunk.kept.push((draw, make(deployment)));
            }
        }
        chunk
    }

    /// One draw, unless it is of no use.
    fn draw(&mut self, draw: u64) -> Option<Deployment> {
        self.draws.seek(draw);
        let positions = match (&mut self.sieve, self.search.layout) {
            (Some(sieve), Layout::Uniform { nodes, size }) => {
                self.words.resize(2 * nodes, 0);
                self.draws.fill(&mut self.words);
                if !sieve.passes(&self.words) {
                    return None;
                }
                positions(&self.words, size)
            }
            (_, layout) => layout.draw(&mut self.draws, &mut self.words),
        };
        let graph = Graph::disk(&positions, self.search.range);
        if self.search.condition.wants_connected() && !graph.is_connected() {
            return None;
        }
        self.deployment(draw, positions, graph)
    }

    /// With its ends; `None` when the draw has too few nodes for them.
    fn deployment(&self, draw: u64, positions: Vec<Position>, graph: Graph) -> Option<Deployment> {
        let nodes = Nodes { positions, range: Some(self.search.range), ..Nodes::default() };
        let made = Deployment::new(nodes, graph, &self.search.source, &self.search.destination);
        made.ok().map(|deployment| Deployment { draw, ..deployment })
    }
}

#[cfg(test)]
mod tests;
