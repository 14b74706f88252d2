//! The events of a run: collected from the ends of connections, gateways, links and radios whenever the world pauses.

use super::capture::Comment;
use super::host::Endpoint;
use super::listen::{Happened, Heard};
use super::packet::{Packet, Socket};
use super::simulation::{BondEnds, Simulation};
use super::trace::Trace;
use super::transport::Transport;
use crate::outcome::{EventPlace, EventRow, SubflowRow};
use crate::plan::{ConnectionPlan, EventKind, EventKinds, Plan};
use ropewalk_sim::{DropReason, Medium, NodeId, Tap};
use ropewalk_units::Instant;
use std::collections::BTreeMap;

/// The most events that one run keeps: they stay in memory to its end.
pub(crate) const MOST_EVENTS: usize = 8_000_000;

/// Which connection a packet is of, and which of its subflows at the sender of the data.
#[derive(Clone, Copy, Debug, Default)]
struct Flow {
    connection: Option<u32>,
    subflow: Option<u32>,
}

/// Collects events.
#[derive(Debug)]
pub(super) struct EventLog {
    rows: Vec<EventRow>,
    /// Where those begin that were collected last.
    new: usize,
    /// How many there was no room for.
    lost: u64,
    /// The world's node of each node of the plan at which connections end.
    hosts: BTreeMap<usize, NodeId>,
    /// Connections by the endpoints at their ends.
    owners: BTreeMap<(NodeId, u32), u32>,
    /// By bond: index of its first row in the results.
    bond_rows: Vec<u32>,
}

impl EventLog {
    /// Switches on what the scenario asks for.
    pub(super) fn begin<T: Tap<Packet>, M: Medium<Packet>>(
        plan: &Plan,
        simulation: &mut Simulation<T, M>,
    ) -> Self {
        let kinds = plan.settings.events;
        let (mut hosts, mut owners) = (BTreeMap::new(), BTreeMap::new());
        for (index, ends) in (0u32..).zip(&simulation.ends) {
            let connection = &plan.connections[index as usize];
            hosts.insert(connection.source, ends.client.0);
            hosts.insert(connection.destination, ends.server.0);
            for (node, endpoint) in [ends.client, ends.server] {
                owners.insert((node, endpoint), index);
                simulation.world.node_mut(node).host_mut().endpoint_mut(endpoint).trace(kinds);
            }
        }
        for &BondEnds(ends) in &simulation.bonds {
            for (node, index) in ends {
                let bond = &mut simulation.world.node_mut(node).gateway_mut().bonds[index as usize];
                bond.trace = Some(Trace::new(kinds));
            }
        }
        Self { rows: Vec::new(), new: 0, lost: 0, hosts, owners, bond_rows: bond_rows(plan) }
    }

    /// Takes what has happened since the last call; `others` come from the medium.
    pub(super) fn collect<T: Tap<Packet>, M: Medium<Packet>>(
        &mut self,
        plan: &Plan,
        simulation: &mut Simulation<T, M>,
        heard: Vec<Heard>,
        others: Vec<EventRow>,
    ) {
        let mut rows = Vec::new();
        self.of_packets(plan, simulation, heard, &mut rows);
        of_connections(plan, simulation, &mut rows);
        self.of_bonds(simulation, &mut rows);
        rows.extend(others);
        // Stable: what happened at one time stays in this order.
        rows.sort_by_key(|row| row.time);
        self.new = self.rows.len();
        let room = MOST_EVENTS - self.new;
        self.lost += rows.len().saturating_sub(room) as u64;
        rows.truncate(room);
        self.rows.append(&mut rows);
    }

    /// What was collected last of connections, as comments for captures.
    pub(super) fn comments<T: Tap<Packet>, M: Medium<Packet>>(
        &self,
        plan: &Plan,
        simulation: &Simulation<T, M>,
    ) -> Vec<Comment> {
        let mut known: BTreeMap<u32, SubflowNumbers> = BTreeMap::new();
        let comment = |row: &EventRow| {
            let index = row.connection?;
            let connection = &plan.connections[index as usize];
            let host = match row.place {
                EventPlace::Source => connection.source,
                EventPlace::Destination => connection.destination,
                _ => return None,
            };
            let numbers = known.entry(index).or_insert_with(|| SubflowNumbers::of(plan, simulation, index));
            let &(_, sender, receiver) = match row.subflow {
                Some(number) => numbers.sender.iter().find(|&&(own, ..)| own == number)?,
                None => numbers.sender.first()?,
            };
            let is_sender = plan.owner(sender.address()) == host;
            let flow = if is_sender { (sender, receiver) } else { (receiver, sender) };
            Some(Comment { at: row.time, host, flow, text: text(row) })
        };
        self.rows[self.new..].iter().filter_map(comment).collect()
    }

