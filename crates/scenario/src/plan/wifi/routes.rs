//! Routes: over named stations, or found among all of them.

mod metric;

use super::WifiPlan;
use super::error::WifiError;
use crate::error::ScenarioError;
use crate::plan::NodePlan;
use crate::plan::context::{Context, both, every};
use crate::schema::quantity::Name;
use crate::schema::wifi::{AlgorithmName, FindKeys, MetricName, WifiTable, WirelessRouteTable};
use ropewalk_routing::{Deployment, Disjoint, End, Graph, Metric, Nodes, Route, TieRule};
use ropewalk_wifi::{Network, RouteConfig, StationId};

/// A wireless route.
#[derive(Clone, PartialEq, Debug)]
pub struct WirelessRoutePlan {
    /// Its name, and that of its link.
    pub name: String,
    /// The station at which it begins, a host or router.
    pub from: String,
    /// The station at which it ends, a host or router.
    pub to: String,
    /// The stations between.
    pub way: WayPlan,
    /// The channel of each hop; a single one holds for all. None when they are found with the stations.
    pub channels: Vec<u8>,
}

/// The stations of a route between its ends.
#[derive(Clone, PartialEq, Debug)]
pub enum WayPlan {
    /// These.
    Via(Vec<String>),
    /// They are found.
    Find(FindPlan),
}

/// How a route is found.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct FindPlan {
    /// Which set it is of.
    pub algorithm: Algorithm,
    /// Which of the set, from 0.
    pub number: u32,
    /// Which of several routes with equally few hops is taken.
    pub ties: TieRule,
    /// By what routes are chosen.
    pub metric: FindMetric,
}

/// By what a route is chosen.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum FindMetric {
    /// The fewest hops.
    Hops,
    /// The least sum of ETT.
    Ett,
    /// The least WCETT.
    Wcett {
        /// The weight of the busiest channel.
        beta: f64,
    },
    /// The least MIC, where keeping a channel costs 1.
    Mic {
        /// What a change costs.
        switches: f64,
    },
}

/// A set of routes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Algorithm {
    /// One with the fewest hops.
    Shortest,
    /// What a greedy algorithm finds.
    Greedy(Disjoint),
    /// The greatest set with the fewest hops, or the least sum of ETT.
    Optimal(Disjoint),
}

impl Algorithm {
    /// Its name in words.
    pub fn describe(self) -> String {
        match self {
            Self::Shortest => "shortest".to_owned(),
            Self::Greedy(disjoint) => format!("{}-disjoint", disjoint.name()),
            Self::Optimal(disjoint) => format!("optimal {}-disjoint", disjoint.name()),
        }
    }
}

/// No station has the name.
pub(super) fn unknown(context: &Context<'_>, plan: &WifiPlan, key: &str, name: &Name) -> ScenarioError {
    let mut known: Vec<&str> = plan.stations.iter().map(|station| station.name.as_str()).collect();
    if let Some(deployment) = &plan.deployment {
        known.extend([deployment.keys.source.node.as_str(), deployment.keys.destination.node.as_str()]);
    }
    context.unknown(key, "station", name.as_str(), known)
}

pub(super) fn routes(
    context: &Context<'_>,
    plan: &WifiPlan,
    table: &WifiTable,
    nodes: &[NodePlan],
) -> Result<Vec<WirelessRoutePlan>, ScenarioError> {
    let routes = table.routes.iter();
    every(routes.map(|(name, table)| Draft { context, plan, nodes, table, name: name.as_str() }.route()))
}

struct Draft<'a> {
    context: &'a Context<'a>,
    plan: &'a WifiPlan,
    nodes: &'a [NodePlan],
    table: &'a WirelessRouteTable,
    name: &'a str,
}

