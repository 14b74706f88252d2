//! Segments that leave together: Linux gives them to the device as one packet, which cuts it (TSO).
//!
//! Such a packet ends with PSH whatever the application wrote (Linux `__tcp_transmit_skb`: "Force a PSH flag on all (GSO) packets"). A
//! receiver with [`crate::DelayedAck::after_reading`] then acknowledges its last segment without delay. A segment that leaves alone
//! has no PSH.

use super::Sender;
use crate::context::Context;

/// Where in a packet a segment is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Place {
    /// Another one follows.
    Within,
    /// It is the last of several.
    Last,
    Alone,
}

impl Sender {
    /// A new segment of `len` octets leaves, and is in the queue. `ends`: it is the last that was written into its packet.
    #[inline]
    pub(super) fn place_in_packet(&mut self, cx: &Context, len: u32, ends: bool) -> Place {
        if cx.now != self.last_sent {
            self.packet = 0;
        }
        self.packet += len;
        if !ends && self.packet_goes_on(cx) {
            return Place::Within;
        }
        if cx.config.send_autotuning {
            self.queue.end_packet();
        }
        if std::mem::take(&mut self.packet) > len { Place::Last } else { Place::Alone }
    }

    /// Does another segment leave in this packet?
    #[inline]
    fn packet_goes_on(&self, cx: &Context) -> bool {
        let next = self.next_len();
        next > 0
            && !self.is_held_by_congestion(cx, next)
            && !self.timers.is_pacing()
            && self.fits_packet(self.packet + next)
            && self.fit_window(cx, next).is_ok()
    }

    /// May a packet have so many octets? Half of cwnd at most (`tcp_cwnd_test`), and what is paced to leave in a millisecond, though never
    /// less than two segments of it (`tcp_tso_autosize`).
    fn fits_packet(&self, octets: u32) -> bool {
        octets <= self.controller.cwnd() / 2
            && (octets <= 2 * self.smss || !self.takes_a_millisecond(octets - 1))
    }

    /// Is no more than so much paced to leave in a millisecond? Not known without a round-trip time.
    pub(super) fn takes_a_millisecond(&self, octets: u32) -> bool {
        self.rtt.srtt().is_some_and(|srtt| self.controller.lasts_a_millisecond(srtt, octets))
    }

    /// What is paced to leave in a millisecond, in whole segments, two of them at least.
    pub(super) fn timed_packet(&self) -> u32 {
        let octets = self.pace_rate().map_or(u32::MAX, |rate| self.controller.send_quantum(rate));
        octets - octets % self.smss
    }
}
