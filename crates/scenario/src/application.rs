//! What drives connections, simulated and real: greedy, paced, and request/response sources, and sinks that verify.
//! They own no clock and no socket: their driver passes the time, and the connection that they write to.

mod build;
mod bulk;
mod datagrams;
mod frames;
mod interval;
mod paced;
mod recorded;
mod requests;
mod sink;

pub use build::{frames, paced, recorded, sources};
pub use bulk::BulkSource;
pub use datagrams::{Datagrams, Received};
pub use frames::{FrameArrival, FrameSink, FrameSource};
pub use interval::draw;
pub use paced::{Paced, Periods};
pub use recorded::RecordedSource;
pub use requests::{Requester, Responder};
pub use sink::Sink;

use ropewalk_units::Instant;

/// Where a source writes: the sending half of a connection.
pub trait Writer {
    /// Free octets of the send buffer.
    fn space(&self) -> u64;
    /// Appends so many octets of the generated stream; at most [`Writer::space`].
    fn write(&mut self, octets: u64);
    /// No more will be written.
    fn finish(&mut self);
}

/// What one end of a stream connection writes.
#[derive(Debug)]
pub enum Source {
    /// Nothing: it only reads, and closes when its peer does.
    None,
    /// Greedy.
    Bulk(BulkSource),
    /// Messages.
    Paced(Paced),
    /// The asking side.
    Requester(Requester),
    /// The answering side.
    Responder(Responder),
}

impl Source {
    /// Writes what is due and fits.
    #[inline(always)]
    pub fn pump(&mut self, now: Instant, sink: &Sink, writer: &mut impl Writer) {
        match self {
            Self::None => {
                if sink.finished_at.is_some() {
                    writer.finish();
                }
            }
            Self::Bulk(bulk) => bulk.pump(now, writer),
            Self::Paced(paced) => paced.pump(now, writer),
            Self::Requester(requester) => requester.pump(now, sink.bytes, writer),
            Self::Responder(responder) => responder.pump(sink.bytes, sink.finished_at.is_some(), writer),
        }
    }

    /// When it wants to be pumped although nothing arrives.
    #[inline]
    pub fn deadline(&self) -> Option<Instant> {
        match self {
            Self::None | Self::Responder(_) => None,
            Self::Bulk(bulk) => bulk.deadline(),
            Self::Paced(paced) => paced.deadline(),
            Self::Requester(requester) => requester.deadline(),
        }
    }

    /// Has it written all that it will?
    pub fn is_finished(&self) -> bool {
        match self {
            Self::None | Self::Responder(_) => true,
            Self::Bulk(bulk) => bulk.is_finished(),
            Self::Paced(paced) => paced.is_finished(),
            Self::Requester(requester) => requester.is_finished(),
        }
    }
}
