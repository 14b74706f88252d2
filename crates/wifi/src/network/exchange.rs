//! How a frame exchange ends: with a response, without one, or with the frame given up.

use super::Network;
use super::routing::Lost;
use crate::engine::Engine;
use crate::minstrel::TxStatus;
use crate::phy;
use crate::radio::{AfterSifs, Outgoing, Phase};
use crate::token::Token;
use ropewalk_units::Instant;

impl Network {
    /// The CTS has come.
    pub(super) fn receive_cts(&mut self, cx: &mut impl Engine, index: u32) {
        let radio = &mut self.radios[index as usize];
        radio.stop_waiting();
        radio.phase = Phase::Cleared;
        // IEEE 802.11-2020 §10.3.4.4: a CTS ends the RTS's run of failures.
        if let Some(current) = &mut radio.current {
            current.short_failures = 0;
        }
        radio.after_sifs = Some(AfterSifs::Data);
        cx.set_timer(cx.now() + radio.timing.sifs, Token::Sifs(index));
    }

    /// The ACK has come.
    pub(super) fn succeed(&mut self, cx: &mut impl Engine, index: u32) {
        let radio = &mut self.radios[index as usize];
        radio.stop_waiting();
        radio.stats.acknowledged += 1;
        if let Some(to) = radio.current.map(|current| current.to) {
            radio.hop(to).acknowledged += 1;
        }
        self.report(index, TxStatus::Acknowledged);
        self.finish_service(cx, index);
    }

    /// The response is overdue.
    pub(super) fn handle_timeout(&mut self, cx: &mut impl Engine, index: u32) {
        let now = cx.now();
        let radio = &mut self.radios[index as usize];
        if radio.timeout_at != now {
            return;
        }
        radio.timeout_at = Instant::MAX;
        // §10.3.2.11: if a preamble was recognised by now, the end of that reception decides.
        if let Some(locked) = radio.locked {
            let rate = self.air.get(locked.transmission).frame.rate;
            let recognised = locked.since + phy::preamble_duration(radio.mac.standard, rate);
            if recognised <= now {
                radio.timeout_deferred = true;
                return;
            }
        }
        self.fail(cx, index);
    }

    /// A reception has ended that a timeout had waited for. If it was the response, nothing is
    /// awaited any more.
    pub(super) fn give_up_if_deferred(&mut self, cx: &mut impl Engine, index: u32) {
        if self.radios[index as usize].timeout_deferred {
            self.fail(cx, index);
        }
    }

    /// No response: the frame is tried again with a wider window, or given up.
    fn fail(&mut self, cx: &mut impl Engine, index: u32) {
        let now = cx.now();
        let radio = &mut self.radios[index as usize];
        let is_rts = radio.phase == Phase::AwaitingCts;
        radio.stop_waiting();
        let Some(current) = &mut radio.current else { return };
        let octets = current.octets + phy::DATA_OVERHEAD;
        let is_long = radio.mac.rts_threshold.is_some_and(|threshold| octets > threshold);
        if is_rts {
            radio.stats.cts_timeouts += 1;
        } else {
            radio.stats.ack_timeouts += 1;
        }
        // §10.3.4.4: data longer than the RTS threshold count as long, RTS and other data as short.
        if is_long && !is_rts {
            current.long_failures += 1;
        } else {
            current.short_failures += 1;
        }
        if current.short_failures >= radio.mac.short_retry_limit
            || current.long_failures >= radio.mac.long_retry_limit
        {
            radio.stats.drops_retries += 1;
            let given_up = *current;
            radio.hop(given_up.to).given_up += 1;
            self.report(index, TxStatus::GivenUp);
            self.discard(cx, given_up, Lost::Retries);
            self.finish_service(cx, index);
            return;
        }
        radio.backoff.widen();
        radio.draw(now);
        radio.phase = Phase::Contending;
        radio.schedule(index, cx);
        self.choose_next_rate(index);
    }

    /// Loses a packet in service, unless the next hop has it already.
    fn discard(&mut self, cx: &mut impl Engine, outgoing: Outgoing, reason: Lost) {
        if let Some(packet) = outgoing.packet {
            self.lose(cx, outgoing.entry, packet, outgoing.octets, reason);
        }
    }

    /// The service of a frame is over. Draws a new backoff and serves the next frame.
    pub(super) fn finish_service(&mut self, cx: &mut impl Engine, index: u32) {
        let now = cx.now();
        let radio = &mut self.radios[index as usize];
        radio.backoff.reset_window();
        // §10.3.4.3: a backoff follows every exchange, even with nothing more to send.
        radio.draw(now);
        radio.current = None;
        radio.phase = Phase::Idle;
        self.serve_next(cx, index);
    }

    fn serve_next(&mut self, cx: &mut impl Engine, index: u32) {
        let now = cx.now();
        loop {
            let radio = &mut self.radios[index as usize];
            let Some(queued) = radio.queue.pop() else { return };
            if !radio.is_outdated(queued.since, now) {
                let rate = self.first_rate(now, index, queued.to);
                let radio = &mut self.radios[index as usize];
                radio.serve(queued, rate);
                radio.phase = Phase::Contending;
                radio.schedule(index, cx);
                return;
            }
            radio.stats.drops_lifetime += 1;
            self.lose(cx, queued.entry, queued.packet, queued.octets, Lost::Lifetime);
        }
    }

    /// Before an attempt: has the frame in service outlived its time? Then it is dropped, and its
    /// turn is lost: the next frame waits for a backoff of its own.
    pub(super) fn may_still_be_sent(&mut self, cx: &mut impl Engine, index: u32) -> bool {
        let now = cx.now();
        let radio = &mut self.radios[index as usize];
        let Some(current) = radio.current else { return false };
        if !radio.is_outdated(current.since, now) {
            return true;
        }
        radio.stats.drops_lifetime += 1;
        self.report(index, TxStatus::GivenUp);
        self.discard(cx, current, Lost::Lifetime);
        self.finish_service(cx, index);
        false
    }
}
