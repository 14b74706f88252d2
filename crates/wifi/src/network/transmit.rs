//! Frames go on the air and leave it.

use super::Network;
use super::routing::Lost;
use crate::air::Transmission;
use crate::engine::Engine;
use crate::frame::{BROADCAST, Frame, FrameKind};
use crate::phy;
use crate::radio::{AfterSifs, Phase, Transmitter};
use crate::token::Token;
use crate::topology::Neighbour;
use ropewalk_sim::PacketId;
use ropewalk_units::Duration;

impl Network {
    /// A radio's turn has come: it sends an RTS, or the data at once.
    pub(super) fn send_current(&mut self, cx: &mut impl Engine, index: u32) {
        if !self.may_still_be_sent(cx, index) {
            return;
        }
        let radio = &self.radios[index as usize];
        let Some(current) = radio.current else { return };
        let octets = current.octets + phy::DATA_OVERHEAD;
        let needs_rts =
            current.to != BROADCAST && radio.mac.rts_threshold.is_some_and(|threshold| octets > threshold);
        if needs_rts {
            self.send_rts(cx, index);
        } else {
            self.send_data(cx, index);
        }
    }

    fn send_rts(&mut self, cx: &mut impl Engine, index: u32) {
        let radio = &mut self.radios[index as usize];
        let Some(current) = radio.current else { return };
        let control = radio.control_rate(current.rate);
        let answer = radio.control_rate(control);
        let data = radio.airtime(current.rate, current.octets + phy::DATA_OVERHEAD);
        // IEEE 802.11-2020 §9.3.1.2: CTS, data, ACK, and a SIFS before each.
        let sifs = radio.timing.sifs;
        let reserved =
            sifs + radio.airtime(answer, phy::CTS) + sifs + data + sifs + radio.airtime(control, phy::ACK);
        radio.phase = Phase::SendingRts;
        radio.stats.rts_sent += 1;
        let frame = Frame::control(FrameKind::Rts, current.to, control, reserved);
        self.transmit(cx, index, frame, current.entry, None);
    }

    fn send_data(&mut self, cx: &mut impl Engine, index: u32) {
        let radio = &mut self.radios[index as usize];
        let (sifs, control) =
            (radio.timing.sifs, radio.current.map(|current| radio.control_rate(current.rate)));
        let ack = control.map_or(Duration::ZERO, |rate| sifs + radio.airtime(rate, phy::ACK));
        let Some(current) = &mut radio.current else { return };
        let is_broadcast = current.to == BROADCAST;
        let frame = Frame {
            kind: FrameKind::Data,
            to: current.to,
            rate: current.rate,
            octets: current.octets + phy::DATA_OVERHEAD,
            reserved: if is_broadcast { Duration::ZERO } else { ack },
            sequence: current.sequence,
            is_retry: current.attempts > 0,
        };
        current.attempts += 1;
        let broadcast = if is_broadcast { current.packet.take() } else { None };
        let (entry, octets) = (current.entry, current.octets);
        radio.phase = Phase::SendingData;
        radio.stats.data_sent += 1;
        radio.stats.retries += u64::from(frame.is_retry);
        if !is_broadcast {
            let hop = radio.hop(frame.to);
            hop.sent += 1;
            hop.retries += u64::from(frame.is_retry);
        }
        let airtime = self.transmit(cx, index, frame, entry, broadcast);
        let stats = &mut self.entries[entry as usize].stats;
        stats.attempts += 1;
        stats.attempted_bytes += u64::from(octets);
        stats.airtime += airtime;
    }

    /// A SIFS after a frame: the radio sends its response, or the data after a CTS.
    pub(super) fn send_after_sifs(&mut self, cx: &mut impl Engine, index: u32) {
        let radio = &mut self.radios[index as usize];
        let Some(due) = radio.after_sifs.take() else { return };
        if radio.sending.is_some() {
            return;
        }
        match due {
            AfterSifs::Ack { to, rate } => {
                radio.stats.acks_sent += 1;
                let frame = Frame::control(FrameKind::Ack, to, rate, Duration::ZERO);
                self.transmit(cx, index, frame, 0, None);
            }
            AfterSifs::Cts { .. } if self.ns2.cts_needs_silence && radio.carrier.is_busy() => {}
            AfterSifs::Cts { to, rate, reserved } => {
                radio.stats.cts_sent += 1;
                let frame = Frame::control(FrameKind::Cts, to, rate, reserved);
                self.transmit(cx, index, frame, 0, None);
            }
            AfterSifs::Data => self.send_data(cx, index),
        }
    }

