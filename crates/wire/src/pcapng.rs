//! Captures in pcapng (draft-ietf-opsawg-pcapng), which Wireshark and tshark read: raw IP or 802.11 frames, one interface
//! per link, path or channel, nanosecond times counted from the start of the simulation.
//!
//! The bytes are a function of what was written alone: no clock, no host name, little-endian everywhere.

use ropewalk_units::Instant;
use std::io::{self, Write};

/// Block types (§4).
mod block {
    pub(super) const SECTION_HEADER: u32 = 0x0a0d_0d0a;
    pub(super) const INTERFACE_DESCRIPTION: u32 = 1;
    pub(super) const ENHANCED_PACKET: u32 = 6;
}

/// Option codes (§3.5, §4.1, §4.2).
mod code {
    pub(super) const END: u16 = 0;
    pub(super) const COMMENT: u16 = 1;
    pub(super) const SHB_USER_APPLICATION: u16 = 4;
    pub(super) const IF_NAME: u16 = 2;
    pub(super) const IF_DESCRIPTION: u16 = 3;
    pub(super) const IF_TSRESOL: u16 = 9;
}

/// What packets of an interface begin with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LinkType {
    /// LINKTYPE_RAW: their IPv4 or IPv6 header.
    Raw,
    /// LINKTYPE_IEEE802_11_RADIOTAP: a radiotap header, then that of 802.11.
    Radiotap,
}

impl LinkType {
    const fn number(self) -> u16 {
        match self {
            Self::Raw => 101,
            Self::Radiotap => 127,
        }
    }
}

/// What a capture has of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Captured<'a> {
    /// The octets that are known.
    pub octets: &'a [u8],
    /// How many there were; at least as many.
    pub len: u32,
}

/// An interface of a capture.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct InterfaceId(u32);

/// Writes a capture to any [`Write`]; wrap files in a `BufWriter`.
#[derive(Debug)]
pub struct Writer<W> {
    out: W,
    /// The block being built: its length stands before and after its body.
    block: Vec<u8>,
    interfaces: u32,
    /// Octets of a packet that are kept at most; 0: all.
    snap_length: u32,
}

impl<W: Write> Writer<W> {
    /// Begins a capture; `application` names the program that writes it, with its version.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn new(out: W, application: &str) -> io::Result<Self> {
        let mut writer = Self { out, block: Vec::with_capacity(2048), interfaces: 0, snap_length: 0 };
        writer.block.extend(0x1a2b_3c4d_u32.to_le_bytes()); // byte-order magic
        writer.block.extend([1, 0, 0, 0]); // version 1.0
        writer.block.extend(u64::MAX.to_le_bytes()); // section length: not given
        writer.option(code::SHB_USER_APPLICATION, application.as_bytes());
        writer.end_options();
        writer.write_block(block::SECTION_HEADER)?;
        Ok(writer)
    }

    /// From now on keeps the first `octets` of each packet; 0 keeps all. To be called before interfaces are added, which
    /// say it.
    pub fn set_snap_length(&mut self, octets: u32) {
        self.snap_length = octets;
    }

    /// Adds an interface; `name` appears as its name in Wireshark, `description` beside it unless empty.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn add_interface(&mut self, name: &str, description: &str) -> io::Result<InterfaceId> {
        self.add_interface_of(LinkType::Raw, name, description)
    }

    /// Adds an interface of a kind.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn add_interface_of(
        &mut self,
        kind: LinkType,
        name: &str,
        description: &str,
    ) -> io::Result<InterfaceId> {
        self.block.extend(kind.number().to_le_bytes());
        self.block.extend([0; 2]); // reserved
        self.block.extend(self.snap_length.to_le_bytes());
        self.option(code::IF_NAME, name.as_bytes());
        if !description.is_empty() {
            self.option(code::IF_DESCRIPTION, description.as_bytes());
        }
        self.option(code::IF_TSRESOL, &[9]); // 10^-9 s
        self.end_options();
        self.write_block(block::INTERFACE_DESCRIPTION)?;
        let id = InterfaceId(self.interfaces);
        self.interfaces += 1;
        Ok(id)
    }

    /// Writes one IP packet seen at `at` on `interface`, with a comment unless it is empty.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn packet(
        &mut self,
        interface: InterfaceId,
        at: Instant,
        packet: &[u8],
        comment: &str,
    ) -> io::Result<()> {
        let whole = Captured { octets: packet, len: packet.len() as u32 };
        self.part(interface, at, whole, comment)
    }

    /// Writes what is known of a packet.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn part(
        &mut self,
        interface: InterfaceId,
        at: Instant,
        packet: Captured<'_>,
        comment: &str,
    ) -> io::Result<()> {
        let nanos = at.as_nanos();
        let Captured { octets, len } = packet;
        let known = octets.len() as u32;
        let kept = if self.snap_length == 0 { known } else { known.min(self.snap_length) };
        self.block.extend(interface.0.to_le_bytes());
        self.block.extend(((nanos >> 32) as u32).to_le_bytes());
        self.block.extend((nanos as u32).to_le_bytes());
        self.block.extend(kept.to_le_bytes()); // captured
        self.block.extend(len.to_le_bytes()); // on the link
        self.padded(&octets[..kept as usize]);
        if !comment.is_empty() {
            self.option(code::COMMENT, comment.as_bytes());
            self.end_options();
        }
        self.write_block(block::ENHANCED_PACKET)
    }

    /// Flushes and returns the output.
    ///
    /// # Errors
    /// Those of flushing.
    pub fn finish(mut self) -> io::Result<W> {
        self.out.flush()?;
        Ok(self.out)
    }

    /// Appends octets and zeroes up to a whole word.
    fn padded(&mut self, octets: &[u8]) {
        self.block.extend_from_slice(octets);
        self.block.resize(self.block.len().next_multiple_of(4), 0);
    }

    /// Appends an option; a value beyond what its length field can say is cut at a character.
    fn option(&mut self, code: u16, value: &[u8]) {
        let mut len = value.len().min(usize::from(u16::MAX));
        while len < value.len() && value[len] & 0xc0 == 0x80 {
            len -= 1;
        }
        self.block.extend(code.to_le_bytes());
        self.block.extend((len as u16).to_le_bytes());
        self.padded(&value[..len]);
    }

    fn end_options(&mut self) {
        self.block.extend(code::END.to_le_bytes());
        self.block.extend([0; 2]);
    }

    /// Type, total length, body, total length (§3.1).
    fn write_block(&mut self, kind: u32) -> io::Result<()> {
        let total = (self.block.len() as u32 + 12).to_le_bytes();
        let written = [&kind.to_le_bytes(), &total, self.block.as_slice(), &total]
            .into_iter()
            .try_for_each(|part| self.out.write_all(part));
        self.block.clear();
        written
    }
}
