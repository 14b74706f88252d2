//! Routes by a metric, each hop on a channel of its own.

use super::{Algorithm, FindMetric, FindPlan, Way};
use ropewalk_routing::metrics::{MicSetting, ett, etx};
use ropewalk_routing::{ChannelGraph, ChannelRoute, Criterion, Disjoint, Graph, optimal_routes_by};
use ropewalk_wifi::phy::Rate;
use ropewalk_wifi::{Network, StationId};

/// The packet that ETT is about.
const OCTETS: u32 = 1500;

/// The routes of a set, chosen by its metric; over one channel, or any.
pub(super) fn routes(
    find: &FindPlan,
    network: &Network,
    [from, to]: [StationId; 2],
    channel: Option<u8>,
) -> Result<Vec<Way>, String> {
    let channels = channels(network, channel);
    let time = |a: u32, b: u32, channel: u8| expected_time(network, [StationId(a), StationId(b)], channel);
    let all = 0..network.stations();
    let pairs = all.flat_map(|a| (a + 1..network.stations()).map(move |b| (a, b)));
    let is_link = |&(a, b): &(u32, u32)| channels.iter().any(|&channel| time(a, b, channel).is_some());
    let links: Vec<_> = pairs.filter(is_link).collect();
    let graph = Graph::from_links(network.stations() as usize, &links);
    let weigh = |a, b, channel| {
        let channel = channel as u8;
        time(a, b, channel).map(|time| (time, disturbed(network, [a, b], channel)))
    };
    let over = ChannelGraph::new(&graph, channels.iter().map(|&channel| u32::from(channel)), weigh);
    let criterion = criterion(find.metric, network, &over);
    let most = find.number as usize + 1;
    let found = match find.algorithm {
        Algorithm::Optimal(disjoint) => {
            let cost = |a, b| over.ett(a, b);
            let routes = optimal_routes_by(&graph, (from.0, to.0), disjoint, usize::MAX, cost);
            routes.iter().filter_map(|route| over.assign(route, criterion).transpose()).collect()
        }
        Algorithm::Shortest => over.routes((from.0, to.0), Disjoint::Link, criterion, |_| None, most),
        Algorithm::Greedy(disjoint) => over.routes((from.0, to.0), disjoint, criterion, |_| None, most),
    };
    Ok(found.map_err(|error| error.to_string())?.into_iter().map(way).collect())
}

fn criterion(metric: FindMetric, network: &Network, over: &ChannelGraph<'_>) -> Criterion {
    match metric {
        FindMetric::Mic { switches } => Criterion::Mic(MicSetting {
            nodes: network.stations(),
            // Without a link there is no route to judge.
            least_ett: over.least_ett().unwrap_or(1.0),
            switches,
            stays: 1.0,
        }),
        FindMetric::Wcett { beta } => Criterion::Wcett { beta },
        FindMetric::Hops | FindMetric::Ett => Criterion::Wcett { beta: 0.0 },
    }
}

/// ETT of the link between two stations that reach each other. It follows from the rate that both receive and from
/// the long-run losses by errors in each direction, as probes would measure them.
fn expected_time(network: &Network, [a, b]: [StationId; 2], channel: u8) -> Option<f64> {
    let rates = [network.best_rate(a, b, channel)?, network.best_rate(b, a, channel)?];
    let rate = rates.map(Rate::bits_per_sec).into_iter().min()?;
    let arrives = |from, to| 1.0 - network.mean_loss(from, to, channel, OCTETS);
    let time = ett(etx(arrives(a, b), arrives(b, a)), OCTETS, rate as f64);
    time.is_finite().then_some(time)
}

/// The channels of all stations, or the one that is wanted.
fn channels(network: &Network, only: Option<u8>) -> Vec<u8> {
    let all = (0..network.stations()).flat_map(|station| network.channels(StationId(station)));
    let mut channels: Vec<u8> = all.filter(|&channel| only.is_none_or(|only| channel == only)).collect();
    channels.sort_unstable();
    channels.dedup();
    channels
}

/// How many stations hear either end of a link, the ends left out.
fn disturbed(network: &Network, ends: [u32; 2], channel: u8) -> u32 {
    let mut heard: Vec<StationId> =
        ends.iter().flat_map(|&end| network.disturbed(StationId(end), channel)).collect();
    heard.sort_unstable();
    heard.dedup();
    heard.retain(|station| !ends.contains(&station.0));
    heard.len() as u32
}

fn way(ChannelRoute { route, channels }: ChannelRoute) -> Way {
    let stations = route.nodes.into_iter().map(StationId).collect();
    let mut channels: Vec<u8> = channels.into_iter().map(|channel| channel as u8).collect();
    if channels.iter().all(|&channel| channel == channels[0]) {
        channels.truncate(1);
    }
    (stations, channels)
}
