//! One TCP connection.

mod ack;
mod close;
mod open;
mod pace;
mod receive;
mod recovery;
mod spurious;
mod timeout;
mod transmit;
mod views;

pub use receive::Acceptance;
pub use views::Room;

use crate::config::{Config, LossRecovery, WindowOwner};
use crate::event::Event;
use crate::prr::Prr;
use crate::rack::{Probe, Rack};
use crate::receive::{AckPolicy, Reassembly, ReceiveWindow, Received, SackGenerator};
use crate::rtt::RttEstimator;
use crate::send::{SendStream, SentQueue};
use crate::state::State;
use crate::stats::Stats;
use crate::timers::Timers;
use pace::Pace;
use recovery::Recovery;
use ropewalk_congestion::{Controller, Coupling, DeliveryRate};
use ropewalk_units::{Duration, Instant, Mark, Seq};
use ropewalk_wire::Payload;
use spurious::Detectors;
use std::collections::VecDeque;
use std::sync::Arc;

/// What is known of the peer.
#[derive(Clone, Debug)]
struct Peer {
    /// SND.WND in octets.
    window: u32,
    /// The largest one seen.
    max_window: u32,
    /// SND.WL1 (RFC 9293 §3.3.1): at or above the last segment that moved RCV.NXT, and so always comparable with it.
    wl1: Seq,
    scale: u8,
    /// Both sides offered window scaling.
    scaling: bool,
    mss: u16,
    /// Both sides offered it.
    timestamps: bool,
    sack: bool,
    ecn: bool,
    /// TS.Recent (RFC 7323 §4.3), and when it was set.
    ts_recent: u32,
    ts_recent_at: Instant,
    /// Last.ACK.sent.
    last_ack_sent: Seq,
}

/// ECN's state of both halves (RFC 3168 §6.1).
#[derive(Clone, Copy, Debug, Default)]
struct EcnState {
    /// Receiver: echo until CWR.
    echo: bool,
    /// Sender: tell the peer on the next new data.
    reduced: bool,
    /// Sender: no second reaction below this.
    recover: Mark,
}

/// When ACKs that answer unacceptable segments without data left last.
#[derive(Clone, Copy, Debug, Default)]
struct Limits {
    /// Challenge ACKs.
    challenge: Limit,
    /// Answers to probes of the window.
    probe: Limit,
}

/// RFC 5961 §7: one answer in an interval.
#[derive(Clone, Copy, Debug, Default)]
struct Limit {
    last: Option<Instant>,
}

impl Limit {
    fn allows(&mut self, now: Instant, interval: Duration) -> bool {
        let recent = self.last.is_some_and(|at| now.saturating_since(at) < interval);
        if !recent {
            self.last = Some(now);
        }
        !recent
    }
}

/// Segments that are due at the next [`Connection::poll_transmit`], whatever the windows say. One bit for each kind, since
/// every segment asks several times whether there is any.
#[derive(Clone, Copy, Debug, Default)]
struct Outbox {
    due: u8,
    /// What the RST says: its number, and perhaps an acknowledgement.
    reset: (Seq, Option<Seq>),
    /// What the ACK before a change of marks says: up to where, with or without ECN-Echo.
    echo: (Seq, bool),
}

impl Outbox {
    /// A SYN, or SYN/ACK.
    const SYN: u8 = 1;
    /// A RST.
    const RESET: u8 = 2;
    /// A zero-window probe.
    const WINDOW_PROBE: u8 = 4;
    /// A tail loss probe.
    const TAIL_PROBE: u8 = 8;
    /// DCTCP: an ACK for what came before the marks changed.
    const ECHO: u8 = 16;

    #[inline]
    const fn is_empty(self) -> bool {
        self.due == 0
    }

    fn put(&mut self, kind: u8) {
        self.due |= kind;
    }

    fn put_reset(&mut self, seq: Seq, ack: Option<Seq>) {
        self.due |= Self::RESET;
        self.reset = (seq, ack);
    }

    fn put_echo(&mut self, ack: Seq, echo: bool) {
        self.due |= Self::ECHO;
        self.echo = (ack, echo);
    }

