//! The peer's clock, as the timestamps option tells it (RFC 7323 §4.3, §5).

use ropewalk_units::{Duration, Instant, Seq};
use ropewalk_wire::{Flags, Segment};

/// RFC 7323 §5.5: TS.Recent is no proof after 24 days of silence.
const VALID: Duration = Duration::from_secs(24 * 24 * 3600);

/// What PAWS says of a segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Freshness {
    Fresh,
    /// It lacks the option that both SYNs carried.
    Unstamped,
    /// Its clock lies before TS.Recent.
    Stale,
}

/// TS.Recent, and when it was set; Last.ACK.sent.
#[derive(Clone, Debug)]
pub(crate) struct PeerClock {
    recent: u32,
    recent_at: Instant,
    last_ack_sent: Seq,
}

impl PeerClock {
    pub(crate) fn unknown() -> Self {
        Self { recent: 0, recent_at: Instant::ZERO, last_ack_sent: Seq::new(0) }
    }

    /// The peer's SYN tells `value`, if timestamps are agreed on.
    pub(crate) fn open(&mut self, now: Instant, syn: &Segment, value: Option<u32>) {
        if let Some(value) = value {
            self.recent = value;
            self.recent_at = now;
        }
        self.last_ack_sent = syn.seq + 1;
    }

    /// TS.Recent: what a segment of ours echoes.
    pub(crate) fn recent(&self) -> u32 {
        self.recent
    }

    /// RFC 7323 §5.3 R1 and R2, §4.3 (2): PAWS, for a connection that uses timestamps.
    pub(crate) fn judge(&self, now: Instant, segment: &Segment) -> Freshness {
        // RFC 7323 §3.2: without the option it SHOULD be dropped silently.
        let Some(timestamps) = segment.options.timestamps else { return Freshness::Unstamped };
        if !self.is_before(timestamps.value) || now.saturating_since(self.recent_at) > VALID {
            Freshness::Fresh
        } else {
            Freshness::Stale
        }
    }

    /// Is there a timestamp, and not an old one?
    #[inline(always)]
    pub(crate) fn expects(&self, segment: &Segment) -> bool {
        segment.options.timestamps.is_some_and(|stamp| !self.is_before(stamp.value))
    }

    /// Does it lie before TS.Recent?
    fn is_before(&self, value: u32) -> bool {
        (value.wrapping_sub(self.recent) as i32) < 0
    }

    /// RFC 7323 §5.3 R3: only an acceptable segment moves TS.Recent, and only one whose ACK is acceptable too: forged
    /// clocks would have honest segments dropped. A spurious retransmission that overtakes originals would, too.
    pub(crate) fn record(&mut self, now: Instant, segment: &Segment) {
        if let Some(timestamps) = segment.options.timestamps
            && !segment.flags.contains(Flags::RST)
            && segment.seq.before_eq(self.last_ack_sent)
        {
            self.recent = timestamps.value;
            self.recent_at = now;
        }
    }

    /// An ACK up to `next` leaves.
    pub(crate) fn on_ack_sent(&mut self, next: Seq) {
        self.last_ack_sent = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ropewalk_wire::{Options, Timestamps};

    fn stamped(seq: u32, value: u32) -> Segment {
        let timestamps = Some(Timestamps { value, echo: 0 });
        Segment {
            seq: Seq::new(seq),
            options: Options { timestamps, ..Options::default() },
            ..Segment::default()
        }
    }

    #[test]
    fn an_older_clock_is_stale_for_24_days() {
        let mut clock = PeerClock::unknown();
        clock.open(Instant::ZERO, &stamped(0, u32::MAX), Some(u32::MAX));
        assert_eq!(clock.judge(Instant::ZERO, &stamped(1, 3)), Freshness::Fresh, "the clock wraps");
        assert_eq!(clock.judge(Instant::ZERO, &stamped(1, u32::MAX - 1)), Freshness::Stale);
        assert_eq!(clock.judge(Instant::ZERO, &Segment::default()), Freshness::Unstamped);
        let last = Instant::ZERO + VALID;
        assert_eq!(clock.judge(last, &stamped(1, u32::MAX - 1)), Freshness::Stale);
        let late = last + Duration::from_nanos(1);
        assert_eq!(clock.judge(late, &stamped(1, u32::MAX - 1)), Freshness::Fresh);
    }

    #[test]
    fn only_segments_at_or_below_the_last_ack_move_the_clock() {
        let mut clock = PeerClock::unknown();
        clock.open(Instant::ZERO, &stamped(0, 10), Some(10));
        clock.record(Instant::ZERO, &stamped(2, 20));
        assert_eq!(clock.recent(), 10);
        clock.on_ack_sent(Seq::new(2));
        clock.record(Instant::ZERO, &stamped(2, 20));
        assert_eq!(clock.recent(), 20);
    }
}
