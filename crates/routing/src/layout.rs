//! How nodes are scattered.

use crate::error::RoutingError;
use crate::position::Position;
use crate::random::Draws;

/// A law by which nodes are placed in a rectangle whose corner is the origin.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Layout {
    /// So many nodes, independent and uniform.
    Uniform {
        /// How many.
        nodes: usize,
        /// Width and height of the rectangle, in metres.
        size: Position,
    },
    /// A Poisson process: the number of nodes is random too.
    Poisson {
        /// Mean number of nodes per square metre.
        intensity: f64,
        /// Width and height of the rectangle, in metres.
        size: Position,
    },
    /// One node per cell of a grid, row by row, each moved by chance.
    Grid {
        /// Cells side by side.
        columns: usize,
        /// Cells above one another.
        rows: usize,
        /// Width and height of the rectangle, in metres.
        size: Position,
        /// How far a node may be from the middle of its cell, in each axis: 0 not at all, 1 to the cell's border.
        jitter: f64,
    },
}

impl Layout {
    /// Width and height of the rectangle, in metres.
    pub fn size(&self) -> Position {
        match *self {
            Self::Uniform { size, .. } | Self::Poisson { size, .. } | Self::Grid { size, .. } => size,
        }
    }

    /// Expected number of nodes.
    pub fn mean_nodes(&self) -> f64 {
        match *self {
            Self::Uniform { nodes, .. } => nodes as f64,
            Self::Poisson { intensity, size } => intensity * size.x * size.y,
            Self::Grid { columns, rows, .. } => columns as f64 * rows as f64,
        }
    }

    /// After how many draws a search gives up unless it is told: what takes about a minute on a core. A hundred million up
    /// to 64 nodes, of which a fraction of a microsecond tells most disconnected ones; 500 million through the number of
    /// nodes beyond.
    pub fn default_draws(&self) -> u64 {
        const SIEVED: f64 = 64.0;
        let nodes = self.mean_nodes();
        if nodes <= SIEVED { 100_000_000 } else { (500_000_000.0 / nodes).max(1.0) as u64 }
    }

    /// Whether all draws are alike.
    pub(crate) fn is_certain(&self) -> bool {
        matches!(self, Self::Grid { jitter, .. } if *jitter <= 0.0)
    }

    /// Refuses what cannot be drawn.
    ///
    /// # Errors
    /// [`RoutingError::Setting`] with the key `area`, `nodes`, `intensity`, `grid` or `jitter`.
    pub fn validate(&self) -> Result<(), RoutingError> {
        let size = self.size();
        if !(size.is_finite() && size.x > 0.0 && size.y > 0.0) {
            let message = format!("width and height must be positive, not {} m by {} m", size.x, size.y);
            return Err(RoutingError::setting("area", message));
        }
        match *self {
            Self::Uniform { nodes, .. } => enough("nodes", nodes as f64),
            Self::Poisson { intensity, .. } if !(intensity > 0.0 && intensity.is_finite()) => {
                let message = format!("nodes per square metre must be positive, not {intensity}");
                Err(RoutingError::setting("intensity", message))
            }
            Self::Poisson { .. } => few_enough("intensity", self.mean_nodes()),
            Self::Grid { jitter, .. } if !(0.0..=1.0).contains(&jitter) => {
                Err(RoutingError::setting("jitter", format!("must be from 0 to 1, not {jitter}")))
            }
            Self::Grid { .. } => enough("grid", self.mean_nodes()),
        }
    }

    /// The positions of one draw; `draws` stands at its beginning.
    pub(crate) fn draw(&self, draws: &mut Draws, words: &mut Vec<u32>) -> Vec<Position> {
        match *self {
            Self::Uniform { nodes, size } => draws.positions(words, nodes, size),
            Self::Poisson { size, .. } => {
                let nodes = draws.poisson(self.mean_nodes());
                draws.positions(words, nodes, size)
            }
            Self::Grid { columns, rows, size, jitter } => {
                let cell = Position::new(size.x / columns as f64, size.y / rows as f64);
                let mut positions = draws.positions(words, columns * rows, cell);
                for (index, position) in positions.iter_mut().enumerate() {
                    let (column, row) = (index % columns, index / columns);
                    let at = |side: f64, index: usize, moved: f64| {
                        side * index as f64 + side * 0.5 + jitter * (moved - side * 0.5)
                    };
                    *position = Position::new(at(cell.x, column, position.x), at(cell.y, row, position.y));
                }
                positions
            }
        }
    }
}

/// More nodes than any memory has room for are a mistake.
const MOST_NODES: f64 = 1e8;

fn enough(key: &'static str, nodes: f64) -> Result<(), RoutingError> {
    if nodes < 2.0 {
        let message = format!("a route needs a source and a destination: at least 2 nodes, not {nodes}");
        return Err(RoutingError::setting(key, message));
    }
    few_enough(key, nodes)
}

fn few_enough(key: &'static str, nodes: f64) -> Result<(), RoutingError> {
    if nodes > MOST_NODES {
        return Err(RoutingError::setting(key, format!("at most {MOST_NODES:e} nodes, not {nodes:e}")));
    }
    Ok(())
}
