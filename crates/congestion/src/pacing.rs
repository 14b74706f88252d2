//! How fast to send, and when the next burst may leave.

use ropewalk_units::{Duration, Instant, Rate};

/// Linux's `tcp_pacing_ss_ratio` and `tcp_pacing_ca_ratio`, in percent.
const SLOW_START_PERCENT: u64 = 200;
const AVOIDANCE_PERCENT: u64 = 120;
const NANOS_PER_SECOND: u64 = 1_000_000_000;
/// The largest burst, as that of Linux's segmentation offload.
const LARGEST_QUANTUM: u64 = 64 * 1024;

/// A packet makes the next wait no longer, as in Linux's `fq_dequeue`: the rate may be another by then.
const LONGEST_WAIT: Duration = Duration::from_secs(1);

/// Linux's pacing rate: twice cwnd per round-trip time while cwnd is below half of ssthresh, 1.2 times after.
pub fn pacing_rate(cwnd: u32, ssthresh: u32, srtt: Duration) -> Rate {
    let bits = u64::from(cwnd) * 8 * percent(cwnd, ssthresh) / 100;
    Rate::from_bits_per_sec(per_second(bits, srtt.as_nanos().max(1)))
}

/// Does it take a millisecond or more to pace so many octets? Asked for each packet: without a division.
pub(crate) fn lasts_a_millisecond(cwnd: u32, ssthresh: u32, srtt: Duration, octets: u32) -> bool {
    if u64::from(octets) >= LARGEST_QUANTUM {
        return true;
    }
    u64::from(cwnd) * percent(cwnd, ssthresh) * 10_000 <= u64::from(octets).saturating_mul(srtt.as_nanos())
}

/// Of cwnd per round-trip time.
fn percent(cwnd: u32, ssthresh: u32) -> u64 {
    if cwnd < ssthresh / 2 { SLOW_START_PERCENT } else { AVOIDANCE_PERCENT }
}

/// So many bits in so many nanoseconds, per second; `u64::MAX` if they are more.
fn per_second(bits: u64, nanos: u64) -> u64 {
    if let Some(product) = bits.checked_mul(NANOS_PER_SECOND) {
        return product / nanos;
    }
    let rate = u128::from(bits) * u128::from(NANOS_PER_SECOND) / u128::from(nanos);
    u64::try_from(rate).unwrap_or(u64::MAX)
}

/// C.send_quantum: what leaves together at `rate`: a millisecond's worth, two segments at the least and 64 kB at the
/// most (draft-ietf-ccwg-bbr, "Send Quantum"; Linux's `tcp_tso_autosize` takes the same millisecond).
pub fn send_quantum(rate: Rate, smss: u32) -> u32 {
    let millisecond = rate.bits_per_sec() / 8_000;
    let least = u64::from(smss) * 2;
    millisecond.min(LARGEST_QUANTUM).max(least).min(u64::from(u32::MAX)) as u32
}

/// Keeps the distance between bursts: a quantum leaves at once, and the next one when the last has had its time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pacer {
    /// C.next_send_time.
    next_send_time: Instant,
    /// Octets that the burst at hand may still take.
    credit: u32,
}

impl Pacer {
    /// Nothing was sent yet.
    pub fn new() -> Self {
        Self { next_send_time: Instant::ZERO, credit: 0 }
    }

    /// Must the next packet wait?
    pub fn holds(&self, now: Instant) -> bool {
        self.credit == 0 && now < self.next_send_time
    }

    /// When the next burst may leave.
    pub fn next_send_time(&self) -> Instant {
        self.next_send_time
    }

    /// Octets that may leave at `now`, if a new burst takes `quantum`.
    pub fn room(&self, now: Instant, quantum: u32) -> u32 {
        if now >= self.next_send_time { quantum } else { self.credit }
    }

    /// A packet of `size` octets leaves at `rate`, and none with it, however small it is.
    pub fn on_sent_alone(&mut self, now: Instant, size: u32, rate: Rate) {
        self.on_sent(now, size, rate, 0);
    }

    /// A packet of `size` octets leaves at `rate`.
    pub fn on_sent(&mut self, now: Instant, size: u32, rate: Rate, quantum: u32) {
        self.credit = self.room(now, quantum).saturating_sub(size);
        let bits = u128::from(size) * 8_000_000_000;
        let delay = bits.div_ceil(u128::from(rate.bits_per_sec().max(1)));
        let delay = Duration::from_nanos(u64::try_from(delay).unwrap_or(u64::MAX)).min(LONGEST_WAIT);
        self.next_send_time = self.next_send_time.max(now).saturating_add(delay);
    }
}

impl Default for Pacer {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As the rate says, and without its division.
    #[test]
    fn what_lasts_a_millisecond_is_a_thousandth_of_the_rate() {
        let largest = LARGEST_QUANTUM as u32;
        for (cwnd, ssthresh, millis) in
            [(14_480, u32::MAX, 10), (300_000, 200_000, 40), (u32::MAX, u32::MAX, 60_000)]
        {
            let srtt = Duration::from_millis(millis);
            let octets = pacing_rate(cwnd, ssthresh, srtt).bits_per_sec().div_ceil(8_000);
            let octets = u32::try_from(octets).unwrap_or(u32::MAX).min(largest);
            assert!(lasts_a_millisecond(cwnd, ssthresh, srtt, octets + 1), "{cwnd}");
            assert!(!lasts_a_millisecond(cwnd, ssthresh, srtt, octets - 2), "{cwnd}");
        }
        assert!(
            lasts_a_millisecond(u32::MAX, u32::MAX, Duration::from_millis(1), largest),
            "no more leaves together"
        );
    }

    #[test]
    fn a_packet_makes_the_next_wait_a_second_at_most() {
        for (bits, wait_ms) in [(12_000_000, 1), (12_000, 1000), (142, 1000), (0, 1000)] {
            let mut pacer = Pacer::new();
            let now = Instant::ZERO + Duration::from_secs(5);
            pacer.on_sent(now, 1500, Rate::from_bits_per_sec(bits), 1500);
            assert_eq!(pacer.next_send_time(), now + Duration::from_millis(wait_ms), "{bits} bit/s");
        }
    }
}
