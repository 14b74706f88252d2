//! The receiving node: it answers, reports and counts.

use crate::case::Case;
use crate::flow::Receiver;
use crate::parcel::{FlowId, Parcel};
use ropewalk_sim::{Context, Packet, Port};
use ropewalk_units::{Duration, Instant};

/// The line.
const LINE: Port = Port(0);
/// Reports leave at multiples of this.
const REPORT: Duration = Duration::from_millis(5);

/// What came while it was measured, octets.
#[derive(Clone, Copy, Default)]
pub(crate) struct Counts {
    pub(crate) path: u64,
    pub(crate) cubics: u64,
    pub(crate) all: u64,
}

/// Everything that receives.
pub(crate) struct Far {
    case: Case,
    from: Instant,
    inner: Receiver,
    pub(crate) cubics: Vec<Receiver>,
    /// Of the path, since the last report.
    arrived: Vec<(u64, Instant)>,
    report: Instant,
    /// The earliest timer that is set.
    wake: Instant,
    pub(crate) counts: Counts,
    /// Octets of the path, from the start.
    pub(crate) path: u64,
    /// Milliseconds in the line's queue.
    pub(crate) waits: Vec<f32>,
}

impl Far {
    pub(crate) fn new(case: &Case) -> Self {
        Self {
            case: case.clone(),
            from: Instant::ZERO + Duration::from_secs(u64::from(case.from)),
            inner: Receiver::default(),
            cubics: Vec::new(),
            arrived: Vec::new(),
            report: Instant::MAX,
            wake: Instant::MAX,
            counts: Counts::default(),
            path: 0,
            waits: Vec::new(),
        }
    }

    pub(crate) fn handle_packet(&mut self, context: &mut Context<'_, Parcel>, parcel: Parcel) {
        let now = context.now();
        self.count(now, &parcel);
        match parcel {
            Parcel::Udp => {}
            Parcel::Segment(FlowId::Inner, _) | Parcel::Report { .. } => unreachable!("they go back only"),
            Parcel::Segment(FlowId::Cubic(flow), segment) => {
                if let Some(receiver) = self.cubics.get_mut(flow) {
                    receiver.handle_segment(now, &segment);
                }
            }
            Parcel::Datagram { number, inner, .. } => {
                self.arrived.push((number, now));
                self.report = self.report.min(next_report(now));
                if let Some(segment) = inner {
                    self.inner.handle_segment(now, &segment);
                }
            }
        }
        self.serve(context);
    }

    pub(crate) fn handle_timer(&mut self, context: &mut Context<'_, Parcel>) {
        let now = context.now();
        if now >= self.wake {
            self.wake = Instant::MAX;
        }
        if self.report <= now {
            self.report = Instant::MAX;
            let arrived = std::mem::take(&mut self.arrived);
            context.send(LINE, Parcel::Report { sent: now, arrived });
        }
        self.serve(context);
    }

    fn count(&mut self, now: Instant, parcel: &Parcel) {
        let bytes = u64::from(parcel.wire_len());
        let datagram =
            if let Parcel::Datagram { sent, bytes, .. } = parcel { Some((*sent, *bytes)) } else { None };
        self.path += datagram.map_or(0, |_| bytes);
        if now < self.from {
            return;
        }
        self.counts.all += bytes;
        match datagram {
            Some((sent, len)) => {
                self.counts.path += bytes;
                let transit = self.case.rate(now).transmission_time(len) + self.case.delay(now);
                let wait = now.saturating_since(sent).saturating_sub(transit);
                self.waits.push((wait.as_secs_f64() * 1e3) as f32);
            }
            None if matches!(parcel, Parcel::Segment(..)) => self.counts.cubics += bytes,
            None => {}
        }
    }

    /// All ACKs, and the next timer.
    fn serve(&mut self, context: &mut Context<'_, Parcel>) {
        let now = context.now();
        while let Some(segment) = self.inner.poll_transmit(now) {
            context.send(LINE, Parcel::Segment(FlowId::Inner, segment));
        }
        for (flow, receiver) in self.cubics.iter_mut().enumerate() {
            while let Some(segment) = receiver.poll_transmit(now) {
                context.send(LINE, Parcel::Segment(FlowId::Cubic(flow), segment));
            }
        }
        let cubics = self.cubics.iter().map(Receiver::deadline).min().unwrap_or(Instant::MAX);
        let deadline = self.report.min(self.inner.deadline()).min(cubics);
        if deadline < self.wake {
            self.wake = deadline;
            context.set_timer(deadline, 0);
        }
    }
}

/// The first time for a report that is after `now`.
fn next_report(now: Instant) -> Instant {
    let step = REPORT.as_nanos();
    Instant::ZERO + Duration::from_nanos((now.as_nanos() / step + 1) * step)
}
