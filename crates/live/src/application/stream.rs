//! One end of a stream connection: the scenario's source and sink on a socket.

use super::socket::{Stream, again};
use super::{End, Stage};
use ropewalk_scenario::application::{Sink, Source, Writer};
use ropewalk_units::Instant;
use ropewalk_wire::{Payload, fill_stream};
use rustix::event::PollFlags;
use std::io;

/// Octets written or read at once; as much waits for the kernel at most.
const CHUNK: usize = 1 << 16;

/// What the source has written and the kernel has not taken: positions in the generated stream.
#[derive(Debug, Default)]
pub(super) struct Outgoing {
    written: u64,
    sent: u64,
    finished: bool,
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
    buffers: [Vec<u8>; 2],
}

impl<'a> Running<'a> {
    pub(super) fn new(stage: &'a Stage, end: &'a mut End, stream: &'a Stream) -> Self {
        let buffers = [vec![0; CHUNK], vec![0; CHUNK]];
        Self { stage, end, stream, sink: Sink::default(), is_shut: false, buffers }
    }

    /// Goes on until the run is over.
    pub(super) fn run(mut self) -> io::Result<()> {
        while !self.stage.is_over() {
            // What has come may ask for an answer: it is written before anything is waited for.
            self.receive()?;
            let wants_out = self.send()?;
            self.tell();
            let mut flags = PollFlags::empty();
            flags.set(PollFlags::IN, self.sink.finished_at.is_none());
            flags.set(PollFlags::OUT, wants_out);
            let deadline = self.end.source.deadline().unwrap_or(Instant::MAX);
            self.stream.wait(flags, deadline.saturating_since(self.stage.clock.now()))?;
        }
        Ok(())
    }

    /// Writes what is due, as far as the kernel takes it. Is there more?
    fn send(&mut self) -> io::Result<bool> {
        let End { source, outgoing, .. } = &mut *self.end;
        loop {
            source.pump(self.stage.clock.now(), &self.sink, outgoing);
            let unsent = (outgoing.written - outgoing.sent) as usize;
            if unsent == 0 {
                break;
            }
            let octets = &mut self.buffers[0][..unsent];
            fill_stream(outgoing.sent, octets);
            let Some(len) = again(self.stream.write(octets))? else { return Ok(true) };
            outgoing.sent += len as u64;
        }
        // An end that only follows its peer stays open: the kernel tells nothing of a connection that is closed.
        let follows = matches!(source, Source::None | Source::Responder(_));
        if outgoing.finished && !follows && !self.is_shut {
            self.is_shut = true;
            self.stream.finish()?;
        }
        Ok(false)
    }

    /// Reads what has come, and compares every octet with the one that was sent.
    fn receive(&mut self) -> io::Result<()> {
        let [octets, expected] = &mut self.buffers;
        while self.sink.finished_at.is_none() {
            let Some(len) = again(self.stream.read(octets))? else { break };
            let (now, offset) = (self.stage.clock.now(), self.sink.bytes);
            if len == 0 {
                self.sink.finish(now);
                break;
            }
            fill_stream(offset, &mut expected[..len]);
            if let Some(wrong) = octets[..len].iter().zip(expected.iter()).position(|(a, b)| a != b) {
                let at = offset + wrong as u64;
                return Err(io::Error::other(format!(
                    "octet {at} of the stream was not the one that was sent"
                )));
            }
            self.sink.process(now, Payload { offset, len: len as u32 });
            // What waits to be written does not wait for all that can be read.
            if len < CHUNK {
                break;
            }
        }
        Ok(())
    }

    fn tell(&self) {
        let progress = &self.end.progress;
        if self.end.sends {
            if self.end.source.is_finished() {
                progress.finish_sending();
            }
            return;
        }
        progress.deliver(self.sink.bytes, self.sink.last_at);
        if self.sink.finished_at.is_some() {
            progress.end();
        }
        if let Source::Requester(requester) = &self.end.source {
            progress.count_exchanges(requester.completed, requester.response_time);
        }
    }
}
