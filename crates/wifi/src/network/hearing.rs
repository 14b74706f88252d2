//! What a radio hears of others' transmissions: carrier, preambles, interference.

use super::Network;
use crate::engine::Engine;
use crate::radio::{Heard, Locked};
use crate::topology::Neighbour;
use ropewalk_units::Instant;

impl Network {
    /// A transmission begins to be heard by a radio.
    #[inline]
    pub(super) fn begin_hearing(&mut self, cx: &mut impl Engine, slot: u32, neighbour: Neighbour) {
        let now = cx.now();
        if neighbour.is_signal() {
            self.begin_signal(now, slot, neighbour);
        }
        let radio = &mut self.radios[neighbour.radio as usize];
        if neighbour.is_sensed && radio.carrier.begin_sensing(now) {
            radio.defer(now, false);
        }
    }

    /// What can be received, or spoils what is.
    #[inline]
    fn begin_signal(&mut self, now: Instant, slot: u32, neighbour: Neighbour) {
        let radio = &mut self.radios[neighbour.radio as usize];
        let interference_mw = radio.interference();
        radio.heard.push(Heard { transmission: slot, power_mw: neighbour.power_mw });
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
    pub(super) fn end_hearing(&mut self, cx: &mut impl Engine, slot: u32, neighbour: Neighbour) {
        let index = neighbour.radio;
        let mut is_decoded = false;
        if neighbour.is_signal() {
            let radio = &mut self.radios[index as usize];
            if let Some(place) = radio.heard.iter().position(|heard| heard.transmission == slot) {
                radio.heard.swap_remove(place);
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

    /// Returns whether the frame was decoded.
    fn end_reception(&mut self, cx: &mut impl Engine, slot: u32, index: u32) -> bool {
        let radio = &mut self.radios[index as usize];
        let Some(Locked { power_mw, interference_mw, .. }) = radio.locked.take() else { return false };
        let is_decoded =
            if self.propagation.receives(self.air.get(slot).frame.rate, power_mw, interference_mw) {
                self.receive(cx, slot, index)
            } else {
                radio.stats.collisions += 1;
                radio.carrier.garble();
                self.note_collision(cx.now(), slot, index);
                false
            };
        self.give_up_if_deferred(cx, index);
        is_decoded
    }
}
