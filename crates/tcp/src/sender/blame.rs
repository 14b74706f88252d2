//! Duplicate ACKs of other subflows that count here: a defect of some simulators ([`crate::Quirks::duplicates_blame`]).

use super::Sender;
use super::ack::Ack;
use crate::context::Context;
use crate::event::Event;
use crate::quirks::Blame;
use crate::recovery::{Blamed, Phase};

impl Sender {
    /// A duplicate ACK counts here. Three, and the first segment is sent again with the window that a loss leaves.
    pub(crate) fn blame(&mut self, cx: &mut Context) {
        if self.queue.is_empty() || self.recovery.phase != Phase::Open {
            return;
        }
        self.recovery.duplicates += 1;
        // RFC 6582 §3.2 step 2: not again for what was sent before the last recovery.
        if self.recovery.duplicates < self.recovery.threshold || self.queue.una() <= self.recovery.recover {
            return;
        }
        let undelivered = self.flight().saturating_sub(self.queue.sacked());
        let before = self.controller.snapshot();
        let blamed = Blamed { head: self.queue.una(), at: cx.now, before };
        self.recovery.blamed = Some(Box::new(blamed));
        self.queue.mark_lost(0);
        self.enter_fast_recovery(cx, 0, undelivered);
    }

    /// The first segment is acknowledged. Within a round trip that is not yet the one that was sent again, so nothing was lost:
    /// the reduction is taken back.
    pub(super) fn judge_blame(&mut self, cx: &mut Context, ack: &Ack) {
        if !ack.advanced || self.recovery.blamed.is_none() {
            return;
        }
        let Some(blamed) = self.recovery.blamed.take_if(|blamed| blamed.head < self.queue.una()) else {
            return;
        };
        let early = self.rtt.srtt().is_some_and(|srtt| cx.now < blamed.at + srtt);
        if cx.config.quirks.duplicates_blame != Blame::BlockingUndone
            || !early
            || self.recovery.phase == Phase::Open
        {
            return;
        }
        self.controller.restore(&blamed.before);
        self.queue.unmark_all_lost();
        self.recovery.close();
        self.end_detection();
        cx.stats.undone += 1;
        cx.event(Event::Undone);
    }
}
