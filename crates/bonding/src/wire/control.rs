//! What the gateways tell each other, and its bytes.

mod missing;

pub use missing::{Missing, MissingRange};

use crate::id::{GlobalSeq, MAX_PATHS, PathId, PathSeq};
use crate::wire::header::{DecodeError, KEEPALIVE, KEEPALIVE_REPLY, MISSING, REPORT, Reader, TRAIN, VERSION};

/// A control packet. Travels a path like any packet and may be lost like any.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Control {
    /// What the egress received on every path.
    Report(Report),
    /// A question whether this path is alive, and how long its round trip is.
    Keepalive(Keepalive),
    /// The answer to a keepalive.
    KeepaliveReply(KeepaliveReply),
    /// A request for packets that did not come by a path.
    Missing(Missing),
    /// A packet of a train, which measures a path's rate before data need it.
    Train(TrainPacket),
}

/// What the egress received on every path since the session began.
///
/// It holds totals rather than differences, so that a lost report loses nothing. At each report
/// interval the same report travels on every path that is not down and does not rest, so that a
/// dead path does not stop feedback.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Report {
    /// Counts reports: copies and older ones are ignored.
    pub number: u32,
    /// The reporter's clock in µs, wrapping, when the report was made.
    pub made: u32,
    /// How often that clock has stood still, wrapping: times before and after differ by more than
    /// the time between them.
    pub gaps: u8,
    count: u8,
    entries: [PathReport; MAX_PATHS],
}

/// One path's part of a [`Report`]. All counters wrap.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PathReport {
    /// The path sequence number expected next: one above the highest that arrived.
    pub next: PathSeq,
    /// Data packets that arrived, without duplicates.
    pub received_packets: u32,
    /// Their octets on the wire.
    pub received_bytes: u32,
    /// Data packets that the path lost: they did not arrive within the loss timeout, or only by a
    /// repair. What arrives later after all is taken back, so this may fall.
    pub lost_packets: u32,
    /// The timestamp of the packet with the highest number that arrived: the sender's clock in µs,
    /// wrapping.
    pub newest: u32,
    /// By how much that packet took longer than the quickest that came since the report before, in
    /// units of 8 µs.
    pub excess: u16,
    /// The greatest recent time that a packet came after one that overtook it, in units of 8 µs. A
    /// queue does not cause this delay.
    pub reordering: u16,
    /// The rate at which the last packet train came, in kbit/s; 0: none came recently.
    pub train: u32,
    /// How long the arrival of the newest packet waited to be reported, in µs. It is to be
    /// subtracted from the round trip.
    pub held: u32,
}

/// Sent on every path at the keepalive interval, on dead ones too; less often on a path that rests.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Keepalive {
    /// The path it was sent on.
    pub path: PathId,
    /// The path rests: the next keepalive comes after this many ms, if no data do. 0: it does not
    /// rest.
    pub rest: u16,
    /// Counts keepalives.
    pub number: u32,
    /// The sender's clock in µs, wrapping.
    pub timestamp: u32,
    /// The number of the next data packet on this path. It shows losses that no later packet shows.
    pub next_path_seq: PathSeq,
    /// The number of the next packet of the bond: whatever comes before it was sent before this
    /// keepalive.
    pub next_global_seq: GlobalSeq,
}

/// The answer to a [`Keepalive`], at once and on the same path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct KeepaliveReply {
    /// The path.
    pub path: PathId,
    /// The number of the keepalive it answers.
    pub number: u32,
    /// The timestamp of the keepalive it answers.
    pub echoed: u32,
}

/// A packet of a train: as long as a full data packet, and filled with zeros.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TrainPacket {
    /// The path it was sent on.
    pub path: PathId,
    /// Its place in the train.
    pub number: u32,
    /// The sender's clock in µs, wrapping.
    pub timestamp: u32,
}

/// The unit of short times, in µs.
pub(crate) const TICK: u32 = 8;

const KEEPALIVE_LEN: u32 = 20;
/// With UDP and IPv4 a packet of 1 500 octets.
const TRAIN_LEN: u32 = 1_472;
const REPLY_LEN: u32 = 12;
const REPORT_FIXED_LEN: u32 = 12;
const REPORT_PATH_LEN: u32 = 32;

impl Report {
    /// A report with one entry for each path, in their order.
    ///
    /// # Panics
    ///
    /// If there are more than [`MAX_PATHS`].
    pub fn new(number: u32, made: u32, paths: &[PathReport]) -> Self {
        let mut entries = [PathReport::default(); MAX_PATHS];
        entries[..paths.len()].copy_from_slice(paths);
        Self { number, made, gaps: 0, count: paths.len() as u8, entries }
    }

    /// One entry for each path, in their order.
    pub fn paths(&self) -> &[PathReport] {
        &self.entries[..usize::from(self.count)]
    }
}

fn put(octets: &mut Vec<u8>, fields: &[u32]) {
    for field in fields {
        octets.extend_from_slice(&field.to_be_bytes());
    }
}

impl Control {
    /// The path that it was sent on, if it says so.
    pub const fn path(&self) -> Option<PathId> {
        match self {
            Self::Report(_) | Self::Missing(_) => None,
            Self::Keepalive(keepalive) => Some(keepalive.path),
            Self::Train(train) => Some(train.path),
            Self::KeepaliveReply(reply) => Some(reply.path),
        }
    }

