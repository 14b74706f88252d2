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
    /// In this busy period a frame was received that could not be decoded, and since then none that
    /// could.
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

    /// Was the medium idle for as long as it must be? It may have become busy in this instant: a
    /// station that sends in the same instant cannot have sensed that.
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
        // What was heard before does not matter: the exchange that begins here follows its own
        // spacing.
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
            // IEEE 802.11-2020 §10.3.2.3.7: EIFS begins when the medium is idle after the erroneous
            // frame, whatever the NAV says.
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

    /// A frame was decoded: DIFS suffices again (IEEE 802.11-2020 §10.3.2.3.7).
    #[inline]
    pub(crate) fn resynchronise(&mut self) {
        self.is_garbled = false;
        self.eifs_until = Instant::ZERO;
    }

    /// Another station reserves the medium. Returns whether this lasts longer than the reservation
    /// so far.
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

#[cfg(test)]
mod tests {
    use super::*;

    const DIFS: Duration = Duration::from_micros(50);
    const EIFS: Duration = Duration::from_micros(364);

    fn us(us: u64) -> Instant {
        Instant::from_nanos(us * 1_000)
    }

    /// After one frame of others, from 100 to 300 µs.
    fn after_a_frame() -> Carrier {
        let mut carrier = Carrier::new();
        assert!(carrier.begin_sensing(us(100)));
        assert!(carrier.end_sensing(us(300), EIFS));
        carrier
    }

    #[test]
    fn a_station_waits_difs_after_the_medium_fell_idle() {
        let carrier = after_a_frame();
        assert_eq!(carrier.free_from(DIFS), us(350));
        assert!(!carrier.may_send(us(349), DIFS));
        assert!(carrier.may_send(us(350), DIFS));
    }

    #[test]
    fn the_medium_is_busy_until_the_last_of_overlapping_frames_ends() {
        let mut carrier = Carrier::new();
        assert!(carrier.begin_sensing(us(100)), "it was idle");
        assert!(!carrier.begin_sensing(us(150)), "it was not");
        assert!(!carrier.begin_sending(us(200)));
        assert!(!carrier.end_sensing(us(300), EIFS));
        assert!(!carrier.end_sensing(us(350), EIFS), "the radio itself sends");
        assert!(carrier.is_busy());
        assert_eq!(carrier.busy(us(390)), Duration::from_micros(290), "so far");
        assert!(carrier.end_sending(us(400), EIFS));
        assert_eq!(carrier.busy(us(1_000)), Duration::from_micros(300), "once, however many sent");
        assert_eq!(carrier.free_from(DIFS), us(450));
    }

    #[test]
    fn what_began_in_this_instant_cannot_have_been_sensed() {
        let mut carrier = after_a_frame();
        carrier.begin_sensing(us(350));
        assert!(carrier.may_send(us(350), DIFS), "both send: a collision");
        assert!(!carrier.may_send(us(351), DIFS));
        carrier.begin_sending(us(350));
        assert!(!carrier.may_send(us(350), DIFS), "nobody sends twice at once");
    }

    #[test]
    fn a_reservation_outlasts_the_frame_and_only_a_longer_one_replaces_it() {
        let mut carrier = after_a_frame();
        assert!(carrier.reserve(us(700)));
        assert!(!carrier.reserve(us(600)) && !carrier.reserve(us(700)));
        assert_eq!(carrier.free_from(DIFS), us(750), "DIFS follows the NAV");
        assert!(carrier.is_taken(us(699)) && !carrier.is_busy());
        assert!(!carrier.is_reserved(us(700)));
        carrier.release(us(400));
        assert_eq!(carrier.reserved_until(), us(400));
        carrier.release(us(500));
        assert_eq!(carrier.free_from(DIFS), us(450), "a release makes nothing longer");
    }

    /// IEEE 802.11-2020 §10.3.2.3.7.
    #[test]
    fn what_could_not_be_decoded_costs_eifs_from_the_idle_medium_on_until_a_frame_is_decoded() {
        let mut carrier = Carrier::new();
        carrier.begin_sensing(us(100));
        carrier.garble();
        carrier.end_sensing(us(300), EIFS);
        assert_eq!(carrier.free_from(DIFS), us(664));
        carrier.reserve(us(400));
        assert_eq!(carrier.free_from(DIFS), us(664), "EIFS runs whatever the NAV says");
        carrier.reserve(us(700));
        assert_eq!(carrier.free_from(DIFS), us(750), "and the NAV whatever EIFS says");
        let mut decoded = carrier;
        decoded.begin_sensing(us(710));
        decoded.resynchronise();
        decoded.end_sensing(us(800), EIFS);
        assert_eq!(decoded.free_from(DIFS), us(850), "in step again");
        carrier.begin_sensing(us(710));
        carrier.end_sensing(us(800), EIFS);
        assert_eq!(carrier.free_from(DIFS), us(850), "one garbled frame costs one EIFS");
    }

    #[test]
    fn who_sends_itself_waits_for_no_eifs_of_before() {
        let mut carrier = Carrier::new();
        carrier.begin_sensing(us(100));
        carrier.garble();
        carrier.end_sensing(us(300), EIFS);
        carrier.begin_sending(us(310));
        carrier.end_sending(us(400), EIFS);
        assert_eq!(carrier.free_from(DIFS), us(450));
    }
}
