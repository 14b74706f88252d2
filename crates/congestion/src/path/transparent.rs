//! No control at all.

use super::{PathController, PathSample};
use crate::rate_sample::LostPacket;
use ropewalk_units::{Duration, Instant, Rate};

/// A path that may always send: what the line cannot take waits or is dropped there. For schedulers that steer by losses.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Transparent;

impl PathController for Transparent {
    fn on_restart_from_idle(&mut self, _now: Instant) {}

    fn on_sent(&mut self, _now: Instant, _size: u32, _inflight: u32) {}

    fn on_lost(&mut self, _now: Instant, _packet: &LostPacket) {}

    fn on_report(&mut self, _now: Instant, _sample: &PathSample) {}

    fn on_timeout(&mut self, _now: Instant) {}

    fn inflight_bound(&self) -> u32 {
        u32::MAX
    }

    fn pacing_rate(&self, _now: Instant) -> Option<Rate> {
        None
    }

    fn bandwidth(&self) -> Option<Rate> {
        None
    }

    fn base_rtt(&self) -> Option<Duration> {
        None
    }

    fn limits_itself(&self) -> bool {
        false
    }
}
