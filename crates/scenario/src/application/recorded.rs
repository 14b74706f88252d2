//! Datagrams of recorded lengths, sent when they were sent then.

use crate::plan::{Recorded, RecordedDatagram};
use ropewalk_units::Instant;
use ropewalk_wire::Payload;
use std::sync::Arc;

/// A source of recorded datagrams.
#[derive(Clone, Debug)]
pub struct RecordedSource {
    datagrams: Arc<[RecordedDatagram]>,
    start: Instant,
    stop_at: Instant,
    /// How many were handed out.
    sent: usize,
}

impl RecordedSource {
    /// Times count from `start`. None leaves at `stop_at` or later.
    pub fn new(recorded: &Recorded, start: Instant, stop_at: Instant) -> Self {
        Self { datagrams: Arc::clone(&recorded.datagrams), start, stop_at, sent: 0 }
    }

    /// When the next one is due.
    pub fn deadline(&self) -> Option<Instant> {
        let next = self.datagrams.get(self.sent)?;
        Some(self.start.saturating_add(next.after)).filter(|at| *at < self.stop_at)
    }

    /// Is one due? Each call that says so counts it as sent.
    pub fn count_if_due(&mut self, now: Instant) -> bool {
        let is_due = self.deadline().is_some_and(|at| at <= now);
        self.sent += usize::from(is_due);
        is_due
    }

    /// The octets of the datagram that was handed out last, as a range of all.
    pub fn payload(&self) -> Payload {
        self.datagrams[self.sent - 1].payload
    }

    /// All of them.
    pub fn datagrams(&self) -> &Arc<[RecordedDatagram]> {
        &self.datagrams
    }

    /// Datagrams handed out so far.
    pub const fn sent(&self) -> u64 {
        self.sent as u64
    }

    /// Has the last one been handed out?
    pub fn is_finished(&self) -> bool {
        self.deadline().is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::application::RecordedFile;
    use ropewalk_units::Duration;

    fn at(micros: u64) -> Instant {
        Instant::ZERO + Duration::from_micros(micros)
    }

    fn source(stop_at: u64) -> RecordedSource {
        let datagrams = [(5, 0, 100), (5, 100, 40), (9, 140, 1400)].map(|(after, offset, len)| {
            RecordedDatagram { after: Duration::from_micros(after), payload: Payload { offset, len } }
        });
        let recorded =
            Recorded { source: RecordedFile { file: String::new() }, datagrams: Arc::new(datagrams) };
        RecordedSource::new(&recorded, at(10), at(stop_at))
    }

    #[test]
    fn datagrams_leave_at_their_times_with_their_lengths() {
        let mut source = source(100);
        assert_eq!(source.deadline(), Some(at(15)));
        assert!(!source.count_if_due(at(14)));
        let mut ranges = Vec::new();
        for micros in [15, 15, 15, 19, 30] {
            if source.count_if_due(at(micros)) {
                ranges.push((micros, source.payload().offset, source.payload().len));
            }
        }
        assert_eq!(ranges, [(15, 0, 100), (15, 100, 40), (19, 140, 1400)]);
        assert!(source.is_finished());
        assert_eq!(source.sent(), 3);
    }

    #[test]
    fn none_leaves_after_the_end() {
        let mut source = source(19);
        assert!(source.count_if_due(at(50)) && source.count_if_due(at(50)) && !source.count_if_due(at(50)));
        assert!(source.is_finished());
    }
}
