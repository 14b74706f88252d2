//! Two connections joined by a channel: properties and physics.

mod pair;
mod physics;
mod properties;
