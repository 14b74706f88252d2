//! Messages at a rate: constant, or in on and off periods.

use super::Writer;
use super::interval::draw;
use crate::plan::Interval;
use ropewalk_sim::Stream;
use ropewalk_units::{Duration, Instant};

/// On and off periods.
#[derive(Debug)]
pub struct Periods {
    /// Length of the periods in which messages are sent.
    pub on: Interval,
    /// Length of those in which none is.
    pub off: Interval,
    /// Where their lengths are drawn from.
    pub stream: Stream,
}

/// A source of messages of one size, one each interval.
#[derive(Debug)]
pub struct Paced {
    /// Octets of a message.
    message: u32,
    interval: Duration,
    next: Instant,
    stop_at: Instant,
    periods: Option<Periods>,
    on_until: Instant,
    /// Intervals from later times on, the next one last.
    changes: Vec<(Instant, Duration)>,
    /// Octets due but not taken by the connection yet: a blocked application.
    backlog: u64,
    sent: u64,
    finished: bool,
}

impl Paced {
    /// Starts at `start` with a message at once (or with an on period).
    pub fn new(
        start: Instant,
        stop_at: Instant,
        message: u32,
        interval: Duration,
        periods: Option<Periods>,
    ) -> Self {
        let mut paced = Self {
            message,
            interval,
            next: start,
            stop_at,
            periods,
            on_until: Instant::MAX,
            changes: Vec::new(),
            backlog: 0,
            sent: 0,
            finished: false,
        };
        paced.begin_period(start);
        paced
    }

    /// With other intervals from these times on; in order of time.
    pub fn with_changes(mut self, mut changes: Vec<(Instant, Duration)>) -> Self {
        changes.reverse();
        self.changes = changes;
        self
    }

    /// The message after next comes sooner or later when the rate changes before it: what was left of its interval
    /// is stretched to the new one.
    fn step(&mut self) {
        let mut from = self.next;
        let mut left = self.interval;
        while let Some(&(at, interval)) = self.changes.last()
            && at <= from.saturating_add(left)
        {
            let waited = at.saturating_since(from);
            let rest = (left - waited).as_nanos() as u128 * u128::from(interval.as_nanos());
            left = Duration::from_nanos((rest / u128::from(self.interval.as_nanos().max(1))) as u64);
            from = from.max(at);
            self.interval = interval;
            self.changes.pop();
        }
        self.next = from.saturating_add(left);
    }

    fn begin_period(&mut self, at: Instant) {
        if let Some(periods) = &mut self.periods {
            self.on_until = at.saturating_add(draw(periods.on, &mut periods.stream));
        }
    }

    /// Is a message due? Each call that says so counts it as sent.
    pub fn count_if_due(&mut self, now: Instant) -> bool {
        if self.next > now || self.next >= self.stop_at {
            self.finished |= self.next >= self.stop_at;
            return false;
        }
        self.sent += 1;
        self.step();
        if self.next >= self.on_until {
            let off = self.periods.as_mut().map_or(Duration::ZERO, |p| draw(p.off, &mut p.stream));
            self.next = self.on_until.saturating_add(off).max(self.next);
            self.begin_period(self.next);
        }
        true
    }

    /// Writes all messages that are due to a stream, as far as it takes them.
    pub fn pump(&mut self, now: Instant, writer: &mut impl Writer) {
        while self.count_if_due(now) {
            self.backlog += u64::from(self.message);
        }
        let octets = writer.space().min(self.backlog);
        if octets > 0 {
            writer.write(octets);
            self.backlog -= octets;
        }
        if self.finished && self.backlog == 0 {
            writer.finish();
        }
    }

    /// When the next message is due.
    pub fn deadline(&self) -> Option<Instant> {
        (!self.finished).then(|| self.next.min(self.stop_at))
    }

    /// Octets of a message.
    pub fn message(&self) -> u32 {
        self.message
    }

    /// Messages handed out so far.
    pub fn sent(&self) -> u64 {
        self.sent
    }

    /// Has the last message been handed out?
    pub fn is_finished(&self) -> bool {
        self.finished && self.backlog == 0
    }
}