impl Draft<'_> {
    fn key(&self, part: &str) -> String {
        format!("wifi.routes.{}.{part}", self.name)
    }

    fn route(&self) -> Result<WirelessRoutePlan, ScenarioError> {
        let (from, to) = both(self.end("from", &self.table.from), self.end("to", &self.table.to))?;
        if self.table.from == self.table.to {
            let message = format!("this route joins `{}` with itself", self.table.from.as_str());
            return Err(self.context.wrong(&self.key("to"), message, "two different stations"));
        }
        let way = self.way()?;
        let channels = self.channels(from, to, &way)?;
        Ok(WirelessRoutePlan {
            name: self.name.to_owned(),
            from: self.table.from.0.clone(),
            to: self.table.to.0.clone(),
            way,
            channels,
        })
    }

    /// The channels of an end.
    fn end(&self, key: &str, name: &Name) -> Result<&[u8], ScenarioError> {
        let key = self.key(key);
        let channels = self.plan.channels_of(name.as_str());
        let channels = channels.ok_or_else(|| unknown(self.context, self.plan, &key, name))?;
        if !self.nodes.iter().any(|node| node.name == name.as_str()) {
            let message = format!("the station `{}` is no host or router: it only relays", name.as_str());
            let known: Vec<&str> = self.nodes.iter().map(|node| node.name.as_str()).collect();
            return Err(self.context.document.name_error(&key, name.as_str(), message, known));
        }
        Ok(channels)
    }

    fn way(&self) -> Result<WayPlan, ScenarioError> {
        match (&self.table.via, &self.table.find) {
            (Some(_), Some(_)) => {
                let message = "a route has `via` or `find`, not both";
                Err(self.context.misplaced(&self.key("find"), message, "one of the two"))
            }
            (None, Some(find)) => self.find(&find.read()).map(WayPlan::Find),
            (via, None) => {
                let names = via.as_deref().unwrap_or_default();
                for (index, name) in names.iter().enumerate() {
                    let key = self.key(&format!("via[{index}]"));
                    if self.plan.channels_of(name.as_str()).is_none() {
                        return Err(unknown(self.context, self.plan, &key, name));
                    }
                    let is_end = *name == self.table.from || *name == self.table.to;
                    if is_end || names[..index].contains(name) {
                        let message = format!("the route passes `{}` twice", name.as_str());
                        return Err(self.context.wrong(
                            &key,
                            message,
                            "each station once, the ends left out",
                        ));
                    }
                }
                Ok(WayPlan::Via(names.iter().map(|name| name.0.clone()).collect()))
            }
        }
    }

    fn find(&self, keys: &FindKeys) -> Result<FindPlan, ScenarioError> {
        let algorithm = match keys.algorithm {
            AlgorithmName::Shortest => Algorithm::Shortest,
            AlgorithmName::LinkDisjoint => Algorithm::Greedy(Disjoint::Link),
            AlgorithmName::NodeDisjoint => Algorithm::Greedy(Disjoint::Node),
            AlgorithmName::ZoneDisjoint => Algorithm::Greedy(Disjoint::Zone),
            AlgorithmName::OptimalLinkDisjoint => Algorithm::Optimal(Disjoint::Link),
            AlgorithmName::OptimalNodeDisjoint => Algorithm::Optimal(Disjoint::Node),
        };
        let number = keys.number;
        let most = if algorithm == Algorithm::Shortest { 1 } else { u32::MAX };
        if !(1..=most).contains(&number) {
            let expected = if most == 1 { "1: there is one shortest route" } else { "a number from 1" };
            let message = format!("there is no {} route {number}", algorithm.describe());
            return Err(self.context.wrong(&self.key("find.number"), message, expected));
        }
        Ok(FindPlan { algorithm, number: number - 1, ties: keys.ties, metric: self.metric(keys, algorithm)? })
    }

    fn metric(&self, keys: &FindKeys, algorithm: Algorithm) -> Result<FindMetric, ScenarioError> {
        let name = keys.metric;
        for (key, given, of) in [
            ("find.beta", keys.beta, MetricName::Wcett),
            ("find.switch_cost", keys.switch_cost, MetricName::Mic),
        ] {
            if given.is_some() && name != of {
                let (message, expected) = match of {
                    MetricName::Wcett => ("it belongs to WCETT", "`metric = \"wcett\"`"),
                    _ => ("it belongs to MIC", "`metric = \"mic\"`"),
                };
                return Err(self.context.misplaced(&self.key(key), message, expected));
            }
            // w2 > w1: a change costs less than no change, which costs 1.
            let is_right = |cost: f64| (0.0..=1.0).contains(&cost) && (of == MetricName::Wcett || cost < 1.0);
            if let Some(wrong) = given.filter(|&cost| !is_right(cost)) {
                let expected =
                    if of == MetricName::Wcett { "a number from 0 to 1" } else { "at least 0, less than 1" };
                return Err(self.context.wrong(
                    &self.key(key),
                    format!("{wrong} does not fit here"),
                    expected,
                ));
            }
        }
        if name != MetricName::Hops {
            let metric = match name {
                MetricName::Hops => Metric::Hops,
                MetricName::Ett => Metric::Ett,
                MetricName::Wcett => Metric::Wcett,
                MetricName::Mic => Metric::Mic,
            };
            if let (Algorithm::Optimal(_), Some(why)) = (algorithm, metric.no_optimum()) {
                let message = format!("no set of {} routes is the best: {why}", algorithm.describe());
                let expected = "\"hops\" or \"ett\", which are sums, or another `algorithm`";
                return Err(self.context.wrong(&self.key("find.metric"), message, expected));
            }
            if keys.ties != TieRule::LowestNode {
                let message = "by a metric, of equally good routes that with the fewest hops, then the lowest stations is taken";
                return Err(self.context.wrong(
                    &self.key("find.ties"),
                    message,
                    "\"lowest-node\", or no key `ties`",
                ));
            }
        }
        Ok(match name {
            MetricName::Hops => FindMetric::Hops,
            MetricName::Ett => FindMetric::Ett,
            MetricName::Wcett => FindMetric::Wcett { beta: keys.beta.unwrap_or(0.5) },
            MetricName::Mic => FindMetric::Mic { switches: keys.switch_cost.unwrap_or(0.5) },
        })
    }

    fn channels(&self, from: &[u8], to: &[u8], way: &WayPlan) -> Result<Vec<u8>, ScenarioError> {
        match (&self.table.channels, self.table.channel, way) {
            (Some(_), Some(_), _) => {
                let message = "a route has `channel` or `channels`, not both";
                Err(self.context.misplaced(&self.key("channels"), message, "one of the two"))
            }
            (Some(_), None, WayPlan::Find(_)) => {
                let message = "a route that is found has one channel";
                Err(self.context.misplaced(&self.key("channels"), message, "the key `channel`"))
            }
            (Some(channels), None, WayPlan::Via(via)) => {
                if channels.len() != via.len() + 1 {
                    let message = format!("{} channels for {} hops", channels.len(), via.len() + 1);
                    return Err(self.context.wrong(&self.key("channels"), message, "one for each hop"));
                }
                Ok(channels.clone())
            }
            (None, Some(channel), _) => Ok(vec![channel]),
            (None, None, WayPlan::Find(find)) if find.metric != FindMetric::Hops => Ok(Vec::new()),
            (None, None, _) => {
                let common = from.iter().copied().find(|channel| to.contains(channel));
                common.map(|channel| vec![channel]).ok_or_else(|| {
                    let message = "its ends have no radios on a common channel";
                    self.context.wrong(&self.key("to"), message, "radios on one channel, or `channels`")
                })
            }
        }
    }
}

