//! The receiving half: what arrived, what the peer may still send, and when ACKs leave.

mod acknowledge;
mod ecn;
mod fin;
mod text;

use crate::config::Config;
use crate::context::{Context, MAX_SCALE};
use crate::receive::{
    AckPolicy, Freshness, Limits, OutOfOrder, PeerClock, Reassembly, ReceiveWindow, Received, SackGenerator,
};
use ropewalk_units::{Instant, Seq};
use ropewalk_wire::{Payload, Segment};

/// Puts what arrives in order, keeps the window, and says when an ACK is due. It reads of the connection only what
/// [`Context`] holds.
#[derive(Clone, Debug)]
// What every segment needs comes first in memory: a thousand connections do not fit the cache as a whole.
#[repr(C)]
pub(crate) struct Receiver {
    acks: AckPolicy,
    window: ReceiveWindow,
    clock: PeerClock,
    /// ECN-Echo on every segment (RFC 3168 §6.1.3): until CWR, or as the last segment was marked.
    echoes_congestion: bool,
    /// The FIN is in order: RCV.NXT is past it.
    fin_reached: bool,
    /// The sequence number of the peer's FIN.
    fin: Option<Seq>,
    sacks: SackGenerator,
    reassembly: Reassembly,
    limits: Limits,
}

impl Receiver {
    pub(crate) fn new(config: &Config) -> Self {
        Self {
            acks: AckPolicy::new(config.delayed_ack.quick_acks),
            window: ReceiveWindow::new(config),
            clock: PeerClock::unknown(),
            echoes_congestion: false,
            fin_reached: false,
            fin: None,
            sacks: SackGenerator::default(),
            reassembly: Reassembly::new(config.most_pieces(config.receive_buffer)),
            limits: Limits::default(),
        }
    }

    /// The peer's SYN is known.
    pub(crate) fn on_peer_syn(&mut self, cx: &Context, syn: &Segment) {
        let scale = cx.config.window_scale.filter(|_| cx.agreed.scaling).unwrap_or(0);
        self.window.open(syn.seq + 1, scale.min(MAX_SCALE), cx.now);
        let value = syn.options.timestamps.filter(|_| cx.agreed.timestamps).map(|t| t.value);
        self.clock.open(cx.now, syn, value);
    }

    /// RFC 7323 §5.3: PAWS.
    pub(crate) fn freshness(&self, cx: &Context, segment: &Segment) -> Freshness {
        self.clock.judge(cx.now, segment)
    }

    /// RFC 7323 §4.3: an acceptable segment, whose ACK is acceptable too, may move TS.Recent.
    pub(crate) fn record_timestamp(&mut self, cx: &Context, segment: &Segment) {
        if cx.agreed.timestamps {
            self.clock.record(cx.now, segment);
        }
    }

    /// TS.Recent.
    pub(crate) fn recent_timestamp(&self) -> u32 {
        self.clock.recent()
    }

    /// Is the segment in order and within the window? Nearly every one.
    pub(crate) fn is_next(&self, segment: &Segment) -> bool {
        segment.seq == self.window.next()
            && (segment.payload.len == 0 || segment.end().before_eq(self.window.edge()))
    }

    /// The receiver's part of [`crate::Connection::expects`].
    #[inline(always)]
    pub(crate) fn expects(&self, segment: &Segment) -> bool {
        self.is_next(segment)
            && self.fin.is_none()
            && self.clock.expects(segment)
            && (segment.payload.len == 0 || !self.reassembly.has_hole())
    }

    /// RCV.NXT.
    pub(crate) fn next(&self) -> Seq {
        self.window.next()
    }

    /// Reads at most `max` octets of one contiguous piece; `irs` is the peer's initial sequence number.
    pub(crate) fn read(&mut self, max: u64, irs: Seq) -> Option<Received> {
        let received = self.reassembly.read(max, irs)?;
        self.window.read(received.payload.len);
        Some(received)
    }

    /// Does an ACK wait only until the application has read what arrived?
    #[inline]
    pub(crate) fn waits_for_reader(&self) -> bool {
        self.acks.waits_for_reader()
    }

    /// The owner's buffer holds so many octets now.
    pub(crate) fn follow_buffer(&mut self, limit: u32) {
        self.window.follow(limit);
    }

