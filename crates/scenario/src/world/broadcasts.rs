//! Broadcasts of a scenario: an announcer at every radio that sends or could hear one, and what each has heard.

use super::addresses;
use super::announcer::{Announcement, Announcer};
use super::node::ScenarioNode;
use super::packet::{Packet, Socket};
use super::simulation::Simulation;
use crate::outcome::BroadcastRow;
use crate::plan::wifi::{BroadcastPlan, BroadcastPort};
use crate::plan::{AddressIndex, Plan, WifiPlan};
use ropewalk_sim::{Medium, NodeId, Streams, Tap, World};
use ropewalk_units::{Duration, Instant};
use ropewalk_wifi::Network;

impl BroadcastPlan {
    /// Does this radio send it?
    fn is_sent_by(&self, port: &BroadcastPort) -> bool {
        self.channel == port.channel && self.from.as_ref().is_none_or(|from| from.contains(&port.name))
    }
}

/// An announcer for each port, its broadcasts scheduled.
pub(super) fn attach<T: Tap<Packet>, M: Medium<Packet>>(
    world: &mut World<ScenarioNode, T, M>,
    plan: &Plan,
    streams: &Streams,
    ports: Vec<BroadcastPort>,
) -> Vec<(BroadcastPort, NodeId)> {
    let Some(wifi) = &plan.wifi else { return Vec::new() };
    let mut announcers = Vec::with_capacity(ports.len());
    for port in ports {
        let own = announcements(plan, wifi, streams, &port);
        let times: Vec<Instant> = own.iter().map(|own| own.next).collect();
        let everybody = Socket::new(plan.settings.address_family, addresses::everybody(plan), 0);
        let announcer = Announcer::new(port.station.0 as u16, [address(plan, &port.name), everybody], own);
        let node = world.add_node(ScenarioNode::Announcer(announcer));
        world.attach_medium(node, port.entry);
        for (token, at) in (0u32..).zip(times) {
            world.set_timer(node, at, token);
        }
        announcers.push((port, node));
    }
    announcers
}

/// The address of the first wireless route that ends at a node of this name; nobody's if none does.
fn address(plan: &Plan, name: &str) -> Socket {
    let of = |(index, link): (usize, &crate::plan::LinkPlan)| {
        let end = link.ends.iter().position(|&end| plan.nodes[end].name == name)?;
        link.wireless().map(|_| AddressIndex::new(index, end))
    };
    let own = plan.links.iter().enumerate().find_map(of);
    Socket::new(plan.settings.address_family, own.unwrap_or_else(|| addresses::nobody(plan)), 0)
}

/// What a radio sends.
fn announcements(plan: &Plan, wifi: &WifiPlan, streams: &Streams, port: &BroadcastPort) -> Vec<Announcement> {
    let end = Instant::ZERO + plan.settings.duration;
    let all = (0u16..).zip(&wifi.broadcasts).filter(|(_, broadcast)| broadcast.is_sent_by(port));
    let one = |(index, broadcast): (u16, &BroadcastPlan)| {
        let mut stream = streams.stream(&format!("broadcast/{}/{}", broadcast.name, port.name));
        let later = Duration::from_secs_f64(stream.uniform() * broadcast.spread.as_secs_f64());
        Announcement {
            broadcast: index,
            packet: broadcast.packet_size,
            interval: broadcast.interval,
            next: broadcast.start.saturating_add(later),
            stop: broadcast.duration.map_or(end, |duration| broadcast.start.saturating_add(duration)),
            stream,
            sent: 0,
        }
    };
    all.map(one).collect()
}

/// Who has heard whom: of every pair in range at the end, and of those that were once.
pub(super) fn rows<T: Tap<Packet>>(
    wifi: &WifiPlan,
    simulation: &Simulation<T, Network>,
) -> Vec<BroadcastRow> {
    let network = simulation.world.medium();
    let announcer = |node: NodeId| simulation.world.node(node).announcer();
    let mut rows = Vec::new();
    for (index, broadcast) in (0u16..).zip(&wifi.broadcasts) {
        let on_channel =
            || simulation.announcers.iter().filter(|(port, _)| port.channel == broadcast.channel);
        for (from, sender) in on_channel() {
            let own = announcer(*sender).own().iter().find(|own| own.broadcast == index);
            let Some(sent) = own.map(|own| own.sent) else { continue };
            for (to, receiver) in on_channel().filter(|(to, _)| to.station != from.station) {
                let heard = announcer(*receiver).heard(index, from.station.0 as u16);
                if heard.datagrams == 0 && !network.reaches(from.station, to.station, broadcast.channel) {
                    continue;
                }
                let mean = || heard.delay.as_secs_f64() * 1e3 / heard.datagrams as f64;
                rows.push(BroadcastRow {
                    name: broadcast.name.clone(),
                    channel: broadcast.channel,
                    from: from.name.clone(),
                    to: to.name.clone(),
                    sent,
                    received: heard.datagrams,
                    mean_delay_ms: (heard.datagrams > 0).then(mean),
                });
            }
        }
    }
    rows
}