    /// Its octets on the wire.
    pub fn wire_len(&self) -> u32 {
        match self {
            Self::Report(report) => REPORT_FIXED_LEN + REPORT_PATH_LEN * u32::from(report.count),
            Self::Keepalive(_) => KEEPALIVE_LEN,
            Self::KeepaliveReply(_) => REPLY_LEN,
            Self::Missing(missing) => missing.wire_len(),
            Self::Train(_) => TRAIN_LEN,
        }
    }

    /// Appends the packet to `octets`, in network order: version and kind, a path or a count, two
    /// octets, and the fields in their order. The two octets are `rest` in a keepalive, `gaps` and
    /// zero in a report, the number of ranges and zero in a request for missing packets, and else
    /// zero.
    pub fn encode(&self, octets: &mut Vec<u8>) {
        match self {
            Self::Report(report) => {
                octets.extend_from_slice(&[VERSION << 4 | REPORT, report.count, report.gaps, 0]);
                put(octets, &[report.number, report.made]);
                report.paths().iter().for_each(|path| path.encode(octets));
            }
            Self::Keepalive(keepalive) => {
                octets.extend_from_slice(&[VERSION << 4 | KEEPALIVE, keepalive.path.0]);
                octets.extend_from_slice(&keepalive.rest.to_be_bytes());
                let (path, global) = (keepalive.next_path_seq.get(), keepalive.next_global_seq.get());
                put(octets, &[keepalive.number, keepalive.timestamp, path, global]);
            }
            Self::Train(train) => {
                let end = octets.len() + TRAIN_LEN as usize;
                octets.extend_from_slice(&[VERSION << 4 | TRAIN, train.path.0, 0, 0]);
                put(octets, &[train.number, train.timestamp]);
                octets.resize(end, 0);
            }
            Self::KeepaliveReply(reply) => {
                octets.extend_from_slice(&[VERSION << 4 | KEEPALIVE_REPLY, reply.path.0, 0, 0]);
                put(octets, &[reply.number, reply.echoed]);
            }
            Self::Missing(missing) => {
                octets.extend_from_slice(&[
                    VERSION << 4 | MISSING,
                    missing.path.0,
                    missing.ranges().len() as u8,
                    0,
                ]);
                missing.ranges().iter().for_each(|range| put(octets, &[range.from.get(), range.packets]));
            }
        }
    }

    /// Reads a packet from octets. Never panics; what follows the packet is ignored.
    ///
    /// # Errors
    ///
    /// Why the octets are no control packet.
    pub fn decode(octets: &[u8]) -> Result<Self, DecodeError> {
        let mut reader = Reader(octets);
        match reader.kind()? {
            REPORT => Report::decode(&mut reader).map(Self::Report),
            KEEPALIVE => {
                let (path, rest) = (reader.path()?, reader.u16()?);
                let (number, timestamp) = (reader.u32()?, reader.u32()?);
                let next_path_seq = PathSeq::new(reader.u32()?);
                let next_global_seq = GlobalSeq::new(reader.u32()?);
                Ok(Self::Keepalive(Keepalive {
                    path,
                    rest,
                    number,
                    timestamp,
                    next_path_seq,
                    next_global_seq,
                }))
            }
            KEEPALIVE_REPLY => {
                let (path, _) = (reader.path()?, reader.u16()?);
                let (number, echoed) = (reader.u32()?, reader.u32()?);
                Ok(Self::KeepaliveReply(KeepaliveReply { path, number, echoed }))
            }
            TRAIN if octets.len() < TRAIN_LEN as usize => Err(DecodeError::Truncated),
            TRAIN => {
                let (path, _) = (reader.path()?, reader.u16()?);
                Ok(Self::Train(TrainPacket { path, number: reader.u32()?, timestamp: reader.u32()? }))
            }
            MISSING => Missing::decode(&mut reader).map(Self::Missing),
            kind => Err(DecodeError::Kind(kind)),
        }
    }
}

impl Report {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let count = reader.u8()?;
        if usize::from(count) > MAX_PATHS {
            return Err(DecodeError::TooManyPaths(count));
        }
        let ([gaps, _], number, made) = (reader.take()?, reader.u32()?, reader.u32()?);
        let mut entries = [PathReport::default(); MAX_PATHS];
        for entry in &mut entries[..usize::from(count)] {
            *entry = PathReport::decode(reader)?;
        }
        Ok(Self { number, made, gaps, count, entries })
    }
}

impl PathReport {
    fn encode(&self, octets: &mut Vec<u8>) {
        put(octets, &[self.next.get(), self.received_packets, self.received_bytes, self.lost_packets]);
        put(
            octets,
            &[self.newest, u32::from(self.excess) << 16 | u32::from(self.reordering), self.train, self.held],
        );
    }

    fn decode(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            next: PathSeq::new(reader.u32()?),
            received_packets: reader.u32()?,
            received_bytes: reader.u32()?,
            lost_packets: reader.u32()?,
            newest: reader.u32()?,
            excess: reader.u16()?,
            reordering: reader.u16()?,
            train: reader.u32()?,
            held: reader.u32()?,
        })
    }
}
