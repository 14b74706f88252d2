//! What a radio does with a frame it has decoded.

use super::Network;
use crate::engine::Engine;
use crate::frame::{BROADCAST, Frame, FrameKind};
use crate::phy;
use crate::queue::Queued;
use crate::radio::{AfterSifs, Phase};
use crate::token::Token;

impl Network {
    /// A frame has survived noise and interference at a radio. Returns whether the radio could
    /// decode it.
    pub(super) fn receive(&mut self, cx: &mut impl Engine, slot: u32, index: u32) -> bool {
        let (frame, from) = {
            let transmission = self.air.get(slot);
            (transmission.frame, transmission.radio)
        };
        let is_for_me = frame.to == index || frame.to == BROADCAST;
        if frame.kind == FrameKind::Data && is_for_me && self.fails(cx.now(), from, index, frame) {
            return false;
        }
        self.note_reception(slot, index);
        let radio = &mut self.radios[index as usize];
        radio.carrier.resynchronise();
        match frame.kind {
            FrameKind::Data if frame.to == BROADCAST => self.receive_broadcast(cx, slot, index),
            _ if frame.to != index => self.overhear(cx, index, frame),
            FrameKind::Data => self.receive_data(cx, from, index, frame),
            FrameKind::Rts => self.receive_rts(cx, from, index, frame),
            FrameKind::Cts => {
                if radio.phase == Phase::AwaitingCts {
                    self.receive_cts(cx, index);
                }
            }
            FrameKind::Ack => {
                if radio.phase == Phase::AwaitingAck {
                    self.succeed(cx, index);
                }
            }
        }
        true
    }

    /// A frame for others: its Duration field reserves the medium (IEEE 802.11-2020 §10.3.2.4).
    fn overhear(&mut self, cx: &mut impl Engine, index: u32, frame: Frame) {
        let now = cx.now();
        let radio = &mut self.radios[index as usize];
        let before = radio.carrier.reserved_until();
        if !radio.carrier.reserve(now + frame.reserved) || frame.kind != FrameKind::Rts {
            return;
        }
        // §10.3.2.4: what an RTS has reserved may be released if no frame begins within two SIFS, a
        // CTS, the start of a reception and two slots.
        let timing = radio.timing;
        let answer = radio.control_rate(frame.rate);
        let wait = timing.sifs
            + timing.sifs
            + radio.airtime(answer, phy::CTS)
            + phy::preamble_duration(radio.mac.standard, answer)
            + timing.slot
            + timing.slot;
        radio.rts_heard_at = now;
        radio.nav_before_rts = before;
        radio.rts_nav = now + frame.reserved;
        radio.nav_reset_at = now + wait;
        cx.set_timer(radio.nav_reset_at, Token::NavReset(index));
    }

    /// Ends the reservation by an RTS if no frame has begun since.
    pub(super) fn reset_nav(&mut self, cx: &mut impl Engine, index: u32) {
        let now = cx.now();
        let radio = &mut self.radios[index as usize];
        let is_stale = radio.nav_reset_at != now;
        if is_stale || radio.carrier.reserved_until() != radio.rts_nav || radio.has_heard_since_rts() {
            return;
        }
        radio.carrier.release(now.max(radio.nav_before_rts));
        radio.schedule_anew(index, cx);
    }

    fn receive_broadcast(&mut self, cx: &mut impl Engine, slot: u32, index: u32) {
        let Some(port) = self.radios[index as usize].broadcast_entry else { return };
        let transmission = self.air.get_mut(slot);
        let Some(packet) = transmission.broadcast else { return };
        transmission.copies += 1;
        let octets = u64::from(transmission.frame.octets - phy::DATA_OVERHEAD);
        let way = &mut self.entries[transmission.entry as usize];
        way.stats.duplicates += 1;
        way.duplicated_bytes += octets;
        way.stats.delivered += 1;
        way.stats.delivered_bytes += octets;
        self.radios[index as usize].stats.data_received += 1;
        cx.deliver_copy(port, packet);
    }

    fn receive_data(&mut self, cx: &mut impl Engine, from: u32, index: u32, frame: Frame) {
        let radio = &mut self.radios[index as usize];
        radio.stats.data_received += 1;
        // §10.3.2.11: the ACK goes after SIFS whatever the medium is like, for a duplicate too.
        let rate = radio.control_rate(frame.rate);
        radio.after_sifs = Some(AfterSifs::Ack { to: from, rate });
        cx.set_timer(cx.now() + radio.timing.sifs, Token::Sifs(index));
        if !radio.is_new(from, frame.sequence, frame.is_retry) {
            radio.stats.duplicates += 1;
            return;
        }
        let station = radio.station;
        let Some(sent) = &mut self.radios[from as usize].current else { return };
        debug_assert_eq!(sent.sequence, frame.sequence, "the sender keeps a frame until its receiver has it");
        let Some(packet) = sent.packet.take() else { return };
        let queued =
            Queued { packet, octets: sent.octets, entry: sent.entry, to: BROADCAST, since: sent.since };
        self.forward(cx, station, queued);
    }

    /// §10.3.2.9: a CTS answers an RTS only if the NAV says the medium is idle.
    fn receive_rts(&mut self, cx: &mut impl Engine, from: u32, index: u32, frame: Frame) {
        let now = cx.now();
        let radio = &mut self.radios[index as usize];
        if radio.carrier.is_reserved(now) {
            return;
        }
        let rate = radio.control_rate(frame.rate);
        let spent = radio.timing.sifs + radio.airtime(rate, phy::CTS);
        let reserved = frame.reserved.saturating_sub(spent);
        radio.after_sifs = Some(AfterSifs::Cts { to: from, rate, reserved });
        cx.set_timer(now + radio.timing.sifs, Token::Sifs(index));
    }
}
