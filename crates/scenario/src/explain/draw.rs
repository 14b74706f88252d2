//! The topology and the paths in characters.

use super::link::{describe_change, direction, round_rate};
use super::radio;
use crate::plan::router::StripFrom;
use crate::plan::{
    Application, BondPlan, Bulk, Carrier, ClockPlan, ClockStep, ConnectionPlan, ConstantRate, DataDirection,
    Frames, JitterPlan, LinkPlan, NodeIndex, NodeKind, OnOff, PathPlan, Plan, Protocol, RateChange,
    RequestResponse, WirePlan,
};
use crate::schema::router::OptionName;
use ropewalk_bonding::{Config, PathId, SchedulerConfig};
use ropewalk_units::{Bytes, Duration, Instant, Rate};
use std::fmt::Write;

/// The node with the brackets of its kind.
fn node(plan: &Plan, index: NodeIndex) -> String {
    let node = &plan.nodes[index];
    match node.kind {
        NodeKind::Host => format!("[{}]", node.name),
        NodeKind::Router => format!("({})", node.name),
    }
}

/// What routers take out of segments.
fn strips(plan: &Plan, text: &mut String) {
    for node in plan.nodes.iter().filter(|node| !node.strips.is_idle()) {
        let names: Vec<&str> = node.strips.options.names().into_iter().map(OptionName::describe).collect();
        let from = match node.strips.from {
            StripFrom::All => "every segment",
            StripFrom::Syn => "segments with SYN",
            StripFrom::Established => "segments without SYN",
        };
        let _ = writeln!(text, "  ({}) strips {} from {from}", node.name, names.join(", "));
    }
}

/// Gateways whose clocks are not true.
fn clocks(plan: &Plan, text: &mut String) {
    for node in plan.nodes.iter().filter(|node| !node.clock.is_true()) {
        let ClockPlan { offset, drift, steps } = &node.clock;
        let _ = write!(text, "  ({}) has a clock {offset} ahead", node.name);
        if drift.ppb != 0 {
            let _ = write!(text, ", {} ppm too {}", drift.ppb.abs() as f64 / 1e3, speed(drift.ppb));
        }
        for &ClockStep { at, by } in steps {
            let way = if by < 0 { "back" } else { "ahead" };
            let far = Duration::from_nanos(by.unsigned_abs());
            let _ = write!(text, ", {far} {way} at {}", at - Instant::ZERO);
        }
        text.push('\n');
    }
}

fn speed(drift: i64) -> &'static str {
    if drift < 0 { "slow" } else { "fast" }
}

/// Nodes that are late with their work.
fn lateness(plan: &Plan, text: &mut String) {
    for (index, late) in plan.nodes.iter().enumerate().filter(|(_, node)| !node.jitter.is_idle()) {
        let JitterPlan { timers, arrivals, coalesce, coalesce_bytes } = late.jitter;
        let mut parts = Vec::new();
        if !timers.is_zero() {
            parts.push(format!("timers late by {timers} on average"));
        }
        if !arrivals.is_zero() {
            parts.push(format!("wakes up {arrivals} late on average for what arrives"));
        }
        if !coalesce.is_zero() {
            let bytes = coalesce_bytes.map(|bytes| format!(", or until {} have come", Bytes::new(bytes)));
            parts.push(format!("arrivals held for {coalesce}{}", bytes.unwrap_or_default()));
        }
        let _ = writeln!(text, "  {} jitter: {}", node(plan, index), parts.join("; "));
    }
}

/// Each node with the links that start at it.
pub(super) fn topology(plan: &Plan, text: &mut String) {
    nodes(plan, text);
    strips(plan, text);
    clocks(plan, text);
    lateness(plan, text);
}

