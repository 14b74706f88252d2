//! Opening: active, passive, simultaneous (RFC 9293 §3.5).

use super::Connection;
use crate::config::Config;
use crate::context::{Context, MAX_SCALE};
use crate::event::Event;
use crate::handshake::{Handshake, Opening};
use crate::outbox::Outbox;
use crate::receiver::Receiver;
use crate::sender::Sender;
use crate::state::State;
use ropewalk_units::{Instant, Seq};
use ropewalk_wire::{Flags, Options, Segment};
use std::sync::Arc;

impl Connection {
    /// Opens actively: the SYN leaves at the next [`Self::poll_transmit`]. Connections may share their `config`.
    pub fn connect(config: impl Into<Arc<Config>>, iss: Seq, now: Instant) -> Self {
        Self::new(config.into(), Opening::Active, iss, now)
    }

    /// Opens passively, from a peer's SYN: the SYN/ACK leaves at the next [`Self::poll_transmit`].
    pub fn accept(config: impl Into<Arc<Config>>, syn: &Segment, iss: Seq, now: Instant) -> Self {
        let mut connection = Self::new(config.into(), Opening::Passive, iss, now);
        connection.on_peer_syn(syn);
        let setup = Flags::ECE | Flags::CWR;
        connection.cx.agreed.ecn = connection.cx.config.uses_ecn() && syn.flags.contains(setup);
        connection
    }

    /// Opens passively, from a SYN that was answered without keeping anything of it (RFC 4987 §3.6): the SYN/ACK with the number
    /// `iss` has left, nobody knows when, and its acknowledgement comes next.
    pub fn accept_answered(config: impl Into<Arc<Config>>, syn: &Segment, iss: Seq, now: Instant) -> Self {
        let mut connection = Self::accept(config, syn, iss, now);
        connection.cx.outbox.cancel(Outbox::SYN);
        connection.sender.on_syn_sent(&connection.cx, iss);
        // Its round-trip time is not known, as after a SYN/ACK that was sent twice (RFC 6298 §3).
        connection.handshake.on_timeout();
        connection
    }

    fn new(config: Arc<Config>, opening: Opening, iss: Seq, now: Instant) -> Self {
        let state = match opening {
            Opening::Active => State::SynSent,
            Opening::Passive => State::SynReceived,
        };
        Self {
            sender: Sender::new(&config, iss, now),
            receiver: Receiver::new(&config),
            handshake: Handshake::new(opening, iss, now),
            time_wait: Instant::MAX,
            cx: Context::new(config, state, now),
        }
    }

    /// What the peer's SYN or SYN/ACK says.
    pub(super) fn on_peer_syn(&mut self, syn: &Segment) {
        self.handshake.on_peer_syn(syn.seq);
        self.cx.agree(syn);
        self.receiver.on_peer_syn(&self.cx, syn);
        let scale = syn.options.window_scale.filter(|_| self.cx.agreed.scaling).unwrap_or(0);
        self.sender.on_peer_syn(&self.cx, syn, scale.min(MAX_SCALE));
    }

    /// RFC 9293 §3.5: SYN, or SYN/ACK once the peer's is known; with the options of RFC 7323 and RFC 2018.
    pub(super) fn syn_segment(&mut self) -> Segment {
        self.handshake.on_syn_sent(self.cx.now);
        self.sender.on_syn_sent(&self.cx, self.handshake.iss());
        self.cx.stats.segments_sent += 1;
        let (config, agreed) = (&self.cx.config, &self.cx.agreed);
        let answer = self.cx.state == State::SynReceived;
        // RFC 3168 §6.1.1.1: a SYN that got no answer may have been dropped for its ECN bits.
        let first = self.handshake.retransmissions() == 0;
        let ecn = if answer { agreed.ecn } else { config.uses_ecn() && first };
        let mut flags = if answer { Flags::SYN | Flags::ACK } else { Flags::SYN };
        if ecn {
            flags |= if answer { Flags::ECE } else { Flags::ECE | Flags::CWR };
        }
        let timestamps = if answer { agreed.timestamps } else { config.timestamps };
        let options = Options {
            mss: Some(config.mss),
            window_scale: config.window_scale.filter(|_| !answer || agreed.scaling),
            sack_permitted: if answer { agreed.sack } else { config.sack },
            timestamps: timestamps.then(|| self.receiver.stamp_of_syn(&self.cx)),
            ..Options::default()
        };
        let ack = if answer { self.receiver.next() } else { Seq::default() };
        let window = self.receiver.window().advertise_on_syn();
        Segment { seq: self.handshake.iss(), ack, flags, window, options, ..Segment::default() }
    }

    /// Our SYN is acknowledged and the peer's is known.
    pub(super) fn establish(&mut self, segment: &Segment) {
        self.cx.outbox.cancel(Outbox::SYN);
        self.sender.establish(&mut self.cx, segment, &self.handshake);
        self.cx.state = if self.sender.is_finishing() { State::FinWait1 } else { State::Established };
        self.cx.event(Event::Established);
        self.sender.trace_window(&mut self.cx);
    }
}