    /// All events, with the rows of their subflows; the last one says how many there was no room for.
    pub(super) fn finish(mut self, end: Instant, plan: &Plan, subflows: &[SubflowRow]) -> Vec<EventRow> {
        let names: BTreeMap<&str, u32> =
            plan.connections.iter().map(|one| one.name.as_str()).zip(0u32..).collect();
        let places: BTreeMap<(u32, u32), u32> = (subflows.iter().zip(0u32..))
            .filter_map(|(row, index)| Some(((*names.get(row.connection.as_str())?, row.subflow), index)))
            .collect();
        for row in &mut self.rows {
            row.subflow_row = row.connection.zip(row.subflow).and_then(|flow| places.get(&flow).copied());
        }
        if self.lost > 0 {
            let why = format!("{} further events are not here: name fewer kinds", self.lost);
            self.rows.push(EventRow::new(end, EventKind::All, "overrun").because(why));
        }
        self.rows
    }

    fn of_packets<T: Tap<Packet>, M: Medium<Packet>>(
        &self,
        plan: &Plan,
        simulation: &Simulation<T, M>,
        heard: Vec<Heard>,
        rows: &mut Vec<EventRow>,
    ) {
        // Those of one pause only: later the same ends can be another subflow's.
        let mut known: BTreeMap<(Socket, Socket), Flow> = BTreeMap::new();
        let links = plan.links.iter().filter(|link| link.bond().is_none()).count() as u32 * 2;
        for packet in heard {
            let ends = (packet.source, packet.destination);
            let flow = *known.entry(ends).or_insert_with(|| self.flow(plan, simulation, ends));
            let row = match packet.what {
                Happened::Sent => EventRow::new(packet.at, EventKind::Segment, "segment"),
                Happened::Marked => EventRow::new(packet.at, EventKind::Mark, "marked"),
                Happened::Sacked => EventRow::new(packet.at, EventKind::Sack, "sacked")
                    .because("it has arrived, and something before it has not"),
                Happened::Dropped(reason) => {
                    EventRow::new(packet.at, EventKind::Drop, "dropped").because(cause(reason))
                }
            };
            let octets = match (packet.what, packet.payload) {
                (Happened::Sent | Happened::Sacked, Some(payload)) => payload.len,
                _ => packet.len,
            };
            rows.push(EventRow {
                connection: flow.connection,
                subflow: flow.subflow,
                place: if packet.link.0 < links {
                    EventPlace::Link(packet.link.0)
                } else {
                    EventPlace::Unknown
                },
                data: packet.payload.map(|payload| payload.offset),
                octets: Some(octets),
                ..row
            });
        }
    }

    /// Whose packet it is that goes from the first of these ends to the second.
    fn flow<T: Tap<Packet>, M: Medium<Packet>>(
        &self,
        plan: &Plan,
        simulation: &Simulation<T, M>,
        (from, to): (Socket, Socket),
    ) -> Flow {
        let owner = |end: Socket| {
            let node = *self.hosts.get(&plan.owner(end.address()))?;
            let endpoint = simulation.world.node(node).host().endpoint_at(end.port())?;
            self.owners.get(&(node, endpoint)).copied()
        };
        let Some(connection) = owner(from).or_else(|| owner(to)) else { return Flow::default() };
        let numbers = SubflowNumbers::of(plan, simulation, connection);
        Flow { connection: Some(connection), subflow: numbers.between(from, to) }
    }

    fn of_bonds<T: Tap<Packet>, M: Medium<Packet>>(
        &self,
        simulation: &mut Simulation<T, M>,
        rows: &mut Vec<EventRow>,
    ) {
        for (&BondEnds(ends), &first) in simulation.bonds.iter().zip(&self.bond_rows) {
            for (end, (node, index)) in (0u32..).zip(ends) {
                let bond = &mut simulation.world.node_mut(node).gateway_mut().bonds[index as usize];
                let whole = first + end * (1 + bond.members.len() as u32);
                let noted = bond.trace.as_mut().map(|trace| trace.take()).unwrap_or_default();
                rows.extend(noted.into_iter().map(|row| EventRow {
                    place: EventPlace::Bond(whole + row.subflow.map_or(0, |path| path + 1)),
                    subflow: None,
                    ..row
                }));
            }
        }
    }
}

/// For each bond the index of its first row: each has for both directions one of the whole, and one per path.
fn bond_rows(plan: &Plan) -> Vec<u32> {
    let sizes =
        plan.links.iter().filter_map(|link| link.bond()).map(|bond| 2 * (1 + bond.paths.len() as u32));
    let first = sizes.scan(0, |next, size| Some(std::mem::replace(next, *next + size)));
    first.collect()
}

