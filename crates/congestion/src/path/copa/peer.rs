//! What a CUBIC flow would have on its way in the path's place.

use crate::ack_sample::AckSample;
use crate::cubic::Cubic;
use crate::path::PathSample;
use crate::rate_sample::LostPacket;
use crate::window::{UNLIMITED, Window};
use ropewalk_units::Instant;

/// What shares a line with TCP fairly has at most twice the rate of a TCP flow there (RFC 5348 §1).
const FAIR: f64 = 2.0;

/// A CUBIC flow that loses when the path loses, and always has something to send (RFC 9438). Its packets are full ones: a path of small
/// packets may have as many octets as others (RFC 4828 §3).
#[derive(Clone, Copy, Debug)]
pub(super) struct Peer {
    cubic: Cubic,
    /// `None`: nothing was lost yet.
    window: Option<Window>,
    grown_at: Instant,
    /// Octets that had been delivered at its last decrease.
    decreased_at: u64,
    /// The size of its packets.
    packet: u32,
    /// Octets lost that are no whole packet of its yet.
    lost: u32,
}

impl Peer {
    /// A flow with packets of so many octets.
    pub(super) fn new(now: Instant, packet: u32) -> Self {
        Self { cubic: Cubic::new(true), window: None, grown_at: now, decreased_at: 0, packet, lost: 0 }
    }

    /// The same flow, before it has lost anything.
    pub(super) fn begin_anew(&mut self, now: Instant) {
        *self = Self::new(now, self.packet);
    }

    /// Octets that the path may have on its way, beside others that slow down by losses.
    pub(super) fn bound(&self) -> u32 {
        self.window.map_or(UNLIMITED, |window| (FAIR * f64::from(window.cwnd)) as u32)
    }

    /// The path loses a packet; its packets have `size` octets. This flow loses as many octets, in fewer packets. All losses of a round
    /// trip are one event (RFC 5681 §4.3).
    /// Where more was on its way than the bound, the path lost what this flow would not have sent.
    pub(super) fn on_lost(&mut self, packet: &LostPacket, size: u32) {
        if packet.prior_delivered < self.decreased_at || packet.tx_in_flight > self.bound() {
            return;
        }
        self.lost += size;
        if self.lost < self.packet {
            return;
        }
        self.lost = 0;
        self.decreased_at = packet.total_delivered;
        let begin = || Window::new(packet.tx_in_flight, UNLIMITED, self.packet);
        let window = self.window.get_or_insert_with(begin);
        self.cubic.on_loss(window, window.cwnd);
        window.set_cwnd(window.ssthresh);
    }

    /// A report: since the last one the flow has had its window acknowledged once in each round trip.
    pub(super) fn on_report(&mut self, now: Instant, sample: &PathSample) {
        let elapsed = now.saturating_since(std::mem::replace(&mut self.grown_at, now)).min(sample.srtt);
        let Some(window) = self.window.as_mut().filter(|_| !sample.srtt.is_zero()) else { return };
        let octets = f64::from(window.cwnd) * elapsed.as_secs_f64() / sample.srtt.as_secs_f64();
        let newly_acked = octets as u32;
        let ack = AckSample {
            newly_acked,
            srtt: Some(sample.srtt),
            latest_rtt: None,
            acked: 0,
            sent: 0,
            cwnd_limited: true,
        };
        self.cubic.on_ack(window, now, newly_acked, &ack);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path::tests::SIZE;
    use crate::rate_sample::RateSample;
    use crate::signals::LossRange;
    use ropewalk_units::Duration;

    fn lost(prior_delivered: u64, total_delivered: u64) -> LostPacket {
        LostPacket {
            size: SIZE,
            tx_in_flight: 100 * SIZE,
            lost: u64::from(SIZE),
            prior_delivered,
            is_app_limited: false,
            total_delivered,
            range: LossRange::Begins,
        }
    }

    /// Reports each 5 ms for so many seconds, with round trips of 100 ms.
    fn pass(peer: &mut Peer, from: f64, seconds: f64) {
        let srtt = Duration::from_millis(100);
        let zero = Duration::ZERO;
        let sample = PathSample {
            rate: RateSample::default(),
            least_rtt: Some(srtt),
            srtt,
            reordering: zero,
            lag: zero,
        };
        for report in 0..(seconds * 200.0) as u64 {
            peer.on_report(
                Instant::ZERO + Duration::from_secs_f64(from) + Duration::from_millis(5 * report),
                &sample,
            );
        }
    }

    fn packets(peer: &Peer) -> f64 {
        f64::from(peer.bound()) / f64::from(SIZE)
    }

    #[test]
    fn nothing_is_bounded_before_a_loss() {
        let mut peer = Peer::new(Instant::ZERO, SIZE);
        pass(&mut peer, 0.0, 10.0);
        assert_eq!(peer.bound(), UNLIMITED);
    }

    #[test]
    fn a_loss_leaves_twice_what_cubic_keeps_and_those_of_one_round_trip_are_one() {
        let mut peer = Peer::new(Instant::ZERO, SIZE);
        peer.on_lost(&lost(1000, 5000), SIZE);
        peer.on_lost(&lost(4999, 6000), SIZE);
        assert!((packets(&peer) - 140.0).abs() < 0.01, "{}", packets(&peer));
        peer.on_lost(&lost(5000, 9000), SIZE);
        assert!((packets(&peer) - 98.0).abs() < 0.01, "{}", packets(&peer));
    }

    #[test]
    fn what_is_lost_beyond_the_bound_tells_nothing() {
        let mut peer = Peer::new(Instant::ZERO, SIZE);
        peer.on_lost(&lost(1000, 5000), SIZE);
        let beyond = LostPacket { tx_in_flight: 141 * SIZE, ..lost(6000, 9000) };
        peer.on_lost(&beyond, SIZE);
        assert!((packets(&peer) - 140.0).abs() < 0.01, "{}", packets(&peer));
    }

    #[test]
    fn small_packets_are_bounded_as_full_ones_of_as_many_octets() {
        let mut peer = Peer::new(Instant::ZERO, SIZE);
        for round in 1..8 {
            peer.on_lost(&lost(5000 * round, 5000 * (round + 1)), SIZE / 8);
            assert_eq!(peer.bound(), UNLIMITED, "{round} eighths of a packet");
        }
        peer.on_lost(&lost(40_000, 45_000), SIZE / 8);
        assert!((packets(&peer) - 140.0).abs() < 0.01, "{}", packets(&peer));
    }

    /// RFC 9438 §4.2: K = ∛(30 / 0.4) s after a loss at 100 packets.
    #[test]
    fn the_window_is_back_where_it_was_after_k() {
        let mut peer = Peer::new(Instant::ZERO, SIZE);
        pass(&mut peer, 0.0, 1.0);
        peer.on_lost(&lost(0, 1), SIZE);
        let k = libm::cbrt(30.0 / 0.4);
        pass(&mut peer, 1.0, k);
        assert!((packets(&peer) - 200.0).abs() < 2.0, "{}", packets(&peer));
        pass(&mut peer, 1.0 + k, 3.0);
        assert!(packets(&peer) > 2.0 * (100.0 + 0.4 * 27.0), "{}", packets(&peer));
    }
}
