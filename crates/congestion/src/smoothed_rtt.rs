//! Smoothed round-trip times (RFC 6298 §2), in integer nanoseconds.

use ropewalk_units::Duration;

/// SRTT and RTTVAR. Which measurements count is the caller's to say.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SmoothedRtt {
    srtt: Option<Duration>,
    rttvar: Duration,
}

impl SmoothedRtt {
    /// These values, whatever was measured before.
    pub fn new(srtt: Duration, rttvar: Duration) -> Self {
        Self { srtt: Some(srtt), rttvar }
    }

    /// A measurement.
    pub fn on_sample(&mut self, rtt: Duration) {
        *self = match self.srtt {
            // RFC 6298 §2.2: the first one.
            None => Self::new(rtt, rtt / 2),
            // RFC 6298 §2.3: alpha = 1/8, beta = 1/4; RTTVAR first, with the old SRTT.
            Some(srtt) => Self::new((srtt * 7 + rtt) / 8, (self.rttvar * 3 + srtt.abs_diff(rtt)) / 4),
        };
    }

    /// SRTT, once there was a measurement.
    pub fn srtt(&self) -> Option<Duration> {
        self.srtt
    }

    /// RTTVAR; zero before the first measurement.
    pub fn rttvar(&self) -> Duration {
        self.rttvar
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_measurement_and_those_after_it_count_as_rfc_6298_says() {
        let ms = Duration::from_millis;
        let mut rtt = SmoothedRtt::default();
        assert_eq!((rtt.srtt(), rtt.rttvar()), (None, Duration::ZERO));
        rtt.on_sample(ms(80));
        assert_eq!((rtt.srtt(), rtt.rttvar()), (Some(ms(80)), ms(40)));
        rtt.on_sample(ms(160));
        // 7/8 · 80 + 160/8, and 3/4 · 40 + 80/4.
        assert_eq!((rtt.srtt(), rtt.rttvar()), (Some(ms(90)), ms(50)));
        rtt.on_sample(ms(50));
        assert_eq!((rtt.srtt(), rtt.rttvar()), (Some(ms(85)), Duration::from_micros(47_500)));
    }
}
