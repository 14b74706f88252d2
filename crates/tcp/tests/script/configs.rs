//! The configurations that scripts begin from.

use ropewalk_tcp::{Config, CongestionControl, DelayedAck, LossRecovery};
use ropewalk_units::Duration;

/// Nothing but RFC 9293, 5681, 6298 and 6582: each test adds what it is about.
pub(crate) fn plain() -> Config {
    Config {
        mss: 1000,
        initial_window: 10,
        initial_ssthresh: None,
        receive_buffer: 10_000,
        delayed_ack: DelayedAck {
            segments: 2,
            timeout: Duration::from_millis(100),
            quick_acks: 0,
            after_reading: false,
        },
        rto_initial: Duration::from_secs(1),
        rto_min: Duration::from_millis(200),
        congestion_control: CongestionControl::NewReno { byte_counting: true },
        handshake_rtt: true,
        ..Config::classic()
    }
}

/// With SACK and RFC 6675.
pub(crate) fn sack() -> Config {
    Config {
        sack: true,
        report_duplicates: true,
        loss_recovery: LossRecovery::Sack,
        limited_transmit: true,
        ..plain()
    }
}

/// With RACK.
pub(crate) fn rack() -> Config {
    Config { loss_recovery: LossRecovery::Rack, ..sack() }
}
