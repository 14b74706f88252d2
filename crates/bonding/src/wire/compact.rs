//! The header before every data packet of a tunnel that authenticates what it carries.

use crate::id::{FlowSeq, GlobalSeq, MAX_PATHS, PathId, PathSeq};
use crate::wire::header::{DataHeader, DecodeError, Reader, class, class_code, place, place_code};

/// Set in the first octet. Control packets have it clear.
const COMPACT: u8 = 0x80;
const PATH_BITS: u32 = 3;
const PATH_MASK: u8 = (1 << PATH_BITS) - 1;
const _: () = assert!(MAX_PATHS <= 1 << PATH_BITS);
/// Bits that are sent of a number in the bucket.
const FLOW_BITS: u32 = 24;
/// Bits that are sent of a number in the bond, and of one on a path.
const SEQ_BITS: u32 = 20;
const SEQ_MASK: u64 = (1 << SEQ_BITS) - 1;

/// A [`DataHeader`] with the lowest bits of its numbers only.
///
/// The receiver knows about which numbers come next, and completes them as QUIC's receivers do
/// (RFC 9000 §17.1). Both ends must have agreed on the version before, and what is not authentic
/// must not come here: one wrong number would have all later ones completed wrongly.
///
/// ```text
///  0               1               2               3
/// +-+---+---+-----+-------+-----------------------+---------------
/// |1|sent|cl| path| solo  |      flow bucket      | flow sequence
/// +-+---+---+-----+-------+-----------------------+---------------
///   number        |    global sequence number     | path sequence
/// +---------------+-------------------------------+---------------
///   number        |     sender's clock, microseconds, wrapping
/// +---------------+-----------------------------------------------
///                 |
/// +---------------+
/// ```
///
/// The flow sequence number has 24 bits, the global one and the path's have 20 each.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CompactHeader {
    /// All but the upper bits of its numbers, which are zero.
    cut: DataHeader,
}

/// Numbers near those of a packet that comes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Nearby {
    /// In its flow bucket.
    pub flow_seq: FlowSeq,
    /// In the bond.
    pub global_seq: GlobalSeq,
    /// On its path.
    pub path_seq: PathSeq,
}

impl CompactHeader {
    /// Its octets on the wire.
    pub const LEN: u32 = 15;

    /// The path that the packet was sent on first.
    pub const fn path(&self) -> PathId {
        self.cut.path
    }

    /// The flow bucket whose order it keeps: 0 to 4095.
    pub const fn bucket(&self) -> u16 {
        self.cut.bucket
    }

    /// The compact form of a header, as octets.
    pub fn encode(header: &DataHeader) -> [u8; Self::LEN as usize] {
        let mut octets = [0; Self::LEN as usize];
        octets[0] = COMPACT | class_code(header.class, header.transmission) << PATH_BITS | header.path.0;
        octets[1..3].copy_from_slice(&place_code(header.solo, header.bucket));
        octets[3..6].copy_from_slice(&header.flow_seq.get().to_be_bytes()[1..]);
        let (global, path) = (u64::from(header.global_seq.get()), u64::from(header.path_seq.get()));
        let both = (global & SEQ_MASK) << SEQ_BITS | path & SEQ_MASK;
        octets[6..11].copy_from_slice(&both.to_be_bytes()[3..]);
        octets[11..].copy_from_slice(&header.timestamp.to_be_bytes());
        octets
    }

    /// Are these octets of a tunnel a data packet?
    pub fn is_first_of(octets: &[u8]) -> bool {
        octets.first().is_some_and(|first| first & COMPACT != 0)
    }

    /// Reads a header from the first octets of a packet; what follows is the packet itself. Never
    /// panics.
    ///
    /// # Errors
    ///
    /// Why the octets are no such header.
    pub fn decode(octets: &[u8]) -> Result<Self, DecodeError> {
        let mut reader = Reader(octets);
        let first = reader.u8()?;
        if first & COMPACT == 0 {
            return Err(DecodeError::Kind(first & 0xf));
        }
        let (class, transmission) = class((first & !COMPACT) >> PATH_BITS)?;
        let (solo, bucket) = place(reader.u16()?);
        let [f0, f1, f2] = reader.take()?;
        let [s0, s1, s2, s3, s4] = reader.take()?;
        let both = u64::from_be_bytes([0, 0, 0, s0, s1, s2, s3, s4]);
        let cut = DataHeader {
            path: PathId(first & PATH_MASK),
            class,
            transmission,
            solo,
            bucket,
            flow_seq: FlowSeq::new(u32::from_be_bytes([0, f0, f1, f2])),
            global_seq: GlobalSeq::new((both >> SEQ_BITS) as u32),
            path_seq: PathSeq::new((both & SEQ_MASK) as u32),
            timestamp: reader.u32()?,
        };
        Ok(Self { cut })
    }

    /// The header with whole numbers: those nearest to `nearby` that have the bits that were sent.
    pub const fn complete(&self, nearby: Nearby) -> DataHeader {
        DataHeader {
            flow_seq: nearby.flow_seq.nearest(self.cut.flow_seq.get(), FLOW_BITS),
            global_seq: nearby.global_seq.nearest(self.cut.global_seq.get(), SEQ_BITS),
            path_seq: nearby.path_seq.nearest(self.cut.path_seq.get(), SEQ_BITS),
            ..self.cut
        }
    }
}