impl WirelessRoutePlan {
    /// The route over a network as it stands; `seed` breaks ties that are broken by chance.
    ///
    /// # Errors
    /// When a station of it does not exist, or there is no such route now.
    pub fn resolve(&self, network: &Network, seed: u64) -> Result<RouteConfig, WifiError> {
        let key = |part: &str| format!("wifi.routes.{}{part}", self.name);
        let station = |name: &str, part: &str| {
            let missing = || WifiError::new(key(part), format!("there is no station `{name}`"), "a station");
            network.station(name).ok_or_else(missing)
        };
        let (from, to) = (station(&self.from, ".from")?, station(&self.to, ".to")?);
        let (stations, channels) = match &self.way {
            WayPlan::Via(names) => {
                let via: Result<Vec<StationId>, _> = names.iter().map(|name| station(name, ".via")).collect();
                (std::iter::once(from).chain(via?).chain([to]).collect(), self.channels.clone())
            }
            WayPlan::Find(find) => {
                let found = find.run(network, [from, to], self.channels.first().copied(), seed);
                found.map_err(|(message, expected)| WifiError::new(key(".find"), message, expected))?
            }
        };
        self.check_channels(network, &stations)?;
        Ok(RouteConfig { stations, channels })
    }

    /// Does every station have the radios it needs?
    fn check_channels(&self, network: &Network, stations: &[StationId]) -> Result<(), WifiError> {
        for (hop, pair) in stations.windows(2).enumerate() {
            let (part, channel) = match self.channels.as_slice() {
                // Found on the stations' own channels.
                [] => return Ok(()),
                [only] => ("channel".to_owned(), *only),
                several => (format!("channels[{hop}]"), several[hop]),
            };
            for &station in pair {
                if !network.channels(station).any(|own| own == channel) {
                    let message =
                        format!("the station `{}` has no radio on channel {channel}", network.name(station));
                    let own: Vec<String> = network.channels(station).map(|own| own.to_string()).collect();
                    let key = format!("wifi.routes.{}.{part}", self.name);
                    return Err(WifiError::new(
                        key,
                        message,
                        format!("one of its channels: {}", own.join(", ")),
                    ));
                }
            }
        }
        Ok(())
    }
}

