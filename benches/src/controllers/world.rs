//! Both nodes and the line between them, on the simulator.

use crate::case::{Case, Outcome};
use crate::far::Far;
use crate::flow::{Receiver, Sender};
use crate::near::Near;
use crate::parcel::Parcel;
use ropewalk_congestion::PathController;
use ropewalk_sim::{
    Context, DirectionConfig, LinkId, LinkSetup, LinkStats, NoTap, Node, NodeId, PacketId, Port, Streams,
    World,
};
use ropewalk_units::{Duration, Instant};

/// An end of the line.
enum End {
    Near(Box<Near>),
    Far(Box<Far>),
}

impl Node for End {
    type Packet = Parcel;

    fn handle_packet(&mut self, context: &mut Context<'_, Parcel>, _port: Port, packet: PacketId) {
        let parcel = context.take(packet);
        match self {
            Self::Near(near) => near.handle_packet(context, parcel),
            Self::Far(far) => far.handle_packet(context, parcel),
        }
    }

    fn handle_timer(&mut self, context: &mut Context<'_, Parcel>, _token: u32) {
        match self {
            Self::Near(near) => near.handle_timer(context),
            Self::Far(far) => far.handle_timer(context),
        }
    }
}

const NEAR: NodeId = NodeId(0);
const FAR: NodeId = NodeId(1);

/// A case in work.
struct Judge<'a> {
    case: &'a Case,
    world: World<End>,
    line: LinkId,
    started: bool,
}

/// Runs a case.
pub(crate) fn run(case: &Case, controller: Box<dyn PathController>) -> Outcome {
    let mut judge = Judge::new(case, controller);
    let mut outcome = Outcome::default();
    let (mut before, mut path) = (LinkStats::default(), 0);
    for second in 1..=case.seconds {
        judge.world.run_until(Instant::ZERO + Duration::from_secs(u64::from(second)));
        let so_far = judge.far().path;
        outcome.trace.push((so_far - path) as f64 * 8.0 / (case.mbps * 1e6));
        path = so_far;
        if second <= case.from {
            before = judge.world.link(judge.line);
        }
        judge.start_and_stop(f64::from(second));
    }
    judge.finish(outcome, before)
}

impl<'a> Judge<'a> {
    fn new(case: &'a Case, controller: Box<dyn PathController>) -> Self {
        let streams = Streams::new(case.seed);
        let setup =
            |name: &str, config: DirectionConfig| LinkSetup { name: name.to_owned(), config, streams };
        let mut world = World::new(NoTap);
        world.add_node(End::Near(Box::new(Near::new(case, controller))));
        world.add_node(End::Far(Box::new(Far::new(case))));
        let (_, _, [line, back]) =
            world.connect(NEAR, FAR, setup("forward", case.forward()), setup("back", case.back()));
        if let Some((at, change)) = case.rate_change() {
            world.schedule_change(at, line, change);
        }
        if let Some((at, change)) = case.delay_change() {
            world.schedule_change(at, line, change.clone());
            world.schedule_change(at, back, change);
        }
        world.set_timer(NEAR, Instant::ZERO, 0);
        Self { case, world, line, started: false }
    }

    fn near(&mut self) -> &mut Near {
        let End::Near(near) = self.world.node_mut(NEAR) else { unreachable!("the first node") };
        near
    }

    fn far(&mut self) -> &mut Far {
        let End::Far(far) = self.world.node_mut(FAR) else { unreachable!("the second node") };
        far
    }

    /// The CUBIC flows begin and end.
    fn start_and_stop(&mut self, second: f64) {
        let now = self.world.now();
        if !self.started && second > self.case.cubics_from {
            self.started = true;
            let count = self.case.cubics;
            self.near().cubics = (0..count).map(|_| Sender::new(now)).collect();
            self.far().cubics = (0..count).map(|_| Receiver::default()).collect();
            self.world.set_timer(NEAR, now, 0);
        }
        if second > self.case.cubics_until {
            self.near().cubics.clear();
            self.far().cubics.clear();
        }
    }

    fn finish(mut self, mut outcome: Outcome, before: LinkStats) -> Outcome {
        let case = self.case;
        let seconds = f64::from(case.seconds - case.from);
        let start = Instant::ZERO + Duration::from_secs(u64::from(case.from));
        let capacity = case.rate(start).bits_per_sec() as f64 / 8.0 * seconds;
        let after = self.world.link(self.line);
        let counts = self.far().counts;
        outcome.path = counts.path as f64 / capacity;
        outcome.cubic = counts.cubics as f64 / capacity / case.cubics.max(1) as f64;
        outcome.all = counts.all as f64 / capacity;
        let offered = (after.offered - before.offered).max(1);
        outcome.drops = (after.drops_queue - before.drops_queue) as f64 / offered as f64;
        let mut waits = std::mem::take(&mut self.far().waits);
        waits.sort_unstable_by(f32::total_cmp);
        if !waits.is_empty() {
            let sum = waits.iter().map(|&wait| f64::from(wait)).sum::<f64>();
            outcome.queue_mean = sum / waits.len() as f64;
            outcome.queue_p99 = f64::from(waits[waits.len() * 99 / 100]);
        }
        let competition = &mut self.near().path.competition;
        outcome.competing = competition.measured.as_secs_f64() / seconds;
        outcome.switches = std::mem::take(&mut competition.switches);
        outcome
    }
}
