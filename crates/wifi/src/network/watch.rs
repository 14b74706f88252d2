//! Writing down what is on the air.

use super::Network;
use crate::config::StationId;
use crate::engine::Engine;
use crate::frame::{BROADCAST, Frame, FrameKind};
use crate::monitor::{Collision, FrameRecord};
use crate::phy::{Rate, Standard};
use crate::sniff::{self, Sniffed};
use ropewalk_sim::PacketId;
use ropewalk_units::{Duration, Instant};

impl Network {
    /// From now on writes every frame down, for [`Self::take_frames`].
    pub fn watch(&mut self) {
        self.frames.get_or_insert_default();
    }

    /// The frames written down so far, in the order they began, and stops writing. Frames still on
    /// the air are among them; who will have decoded those is not known.
    pub fn take_frames(&mut self) -> Vec<FrameRecord> {
        self.frames.take().unwrap_or_default()
    }

    /// From now on writes collisions down, for [`Self::drain_collisions`].
    pub fn watch_collisions(&mut self) {
        self.collisions.get_or_insert_default();
    }

    /// The collisions since the last call, by time.
    pub fn drain_collisions(&mut self) -> impl Iterator<Item = Collision> {
        self.collisions.iter_mut().flat_map(|collisions| collisions.drain(..))
    }

    /// From now on writes every frame down for [`Self::drain_sniffed`], and tells the tap of the
    /// packets in them.
    pub fn sniff(&mut self) {
        self.sniffed.get_or_insert_default();
    }

    /// The frames since the last call, in the order they began. The tap was told of the packets of
    /// those that have one, in this order.
    pub fn drain_sniffed(&mut self) -> impl Iterator<Item = Sniffed> {
        self.sniffed.iter_mut().flat_map(|sniffed| sniffed.drain(..))
    }

    /// A frame begins, with this packet if it is at hand.
    #[inline]
    pub(super) fn note_sniffed(
        &mut self,
        cx: &mut impl Engine,
        index: u32,
        frame: &Frame,
        packet: Option<PacketId>,
    ) {
        let Some(sniffed) = &mut self.sniffed else { return };
        let packet = packet.filter(|_| frame.kind == FrameKind::Data);
        if let Some(packet) = packet {
            cx.aired(packet);
        }
        let radio = &self.radios[index as usize];
        let to = (frame.to != BROADCAST).then(|| self.radios[frame.to as usize].station);
        let ends = sniff::Ends { from: radio.station, to };
        let preamble = match radio.mac.standard {
            Standard::Dsss { short_preamble: true } if frame.rate != Rate::Mbps1 => sniff::Preamble::Short,
            _ => sniff::Preamble::Long,
        };
        let air = sniff::Air { channel: radio.channel, preamble };
        sniffed.push(sniff::sniffed(cx.now(), frame, ends, air, packet.is_some()));
    }

    /// A radio has lost the frame of this transmission to others.
    #[inline]
    pub(super) fn note_collision(&mut self, at: Instant, slot: u32, index: u32) {
        let Some(collisions) = &mut self.collisions else { return };
        let transmission = self.air.get(slot);
        let radio = &self.radios[index as usize];
        collisions.push(Collision {
            at,
            station: StationId(radio.station),
            channel: radio.channel.number(),
            from: StationId(self.radios[transmission.radio as usize].station),
            kind: transmission.frame.kind,
            is_addressed: transmission.frame.to == index,
        });
    }

    /// A frame begins. Returns its place in the record.
    #[inline]
    pub(super) fn note(&mut self, now: Instant, index: u32, frame: Frame, duration: Duration) -> u32 {
        let Some(frames) = &mut self.frames else { return u32::MAX };
        let radio = &self.radios[index as usize];
        let to = (frame.to != BROADCAST).then(|| StationId(self.radios[frame.to as usize].station));
        frames.push(FrameRecord {
            begin: now,
            end: now + duration,
            from: StationId(radio.station),
            channel: radio.channel.number(),
            to,
            kind: frame.kind,
            rate: frame.rate,
            octets: frame.octets,
            reserved: frame.reserved,
            is_retry: frame.is_retry,
            decoded_by: Vec::new(),
        });
        frames.len() as u32 - 1
    }

    /// A radio has decoded a frame.
    #[inline]
    pub(super) fn note_reception(&mut self, slot: u32, index: u32) {
        if let Some(frames) = &mut self.frames
            && let Some(record) = frames.get_mut(self.air.get(slot).record as usize)
        {
            record.decoded_by.push(StationId(self.radios[index as usize].station));
        }
    }
}
