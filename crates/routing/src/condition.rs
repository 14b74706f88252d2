//! What a drawn deployment must be to be kept.

use crate::deployment::Deployment;
use crate::disjoint::Disjoint;
use crate::shortest::TieRule;
use std::str::FromStr;

/// A named condition.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Condition {
    /// None: whatever is drawn, if it has two nodes.
    Any,
    /// Every node can reach every other (papers 000 §5.1, 003 §5.2).
    #[default]
    Connected,
    /// Connected, and the greedy link-disjoint algorithm finds two routes.
    LinkMultipath,
    /// Connected, and the greedy node-disjoint algorithm finds two routes.
    NodeMultipath,
    /// Connected, and the greedy zone-disjoint algorithm finds two routes.
    ZoneMultipath,
    /// Connected, and all three greedy algorithms find two routes (000 Fig. 4, 003 Fig. 8).
    AllMultipath,
}

impl Condition {
    /// All conditions.
    pub const ALL: [Self; 6] = [
        Self::Any,
        Self::Connected,
        Self::LinkMultipath,
        Self::NodeMultipath,
        Self::ZoneMultipath,
        Self::AllMultipath,
    ];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Any => "any",
            Self::Connected => "connected",
            Self::LinkMultipath => "link-multipath",
            Self::NodeMultipath => "node-multipath",
            Self::ZoneMultipath => "zone-multipath",
            Self::AllMultipath => "all-multipath",
        }
    }

    /// The algorithms that must find two routes, the one that fails most often first.
    fn multipath(self) -> &'static [Disjoint] {
        match self {
            Self::Any | Self::Connected => &[],
            Self::LinkMultipath => &[Disjoint::Link],
            Self::NodeMultipath => &[Disjoint::Node],
            Self::ZoneMultipath => &[Disjoint::Zone],
            Self::AllMultipath => &[Disjoint::Zone, Disjoint::Node, Disjoint::Link],
        }
    }

    /// Whether a deployment that may be disconnected is of no use.
    pub(crate) fn wants_connected(self) -> bool {
        self != Self::Any
    }

    /// Whether a deployment that is connected, if it has to be, is to be kept.
    pub(crate) fn holds(self, deployment: &Deployment, ties: TieRule, seed: u64) -> bool {
        self.multipath().iter().all(|&disjoint| deployment.greedy_routes(disjoint, ties, seed, 2).len() == 2)
    }
}

impl FromStr for Condition {
    type Err = crate::RoutingError;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        crate::names::pick("condition", name, &Self::ALL, Self::name)
    }
}
