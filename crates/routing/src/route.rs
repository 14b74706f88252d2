//! A route.

use serde::Serialize;

/// A route: its nodes from source to destination.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Hash, Serialize)]
#[serde(transparent)]
pub struct Route {
    /// The nodes in order, source and destination included.
    pub nodes: Vec<u32>,
}

impl Route {
    /// Number of links.
    pub fn hops(&self) -> u32 {
        self.nodes.len() as u32 - 1
    }

    /// The nodes between source and destination.
    pub fn intermediate(&self) -> &[u32] {
        self.nodes.get(1..self.nodes.len().saturating_sub(1)).unwrap_or(&[])
    }

    /// The links in order, each from the sender to the receiver.
    pub fn links(&self) -> impl Iterator<Item = (u32, u32)> {
        self.nodes.windows(2).map(|pair| (pair[0], pair[1]))
    }
}
