//! What a radio hears of others' transmissions: carrier, preambles, interference.

use super::Network;
use crate::engine::Engine;
use crate::frame::FrameKind;
use crate::propagation::Fading;
use crate::radio::{Heard, Locked, Transmitter};
use crate::topology::Neighbour;
use ropewalk_units::Instant;

impl Network {
    /// A transmission begins to be heard by a radio.
    #[inline]
    pub(super) fn begin_hearing(&mut self, cx: &mut impl Engine, slot: u32, neighbour: Neighbour) {
        let now = cx.now();
        let neighbour = self.faded(neighbour);
        if neighbour.is_signal() {
            self.begin_signal(now, slot, neighbour);
        }
        let radio = &mut self.radios[neighbour.radio as usize];
        if neighbour.is_sensed && radio.carrier.begin_sensing(now) {
            radio.defer(now, Transmitter::Another);
        }
    }

    /// A signal begins that can be received, or spoils a reception.
    #[inline]
    fn begin_signal(&mut self, now: Instant, slot: u32, neighbour: Neighbour) {
        let radio = &mut self.radios[neighbour.radio as usize];
        let interference_mw = radio.interference();
        radio.heard.push(Heard {
            transmission: slot,
            power_mw: neighbour.power_mw,
            is_sensed: neighbour.is_sensed,
        });
        let may_lock = neighbour.is_decodable
            && radio.sending.is_none()
            && (radio.locked.is_none() || self.recapture)
            && !(self.ns2.energy_blocks && radio.carrier.is_busy());
        // The preamble is sent like the slowest frames.
        let lowest = radio.mac.standard.lowest_rate();
        if may_lock
            && (interference_mw == 0.0
                || self.propagation.receives(lowest, neighbour.power_mw, interference_mw))
        {
            let spoilt = radio.locked.map(|locked| locked.transmission);
            if spoilt.is_some() {
                radio.stats.collisions += 1;
                radio.carrier.garble();
            }
            radio.last_preamble = now;
            let power_mw = neighbour.power_mw;
            radio.locked = Some(Locked { transmission: slot, power_mw, interference_mw, since: now });
            if let Some(spoilt) = spoilt {
                self.note_collision(now, spoilt, neighbour.radio);
            }
        } else if let Some(locked) = radio.locked {
            let interference_mw = radio.interference_beside(locked.transmission);
            if interference_mw > locked.interference_mw {
                radio.locked = Some(Locked { interference_mw, ..locked });
            }
        }
    }

    /// A transmission is over at a radio.
    #[inline]
    pub(super) fn end_hearing(&mut self, cx: &mut impl Engine, slot: u32, mut neighbour: Neighbour) {
        let index = neighbour.radio;
        let mut is_decoded = false;
        if neighbour.is_signal() {
            let radio = &mut self.radios[index as usize];
            if let Some(place) = radio.heard.iter().position(|heard| heard.transmission == slot) {
                // What was drawn when it began holds until its end.
                neighbour.is_sensed = radio.heard.swap_remove(place).is_sensed;
            }
            if radio.locked.is_some_and(|locked| locked.transmission == slot) {
                is_decoded = self.end_reception(cx, slot, index);
            }
        }
        let radio = &mut self.radios[index as usize];
        if self.ns2.eifs_after_energy && neighbour.is_sensed && !is_decoded && radio.sending.is_none() {
            radio.carrier.reserve(cx.now() + radio.eifs);
        }
        if neighbour.is_sensed && radio.carrier.end_sensing(cx.now(), radio.eifs) {
            radio.resume(index, cx);
        }
    }

    /// The neighbour with the power of this one frame.
    #[inline]
    fn faded(&mut self, neighbour: Neighbour) -> Neighbour {
        if self.fading == Fading::None {
            return neighbour;
        }
        let Some(luck) = &mut self.radios[neighbour.radio as usize].luck else { return neighbour };
        let power_mw = neighbour.power_mw * self.fading.gain(luck);
        let heard = self.propagation.heard_at(power_mw);
        let is_decodable = neighbour.is_own && heard.locks_on;
        Neighbour { power_mw, is_decodable, is_sensed: heard.is_sensed || is_decodable, ..neighbour }
    }

    /// Does a frame survive noise and interference?
    #[inline(always)]
    fn survives(&mut self, slot: u32, index: u32, power_mw: f64, interference_mw: f64) -> bool {
        let rate = self.air.get(slot).frame.rate;
        if self.curves.is_some() {
            return self.survives_by_curve(slot, index, power_mw, interference_mw);
        }
        self.propagation.receives(rate, power_mw, interference_mw)
    }

    /// The same where the ratio of signal to noise gives a probability.
    #[inline(never)]
    fn survives_by_curve(&mut self, slot: u32, index: u32, power_mw: f64, interference_mw: f64) -> bool {
        let frame = self.air.get(slot).frame;
        let Some(curves) = &self.curves else { return true };
        let Some(sinr_db) = self.propagation.sinr_db(power_mw, interference_mw) else { return true };
        let part = curves.survives(frame.rate, frame.octets, sinr_db);
        self.radios[index as usize].luck.as_mut().is_none_or(|luck| luck.bernoulli(part))
    }

    /// A frame was lost by interference, or by noise alone.
    fn note_spoiled(&mut self, now: Instant, slot: u32, index: u32, interference_mw: f64) {
        let radio = &mut self.radios[index as usize];
        radio.carrier.garble();
        if interference_mw > 0.0 {
            radio.stats.collisions += 1;
            self.note_collision(now, slot, index);
        } else {
            radio.stats.noise += 1;
        }
    }

    /// Counts a data frame for its sender, if it was for the radio that has locked on to it.
    #[inline]
    fn note_hop(&mut self, slot: u32, index: u32, power_mw: f64, is_decoded: bool) {
        let transmission = self.air.get(slot);
        if transmission.frame.kind == FrameKind::Data && transmission.frame.to == index {
            let snr_db = self.propagation.sinr_db(power_mw, 0.0);
            self.radios[transmission.radio as usize].hop(index).note(snr_db, is_decoded);
        }
    }

    /// Returns whether the frame was decoded.
    fn end_reception(&mut self, cx: &mut impl Engine, slot: u32, index: u32) -> bool {
        let radio = &mut self.radios[index as usize];
        let Some(Locked { power_mw, interference_mw, .. }) = radio.locked.take() else { return false };
        radio.received_at = cx.now();
        let survives = self.survives(slot, index, power_mw, interference_mw);
        let is_decoded = survives && self.receive(cx, slot, index);
        if !survives {
            self.note_spoiled(cx.now(), slot, index, interference_mw);
        }
        self.note_hop(slot, index, power_mw, is_decoded);
        self.give_up_if_deferred(cx, index);
        is_decoded
    }
}
