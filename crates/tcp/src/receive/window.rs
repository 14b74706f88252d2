//! The receive window: what is advertised, and how large the buffer behind it has grown.

use crate::config::{Config, WindowOwner};
use crate::memory::{self, TIMESTAMPS};
use crate::timestamp;
use ropewalk_units::{Duration, Instant, Seq};

/// Receive buffer autotuning: "dynamic right-sizing" (Fisk & Feng 2001) as Linux does it. Twice what the
/// application read in the last round-trip time is the buffer that never limits a sender in slow start.
#[derive(Clone, Debug)]
struct Autotuning {
    /// The receiver's own estimate of the round-trip time.
    rtt: Option<Duration>,
    /// When so many octets have come in all, one window has arrived: a round-trip time without timestamps.
    rtt_edge: u64,
    rtt_since: Instant,
    last_echo: u32,
    /// Octets read in the best round-trip time so far.
    space: u64,
    /// Octets read since `since`.
    copied: u64,
    since: Instant,
}

/// Octets in the buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Filling {
    /// In order.
    pub(crate) unread: u64,
    /// Above a hole.
    pub(crate) waiting: u64,
}

/// RCV.NXT, the window's right edge and the buffer.
#[derive(Clone, Debug)]
pub(crate) struct ReceiveWindow {
    next: Seq,
    edge: Seq,
    scale: u8,
    /// Octets the buffer holds now: our own, or the owner's as it told last.
    limit: u32,
    /// The most that our buffer will hold, or what the field can say of the owner's window.
    max: u32,
    /// What a SYN offers of a buffer that is tuned.
    first_offer: u32,
    /// How much of the buffer is offered (Linux `rcv_ssthresh`). A buffer that is tuned is not offered all at once.
    offered: u32,
    /// What waits above a hole takes from the buffer (Linux counts memory).
    charges_waiting: bool,
    /// Octets that reached the application's end of the buffer by the segment that is to be acknowledged at once, before it reads.
    unread_yet: u32,
    /// The window is filled in by the owner: take what lies within the most that the field can say.
    shared: bool,
    tuning: Option<Autotuning>,
}

/// What Linux takes to be read in the first round-trip time: TCP_INIT_CWND.
const INITIAL_SEGMENTS: u64 = 10;

/// Octets of data that a buffer holds at first that is tuned, and what a SYN offers of it.
fn first_buffer(config: &Config) -> (u32, u32) {
    let timestamps = if config.timestamps { TIMESTAMPS } else { 0 };
    let mss = u64::from(config.mss);
    let payload = mss.saturating_sub(timestamps);
    let buffer = memory::first_receive_buffer(payload, mss, u64::from(config.memory_overhead));
    (buffer as u32, memory::first_offer(payload) as u32)
}

impl ReceiveWindow {
    /// What `config` says of the buffer, and of who owns the window.
    pub(crate) fn new(config: &Config) -> Self {
        let max = config.receive_buffer;
        let (first_buffer, first_offer) = first_buffer(config);
        let measured = config.receive_autotuning && max > first_offer;
        let shared = config.window_owner == WindowOwner::Shared;
        // With a window of the owner's above, only the round-trip time is of interest.
        let tuned = measured && !shared;
        let limit = match (shared, tuned) {
            (true, _) => 0,
            (false, true) => first_buffer.min(max),
            (false, false) => max,
        };
        Self {
            next: Seq::new(0),
            edge: Seq::new(0),
            scale: 0,
            limit,
            max,
            first_offer,
            offered: if tuned { limit.min(first_offer) } else { limit },
            charges_waiting: config.memory_overhead > 0,
            unread_yet: 0,
            shared,
            tuning: measured.then_some(Autotuning {
                rtt: None,
                rtt_edge: 0,
                rtt_since: Instant::ZERO,
                last_echo: 0,
                space: 0,
                copied: 0,
                since: Instant::ZERO,
            }),
        }
    }

    /// The peer's SYN is known: the window starts at `next`.
    pub(crate) fn open(&mut self, next: Seq, scale: u8, now: Instant) {
        self.next = next;
        self.scale = scale;
        let most = 65_535u32 << scale;
        self.max = if self.shared { most } else { self.max.min(most) };
        self.limit = self.limit.min(most);
        self.offered = self.offered.min(most);
        // A SYN can tell of 65 535 octets only (RFC 7323 §2.2); the first ACK tells the rest.
        let buffer = if self.shared { self.max } else { self.limit.min(self.offered) };
        self.edge = next + buffer;
        if let Some(tuning) = &mut self.tuning {
            tuning.since = now;
            tuning.rtt_since = now;
            tuning.rtt_edge = u64::from(buffer);
        }
    }

