//! The sending half: what was sent, what may be sent, and what is known of the path.

mod ack;
mod blame;
mod buffer;
mod defer;
mod open;
mod pace;
mod packet;
mod path_mtu;
mod probe;
mod recovery;
mod room;
mod spurious;
mod timeout;
mod transmit;

pub(crate) use ack::Progress;
pub use path_mtu::TooBig;
pub use room::Room;

use crate::config::{Config, LossRecovery};
use crate::context::Context;
use crate::event::Event;
use crate::recovery::{Phase, Recovery};
use crate::rtt::RttEstimator;
use crate::send::{Fin, Keeps, Pace, PeerWindow, SendBuffer, SendStream, SentQueue, Timeouts, Usage};
use crate::state::State;
use crate::timers::Timers;
use ropewalk_congestion::{Controller, Coupling, DeliveryRate};
use ropewalk_units::{Instant, Mark, Seq};
use ropewalk_wire::{Payload, Segment};

/// The sender's state of ECN (RFC 3168 §6.1).
#[derive(Clone, Copy, Debug, Default)]
struct EcnState {
    /// Tell the peer on the next new data.
    reduced: bool,
    /// No second reaction below this.
    recover: Mark,
}

/// Cuts segments from the stream, watches over them until they are acknowledged, and repairs what is lost. It reads of the
/// connection only what [`Context`] holds.
#[derive(Clone, Debug)]
// What every segment needs comes first in memory: a thousand connections do not fit the cache as a whole.
#[repr(C)]
pub(crate) struct Sender {
    una: Seq,
    nxt: Seq,
    smss: u32,
    /// The end of the last segment sent that was not full (Nagle).
    small_end: Mark,
    /// The end of the first segment of full length since the length was set.
    full_end: Mark,
    fin: Fin,
    ecn: EcnState,
    timeouts: Timeouts,
    peer: PeerWindow,
    timers: Timers,
    usage: Usage,
    last_sent: Instant,
    /// Octets of the packet at hand that several segments leave in.
    packet: u32,
    /// Octets that wait of the first packet, as it was written; 0: no other was begun behind it.
    written: u32,
    /// The next packet waits for an ACK, or for more data.
    deferred: bool,
    stream: SendStream,
    buffer: SendBuffer,
    queue: SentQueue,
    rtt: RttEstimator,
    rate: DeliveryRate,
    controller: Controller,
    /// Only of a sender that paces.
    pace: Option<Box<Pace>>,
    recovery: Recovery,
    /// A router's message that segments are too long, while it waits for a timeout.
    doubted: Option<Box<path_mtu::Doubted>>,
    /// The MSS of a path that carries less than the peer takes, and until when it holds.
    narrow: Option<Box<path_mtu::Narrow>>,
}

impl Sender {
    /// Names each range that was pushed and is not acknowledged.
    pub(crate) fn visit(&self, visit: &mut impl FnMut(Payload)) {
        self.queue.visit(visit);
        self.stream.visit(visit);
    }

    /// What will be sent begins with a SYN numbered `iss`.
    pub(crate) fn new(config: &Config, iss: Seq, now: Instant) -> Self {
        let smss = u32::from(config.mss).saturating_sub(config.option_reserve).max(1);
        let keeps = Keeps {
            retransmissions: config.loss_recovery == LossRecovery::Rack,
            losses: config.congestion_control.models_path(),
        };
        Self {
            una: iss,
            nxt: iss,
            smss,
            small_end: Mark::START,
            full_end: Mark::START,
            fin: Fin::None,
            ecn: EcnState::default(),
            timeouts: Timeouts::default(),
            peer: PeerWindow::unknown(),
            timers: Timers::default(),
            usage: Usage::new(),
            last_sent: now,
            packet: 0,
            written: 0,
            deferred: false,
            stream: SendStream::default(),
            buffer: SendBuffer::new(buffer::size(config, config.initial_window)),
            queue: SentQueue::new(keeps),
            rtt: RttEstimator::new(config),
            rate: DeliveryRate::default(),
            controller: Controller::new(&config.congestion(iss), smss, now),
            pace: Pace::new(config, now),
            recovery: Recovery::new(),
            doubted: None,
            narrow: None,
        }
    }