    /// Is one of this kind due? Then it no longer is.
    fn take(&mut self, kind: u8) -> bool {
        let due = self.due & kind != 0;
        self.due &= !kind;
        due
    }

    /// None of these kinds is due any more.
    fn cancel(&mut self, kinds: u8) {
        self.due &= !kinds;
    }
}

/// Our FIN.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fin {
    /// The stream is open.
    None,
    /// To follow the last octet.
    Wanted,
    /// Sent, ending here.
    Sent(Seq),
}

/// Linux's test of whether cwnd is what limits the sender: a window that is not used does not grow.
#[derive(Clone, Copy, Debug)]
struct Usage {
    limited: bool,
    /// The most that was on its way in this round.
    most: u32,
    /// The round ends when this is acknowledged.
    round_end: Mark,
}

/// A sans-IO TCP connection, which is also one subflow of Multipath TCP.
///
/// It owns no clock and no socket. Drive it so: `handle_segment` or `handle_timeout`, then `poll_event` until
/// `None`, `read` and `push`, then [`poll_transmit`](Self::poll_transmit) until `None`, and last
/// [`poll_timeout`](Self::poll_timeout) once.
#[derive(Clone, Debug)]
// In this order in memory: what every segment needs, what a sender needs, what a receiver needs, and the rest. A
// thousand connections do not fit the cache as a whole.
#[repr(C)]
pub struct Connection {
    /// Shared: a thousand connections would keep a thousand copies out of the cache.
    config: Arc<Config>,
    /// The time of the last call.
    now: Instant,
    una: Seq,
    nxt: Seq,
    smss: u32,
    /// The end of the last segment sent that was not full (Nagle).
    small_end: Mark,
    state: State,
    loss_recovery: LossRecovery,
    /// The FIN is acknowledged: RCV.NXT is past it.
    peer_fin_taken: bool,
    ecn: EcnState,
    fin: Fin,
    /// The sequence number of the peer's FIN.
    peer_fin: Option<Seq>,
    persist_backoff: u32,
    consecutive_timeouts: u32,
    /// How many of them prove nothing, for the peer's window was closed.
    timeouts_excused: u32,
    /// Window probes without an answer.
    probes_unanswered: u32,
    outbox: Outbox,
    probe: Option<Probe>,
    peer: Peer,
    timers: Timers,
    acks: AckPolicy,
    window: ReceiveWindow,
    events: VecDeque<Event>,
    stats: Stats,

    usage: Usage,
    last_sent: Instant,
    stream: SendStream,
    queue: SentQueue,
    recovery: Recovery,
    rtt: RttEstimator,
    rate: DeliveryRate,
    controller: Controller,
    /// Only of a connection that paces.
    pace: Option<Box<Pace>>,

    sacks: SackGenerator,
    reassembly: Reassembly,

    detectors: Detectors,
    rack: Rack,
    prr: Option<Prr>,
    iss: Seq,
    irs: Seq,
    /// Opened by a SYN of the peer's.
    passive: bool,
    limits: Limits,
    syn_sent_at: Instant,
    syn_retransmissions: u32,
}

impl Connection {
    /// Free octets of the send buffer.
    #[inline]
    pub fn send_space(&self) -> u64 {
        let held = self.stream.unsent() + u64::from(self.nxt.since(self.una));
        u64::from(self.config.send_buffer).saturating_sub(held)
    }

    /// Appends a range of the stream; the caller respects [`Self::send_space`]. A segment never spans two
    /// ranges whose offsets are not contiguous. Ignored after [`Self::finish`] and on a connection that is
    /// over.
    #[inline]
    pub fn push(&mut self, payload: Payload) {
        if self.fin == Fin::None && self.state != State::Closed {
            if self.owns_window() {
                self.check_app_limited();
            }
            self.stream.push(payload);
        }
    }

    /// Octets pushed and never transmitted.
    #[inline]
    pub fn unsent(&self) -> u64 {
        self.stream.unsent()
    }

