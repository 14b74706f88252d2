//! The search for the longest datagram that one direction of a path carries, by probes (RFC 8899).
//! Lengths are those of whole IP packets, in octets.

use ropewalk_units::{Duration, Instant};

/// The length that is used as long as probes have no answer: IPv6's minimum (RFC 8200 §5).
pub(super) const BASE: u16 = 1280;
/// The shortest length that is tried: every IPv4 host takes it (RFC 791 §3.1).
pub(super) const LEAST: u16 = 576;
/// The search ends when the length is known to within this many octets.
const STEP: u16 = 4;
/// PROBE_TIMER (RFC 8899 §5.1.1): no less than a second.
const PROBE_TIMER: Duration = Duration::from_secs(1);
/// MAX_PROBES (RFC 8899 §5.1.2).
const MAX_PROBES: u8 = 3;
/// Time between two probes of the length that was found.
const CONFIRM: Duration = Duration::from_secs(30);
/// PMTU_RAISE_TIMER (RFC 8899 §5.1.1): between two searches.
const RAISE: Duration = Duration::from_secs(600);

/// A probe on its way, or one that is to be sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Probe {
    /// Its number, which the answer repeats.
    pub(super) number: u16,
    /// Octets of its IP packet.
    pub(super) len: u16,
}

/// The search of one direction of one path.
#[derive(Clone, Debug)]
pub(super) struct Search {
    most: u16,
    /// The longest that came through; 0: none yet.
    works: u16,
    /// The shortest that did not.
    fails: u16,
    probe: Probe,
    tries: u8,
    /// Was a probe without an answer for a whole `PROBE_TIMER`?
    is_judged: bool,
    due: Instant,
    raise_at: Instant,
}

impl Search {
    /// A search on a path that carries at most `most` octets. This length is tried first.
    pub(super) fn new(most: u16, now: Instant) -> Self {
        let most = most.max(LEAST);
        Self {
            most,
            works: 0,
            fails: most + 1,
            probe: Probe { number: 0, len: most },
            tries: 0,
            is_judged: false,
            due: now,
            raise_at: now + RAISE,
        }
    }

    /// The longest IP packet that may be sent: what was found. Until a probe has timed out it is
    /// the longest length, since a connection that begins then keeps its segment size.
    pub(super) fn limit(&self) -> u16 {
        match (self.works, self.is_judged) {
            (0, false) => self.most,
            (0, true) => BASE.min(self.most).min(self.fails - 1),
            (works, _) => works,
        }
    }

    /// When [`Self::handle_timeout`] is to be called.
    pub(super) const fn due(&self) -> Instant {
        self.due
    }

    /// Probes later: the path is not in use, so a lost probe would tell nothing.
    pub(super) fn postpone(&mut self, now: Instant) {
        self.due = now + PROBE_TIMER;
    }

    /// A probe to send, if it is time.
    pub(super) fn handle_timeout(&mut self, now: Instant) -> Option<Probe> {
        if now < self.due {
            return None;
        }
        if self.tries > 0 {
            self.is_judged = true;
        }
        if self.tries >= MAX_PROBES {
            self.give_up(now);
        }
        if now >= self.raise_at && self.is_complete() {
            (self.fails, self.raise_at) = (self.most + 1, now + RAISE);
        }
        if self.tries == 0 {
            self.probe.number = self.probe.number.wrapping_add(1);
            self.probe.len = self.next();
        }
        self.tries += 1;
        self.due = now + PROBE_TIMER;
        Some(self.probe)
    }

    /// The other end has answered a probe.
    pub(super) fn handle_answer(&mut self, now: Instant, number: u16) {
        if number != self.probe.number || self.tries == 0 {
            return;
        }
        self.works = self.works.max(self.probe.len);
        self.fails = self.fails.max(self.works + 1);
        self.tries = 0;
        self.due = if self.is_complete() { now + CONFIRM } else { now };
    }

    /// No copy of the probe was answered.
    fn give_up(&mut self, now: Instant) {
        let failed = self.probe.len;
        self.tries = 0;
        if failed <= self.works {
            // A black hole: the path does not carry what was found (RFC 8899 §4.3).
            self.works = 0;
            self.raise_at = now + RAISE;
        }
        if failed > LEAST {
            self.fails = failed;
        }
    }

