//! Carrier sense: physical, virtual (NAV), and how long a station defers after either.

use ropewalk_units::{Duration, Instant};

/// What a radio knows of the medium.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Carrier {
    /// Other stations' transmissions that are sensed now.
    sensed: u32,
    is_sending: bool,
    busy_since: Instant,
    idle_since: Instant,
    /// Until then another station has reserved the medium (IEEE 802.11-2020 §10.3.2.4).
    nav: Instant,
    /// In this busy period a frame was received that could not be decoded, and since then none that could.
    is_garbled: bool,
    /// End of the wait after such a frame.
    eifs_until: Instant,
    busy: Duration,
}

impl Carrier {
    pub(crate) fn new() -> Self {
        Self {
            sensed: 0,
            is_sending: false,
            busy_since: Instant::ZERO,
            idle_since: Instant::ZERO,
            nav: Instant::ZERO,
            is_garbled: false,
            eifs_until: Instant::ZERO,
            busy: Duration::ZERO,
        }
    }

    /// Is the medium physically busy?
    #[inline]
    pub(crate) fn is_busy(&self) -> bool {
        self.sensed > 0 || self.is_sending
    }

    /// Is the medium busy, physically or by reservation?
    #[inline]
    pub(crate) fn is_taken(&self, now: Instant) -> bool {
        self.is_busy() || self.is_reserved(now)
    }

    /// Is the NAV set?
    #[inline]
    pub(crate) fn is_reserved(&self, now: Instant) -> bool {
        self.nav > now
    }

    /// Is the medium idle, and was it for as long as it must be? It may have become busy just now: whoever is about to send in
    /// this instant cannot have sensed it.
    pub(crate) fn may_send(&self, now: Instant, difs: Duration) -> bool {
        let is_idle = self.sensed == 0 || self.busy_since == now;
        !self.is_sending && is_idle && self.free_from(difs) <= now
    }

    /// A transmission begins to be sensed. Returns whether the medium was idle.
    #[inline]
    pub(crate) fn begin_sensing(&mut self, now: Instant) -> bool {
        let was_idle = !self.is_busy();
        self.sensed += 1;
        if was_idle {
            self.busy_since = now;
        }
        was_idle
    }

    /// A sensed transmission is over. Returns whether the medium is idle now.
    #[inline]
    pub(crate) fn end_sensing(&mut self, now: Instant, eifs: Duration) -> bool {
        self.sensed -= 1;
        self.settle(now, eifs)
    }

    /// The radio begins to send. Returns whether the medium was idle.
    #[inline]
    pub(crate) fn begin_sending(&mut self, now: Instant) -> bool {
        let was_idle = !self.is_busy();
        self.is_sending = true;
        // What was heard before no longer matters: the exchange begun here follows its own spacing.
        self.is_garbled = false;
        self.eifs_until = Instant::ZERO;
        if was_idle {
            self.busy_since = now;
        }
        was_idle
    }

    /// The radio has sent. Returns whether the medium is idle now.
    #[inline]
    pub(crate) fn end_sending(&mut self, now: Instant, eifs: Duration) -> bool {
        self.is_sending = false;
        self.settle(now, eifs)
    }

    fn settle(&mut self, now: Instant, eifs: Duration) -> bool {
        if self.is_busy() {
            return false;
        }
        self.idle_since = now;
        self.busy += now.saturating_since(self.busy_since);
        if self.is_garbled {
            // IEEE 802.11-2020 §10.3.2.3.7: EIFS begins when the medium is idle after the erroneous frame,
            // whatever the NAV says.
            self.is_garbled = false;
            self.eifs_until = now + eifs;
        }
        true
    }

    /// A frame could not be decoded.
    #[inline]
    pub(crate) fn garble(&mut self) {
        self.is_garbled = true;
    }

    /// A frame was decoded: the station is in step again, and DIFS suffices (§10.3.2.3.7).
    #[inline]
    pub(crate) fn resynchronise(&mut self) {
        self.is_garbled = false;
        self.eifs_until = Instant::ZERO;
    }

    /// Somebody reserves the medium. Returns whether that is longer than known.
    #[inline]
    pub(crate) fn reserve(&mut self, until: Instant) -> bool {
        let is_longer = until > self.nav;
        if is_longer {
            self.nav = until;
        }
        is_longer
    }

    /// Until when the medium is reserved.
    pub(crate) fn reserved_until(&self) -> Instant {
        self.nav
    }

    /// A reservation is void: another one may still hold until `until`.
    pub(crate) fn release(&mut self, until: Instant) {
        self.nav = self.nav.min(until);
    }

    /// On an idle medium: from when on backoff slots count, or a station may send without backoff.
    #[inline]
    pub(crate) fn free_from(&self, difs: Duration) -> Instant {
        (self.idle_since.max(self.nav) + difs).max(self.eifs_until)
    }

    /// How long the medium has been physically busy by now.
    pub(crate) fn busy(&self, now: Instant) -> Duration {
        if self.is_busy() { self.busy + now.saturating_since(self.busy_since) } else { self.busy }
    }
}
