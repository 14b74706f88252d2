//! A medium beside links: a toy one that delivers after a fixed time and drops every third packet.

use crate::common::{Diary, Parcel, Station, config, setup, us};
use ropewalk_sim::{
    DropReason, LinkId, LinkStats, Medium, MediumContext, NodeId, PacketId, Port, Tap, World,
};
use ropewalk_units::{Duration, Instant};

/// Takes 5 ms; of each entry every third packet is dropped.
#[derive(Default)]
struct Slow {
    waiting: Vec<(u32, PacketId)>,
    offered: [u64; 4],
    dropped: [u64; 4],
    delivered: [u64; 4],
}

impl Medium<Parcel> for Slow {
    const ACTIVE: bool = true;

    fn offer<T: Tap<Parcel>>(
        &mut self,
        context: &mut MediumContext<'_, Parcel, T>,
        entry: u32,
        packet: PacketId,
    ) {
        self.offered[entry as usize] += 1;
        if self.offered[entry as usize].is_multiple_of(3) {
            self.dropped[entry as usize] += 1;
            context.drop_packet(entry, packet, DropReason::Loss);
            return;
        }
        let token = self.waiting.len() as u64 | 1 << 40;
        self.waiting.push((entry, packet));
        context.transmitted(entry, packet);
        context.set_timer(context.now() + Duration::from_millis(5), token);
    }

    fn handle_timer<T: Tap<Parcel>>(&mut self, context: &mut MediumContext<'_, Parcel, T>, token: u64) {
        assert_eq!(token >> 40, 1, "both halves of the token come back");
        let (entry, packet) = self.waiting[(token & 0xffff_ffff) as usize];
        self.delivered[entry as usize] += 1;
        context.deliver(entry, packet);
    }

    fn stats(&self, entry: u32, _: Instant) -> LinkStats {
        let at = entry as usize;
        LinkStats {
            offered: self.offered[at],
            delivered: self.delivered[at],
            drops_loss: self.dropped[at],
            in_flight: self.offered[at] - self.delivered[at] - self.dropped[at],
            ..LinkStats::default()
        }
    }
}

fn parcel(id: u32) -> Parcel {
    Parcel { id, len: 1_000, ecn: false, ce: false }
}

fn send(world: &mut World<Station, Diary, Slow>, from: NodeId, at: u64, id: u32) {
    let station = world.node_mut(from);
    station.outgoing.push(parcel(id));
    let token = station.outgoing.len() as u32 - 1;
    world.set_timer(from, us(at), token);
}

#[test]
fn a_packet_goes_through_the_medium_a_relay_and_a_link() {
    let mut world = World::with_medium(Diary::default(), Slow::default());
    let a = world.add_node(Station::default());
    let relay = world.add_node(Station { relay: Some(Port(1)), ..Station::default() });
    let b = world.add_node(Station::default());
    let (port_a, port_r, air) = world.connect_medium(a, relay, [1, 0]);
    let (_, _, wire) = world.connect(relay, b, setup("there", config()), setup("back", config()));
    assert_eq!((port_a, port_r, air), (Port(0), Port(0), [LinkId(0), LinkId(1)]));
    assert_eq!(wire, [LinkId(2), LinkId(3)], "links are numbered through");
    assert_eq!(world.destination(air[0]), (relay, Port(0)));
    for id in 0..4 {
        send(&mut world, a, u64::from(id) * 1_000, id);
    }
    world.run_until(us(6_500));
    let halfway = world.link(air[0]);
    assert_eq!((halfway.offered, halfway.delivered, halfway.drops_loss, halfway.in_flight), (4, 2, 1, 1));
    world.run_until(us(100_000));
    let stats = world.link(air[0]);
    assert_eq!((stats.offered, stats.delivered, stats.drops_loss, stats.in_flight), (4, 3, 1, 0));
    // 5 ms in the medium, 1 ms per packet on the link, 10 ms along it.
    let arrived: Vec<_> = world.node(b).arrived.iter().map(|(at, p)| (at / 1_000, p.id)).collect();
    assert_eq!(arrived, [(16_000, 0), (17_000, 1), (19_000, 3)]);
    assert_eq!(world.link(wire[0]).delivered, 3);
    assert_eq!(world.packets(), 0);
}

#[test]
fn a_tap_hears_the_medium_as_it_hears_links() {
    let mut world = World::with_medium(Diary::default(), Slow::default());
    let a = world.add_node(Station::default());
    let b = world.add_node(Station::default());
    world.connect_medium(a, b, [0, 1]);
    for id in 0..3 {
        send(&mut world, a, u64::from(id) * 1_000, id);
    }
    world.run_until(us(100_000));
    let heard: Vec<_> = world.tap().0.iter().map(|(at, _, what)| (at / 1_000, what.as_str())).collect();
    assert_eq!(
        heard,
        [
            (0, "transmitted 0"),
            (1_000, "transmitted 1"),
            (2_000, "dropped 2 Loss"),
            (5_000, "delivered 0"),
            (6_000, "delivered 1"),
        ]
    );
}

#[test]
fn what_comes_by_an_attached_entry_comes_to_its_own_node() {
    let mut world = World::with_medium(Diary::default(), Slow::default());
    let a = world.add_node(Station::default());
    let (port, link) = world.attach_medium(a, 2);
    assert_eq!((port, world.destination(link)), (Port(0), (a, Port(0))));
    send(&mut world, a, 0, 7);
    world.run_until(us(10_000));
    assert_eq!(world.node(a).arrived, [(5_000_000, parcel(7))]);
    // Between two events the medium can be reached too; what it delivers arrives at once.
    send(&mut world, a, 10_000, 8);
    world.run_until(us(11_000));
    world.touch_medium(|medium, context| {
        let (entry, packet) = medium.waiting[1];
        let copy = context.duplicate(packet);
        context.deliver(entry, copy);
    });
    assert_eq!(world.node(a).arrived.last(), Some(&(11_000_000, parcel(8))));
}
