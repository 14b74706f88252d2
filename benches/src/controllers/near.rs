//! The sending node: the path with its inner flow, CUBIC flows and datagrams beside it.

use crate::case::{Case, Demand};
use crate::flow::Sender;
use crate::parcel::{FlowId, Parcel};
use crate::path::Path;
use ropewalk_congestion::PathController;
use ropewalk_sim::{Context, Port};
use ropewalk_units::Instant;

/// The line.
const LINE: Port = Port(0);

/// Everything that sends.
pub(crate) struct Near {
    case: Case,
    pub(crate) path: Path,
    inner: Sender,
    pub(crate) cubics: Vec<Sender>,
    next_udp: Instant,
    /// The earliest timer that is set.
    wake: Instant,
}

impl Near {
    pub(crate) fn new(case: &Case, controller: Box<dyn PathController>) -> Self {
        Self {
            case: case.clone(),
            path: Path::new(case, controller),
            inner: Sender::new(Instant::ZERO),
            cubics: Vec::new(),
            next_udp: if case.udp_gap().is_some() { Instant::ZERO } else { Instant::MAX },
            wake: Instant::MAX,
        }
    }

    pub(crate) fn handle_packet(&mut self, context: &mut Context<'_, Parcel>, parcel: Parcel) {
        let now = context.now();
        match parcel {
            Parcel::Segment(FlowId::Inner, segment) => self.inner.handle_segment(now, &segment),
            // Of a flow that has ended no ACK is awaited.
            Parcel::Segment(FlowId::Cubic(flow), segment) => {
                if let Some(sender) = self.cubics.get_mut(flow) {
                    sender.handle_segment(now, &segment);
                }
            }
            Parcel::Report { sent, arrived } => self.path.handle_report(now, sent, &arrived),
            Parcel::Datagram { .. } | Parcel::Udp => unreachable!("data go forward only"),
        }
        self.serve(context);
    }

    pub(crate) fn handle_timer(&mut self, context: &mut Context<'_, Parcel>) {
        if context.now() >= self.wake {
            self.wake = Instant::MAX;
        }
        self.path.handle_timeout(context.now());
        self.serve(context);
    }

    /// Everything that may leave, and the next timer.
    fn serve(&mut self, context: &mut Context<'_, Parcel>) {
        let now = context.now();
        self.send_udp(context);
        for (flow, sender) in self.cubics.iter_mut().enumerate() {
            while let Some(segment) = sender.poll_transmit(now) {
                context.send(LINE, Parcel::Segment(FlowId::Cubic(flow), segment));
            }
        }
        if self.case.demand == Demand::Inner {
            while let Some(segment) = self.inner.poll_transmit(now) {
                self.path.push(now, segment);
            }
        }
        while let Some(parcel) = self.path.poll_transmit(now) {
            context.send(LINE, parcel);
        }
        self.rest(context);
    }

    fn send_udp(&mut self, context: &mut Context<'_, Parcel>) {
        let now = context.now();
        while let Some(gap) = self.case.udp_gap()
            && self.next_udp <= now
        {
            if self.case.udp_is_on(now) {
                context.send(LINE, Parcel::Udp);
            }
            self.next_udp += gap;
        }
    }

    fn rest(&mut self, context: &mut Context<'_, Parcel>) {
        let inner = if self.case.demand == Demand::Inner { self.inner.deadline() } else { Instant::MAX };
        let cubics = self.cubics.iter().map(Sender::deadline).min().unwrap_or(Instant::MAX);
        let deadline = self.path.deadline(context.now()).min(inner).min(cubics).min(self.next_udp);
        if deadline < self.wake {
            self.wake = deadline;
            context.set_timer(deadline, 0);
        }
    }
}
