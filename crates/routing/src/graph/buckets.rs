//! Nodes sorted into square cells, so that a node's neighbours are looked for nearby only.

use crate::position::Position;

/// Nodes by cell, row by row.
pub(super) struct Buckets<'a> {
    positions: &'a [Position],
    corner: Position,
    /// Side of a cell in metres: at least the range.
    side: f64,
    columns: usize,
    rows: usize,
    /// Where each cell's nodes begin, and the end of the last.
    starts: Vec<u32>,
    /// The nodes, cell by cell, ascending within each.
    nodes: Vec<u32>,
}

impl<'a> Buckets<'a> {
    /// Sorts nodes into cells of at least `range` metres, of which there are about as many as nodes at most.
    pub(super) fn new(positions: &'a [Position], range: f64) -> Self {
        let bound = |pick: fn(f64, f64) -> f64, start: f64| {
            positions.iter().fold(Position::new(start, start), |bound, at| {
                Position::new(pick(bound.x, at.x), pick(bound.y, at.y))
            })
        };
        let (corner, far) = (bound(f64::min, f64::INFINITY), bound(f64::max, f64::NEG_INFINITY));
        let extent = (far.x - corner.x).max(far.y - corner.y);
        let side = range.max(extent / (positions.len() as f64).sqrt().max(1.0));
        let cells = |length: f64| (length / side) as usize + 1;
        let (columns, rows) = (cells(far.x - corner.x), cells(far.y - corner.y));
        let starts = vec![0; columns * rows + 1];
        let mut buckets = Self { positions, corner, side, columns, rows, starts, nodes: Vec::new() };
        buckets.sort();
        buckets
    }

    /// Counting sort by cell.
    fn sort(&mut self) {
        for &position in self.positions {
            let cell = self.cell(position);
            self.starts[cell + 1] += 1;
        }
        for cell in 1..self.starts.len() {
            self.starts[cell] += self.starts[cell - 1];
        }
        let mut next = self.starts.clone();
        self.nodes = vec![0; self.positions.len()];
        for (node, &position) in (0u32..).zip(self.positions) {
            let slot = &mut next[self.cell(position)];
            self.nodes[*slot as usize] = node;
            *slot += 1;
        }
    }

    fn place(&self, position: Position) -> (usize, usize) {
        let index = |metres: f64, most: usize| ((metres / self.side) as usize).min(most - 1);
        (index(position.x - self.corner.x, self.columns), index(position.y - self.corner.y, self.rows))
    }

    fn cell(&self, position: Position) -> usize {
        let (column, row) = self.place(position);
        row * self.columns + column
    }

    /// All pairs (lower, higher) closer than `range`, ascending.
    pub(super) fn pairs(&self, range: f64, pairs: &mut Vec<(u32, u32)>) {
        let limit = range * range;
        for (node, &position) in (0u32..).zip(self.positions) {
            let first = pairs.len();
            let (column, row) = self.place(position);
            for row in row.saturating_sub(1)..(row + 2).min(self.rows) {
                // The three cells of a row lie one after the other.
                let from = self.starts[row * self.columns + column.saturating_sub(1)];
                let to = self.starts[row * self.columns + (column + 2).min(self.columns)];
                for &other in &self.nodes[from as usize..to as usize] {
                    if other > node && position.distance_squared(self.positions[other as usize]) < limit {
                        pairs.push((node, other));
                    }
                }
            }
            pairs[first..].sort_unstable();
        }
    }
}
