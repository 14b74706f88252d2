//! Packets out of pcap and pcapng files.

use pcap_parser::traits::{PcapNGPacketBlock, PcapReaderIterator};
use pcap_parser::{Block, Linktype, PcapBlockOwned, PcapError, PcapHeader, create_reader};
use ropewalk_units::Instant;
use std::fmt;
use std::io::Read;

/// Octets of the file that are held at first. The buffer grows for longer blocks.
const BUFFER: usize = 1 << 20;
/// A block longer than this is no packet of any network.
const LONGEST_BLOCK: usize = 1 << 26;

/// One packet of a capture.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame<'a> {
    /// Since the epoch.
    pub(crate) time: Instant,
    /// From the IP header on; empty if it is not an IP packet.
    pub(crate) packet: &'a [u8],
}

/// Why a file is no capture.
#[derive(Debug)]
pub enum CaptureError {
    /// It begins like neither pcap nor pcapng.
    NotACapture,
    /// Packets of a link type that we do not read: its number (LINKTYPE_…).
    LinkType(i32),
    /// A block that no capture has.
    Malformed {
        /// How many packets stood before it.
        packets: u64,
        /// What the parser said.
        reason: String,
    },
    /// It cannot be read.
    Io(String),
}

impl fmt::Display for CaptureError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotACapture => f.write_str("neither a pcap nor a pcapng file"),
            Self::LinkType(number) => write!(
                f,
                "packets of link type {number}: expected raw IP, Ethernet, Linux cooked (SLL, SLL2) or loopback"
            ),
            Self::Malformed { packets, reason } => {
                write!(f, "a malformed block after {packets} packets: {reason}")
            }
            Self::Io(reason) => f.write_str(reason),
        }
    }
}

impl std::error::Error for CaptureError {}

/// How a capture ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Ending {
    /// Within a packet.
    pub(crate) truncated: bool,
}

/// How times and packets of one interface are to be read.
#[derive(Clone, Copy, Debug)]
struct Interface {
    link: Linktype,
    /// Ticks in a second.
    resolution: u64,
    /// Seconds to add to each time.
    offset: i64,
}

impl Interface {
    /// A count of ticks as a time since the epoch.
    fn time(&self, ticks: u64) -> Instant {
        const NANOS: u64 = 1_000_000_000;
        let resolution = self.resolution.max(1);
        let whole = (ticks / resolution).saturating_add_signed(self.offset);
        let part = u128::from(ticks % resolution) * u128::from(NANOS) / u128::from(resolution);
        Instant::from_nanos(whole.saturating_mul(NANOS).saturating_add(part as u64))
    }
}

