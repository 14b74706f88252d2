//! The bonds of a world: built from the plan, and read for results.

use super::clock::Clock;
use super::gateway::{Baseline, BondEnd, Count, Member};
use super::node::ScenarioNode;
use super::packet::{Packet, Socket};
use super::period::Period;
use super::simulation::{BondEnds, LinkPorts, Simulation};
use crate::outcome::{BondEgress, BondPathSample, BondRow, BondTotals, BondTraffic};
use crate::plan::{BondPlan, LinkPlan, NodeIndex, Plan};
use ropewalk_bonding::{Class, Endpoint, PathState, PathView};
use ropewalk_sim::{Medium, NodeId, Tap, World};
use ropewalk_units::Duration;

/// UDP port of both gateways of a bond; the k-th bond of the plan has the k-th from here.
const FIRST_BOND_PORT: u16 = 5_600;

/// The bonds of a plan with their links.
fn planned(plan: &Plan) -> impl Iterator<Item = (usize, &LinkPlan, &BondPlan)> {
    let links = plan.links.iter().enumerate();
    links.filter_map(|(index, link)| link.bond().map(|bond| (index, link, bond)))
}

/// The index that the bond of a link has at one of its gateways.
pub(crate) fn index_at(plan: &Plan, link: usize, gateway: NodeIndex) -> u32 {
    planned(plan).filter(|&(index, other, _)| index < link && other.ends.contains(&gateway)).count() as u32
}

/// Puts all bonds into their gateways.
pub(crate) fn connect<T: Tap<Packet>, M: Medium<Packet>>(
    world: &mut World<ScenarioNode, T, M>,
    plan: &Plan,
    nodes: &[NodeId],
    ports: &LinkPorts,
    period: Period,
) -> Vec<BondEnds> {
    let mut all = Vec::new();
    for (number, (_, link, bond)) in planned(plan).enumerate() {
        let begin = period.begin(bond.run_up);
        let ends = [0, 1].map(|end| {
            let members = members(plan, bond, (end, FIRST_BOND_PORT + number as u16), ports);
            let endpoint =
                Endpoint::new(bond.config.clone(), begin.unwrap_or_default()).expect("the plan was checked");
            let node = nodes[link.ends[end]];
            let bonds = &mut world.node_mut(node).gateway_mut().bonds;
            let index = bonds.len() as u32;
            let clock = Clock::new(&period.clock(&plan.nodes[link.ends[end]].clock));
            bonds.push(BondEnd::new(endpoint, clock, members, classes(bond)));
            if let Some(begin) = begin {
                // The first keepalives leave at once.
                world.set_timer(node, begin, index);
            }
            (node, index)
        });
        all.push(BondEnds(ends));
    }
    all
}

fn members(plan: &Plan, bond: &BondPlan, (end, udp_port): (usize, u16), ports: &LinkPorts) -> Vec<Member> {
    let family = plan.settings.address_family;
    let member = |path: &crate::plan::PathPlan| {
        let [local, remote] = if end == 0 { [path.local, path.remote] } else { [path.remote, path.local] };
        Member {
            local: Socket::new(family, local, udp_port),
            remote: Socket::new(family, remote, udp_port),
            port: ports[local.link()][local.end()],
        }
    };
    bond.paths.iter().map(member).collect()
}

fn classes(bond: &BondPlan) -> [Class; 64] {
    let mut classes = [Class::Normal; 64];
    for class in &bond.classes {
        classes[usize::from(class.dscp)] = class.treatment;
    }
    classes
}

/// One direction of a bond: where it begins and where it ends.
struct Way<'a> {
    link: &'a LinkPlan,
    bond: &'a BondPlan,
    direction: usize,
    from: &'a BondEnd,
    to: &'a BondEnd,
}

/// All directions of all bonds, in the order of their rows.
fn ways<'a, T: Tap<Packet>, M: Medium<Packet>>(
    plan: &'a Plan,
    simulation: &'a Simulation<T, M>,
) -> impl Iterator<Item = Way<'a>> {
    let bonds = planned(plan).zip(&simulation.bonds);
    bonds.flat_map(move |((_, link, bond), BondEnds(ends))| {
        let end = |which: usize| {
            let (node, index) = ends[which];
            &simulation.world.node(node).gateway().bonds[index as usize]
        };
        [0, 1].map(|direction| Way { link, bond, direction, from: end(direction), to: end(1 - direction) })
    })
}