fn nodes(plan: &Plan, text: &mut String) {
    for index in 0..plan.nodes.len() {
        let links: Vec<&LinkPlan> = plan.links.iter().filter(|link| link.ends[0] == index).collect();
        let name = node(plan, index);
        let margin = " ".repeat(name.len());
        if links.is_empty() && plan.links.iter().all(|link| link.ends[1] != index) {
            let _ = writeln!(text, "  {name}    without a link");
        }
        for (position, link) in links.iter().enumerate() {
            let stem = if position + 1 < links.len() { "|" } else { " " };
            let start = if position == 0 { format!("{name} --+") } else { format!("{margin}   +") };
            let [a, b] = link.addresses;
            let end = node(plan, link.ends[1]);
            let _ = writeln!(text, "  {start}-- {} -- {end}    {a} -- {b}, MTU {}", link.name, link.mtu);
            let margin = format!("  {margin}   {stem}     ");
            match &link.carrier {
                Carrier::Wire(wire) => directions(wire, &margin, text),
                Carrier::Bond(bond) => members(plan, bond, &margin, text),
                Carrier::Wireless(route) => {
                    let way = plan.wifi.as_ref().map(|wifi| radio::way(wifi, *route)).unwrap_or_default();
                    let _ = writeln!(text, "{margin}~~~ {way}");
                }
            }
        }
    }
}

fn directions(link: &WirePlan, margin: &str, text: &mut String) {
    let [forward, backward] = &link.directions;
    if forward == backward {
        let _ = writeln!(text, "{margin}<-> {}", direction(forward));
    } else {
        let _ = writeln!(text, "{margin}->  {}", direction(forward));
        let _ = writeln!(text, "{margin}<-  {}", direction(backward));
    }
    for change in &link.changes {
        let arrow = ["->", "<-"][change.direction];
        let at = change.at - Instant::ZERO;
        let _ = writeln!(text, "{margin}{arrow}  from {at}: {}", describe_change(&change.change));
    }
}

/// The paths of a bond, and how it uses them.
fn members(plan: &Plan, bond: &BondPlan, margin: &str, text: &mut String) {
    let scheduler = match bond.config.scheduler {
        SchedulerConfig::WeightedRoundRobin(_) => "weighted round robin",
        SchedulerConfig::CostFirst(_) => "cost first",
        SchedulerConfig::RateAware => "rate aware",
        SchedulerConfig::Redundant => "redundant",
        SchedulerConfig::FlowAware(_) => "flow aware",
    };
    let names: Vec<&str> = bond.paths.iter().map(|path| path.name.as_str()).collect();
    let up = match bond.run_up {
        Duration::ZERO => "up with the scenario".to_owned(),
        run_up => format!("up {run_up} before the scenario"),
    };
    let _ = writeln!(text, "{margin}=== {} laid into one, {scheduler}, {up}", names.join(" and "));
    for (place, path) in bond.paths.iter().enumerate() {
        let figures = Figures::of_ways(plan, path, &path.forward);
        let _ = writeln!(
            text,
            "{margin}    {}: RTT at least {}, {}{}",
            path.name,
            figures.rtt,
            round_rate(figures.rate),
            weights(&bond.config, PathId(place as u8))
        );
        let first = path.forward.first().map(|&(link, direction)| plan.links[link].ends[direction]);
        let way = first.map(|gateway| chain(plan, gateway, path)).unwrap_or_default();
        let _ = writeln!(text, "{margin}      {way}");
    }
}

/// The weights in force on a path of a bond, given or not.
fn weights(config: &Config, id: PathId) -> String {
    let path = config.explicit_path(id);
    match (path.weight, path.max_weight) {
        (Some(weight), Some(most)) => format!(", weight {weight}, at most {most}"),
        (Some(weight), None) => format!(", weight {weight}"),
        (None, Some(most)) => format!(", at most {most} % of the packets"),
        (None, None) => String::new(),
    }
}

/// Each connection of the file with its paths.
pub(super) fn connections(plan: &Plan, text: &mut String) {
    for connection in groups(plan) {
        let copies = plan.connections.iter().filter(|other| other.group == connection.group);
        let starts: Vec<_> = copies.map(|copy| copy.start - Instant::ZERO).collect();
        let (from, to) = (node(plan, connection.source), node(plan, connection.destination));
        let _ = writeln!(
            text,
            "  {}: {} from {from} to {to}, {}",
            connection.group,
            protocol(connection),
            opens(&starts)
        );
        let _ = writeln!(text, "    {}", application(plan, connection));
        for path in &connection.paths {
            let _ = writeln!(text, "    path {}: {}", path.name, chain(plan, connection.source, path));
            let _ = writeln!(text, "      {}", figures(plan, connection, path));
        }
    }
}

