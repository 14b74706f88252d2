//! What is allowed but seldom meant.

use super::draw::{Figures, data_way, greatest_rate, groups};
use crate::plan::wifi::ErrorPlan;
use crate::plan::{
    Application, ConnectionPlan, ConstantRate, LinkPlan, NodeKind, PathPlan, Plan, Protocol, WifiPlan,
};
use crate::scenario::Scenario;
use crate::schema::quantity::Limit;
use ropewalk_sim::{DirectionConfig, Loss, Queue, QueueLimit};
use ropewalk_units::{Bytes, Duration, Instant, Rate};
use std::collections::BTreeSet;

impl Scenario {
    /// What a newcomer may want to look at again, in sentences.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        for connection in groups(&self.plan) {
            let name = &connection.group;
            let mut add =
                |warning: Option<String>| warnings.extend(warning.map(|text| format!("{name}: {text}")));
            add(one_path(&self.plan, connection));
            add(unused_links(&self.plan, connection));
            add(shared_link(&self.plan, connection));
            add(small_buffer(&self.plan, connection));
            add(no_scaling(connection));
            spurious(connection).into_iter().for_each(|text| add(Some(text)));
            add(ecn(&self.plan, connection));
            add(too_fast(&self.plan, connection));
        }
        warnings.extend(shared_members(&self.plan));
        warnings.extend(queues(&self.plan));
        warnings.extend(late_changes(&self.plan));
        warnings.extend(self.plan.wifi.as_deref().map(idle_errors).unwrap_or_default());
        warnings
    }
}

fn links_at(plan: &Plan, node: usize) -> Vec<&str> {
    let there = plan.links.iter().filter(|link| link.ends.contains(&node));
    there.map(|link| link.name.as_str()).collect()
}

/// Only one path is used, which surprises newcomers to Multipath TCP: says why.
fn one_path(plan: &Plan, connection: &ConnectionPlan) -> Option<String> {
    let ([path], Protocol::Mptcp(_)) = (connection.paths.as_slice(), &connection.protocol) else {
        return None;
    };
    let source = &plan.nodes[connection.source].name;
    let why = match links_at(plan, connection.source).as_slice() {
        [_] => format!("`{source}` has no other link"),
        _ => "the others are not in `paths`, or do not lead there and back".to_owned(),
    };
    Some(format!("Multipath TCP has only the path `{}`: {why}", path.name))
}

fn unused_links(plan: &Plan, connection: &ConnectionPlan) -> Option<String> {
    let Protocol::Mptcp(_) = connection.protocol else { return None };
    if connection.paths.len() < 2 {
        return None;
    }
    let used: BTreeSet<&str> = connection.paths.iter().map(|path| path.name.as_str()).collect();
    let links = links_at(plan, connection.source);
    let rest: Vec<&str> = links.into_iter().filter(|name| !used.contains(name)).collect();
    let source = &plan.nodes[connection.source].name;
    (!rest.is_empty()).then(|| format!("links of `{source}` that it does not use: {}", rest.join(", ")))
}

/// Paths that meet in a link that cannot carry what they bring.
fn shared_link(plan: &Plan, connection: &ConnectionPlan) -> Option<String> {
    let ways: Vec<&[(usize, usize)]> =
        connection.paths.iter().map(|path| data_way(connection, path)).collect();
    let rate = |&(link, direction): &(usize, usize)| greatest_rate(plan, link, direction).bits_per_sec();
    let hops: BTreeSet<&(usize, usize)> = ways.iter().copied().flatten().collect();
    let narrow = |hop: &(usize, usize)| {
        let sharing = ways.iter().filter(|way| way.contains(hop));
        let without = |way: &&&[(usize, usize)]| way.iter().filter(|other| *other != hop).map(rate).min();
        let brought: Vec<u64> = sharing.map(|way| without(&way).unwrap_or(rate(hop))).collect();
        brought.len() > 1 && rate(hop) < brought.iter().fold(0, |sum, rate| sum.saturating_add(*rate))
    };
    let shared: Vec<&str> =
        hops.into_iter().filter(|hop| narrow(hop)).map(|&(link, _)| plan.links[link].name.as_str()).collect();
    (!shared.is_empty()).then(|| {
        let links = shared.join(", ");
        format!("its paths meet in the link {links}, which cannot carry what they bring together")
    })
}

