//! Which controller bounds a path.

use crate::wire::FULL_PACKET;
use ropewalk_congestion::{CopaTuning, LostPacket, PathController, PathCopa, PathSample, Transparent};
use ropewalk_units::{Duration, Instant, Rate};

/// The controller of a path.
#[derive(Clone, Debug)]
pub(crate) enum AnyController {
    /// Always may send: for schedulers that steer by losses, and for copies on every path.
    Transparent(Transparent),
    Copa(Box<PathCopa>),
}

impl AnyController {
    pub(crate) fn transparent() -> Self {
        Self::Transparent(Transparent)
    }

    pub(crate) fn copa(seed: u64, tuning: &CopaTuning, now: Instant) -> Self {
        Self::Copa(Box::new(PathCopa::new(seed, FULL_PACKET, tuning, now)))
    }

    /// Has it found the path's rate?
    pub(crate) fn knows_rate(&self) -> bool {
        match self {
            Self::Transparent(_) => false,
            Self::Copa(copa) => !copa.is_starting(),
        }
    }
}

macro_rules! each {
    ($own:expr, $name:ident => $call:expr) => {
        match $own {
            Self::Transparent($name) => $call,
            Self::Copa($name) => $call,
        }
    };
}

impl PathController for AnyController {
    fn on_restart_from_idle(&mut self, now: Instant) {
        each!(self, own => own.on_restart_from_idle(now));
    }

    #[inline]
    fn on_sent(&mut self, now: Instant, size: u32, inflight: u32) {
        each!(self, own => own.on_sent(now, size, inflight));
    }

    fn on_lost(&mut self, now: Instant, packet: &LostPacket) {
        each!(self, own => own.on_lost(now, packet));
    }

    fn on_report(&mut self, now: Instant, sample: &PathSample) {
        each!(self, own => own.on_report(now, sample));
    }

    fn on_train(&mut self, now: Instant, rate: Rate, base_rtt: Option<Duration>) {
        each!(self, own => own.on_train(now, rate, base_rtt));
    }

    fn on_timeout(&mut self, now: Instant) {
        each!(self, own => own.on_timeout(now));
    }

    #[inline]
    fn inflight_bound(&self) -> u32 {
        each!(self, own => own.inflight_bound())
    }

    #[inline]
    fn pacing_rate(&self, now: Instant) -> Option<Rate> {
        each!(self, own => own.pacing_rate(now))
    }

    fn bandwidth(&self) -> Option<Rate> {
        each!(self, own => own.bandwidth())
    }

    fn base_rtt(&self) -> Option<Duration> {
        each!(self, own => own.base_rtt())
    }

    fn limits_itself(&self) -> bool {
        each!(self, own => own.limits_itself())
    }

    fn is_competing(&self) -> bool {
        each!(self, own => own.is_competing())
    }

    fn is_crowded(&self) -> bool {
        each!(self, own => own.is_crowded())
    }
}
