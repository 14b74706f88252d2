//! Where a node is.

use serde::{Deserialize, Serialize};

/// A point of the plane, in metres.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Position {
    /// Eastward, in metres.
    #[serde(rename = "x_m")]
    pub x: f64,
    /// Northward, in metres.
    #[serde(rename = "y_m")]
    pub y: f64,
}

impl Position {
    /// The point at these metres.
    pub const fn new(x: f64, y: f64) -> Self {
        Self { x, y }
    }

    /// Square of the distance to another point, in square metres: what comparisons need.
    pub fn distance_squared(self, other: Self) -> f64 {
        let (dx, dy) = (self.x - other.x, self.y - other.y);
        dx * dx + dy * dy
    }

    /// Distance to another point, in metres.
    pub fn distance(self, other: Self) -> f64 {
        self.distance_squared(other).sqrt()
    }

    /// Whether both coordinates are numbers.
    pub fn is_finite(self) -> bool {
        self.x.is_finite() && self.y.is_finite()
    }
}

/// The point nearest to `reference`; of equally near ones the first. `taken` is passed over.
pub(crate) fn nearest(positions: &[Position], reference: Position, taken: Option<u32>) -> Option<u32> {
    let mut best: Option<(f64, u32)> = None;
    for (node, position) in (0u32..).zip(positions) {
        let distance = position.distance_squared(reference);
        if Some(node) != taken && best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, node));
        }
    }
    best.map(|(_, node)| node)
}