    /// Appends a range of the stream, unless it is to end.
    #[inline]
    pub(crate) fn push(&mut self, cx: &Context, payload: Payload) {
        if self.fin == Fin::None {
            if cx.owns_window() {
                self.check_app_limited(cx);
            }
            self.stream.push(payload);
            if cx.config.defer_packets {
                self.end_written_packet();
                self.deferred = false;
            }
            self.on_written(cx, payload.len);
        }
    }

    /// A FIN is to follow the last octet. False if that was said before.
    pub(crate) fn finish(&mut self) -> bool {
        let open = self.fin == Fin::None;
        if open {
            self.fin = Fin::Wanted;
            self.deferred = false;
        }
        open
    }

    /// Is the stream to end, or has it ended?
    pub(crate) fn is_finishing(&self) -> bool {
        self.fin != Fin::None
    }

    /// Is there anything that [`Self::next_segment`] could send, now or later?
    pub(crate) fn has_data(&self) -> bool {
        self.stream.unsent() > 0 || !self.queue.is_empty() || self.fin == Fin::Wanted
    }

    /// RFC 9293 §3.10.7.4: the window's update, from segments that acknowledge SND.UNA, and only from newer ones.
    pub(crate) fn update_window(&mut self, segment: &Segment) {
        if segment.ack != self.una || !self.peer.is_updated_by(segment) {
            return;
        }
        if self.peer.update(segment) > 0 && self.timeouts.persist_backoff() > 0 {
            self.timeouts.end_persist();
            self.timers.stop_persist();
        }
    }

    /// An ACK from below SND.UNA: SND.WL1 follows RCV.NXT whatever the ACKs say.
    pub(crate) fn on_old_ack(&mut self, segment: &Segment) {
        self.peer.follow(segment);
    }

    /// A segment of the peer that, as the owner says, has nothing but signals of Multipath TCP.
    pub(crate) fn on_signal(&mut self) {
        self.timeouts.on_answer();
    }

    /// The connection is over: no timer runs.
    pub(crate) fn stop(&mut self) {
        self.timers = Timers::default();
    }

    /// SND.NXT - SND.UNA.
    pub(crate) fn flight(&self) -> u32 {
        self.nxt.since(self.una)
    }

    /// SND.NXT, to be remembered.
    pub(crate) fn sent_mark(&self) -> Mark {
        self.queue.una() + self.flight()
    }

    /// The place of a number at or above SND.UNA.
    pub(crate) fn mark(&self, seq: Seq) -> Mark {
        self.queue.una() + seq.since(self.una)
    }

    /// The place of a number below SND.UNA; `None` for what was never sent.
    pub(crate) fn mark_below(&self, seq: Seq) -> Option<Mark> {
        let below = seq.before(self.una).then(|| self.una.since(seq))?;
        self.queue.una().before(below).filter(|mark| *mark > Mark::START)
    }

    pub(crate) fn trace_window(&self, cx: &mut Context) {
        if cx.config.trace {
            cx.event(Event::CwndUpdated { cwnd: self.cwnd(), ssthresh: self.controller.ssthresh() });
        }
    }

    /// The congestion window in octets. Without SACK and PRR, inflated during fast recovery (RFC 6582).
    pub(crate) fn cwnd(&self) -> u32 {
        if self.inflates() {
            let inflated = i64::from(self.controller.cwnd()) + self.recovery.credit;
            return inflated.clamp(i64::from(self.smss), i64::from(u32::MAX)) as u32;
        }
        self.controller.cwnd()
    }

    /// RFC 6582 with its own inflation of cwnd?
    fn inflates(&self) -> bool {
        self.recovery.phase == Phase::Fast
            && self.recovery.method == LossRecovery::NewReno
            && self.recovery.prr.is_none()
    }

