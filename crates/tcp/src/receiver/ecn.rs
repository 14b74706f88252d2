//! Marks of congestion that arrive, and their echo (RFC 3168 §6.1.3, RFC 8257 §3.2).

use super::Receiver;
use crate::context::Context;
use ropewalk_congestion::CongestionControl;
use ropewalk_wire::{Ecn, Flags, Segment};

impl Receiver {
    /// RFC 3168 §6.1.3.
    #[cold]
    pub(super) fn notice_congestion(&mut self, cx: &mut Context, segment: &Segment) {
        if cx.config.congestion_control == CongestionControl::Dctcp {
            return self.notice_mark(cx, segment.ecn == Ecn::Ce);
        }
        if segment.flags.contains(Flags::CWR) {
            self.echoes_congestion = false;
        }
        if segment.ecn == Ecn::Ce {
            if !self.echoes_congestion {
                self.acks.at_once();
            }
            self.echoes_congestion = true;
        }
    }

    /// RFC 8257 §3.2: ECN-Echo repeats the mark of the last segment. When the mark changes, the segments before are
    /// acknowledged first, with the old echo. Then the new mark is echoed at once.
    fn notice_mark(&mut self, cx: &mut Context, marked: bool) {
        if marked == self.echoes_congestion {
            return;
        }
        if self.acks.is_pending() {
            cx.outbox.put_echoed(self.window.next(), self.echoes_congestion);
            self.acks.sent();
        }
        self.echoes_congestion = marked;
        self.acks.at_once();
    }
}
