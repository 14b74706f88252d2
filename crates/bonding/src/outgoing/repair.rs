//! Packets that a path lost are sent again, as far as that is wise.

use super::Outgoing;
use super::log::Kept;
use crate::id::PathSeq;
use ropewalk_units::Instant;

/// Of so many packets sent one may be sent again, and so many at once: a path that loses more has to be left alone, not refilled.
const SENT_FOR_EACH: u32 = 8;
const BURST: u32 = 64;
/// Of more losses than this share, not all are repaired.
const MOST_REPAIRED: f64 = 0.1;

/// How many packets may be sent again.
#[derive(Clone, Copy, Debug)]
pub(super) struct Credit {
    /// Packets sent for which none was sent again.
    sent: u32,
}

impl Credit {
    const MOST: u32 = BURST * SENT_FOR_EACH;

    #[inline]
    fn earn(&mut self) {
        self.sent = (self.sent + 1).min(Self::MOST);
    }

    fn spend(&mut self) -> Option<()> {
        self.sent = self.sent.checked_sub(SENT_FOR_EACH)?;
        Some(())
    }
}

impl Default for Credit {
    fn default() -> Self {
        Self { sent: Self::MOST }
    }
}

impl Outgoing {
    /// The driver keeps the packet just sent as `seq`.
    #[inline]
    pub(crate) fn keep(&mut self, seq: PathSeq, kept: Kept) {
        if let Some(credit) = &mut self.credit {
            credit.earn();
            self.log.keep(seq, kept);
        }
    }

    /// What the header of a packet said that is to be sent again, and its octets on the wire; none if it is forgotten, or not kept, or too
    /// many were sent again.
    pub(crate) fn repair(&mut self, seq: PathSeq) -> Option<(Kept, u32)> {
        let entry = self.log.get(seq, self.next)?;
        let kept = entry.kept?;
        self.credit.as_mut()?.spend()?;
        self.repaired += 1;
        Some((kept, entry.len))
    }

    /// A packet without a number of its own goes by this path and joins its queue.
    pub(crate) fn on_unnumbered(&mut self, now: Instant, wire_len: u32) {
        let backlog = self.queue.backlog(now);
        self.queue.push(now, backlog, wire_len, self.capacity.time_of(wire_len));
    }

    /// The share of packets that are lost and sent again.
    pub(crate) fn repaired_loss(&self) -> f64 {
        if self.credit.is_some() { self.random_loss().min(MOST_REPAIRED) } else { 0.0 }
    }

    /// The share of packets that a flow misses: where what is lost is sent again, that which is lost twice more, as a request or a repair;
    /// and what is lost beyond the repairs that may be.
    pub(crate) fn felt_loss(&self) -> f64 {
        let lost = self.random_loss();
        if self.credit.is_none() {
            return lost;
        }
        let twice_more = (2.0 * lost) * (2.0 * lost);
        (lost * twice_more).max(lost - MOST_REPAIRED)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_of_eight_may_be_sent_again_and_a_burst_at_first() {
        let mut credit = Credit::default();
        let spend = |credit: &mut Credit| std::iter::from_fn(|| credit.spend()).take(1000).count();
        assert_eq!(spend(&mut credit), 64);
        (0..80).for_each(|_| credit.earn());
        assert_eq!(spend(&mut credit), 10);
        (0..100_000).for_each(|_| credit.earn());
        assert_eq!(spend(&mut credit), 64);
    }
}
