//! As fast as the transport takes it: the generated stream, and a sink that compares every octet.

use super::socket::{Stream, again};
use super::{Progress, Stage};
use ropewalk_scenario::plan::{Bulk, ConnectionPlan};
use ropewalk_units::Instant;
use ropewalk_wire::fill_stream;
use std::io;

/// Octets written or read at once.
const CHUNK: usize = 1 << 16;

/// Sends until it has sent enough, or long enough, and says that this was all.
pub(super) fn send(
    stage: &Stage,
    connection: &ConnectionPlan,
    bulk: &Bulk,
    stream: &Stream,
    progress: &Progress,
) -> io::Result<()> {
    let end = bulk.duration.map_or(Instant::MAX, |duration| connection.start.saturating_add(duration));
    let all = bulk.bytes.unwrap_or(u64::MAX);
    let mut buffer = vec![0; CHUNK];
    let mut sent = 0;
    // The octets from `sent` on stand at the end of the buffer.
    let mut from = CHUNK;
    while sent < all && stage.clock.now() < end {
        if stage.is_over() {
            return Ok(());
        }
        if from == CHUNK {
            fill_stream(sent, &mut buffer);
            from = 0;
        }
        let most = (CHUNK - from).min(usize::try_from(all - sent).unwrap_or(CHUNK));
        let written = again(stream.write(&buffer[from..from + most]))?.unwrap_or(0);
        sent += written as u64;
        from += written;
    }
    progress.finish_sending();
    stream.finish()
}

/// Receives until the end of the stream.
pub(super) fn receive(stage: &Stage, stream: &Stream, progress: &Progress) -> io::Result<()> {
    let (mut buffer, mut expected) = (vec![0; CHUNK], vec![0; CHUNK]);
    let mut position = 0;
    while !stage.is_over() {
        match again(stream.read(&mut buffer))? {
            None => {}
            Some(0) => {
                progress.end();
                return Ok(());
            }
            Some(len) => {
                let now = stage.clock.now();
                let (octets, expected) = (&buffer[..len], &mut expected[..len]);
                fill_stream(position, expected);
                if let Some(wrong) = octets.iter().zip(expected.iter()).position(|(a, b)| a != b) {
                    let at = position + wrong as u64;
                    return Err(io::Error::other(format!(
                        "octet {at} of the stream was not the one that was sent"
                    )));
                }
                position += len as u64;
                progress.deliver(now, len as u64);
            }
        }
    }
    Ok(())
}
