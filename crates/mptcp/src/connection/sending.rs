//! The sending half: what was written, how far the peer's window lets it out, and how far our DATA_FIN has come.

use crate::memory::SendBuffer;
use crate::send_queue::SendQueue;
use crate::view::QueueView;
use ropewalk_units::Dsn;

/// How far our own DATA_FIN has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Finish {
    No,
    /// The application has finished; data is still to be given to subflows.
    Wanted,
    /// Sent so many times.
    Sent(u32),
    Acknowledged,
}

/// What the application has written, until the peer has it.
#[derive(Clone, Debug)]
pub(super) struct Sending {
    pub(super) queue: SendQueue,
    pub(super) finish: Finish,
    pub(super) buffer: SendBuffer,
    /// The peer's window lets out everything before this octet.
    edge: u64,
    /// Something other than one subflow's contiguous stream was sent: no silent fallback any more.
    pub(super) split: bool,
}

impl Sending {
    /// Nothing yet; the stream begins one after `initial` (RFC 8684 §3.1).
    pub(super) fn new(initial: Dsn, buffer: SendBuffer) -> Self {
        Self { queue: SendQueue::new(initial), finish: Finish::No, buffer, edge: 0, split: false }
    }

    /// The application writes; ignored after it has finished. Was it taken?
    pub(super) fn write(&mut self, octets: u64) -> bool {
        if self.finish == Finish::No {
            self.queue.write(octets);
            self.buffer.on_written(self.buffered());
        }
        self.finish == Finish::No
    }

    /// Octets written that the peer has not acknowledged.
    pub(super) fn buffered(&self) -> u64 {
        self.queue.written() - self.queue.una()
    }

    /// Octets that may be written.
    pub(super) fn space(&self) -> u64 {
        self.buffer.space(self.buffered(), self.queue.written())
    }

    /// Does the application wait for room, everything that it has written being given to subflows?
    pub(super) fn awaits_writer(&self) -> bool {
        self.buffer.is_full() && self.queue.unscheduled() == 0
    }

    /// Do data wait for a subflow or for the peer's DATA_ACK?
    pub(super) fn is_busy(&self) -> bool {
        self.queue.una() < self.queue.written()
    }

    /// Does anything wait for the peer to answer?
    pub(super) fn waits_for_peer(&self) -> bool {
        let unacknowledged = self.queue.una() < self.queue.next();
        unacknowledged
            || self.queue.unscheduled() > 0
            || matches!(self.finish, Finish::Sent(_) | Finish::Wanted)
    }

    /// Is the DATA_FIN due: all data was given to subflows, and it was never sent?
    pub(super) fn owes_data_fin(&self) -> bool {
        self.finish == Finish::Wanted && self.queue.unscheduled() == 0
    }

    /// The DATA_FIN goes out, perhaps once more.
    pub(super) fn on_data_fin_sent(&mut self) {
        let times = if let Finish::Sent(times) = self.finish { times } else { 0 };
        self.finish = Finish::Sent(times + 1);
    }

    /// Does a DATA_ACK cover our DATA_FIN?
    pub(super) fn acknowledges_data_fin(&self, acknowledged: u64) -> bool {
        matches!(self.finish, Finish::Sent(_)) && acknowledged == self.queue.written() + 1
    }

    /// The peer's window, `octets` beyond `acknowledged`. The right edge never moves back. Did it open?
    pub(super) fn open_window(&mut self, acknowledged: u64, octets: u64) -> bool {
        let edge = acknowledged + octets;
        let opened = edge > self.edge;
        if opened {
            self.edge = edge;
        }
        opened
    }

    /// Would a window of so many octets beyond SND.UNA open it?
    pub(super) fn would_open_window(&self, octets: u64) -> bool {
        self.queue.una() + octets > self.edge
    }

    /// Octets that the peer's window lets out beyond what was given to subflows.
    pub(super) fn window_left(&self) -> u64 {
        self.edge.saturating_sub(self.queue.next())
    }

    /// The queue as the scheduler sees it. Nagle (RFC 9293 §3.7.4), once for the connection: what is shorter than
    /// `least_segment` waits for what is on its way.
    pub(super) fn view(&self, least_segment: u32, opportunistic_retransmissions: u64) -> QueueView {
        let in_flight = self.queue.next() - self.queue.una();
        let unscheduled = self.queue.unscheduled();
        let held = in_flight > 0 && unscheduled < u64::from(least_segment) && self.finish == Finish::No;
        QueueView {
            unsent: if held { 0 } else { unscheduled },
            window_left: self.window_left(),
            in_flight,
            data_acked: self.queue.una(),
            opportunistic_retransmissions,
        }
    }

    /// The first octet that was not written, or that the peer's window keeps back.
    pub(super) fn limit(&self) -> u64 {
        self.queue.written().min(self.edge)
    }
}
