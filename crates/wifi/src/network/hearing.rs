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
        let is_lockable = self.is_lockable(neighbour);
        let radio = &mut self.radios[neighbour.radio as usize];
        radio.heard.push(Heard { transmission: slot, power_mw: neighbour.power_mw });
        if is_lockable {
            if radio.locked.is_some() {
                radio.stats.collisions += 1;
                radio.carrier.garble();
            }
            radio.last_preamble = now;
            radio.locked = Some(Locked {
                transmission: slot,
                power_mw: neighbour.power_mw,
                interference_mw: radio.interference_beside(slot),
                since: now,
            });
        } else if let Some(locked) = radio.locked {
            let interference = radio.interference_beside(locked.transmission);
            if interference > locked.interference_mw {
                radio.locked = Some(Locked { interference_mw: interference, ..locked });
            }
        }
    }

    /// Does a radio lock on to a preamble that begins now?
    #[inline]
    fn is_lockable(&self, neighbour: Neighbour) -> bool {
        let radio = &self.radios[neighbour.radio as usize];
        if !neighbour.is_decodable || radio.sending.is_some() || (radio.locked.is_some() && !self.recapture) {
            return false;
        }
        if radio.heard.is_empty() {
            return true;
        }
        let interference = radio.heard.iter().map(|heard| heard.power_mw).sum();
        // The preamble is sent like the slowest frames.
        self.propagation.receives(radio.mac.standard.lowest_rate(), neighbour.power_mw, interference)
    }

    /// A transmission is over at a radio.
    #[inline]
    pub(super) fn end_hearing(&mut self, cx: &mut impl Engine, slot: u32, neighbour: Neighbour) {
        let index = neighbour.radio;
        if neighbour.is_signal() {
            let radio = &mut self.radios[index as usize];
            if let Some(place) = radio.heard.iter().position(|heard| heard.transmission == slot) {
                radio.heard.swap_remove(place);
            }
            if radio.locked.is_some_and(|locked| locked.transmission == slot) {
                self.end_reception(cx, slot, index);
            }
        }
        let radio = &mut self.radios[index as usize];
        if neighbour.is_sensed && radio.carrier.end_sensing(cx.now(), radio.eifs) {
            radio.resume(index, cx);
        }
    }

    fn end_reception(&mut self, cx: &mut impl Engine, slot: u32, index: u32) {
        let radio = &mut self.radios[index as usize];
        let Some(Locked { power_mw, interference_mw, .. }) = radio.locked.take() else { return };
        if self.propagation.receives(self.air.get(slot).frame.rate, power_mw, interference_mw) {
            self.receive(cx, slot, index);
        } else {
            radio.stats.collisions += 1;
            radio.carrier.garble();
        }
        self.give_up_if_deferred(cx, index);
    }
}
