//! Proportional rate reduction (RFC 9937): how much to send for each ACK of a fast recovery.

#[cfg(test)]
mod tests;

/// One fast recovery. All figures in octets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Prr {
    ssthresh: u32,
    recover_fs: u64,
    delivered: u64,
    out: u64,
    /// What a total is rounded up to: a segment, or an octet.
    unit: u32,
}

/// What one ACK in recovery tells.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct PrrAck {
    /// Octets this ACK newly acknowledges, cumulatively or selectively (RFC 9937 §5, DeliveredData).
    pub(crate) delivered: u32,
    /// Octets in the network after this ACK (pipe).
    pub(crate) inflight: u32,
    /// What it allows below ssthresh.
    pub(crate) bound: ReductionBound,
    pub(crate) smss: u32,
}

/// How fast cwnd grows back to ssthresh where the pipe is below it (RFC 9937 §5).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ReductionBound {
    /// PRR-CRB: no faster than data arrive.
    Conservative,
    /// PRR-SSRB, for a SafeACK: SND.UNA advanced and nothing further was found lost. One segment more, as in slow start.
    SlowStart,
}

impl Prr {
    /// Recovery begins, with `ssthresh` from the congestion control. `undelivered` is RecoverFS (RFC 9937 §6): what was outstanding
    /// and not selectively acknowledged before the ACK that started it; all of it, and no more, can still be delivered.
    pub(crate) fn new(ssthresh: u32, undelivered: u32) -> Self {
        Self { ssthresh, recover_fs: u64::from(undelivered.max(1)), delivered: 0, out: 0, unit: 1 }
    }

    /// As Linux (`tcp_cwnd_reduction`): totals are rounded up to whole segments of `smss` octets. RecoverFS is the window before the
    /// recovery there, so what limited transmit sent is no part of `undelivered`.
    pub(crate) fn in_segments(ssthresh: u32, undelivered: u32, smss: u32) -> Self {
        Self { unit: smss.max(1), ..Self::new(ssthresh, undelivered) }
    }

    /// RFC 9937 §7: how many octets may be sent now; cwnd is the inflight plus these.
    pub(crate) fn on_ack(&mut self, ack: &PrrAck) -> u32 {
        self.delivered += u64::from(ack.delivered);
        let (inflight, ssthresh) = (u64::from(ack.inflight), u64::from(self.ssthresh));
        let mut count = if ack.delivered == 0 {
            0
        } else if inflight > ssthresh {
            // Proportional, rounded up.
            let total = (self.delivered * ssthresh).div_ceil(self.recover_fs);
            total.next_multiple_of(u64::from(self.unit)).saturating_sub(self.out)
        } else {
            let arrived = self.delivered.saturating_sub(self.out).max(u64::from(ack.delivered));
            let bound = match ack.bound {
                ReductionBound::Conservative => arrived,
                ReductionBound::SlowStart => arrived + u64::from(ack.smss),
            };
            bound.min(ssthresh - inflight)
        };
        if self.out == 0 {
            // The fast retransmit itself always goes out. The RFC asks for it when the count is 0; counted in
            // octets, a part of a segment would hold it back just as well.
            count = count.max(u64::from(ack.smss));
        }
        u32::try_from(count).unwrap_or(u32::MAX)
    }

    /// `octets` of data were sent, anew or again.
    pub(crate) fn on_sent(&mut self, octets: u32) {
        self.out += u64::from(octets);
    }

    /// cwnd when recovery is complete.
    pub(crate) fn ssthresh(&self) -> u32 {
        self.ssthresh
    }
}