/// What is wrong, and what would have been right.
type Missing = (String, &'static str);

/// Stations and the channel of each hop; a single one holds for all.
type Way = (Vec<StationId>, Vec<u8>);

impl FindPlan {
    /// The set in words, and by which metric.
    pub fn describe(&self) -> String {
        let set = self.algorithm.describe();
        match self.metric {
            FindMetric::Hops => set,
            FindMetric::Ett => format!("{set} by ETT,"),
            FindMetric::Wcett { beta } => format!("{set} by WCETT, beta {beta},"),
            FindMetric::Mic { switches } => format!("{set} by MIC, switch cost {switches},"),
        }
    }

    fn run(
        &self,
        network: &Network,
        ends: [StationId; 2],
        channel: Option<u8>,
        seed: u64,
    ) -> Result<Way, Missing> {
        let expected = "another seed, a smaller number, or a `[wifi.deployment]` with `until`";
        let routes = match (self.metric, channel) {
            (FindMetric::Hops, Some(channel)) => self.by_hops(network, ends, channel, seed),
            _ => metric::routes(self, network, ends, channel),
        };
        let mut routes = routes.map_err(|message| (message, expected))?;
        if (self.number as usize) < routes.len() {
            return Ok(routes.swap_remove(self.number as usize));
        }
        let (kind, [from, to]) = (self.algorithm.describe(), ends.map(|end| network.name(end)));
        let count = match routes.len() {
            0 => "no route".to_owned(),
            1 => format!("only one {kind} route"),
            count => format!("only {count} {kind} routes"),
        };
        let on = channel.map_or_else(String::new, |channel| format!(" on channel {channel}"));
        Err((format!("there is {count} from `{from}` to `{to}`{on}"), expected))
    }

    fn by_hops(
        &self,
        network: &Network,
        ends: [StationId; 2],
        channel: u8,
        seed: u64,
    ) -> Result<Vec<Way>, String> {
        let deployment = graph(network, ends, channel)?;
        let stations = |route: Route| route.nodes.into_iter().map(StationId).collect();
        let routes = self.routes(&deployment, seed)?.into_iter();
        Ok(routes.map(|route| (stations(route), vec![channel])).collect())
    }

    fn routes(&self, deployment: &Deployment, seed: u64) -> Result<Vec<Route>, String> {
        match self.algorithm {
            Algorithm::Shortest => deployment.greedy(Disjoint::Link, self.ties, seed),
            Algorithm::Greedy(disjoint) => deployment.greedy(disjoint, self.ties, seed),
            Algorithm::Optimal(disjoint) => Ok(deployment.optimal(disjoint, usize::MAX)),
        }
        .map_err(|error| error.to_string())
    }
}

/// Who reaches whom, both ways, on a channel.
fn graph(network: &Network, ends: [StationId; 2], channel: u8) -> Result<Deployment, String> {
    let all = 0..network.stations();
    let reach = |a: u32, b: u32| network.reaches(StationId(a), StationId(b), channel);
    let links: Vec<(u32, u32)> = all
        .clone()
        .flat_map(|a| (a + 1..network.stations()).map(move |b| (a, b)))
        .filter(|&(a, b)| reach(a, b) && reach(b, a))
        .collect();
    let positions = all.clone().map(|station| network.position(StationId(station)));
    let nodes = Nodes {
        names: all.map(|station| network.name(StationId(station)).to_owned()).collect(),
        positions: positions.map(|at| ropewalk_routing::Position::new(at.x, at.y)).collect(),
        ..Nodes::default()
    };
    let [source, destination] = ends.map(|end| End::Named(network.name(end).to_owned()));
    let graph = Graph::from_links(network.stations() as usize, &links);
    Deployment::new(nodes, graph, &source, &destination).map_err(|error| error.to_string())
}
