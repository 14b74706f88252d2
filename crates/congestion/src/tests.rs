//! Worked numbers of the RFCs, and every controller under arbitrary operations.

mod cubic;
mod cubic_segments;
mod hystart;
mod marks_and_trains;
mod newreno;
mod operations;

use crate::{AckSample, Controller};
use crate::{Config, CongestionControl};
use ropewalk_units::{Duration, Instant};

pub(super) const SMSS: u32 = 1000;

pub(super) fn config(congestion_control: CongestionControl) -> Config {
    Config {
        congestion_control,
        pacing: false,
        seed: 1,
        initial_window: 10,
        initial_ssthresh: None,
        cubic_catches_up: true,
        whole_segments: false,
        ssthresh_from_cwnd: false,
        ssthresh_after_loss: None,
        slow_start_limit: Some(2),
    }
}

pub(super) fn ack(octets: u32) -> AckSample {
    AckSample { newly_acked: octets, srtt: None, latest_rtt: None, acked: 0, sent: 0, cwnd_limited: true }
}

/// A controller in congestion avoidance at `segments`.
pub(super) fn avoiding(config: &Config, segments: u32) -> Controller {
    let mut controller = Controller::new(config, SMSS, Instant::ZERO);
    controller.on_loss(2 * segments * SMSS);
    controller.set_cwnd(segments * SMSS);
    controller.set_ssthresh(segments * SMSS);
    controller.exit_recovery();
    controller
}

/// One round: every segment of the window acknowledged, one by one, evenly over `rtt`.
pub(super) fn round(controller: &mut Controller, now: &mut Instant, rtt: Duration) {
    let segments = controller.cwnd() / SMSS;
    let sample = AckSample { srtt: Some(rtt), latest_rtt: Some(rtt), ..ack(SMSS) };
    for _ in 0..segments {
        *now += rtt / u64::from(segments);
        controller.on_ack(*now, &sample);
    }
}