    /// What the window comes from: our buffer, or all that the owner may offer.
    fn buffer(&self) -> u32 {
        if self.shared { self.max } else { self.limit }
    }

    /// The owner's buffer is tuned and holds so many octets now. What is offered of it begins as that of a buffer of our own, and
    /// grows as segments arrive.
    pub(crate) fn follow(&mut self, limit: u32) {
        if self.offered == 0 {
            self.offered = limit.min(self.first_offer);
        }
        self.limit = self.limit.max(limit);
    }

    /// How much of the buffer is offered.
    pub(crate) fn offered(&self) -> u32 {
        self.offered
    }

    /// RCV.NXT.
    pub(crate) fn next(&self) -> Seq {
        self.next
    }

    /// The shift of our window field.
    pub(crate) fn scale(&self) -> u8 {
        self.scale
    }

    /// RCV.WND: octets that the peer may send now.
    pub(crate) fn size(&self) -> u32 {
        if self.next.before(self.edge) { self.edge.since(self.next) } else { 0 }
    }

    /// The right edge, RCV.NXT + RCV.WND.
    pub(crate) fn edge(&self) -> Seq {
        self.edge
    }

    /// RCV.NXT moves on.
    pub(crate) fn advance(&mut self, next: Seq) {
        self.next = next;
        // A FIN may lie one above the edge.
        self.edge = self.edge.max(next);
    }

    /// The octets by which the window could grow. As in Linux (`__tcp_select_window`) it reaches no further than what is offered, nor than
    /// what the buffer has room for beside all that is in it.
    fn growth(&self, Filling { unread, waiting }: Filling) -> u32 {
        if self.shared {
            return self.max.saturating_sub(self.size());
        }
        let taken = if self.charges_waiting { unread + waiting } else { unread } + u64::from(self.unread_yet);
        let free = u64::from(self.limit).saturating_sub(taken) as u32;
        free.min(self.offered).saturating_sub(self.size())
    }

    /// RFC 9293 §3.8.6.2.2 (silly window avoidance): growth below this is not offered.
    fn least_growth(&self, segment_size: u32) -> u32 {
        (self.buffer() / 2).min(segment_size).max(1)
    }

    /// A segment arrived. The offer grows by two of them up to the buffer, as Linux's (`tcp_grow_window`). Returns whether it
    /// did.
    #[inline]
    pub(crate) fn grow_offer(&mut self, segment_size: u32) -> bool {
        let room = self.limit.saturating_sub(self.offered);
        self.offered += room.min(2 * segment_size);
        room > 0
    }

    /// So many octets arrive in order with a segment that fills a hole. Its ACK leaves before the application has read them (Linux
    /// `__tcp_ack_snd_check`), and tells of the room that is left beside them.
    pub(crate) fn acknowledge_unread(&mut self, octets: u32) {
        self.unread_yet = octets;
    }

    /// Moves the right edge if that is worth it and returns the window field. The edge never moves back.
    pub(crate) fn advertise(&mut self, filling: Filling, segment_size: u32) -> u16 {
        let growth = self.growth(filling);
        if growth >= self.least_growth(segment_size) {
            self.edge += growth;
        }
        self.unread_yet = 0;
        // Rounded down by the shift; octets up to the exact edge stay acceptable (RFC 7323 §2.4).
        (self.size() >> self.scale).min(65_535) as u16
    }

    /// The window field of a SYN (RFC 7323 §2.2: not scaled).
    pub(crate) fn advertise_on_syn(&self) -> u16 {
        self.buffer().min(65_535) as u16
    }

    /// Has reading made so much room that the peer should hear of it at once? As Linux decides: the window
    /// can at least double, and is at most half of the buffer.
    pub(crate) fn wants_update(&self, filling: Filling, segment_size: u32) -> bool {
        let size = self.size();
        size <= self.buffer() / 2 && {
            let growth = self.growth(filling);
            growth >= size && growth >= self.least_growth(segment_size)
        }
    }

    /// The round-trip time as the receiver sees it, if the buffer is tuned.
    pub(crate) fn rtt(&self) -> Option<Duration> {
        self.tuning.as_ref().and_then(|tuning| tuning.rtt)
    }

    /// The application read.
    pub(crate) fn read(&mut self, octets: u32) {
        if let Some(tuning) = &mut self.tuning {
            tuning.copied += u64::from(octets);
        }
    }

