//! What statistics need to know of one deployment's routes.

use crate::deployment::Deployment;
use crate::disjoint::Disjoint;
use crate::error::RoutingError;
use crate::names::pick;
use crate::route::Route;
use crate::shortest::TieRule;
use std::str::FromStr;

/// How a set of routes was found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Method {
    /// The papers' greedy algorithm.
    Greedy(Disjoint),
    /// The greatest set with the fewest hops; link- or node-disjoint.
    Optimal(Disjoint),
}

impl Method {
    /// The three greedy algorithms.
    pub const GREEDY: [Self; 3] =
        [Self::Greedy(Disjoint::Link), Self::Greedy(Disjoint::Node), Self::Greedy(Disjoint::Zone)];

    /// The optimal sets that can be found.
    pub const OPTIMAL: [Self; 2] = [Self::Optimal(Disjoint::Link), Self::Optimal(Disjoint::Node)];

    /// All of them: the greedy algorithms, then the optimal sets.
    pub const ALL: [Self; 5] =
        [Self::GREEDY[0], Self::GREEDY[1], Self::GREEDY[2], Self::OPTIMAL[0], Self::OPTIMAL[1]];

    /// Its name: `link`, `node`, `zone`, `optimal-link`, `optimal-node`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Greedy(disjoint) => disjoint.name(),
            Self::Optimal(Disjoint::Link) => "optimal-link",
            Self::Optimal(_) => "optimal-node",
        }
    }

    /// The routes that it finds in a deployment.
    ///
    /// # Errors
    /// [`RoutingError::Setting`]: as for [`Deployment::greedy`], and `algorithm` for the optimal zone-disjoint set.
    pub fn routes(
        self,
        deployment: &Deployment,
        ties: TieRule,
        seed: u64,
    ) -> Result<Vec<Route>, RoutingError> {
        match self {
            Self::Greedy(disjoint) => deployment.greedy(disjoint, ties, seed),
            Self::Optimal(Disjoint::Zone) => {
                Err(RoutingError::setting("algorithm", "there is no optimal zone-disjoint one"))
            }
            Self::Optimal(disjoint) => Ok(deployment.optimal(disjoint, usize::MAX)),
        }
    }
}

impl FromStr for Method {
    type Err = RoutingError;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        pick("algorithm", name, &Self::ALL, Self::name)
    }
}

/// Length of a set of routes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SetRecord {
    /// How it was found.
    pub method: Method,
    /// Number of routes.
    pub routes: u32,
    /// Hops of the first route; `None` when there is none.
    pub first: Option<u32>,
    /// Hops of the second route. Of an optimal method: of the pair with the fewest hops in total, the longer.
    pub second: Option<u32>,
    /// Hops of all routes.
    pub total: u32,
}

impl SetRecord {
    fn new(method: Method, routes: &[Route], pair: &[Route]) -> Self {
        Self {
            method,
            routes: routes.len() as u32,
            first: pair.first().map(Route::hops),
            second: pair.get(1).map(Route::hops),
            total: routes.iter().map(Route::hops).sum(),
        }
    }
}

/// Which sets of routes are looked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sets {
    /// Those of the greedy algorithms.
    Greedy,
    /// The greatest ones with the fewest hops too, which take longer.
    GreedyAndOptimal,
}

/// What statistics need to know of one deployment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Record {
    /// Which draw it was.
    pub draw: u64,
    /// Number of nodes.
    pub nodes: u32,
    /// Number of links.
    pub links: u32,
    /// The sets of routes: the greedy ones, then the optimal ones if they were asked for.
    pub sets: Vec<SetRecord>,
}

impl Record {
    /// Looks for all routes of a deployment.
    pub fn new(deployment: &Deployment, ties: TieRule, seed: u64, sets: Sets) -> Self {
        let greedy = Disjoint::ALL.map(|disjoint| {
            let routes = deployment.greedy_routes(disjoint, ties, seed, usize::MAX);
            SetRecord::new(Method::Greedy(disjoint), &routes, &routes)
        });
        let mut found = greedy.to_vec();
        if sets == Sets::GreedyAndOptimal {
            found.extend([Disjoint::Link, Disjoint::Node].map(|disjoint| {
                let routes = deployment.optimal(disjoint, usize::MAX);
                let pair = if routes.len() > 2 { deployment.optimal(disjoint, 2) } else { routes.clone() };
                SetRecord::new(Method::Optimal(disjoint), &routes, &pair)
            }));
        }
        Self {
            draw: deployment.draw,
            nodes: deployment.graph.nodes() as u32,
            links: deployment.graph.links().len() as u32,
            sets: found,
        }
    }
}
