//! A packet, a node and a tap for tests.

use ropewalk_sim::{
    Context, DirectionConfig, DropReason, LinkId, LinkSetup, Node, NodeId, Packet, PacketId, Port, Queue,
    QueueLimit, Streams, Tap, World,
};
use ropewalk_units::{Duration, Instant, Probability, Rate};

/// A numbered packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Parcel {
    pub(crate) id: u32,
    pub(crate) len: u32,
    pub(crate) ecn: bool,
    pub(crate) ce: bool,
}

impl Packet for Parcel {
    fn wire_len(&self) -> u32 {
        self.len
    }
    fn is_data(&self) -> bool {
        self.len > 100
    }
    fn ecn_capable(&self) -> bool {
        self.ecn
    }
    fn mark_ce(&mut self) {
        self.ce = true;
    }
    fn flow_hash(&self) -> u32 {
        self.id % 3
    }
    fn duplicate(&self) -> Self {
        *self
    }
}

/// Sends its parcels at their times out of port 0, and writes down what arrives. With `relay` it sends that on.
#[derive(Default)]
pub(crate) struct Station {
    pub(crate) outgoing: Vec<Parcel>,
    pub(crate) relay: Option<Port>,
    pub(crate) arrived: Vec<(u64, Parcel)>,
}

impl Node for Station {
    type Packet = Parcel;

    fn handle_packet(&mut self, context: &mut Context<'_, Parcel>, _port: Port, packet: PacketId) {
        self.arrived.push((context.now().as_nanos(), *context.packet(packet)));
        match self.relay {
            Some(port) => context.forward(port, packet),
            None => context.drop_packet(packet),
        }
    }

    fn handle_timer(&mut self, context: &mut Context<'_, Parcel>, token: u32) {
        context.send(Port(0), self.outgoing[token as usize]);
    }
}

/// Writes down everything, whatever it is, with its time.
#[derive(Default)]
pub(crate) struct Diary(pub Vec<(u64, LinkId, String)>);

impl Tap<Parcel> for Diary {
    const ACTIVE: bool = true;
    fn transmitted(&mut self, at: Instant, link: LinkId, packet: &Parcel) {
        self.0.push((at.as_nanos(), link, format!("transmitted {}", packet.id)));
    }
    fn delivered(&mut self, at: Instant, link: LinkId, packet: &Parcel) {
        self.0.push((at.as_nanos(), link, format!("delivered {}", packet.id)));
    }
    fn dropped(&mut self, at: Instant, link: LinkId, packet: &Parcel, reason: DropReason) {
        self.0.push((at.as_nanos(), link, format!("dropped {} {reason:?}", packet.id)));
    }
    fn marked(&mut self, at: Instant, link: LinkId, packet: &Parcel) {
        self.0.push((at.as_nanos(), link, format!("marked {}", packet.id)));
    }
}

/// 8 Mbit/s, so that an octet takes a microsecond; 10 ms; 10 packets.
pub(crate) fn config() -> DirectionConfig {
    DirectionConfig {
        delay: Duration::from_millis(10),
        queue: Queue::DropTail { limit: QueueLimit::Packets(10), mark_above: None },
        ..DirectionConfig::new(Rate::from_bits_per_sec(8_000_000))
    }
}

pub(crate) fn probability(p: f64) -> Probability {
    Probability::new(p).expect("in [0, 1]")
}

pub(crate) fn setup(name: &str, config: DirectionConfig) -> LinkSetup {
    LinkSetup { name: name.to_owned(), config, streams: Streams::new(5) }
}

pub(crate) fn us(us: u64) -> Instant {
    Instant::from_nanos(us * 1_000)
}

/// Two stations; the first sends.
pub(crate) struct Pair<T: Tap<Parcel>> {
    pub(crate) world: World<Station, T>,
    pub(crate) sender: NodeId,
    pub(crate) receiver: NodeId,
    pub(crate) link: LinkId,
}

impl<T: Tap<Parcel>> Pair<T> {
    pub(crate) fn new(config: DirectionConfig, tap: T) -> Self {
        let mut world = World::new(tap);
        let sender = world.add_node(Station::default());
        let receiver = world.add_node(Station::default());
        let back = setup("back", self::config());
        let (_, _, [link, _]) = world.connect(sender, receiver, setup("there", config), back);
        Self { world, sender, receiver, link }
    }

    /// Sends a packet at a time in us; its number counts from 0.
    pub(crate) fn send(&mut self, at: u64, len: u32) {
        let station = self.world.node_mut(self.sender);
        let id = station.outgoing.len() as u32;
        station.outgoing.push(Parcel { id, len, ecn: false, ce: false });
        self.world.set_timer(self.sender, us(at), id);
    }

    /// Sends an ECN-capable packet.
    pub(crate) fn send_ecn(&mut self, at: u64, len: u32) {
        self.send(at, len);
        let sender = self.world.node_mut(self.sender);
        sender.outgoing.last_mut().expect("the one just sent").ecn = true;
    }

    /// (time in us, number) of each arrival.
    pub(crate) fn arrivals(&self) -> Vec<(u64, u32)> {
        self.world.node(self.receiver).arrived.iter().map(|(at, parcel)| (at / 1_000, parcel.id)).collect()
    }
}
