//! The handshake, as far as the sender is concerned.

use super::Sender;
use crate::config::LossRecovery;
use crate::context::Context;
use crate::handshake::Handshake;
use ropewalk_congestion::Acknowledgements;
use ropewalk_units::Seq;
use ropewalk_wire::Segment;

impl Sender {
    /// Our SYN leaves: RFC 9293 §3.5, RFC 6298 §5.1.
    pub(crate) fn on_syn_sent(&mut self, cx: &Context, iss: Seq) {
        self.nxt = iss + 1;
        self.timers.restart_retransmission(cx.now, self.rtt.rto());
    }

    /// The peer's SYN is known; its window field is shifted by `scale` from now on.
    pub(crate) fn on_peer_syn(&mut self, cx: &Context, syn: &Segment, scale: u8) {
        self.peer.open(syn, scale);
        let wanted = cx.config.loss_recovery;
        self.recovery.method = if cx.agreed.sack { wanted } else { LossRecovery::NewReno };
        self.smss = cx.segment_size();
        self.controller.set_smss(self.smss);
    }

    /// Our SYN is acknowledged and the peer's is known.
    pub(crate) fn establish(&mut self, cx: &mut Context, segment: &Segment, handshake: &Handshake) {
        self.una = segment.ack;
        self.peer.establish(segment);
        self.timers.stop_sending();
        self.timeouts.on_progress();
        if let Some(sample) = handshake.rtt(cx.now).filter(|_| cx.config.handshake_rtt) {
            self.rtt.on_sample(cx.now, sample);
            self.recovery.rack.on_handshake(sample);
            cx.trace_rtt(sample, self.rtt.srtt());
        }
        let acks = if cx.agreed.sack { Acknowledgements::Selective } else { Acknowledgements::Cumulative };
        self.controller.on_established(self.rtt.srtt(), acks);
        if handshake.retransmissions() > 0 {
            self.rtt.after_syn_timeout();
            // RFC 5681 §3.1: IW is one segment after a lost SYN or SYN/ACK; RFC 6928 §2: unless only once.
            if handshake.retransmissions() > 1 {
                self.controller.set_cwnd(self.smss);
            }
        }
        self.rtt.reset_backoff();
        if cx.config.defer_packets {
            self.end_written_packet();
        }
    }
}