    /// Octets that may be read.
    pub(crate) fn readable(&self) -> u64 {
        self.reassembly.readable()
    }

    /// Names each range that arrived and was not read.
    pub(crate) fn visit(&self, visit: &mut impl FnMut(Payload)) {
        self.reassembly.visit(visit);
    }

    /// Is the FIN in order, and everything before it read?
    pub(crate) fn is_finished(&self) -> bool {
        self.fin_reached && self.reassembly.readable() == 0
    }

    /// Octets that arrived above a hole, and the pieces that they are in.
    pub(crate) fn waiting(&self) -> OutOfOrder {
        self.reassembly.waiting()
    }

    /// The window, to be looked at.
    pub(crate) fn window(&self) -> &ReceiveWindow {
        &self.window
    }

    /// An ACK is due at once; data may carry it.
    pub(crate) fn ack_at_once(&mut self) {
        self.acks.at_once();
    }

    /// An ACK is due at once, in a segment of its own.
    pub(crate) fn ack_alone(&mut self) {
        self.acks.pure();
    }

    /// Nothing is to be acknowledged any more.
    pub(crate) fn stop(&mut self) {
        self.acks.sent();
    }

    /// Is an ACK due?
    pub(crate) fn owes_ack(&self) -> bool {
        self.acks.is_due()
    }

    /// … in a segment of its own?
    pub(crate) fn owes_ack_alone(&self) -> bool {
        self.acks.wants_pure()
    }

    /// When a delayed ACK must go, or [`Instant::MAX`].
    pub(crate) fn deadline(&self) -> Instant {
        self.acks.deadline()
    }

    /// Has the delayed ACK's time come?
    pub(crate) fn handle_timeout(&mut self, now: Instant) {
        if self.acks.deadline() <= now {
            self.acks.expired();
        }
    }

    /// Data came that lies below the window, from `segment.seq` up to `end`.
    pub(crate) fn on_old_data(&mut self, cx: &Context, seq: Seq, end: Seq) {
        self.report_duplicate(cx, seq, end);
        self.acks.duplicate(&cx.config.delayed_ack);
    }

    /// RFC 9293 §3.4: the four cases.
    #[inline(never)]
    pub(crate) fn in_window(&self, seq: Seq, len: u32) -> bool {
        let (next, size) = (self.window.next(), self.window.size());
        let inside = |seq: Seq| seq.after_eq(next) && seq.before(next + size);
        match (len, size) {
            (0, 0) => seq == next,
            (0, _) => inside(seq) || seq == next + size,
            // RFC 9293 §3.10.7.4: with a window of zero nothing is taken, but a valid ACK is.
            (_, 0) => seq == next,
            (_, _) => inside(seq) || inside(seq + (len - 1)) || (seq.before(next) && (seq + len).after(next)),
        }
    }

    /// Octets from `left` up to `right` arrived a second time: the next ACK says so (RFC 2883 §4).
    pub(crate) fn report_duplicate(&mut self, cx: &Context, left: Seq, right: Seq) {
        // What lies below the peer's SYN never arrived.
        let known = cx.stats.bytes_received + u64::from(self.fin_reached);
        let next = self.window.next();
        let arrived = left.after_eq(next) || u64::from(next.since(left)) <= known;
        if arrived && cx.agreed.sack && cx.config.report_duplicates {
            self.sacks.duplicated((left, right));
        }
    }

    /// A challenge ACK (RFC 5961 §3.2, §4.2, §5.2), not too often (§7).
    #[cold]
    pub(crate) fn challenge(&mut self, cx: &Context) {
        if self.limits.allow_challenge(cx.now) {
            self.acks.at_once();
        }
    }

    /// A segment outside the window that brings nothing. A window probe, a keepalive or a repeated SYN/ACK lies just below
    /// RCV.NXT: no flood of other segments may use up its answer.
    pub(crate) fn challenge_old(&mut self, cx: &Context, segment: &Segment) {
        if segment.seq + 1 != self.window.next() {
            return self.challenge(cx);
        }
        if self.limits.allow_answer(cx.now) {
            self.acks.at_once();
        }
    }
}
