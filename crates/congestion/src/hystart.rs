//! When the first slow start is to end before anything is lost: HyStart, in two versions.

mod linux;
mod plus_plus;

use crate::ack_sample::AckSample;
use crate::config::HyStart;
use linux::Linux;
use plus_plus::PlusPlus;
use ropewalk_units::Instant;

/// What the growth of one ACK becomes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Growth {
    /// As without HyStart.
    Free,
    /// So many segments of it at most, and divided then.
    Limited { segments: Option<u32>, divisor: u32 },
    /// Slow start is over: ssthresh = cwnd.
    Leave,
}

/// One of the versions.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum SlowStartExit {
    PlusPlus(PlusPlus),
    Linux(Linux),
}

impl SlowStartExit {
    /// `None` for [`HyStart::Off`].
    pub(crate) fn new(version: HyStart, paced: bool) -> Option<Self> {
        match version {
            HyStart::Off => None,
            HyStart::PlusPlus => Some(Self::PlusPlus(PlusPlus::new(paced))),
            HyStart::Linux => Some(Self::Linux(Linux::new(paced))),
        }
    }

    /// One ACK of new data in slow start, with cwnd in segments.
    pub(crate) fn on_ack(&mut self, now: Instant, sample: &AckSample, cwnd: u32) -> Growth {
        match self {
            Self::PlusPlus(state) => state.on_ack(sample.acked, sample.sent, sample.latest_rtt),
            Self::Linux(state) => {
                if state.on_ack(now, sample, cwnd) {
                    Growth::Leave
                } else {
                    Growth::Free
                }
            }
        }
    }
}
