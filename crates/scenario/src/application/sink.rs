//! A sink reads all that arrives and verifies every octet of it.

use ropewalk_units::Instant;
use ropewalk_wire::Payload;

/// What a stream's receiver has seen.
#[derive(Clone, Debug, Default)]
pub struct Sink {
    /// Octets read, all of them in order.
    pub bytes: u64,
    /// When the last octet was read.
    pub last_at: Option<Instant>,
    /// When the end of the stream was read.
    pub finished_at: Option<Instant>,
    /// Position of the first octet that was not the one the sender wrote there.
    pub corrupt_at: Option<u64>,
}

impl Sink {
    /// The next octets of the stream were read.
    #[inline]
    pub fn process(&mut self, now: Instant, payload: Payload) {
        // The payload is a range of the sender's stream: in-order delivery means that each range starts
        // where the last one ended.
        if payload.offset != self.bytes && self.corrupt_at.is_none() {
            self.corrupt_at = Some(self.bytes);
        }
        self.bytes += u64::from(payload.len);
        self.last_at = Some(now);
    }

    /// The peer has ended the stream.
    pub fn finish(&mut self, now: Instant) {
        self.finished_at.get_or_insert(now);
    }
}
