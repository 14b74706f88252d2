//! Frames as a station in monitor mode writes them down: a radiotap header, then the MAC header.
//!
//! Radiotap is a de-facto standard (radiotap.org); MAC headers are those of IEEE 802.11-2020 §9.2
//! and §9.3. Frames have no check sequence here, as most drivers take it away.

use crate::frame::{BROADCAST, Frame, FrameKind};
use crate::phy::{self, Rate};
use crate::propagation::Channel;
use ropewalk_units::{Duration, Instant};

/// A frame that was on the air.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sniffed {
    /// When it began at its sender.
    pub at: Instant,
    /// The number of its channel.
    pub channel: u8,
    /// Radiotap and MAC header.
    pub header: Vec<u8>,
    /// Octets behind the MAC header, without the check sequence: of data the LLC header and the
    /// packet.
    pub body: u32,
    /// Is its packet at hand, so that [`ropewalk_sim::Tap::aired`] was told of it? It is not if the
    /// sender repeats a frame whose packet has moved on.
    pub has_packet: bool,
}

/// Who sends a frame to whom: the stations' numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ends {
    pub(crate) from: u32,
    /// None of a broadcast.
    pub(crate) to: Option<u32>,
}

/// Where a frame is sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Air {
    pub(crate) channel: Channel,
    pub(crate) preamble: Preamble,
}

/// Which preamble a frame has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Preamble {
    Long,
    Short,
}

/// The frame with its headers.
pub(crate) fn sniffed(at: Instant, frame: &Frame, ends: Ends, air: Air, has_packet: bool) -> Sniffed {
    let mut header = radiotap(frame.rate, air);
    let mac = mac_header(frame, ends);
    header.extend(&mac);
    let body = frame.octets - phy::FCS - mac.len() as u32;
    Sniffed { at, channel: air.channel.number(), header, body, has_packet }
}

/// Flags, rate and channel.
fn radiotap(rate: Rate, air: Air) -> Vec<u8> {
    const PRESENT: u32 = 1 << 1 | 1 << 2 | 1 << 3;
    const SHORT_PREAMBLE: u8 = 0x02;
    const CCK: u16 = 0x0020;
    const OFDM: u16 = 0x0040;
    const GHZ_2: u16 = 0x0080;
    const GHZ_5: u16 = 0x0100;
    let centre = air.channel.centre_mhz();
    let band = if centre < 5000 { GHZ_2 } else { GHZ_5 };
    let kind = match rate.modulation() {
        phy::Modulation::Dsss => CCK,
        phy::Modulation::Ofdm => OFDM,
    };
    let mut octets = vec![0, 0];
    octets.extend(14u16.to_le_bytes());
    octets.extend(PRESENT.to_le_bytes());
    octets.push(if air.preamble == Preamble::Short { SHORT_PREAMBLE } else { 0 });
    octets.push((rate.tenths_of_mbps() / 5) as u8); // in 500 kbit/s
    octets.extend(centre.to_le_bytes());
    octets.extend((band | kind).to_le_bytes());
    octets
}

fn mac_header(frame: &Frame, ends: Ends) -> Vec<u8> {
    const RETRY: u8 = 0x08;
    // §9.2.4.1.3: type in bits 2 and 3, subtype in bits 4 to 7.
    let kind = match frame.kind {
        FrameKind::Rts => 0xb4,
        FrameKind::Cts => 0xc4,
        FrameKind::Ack => 0xd4,
        FrameKind::Data => 0x08,
    };
    let mut octets = vec![kind, if frame.is_retry { RETRY } else { 0 }];
    octets.extend(duration_field(frame.reserved).to_le_bytes());
    octets.extend(if frame.to == BROADCAST { [0xff; 6] } else { ends.to.map_or([0xff; 6], address) });
    if matches!(frame.kind, FrameKind::Rts | FrameKind::Data) {
        octets.extend(address(ends.from));
    }
    if frame.kind == FrameKind::Data {
        octets.extend(NETWORK);
        octets.extend((frame.sequence << 4).to_le_bytes());
    }
    octets
}

/// Whole microseconds, rounded up (§9.2.4.2).
fn duration_field(reserved: Duration) -> u16 {
    reserved.as_nanos().div_ceil(1000).min(0x7fff) as u16
}

/// The identifier of the ad-hoc network: locally administered, as the stations' addresses.
const NETWORK: [u8; 6] = [0x02, b'r', b'w', 0xff, 0xff, 0xff];

/// A station's address: locally administered, with its number behind.
fn address(station: u32) -> [u8; 6] {
    let [_, high, middle, low] = station.to_be_bytes();
    [0x02, b'r', b'w', high, middle, low]
}

#[cfg(test)]
mod tests;
