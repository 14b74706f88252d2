//! Opening: active, passive, simultaneous (RFC 9293 §3.5).

use super::{Connection, EcnState, Fin, Limits, Outbox, Peer, Usage};
use super::{pace::Pace, recovery::Recovery, spurious::Detectors};
use crate::config::{Config, LossRecovery, WindowOwner};
use crate::event::Event;
use crate::rack::Rack;
use crate::receive::{AckPolicy, Reassembly, ReceiveWindow, SackGenerator};
use crate::rtt::RttEstimator;
use crate::send::{SendStream, SentQueue};
use crate::state::State;
use crate::stats::Stats;
use crate::timers::Timers;
use ropewalk_congestion::{Controller, DeliveryRate};
use ropewalk_units::{Instant, Mark, Seq};
use ropewalk_wire::{Flags, Segment};
use std::collections::VecDeque;
use std::sync::Arc;

/// RFC 9293 §3.7.1: without an MSS option.
const DEFAULT_MSS: u16 = 536;
/// Room for all options and 8 octets of data (Linux `tcp_min_snd_mss`): a smaller MSS would have every octet sent in a
/// segment of its own.
const LEAST_MSS: u16 = 48;
/// RFC 7323 §2.3: a larger shift counts as this.
const MAX_SCALE: u8 = 14;

impl Connection {
    /// Opens actively: the SYN leaves at the next [`Self::poll_transmit`]. Connections may share their `config`.
    pub fn connect(config: impl Into<Arc<Config>>, iss: Seq, now: Instant) -> Self {
        Self::new(config.into(), State::SynSent, iss, now)
    }

    /// Opens passively, from a peer's SYN: the SYN/ACK leaves at the next [`Self::poll_transmit`].
    pub fn accept(config: impl Into<Arc<Config>>, syn: &Segment, iss: Seq, now: Instant) -> Self {
        let mut connection = Self::new(config.into(), State::SynReceived, iss, now);
        connection.passive = true;
        connection.take_syn(syn);
        let setup = Flags::ECE | Flags::CWR;
        connection.peer.ecn = connection.config.uses_ecn() && syn.flags.contains(setup);
        connection
    }

    fn new(config: Arc<Config>, state: State, iss: Seq, now: Instant) -> Self {
        let shared = config.window_owner == WindowOwner::Shared;
        let smss = u32::from(config.mss).saturating_sub(config.option_reserve).max(1);
        Self {
            state,
            passive: false,
            now,
            iss,
            una: iss,
            nxt: iss,
            smss,
            stream: SendStream::default(),
            queue: SentQueue::new(
                config.loss_recovery == LossRecovery::Rack,
                config.congestion_control.models_path(),
            ),
            fin: Fin::None,
            small_end: Mark::START,
            last_sent: now,
            usage: Usage { limited: false, most: 0, round_end: Mark::START },
            peer: Peer::unknown(),
            outbox: Outbox { due: Outbox::SYN, ..Outbox::default() },
            irs: Seq::new(0),
            window: ReceiveWindow::new(config.receive_buffer, config.receive_autotuning, shared),
            reassembly: Reassembly::new(config.most_pieces(config.receive_buffer)),
            sacks: SackGenerator::default(),
            acks: AckPolicy::new(config.delayed_ack.quick_acks),
            peer_fin: None,
            peer_fin_taken: false,
            limits: Limits::default(),
            controller: Controller::new(&config.congestion(iss), smss, now),
            pace: Pace::new(&config, now),
            loss_recovery: LossRecovery::NewReno,
            rtt: RttEstimator::new(&config),
            rate: DeliveryRate::default(),
            recovery: Recovery::new(),
            prr: None,
            rack: Rack::default(),
            probe: None,
            detectors: Detectors::default(),
            ecn: EcnState::default(),
            timers: Timers::default(),
            consecutive_timeouts: 0,
            persist_backoff: 0,
            probes_unanswered: 0,
            timeouts_excused: 0,
            syn_sent_at: now,
            syn_retransmissions: 0,
            stats: Stats::default(),
            events: VecDeque::new(),
            config,
        }
    }

