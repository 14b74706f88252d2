//! RACK: time-based loss detection (RFC 8985 §6), and its tail loss probe's memory (§7).

use crate::send::{Delivery, Overdue, SentQueue};
use ropewalk_units::{Duration, Instant, Mark, Seq};

/// Recoveries for which a widened reordering window is kept (RFC 8985 §6.2 step 4).
const PERSIST: u8 = 16;

/// RACK's variables, named as in RFC 8985 §5.2.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rack {
    /// Transmission time and end of the latest-sent segment delivered; ends are compared at the same time only.
    latest: Option<(Instant, Seq)>,
    rtt: Duration,
    /// Highest octet delivered, plus one.
    fack: Mark,
    reordering_seen: bool,
    /// DSACKs widen the window at most once in a round: the round ends when this is acknowledged.
    dsack_round: Mark,
    window_multiplier: u8,
    persist: u8,
}

/// Whose round-trip time RACK.rtt is, of the segments that an ACK delivers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum RackRtt {
    /// The latest sent (RFC 8985 §6.2 step 2).
    Latest,
    /// The one that is looked at last ([`Delivery::looked_at`]), as in Linux (`tcp_rack_advance`).
    LookedAt,
}

/// What [`Rack::detect`] needs to know.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Circumstances {
    pub(crate) now: Instant,
    /// In fast or timeout recovery.
    pub(crate) recovering: bool,
    /// DupThresh.
    pub(crate) threshold: u32,
    pub(crate) min_rtt: Duration,
    pub(crate) srtt: Duration,
}

impl Rack {
    /// RFC 8985 §6.2 steps 2 and 3; `highest` is the highest octet delivered, plus one.
    pub(crate) fn update(&mut self, now: Instant, highest: Mark, delivery: &Delivery, rtt: RackRtt) {
        if let Some((at, end)) = delivery.latest {
            self.on_delivered(now, at, end);
        }
        if let Some(at) = delivery.looked_at.filter(|_| rtt == RackRtt::LookedAt) {
            self.rtt = now.saturating_since(at);
        }
        self.reordering_seen |= delivery.reordered.is_some();
        self.fack = self.fack.max(highest);
    }

    /// Step 2: a segment that was sent at `at` and ends at `end` was delivered.
    #[inline(always)]
    pub(crate) fn on_delivered(&mut self, now: Instant, at: Instant, end: Seq) {
        if self.latest.is_none_or(|(a, e)| crate::send::queue::sent_after(at, end, a, e)) {
            self.latest = Some((at, end));
            self.rtt = now.saturating_since(at);
        }
    }

    /// The SYN is the first segment delivered; nothing was sent before it that could be lost.
    pub(crate) fn on_handshake(&mut self, rtt: Duration) {
        self.rtt = rtt;
    }

    /// Highest octet known to be delivered, plus one, if that is above SND.UNA.
    pub(crate) fn fack(&self) -> Mark {
        self.fack
    }

    /// RFC 8985 §6.2 step 4: a DSACK says that the reordering window was too small.
    pub(crate) fn on_dsack(&mut self, una: Mark, nxt: Mark) {
        if una >= self.dsack_round {
            self.dsack_round = nxt;
            self.window_multiplier = self.window_multiplier.saturating_add(1);
            self.persist = PERSIST;
        }
    }

    /// A recovery ended: after 16 of them without DSACK the window is the initial one again.
    pub(crate) fn on_recovery_end(&mut self) {
        self.persist = self.persist.saturating_sub(1);
        if self.persist == 0 {
            self.window_multiplier = 0;
        }
    }

    /// RFC 8985 §6.2 step 4.
    fn reordering_window(&self, queue: &SentQueue, circumstances: &Circumstances) -> Duration {
        if !self.reordering_seen
            && (circumstances.recovering || queue.sacked_segments() >= circumstances.threshold)
        {
            return Duration::ZERO;
        }
        let quarter = circumstances.min_rtt / 4;
        (quarter * (1 + u64::from(self.window_multiplier))).min(circumstances.srtt)
    }

    /// How long after its transmission a segment is overdue.
    pub(crate) fn wait(&self, queue: &SentQueue, circumstances: &Circumstances) -> Duration {
        self.rtt + self.reordering_window(queue, circumstances)
    }

    /// RFC 8985 §6.2 step 5.
    pub(crate) fn detect(&self, queue: &mut SentQueue, circumstances: &Circumstances) -> Overdue {
        let Some(latest) = self.latest else { return Overdue::default() };
        let wait = self.wait(queue, circumstances);
        queue.mark_overdue(circumstances.now, latest, wait)
    }
}

/// The probe on its way (RFC 8985 §7.1 and §7.4).
#[derive(Clone, Copy, Debug)]
pub(crate) struct TailProbe {
    /// SND.NXT after it.
    pub(crate) end: Mark,
    pub(crate) probe: Probe,
}

/// What a tail loss probe carries.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Probe {
    NewData,
    /// The last segment once more.
    Retransmission,
}
