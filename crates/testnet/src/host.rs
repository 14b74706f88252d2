//! A host as a node of the simulator.

use crate::datagram::{Datagram, line_of, reversed};
use crate::middlebox::Working;
use crate::stack::Stack;
use ropewalk_mptcp::Path;
use ropewalk_sim::{Context, Node, PacketId, Port};
use ropewalk_units::Instant;
use ropewalk_wire::{Options, Segment};
use std::collections::{BTreeMap, VecDeque};

/// A stack, the boxes before it, and what a test put in.
#[derive(Debug)]
pub(crate) struct Host<S> {
    pub(crate) stack: S,
    /// One for each port.
    pub(crate) boxes: Vec<Working>,
    /// Segments that a box holds, by time and number.
    held: BTreeMap<(Instant, u64), Datagram>,
    number: u64,
    /// The earliest timer that is set.
    wake: Instant,
    /// Put in by a test.
    pub(crate) inbox: VecDeque<(Path, Segment)>,
    /// Are sent segments kept for the network?
    pub(crate) watched: bool,
    pub(crate) outgoing: Vec<(Instant, Path, Segment)>,
    /// Altered data is noticed at both hosts.
    pub(crate) checked: bool,
}

/// No honest host sends more segments than this in answer to one event.
const LONGEST_BURST: u32 = 100_000;

impl<S: Stack> Host<S> {
    pub(crate) fn new(stack: S, boxes: Vec<Working>) -> Self {
        Self {
            stack,
            boxes,
            held: BTreeMap::new(),
            number: 0,
            wake: Instant::MAX,
            inbox: VecDeque::new(),
            watched: false,
            outgoing: Vec::new(),
            checked: true,
        }
    }

    /// When it has something to do by itself.
    pub(crate) fn deadline(&self) -> Instant {
        let held = self.held.keys().next().map_or(Instant::MAX, |(at, _)| *at);
        self.stack.deadline().min(held)
    }

    fn arrive(&mut self, context: &mut Context<'_, Datagram>, path: Path, segment: &Segment) {
        if let Some(answer) = self.stack.handle_segment(context.now(), path, segment) {
            self.send(context, path, answer);
        }
    }

    fn release(&mut self, context: &mut Context<'_, Datagram>) {
        while let Some(entry) = self.held.first_entry()
            && entry.key().0 <= context.now()
        {
            let Datagram { path, segment } = entry.remove();
            self.arrive(context, path, &segment);
            self.serve(context);
        }
    }

    /// Lets the application work, sends what may leave, and sets the next timer.
    fn serve(&mut self, context: &mut Context<'_, Datagram>) {
        let now = context.now();
        self.stack.settle(now);
        let mut burst = 0;
        while let Some((path, segment)) = self.stack.poll_transmit(now) {
            burst += 1;
            assert!(burst < LONGEST_BURST, "an endless burst");
            self.send(context, path, segment);
        }
        self.stack.settle(now);
        let deadline = self.deadline();
        if deadline < self.wake {
            self.wake = deadline;
            context.set_timer(deadline, 0);
        }
    }

    fn send(&mut self, context: &mut Context<'_, Datagram>, path: Path, segment: Segment) {
        assert!(segment.options.wire_len() <= Options::SPACE, "options fit: {segment:?}");
        if self.watched {
            self.outgoing.push((context.now(), path, segment.clone()));
        }
        let port = Port(line_of(path, self.boxes.len()) as u32);
        context.send(port, Datagram { path: reversed(path), segment });
    }
}

impl<S: Stack> Node for Host<S> {
    type Packet = Datagram;

    fn handle_packet(&mut self, context: &mut Context<'_, Datagram>, port: Port, packet: PacketId) {
        let mut datagram = context.take(packet);
        let now = context.now();
        let Some(at) = self.boxes[port.0 as usize].pass(now, &mut datagram.segment, self.checked) else {
            return;
        };
        if at > now {
            self.held.insert((at, self.number), datagram);
            self.number += 1;
        } else {
            self.arrive(context, datagram.path, &datagram.segment);
        }
        self.serve(context);
    }

    fn handle_timer(&mut self, context: &mut Context<'_, Datagram>, _token: u32) {
        let now = context.now();
        if now >= self.wake {
            self.wake = Instant::MAX;
        }
        while let Some((path, segment)) = self.inbox.pop_front() {
            self.arrive(context, path, &segment);
            self.serve(context);
        }
        self.release(context);
        if self.stack.deadline() <= now {
            self.stack.handle_timeout(now);
            self.serve(context);
            assert!(self.stack.deadline() >= now, "a timer that expired stays due");
        } else {
            self.serve(context);
        }
    }
}
