//! Where stations are.

/// A point of the plane, in metres.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Position {
    /// To the right.
    pub x: f64,
    /// Upwards.
    pub y: f64,
}

impl Position {
    /// The point (x, y), in metres.
    pub const fn new(x: f64, y: f64) -> Self {
        Self { x, y }
    }

    /// The distance to another point, in metres.
    pub fn distance(self, other: Self) -> f64 {
        let (dx, dy) = (self.x - other.x, self.y - other.y);
        (dx * dx + dy * dy).sqrt()
    }

    /// The point at this fraction of the way to another: 0 is here, 1 is there.
    #[must_use]
    pub fn towards(self, other: Self, fraction: f64) -> Self {
        Self::new(self.x + (other.x - self.x) * fraction, self.y + (other.y - self.y) * fraction)
    }
}

/// The rectangle from (0, 0) to (width, height), in metres.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Area {
    /// Its extent in x.
    pub width: f64,
    /// Its extent in y.
    pub height: f64,
}

impl Area {
    /// The mean distance of two points drawn uniformly: of a unit square 0.5214.
    pub fn mean_distance(self) -> f64 {
        // Ghosh 1951, "Random distances within a rectangle and between two rectangles".
        let (a, b) = (self.width, self.height);
        let d = (a * a + b * b).sqrt();
        let polynomial =
            a * a * a / (b * b) + b * b * b / (a * a) + d * (3.0 - a * a / (b * b) - b * b / (a * a));
        let logarithms = b * b / a * libm::log((a + d) / b) + a * a / b * libm::log((b + d) / a);
        (polynomial + 2.5 * logarithms) / 15.0
    }

    /// Does the rectangle hold the point, its edges included?
    pub fn contains(self, point: Position) -> bool {
        (0.0..=self.width).contains(&point.x) && (0.0..=self.height).contains(&point.y)
    }
}