/// The first copy of each connection of the file.
pub(super) fn groups(plan: &Plan) -> impl Iterator<Item = &ConnectionPlan> {
    let mut last: Option<&str> = None;
    plan.connections.iter().filter(move |connection| {
        let new = last != Some(connection.group.as_str());
        last = Some(&connection.group);
        new
    })
}

fn opens(starts: &[Duration]) -> String {
    match starts {
        [only] => format!("opens at {only}"),
        [first, .., last] => format!("{} copies, opening from {first} to {last}", starts.len()),
        [] => String::new(),
    }
}

fn protocol(connection: &ConnectionPlan) -> String {
    match &connection.protocol {
        Protocol::Udp => "UDP".to_owned(),
        Protocol::Tcp(_) => "TCP".to_owned(),
        Protocol::Mptcp(_) => {
            let plural = if connection.paths.len() == 1 { "path" } else { "paths" };
            format!("Multipath TCP over {} {plural}", connection.paths.len())
        }
    }
}

fn application(plan: &Plan, connection: &ConnectionPlan) -> String {
    let (source, destination) = (node(plan, connection.source), node(plan, connection.destination));
    let flows = match connection.data {
        DataDirection::Forward => format!("{source} sends"),
        DataDirection::Backward => format!("{destination} sends"),
    };
    let until = |duration: Option<Duration>| {
        duration.map_or_else(|| "until the end".to_owned(), |duration| format!("for {duration}"))
    };
    match &connection.application {
        Application::Bulk(Bulk { bytes: Some(bytes), duration }) => {
            let limit = duration.map(|duration| format!(", for {duration} at most")).unwrap_or_default();
            format!("{flows} {}{limit}", Bytes::new(*bytes))
        }
        Application::Bulk(Bulk { bytes: None, duration }) => {
            format!("{flows} as fast as it can, {}", until(*duration))
        }
        Application::ConstantRate(ConstantRate { rate, packet_size, duration, changes }) => {
            let later = if changes.is_empty() { String::new() } else { format!(", {}", rates(changes)) };
            format!("{flows} {rate} in packets of {packet_size} B, {}{later}", until(*duration))
        }
        Application::OnOff(OnOff { rate, packet_size, on, off, duration }) => {
            let (on, off) = (on.describe(), off.describe());
            let until = until(*duration);
            format!("{flows} {rate} in packets of {packet_size} B, on for {on}, off for {off}, {until}")
        }
        Application::Frames(frames) => format!("{flows} {}, {}", frames_of(frames), until(frames.duration)),
        Application::Recorded(recorded) => {
            let octets = recorded.datagrams.iter().map(|datagram| u64::from(datagram.payload.len)).sum();
            let (count, file) = (recorded.datagrams.len(), &recorded.source.file);
            format!("{flows} the {count} datagrams of {file}, {}", Bytes::new(octets))
        }
        Application::RequestResponse(RequestResponse { request, response, think, count }) => {
            let (request, response) = (Bytes::new(*request), Bytes::new(*response));
            let think = think.describe();
            let times = count.map_or_else(|| "until the end".to_owned(), |count| format!("{count} times"));
            format!(
                "{source} asks ({request}), {destination} answers ({response}), {source} thinks {think}; {times}"
            )
        }
    }
}

fn frames_of(frames: &Frames) -> String {
    let Frames { interval, packets, packet_size, spread, .. } = frames;
    let keys = frames.key_every.zip(frames.key_packets);
    let keys = keys.map(|(every, packets)| format!(", every {every}th of {packets}")).unwrap_or_default();
    let over = if spread.is_zero() { String::new() } else { format!(" within {spread}") };
    format!("a frame each {interval} in {packets} packets of {packet_size} B{over}{keys}")
}

fn rates(changes: &[RateChange]) -> String {
    let describe = |change: &RateChange| format!("{} from {}", change.rate, change.at - Instant::ZERO);
    match changes {
        few if few.len() <= 3 => few.iter().map(describe).collect::<Vec<_>>().join(", "),
        [first, .., last] => {
            format!("{}, {} more changes, {}", describe(first), changes.len() - 2, describe(last))
        }
        _ => String::new(),
    }
}