/// An event in words.
fn text(row: &EventRow) -> String {
    let mut text = row.event.to_owned();
    let mut add = |part: String| {
        text.push_str(": ");
        text.push_str(&part);
    };
    if let Some([cwnd, ssthresh]) = row.window {
        let threshold = if ssthresh == u32::MAX { String::new() } else { format!(", ssthresh {ssthresh}") };
        add(format!("cwnd {cwnd}{threshold}"));
    }
    if let Some(data) = row.data {
        add(row.octets.map_or(format!("octet {data}"), |octets| format!("{octets} octets from {data}")));
    }
    if let Some(duration) = row.duration {
        add(duration.to_string());
    }
    if !row.reason.is_empty() {
        add(row.reason.to_string());
    }
    text
}

const fn cause(reason: DropReason) -> &'static str {
    match reason {
        DropReason::QueueFull => "queue: it was full",
        DropReason::Aqm => "aqm: active queue management chose it",
        DropReason::Loss => "loss: on the medium",
        DropReason::Down => "down: the link was",
    }
}

fn of_connections<T: Tap<Packet>, M: Medium<Packet>>(
    plan: &Plan,
    simulation: &mut Simulation<T, M>,
    rows: &mut Vec<EventRow>,
) {
    for index in 0..simulation.ends.len() {
        let ends = simulation.ends[index];
        let places = [(ends.client, EventPlace::Source), (ends.server, EventPlace::Destination)];
        for ((node, endpoint), place) in places {
            let host = simulation.world.node_mut(node).host_mut();
            let noted = host.endpoint_mut(endpoint).take_noted();
            if noted.is_empty() {
                continue;
            }
            let numbers = SubflowNumbers::of(plan, simulation, index as u32);
            let is_sender = (place == EventPlace::Destination) == plan.connections[index].server_sends();
            let connection = Some(index as u32);
            rows.extend(noted.into_iter().map(|row| {
                let subflow = match is_sender {
                    true => row.subflow,
                    false => row.subflow.and_then(|number| numbers.at_sender(number)),
                };
                EventRow { place, connection, subflow, ..row }
            }));
        }
    }
}

/// The subflows of a connection: their numbers at both ends, which count by themselves, and their addresses.
struct SubflowNumbers {
    /// At the sender of the data: number, own end, other end.
    sender: Vec<(u32, Socket, Socket)>,
    receiver: Vec<(u32, Socket, Socket)>,
}

impl SubflowNumbers {
    fn of<T: Tap<Packet>, M: Medium<Packet>>(
        plan: &Plan,
        simulation: &Simulation<T, M>,
        connection: u32,
    ) -> Self {
        let plan: &ConnectionPlan = &plan.connections[connection as usize];
        let ends = simulation.ends[connection as usize];
        let numbers =
            |(node, endpoint): (NodeId, u32)| match simulation.world.node(node).host().endpoint(endpoint) {
                Endpoint::Stream(stream) => match &stream.transport {
                    Transport::Mptcp(stream) => {
                        let all = stream.subflows().into_iter();
                        all.map(|(subflow, at)| (subflow.id().0, at.local, at.remote)).collect()
                    }
                    Transport::Tcp(stream) => vec![(0, stream.tuple.local, stream.tuple.remote)],
                    Transport::Waiting | Transport::Listening => Vec::new(),
                },
                Endpoint::UdpSender(sender) => vec![(0, sender.tuple.local, sender.tuple.remote)],
                Endpoint::UdpReceiver(..) => Vec::new(),
            };
        let (client, server) = (numbers(ends.client), numbers(ends.server));
        match plan.server_sends() {
            true => Self { sender: server, receiver: client },
            false => Self { sender: client, receiver: server },
        }
    }

    /// Of the subflow between two ends, whichever of them sends.
    fn between(&self, a: Socket, b: Socket) -> Option<u32> {
        let is_between = |&&(_, local, remote): &&(u32, Socket, Socket)| {
            (local, remote) == (a, b) || (local, remote) == (b, a)
        };
        self.sender.iter().find(is_between).map(|&(number, ..)| number)
    }

    /// The number at the sender of a subflow that has this one at the receiver.
    fn at_sender(&self, number: u32) -> Option<u32> {
        let &(_, local, remote) = self.receiver.iter().find(|&&(own, ..)| own == number)?;
        self.between(local, remote)
    }
}

impl Endpoint {
    /// Notes these kinds of events from now on.
    fn trace(&mut self, kinds: EventKinds) {
        if let Self::Stream(endpoint) = self {
            endpoint.trace(kinds);
        }
    }

    fn take_noted(&mut self) -> Vec<EventRow> {
        match self {
            Self::Stream(endpoint) => endpoint.trace.as_mut().map(|trace| trace.take()).unwrap_or_default(),
            Self::UdpSender(_) | Self::UdpReceiver(..) => Vec::new(),
        }
    }
}