    /// Octets that count against cwnd (RFC 6675 §4; without SACK less what duplicate ACKs tell of).
    pub(crate) fn pipe(&self) -> u32 {
        let pipe = self.queue.pipe(self.flight());
        if self.recovery.method == LossRecovery::NewReno && self.recovery.credit != 0 {
            return (i64::from(pipe) - self.recovery.credit).max(0) as u32;
        }
        pipe
    }

    /// RFC 5961 §5.2: SND.UNA - MAX.SND.WND =< SEG.ACK =< SND.NXT, and nothing below our SYN. A subflow's MAX.SND.WND is that
    /// of the connection, which the window field of each subflow tells.
    pub(crate) fn ack_is_plausible(&self, segment: &Segment) -> bool {
        let age = self.una.since(segment.ack);
        let oldest = u64::from(self.peer.largest()).min(self.queue.una().get());
        segment.ack.before_eq(self.nxt) && (segment.ack.after_eq(self.una) || u64::from(age) <= oldest)
    }

    /// Octets that wait and were never sent.
    pub(crate) fn unsent(&self) -> u64 {
        self.stream.unsent()
    }

    /// SND.UNA.
    pub(crate) fn una(&self) -> Seq {
        self.una
    }

    /// SND.NXT.
    pub(crate) fn nxt(&self) -> Seq {
        self.nxt
    }

    /// Octets of data in a full segment.
    pub(crate) fn smss(&self) -> u32 {
        self.smss
    }

    /// Where recovery stands.
    pub(crate) fn phase(&self) -> Phase {
        self.recovery.phase
    }

    /// The measurements of the path, to be looked at.
    pub(crate) fn rtt(&self) -> &RttEstimator {
        &self.rtt
    }

    /// … of what it delivers.
    pub(crate) fn delivery_rate(&self) -> &DeliveryRate {
        &self.rate
    }

    /// The congestion control, to be looked at.
    pub(crate) fn controller(&self) -> &Controller {
        &self.controller
    }

    /// The peer's window, to be looked at.
    pub(crate) fn peer_window(&self) -> &PeerWindow {
        &self.peer
    }

    /// Timeouts and probes in vain, to be looked at.
    pub(crate) fn timeouts(&self) -> &Timeouts {
        &self.timeouts
    }

    /// The deadlines, to be looked at.
    pub(crate) fn timers(&self) -> &Timers {
        &self.timers
    }

    /// What a coupled congestion control lays down.
    pub(crate) fn set_coupling(&mut self, coupling: Coupling) {
        self.controller.set_coupling(coupling);
    }

    /// Multipath TCP's penalization.
    pub(crate) fn penalize(&mut self) {
        self.controller.penalize();
    }

    /// cwnd and ssthresh in octets, from an algorithm outside.
    pub(crate) fn set_cwnd(&mut self, cwnd: u32, ssthresh: u32) {
        self.controller.set_cwnd(cwnd);
        self.controller.set_ssthresh(ssthresh);
    }
}

impl Sender {
    /// What must hold at any time.
    pub(crate) fn audit(&self, cx: &Context) {
        let state = cx.state;
        self.queue.audit(self.una, self.nxt);
        assert!(self.controller.cwnd() >= self.smss, "cwnd below a segment");
        if state.is_synchronized() {
            let watched = if self.queue.is_empty() { "no data" } else { "data on its way" };
            assert_eq!(self.timers.watches_data(), !self.queue.is_empty(), "a timer watches {watched}");
        }
        if state == State::TimeWait {
            assert!(!self.timers.is_persisting(), "a probe for a window that nothing needs");
        }
        let apart =
            Room { pipe: self.pipe(), cwnd_space: self.cwnd_space(cx), send_space: self.send_space(cx) };
        assert_eq!(self.room(cx), apart, "room in one reckoning, and one by one");
    }
}