impl Way<'_> {
    /// Sent as the sender's view of a path counts it, received as the receiver's does.
    fn path_traffic(&self, sent: &PathView, received: &PathView) -> BondTraffic {
        let path = sent.id.index();
        let (sent_baseline, received_baseline) =
            (self.from.baseline[path].sent, self.to.baseline[path].received);
        let overhead = |packets: u64| packets * u64::from(self.bond.config.overhead);
        let sent_packets = sent.sent_packets - sent_baseline.packets;
        let received_packets = received.received_packets - received_baseline.packets;
        BondTraffic {
            sent_packets,
            sent_bytes: sent.sent_bytes - sent_baseline.bytes - overhead(sent_packets),
            received_packets,
            received_bytes: received.received_bytes - received_baseline.bytes - overhead(received_packets),
        }
    }

    /// Of the whole, then of each path: what passed, and how much of it was lost.
    fn traffic(&self) -> Vec<(BondTraffic, u64)> {
        let (offered, delivered) = (self.from.offered, self.to.delivered);
        let whole = BondTraffic {
            sent_packets: offered.packets,
            sent_bytes: offered.bytes,
            received_packets: delivered.packets,
            received_bytes: delivered.bytes,
        };
        let given_up = self.to.endpoint.resequencer().given_up;
        let mut all = vec![(whole, given_up)];
        for (sent, received) in self.from.endpoint.paths().zip(self.to.endpoint.paths()) {
            let lost = received.lost_received - self.to.baseline[received.id.index()].lost;
            all.push((self.path_traffic(&sent, &received), lost));
        }
        all
    }

    /// What was sent again of one path's packets, or of all.
    fn repaired(&self, path: Option<usize>) -> u64 {
        let is_meant = |view: &PathView| path.is_none_or(|path| view.id.index() == path);
        self.from.endpoint.paths().filter(is_meant).map(|view| view.repaired).sum()
    }

    fn egress(&self) -> BondEgress {
        let view = self.to.endpoint.resequencer();
        BondEgress {
            late: view.late,
            duplicates: view.duplicates,
            depth_max: u64::from(view.max_depth_packets),
            added_delay_mean_ms: view.mean_added_delay.as_secs_f64() * 1e3,
            added_delay_max_ms: view.max_added_delay.as_secs_f64() * 1e3,
            unsent: self.from.endpoint.dropped(),
            superseded: self.from.endpoint.superseded(),
        }
    }
}

/// What the paths of an end have counted by now, with the other end's views of them. What is on its way is left to count: it
/// comes later.
fn counted(own: &BondEnd, other: &BondEnd) -> Vec<Baseline> {
    let count = |(own, other): (PathView, PathView)| {
        let over = other.received_packets + other.lost_received;
        let packets = own.sent_packets.min(over);
        // Those are probes of one train, of one size.
        let under_way = (own.sent_packets - packets) * u64::from(own.last_len);
        Baseline {
            sent: Count { packets, bytes: own.sent_bytes - under_way },
            received: Count { packets: own.received_packets, bytes: own.received_bytes },
            lost: own.lost_received,
        }
    };
    own.endpoint.paths().zip(other.endpoint.paths()).map(count).collect()
}

/// Moves the bonds that are up in a world into another of the same plan, which begins `lead` after it.
pub(super) fn move_on<T: Tap<Packet>, U: Tap<Packet>, M: Medium<Packet>>(
    plan: &Plan,
    lead: Duration,
    from: &mut Simulation<U, M>,
    to: &mut Simulation<T, M>,
) {
    let bonds = planned(plan).zip(&to.bonds);
    for ((_, link, _), BondEnds(ends)) in bonds.filter(|((_, _, bond), _)| !bond.run_up.is_zero()) {
        let baselines = [0, 1].map(|end| {
            let [own, other] = [end, 1 - end].map(|end| {
                let (node, index) = ends[end];
                &from.world.node(node).gateway().bonds[index as usize]
            });
            counted(own, other)
        });
        for ((&(node, index), baseline), place) in ends.iter().zip(baselines).zip(link.ends) {
            let old = &mut from.world.node_mut(node).gateway_mut().bonds[index as usize];
            let new = &mut to.world.node_mut(node).gateway_mut().bonds[index as usize];
            // The timer of the one that begins here serves the other, too.
            std::mem::swap(old, new);
            new.move_on(lead, &plan.nodes[place].clock.steps, baseline);
        }
    }
}

/// Rows of all bonds.
pub(crate) fn rows<T: Tap<Packet>, M: Medium<Packet>>(
    plan: &Plan,
    simulation: &Simulation<T, M>,
) -> Vec<BondRow> {
    let mut rows = Vec::new();
    for way in ways(plan, simulation) {
        let name = |end: usize| &plan.nodes[way.link.ends[end]].name;
        let direction = format!("{}->{}", name(way.direction), name(1 - way.direction));
        for (index, (traffic, lost)) in way.traffic().into_iter().enumerate() {
            let path = index.checked_sub(1).map(|path| way.bond.paths[path].name.clone());
            rows.push(BondRow {
                name: way.link.name.clone(),
                direction: direction.clone(),
                egress: path.is_none().then(|| way.egress()),
                path,
                traffic,
                lost,
                repaired: way.repaired(index.checked_sub(1)),
            });
        }
    }
    rows
}

/// What each row of the bonds has come to.
pub(crate) fn totals<'a, T: Tap<Packet>, M: Medium<Packet>>(
    plan: &'a Plan,
    simulation: &'a Simulation<T, M>,
) -> impl Iterator<Item = BondTotals> {
    ways(plan, simulation).flat_map(|way| {
        let views = std::iter::once(None).chain(way.from.endpoint.paths().map(Some));
        let depth = u64::from(way.to.endpoint.resequencer().depth_packets);
        let all = way.traffic().into_iter().zip(views).map(|((traffic, lost), view)| {
            let depth = view.is_none().then_some(depth);
            BondTotals { traffic, lost, depth, path: view.as_ref().map(sample) }
        });
        all.collect::<Vec<_>>()
    })
}

fn sample(view: &PathView) -> BondPathSample {
    let ms = |duration: Duration| duration.as_secs_f64() * 1e3;
    BondPathSample {
        weight: f64::from(view.weight),
        srtt_ms: view.srtt.map(ms),
        queueing_ms: Some(ms(view.queueing_delay)),
        state: match view.state {
            PathState::Up => "up",
            PathState::Suspected => "suspected",
            PathState::Down => "down",
        },
    }
}
