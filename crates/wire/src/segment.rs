//! A TCP segment as a value: header fields, options, and the range of the stream that it carries.

mod supersede;

use crate::mptcp::MptcpOptions;
use ropewalk_units::Seq;
use std::fmt;
use std::ops::{BitOr, BitOrAssign};

/// The control bits of RFC 9293 §3.1, with ECN's (RFC 3168 §6.1).
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct Flags(u8);

impl Flags {
    /// No more data from the sender.
    pub const FIN: Self = Self(0x01);
    /// Synchronise sequence numbers.
    pub const SYN: Self = Self(0x02);
    /// Reset the connection.
    pub const RST: Self = Self(0x04);
    /// Push.
    pub const PSH: Self = Self(0x08);
    /// The acknowledgement field is significant.
    pub const ACK: Self = Self(0x10);
    /// The urgent pointer is significant.
    pub const URG: Self = Self(0x20);
    /// ECN echo.
    pub const ECE: Self = Self(0x40);
    /// Congestion window reduced.
    pub const CWR: Self = Self(0x80);
    /// None of them.
    pub const NONE: Self = Self(0);

    /// Are all bits of `other` set?
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Is any bit of `other` set?
    pub const fn intersects(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// The octet on the wire.
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// The flags of an octet on the wire; URG is one of its bits.
    pub const fn from_bits(bits: u8) -> Self {
        Self(bits)
    }
}

impl BitOr for Flags {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitOrAssign for Flags {
    fn bitor_assign(&mut self, other: Self) {
        self.0 |= other.0;
    }
}

impl fmt::Debug for Flags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = [
            (Self::SYN, "S"),
            (Self::FIN, "F"),
            (Self::RST, "R"),
            (Self::PSH, "P"),
            (Self::ACK, "."),
            (Self::URG, "U"),
            (Self::ECE, "E"),
            (Self::CWR, "W"),
        ];
        names.iter().filter(|(flag, _)| self.contains(*flag)).try_for_each(|(_, name)| f.write_str(name))
    }
}

/// The ECN field of the IP header (RFC 3168 §5).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Ecn {
    /// The transport is not ECN-capable.
    #[default]
    NotEct,
    /// ECN-capable, codepoint ECT(0).
    Ect0,
    /// ECN-capable, codepoint ECT(1).
    Ect1,
    /// Congestion experienced.
    Ce,
}

impl Ecn {
    /// The two bits of the field.
    pub const fn bits(self) -> u8 {
        match self {
            Self::NotEct => 0b00,
            Self::Ect1 => 0b01,
            Self::Ect0 => 0b10,
            Self::Ce => 0b11,
        }
    }

    /// The codepoint of the field's two bits, the lower ones of `bits`.
    pub const fn from_bits(bits: u8) -> Self {
        match bits & 0b11 {
            0b00 => Self::NotEct,
            0b01 => Self::Ect1,
            0b10 => Self::Ect0,
            _ => Self::Ce,
        }
    }
}

/// The octets a segment carries, as a range of the application's generated stream.
///
/// `offset` counts octets from the start of the connection's stream (for Multipath TCP: of the connection's, not of
/// the subflow's). The stream's octets are a function of the offset, so that a sink can verify each of them and a
/// capture can write them. The range is not protocol information: no protocol decision may depend on `offset`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Payload {
    /// First octet's position in the stream.
    pub offset: u64,
    /// Octets carried; 0 for a pure ACK.
    pub len: u32,
}

/// The timestamps option (RFC 7323 §3.2).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Timestamps {
    /// TSval: the sender's clock.
    pub value: u32,
    /// TSecr: the peer's clock, echoed.
    pub echo: u32,
}

/// Up to four SACK blocks (RFC 2018 §3), each `[left, right)`; the first may be a DSACK (RFC 2883). On the heap:
/// most segments carry none, and every segment is moved several times on its way.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct SackBlocks {
    blocks: Option<Box<Blocks>>,
}

/// One block at least.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
struct Blocks {
    blocks: [(Seq, Seq); 4],
    len: u8,
}

impl SackBlocks {
    /// No block.
    pub const EMPTY: Self = Self { blocks: None };

    /// Appends a block; ignored when four are there already.
    pub fn push(&mut self, left: Seq, right: Seq) {
        let Blocks { blocks, len } = &mut **self.blocks.get_or_insert_default();
        if let Some(slot) = blocks.get_mut(usize::from(*len)) {
            *slot = (left, right);
            *len += 1;
        }
    }

    /// The blocks, in the order of the option.
    pub fn as_slice(&self) -> &[(Seq, Seq)] {
        self.blocks.as_ref().map_or(&[], |held| &held.blocks[..usize::from(held.len)])
    }

    /// Is there no block?
    pub const fn is_empty(&self) -> bool {
        self.blocks.is_none()
    }

