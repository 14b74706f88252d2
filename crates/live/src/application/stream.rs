//! One end of a stream connection: the scenario's source and sink on a socket.

use super::socket::{Stream, again};
use super::{DataEnd, End, Progress, Stage};
use ropewalk_scenario::application::{Sink, Source, Writer};
use ropewalk_units::{Duration, Instant};
use ropewalk_wire::{Payload, fill_stream};
use rustix::event::PollFlags;
use std::io;

/// Octets written or read at once, at most. No more than that wait for the kernel.
pub(super) const CHUNK: usize = 1 << 16;

/// What the source has written and the kernel has not taken: positions in the generated stream.
#[derive(Debug, Default)]
pub(super) struct Outgoing {
    written: u64,
    sent: u64,
    finished: bool,
}

impl Outgoing {
    /// Octets that wait.
    pub(super) fn unsent(&self) -> usize {
        (self.written - self.sent) as usize
    }

    /// Where the first of them is in the stream.
    pub(super) fn sent(&self) -> u64 {
        self.sent
    }

    /// So many of them are on their way.
    pub(super) fn advance(&mut self, octets: u64) {
        self.sent += octets;
    }

    /// Is nothing more written?
    pub(super) fn is_finished(&self) -> bool {
        self.finished
    }
}

impl Writer for Outgoing {
    fn space(&self) -> u64 {
        CHUNK as u64 - (self.written - self.sent)
    }

    fn write(&mut self, octets: u64) {
        self.written += octets;
    }

    fn finish(&mut self) {
        self.finished = true;
    }
}

/// One end, as it runs.
pub(super) struct Running<'a> {
    stage: &'a Stage,
    end: &'a mut End,
    stream: &'a Stream,
    sink: Sink,
    is_shut: bool,
    octets: Vec<u8>,
}

impl<'a> Running<'a> {
    pub(super) fn new(stage: &'a Stage, end: &'a mut End, stream: &'a Stream) -> Self {
        Self { stage, end, stream, sink: Sink::default(), is_shut: false, octets: vec![0; CHUNK] }
    }

    /// Goes on until the run is over.
    pub(super) fn run(mut self) -> io::Result<()> {
        // When the kernel had no room, nothing is written until it says that there is enough of it
        // again. Most programs do so.
        let mut is_full = false;
        while !self.stage.is_over() {
            // A request that has come is answered before this thread waits for anything.
            self.receive()?;
            if !is_full {
                is_full = self.send()?;
            }
            self.tell();
            let mut flags = PollFlags::empty();
            flags.set(PollFlags::IN, self.sink.finished_at.is_none());
            flags.set(PollFlags::OUT, is_full);
            let ready = self.stream.wait(flags, self.patience(is_full))?;
            is_full &= ready.difference(PollFlags::IN).is_empty();
        }
        Ok(())
    }

    /// How long until the source has something to write. Without end if the kernel has no room.
    fn patience(&self, is_full: bool) -> Duration {
        let deadline = self.end.source.deadline().filter(|_| !is_full);
        deadline.unwrap_or(Instant::MAX).saturating_since(self.stage.clock.now())
    }

    /// Writes what is due, as far as the kernel takes it. Returns whether some of it is left.
    fn send(&mut self) -> io::Result<bool> {
        let End { source, outgoing, .. } = &mut *self.end;
        loop {
            source.pump(self.stage.clock.now(), &self.sink, outgoing);
            let unsent = outgoing.unsent();
            if unsent == 0 {
                break;
            }
            let octets = &mut self.octets[..unsent];
            fill_stream(outgoing.sent, octets);
            let Some(len) = again(self.stream.write(octets))? else { return Ok(true) };
            outgoing.advance(len as u64);
        }
        if outgoing.finished && !follows(source) && !self.is_shut {
            self.is_shut = true;
            self.stream.finish()?;
        }
        Ok(false)
    }

    /// Reads what has come, and compares every octet with the one that was sent.
    fn receive(&mut self) -> io::Result<()> {
        let octets = &mut self.octets;
        while self.sink.finished_at.is_none() {
            let Some(len) = again(self.stream.read(octets))? else { break };
            let (now, offset) = (self.stage.clock.now(), self.sink.bytes);
            if len == 0 {
                self.sink.finish(now);
                break;
            }
            if let Some(at) = wrong_at(offset, &octets[..len]) {
                return Err(io::Error::other(format!(
                    "octet {at} of the stream was not the one that was sent"
                )));
            }
            self.sink.process(now, Payload { offset, len: len as u32 });
            // Writing does not wait until all that can be read is read.
            if len < CHUNK {
                break;
            }
        }
        Ok(())
    }

    fn tell(&self) {
        tell(&self.end.progress, self.end.data, &self.end.source, &self.sink);
    }
}

/// Does this end only follow its peer? Then it stays open: a kernel tells nothing of a connection
/// that is closed.
pub(super) fn follows(source: &Source) -> bool {
    matches!(source, Source::None | Source::Responder(_))
}

/// The place of the first octet that is not the one of the generated stream. These octets should be
/// those of the stream from `offset` on.
pub(super) fn wrong_at(offset: u64, octets: &[u8]) -> Option<u64> {
    let mut expected = [0; 4096];
    for (index, part) in octets.chunks(expected.len()).enumerate() {
        let at = offset + (index * expected.len()) as u64;
        let expected = &mut expected[..part.len()];
        fill_stream(at, expected);
        if let Some(wrong) = part.iter().zip(&*expected).position(|(a, b)| a != b) {
            return Some(at + wrong as u64);
        }
    }
    None
}

/// Tells how far one end has come.
pub(super) fn tell(progress: &Progress, data: DataEnd, source: &Source, sink: &Sink) {
    if data == DataEnd::Sender {
        if source.is_finished() {
            progress.finish_sending();
        }
        return;
    }
    progress.deliver(sink.bytes, sink.last_at);
    if sink.finished_at.is_some() {
        progress.end();
    }
    if let Source::Requester(requester) = source {
        progress.count_exchanges(requester.completed, requester.response_time);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_octet_is_found_wherever_it_is() {
        let mut octets = vec![0; 10_000];
        fill_stream(77, &mut octets);
        assert_eq!(wrong_at(77, &octets), None);
        octets[9_000] ^= 1;
        assert_eq!(wrong_at(77, &octets), Some(9_077));
        octets[0] ^= 1;
        assert_eq!(wrong_at(77, &octets), Some(77));
    }
}