    /// Data arrived, `received` octets in all: measures, and lets the buffer grow once per round-trip time. `echo` is the
    /// timestamp that a full-sized segment echoes.
    pub(crate) fn tune(&mut self, now: Instant, received: u64, echo: Option<u32>, segment_size: u32) {
        let (size, max) = (self.size(), self.max);
        if let Some(tuning) = &mut self.tuning {
            tuning.measure(now, received, size, echo);
            if let Some(wanted) = tuning.wanted(now, segment_size) {
                self.limit = self.limit.max(wanted.min(u64::from(max)) as u32);
            }
        }
    }
}

impl Autotuning {
    fn measure(&mut self, now: Instant, received: u64, window: u32, echo: Option<u32>) {
        if let Some(echo) = echo {
            if echo != self.last_echo {
                self.last_echo = echo;
                let age = timestamp::age(now, echo).max(Duration::from_millis(1));
                self.rtt = Some(self.rtt.map_or(age, |rtt| (rtt * 7 + age) / 8));
            }
        } else if received >= self.rtt_edge {
            // One window in one round-trip time: an upper bound, so the least counts.
            let sample = now.saturating_since(self.rtt_since);
            self.rtt = Some(self.rtt.map_or(sample, |rtt| rtt.min(sample)));
            self.rtt_edge = received + u64::from(window);
            self.rtt_since = now;
        }
    }

