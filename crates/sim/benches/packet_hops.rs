//! The engine's own cost: two nodes that do nothing but return packets over FIFO links.
//!
//! `cargo bench -p ropewalk-sim --bench packet_hops` prints nanoseconds per packet-hop (a packet delivered over one
//! link) of the whole process's wall time, which is one thread's. A window of packets circulates, so that the queue of
//! the slower direction never runs empty, as under a bulk transfer.

use ropewalk_sim::{
    Context, DirectionConfig, LinkSetup, Loss, NoTap, Node, Packet, PacketId, Port, Queue, QueueLimit,
    Streams, World,
};
use ropewalk_units::{Duration, Instant, Rate};
use std::hint::black_box;

/// As large as a TCP segment with its options.
struct Segment {
    len: u32,
    fields: [u32; 36],
}

impl Packet for Segment {
    fn wire_len(&self) -> u32 {
        self.len
    }
    fn is_data(&self) -> bool {
        self.len > 100
    }
    fn duplicate(&self) -> Self {
        Self { len: self.len, fields: self.fields }
    }
}

/// Answers each packet by one of length `answer`.
struct Echo {
    answer: u32,
    received: u64,
}

impl Node for Echo {
    type Packet = Segment;

    fn handle_packet(&mut self, context: &mut Context<'_, Segment>, port: Port, packet: PacketId) {
        let segment = context.packet(packet);
        self.received += 1;
        let fields = [segment.fields[0].wrapping_add(segment.len); 36];
        context.drop_packet(packet);
        context.send(port, Segment { len: self.answer, fields });
    }

    fn handle_timer(&mut self, context: &mut Context<'_, Segment>, window: u32) {
        for _ in 0..window {
            context.send(Port(0), Segment { len: self.answer, fields: [0; 36] });
        }
    }
}

fn setup(name: &str, loss: Loss) -> LinkSetup {
    LinkSetup {
        name: name.to_owned(),
        config: DirectionConfig {
            delay: Duration::from_millis(1),
            queue: Queue::DropTail { limit: QueueLimit::Packets(1_000), mark_above: None },
            loss,
            ..DirectionConfig::new(Rate::from_bits_per_sec(1_000_000_000))
        },
        streams: Streams::new(1),
    }
}

/// Nanoseconds per packet-hop of `pairs` pairs of nodes over a simulated `span`, and the number of hops.
fn measure(pairs: u32, span: Duration, step: Duration) -> (f64, u64) {
    let mut world: World<Echo, NoTap> = World::new(NoTap);
    for pair in 0..pairs {
        let a = world.add_node(Echo { answer: 1_500, received: 0 });
        let b = world.add_node(Echo { answer: 66, received: 0 });
        let names = (format!("{pair}/forward"), format!("{pair}/backward"));
        world.connect(a, b, setup(&names.0, Loss::None), setup(&names.1, Loss::None));
        world.set_timer(a, Instant::from_nanos(u64::from(pair) * 977), 200);
    }
    #[expect(clippy::disallowed_methods, reason = "a benchmark measures real time")]
    let start = std::time::Instant::now();
    let mut until = Instant::ZERO;
    while until < Instant::ZERO + span {
        until += step;
        world.run_until(until);
    }
    let elapsed = start.elapsed().as_nanos() as f64;
    let hops = world.nodes().iter().map(|node| node.received).sum();
    black_box(world.packets());
    (elapsed / hops as f64, hops)
}

fn main() {
    println!("packet of {} octets in memory; best of many short runs", size_of::<Segment>());
    for (name, pairs, span, step, runs) in [
        ("one pair, 1 Gbit/s, 1 ms", 1, Duration::from_millis(500), Duration::from_millis(500), 60),
        ("one pair, stopped every 100 us", 1, Duration::from_millis(500), Duration::from_micros(100), 60),
        ("100 pairs", 100, Duration::from_millis(20), Duration::from_millis(20), 20),
    ] {
        let all = (0..runs).map(|_| measure(pairs, span, step));
        let (ns, hops) = all.min_by(|a, b| a.0.total_cmp(&b.0)).expect("some runs");
        println!("{name:<32} {ns:6.1} ns per packet-hop, {:5.1} million per second, {hops} hops", 1e3 / ns);
    }
}