/// Paths of a bond that meet in a link: they carry no more than it does, and die with it.
fn shared_members(plan: &Plan) -> Vec<String> {
    let bonds = plan.links.iter().filter_map(|link| Some((&link.name, &link.bond()?.paths)));
    let mut warnings = Vec::new();
    for (bond, paths) in bonds {
        let has = |path: &PathPlan, link: usize| path.forward.iter().any(|&(other, _)| other == link);
        let links: BTreeSet<usize> =
            paths.iter().flat_map(|path| &path.forward).map(|&(link, _)| link).collect();
        for link in links {
            let sharing = paths.iter().filter(|path| has(path, link));
            let names: Vec<&str> = sharing.map(|path| path.name.as_str()).collect();
            if names.len() > 1 {
                let (names, link) = (names.join(" and "), &plan.links[link].name);
                warnings.push(format!(
                    "bonds.{bond}: the paths {names} meet in the link {link}: they share its rate, and die with it"
                ));
            }
        }
    }
    warnings
}

/// RFC 8684 §3.3.1 recommends the sum of the rates times the longest RTT; twice that survives one loss.
fn small_buffer(plan: &Plan, connection: &ConnectionPlan) -> Option<String> {
    let Application::Bulk(_) = connection.application else { return None };
    let figures: Vec<Figures> =
        connection.paths.iter().map(|path| Figures::of(plan, connection, path)).collect();
    let rate: u64 = figures.iter().map(|path| path.rate.bits_per_sec()).fold(0, u64::saturating_add);
    let rtt = figures.iter().map(|path| path.rtt).max().unwrap_or(Duration::ZERO);
    let needed = Rate::from_bits_per_sec(rate).bytes_in(rtt).saturating_mul(2);
    let (key, buffer) = match &connection.protocol {
        Protocol::Tcp(config) => ("tcp.receive_buffer", config.receive_buffer),
        Protocol::Mptcp(config) => ("mptcp.receive_buffer", config.receive_buffer),
        Protocol::Udp => return None,
    };
    (u64::from(buffer) < needed).then(|| {
        let buffer = Bytes::new(u64::from(buffer));
        format!(
            "{key} is {buffer}, below twice the bandwidth-delay product ({}): it may hold the rate back",
            Bytes::new(needed)
        )
    })
}

fn no_scaling(connection: &ConnectionPlan) -> Option<String> {
    let Protocol::Tcp(config) = &connection.protocol else { return None };
    let hidden = config.window_scale.is_none() && config.receive_buffer > 65_535;
    hidden.then(|| "without window_scale no window above 65535 octets can be advertised".to_owned())
}

fn spurious(connection: &ConnectionPlan) -> Vec<String> {
    let Some(config) = connection.protocol.tcp() else { return Vec::new() };
    let needs = [
        (config.spurious.dsack && !config.sack, "dsack needs `sack = true`"),
        (
            config.spurious.dsack && config.sack && !config.report_duplicates,
            "dsack needs `report_duplicates = true`",
        ),
        (config.spurious.eifel && !config.timestamps, "eifel needs `timestamps = true`"),
        (config.spurious.door && !config.sack, "door (by SACK) needs `sack = true`"),
    ];
    let missing = needs.iter().filter(|(missing, _)| *missing);
    missing.map(|(_, need)| format!("a response to spurious retransmissions is idle: {need}")).collect()
}

fn marks(config: &DirectionConfig) -> bool {
    match &config.queue {
        Queue::DropTail { mark_above, .. } => mark_above.is_some(),
        Queue::Red { red, .. } => red.ecn,
        Queue::Codel { codel, .. } => codel.ecn,
        Queue::FqCodel { fq_codel, .. } => fq_codel.codel.ecn,
    }
}

fn ecn(plan: &Plan, connection: &ConnectionPlan) -> Option<String> {
    let config = connection.protocol.tcp()?;
    let mut hops = connection.paths.iter().flat_map(|path| data_way(connection, path));
    let marking = hops.any(|&(link, direction)| {
        plan.links[link].wire().is_some_and(|wire| marks(&wire.directions[direction]))
    });
    match (config.ecn, marking) {
        (true, false) => Some("tcp.ecn is on, but no queue on its way marks packets".to_owned()),
        (false, true) => {
            Some("a queue on its way marks packets, but tcp.ecn is off: it drops them".to_owned())
        }
        _ => None,
    }
}

fn too_fast(plan: &Plan, connection: &ConnectionPlan) -> Option<String> {
    let (Protocol::Udp, Application::ConstantRate(ConstantRate { rate, .. })) =
        (&connection.protocol, &connection.application)
    else {
        return None;
    };
    let path = Figures::of(plan, connection, connection.paths.first()?);
    (*rate > path.rate)
        .then(|| format!("{rate} of UDP do not fit its path of {}: the rest is lost", path.rate))
}

