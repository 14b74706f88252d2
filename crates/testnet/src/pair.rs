//! Two ends of anything that sends datagrams, on the simulator.

use crate::line::{Line, lay};
use crate::network::node;
use ropewalk_sim::{Context, LinkId, LinkStats, NoTap, Node, Packet, PacketId, Port, Streams, World};
use ropewalk_units::Instant;

/// What stands at one end of the lines.
pub trait End {
    /// What it exchanges with the other one.
    type Datagram: Clone;

    /// A datagram came by this line.
    fn handle_datagram(&mut self, now: Instant, line: usize, datagram: Self::Datagram);

    /// The next datagram to send.
    fn poll_transmit(&mut self, now: Instant) -> Option<Outgoing<Self::Datagram>>;

    /// Handles the rest of what an event has led to, after everything was sent.
    fn settle(&mut self, now: Instant);

    /// When it has something to do by itself.
    fn deadline(&self) -> Instant;

    /// That time has come.
    fn handle_timeout(&mut self, now: Instant);
}

/// A datagram that leaves an end.
#[derive(Clone, Debug)]
pub struct Outgoing<D> {
    /// The line that it takes.
    pub line: usize,
    /// Octets on the line.
    pub len: u32,
    /// The datagram.
    pub datagram: D,
}

/// A datagram as links carry it.
#[derive(Clone)]
struct Carried<D> {
    len: u32,
    datagram: D,
}

impl<D: Clone> Packet for Carried<D> {
    fn wire_len(&self) -> u32 {
        self.len
    }

    fn is_data(&self) -> bool {
        true
    }

    fn duplicate(&self) -> Self {
        self.clone()
    }
}

/// An end as a node of the simulator.
struct Side<E> {
    end: E,
    /// The earliest timer that is set.
    wake: Instant,
}

impl<E: End> Side<E> {
    fn serve(&mut self, context: &mut Context<'_, Carried<E::Datagram>>) {
        let now = context.now();
        while let Some(Outgoing { line, len, datagram }) = self.end.poll_transmit(now) {
            context.send(Port(line as u32), Carried { len, datagram });
        }
        self.end.settle(now);
        let deadline = self.end.deadline();
        if deadline < self.wake {
            self.wake = deadline;
            context.set_timer(deadline, 0);
        }
    }
}

impl<E: End> Node for Side<E> {
    type Packet = Carried<E::Datagram>;

    fn handle_packet(&mut self, context: &mut Context<'_, Self::Packet>, port: Port, packet: PacketId) {
        let Carried { datagram, .. } = context.take(packet);
        self.end.handle_datagram(context.now(), port.0 as usize, datagram);
        self.serve(context);
    }

    fn handle_timer(&mut self, context: &mut Context<'_, Self::Packet>, _token: u32) {
        let now = context.now();
        if now >= self.wake {
            self.wake = Instant::MAX;
        }
        if self.end.deadline() <= now {
            self.end.handle_timeout(now);
        }
        self.serve(context);
    }
}

/// Two ends and the lines between them. A line's middlebox does nothing here: it works on segments.
pub struct Pair<E: End> {
    world: World<Side<E>>,
    lines: Vec<[LinkId; 2]>,
}

impl<E: End> Pair<E> {
    /// The ends, and each line from the first and from the second. What is random follows from
    /// `seed`.
    pub fn new(ends: [E; 2], lines: Vec<[Line; 2]>, seed: u64) -> Self {
        let mut world = World::new(NoTap);
        let nodes = ends.map(|end| world.add_node(Side { end, wake: Instant::MAX }));
        let lines = lay(&mut world, nodes, &lines, Streams::new(seed));
        let mut pair = Self { world, lines };
        (0..2).for_each(|side| pair.wake(side));
        pair
    }

    /// Lets an end look at once for what it has to send.
    pub fn wake(&mut self, side: usize) {
        self.world.set_timer(node(side), self.world.now(), 0);
    }

    /// The time.
    pub fn now(&self) -> Instant {
        self.world.now()
    }

    /// One end: 0 or 1.
    pub fn end(&self, side: usize) -> &E {
        &self.world.node(node(side)).end
    }

    /// One end, to take something out or to hand something in. To send what follows, it has to be
    /// woken ([`Self::wake`]).
    pub fn end_mut(&mut self, side: usize) -> &mut E {
        &mut self.world.node_mut(node(side)).end
    }

    /// The next event, if it is not after `limit`; false if there is none.
    pub fn step(&mut self, limit: Instant) -> bool {
        self.world.step(limit)
    }

    /// Runs up to a time.
    pub fn run_until(&mut self, end: Instant) {
        self.world.run_until(end);
    }

    /// What a line has done, in the direction from a side.
    pub fn line(&mut self, line: usize, from: usize) -> LinkStats {
        self.world.link(self.lines[line][from])
    }
}
