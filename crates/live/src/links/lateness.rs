//! How far the real time is ahead of the links' when a packet comes out of them.

use hdrhistogram::Histogram;
use ropewalk_scenario::LatenessRow;
use ropewalk_units::Duration;

/// Digits that the quantiles have.
const DIGITS: u8 = 3;
/// What is later counts as so late.
const MOST: Duration = Duration::from_secs(60);

/// Times between the moment at which a packet should have come out and the one at which it did.
#[derive(Clone, Debug)]
pub(crate) struct Lateness {
    /// In nanoseconds.
    times: Histogram<u64>,
}

impl Default for Lateness {
    fn default() -> Self {
        let times = Histogram::new_with_max(MOST.as_nanos(), DIGITS);
        Self { times: times.expect("three digits of a minute are possible") }
    }
}

impl Lateness {
    /// Counts one packet.
    pub(crate) fn record(&mut self, late: Duration) {
        self.times.saturating_record(late.as_nanos());
    }

    /// Adds those of another host.
    pub(crate) fn add(&mut self, other: &Self) {
        self.times.add(&other.times).expect("both have one size");
    }

    /// As results tell it; `None` when nothing came out.
    pub(crate) fn row(&self) -> Option<LatenessRow> {
        let ms = |nanos: u64| nanos as f64 * 1e-6;
        (!self.times.is_empty()).then(|| LatenessRow {
            packets: self.times.len(),
            mean_ms: self.times.mean() * 1e-6,
            p99_ms: ms(self.times.value_at_quantile(0.99)),
            worst_ms: ms(self.times.max()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mean_quantile_and_worst_are_those_of_all_hosts() {
        let (mut one, mut other) = (Lateness::default(), Lateness::default());
        assert_eq!(one.row(), None);
        (0..99).for_each(|_| one.record(Duration::from_micros(100)));
        other.record(Duration::from_millis(5));
        one.add(&other);
        let row = one.row().expect("packets came out");
        assert_eq!(row.packets, 100);
        assert!((row.mean_ms - 0.149).abs() < 0.001, "{row:?}");
        assert!((row.p99_ms - 0.1).abs() < 0.001 && (row.worst_ms - 5.0).abs() < 0.01, "{row:?}");
    }
}
