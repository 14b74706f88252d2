//! A packet that could become larger waits for the next ACK, if that is about to come (Linux `tcp_tso_should_defer`).
//!
//! Linux hands packets of several segments to its device. Where the window lets out only part of such a packet just after others
//! have left, the part is kept back. The next ACK makes the window wider, and more leaves at once. Where the next ACK is far
//! away, the part leaves. So a sender with fast ACKs sends in bursts, and often keeps a segment less on its way than cwnd
//! allows.

use super::Sender;
use crate::context::Context;
use crate::recovery::Phase;
use crate::send::Fin;
use ropewalk_units::Duration;

/// Packets that leave within this time follow each other, and an ACK that comes within it is worth waiting for.
const SOON: Duration = Duration::from_millis(1);
/// A packet does not wait for more than this share of the window (Linux `tcp_tso_win_divisor`).
const WINDOW_SHARE: u32 = 3;

/// Why a packet waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Deferral {
    /// That was found out before.
    Before,
    /// cwnd lets out a part of it: it is cwnd that limits the sender.
    ByCwnd,
    /// It may get more data, or the peer's window lets out a part of it.
    ByPacket,
}

/// What might leave now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Ready {
    /// Octets that cwnd lets out.
    cwnd: u32,
    /// Octets that the peer's window lets out.
    window: u32,
    /// Octets of the first packet, as it was written.
    packet: u32,
    /// Octets that wait in all.
    unsent: u64,
    /// Did others leave just before?
    follows: bool,
}

impl Sender {
    /// Must the next packet wait for an ACK? Never in the middle of one.
    #[inline]
    pub(super) fn deferral(&self, cx: &Context) -> Option<Deferral> {
        if !cx.config.defer_packets {
            return None;
        }
        if self.deferred {
            return Some(Deferral::Before);
        }
        let begins = self.packet == 0 || cx.now != self.last_sent;
        if begins && self.first_packet() > self.smss { self.deferral_of_first(cx) } else { None }
    }

    #[inline(never)]
    fn deferral_of_first(&self, cx: &Context) -> Option<Deferral> {
        let ready = self.ready(cx);
        let by_cwnd = ready.cwnd <= ready.packet && ready.cwnd < ready.window;
        self.defers(ready, cx).then_some(if by_cwnd { Deferral::ByCwnd } else { Deferral::ByPacket })
    }

    /// Nothing new leaves before an ACK, more data or a timer.
    pub(super) fn defer(&mut self, why: Deferral) {
        self.deferred = true;
        if why == Deferral::ByCwnd {
            self.usage.set_limited();
        }
    }

    /// When all has left that may leave now, does cwnd allow another segment on its way?
    pub(crate) fn leaves_room(&self, cx: &Context) -> bool {
        if self.timers.is_pacing() {
            return true;
        }
        let mut ready = self.ready(cx);
        let all = ready.unsent.min(u64::from(ready.window));
        if all + u64::from(self.smss) <= u64::from(ready.cwnd) {
            return true;
        }
        if !cx.config.defer_packets || !self.expects_ack_soon(cx) {
            return false;
        }
        while ready.packet > 0 && ready.cwnd >= self.smss && ready.window >= self.smss.min(ready.packet) {
            if self.defers(ready, cx) {
                return true;
            }
            ready = self.after_packet(ready);
        }
        false
    }

    /// What might leave after the first packet.
    fn after_packet(&self, ready: Ready) -> Ready {
        let most = (self.controller.cwnd() / 2).min(self.timed_packet()).max(self.smss);
        let whole = ready.cwnd.min(most);
        let len = (whole - whole % self.smss).min(ready.packet).min(ready.window);
        let unsent = ready.unsent - u64::from(len);
        let packet = if len < ready.packet { ready.packet - len } else { self.written_packet() };
        Ready {
            cwnd: ready.cwnd - len,
            window: ready.window - len,
            packet: u64::from(packet).min(unsent) as u32,
            unsent,
            follows: true,
        }
    }

    #[inline]
    fn ready(&self, cx: &Context) -> Ready {
        Ready {
            cwnd: self.controller.cwnd().saturating_sub(self.outstanding(cx)),
            window: if cx.owns_window() { self.peer.usable(self.flight()) } else { u32::MAX },
            packet: self.first_packet(),
            unsent: self.stream.unsent(),
            follows: cx.now.saturating_since(self.last_sent) <= SOON,
        }
    }

    fn defers(&self, ready: Ready, cx: &Context) -> bool {
        let may_wait = ready.packet > self.smss && ready.follows && self.recovery.phase == Phase::Open;
        may_wait && self.expects_ack_soon(cx) && !self.is_worth_sending(ready, cx)
    }

    /// Does as much leave as there will be, or as a packet may have, or enough of the window?
    fn is_worth_sending(&self, ready: Ready, cx: &Context) -> bool {
        let room = ready.cwnd.min(ready.window);
        let is_last = u64::from(ready.packet) == ready.unsent;
        let gets_more = is_last && self.fin == Fin::None;
        let window = if cx.owns_window() { self.peer.size() } else { u32::MAX };
        (room >= ready.packet && !gets_more)
            || room >= self.controller.cwnd().min(window) / WINDOW_SHARE
            || (room >= 2 * self.smss && self.takes_a_millisecond(room.saturating_add(self.smss)))
    }

    /// Is the ACK of the oldest segment on its way about to come?
    fn expects_ack_soon(&self, cx: &Context) -> bool {
        let (Some(oldest), Some(srtt)) = (self.queue.front(), self.rtt.srtt()) else { return false };
        let left = (oldest.sent_at + srtt).saturating_since(cx.now);
        left <= SOON.min(srtt / 2)
    }

    /// Octets of the first packet that waits, as it was written.
    fn first_packet(&self) -> u32 {
        let kept_together = if self.written == 0 { self.stream.unsent() } else { u64::from(self.written) };
        kept_together.min(self.stream.front_len()) as u32
    }

    /// Octets were written behind those that wait: the packet that they filled ends there. What is written before the handshake ends
    /// is put into packets after it.
    #[inline]
    pub(super) fn end_written_packet(&mut self) {
        let most = self.most_written();
        if self.written == 0 && most > 0 && self.stream.unsent() > u64::from(most) {
            self.written = self.written_packet();
        }
    }

    /// So many octets are about to be cut from the first packet. Is that its end?
    #[inline]
    pub(super) fn take_from_packet(&mut self, len: u32) -> bool {
        let ends = self.written == len || u64::from(len) == self.stream.front_len();
        self.written = if ends { 0 } else { self.written.saturating_sub(len) };
        ends
    }
}
