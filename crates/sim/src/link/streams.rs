//! A link's random streams.

use crate::random::{Stream, Streams};

/// One stream for each thing that is random here, so that none shifts another's draws. Made at the first draw: most
/// links need none.
pub(super) struct LinkStreams {
    name: String,
    source: Streams,
    loss: Option<Box<Stream>>,
    jitter: Option<Box<Stream>>,
    duplicate: Option<Box<Stream>>,
    queue: Option<Box<Stream>>,
}

impl LinkStreams {
    pub(super) fn new(name: String, source: Streams) -> Self {
        Self { name, source, loss: None, jitter: None, duplicate: None, queue: None }
    }

    pub(super) fn loss(&mut self) -> &mut Stream {
        self.loss.get_or_insert_with(|| make(self.source, &self.name, "loss"))
    }

    pub(super) fn jitter(&mut self) -> &mut Stream {
        self.jitter.get_or_insert_with(|| make(self.source, &self.name, "jitter"))
    }

    pub(super) fn duplicate(&mut self) -> &mut Stream {
        self.duplicate.get_or_insert_with(|| make(self.source, &self.name, "duplicate"))
    }

    pub(super) fn queue(&mut self) -> &mut Stream {
        self.queue.get_or_insert_with(|| make(self.source, &self.name, "queue"))
    }
}

fn make(source: Streams, name: &str, purpose: &str) -> Box<Stream> {
    Box::new(source.stream(&format!("link/{name}/{purpose}")))
}