/// Hands every packet of a capture to `take`.
pub(crate) fn read(file: impl Read + Send, mut take: impl FnMut(Frame<'_>)) -> Result<Ending, CaptureError> {
    let mut reader = create_reader(BUFFER, file).map_err(|_| CaptureError::NotACapture)?;
    let mut interfaces = Interfaces::default();
    let mut packets = 0;
    loop {
        match reader.next() {
            Ok((octets, block)) => {
                if let Some(frame) = interfaces.frame(&block, packets)? {
                    packets += 1;
                    take(frame);
                }
                reader.consume(octets);
            }
            Err(PcapError::Eof) => return Ok(Ending::default()),
            Err(PcapError::UnexpectedEof) => return Ok(Ending { truncated: true }),
            Err(PcapError::Incomplete(needed)) => {
                if reader.reader_exhausted() {
                    return Ok(Ending { truncated: true });
                }
                refill(&mut *reader, needed, packets)?;
            }
            Err(PcapError::HeaderNotRecognized) => return Err(CaptureError::NotACapture),
            Err(error) => {
                return Err(CaptureError::Malformed { packets, reason: format!("{error:?}") });
            }
        }
    }
}

/// Reads on, with a longer buffer if one block fills it.
fn refill(reader: &mut dyn PcapReaderIterator, needed: usize, packets: u64) -> Result<(), CaptureError> {
    let held = reader.data().len();
    if held + needed > LONGEST_BLOCK {
        return Err(CaptureError::Malformed { packets, reason: format!("a block of {needed} octets") });
    }
    if held + needed > BUFFER {
        reader.grow((held + needed).next_power_of_two());
    }
    reader.refill().map_err(|error| CaptureError::Io(format!("{error:?}")))
}

/// The interfaces of a section: one in pcap.
#[derive(Default)]
struct Interfaces(Vec<Interface>);

impl Interfaces {
    /// The packet of a block, if it is one; else what the block says of interfaces is kept.
    /// `packets` stood before it.
    fn frame<'a>(
        &mut self,
        block: &'a PcapBlockOwned<'a>,
        packets: u64,
    ) -> Result<Option<Frame<'a>>, CaptureError> {
        match block {
            PcapBlockOwned::LegacyHeader(header) => {
                self.0 = vec![of_header(header)];
                Ok(None)
            }
            PcapBlockOwned::Legacy(packet) => {
                let interface = self.interface(0, packets)?;
                let parts = u64::from(packet.ts_usec);
                let ticks = u64::from(packet.ts_sec) * interface.resolution + parts;
                frame(interface, ticks, packet.data).map(Some)
            }
            PcapBlockOwned::NG(block) => self.frame_of_section(block, packets),
        }
    }

    fn frame_of_section<'a>(
        &mut self,
        block: &'a Block<'a>,
        packets: u64,
    ) -> Result<Option<Frame<'a>>, CaptureError> {
        match block {
            Block::SectionHeader(_) => {
                self.0.clear();
                Ok(None)
            }
            Block::InterfaceDescription(description) => {
                self.0.push(Interface {
                    link: description.linktype,
                    resolution: description.ts_resolution().unwrap_or(1_000_000),
                    offset: description.if_tsoffset,
                });
                Ok(None)
            }
            Block::EnhancedPacket(packet) => {
                let interface = self.interface(packet.if_id as usize, packets)?;
                let ticks = u64::from(packet.ts_high) << 32 | u64::from(packet.ts_low);
                frame(interface, ticks, packet.packet_data()).map(Some)
            }
            // A Simple Packet Block has no time, so its packet cannot be placed.
            _ => Ok(None),
        }
    }

    fn interface(&self, number: usize, packets: u64) -> Result<Interface, CaptureError> {
        self.0.get(number).copied().ok_or_else(|| CaptureError::Malformed {
            packets,
            reason: format!("a packet of interface {number}, of which nothing was said"),
        })
    }
}

fn of_header(header: &PcapHeader) -> Interface {
    let resolution = if header.is_nanosecond_precision() { 1_000_000_000 } else { 1_000_000 };
    Interface { link: header.network, resolution, offset: i64::from(header.thiszone) }
}

fn frame(interface: Interface, ticks: u64, octets: &[u8]) -> Result<Frame<'_>, CaptureError> {
    let packet = ip(interface.link, octets)?;
    Ok(Frame { time: interface.time(ticks), packet })
}

/// EtherType numbers (IEEE 802).
mod ether_type {
    pub(super) const IPV4: u16 = 0x0800;
    pub(super) const IPV6: u16 = 0x86dd;
    pub(super) const VLAN: u16 = 0x8100;
    pub(super) const SERVICE_VLAN: u16 = 0x88a8;
}

/// What follows the link's header; empty if it is not IP.
fn ip(link: Linktype, octets: &[u8]) -> Result<&[u8], CaptureError> {
    let behind = |header: usize| octets.get(header..).unwrap_or_default();
    let typed = |at: usize, header: usize| {
        let kind = octets.get(at..at + 2).map(|kind| u16::from_be_bytes([kind[0], kind[1]]));
        if matches!(kind, Some(ether_type::IPV4 | ether_type::IPV6)) { behind(header) } else { &[] }
    };
    Ok(match link {
        Linktype::RAW | Linktype::IPV4 | Linktype::IPV6 | Linktype(12 | 14) => octets,
        Linktype::NULL | Linktype::LOOP => behind(4),
        Linktype::ETHERNET => {
            let tagged = |at: usize| {
                let kind = octets.get(at..at + 2).map(|kind| u16::from_be_bytes([kind[0], kind[1]]));
                matches!(kind, Some(ether_type::VLAN | ether_type::SERVICE_VLAN))
            };
            // Two tags at most (IEEE 802.1ad).
            let tags = if !tagged(12) { 0 } else { 1 + usize::from(tagged(16)) };
            typed(12 + 4 * tags, 14 + 4 * tags)
        }
        Linktype::LINUX_SLL => typed(14, 16),
        Linktype(276) => typed(0, 20),
        Linktype(other) => return Err(CaptureError::LinkType(other)),
    })
}