    /// Keeps the first `blocks` blocks: what fits the option space left.
    pub fn truncate(&mut self, blocks: usize) {
        if blocks == 0 {
            self.blocks = None;
        } else if let Some(held) = &mut self.blocks {
            held.len = held.len.min(blocks as u8);
            held.blocks[usize::from(held.len)..].fill(Default::default());
        }
    }
}

impl fmt::Debug for SackBlocks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.as_slice().iter().map(|(l, r)| (l.get(), r.get()))).finish()
    }
}

/// The options of a segment. Their length on the wire is [`Options::wire_len`], never above 40.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Options {
    /// Maximum segment size (SYN only).
    pub mss: Option<u16>,
    /// Window scale shift (SYN only; RFC 7323 §2.2).
    pub window_scale: Option<u8>,
    /// SACK permitted (SYN only; RFC 2018 §2).
    pub sack_permitted: bool,
    /// Timestamps.
    pub timestamps: Option<Timestamps>,
    /// SACK blocks.
    pub sack: SackBlocks,
    /// Multipath TCP's options.
    pub mptcp: MptcpOptions,
}

impl Options {
    /// Option space of a TCP header (RFC 9293 §3.1): a data offset of 15 words less the fixed header.
    pub const SPACE: u32 = 40;

    /// Octets on the wire, padded to a multiple of four as real stacks do. Timestamps take 12 with two NOPs, SACK
    /// blocks 4 + 8 each with two NOPs. A SYN packs "SACK permitted" and timestamps without NOPs.
    pub fn wire_len(&self) -> u32 {
        let mut len = 0;
        if self.mss.is_some() {
            len += 4;
        }
        if self.window_scale.is_some() {
            len += 4;
        }
        if self.timestamps.is_some() {
            len += 12;
        } else if self.sack_permitted {
            len += 4;
        }
        if !self.sack.is_empty() {
            len += 4 + 8 * self.sack.as_slice().len() as u32;
        }
        len + self.mptcp.wire_len()
    }

    /// None is left. Cheaper than to put a default there, since nearly always nothing on the heap has to be freed.
    pub fn clear(&mut self) {
        self.mss = None;
        self.window_scale = None;
        self.sack_permitted = false;
        self.timestamps = None;
        self.mptcp.dss = None;
        if !self.sack.is_empty() || self.mptcp.has_rare() {
            self.clear_lists();
        }
    }

    #[cold]
    fn clear_lists(&mut self) {
        *self = Self::default();
    }
}

/// A TCP segment. Ports and IP addresses belong to the packet that carries it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Segment {
    /// Sequence number of the first octet (of the SYN, if it carries one).
    pub seq: Seq,
    /// Acknowledgement number; significant with [`Flags::ACK`].
    pub ack: Seq,
    /// Control bits.
    pub flags: Flags,
    /// The window field as on the wire, not scaled.
    pub window: u16,
    /// The data.
    pub payload: Payload,
    /// The options.
    pub options: Options,
    /// The ECN field of the IP header: set by the sender's transport, changed by queues on the way.
    pub ecn: Ecn,
}

impl Segment {
    /// The fixed part of the TCP header.
    pub const HEADER: u32 = 20;

    /// Octets of TCP header, options and data.
    pub fn wire_len(&self) -> u32 {
        Self::HEADER + self.options.wire_len() + self.payload.len
    }

    /// Sequence space it takes: data, plus one for a SYN and one for a FIN (RFC 9293 §3.4).
    pub fn sequence_len(&self) -> u32 {
        self.payload.len
            + u32::from(self.flags.contains(Flags::SYN))
            + u32::from(self.flags.contains(Flags::FIN))
    }

    /// The sequence number after the last it takes.
    pub fn end(&self) -> Seq {
        self.seq + self.sequence_len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn option_lengths_are_those_of_real_stacks() {
        let syn = Options {
            mss: Some(1460),
            window_scale: Some(7),
            sack_permitted: true,
            timestamps: Some(Timestamps::default()),
            ..Options::default()
        };
        assert_eq!(syn.wire_len(), 20);
        let mut ack = Options { timestamps: Some(Timestamps::default()), ..Options::default() };
        assert_eq!(ack.wire_len(), 12);
        for n in 1..=3 {
            ack.sack.push(Seq::new(n), Seq::new(n + 1));
        }
        assert_eq!(ack.wire_len(), 40);
    }

    #[test]
    fn syn_and_fin_take_sequence_space() {
        let segment = Segment {
            seq: Seq::new(u32::MAX),
            flags: Flags::SYN | Flags::FIN,
            payload: Payload { offset: 0, len: 10 },
            ..Segment::default()
        };
        assert_eq!(segment.sequence_len(), 12);
        assert_eq!(segment.end(), Seq::new(11));
    }
}