    /// Puts a frame on the air. Returns how long it stays there.
    fn transmit(
        &mut self,
        cx: &mut impl Engine,
        index: u32,
        frame: Frame,
        entry: u32,
        broadcast: Option<PacketId>,
    ) -> Duration {
        let now = cx.now();
        let duration = self.radios[index as usize].airtime(frame.rate, frame.octets);
        let count = self.topology.count(index);
        let record = self.note(now, index, frame, duration);
        let held = self.radios[index as usize].current.and_then(|current| current.packet);
        self.note_sniffed(cx, index, &frame, broadcast.or(held));
        let transmission = self.air.insert(Transmission {
            radio: index,
            frame,
            duration,
            entry,
            broadcast,
            copies: 0,
            record,
            ends: if self.has_delay { count + 1 } else { 1 },
            neighbours: None,
        });
        let radio = &mut self.radios[index as usize];
        radio.sending = Some(transmission);
        if radio.locked.take().is_some() {
            radio.stats.missed += 1;
        }
        if radio.carrier.begin_sending(now) {
            radio.defer(now, Transmitter::Itself);
        }
        for n in 0..count {
            let neighbour = self.topology.neighbour(index, n);
            if self.has_delay {
                cx.set_timer(now + neighbour.delay, Token::Reach(transmission, n));
            } else {
                self.begin_hearing(cx, transmission, neighbour);
            }
        }
        cx.set_timer(now + duration, Token::End(transmission));
        duration
    }

    /// A frame leaves the air at its sender.
    #[inline(always)]
    pub(super) fn end_transmission(&mut self, cx: &mut impl Engine, slot: u32) {
        let (index, kind, to) = {
            let transmission = self.air.get(slot);
            (transmission.radio, transmission.frame.kind, transmission.frame.to)
        };
        if kind == FrameKind::Data {
            self.tell_of_first_departure(cx, index, slot);
        }
        if !self.has_delay {
            self.end_everywhere(cx, index, slot);
        }
        let duration = self.air.get(slot).duration;
        let radio = &mut self.radios[index as usize];
        radio.sending = None;
        radio.stats.sending += duration;
        match kind {
            FrameKind::Data if to == BROADCAST => self.finish_service(cx, index),
            FrameKind::Data => self.await_response(cx, index, Phase::AwaitingAck),
            FrameKind::Rts => self.await_response(cx, index, Phase::AwaitingCts),
            FrameKind::Cts | FrameKind::Ack => {}
        }
        let radio = &mut self.radios[index as usize];
        if radio.carrier.end_sending(cx.now(), radio.eifs) {
            radio.resume(index, cx);
        }
        self.release(cx, slot);
    }

    fn tell_of_first_departure(&self, cx: &mut impl Engine, index: u32, slot: u32) {
        let transmission = self.air.get(slot);
        let Some(current) = &self.radios[index as usize].current else { return };
        if current.attempts == 1
            && let Some(packet) = current.packet.or(transmission.broadcast)
            && self.entries[current.entry as usize].begins_at(index)
        {
            cx.transmitted(current.entry, packet);
        }
    }

    fn await_response(&mut self, cx: &mut impl Engine, index: u32, phase: Phase) {
        let radio = &mut self.radios[index as usize];
        let Some(current) = &radio.current else { return };
        radio.phase = phase;
        let answered = match phase {
            Phase::AwaitingCts => radio.control_rate(current.rate),
            _ => current.rate,
        };
        let rate = radio.control_rate(answered);
        let timeout =
            radio.mac.response_timeout.unwrap_or_else(|| phy::response_timeout(radio.mac.standard, rate));
        radio.timeout_at = cx.now() + timeout;
        radio.timeout_deferred = false;
        cx.set_timer(radio.timeout_at, Token::Timeout(index));
    }

    /// With a propagation delay: a frame's beginning reaches a neighbour.
    #[inline(always)]
    pub(super) fn reach(&mut self, cx: &mut impl Engine, slot: u32, n: u32) {
        let neighbour = self.hearer(slot, n);
        cx.set_timer(cx.now() + self.air.get(slot).duration, Token::Leave(slot, n));
        self.begin_hearing(cx, slot, neighbour);
    }

    /// With a propagation delay: a frame's end reaches a neighbour.
    pub(super) fn leave(&mut self, cx: &mut impl Engine, slot: u32, n: u32) {
        let neighbour = self.hearer(slot, n);
        self.end_hearing(cx, slot, neighbour);
        self.release(cx, slot);
    }

    fn end_everywhere(&mut self, cx: &mut impl Engine, index: u32, slot: u32) {
        if let Some(neighbours) = self.air.get_mut(slot).neighbours.take() {
            for &neighbour in &neighbours {
                self.end_hearing(cx, slot, neighbour);
            }
            return;
        }
        for n in 0..self.topology.count(index) {
            let neighbour = self.topology.neighbour(index, n);
            self.end_hearing(cx, slot, neighbour);
        }
    }

    fn hearer(&self, slot: u32, n: u32) -> Neighbour {
        let transmission = self.air.get(slot);
        match &transmission.neighbours {
            Some(neighbours) => neighbours[n as usize],
            None => self.topology.neighbour(transmission.radio, n),
        }
    }

    fn release(&mut self, cx: &mut impl Engine, slot: u32) {
        if !self.air.end(slot) {
            return;
        }
        let transmission = self.air.get(slot);
        let Some(packet) = transmission.broadcast else { return };
        let (entry, copies) = (transmission.entry, transmission.copies);
        let octets = transmission.frame.octets - phy::DATA_OVERHEAD;
        if copies == 0 {
            self.lose(cx, entry, packet, octets, Lost::Route);
        } else {
            // One of the copies stands for the packet itself.
            let way = &mut self.entries[entry as usize];
            way.stats.duplicates -= 1;
            way.duplicated_bytes -= u64::from(octets);
            cx.remove(packet);
        }
    }
}
