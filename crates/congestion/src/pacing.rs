//! How fast to send.

use ropewalk_units::{Duration, Rate};

/// Linux's pacing rate: twice cwnd per round-trip time while cwnd is below half of ssthresh, 1.2 times after.
pub fn pacing_rate(cwnd: u32, ssthresh: u32, srtt: Duration) -> Rate {
    let percent = if cwnd < ssthresh / 2 { 200 } else { 120 };
    let bits = u128::from(cwnd) * 8 * percent / 100 * 1_000_000_000 / u128::from(srtt.as_nanos().max(1));
    Rate::from_bits_per_sec(u64::try_from(bits).unwrap_or(u64::MAX))
}
