//! The header before every data packet, and its bytes.

use crate::flow::Class;
use crate::id::{FlowSeq, GlobalSeq, MAX_PATHS, PathId, PathSeq};
use crate::wire::MAX_RANGES;
use std::fmt;

/// Version of the format, in the upper half of the first octet.
pub(crate) const VERSION: u8 = 1;

/// Kind of packet, in the lower half of the first octet.
pub(crate) const DATA: u8 = 0;
pub(crate) const REPORT: u8 = 1;
pub(crate) const KEEPALIVE: u8 = 2;
pub(crate) const KEEPALIVE_REPLY: u8 = 3;
pub(crate) const TRAIN: u8 = 4;
pub(crate) const MISSING: u8 = 5;

const BUCKET_BITS: u32 = 12;
const BUCKET_MASK: u16 = (1 << BUCKET_BITS) - 1;

/// What precedes a data packet on a path.
///
/// ```text
///  0               1               2               3
/// +-------+-------+-------+-------+-------------------------------+
/// |version| kind  |sent|cl| path  | solo  |      flow bucket      |
/// +-------+-------+-------+-------+-------------------------------+
/// |                     flow sequence number                      |
/// +---------------------------------------------------------------+
/// |                    global sequence number                     |
/// +---------------------------------------------------------------+
/// |                     path sequence number                      |
/// +---------------------------------------------------------------+
/// |             sender's clock, microseconds, wrapping            |
/// +---------------------------------------------------------------+
/// ```
///
/// All in network order; `sent` and `cl`, two bits each, are transmission and class.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DataHeader {
    /// The path it was sent on.
    pub path: PathId,
    /// How it is to be treated.
    pub class: Class,
    /// Whether it is sent for the first time, and may be again.
    pub transmission: Transmission,
    /// At least 2^solo − 1 packets of the bond before this one went on its path alone. If this path
    /// has passed them, a missing one of them is on no other path. 0 to 15.
    pub solo: u8,
    /// The flow bucket whose order it keeps: 0 to 4095.
    pub bucket: u16,
    /// Its number in the bucket, counting ordered packets only.
    pub flow_seq: FlowSeq,
    /// Its number in the bond.
    pub global_seq: GlobalSeq,
    /// Its number on the path.
    pub path_seq: PathSeq,
    /// The sender's clock when it was handed out, in µs, wrapping.
    pub timestamp: u32,
}

/// Whether a packet that a path loses is sent again.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Transmission {
    /// It is not sent again.
    #[default]
    Only,
    /// The first time: the sender keeps the packet for a while, and sends it again if it is asked
    /// to.
    First,
    /// The packet is sent again. It may come by any path; `path` and `path_seq` are those of the
    /// first.
    Repair,
}

/// Why octets are not a header or control packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DecodeError {
    /// Fewer octets than the format needs.
    Truncated,
    /// Another version of the format.
    Version(u8),
    /// A kind of packet that is not expected here.
    Kind(u8),
    /// A path number beyond [`MAX_PATHS`].
    Path(u8),
    /// A class, or transmission, that is not known.
    Class(u8),
    /// A report on more than [`MAX_PATHS`] paths.
    TooManyPaths(u8),
    /// A request for more ranges than [`crate::Missing::MOST`].
    TooManyRanges(u8),
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Truncated => f.write_str("the packet ends within its header"),
            Self::Version(version) => {
                write!(f, "version {version} of the bonding header, expected {VERSION}")
            }
            Self::TooManyRanges(count) => {
                write!(f, "a request for {count} ranges, expected at most {MAX_RANGES}")
            }
            Self::Kind(kind) => write!(f, "kind {kind} is not expected here"),
            Self::Path(path) => write!(f, "path {path}, expected less than {MAX_PATHS}"),
            Self::Class(class) => write!(f, "class {class} is not known"),
            Self::TooManyPaths(count) => write!(f, "a report on {count} paths, expected at most {MAX_PATHS}"),
        }
    }
}

impl std::error::Error for DecodeError {}

/// Reads big-endian fields one after the other.
pub(crate) struct Reader<'a>(pub(crate) &'a [u8]);

