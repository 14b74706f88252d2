//! Captures of the air: the frames of each channel, with radiotap headers.

use super::Capture;
use crate::plan::WifiPlan;
use ropewalk_units::Instant;
use ropewalk_wifi::Sniffed;
use ropewalk_wire::pcapng::{Captured, InterfaceId, LinkType};
use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::path::{Path, PathBuf};

/// The LLC and SNAP header before an IP packet in a data frame (IEEE 802.2, RFC 1042), without its type.
const LLC: [u8; 6] = [0xaa, 0xaa, 0x03, 0, 0, 0];
const ETHERTYPE_IPV4: u16 = 0x0800;
const ETHERTYPE_IPV6: u16 = 0x86dd;

/// A file for each channel.
#[derive(Debug)]
pub(super) struct AirCapture {
    files: BTreeMap<u8, (Capture, InterfaceId)>,
    /// Packets of frames that have begun and are not written yet.
    aired: VecDeque<Vec<u8>>,
}

impl AirCapture {
    /// Opens the files of the network's channels.
    pub(super) fn create(plan: &WifiPlan, folder: &Path, snap_length: u32) -> io::Result<Self> {
        let mut files = BTreeMap::new();
        let radios = plan.scene.stations.iter().flat_map(|station| &station.radios);
        for channel in radios.map(|radio| radio.channel) {
            if files.contains_key(&channel) {
                continue;
            }
            let name = format!("air-channel-{channel}");
            let mut capture = Capture::create(folder, &name, snap_length)?;
            let interface = capture.writer.add_interface_of(LinkType::Radiotap, &name, "")?;
            files.insert(channel, (capture, interface));
        }
        Ok(Self { files, aired: VecDeque::new() })
    }

    /// A frame with this packet has begun.
    pub(super) fn air(&mut self, packet: Vec<u8>) {
        self.aired.push_back(packet);
    }

    /// Writes frames in the order they began.
    pub(super) fn write(&mut self, frames: Vec<Sniffed>) -> io::Result<()> {
        for frame in frames {
            let len = frame.header.len() as u32 + frame.body;
            let mut octets = frame.header;
            if frame.has_packet {
                let packet = self.aired.pop_front().unwrap_or_default();
                octets.extend(LLC);
                octets.extend(ether_type(&packet).to_be_bytes());
                octets.extend(packet);
            }
            let Some((capture, interface)) = self.files.get_mut(&frame.channel) else { continue };
            let comment = match frame.has_packet || frame.body == 0 {
                true => "",
                false => "repeated: its packet has moved on",
            };
            let at: Instant = frame.at;
            capture.writer.part(*interface, at, Captured { octets: &octets, len }, comment)?;
        }
        Ok(())
    }

    /// The files, to be completed.
    pub(super) fn into_captures(self) -> impl Iterator<Item = Capture> {
        self.files.into_values().map(|(capture, _)| capture)
    }

    /// The files as long as they are incomplete.
    pub(super) fn partial_paths(&self) -> impl Iterator<Item = PathBuf> {
        self.files.values().map(|(capture, _)| capture.partial())
    }
}

fn ether_type(packet: &[u8]) -> u16 {
    match packet.first().map(|first| first >> 4) {
        Some(6) => ETHERTYPE_IPV6,
        _ => ETHERTYPE_IPV4,
    }
}
