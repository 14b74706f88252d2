//! A router says that segments are too long for it (RFC 1191, RFC 8201), and whether it is believed (RFC 5927 §4.1, §7.2).

use super::Sender;
use crate::context::Context;
use ropewalk_units::{Instant, Mark, Seq};

/// What became of a message that says that a segment was too long.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TooBig {
    /// It is about nothing that is on its way, or about a segment that would not have been too long.
    Ignored,
    /// Segments of that length have arrived before: it is believed once a timeout says that the segment did not.
    Doubted,
    /// Segments are shorter from now on, and those that were too long leave again.
    Obeyed,
}

/// A message that waits for a timeout.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Doubted {
    /// The segment that it is about.
    at: Mark,
    /// The MSS that the path would have, in octets.
    mss: u16,
}

/// A path that carries less than the peer takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Narrow {
    /// The MSS before, in octets.
    before: u16,
    /// Until then it is taken to be narrow.
    until: Instant,
}

impl Sender {
    /// A segment that begins at `seq` was too long for a path that has this MSS (the MTU less the fixed headers).
    pub(crate) fn on_too_big(&mut self, cx: &mut Context, seq: Seq, mss: u16) -> TooBig {
        // RFC 5927 §4.1: SND.UNA =< SEG.SEQ < SND.NXT. Whoever is not on the path has to guess it.
        let on_its_way = seq.after_eq(self.una) && seq.before(self.nxt);
        let shorter = u32::from(cx.config.mss.min(cx.agreed.mss).saturating_sub(mss));
        let longest = self.smss.saturating_sub(shorter);
        if !on_its_way || shorter == 0 || !self.queue.exceeds(seq, longest) {
            return TooBig::Ignored;
        }
        let has_passed = self.full_end != Mark::START && self.queue.una() >= self.full_end;
        if has_passed {
            self.doubted = Some(Box::new(Doubted { at: self.mark(seq), mss }));
            return TooBig::Doubted;
        }
        self.shorten(cx, mss);
        TooBig::Obeyed
    }

    /// RFC 5927 §7.2: a timeout confirms a message that was doubted, unless the segment has been acknowledged since.
    pub(super) fn believe_after_timeout(&mut self, cx: &mut Context) {
        let waiting = self.doubted.take().filter(|doubted| doubted.at >= self.queue.una());
        if let Some(doubted) = waiting {
            self.shorten(cx, doubted.mss);
        }
    }

    /// Segments have at most this MSS from now on. Those on their way that are longer were dropped: their pieces leave again, and
    /// cwnd stays, for this is no congestion (RFC 1191 §6.5, RFC 8201 §5.4).
    fn shorten(&mut self, cx: &mut Context, mss: u16) {
        let before = self.narrow.as_ref().map_or(cx.agreed.mss, |narrow| narrow.before);
        let until = cx.now.saturating_add(cx.config.path_mtu_lifetime);
        self.narrow = Some(Box::new(Narrow { before, until }));
        cx.lower_mss(mss);
        self.set_segment_size(cx);
        for index in self.queue.cut(self.smss) {
            self.queue.mark_lost(index);
        }
    }

    /// RFC 1191 §6.3, RFC 8201 §4: a path may have become wider. Full segments are tried again; if they are too long still, a router
    /// says so, and they leave again in pieces.
    #[inline]
    pub(super) fn widen_when_due(&mut self, cx: &mut Context) {
        if self.narrow.as_ref().is_some_and(|narrow| narrow.until <= cx.now) {
            self.widen(cx);
        }
    }

    #[cold]
    fn widen(&mut self, cx: &mut Context) {
        if let Some(narrow) = self.narrow.take() {
            cx.restore_mss(narrow.before);
            self.set_segment_size(cx);
        }
    }

    fn set_segment_size(&mut self, cx: &Context) {
        self.smss = cx.segment_size();
        self.full_end = Mark::START;
        self.controller.set_smss(self.smss);
    }
}
