//! What stands above a connection: it writes, reads and checks.

use ropewalk_adversary::FOREIGN;
use ropewalk_units::{Duration, Instant};
use ropewalk_wire::Payload;
use std::collections::VecDeque;

/// A stream, as an application sees it.
pub trait Transport {
    /// Octets that may be written now.
    fn send_space(&self) -> u64;
    /// Writes this payload.
    fn write(&mut self, payload: Payload);
    /// Reads at most so many octets.
    fn read(&mut self, max: u64) -> Option<Payload>;
    /// Octets that wait for a reader.
    fn readable(&self) -> u64;
    /// Says that nothing more will be written.
    fn finish(&mut self);
    /// Has everything been read that the peer will ever write?
    fn peer_finished(&self) -> bool;
}

/// When an application says that it writes no more.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Finish {
    /// When everything is written.
    Written,
    /// When everything is written and the peer has finished.
    AfterPeer,
    /// Not by itself.
    Never,
}

/// One host's application.
#[derive(Clone, Debug)]
pub struct Application {
    /// Octets that are still to be written.
    pub to_write: u64,
    /// Octets of one write, at most.
    pub chunk: u32,
    /// Octets of the generated stream that are left out after each write.
    pub jump: u64,
    /// When it finishes.
    pub finish: Finish,
    /// Octets read in one go, at most.
    pub read_chunk: u64,
    /// The pause after such a read.
    pub read_pause: Duration,
    /// Octets read, whoever's they are.
    pub received: u64,
    /// Octets read that are an attacker's.
    pub foreign: u64,
    /// When the last octet was read.
    pub last_octet_at: Instant,
    /// If true, an attacker's octets are no failure.
    pub lenient: bool,
    next_read: Instant,
    offset: u64,
    /// Written since the network last looked.
    written: Vec<Payload>,
    /// Written by the peer and not read yet.
    expected: VecDeque<Payload>,
    /// Of a lenient reader: where the last honest payload that it read ends.
    honest_end: u64,
}

impl Application {
    /// Writes so many octets of the generated stream from `offset` on, as fast as it may, and reads
    /// at once.
    pub fn new(to_write: u64, offset: u64) -> Self {
        Self {
            to_write,
            chunk: 1 << 30,
            jump: 0,
            finish: Finish::Written,
            read_chunk: u64::MAX,
            read_pause: Duration::ZERO,
            received: 0,
            foreign: 0,
            last_octet_at: Instant::ZERO,
            lenient: false,
            next_read: Instant::ZERO,
            offset,
            written: Vec::new(),
            expected: VecDeque::new(),
            honest_end: 0,
        }
    }

    /// Nothing is left to write, and everything was read that the peer wrote.
    pub fn is_complete(&self) -> bool {
        self.to_write == 0 && self.expected.is_empty()
    }

    /// Octets that the peer wrote and that were not read.
    pub fn unread(&self) -> u64 {
        self.expected.iter().map(|payload| u64::from(payload.len)).sum()
    }

    pub(crate) fn serve(&mut self, transport: &mut impl Transport, now: Instant) {
        self.read(transport, now);
        self.write(transport);
    }

    /// When it reads next, if something waits.
    pub(crate) fn deadline(&self, transport: &impl Transport) -> Instant {
        if transport.readable() > 0 { self.next_read } else { Instant::MAX }
    }

    /// What was written since this was last asked.
    pub(crate) fn take_written(&mut self) -> Vec<Payload> {
        std::mem::take(&mut self.written)
    }

    /// The peer's application has written this.
    pub(crate) fn expect(&mut self, written: &[Payload]) {
        for payload in written {
            match self.expected.back_mut() {
                Some(last) if last.offset + u64::from(last.len) == payload.offset && last.len < 1 << 30 => {
                    last.len += payload.len;
                }
                _ => self.expected.push_back(*payload),
            }
        }
    }

    fn write(&mut self, transport: &mut impl Transport) {
        while self.to_write > 0 {
            let len = transport.send_space().min(self.to_write).min(u64::from(self.chunk)) as u32;
            if len == 0 {
                return;
            }
            let payload = Payload { offset: self.offset, len };
            transport.write(payload);
            self.written.push(payload);
            self.offset += u64::from(len) + self.jump;
            self.to_write -= u64::from(len);
        }
        let finishes = match self.finish {
            Finish::Written => true,
            Finish::AfterPeer => transport.peer_finished(),
            Finish::Never => false,
        };
        if finishes {
            transport.finish();
        }
    }

    fn read(&mut self, transport: &mut impl Transport, now: Instant) {
        if now < self.next_read {
            return;
        }
        let mut left = self.read_chunk;
        while left > 0
            && let Some(payload) = transport.read(left)
        {
            left -= u64::from(payload.len);
            self.received += u64::from(payload.len);
            self.last_octet_at = now;
            if self.lenient { self.judge_leniently(payload) } else { self.judge(payload) }
        }
        if left < self.read_chunk {
            self.next_read = now + self.read_pause;
        }
    }

    /// Each octet is the honest one of its place.
    fn judge(&mut self, Payload { mut offset, mut len }: Payload) {
        while len > 0 {
            let wanted = self.expected.front_mut().expect("more was read than was written");
            assert_eq!(offset, wanted.offset, "octets out of order, lost or twice");
            let part = len.min(wanted.len);
            wanted.offset += u64::from(part);
            wanted.len -= part;
            if wanted.len == 0 {
                self.expected.pop_front();
            }
            offset += u64::from(part);
            len -= part;
        }
    }

    /// Like [`Self::judge`], but octets may be an attacker's, and honest ones may be left out: a
    /// forged SYN/ACK moves the stream's beginning. Nothing comes twice or backwards.
    fn judge_leniently(&mut self, Payload { offset, len }: Payload) {
        if offset >= FOREIGN {
            self.foreign += u64::from(len);
        } else {
            assert!(offset >= self.honest_end, "{offset} again, after {}", self.honest_end);
            self.honest_end = offset + u64::from(len);
        }
    }
}
