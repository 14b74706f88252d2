//! The two ends of a TCP flow that always has data.

use ropewalk_tcp::{Config, Connection};
use ropewalk_units::{Instant, Seq};
use ropewalk_wire::{Payload, Segment};

/// An end that writes.
#[derive(Debug)]
pub(crate) struct Sender {
    connection: Connection,
    written: u64,
}

impl Sender {
    /// Its SYN is about to leave.
    pub(crate) fn new(now: Instant) -> Self {
        Self { connection: Connection::connect(Config::linux(), Seq::new(1), now), written: 0 }
    }

    /// An ACK has come.
    pub(crate) fn handle_segment(&mut self, now: Instant, segment: &Segment) {
        self.connection.handle_segment(now, segment);
    }

    /// The next segment.
    pub(crate) fn poll_transmit(&mut self, now: Instant) -> Option<Segment> {
        handle_timeout(&mut self.connection, now);
        while self.connection.poll_event().is_some() {}
        let len = self.connection.send_space().min(1 << 30) as u32;
        if len > 0 {
            self.connection.push(Payload { offset: self.written, len });
            self.written += u64::from(len);
        }
        self.connection.poll_transmit(now)
    }

    /// When its next timer expires.
    pub(crate) fn deadline(&self) -> Instant {
        self.connection.deadline()
    }
}

/// An end that reads.
#[derive(Debug, Default)]
pub(crate) struct Receiver(Option<Connection>);

impl Receiver {
    /// A segment has come.
    pub(crate) fn handle_segment(&mut self, now: Instant, segment: &Segment) {
        match &mut self.0 {
            Some(connection) => connection.handle_segment(now, segment),
            None => self.0 = Some(Connection::accept(Config::linux(), segment, Seq::new(2), now)),
        }
    }

    /// The next ACK.
    pub(crate) fn poll_transmit(&mut self, now: Instant) -> Option<Segment> {
        let connection = self.0.as_mut()?;
        handle_timeout(connection, now);
        while connection.poll_event().is_some() {}
        while connection.read(u64::MAX).is_some() {}
        connection.poll_transmit(now)
    }

    /// When its next timer expires.
    pub(crate) fn deadline(&self) -> Instant {
        self.0.as_ref().map_or(Instant::MAX, Connection::deadline)
    }
}

fn handle_timeout(connection: &mut Connection, now: Instant) {
    if connection.deadline() <= now {
        connection.handle_timeout(now);
    }
}