impl Reader<'_> {
    pub(crate) fn take<const N: usize>(&mut self) -> Result<[u8; N], DecodeError> {
        let (head, rest) = self.0.split_first_chunk::<N>().ok_or(DecodeError::Truncated)?;
        self.0 = rest;
        Ok(*head)
    }

    pub(crate) fn u8(&mut self) -> Result<u8, DecodeError> {
        Ok(self.take::<1>()?[0])
    }

    pub(crate) fn u16(&mut self) -> Result<u16, DecodeError> {
        self.take().map(u16::from_be_bytes)
    }

    pub(crate) fn u32(&mut self) -> Result<u32, DecodeError> {
        self.take().map(u32::from_be_bytes)
    }

    /// The first octet's kind, if its version is ours.
    pub(crate) fn kind(&mut self) -> Result<u8, DecodeError> {
        let first = self.u8()?;
        if first >> 4 != VERSION {
            return Err(DecodeError::Version(first >> 4));
        }
        Ok(first & 0xf)
    }

    pub(crate) fn path(&mut self) -> Result<PathId, DecodeError> {
        path(self.u8()?)
    }
}

pub(crate) fn path(number: u8) -> Result<PathId, DecodeError> {
    if usize::from(number) < MAX_PATHS { Ok(PathId(number)) } else { Err(DecodeError::Path(number)) }
}

pub(super) const fn class_code(class: Class, transmission: Transmission) -> u8 {
    let sent = match transmission {
        Transmission::Only => 0,
        Transmission::First => 1,
        Transmission::Repair => 2,
    };
    let class = match class {
        // Low delay concerns the ingress only.
        Class::Normal | Class::LowDelay => 0,
        Class::Unordered => 1,
        Class::Duplicated => 2,
        Class::DuplicatedUnordered => 3,
    };
    sent << 2 | class
}

pub(super) fn class(code: u8) -> Result<(Class, Transmission), DecodeError> {
    let transmission = match code >> 2 {
        0 => Transmission::Only,
        1 => Transmission::First,
        2 => Transmission::Repair,
        _ => return Err(DecodeError::Class(code)),
    };
    let class = match code & 3 {
        0 => Class::Normal,
        1 => Class::Unordered,
        2 => Class::Duplicated,
        _ => Class::DuplicatedUnordered,
    };
    Ok((class, transmission))
}

/// `solo` and the bucket in two octets.
pub(super) const fn place_code(solo: u8, bucket: u16) -> [u8; 2] {
    ((solo as u16) << BUCKET_BITS | bucket & BUCKET_MASK).to_be_bytes()
}

/// `solo` and the bucket of two octets.
pub(super) const fn place(code: u16) -> (u8, u16) {
    ((code >> BUCKET_BITS) as u8, code & BUCKET_MASK)
}

impl DataHeader {
    /// Its octets on the wire.
    pub const LEN: u32 = 20;

    /// As octets.
    pub fn encode(&self) -> [u8; Self::LEN as usize] {
        let mut octets = [0; Self::LEN as usize];
        octets[0] = VERSION << 4 | DATA;
        octets[1] = class_code(self.class, self.transmission) << 4 | self.path.0;
        octets[2..4].copy_from_slice(&place_code(self.solo, self.bucket));
        octets[4..8].copy_from_slice(&self.flow_seq.get().to_be_bytes());
        octets[8..12].copy_from_slice(&self.global_seq.get().to_be_bytes());
        octets[12..16].copy_from_slice(&self.path_seq.get().to_be_bytes());
        octets[16..].copy_from_slice(&self.timestamp.to_be_bytes());
        octets
    }

    /// Reads a header from the first octets of a packet; what follows is the packet itself. Never
    /// panics.
    ///
    /// # Errors
    ///
    /// Why the octets are no header.
    pub fn decode(octets: &[u8]) -> Result<Self, DecodeError> {
        let mut reader = Reader(octets);
        let kind = reader.kind()?;
        if kind != DATA {
            return Err(DecodeError::Kind(kind));
        }
        let flags = reader.u8()?;
        let (solo, bucket) = place(reader.u16()?);
        let path = path(flags & 0xf)?;
        let (class, transmission) = class(flags >> 4)?;
        Ok(Self {
            path,
            class,
            transmission,
            solo,
            bucket,
            flow_seq: FlowSeq::new(reader.u32()?),
            global_seq: GlobalSeq::new(reader.u32()?),
            path_seq: PathSeq::new(reader.u32()?),
            timestamp: reader.u32()?,
        })
    }
}
