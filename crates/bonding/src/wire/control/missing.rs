//! Requests for packets that a path lost.

use crate::id::{PathId, PathSeq};
use crate::wire::MAX_RANGES;
use crate::wire::header::{DecodeError, Reader};

const FIXED_LEN: u32 = 4;
const RANGE_LEN: u32 = 8;

/// Numbers of data packets that a path lost, for the sender to send again: some ranges.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Missing {
    /// The path that they were sent on. The request itself may come by any.
    pub path: PathId,
    count: u8,
    ranges: [MissingRange; Self::MOST],
}

/// Numbers in a row on a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct MissingRange {
    /// The first.
    pub from: PathSeq,
    /// How many.
    pub packets: u32,
}

impl Missing {
    /// The most ranges of one request.
    pub const MOST: usize = MAX_RANGES;

    /// A request with no range yet.
    pub const fn new(path: PathId) -> Self {
        Self { path, count: 0, ranges: [MissingRange { from: PathSeq::new(0), packets: 0 }; Self::MOST] }
    }

    /// Adds a range; `false`: there is no room.
    pub fn push(&mut self, range: MissingRange) -> bool {
        let Some(slot) = self.ranges.get_mut(usize::from(self.count)) else { return false };
        *slot = range;
        self.count += 1;
        true
    }

    /// The ranges.
    pub fn ranges(&self) -> &[MissingRange] {
        &self.ranges[..usize::from(self.count)]
    }

    /// Its octets on the wire.
    pub(super) fn wire_len(&self) -> u32 {
        FIXED_LEN + RANGE_LEN * u32::from(self.count)
    }

    pub(super) fn decode(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let (path, count, _) = (reader.path()?, reader.u8()?, reader.u8()?);
        let mut missing = Self::new(path);
        for _ in 0..count {
            let range = MissingRange { from: PathSeq::new(reader.u32()?), packets: reader.u32()? };
            if !missing.push(range) {
                return Err(DecodeError::TooManyRanges(count));
            }
        }
        Ok(missing)
    }
}