    /// Takes what a SYN or SYN/ACK says.
    pub(super) fn take_syn(&mut self, syn: &Segment) {
        let options = &syn.options;
        self.irs = syn.seq;
        let scaling = self.config.window_scale.filter(|_| options.window_scale.is_some());
        self.peer.scaling = scaling.is_some();
        self.peer.scale = scaling.and(options.window_scale).unwrap_or(0).min(MAX_SCALE);
        self.window.open(syn.seq + 1, scaling.unwrap_or(0).min(MAX_SCALE), self.now);
        // An MSS of zero says nothing (Linux ignores it).
        self.peer.mss = options.mss.filter(|mss| *mss > 0).unwrap_or(DEFAULT_MSS).max(LEAST_MSS);
        self.peer.sack = self.config.sack && options.sack_permitted;
        self.peer.timestamps = self.config.timestamps && options.timestamps.is_some();
        if let Some(timestamps) = options.timestamps.filter(|_| self.peer.timestamps) {
            self.peer.ts_recent = timestamps.value;
            self.peer.ts_recent_at = self.now;
        }
        self.peer.last_ack_sent = syn.seq + 1;
        // RFC 7323 §2.2: the window of a SYN is never scaled.
        self.peer.window = u32::from(syn.window);
        self.peer.max_window = self.peer.window;
        self.peer.wl1 = syn.seq;
        let wanted = self.config.loss_recovery;
        self.loss_recovery = if self.peer.sack { wanted } else { LossRecovery::NewReno };
        self.agree_on_segment_size();
    }

    /// RFC 6691: options that every segment carries come out of the MSS.
    fn agree_on_segment_size(&mut self) {
        let mss = u32::from(self.config.mss.min(self.peer.mss));
        let timestamps = if self.peer.timestamps { 12 } else { 0 };
        self.smss = mss.saturating_sub(timestamps + self.config.option_reserve).max(1);
        self.controller.set_smss(self.smss);
    }

    /// Our SYN is acknowledged and the peer's is known.
    pub(super) fn establish(&mut self, segment: &Segment) {
        self.una = segment.ack;
        self.peer.wl1 = segment.seq;
        self.peer.window = self.scaled_window(segment);
        self.peer.max_window = self.peer.max_window.max(self.peer.window);
        self.timers.stop_sending();
        self.outbox.cancel(Outbox::SYN);
        self.consecutive_timeouts = 0;
        self.measure_handshake();
        self.controller.on_established(self.rtt.srtt(), self.peer.sack);
        if self.syn_retransmissions > 0 {
            self.rtt.after_syn_timeout();
            // RFC 5681 §3.1: IW is one segment after a lost SYN or SYN/ACK; RFC 6928 §2: unless only once.
            if self.syn_retransmissions > 1 {
                self.controller.set_cwnd(self.smss);
            }
        }
        self.rtt.reset_backoff();
        self.state = if self.fin == Fin::None { State::Established } else { State::FinWait1 };
        self.event(Event::Established);
        self.trace_window();
    }

    /// RFC 6298 §3 (Karn): only a SYN that was sent once tells the round-trip time.
    fn measure_handshake(&mut self) {
        if self.syn_retransmissions == 0 && self.config.handshake_rtt {
            let sample = self.now.saturating_since(self.syn_sent_at);
            self.rtt.on_sample(self.now, sample);
            self.trace_rtt(sample);
        }
    }
}

impl Peer {
    fn unknown() -> Self {
        Self {
            window: 0,
            max_window: 0,
            wl1: Seq::new(0),
            scale: 0,
            scaling: false,
            mss: DEFAULT_MSS,
            timestamps: false,
            sack: false,
            ecn: false,
            ts_recent: 0,
            ts_recent_at: Instant::ZERO,
            last_ack_sent: Seq::new(0),
        }
    }
}
