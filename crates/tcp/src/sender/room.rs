//! How much more a sender can take.

use super::Sender;
use crate::config::LossRecovery;
use crate::context::Context;
use crate::recovery::Phase;
use crate::state::State;

/// How much more a connection can take: see the methods of [`crate::Connection`] of these names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Room {
    /// Octets that count against cwnd.
    pub pipe: u32,
    /// Octets that cwnd lets out beyond those that wait.
    pub cwnd_space: u32,
    /// Free octets of the send buffer.
    pub send_space: u64,
}

impl Sender {
    /// Octets that cwnd (and the peer's window, if it is this connection's) lets out now beyond
    /// what waits.
    ///
    /// What is lost and not sent again yet does not count, as in RFC 6675 §4 (pipe) and Linux's `tcp_cwnd_test`. So after a
    /// timeout there is room for one segment until the repair leaves. No more than cwnd gets on its way by that: repairs
    /// leave first, and what was handed over waits until cwnd holds it too. F-RTO needs this room: RFC 5682 §3.1 (2b) sends
    /// new data in place of what is lost, and an owner has to hand them over before the ACK that asks for them.
    pub(crate) fn cwnd_space(&self, cx: &Context) -> u32 {
        if !matches!(cx.state, State::Established | State::CloseWait) {
            return 0;
        }
        let unsent = self.stream.unsent().min(u64::from(u32::MAX)) as u32;
        let mut space = self.controller.cwnd().saturating_sub(self.outstanding(cx));
        if cx.owns_window() {
            space = space.min(self.peer.usable(self.flight()));
        }
        self.paced_space(cx, space.saturating_sub(unsent))
    }

    /// [`Self::pipe`], [`Self::cwnd_space`] and [`Self::send_space`] in one, computed together, for a scheduler that
    /// asks after every ACK.
    pub(crate) fn room(&self, cx: &Context) -> Room {
        let plain = self.recovery.phase == Phase::Open
            && self.queue.is_plain()
            && cx.config.limited_transmit
            && self.recovery.method != LossRecovery::NewReno
            && cx.state == State::Established
            && !cx.owns_window()
            && !cx.config.send_autotuning;
        if !plain {
            return Room {
                pipe: self.pipe(),
                cwnd_space: self.cwnd_space(cx),
                send_space: self.send_space(cx),
            };
        }
        // Nothing is SACKed, lost or sent again.
        let (flight, unsent) = (self.flight(), self.stream.unsent());
        let space = self.controller.cwnd().saturating_sub(flight);
        Room {
            pipe: flight,
            cwnd_space: self.paced_space(cx, space.saturating_sub(unsent.min(u64::from(u32::MAX)) as u32)),
            send_space: u64::from(cx.config.send_buffer).saturating_sub(unsent + u64::from(flight)),
        }
    }
}
