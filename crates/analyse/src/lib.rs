//! What a capture shows of TCP and Multipath TCP connections.
//!
//! [`analyse`] reads a pcap or pcapng file and follows every TCP connection in it, at both levels.
//! It tells:
//!
//! - which subflow brought each octet of data first;
//! - what came again, on the same subflow (a retransmission) or on another (a reinjection);
//! - how far data came out of their order, and how long they waited for what was missing before
//!   them;
//! - when no data came at all.
//!
//! Everything is *as seen where the capture was taken*. Near the receiver, reordering and waiting
//! are the receiver's. Near the sender, packets that are lost later are still there. Nothing here
//! knows what the ends did inside.

mod capture;
mod connection;
mod flow;
mod mapping;
mod reassembly;
mod report;
mod tracker;

pub use capture::CaptureError;
pub use report::{
    Connection, Direction, Event, EventKind, Flow, Gap, Kind, Report, Sample, Settings, Stream, Subflow,
};

use std::io::Read;
use tracker::Tracker;

/// Follows the connections of a capture file.
///
/// # Errors
/// [`CaptureError`] if it is no capture. A file that ends within a packet is read up to there.
pub fn analyse(file: impl Read + Send, settings: &Settings) -> Result<Report, CaptureError> {
    let mut tracker = Tracker::new(settings);
    let ending = capture::read(file, |frame| tracker.process(&frame))?;
    Ok(tracker.report(ending))
}