    fn is_complete(&self) -> bool {
        self.works > 0 && (self.works == self.most || self.fails - self.works <= STEP)
    }

    /// The next length to try: the longest, then the base, then the middle between what works and
    /// what fails. A complete search tries what it has found.
    fn next(&self) -> u16 {
        if self.is_complete() {
            return self.works;
        }
        if self.fails > self.most {
            return self.most;
        }
        match self.works {
            0 if self.fails > BASE => BASE,
            0 if self.fails <= LEAST + STEP => LEAST,
            0 => LEAST.midpoint(self.fails),
            works => works.midpoint(self.fails),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Runs a search for `time` over a path that carries `carries(now)` octets. `loses` says
    /// whether a probe is lost. Returns the number of probes.
    fn run(
        search: &mut Search,
        from: Instant,
        time: Duration,
        carries: impl Fn(Instant) -> u16,
        mut loses: impl FnMut() -> bool,
    ) -> u32 {
        let mut sent = 0;
        while search.due() < from + time {
            let now = search.due();
            let Some(probe) = search.handle_timeout(now) else { continue };
            sent += 1;
            if probe.len <= carries(now) && !loses() {
                search.handle_answer(now + Duration::from_millis(30), probe.number);
            }
        }
        sent
    }

    #[test]
    fn what_the_file_says_is_found_with_one_probe() {
        let mut search = Search::new(1500, Instant::ZERO);
        assert_eq!(search.limit(), 1500);
        let sent = run(&mut search, Instant::ZERO, Duration::from_secs(29), |_| 1500, || false);
        assert_eq!((search.limit(), sent), (1500, 1));
    }

    #[test]
    fn a_shorter_path_is_used_carefully_after_a_second() {
        let mut search = Search::new(1500, Instant::ZERO);
        run(&mut search, Instant::ZERO, Duration::from_millis(1500), |_| 1400, || false);
        assert_eq!(search.limit(), BASE);
    }

    #[test]
    fn a_path_that_is_down_says_nothing() {
        let mut search = Search::new(1500, Instant::ZERO);
        for second in 0..60 {
            let now = Instant::ZERO + Duration::from_secs(second);
            search.postpone(now);
            assert_eq!((search.handle_timeout(now), search.limit()), (None, 1500));
        }
    }

    #[test]
    fn a_path_that_shrinks_and_grows_is_followed() {
        let mut search = Search::new(1500, Instant::ZERO);
        let at = |seconds| Instant::ZERO + Duration::from_secs(seconds);
        let carries = |now| if now < at(100) || now > at(300) { 1500 } else { 1420 };
        run(&mut search, Instant::ZERO, Duration::from_secs(100), carries, || false);
        assert_eq!(search.limit(), 1500);
        run(&mut search, at(0), Duration::from_secs(200), carries, || false);
        assert!((1420 - STEP + 1..=1420).contains(&search.limit()), "{}", search.limit());
        run(&mut search, at(0), Duration::from_secs(1000), carries, || false);
        assert_eq!(search.limit(), 1500);
    }

    proptest! {
        /// The search finds what a path carries, even if up to two probes in a row are lost.
        #[test]
        fn finds_what_a_path_carries(carries in LEAST..=1500, losses in prop::collection::vec(0u8..100, 400)) {
            let mut search = Search::new(1500, Instant::ZERO);
            let (mut losses, mut in_a_row) = (losses.into_iter().cycle(), 0);
            let mut loses = || {
                let is_lost = losses.next().is_some_and(|draw| draw < 30) && in_a_row < MAX_PROBES - 1;
                in_a_row = if is_lost { in_a_row + 1 } else { 0 };
                is_lost
            };
            run(&mut search, Instant::ZERO, Duration::from_secs(120), |_| carries, &mut loses);
            let found = search.limit();
            prop_assert!(found <= carries, "{} of {}", found, carries);
            prop_assert!(carries - found < STEP, "{} of {}", found, carries);
        }
    }
}
