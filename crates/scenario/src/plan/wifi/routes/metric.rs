//! Routes by a metric, each hop on a channel of its own.

use super::{Algorithm, FindMetric, FindPlan, Way};
use ropewalk_routing::metrics::MicSetting;
use ropewalk_routing::{ChannelGraph, ChannelRoute, Criterion, Disjoint, Graph};
use ropewalk_wifi::{Network, StationId};

/// All links are taken for equally good: only ratios of their ETTs count. WCETT is in units of it.
const ETT: f64 = 1.0;

/// The routes of a set, chosen by its metric; over one channel, or any.
pub(super) fn routes(
    find: &FindPlan,
    network: &Network,
    [from, to]: [StationId; 2],
    channel: Option<u8>,
) -> Result<Vec<Way>, String> {
    let criterion = match find.metric {
        FindMetric::Mic { switches } => {
            Criterion::Mic(MicSetting { nodes: network.stations(), least_ett: ETT, switches, stays: 1.0 })
        }
        FindMetric::Wcett { beta } => Criterion::Wcett { beta },
        FindMetric::Hops => Criterion::Wcett { beta: 0.0 },
    };
    let disjoint = match find.algorithm {
        Algorithm::Greedy(disjoint) => disjoint,
        Algorithm::Shortest | Algorithm::Optimal(_) => Disjoint::Link,
    };
    let channels = channels(network, channel);
    let is_link = |a: u32, b: u32, channel: u8| {
        let reach = |from, to| network.reaches(StationId(from), StationId(to), channel);
        reach(a, b) && reach(b, a)
    };
    let all = 0..network.stations();
    let pairs = all.flat_map(|a| (a + 1..network.stations()).map(move |b| (a, b)));
    let links: Vec<_> =
        pairs.filter(|&(a, b)| channels.iter().any(|&channel| is_link(a, b, channel))).collect();
    let graph = Graph::from_links(network.stations() as usize, &links);
    let weigh = |a, b, channel| {
        let channel = channel as u8;
        is_link(a, b, channel).then(|| (ETT, disturbed(network, [a, b], channel)))
    };
    let graph = ChannelGraph::new(&graph, channels.iter().map(|&channel| u32::from(channel)), weigh);
    let most = find.number as usize + 1;
    let found = graph.routes((from.0, to.0), disjoint, criterion, |_| None, most);
    Ok(found.map_err(|error| error.to_string())?.into_iter().map(way).collect())
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