    /// Octets that may be read, in order.
    #[inline]
    pub fn readable(&self) -> u64 {
        self.reassembly.readable()
    }

    /// Reads at most `max` octets of one contiguous piece, in order.
    #[inline]
    pub fn read(&mut self, max: u64) -> Option<Received> {
        let received = self.reassembly.read(max, self.irs)?;
        self.window.read(received.payload.len);
        Some(received)
    }

    /// Has the peer's FIN arrived, and is everything before it read?
    #[inline]
    pub fn peer_finished(&self) -> bool {
        self.peer_fin_taken && self.reassembly.readable() == 0
    }

    /// What happened, oldest first.
    #[inline]
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// Has [`Self::poll_event`] anything to tell?
    #[inline]
    pub fn has_events(&self) -> bool {
        !self.events.is_empty()
    }

    /// A pure ACK leaves at the next [`Self::poll_transmit`], for the owner to put options on. Nothing before
    /// the handshake is complete.
    pub fn request_ack(&mut self) {
        if self.state.is_synchronized() {
            self.acks.pure();
        }
    }

    /// An old sequence number without data leaves at the next [`Self::poll_transmit`]: the peer answers with an ACK,
    /// which tells the owner's window (RFC 9293 §3.8.6.1). Nothing before the handshake is complete.
    pub fn probe(&mut self) {
        if self.state.is_synchronized() {
            self.outbox.put(Outbox::WINDOW_PROBE);
        }
    }

    /// What the coupled congestion control lays down, with [`crate::CongestionControl::Coupled`]; to be renewed
    /// before each ACK and timeout.
    #[inline]
    pub fn set_coupling(&mut self, coupling: Coupling) {
        self.controller.set_coupling(coupling);
    }

    /// Multipath TCP's penalization: halves cwnd, and ssthresh too outside slow start.
    pub fn penalize(&mut self) {
        self.controller.penalize();
        self.trace_window();
    }

    /// Sets cwnd and ssthresh, in octets, at least one segment each; for an algorithm that runs outside (wVegas).
    pub fn set_cwnd(&mut self, cwnd: u32, ssthresh: u32) {
        self.controller.set_cwnd(cwnd);
        self.controller.set_ssthresh(ssthresh);
        self.trace_window();
    }

    /// Is the window this connection's own, not the owner's above?
    #[inline]
    fn owns_window(&self) -> bool {
        self.config.window_owner == WindowOwner::Own
    }

    /// SND.NXT - SND.UNA.
    #[inline]
    fn flight(&self) -> u32 {
        self.nxt.since(self.una)
    }

    /// SND.NXT, to be remembered.
    #[inline]
    fn sent_mark(&self) -> Mark {
        self.queue.una() + self.flight()
    }

    /// The place of a number at or above SND.UNA.
    #[inline]
    fn mark(&self, seq: Seq) -> Mark {
        self.queue.una() + seq.since(self.una)
    }

    /// The place of a number below SND.UNA; `None` for what was never sent.
    fn mark_below(&self, seq: Seq) -> Option<Mark> {
        let below = seq.before(self.una).then(|| self.una.since(seq))?;
        self.queue.una().before(below).filter(|mark| *mark > Mark::START)
    }

    fn trace_window(&mut self) {
        if self.config.trace {
            self.events
                .push_back(Event::CwndUpdated { cwnd: self.cwnd(), ssthresh: self.controller.ssthresh() });
        }
    }

    fn event(&mut self, event: Event) {
        self.events.push_back(event);
    }
}

impl Connection {
    /// What must hold at any time; for tests.
    ///
    /// # Panics
    /// When it does not hold.
    #[doc(hidden)]
    pub fn audit(&self) {
        self.queue.audit(self.una, self.nxt);
        assert!(self.controller.cwnd() >= self.smss, "cwnd below a segment");
        if self.state.is_synchronized() && !self.queue.is_empty() {
            let timers = [self.timers.retransmission, self.timers.early];
            assert!(timers.iter().any(|at| *at != Instant::MAX), "data on its way without a timer");
        }
    }
}