    /// The buffer that the last round-trip time asks for, if one is over and it was the best so far.
    fn wanted(&mut self, now: Instant, segment_size: u32) -> Option<u64> {
        if now.saturating_since(self.since) < self.rtt? {
            return None;
        }
        let (copied, before) = (self.copied, self.space.max(INITIAL_SEGMENTS * u64::from(segment_size)));
        self.copied = 0;
        self.since = now;
        if copied <= before {
            return None;
        }
        self.space = copied;
        let window = 2 * copied;
        // While the sender is in slow start it doubles: keep ahead of it.
        let grown = window.saturating_mul(copied - before) / before;
        Some(window.saturating_add(grown.saturating_mul(2)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 45 segments of 1448 octets.
    const FIRST_OFFER: u32 = 65_160;

    fn unread(octets: u64) -> Filling {
        Filling { unread: octets, waiting: 0 }
    }

    fn window(max: u32) -> ReceiveWindow {
        let config = Config { receive_buffer: max, receive_autotuning: false, ..Config::linux() };
        let mut window = ReceiveWindow::new(&config);
        window.open(Seq::new(1000), 0, Instant::ZERO);
        window
    }

    fn autotuned() -> ReceiveWindow {
        let config = Config { receive_buffer: 6 << 20, receive_autotuning: true, ..Config::linux() };
        ReceiveWindow::new(&config)
    }

    #[test]
    fn the_right_edge_never_moves_back_and_small_growth_waits() {
        let mut w = window(10_000);
        assert_eq!(w.advertise(unread(0), 1400), 10_000);
        w.advance(Seq::new(1000) + 9000);
        assert_eq!(w.advertise(unread(9000), 1400), 1000);
        assert_eq!(w.advertise(unread(8000), 1400), 1000, "1000 octets are less than a segment");
        assert!(!w.wants_update(unread(8000), 1400));
        assert!(w.wants_update(unread(7600), 1400));
        assert_eq!(w.advertise(unread(7600), 1400), 2400);
    }

    #[test]
    fn a_closed_window_opens_when_half_the_buffer_is_free() {
        let mut w = window(2000);
        w.advertise(unread(0), 1400);
        w.advance(Seq::new(3000));
        assert_eq!(w.advertise(unread(2000), 1400), 0);
        assert!(!w.wants_update(unread(1001), 1400));
        assert!(w.wants_update(unread(1000), 1400));
        assert_eq!(w.advertise(unread(1000), 1400), 1000);
    }

    #[test]
    fn a_tuned_buffer_is_offered_by_two_segments_for_each_that_arrives() {
        let mut w = autotuned();
        w.open(Seq::new(0), 7, Instant::ZERO);
        assert_eq!(
            (w.size(), w.limit),
            (FIRST_OFFER, 80_480),
            "the first buffer is larger than a SYN can tell"
        );
        w.limit = FIRST_OFFER + 5000;
        assert!(w.grow_offer(1400));
        assert_eq!(w.advertise(unread(0), 1400), ((FIRST_OFFER + 2800) >> 7) as u16);
        assert!(w.grow_offer(1400));
        assert!(!w.grow_offer(1400), "and no more than the buffer");
        assert_eq!(w.size(), FIRST_OFFER + 2800, "until it is advertised");
        w.advertise(unread(0), 1400);
        assert_eq!(w.size(), FIRST_OFFER + 5000);
        assert!(!window(10_000).grow_offer(1400), "a fixed buffer is offered whole");
    }

    #[test]
    fn a_subflow_offers_as_much_of_its_owners_buffer_while_it_takes_all_that_the_field_can_say() {
        let config = Config { window_owner: WindowOwner::Shared, ..Config::linux() };
        let mut w = ReceiveWindow::new(&config);
        w.follow(80_000);
        w.open(Seq::new(0), 7, Instant::ZERO);
        assert_eq!((w.offered(), w.size()), (FIRST_OFFER, 65_535 << 7));
        assert!(w.grow_offer(1400));
        assert_eq!(w.offered(), FIRST_OFFER + 2800);
        w.follow(70_000);
        assert!((0..6).filter(|_| w.grow_offer(1400)).count() == 5, "a buffer does not shrink");
        assert_eq!((w.offered(), w.size()), (80_000, 65_535 << 7));
        w.follow(80_001);
        assert!(w.grow_offer(1400));
        let mut unknown = ReceiveWindow::new(&config);
        unknown.open(Seq::new(0), 7, Instant::ZERO);
        assert!(!unknown.grow_offer(1400), "the owner's buffer is not tuned");
    }

    #[test]
    fn the_buffer_grows_ahead_of_a_sender_that_doubles() {
        let mut w = autotuned();
        w.open(Seq::new(0), 7, Instant::ZERO);
        let (mut now, mut octets, mut next) = (Instant::ZERO, 14_000u32, Seq::new(0));
        for round in 1..9u32 {
            now += Duration::from_millis(100);
            next += octets;
            assert!(w.size() >= octets, "round {round}: window {} for {octets}", w.size());
            w.advance(next);
            w.read(octets);
            for _ in 0..octets / 1400 {
                w.grow_offer(1400);
            }
            w.tune(now, 0, Some(timestamp::value(now) - 100), 1400);
            w.advertise(unread(0), 1400);
            octets *= 2;
        }
    }

    #[test]
    fn without_timestamps_the_quickest_window_is_the_round_trip() {
        let mut w = autotuned();
        w.open(Seq::new(0), 0, Instant::ZERO);
        let at = |ms| Instant::ZERO + Duration::from_millis(ms);
        let mut rtt = |ms, windows: u64| {
            w.tune(at(ms), windows * u64::from(FIRST_OFFER), None, 1400);
            w.rtt()
        };
        assert_eq!(rtt(100, 1), Some(Duration::from_millis(100)));
        assert_eq!(rtt(500, 2), Some(Duration::from_millis(100)), "the sender paused");
        assert_eq!(rtt(560, 3), Some(Duration::from_millis(60)));
    }

    #[test]
    fn with_timestamps_each_echo_counts_once_for_an_eighth() {
        let mut w = autotuned();
        w.open(Seq::new(0), 7, Instant::ZERO);
        let mut rtt = |ms, age| {
            let now = Instant::ZERO + Duration::from_millis(ms);
            w.tune(now, 0, Some(timestamp::value(now) - age), 1400);
            w.rtt()
        };
        assert_eq!(rtt(300, 100), Some(Duration::from_millis(100)));
        assert_eq!(rtt(500, 180), Some(Duration::from_millis(110)));
        assert_eq!(rtt(550, 230), Some(Duration::from_millis(110)), "the same echo");
    }

    #[test]
    fn what_is_read_in_a_whole_round_trip_makes_the_buffer_twice_as_large_and_more_while_it_grows() {
        let mut w = autotuned();
        w.open(Seq::new(0), 7, Instant::ZERO);
        let mut buffer = |ms, octets, echo_age: Option<u32>| {
            let now = Instant::ZERO + Duration::from_millis(ms);
            w.read(octets);
            w.tune(now, 0, echo_age.map(|age| timestamp::value(now) - age), 1000);
            w.limit
        };
        assert_eq!(buffer(100, 10_000, Some(100)), 80_480, "ten segments are no growth");
        assert_eq!(buffer(150, 10_000, None), 80_480, "half a round trip");
        // 40 000 octets after 10 000: twice that, and twice as much again for each 10 000 more than before.
        assert_eq!(buffer(200, 30_000, None), 80_000 + 2 * 3 * 80_000);
        assert_eq!(buffer(300, 40_000, None), 560_000, "no growth");
        assert_eq!(buffer(400, 39_000, None), 560_000, "and it never shrinks");
    }
}
