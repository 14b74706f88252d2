//! Datagrams as octets, with a tag that only the two gateways can make. It stands for the daemon's
//! AEAD.

use super::Packet;
use ropewalk_adversary::{Random, Source};
use ropewalk_bonding::{Control, DataHeader, Datagram};

/// Octets of the tag.
const TAG: usize = 8;

/// A key.
#[derive(Clone, Copy)]
pub(crate) struct Key(pub(crate) u64);

impl Key {
    /// A keyed hash of 64 bits. The attackers of these tests draw tags at random, and can do no
    /// better.
    fn tag(self, octets: &[u8]) -> [u8; TAG] {
        let mix = |hash: u64, octet: &u8| Random::new(hash ^ u64::from(*octet)).next();
        octets.iter().fold(self.0 ^ octets.len() as u64, mix).to_be_bytes()
    }

    /// As octets, sealed.
    pub(crate) fn seal(self, datagram: &Datagram<Packet>) -> Vec<u8> {
        let mut octets = Vec::new();
        match datagram {
            Datagram::Data(header, packet) => {
                octets.extend(header.encode());
                octets.extend(packet.flow.to_be_bytes());
                octets.extend(packet.number.to_be_bytes());
            }
            Datagram::Control(control) => control.encode(&mut octets),
        }
        let tag = self.tag(&octets);
        octets.extend(tag);
        octets
    }

    /// The datagram, if it was sealed by the same key.
    pub(crate) fn open(self, octets: &[u8]) -> Option<Datagram<Packet>> {
        let (octets, tag) = octets.split_last_chunk::<TAG>()?;
        (self.tag(octets) == *tag).then(|| decode(octets)).flatten()
    }
}

/// Reads a datagram from octets without a seal.
pub(crate) fn decode(octets: &[u8]) -> Option<Datagram<Packet>> {
    if let Ok(control) = Control::decode(octets) {
        return Some(Datagram::Control(control));
    }
    let header = DataHeader::decode(octets).ok()?;
    let (packet, _) = octets.get(DataHeader::LEN as usize..)?.split_first_chunk::<8>()?;
    let [flow, number] = [0, 4].map(|at| u32::from_be_bytes([0, 1, 2, 3].map(|place| packet[at + place])));
    Some(Datagram::Data(header, Packet { flow, number }))
}
