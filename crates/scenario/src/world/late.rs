//! A node that is late with its work: its timers fire late, and it wakes up late or seldom for what arrives.

use super::packet::Packet;
use crate::plan::JitterPlan;
use ropewalk_sim::{Context, Node, Packet as _, PacketId, Port, Stream};
use ropewalk_units::{Duration, Instant};
use std::collections::{BTreeMap, VecDeque};

/// Timers of its own; those of nodes are indices.
const WAKE_UP: u32 = u32::MAX;
const LATE_TIMER: u32 = u32::MAX - 1;

/// A node that can hear of a timer later than it was due.
pub(crate) trait Punctual: Node<Packet = Packet> {
    /// A timer was due at `due`; it reaches the node now.
    fn handle_timer_of(&mut self, context: &mut Context<'_, Packet>, token: u32, due: Instant);
}

/// A node behind its lateness.
#[derive(Debug)]
pub(crate) struct Late<N> {
    node: N,
    plan: JitterPlan,
    randomness: Stream,
    /// What has arrived and the node has not handled.
    waiting: VecDeque<(Port, PacketId)>,
    waiting_bytes: u64,
    /// When the node wakes up for them.
    wakes: Instant,
    /// Timers whose time has come, in the order in which they fire: the token, and when it would have fired.
    timers: BTreeMap<(Instant, u64), (u32, Instant)>,
    /// How many there were: those of one time fire in the order in which they came.
    number: u64,
}

impl<N: Punctual> Late<N> {
    /// The node, late as planned.
    pub(crate) fn new(node: N, plan: JitterPlan, randomness: Stream) -> Self {
        Self {
            node,
            plan,
            randomness,
            waiting: VecDeque::new(),
            waiting_bytes: 0,
            wakes: Instant::MAX,
            timers: BTreeMap::new(),
            number: 0,
        }
    }

    /// The node.
    pub(crate) fn node(&self) -> &N {
        &self.node
    }

    /// The same, to change it.
    pub(crate) fn node_mut(&mut self) -> &mut N {
        &mut self.node
    }

    fn draw(&mut self, mean: Duration) -> Duration {
        match mean.is_zero() {
            true => Duration::ZERO,
            false => Duration::from_secs_f64(self.randomness.exponential(mean.as_secs_f64())),
        }
    }

    /// A packet waits until the node wakes up.
    pub(crate) fn handle_packet(&mut self, context: &mut Context<'_, Packet>, port: Port, id: PacketId) {
        if self.plan.arrivals.is_zero() && self.plan.coalesce.is_zero() {
            return self.node.handle_packet(context, port, id);
        }
        self.waiting_bytes += u64::from(context.packet(id).wire_len());
        self.waiting.push_back((port, id));
        let is_first = self.waiting.len() == 1;
        let heard = match self.plan.coalesce_bytes {
            Some(bytes) if self.waiting_bytes >= bytes => Some(context.now()),
            _ => is_first.then(|| context.now() + self.plan.coalesce),
        };
        let Some(heard) = heard else { return };
        let wakes = heard + self.draw(self.plan.arrivals);
        if is_first || wakes < self.wakes {
            self.wakes = wakes;
            context.set_timer(wakes, WAKE_UP);
        }
    }

    /// A timer has fired: one of its own, or one of the node's, which hears of it later.
    pub(crate) fn handle_timer(&mut self, context: &mut Context<'_, Packet>, token: u32) {
        let now = context.now();
        match token {
            WAKE_UP => self.wake_up(context),
            LATE_TIMER => {
                while let Some(entry) = self.timers.first_entry().filter(|entry| entry.key().0 <= now) {
                    let (token, due) = entry.remove();
                    self.node.handle_timer_of(context, token, due);
                }
            }
            _ if self.plan.timers.is_zero() => self.node.handle_timer_of(context, token, now),
            _ => {
                let fires = now + self.draw(self.plan.timers);
                self.number += 1;
                self.timers.insert((fires, self.number), (token, now));
                context.set_timer(fires, LATE_TIMER);
            }
        }
    }

    /// The node handles all that has arrived.
    fn wake_up(&mut self, context: &mut Context<'_, Packet>) {
        if context.now() != self.wakes {
            return;
        }
        self.wakes = Instant::MAX;
        self.waiting_bytes = 0;
        while let Some((port, id)) = self.waiting.pop_front() {
            self.node.handle_packet(context, port, id);
        }
    }
}
