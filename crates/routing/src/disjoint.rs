//! What the routes of a set may not share.

use std::str::FromStr;

/// What two routes of a set may not share.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Disjoint {
    /// No link (LD).
    Link,
    /// No node but source and destination, and no link (ND).
    Node,
    /// No node, and no node of one is a neighbour of a node of the other, source and destination excepted (ZD).
    Zone,
}

impl Disjoint {
    /// All three, the least restrictive first.
    pub const ALL: [Self; 3] = [Self::Link, Self::Node, Self::Zone];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Link => "link",
            Self::Node => "node",
            Self::Zone => "zone",
        }
    }
}

impl FromStr for Disjoint {
    type Err = crate::RoutingError;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        crate::names::pick("algorithm", name, &Self::ALL, Self::name)
    }
}
