//! The backoff counter and its contention window (IEEE 802.11-2020 §10.3.3, §10.3.4.3).
//!
//! Slots are not events. The counter stores from when on they count. It computes how many have
//! passed when the medium becomes busy, or when there is something to send.

use ropewalk_units::{Duration, Instant};

#[derive(Clone, Copy, Debug)]
pub(crate) struct Backoff {
    window: u32,
    window_min: u32,
    window_max: u32,
    slot: Duration,
    /// Slots left at `from`; none when no backoff is under way.
    slots: Option<u32>,
    /// On an idle medium: from when on slots count.
    from: Instant,
}

impl Backoff {
    pub(crate) fn new(window_min: u32, window_max: u32, slot: Duration) -> Self {
        Self { window: window_min, window_min, window_max, slot, slots: None, from: Instant::ZERO }
    }

    /// How many different values a draw has: CW + 1.
    #[inline]
    pub(crate) fn choices(&self) -> u64 {
        u64::from(self.window) + 1
    }

    /// After a failure: twice the window.
    #[inline]
    pub(crate) fn widen(&mut self) {
        self.window = (2 * self.window + 1).min(self.window_max);
    }

    /// After a success, or when a frame is given up.
    #[inline]
    pub(crate) fn reset_window(&mut self) {
        self.window = self.window_min;
    }

    #[inline]
    pub(crate) fn is_under_way(&self) -> bool {
        self.slots.is_some()
    }

    /// A new backoff; its slots count from `from` if the medium is idle.
    #[inline]
    pub(crate) fn start(&mut self, slots: u32, from: Instant) {
        self.slots = Some(slots);
        self.from = from;
    }

    /// The medium is idle, and slots count from `from` on.
    #[inline]
    pub(crate) fn resume(&mut self, from: Instant) {
        self.from = from;
    }

    /// When the last slot will have passed if the medium stays idle.
    #[inline]
    pub(crate) fn end(&self) -> Instant {
        self.from + self.slot.saturating_mul(u64::from(self.slots.unwrap_or(0)))
    }

    /// The medium becomes busy: whole slots that have passed are taken off. A slot cut short does
    /// not count.
    #[inline]
    pub(crate) fn freeze(&mut self, now: Instant) {
        let Some(slots) = self.slots else { return };
        let passed = now.saturating_since(self.from).as_nanos() / self.slot.as_nanos();
        self.slots = Some(slots.saturating_sub(u32::try_from(passed).unwrap_or(u32::MAX)));
    }

    /// It has ended, or nothing waits for its end any more.
    #[inline]
    pub(crate) fn finish(&mut self) {
        self.slots = None;
    }

    /// With nothing to send: has it run out by `now` on a medium idle until then?
    #[inline]
    pub(crate) fn has_run_out(&self, now: Instant) -> bool {
        self.slots.is_some() && self.end() <= now
    }

    #[cfg(test)]
    pub(crate) fn slots(&self) -> Option<u32> {
        self.slots
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn us(us: u64) -> Instant {
        Instant::from_nanos(us * 1_000)
    }

    fn backoff() -> Backoff {
        Backoff::new(31, 1023, Duration::from_micros(20))
    }

    #[test]
    fn only_whole_slots_count() {
        let mut backoff = backoff();
        backoff.start(5, us(100));
        assert_eq!(backoff.end(), us(200));
        backoff.freeze(us(159));
        assert_eq!(backoff.slots(), Some(3), "two slots passed, the third was cut short");
        backoff.resume(us(1_000));
        assert_eq!(backoff.end(), us(1_060));
        backoff.freeze(us(990));
        assert_eq!(backoff.slots(), Some(3), "busy again before slots counted");
        backoff.resume(us(2_000));
        backoff.freeze(us(2_020));
        assert_eq!(backoff.slots(), Some(2), "a slot just full counts");
    }

    #[test]
    fn the_window_doubles_up_to_its_limit_and_falls_back() {
        let mut backoff = backoff();
        let mut choices = Vec::new();
        for _ in 0..7 {
            choices.push(backoff.choices());
            backoff.widen();
        }
        assert_eq!(choices, [32, 64, 128, 256, 512, 1024, 1024]);
        backoff.reset_window();
        assert_eq!(backoff.choices(), 32);
    }

    #[test]
    fn it_runs_out_unseen() {
        let mut backoff = backoff();
        assert!(!backoff.has_run_out(us(5)));
        backoff.start(2, us(10));
        assert!(!backoff.has_run_out(us(49)));
        assert!(backoff.has_run_out(us(50)));
        backoff.finish();
        assert!(!backoff.is_under_way());
    }
}