/// Queues of bottlenecks that are far from one bandwidth-delay product, each named once.
fn queues(plan: &Plan) -> Vec<String> {
    let mut warnings = BTreeSet::new();
    for connection in groups(plan) {
        for path in &connection.paths {
            let figures = Figures::of(plan, connection, path);
            for &(link, direction) in data_way(connection, path) {
                let Some(wire) = plan.links[link].wire() else { continue };
                let config = &wire.directions[direction];
                if config.rate == figures.rate && config.trace.is_none() {
                    warnings.extend(queue(plan, link, config, figures.bdp()));
                }
            }
        }
    }
    warnings.into_iter().collect()
}

fn queue(plan: &Plan, link: usize, config: &DirectionConfig, bdp: u64) -> Option<String> {
    let Queue::DropTail { limit, .. } = &config.queue else { return None };
    let plan = &plan.links[link];
    let octets = match *limit {
        QueueLimit::Packets(count) => u64::from(count) * u64::from(plan.mtu),
        QueueLimit::Bytes(bytes) => bytes,
    };
    // A handful of packets is never too much.
    let (least, most) = (bdp / 4, bdp.saturating_mul(4).max(20 * u64::from(plan.mtu)));
    let (name, limit, bdp) = (&plan.name, Limit(*limit), Bytes::new(bdp));
    if octets < least {
        let base =
            format!("links.{name}: a queue of {limit} is small for a bandwidth-delay product of {bdp}");
        return Some(format!("{base}: a single flow cannot fill the link"));
    }
    let clean = matches!(config.loss, Loss::None);
    (clean && octets > most).then(|| {
        let delay = config.rate.transmission_time(u32::try_from(octets).unwrap_or(u32::MAX));
        let delay = Duration::from_millis(delay.as_millis());
        let base = format!("links.{name}: a queue of {limit} is long for a bandwidth-delay product of {bdp}");
        format!("{base}: full, it adds {delay} (bufferbloat)")
    })
}

/// Frame errors of links that no route uses now, and none will.
fn idle_errors(wifi: &WifiPlan) -> Vec<String> {
    if wifi.is_mobile() && wifi.keys.route_interval.is_some() {
        return Vec::new();
    }
    let seed = if wifi.deployment.is_some() { " (with this seed)" } else { "" };
    let idle = wifi.errors.iter().filter(|plan| !are_met(wifi, plan));
    let mut warnings: Vec<String> = idle
        .map(|ErrorPlan { key, from, to, .. }| {
            format!("{key}: no route leads over `{from}` and `{to}`, so no frame fails{seed}")
        })
        .collect();
    // Both ways of one table.
    warnings.dedup_by_key(|text| text.split(':').next().unwrap_or_default().to_owned());
    warnings
}

/// Does a route, or a broadcast, lead over the link of these errors?
fn are_met(wifi: &WifiPlan, plan: &ErrorPlan) -> bool {
    let station = |name: &str| wifi.scene.stations.iter().position(|station| station.name == name);
    let ends = [station(&plan.from), station(&plan.to)];
    let is_route = wifi.scene.routes.iter().any(|route| {
        route.stations.windows(2).enumerate().any(|(hop, pair)| {
            let channel = route.channels.get(hop).or(route.channels.first());
            let pair = [pair[0], pair[1]].map(|station| Some(station.0 as usize));
            let is_there = pair == ends || pair == [ends[1], ends[0]];
            is_there && channel.is_some_and(|channel| plan.channels.contains(channel))
        })
    });
    is_route || wifi.broadcasts.iter().any(|broadcast| plan.channels.contains(&broadcast.channel))
}

fn late_changes(plan: &Plan) -> Vec<String> {
    let end = Instant::ZERO + plan.settings.duration;
    let is_late =
        |link: &&LinkPlan| link.wire().is_some_and(|wire| wire.changes.iter().any(|change| change.at >= end));
    let late = plan.links.iter().filter(is_late);
    let mut warnings: Vec<String> =
        late.map(|link| format!("links.{}: some of its changes come after the end", link.name)).collect();
    let lonely = (0..plan.nodes.len()).filter(|&node| links_at(plan, node).is_empty());
    warnings.extend(lonely.map(|node| {
        let kind = match plan.nodes[node].kind {
            NodeKind::Host => "hosts",
            NodeKind::Router => "routers",
        };
        format!("{kind}.{}: no link leads there", plan.nodes[node].name)
    }));
    warnings
}
