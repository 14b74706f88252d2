//! The detectors of one connection at work together, and what is kept to undo a recovery.

use super::{Door, Dsack, Eifel, Frto, TimeoutMemory};
use ropewalk_congestion::Snapshot;
use ropewalk_units::{Duration, Mark};

/// What a recovery sent again: ranges in order that do not touch.
#[derive(Clone, Debug, Default)]
pub(crate) struct Repaired {
    ranges: Vec<(Mark, Mark)>,
    /// Retransmissions.
    pub(crate) segments: u32,
}

impl Repaired {
    pub(crate) fn clear(&mut self) {
        self.ranges.clear();
        self.segments = 0;
    }

    /// Segments go out again in order as a rule, and then join the last range or follow it.
    pub(crate) fn add(&mut self, left: Mark, right: Mark) {
        self.segments += 1;
        let from = self.ranges.partition_point(|range| range.1 < left);
        let to = self.ranges.partition_point(|range| range.0 <= right);
        match self.ranges.get_mut(from..to).and_then(<[_]>::first_mut) {
            None => self.ranges.insert(from, (left, right)),
            Some(first) => {
                first.0 = first.0.min(left);
                let end = self.ranges[to - 1].1.max(right);
                self.ranges[from].1 = end;
                self.ranges.drain(from + 1..to);
            }
        }
    }

    pub(crate) fn covers(&self, left: Mark, right: Mark) -> bool {
        let at = self.ranges.partition_point(|range| range.1 < right);
        self.ranges.get(at).is_some_and(|range| range.0 <= left)
    }
}

/// The detectors of one connection, and what is kept to undo a recovery.
#[derive(Clone, Debug, Default)]
pub(crate) struct Detectors {
    pub(crate) eifel: Eifel,
    pub(crate) frto: Frto,
    pub(crate) dsack: Dsack,
    /// What was on its way at the last undo ends here. An undo walks the whole queue. So there is no other one before
    /// this is acknowledged, or a hostile peer could cause one with each ACK.
    pub(crate) undone_up_to: Mark,
    pub(crate) door: Door,
    /// Before the reduction.
    pub(crate) snapshot: Option<Box<Snapshot>>,
    /// RFC 4015 §3.2 (0), if a timeout began the recovery.
    pub(crate) timeout: Option<TimeoutMemory>,
    /// RFC 4015 §3.2 (11) is still to be done at the next measurement.
    pub(crate) late: Option<TimeoutMemory>,
    /// What this recovery retransmitted.
    pub(crate) repaired: Repaired,
    /// Retransmissions counted as spurious already, whose DSACKs may still come, also during a later recovery.
    pub(crate) counted: u32,
}

impl Detectors {
    /// RFC 4015 §3.2 (11): SRTT and RTTVAR for the first measurement after a spurious timeout.
    #[cold]
    pub(crate) fn late_rtt(&mut self, sample: Duration) -> Option<(Duration, Duration)> {
        self.late.take().map(|memory| memory.rtt(sample))
    }
}
