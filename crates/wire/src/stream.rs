//! The generated stream: every application sends it, every sink expects it, a capture shows it.
//!
//! An octet is a function of its position alone, so that a range of the stream stands for its octets until
//! somebody needs them. Each run of eight octets is a 64-bit hash of its number: octets that are shifted,
//! swapped, repeated or missing differ from the right ones. The highest bit of every octet is clear, so that no dissector which
//! guesses by octets takes a payload for RTP, RTCP (RFC 3550 §5.1: version 2) or Thrift (magic 0x80 and 0x82).

use crate::checksum::Sum;
use crate::segment::Payload;

/// Octets made by one hash.
const RUN: u64 = 8;

/// The eight octets of run `index`, the first in the lowest bits: the finaliser of SplitMix64 (Steele, Lea and
/// Flood, OOPSLA 2014, §4) over a Weyl sequence, cheap and bijective.
const fn run(index: u64) -> u64 {
    let mut z = index.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (z ^ (z >> 31)) & 0x7f7f_7f7f_7f7f_7f7f
}

/// The octet at position `offset` of the stream.
pub const fn stream_byte(offset: u64) -> u8 {
    (run(offset / RUN) >> (8 * (offset % RUN))) as u8
}

/// Writes the octets from position `offset` on into `out`.
pub fn fill_stream(offset: u64, out: &mut [u8]) {
    let head = (offset.next_multiple_of(RUN) - offset).min(out.len() as u64);
    let (head, body) = out.split_at_mut(head as usize);
    for (position, octet) in (offset..).zip(head.iter_mut()) {
        *octet = stream_byte(position);
    }
    let first = (offset + head.len() as u64) / RUN;
    for (index, octets) in (first..).zip(body.chunks_mut(RUN as usize)) {
        octets.copy_from_slice(&run(index).to_le_bytes()[..octets.len()]);
    }
}

/// The ones' complement sum of the range's octets, without writing them down: what a checksum over the
/// payload needs ([`crate::dss_checksum`]).
pub fn stream_sum(payload: Payload) -> Sum {
    let end = payload.offset + u64::from(payload.len);
    let mut sum = Sum::default();
    for index in payload.offset / RUN..end.div_ceil(RUN) {
        let start = index * RUN;
        let mut octets = run(index);
        if start < payload.offset {
            octets &= u64::MAX << (8 * (payload.offset - start));
        }
        if start + RUN > end {
            octets &= u64::MAX >> (8 * (start + RUN - end));
        }
        sum = sum.add_u64(octets.swap_bytes());
    }
    // The words were summed from even positions of the stream; RFC 1071 §2 (B): an odd start swaps the octets
    // of the sum.
    if payload.offset.is_multiple_of(2) { sum } else { sum.swapped() }
}

/// Where the octets of payloads are: what is needed for checksums over them.
pub trait Octets {
    /// The ones' complement sum of the range's octets (RFC 1071).
    fn sum(&self, payload: Payload) -> Sum;
}

/// The generated stream: every payload's octets follow from its place.
#[derive(Clone, Copy, Debug)]
pub struct Generated;

impl Octets for Generated {
    fn sum(&self, payload: Payload) -> Sum {
        stream_sum(payload)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_stream_does_not_resemble_itself_shifted_or_swapped() {
        let mut octets = vec![0; 4096];
        fill_stream(0, &mut octets);
        for shift in 1..2048 {
            let equal = (0..2048).filter(|&i| octets[i] == octets[i + shift]).count();
            assert!(equal < 40, "shift {shift}: {equal} of 2048 octets equal, chance is 16");
        }
        let mut far = vec![0; 4096];
        fill_stream(1 << 32, &mut far);
        let equal = octets.iter().zip(&far).filter(|(a, b)| a == b).count();
        assert!(equal < 60, "{equal} of 4096 octets equal after 2^32, chance is 32");
    }

    proptest! {
        #[test]
        fn a_range_is_its_octets(offset in 0u64..1 << 40, len in 0u32..100) {
            let mut octets = vec![0; len as usize];
            fill_stream(offset, &mut octets);
            let expected: Vec<u8> = (offset..offset + u64::from(len)).map(stream_byte).collect();
            prop_assert_eq!(&octets, &expected);
            let sum = stream_sum(Payload { offset, len });
            prop_assert_eq!(sum.complement(), Sum::default().add_octets(&octets).complement());
        }
    }
}