/// The links of a path's way there.
fn chain(plan: &Plan, source: NodeIndex, path: &PathPlan) -> String {
    let mut text = node(plan, source);
    for &(link, direction) in &path.forward {
        let link = &plan.links[link];
        let _ = write!(text, " --{}-- {}", link.name, node(plan, link.ends[1 - direction]));
    }
    text
}

fn figures(plan: &Plan, connection: &ConnectionPlan, path: &PathPlan) -> String {
    let [local, remote] = path.addresses().map(|address| plan.address(address));
    let figures = Figures::of(plan, connection, path);
    format!(
        "{local} -> {remote}, RTT at least {}, at most {}, bandwidth-delay product {}",
        figures.rtt,
        round_rate(figures.rate),
        Bytes::new(figures.bdp()),
    )
}

/// What a path can do when it is alone.
pub(super) struct Figures {
    /// Propagation there and back.
    pub(super) rtt: Duration,
    /// Least rate in the direction of the data.
    pub(super) rate: Rate,
}

impl Figures {
    pub(super) fn of(plan: &Plan, connection: &ConnectionPlan, path: &PathPlan) -> Self {
        Self::of_ways(plan, path, data_way(connection, path))
    }

    fn of_ways(plan: &Plan, path: &PathPlan, data_way: &[(usize, usize)]) -> Self {
        let delay = |way: &[(usize, usize)]| {
            way.iter()
                .fold(Duration::ZERO, |sum, &(link, direction)| sum + least_delay(plan, link, direction))
        };
        let rate = data_way.iter().map(|&(link, direction)| greatest_rate(plan, link, direction)).min();
        Self { rtt: delay(&path.forward) + delay(&path.backward), rate: rate.unwrap_or(Rate::ZERO) }
    }

    /// Octets in flight that fill the path.
    pub(super) fn bdp(&self) -> u64 {
        self.rate.bytes_in(self.rtt)
    }
}

/// The way that a member of a bond takes in one of the bond's directions.
fn member_way(path: &PathPlan, direction: usize) -> &[(usize, usize)] {
    [&path.forward, &path.backward][direction]
}

/// Propagation over a link, over the fastest path of a bond.
fn least_delay(plan: &Plan, link: usize, direction: usize) -> Duration {
    match &plan.links[link].carrier {
        Carrier::Wire(wire) => wire.directions[direction].delay,
        Carrier::Wireless(route) => {
            plan.wifi.as_ref().map_or(Duration::ZERO, |wifi| wifi.least_delay(*route))
        }
        Carrier::Bond(bond) => {
            let hops = |path| member_way(path, direction).iter();
            let delay = |path| hops(path).fold(Duration::ZERO, |sum, &(l, d)| sum + least_delay(plan, l, d));
            bond.paths.iter().map(delay).min().unwrap_or(Duration::ZERO)
        }
    }
}

/// The rate of a link. Of a bond: of all its paths together, where no link that they share is narrower.
pub(super) fn greatest_rate(plan: &Plan, link: usize, direction: usize) -> Rate {
    match &plan.links[link].carrier {
        Carrier::Wire(wire) => wire.directions[direction].rate,
        Carrier::Wireless(_) => {
            plan.wifi.as_ref().map_or(Rate::ZERO, |wifi| wifi.hop_rate(plan.links[link].mtu))
        }
        Carrier::Bond(bond) => {
            let rate = |&(l, d): &(usize, usize)| greatest_rate(plan, l, d).bits_per_sec();
            let ways: Vec<_> = bond.paths.iter().map(|path| member_way(path, direction)).collect();
            // What crosses a link is at most its rate; to this comes what does not cross it.
            let past = |hop| {
                let others = ways.iter().filter(|way| !way.contains(hop));
                let rates = others.filter_map(|way| way.iter().map(rate).min());
                rates.fold(rate(hop), u64::saturating_add)
            };
            let bounds = ways.iter().flat_map(|way| way.iter()).map(past);
            Rate::from_bits_per_sec(bounds.min().unwrap_or(0))
        }
    }
}

/// The links that the connection's data cross on a path.
pub(super) fn data_way<'a>(connection: &ConnectionPlan, path: &'a PathPlan) -> &'a [(usize, usize)] {
    match (&connection.application, connection.data) {
        (Application::RequestResponse(_), _) | (_, DataDirection::Backward) => &path.backward,
        (_, DataDirection::Forward) => &path.forward,
    }
}
