//! The header: RFC 2784 §2.1, and its extensions of RFC 2890 §2.

/// Octets of a header as it is written: flags, protocol, key and sequence number.
pub const LEN: usize = 12;

/// There is a checksum (RFC 2784 §2.2).
const CHECKSUM: u16 = 0x8000;
/// There is a key, and a sequence number (RFC 2890 §2).
const KEY: u16 = 0x2000;
const SEQUENCE: u16 = 0x1000;
/// Bits that have to be zero, some of which RFC 1701 uses. A receiver discards packets that have
/// them (RFC 2784 §2.3).
const MUST_BE_ZERO: u16 = 0x4c00;
/// The version (RFC 2784 §2.3.1). It is 0; PPTP has 1 (RFC 2637).
const VERSION: u16 = 0x0007;

/// What is inside: its EtherType (RFC 2784 §2.4, RFC 7676 §3).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Protocol {
    /// An IPv4 packet.
    V4,
    /// An IPv6 packet.
    V6,
}

impl Protocol {
    /// Of a packet. `None`: it is neither.
    pub fn of(packet: &[u8]) -> Option<Self> {
        match packet.first()? >> 4 {
            4 => Some(Self::V4),
            6 => Some(Self::V6),
            _ => None,
        }
    }

    const fn ether_type(self) -> u16 {
        match self {
            Self::V4 => 0x0800,
            Self::V6 => 0x86dd,
        }
    }
}

/// A header with key and sequence number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Header {
    /// What is inside.
    pub protocol: Protocol,
    /// Which tunnel it belongs to.
    pub key: u32,
    /// Its number in the tunnel.
    pub sequence: u32,
}

/// Why octets are no such header.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Malformed {
    /// It ends too early.
    #[error("it is too short")]
    Short,
    /// Bits are set that have to be zero, or the version is another.
    #[error("its flags or its version are not of RFC 2890")]
    Flags,
    /// It has no key, or no sequence number.
    #[error("it has no key, or no sequence number")]
    Bare,
    /// Its checksum is wrong.
    #[error("its checksum is wrong")]
    Checksum,
    /// What is inside is neither IPv4 nor IPv6.
    #[error("what is inside is no IP packet")]
    Protocol,
}

/// RFC 1071's sum, complemented: 0 over octets that hold their checksum.
fn checksum(octets: &[u8]) -> u16 {
    let words =
        octets.chunks(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(pair.get(1).copied().unwrap_or(0)));
    let mut sum = words.fold(0u64, |sum, word| sum + u64::from(word));
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

fn word(octets: &[u8], at: usize) -> Result<u32, Malformed> {
    let word = octets.get(at..).and_then(|rest| rest.first_chunk()).ok_or(Malformed::Short)?;
    Ok(u32::from_be_bytes(*word))
}

impl Header {
    /// As octets.
    pub fn encode(&self) -> [u8; LEN] {
        let mut octets = [0; LEN];
        octets[..2].copy_from_slice(&(KEY | SEQUENCE).to_be_bytes());
        octets[2..4].copy_from_slice(&self.protocol.ether_type().to_be_bytes());
        octets[4..8].copy_from_slice(&self.key.to_be_bytes());
        octets[8..].copy_from_slice(&self.sequence.to_be_bytes());
        octets
    }

    /// Reads a header. Returns it and what follows. Checks the checksum if there is one. Never
    /// panics.
    ///
    /// # Errors
    /// [`Malformed`]
    pub fn decode(octets: &[u8]) -> Result<(Self, &[u8]), Malformed> {
        let first = word(octets, 0)?;
        let (flags, ether_type) = ((first >> 16) as u16, first as u16);
        if flags & (MUST_BE_ZERO | VERSION) != 0 {
            return Err(Malformed::Flags);
        }
        if flags & (KEY | SEQUENCE) != KEY | SEQUENCE {
            return Err(Malformed::Bare);
        }
        let mut at = 4;
        if flags & CHECKSUM != 0 {
            word(octets, at)?;
            at += 4;
            if checksum(octets) != 0 {
                return Err(Malformed::Checksum);
            }
        }
        let (key, sequence) = (word(octets, at)?, word(octets, at + 4)?);
        let known = [Protocol::V4, Protocol::V6].into_iter().find(|known| known.ether_type() == ether_type);
        let inside = &octets[at + 8..];
        let protocol =
            known.filter(|known| Protocol::of(inside) == Some(*known)).ok_or(Malformed::Protocol)?;
        Ok((Self { protocol, key, sequence }, inside))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const PACKET: [u8; 20] = [0x45, 0, 0, 20, 0, 0, 0, 0, 64, 59, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];

    fn header() -> Header {
        Header { protocol: Protocol::V4, key: 0x0102_0304, sequence: 0xa0b0_c0d0 }
    }

    fn whole(header: &[u8]) -> Vec<u8> {
        [header, &PACKET].concat()
    }

    /// The layout of RFC 2890 §2: flags K and S, the EtherType, the key, the sequence number.
    #[test]
    fn its_octets_are_those_of_rfc_2890() {
        let octets = header().encode();
        assert_eq!(octets, [0x30, 0, 8, 0, 1, 2, 3, 4, 0xa0, 0xb0, 0xc0, 0xd0]);
        assert_eq!(Header::decode(&whole(&octets)), Ok((header(), &PACKET[..])));
        let v6 = Header { protocol: Protocol::V6, ..header() };
        assert_eq!(v6.encode()[2..4], [0x86, 0xdd]);
    }

    #[test]
    fn a_checksum_is_looked_at() {
        let mut octets = whole(&[0xb0, 0, 8, 0, 0, 0, 0, 0, 1, 2, 3, 4, 0, 0, 0, 9]);
        let sum = checksum(&octets).to_be_bytes();
        octets[4..6].copy_from_slice(&sum);
        assert_eq!(Header::decode(&octets).map(|(header, _)| header.sequence), Ok(9));
        octets[30] ^= 1;
        assert_eq!(Header::decode(&octets), Err(Malformed::Checksum));
    }

    #[test]
    fn what_is_of_another_kind_is_discarded() {
        let with = |place: usize, value: u8| {
            let mut octets = whole(&header().encode());
            octets[place] = value;
            Header::decode(&octets).map(|(header, _)| header)
        };
        assert_eq!(with(1, 1), Err(Malformed::Flags), "PPTP");
        assert_eq!(with(0, 0x70), Err(Malformed::Flags), "routing, of RFC 1701");
        assert_eq!(with(0, 0x20), Err(Malformed::Bare));
        assert_eq!(with(3, 6), Err(Malformed::Protocol), "ARP");
        assert_eq!(with(12, 0x60), Err(Malformed::Protocol), "it says IPv4, and is IPv6");
        assert_eq!(Header::decode(&header().encode()), Err(Malformed::Protocol), "nothing is inside");
        assert_eq!(Header::decode(&header().encode()[..11]), Err(Malformed::Short));
    }

    proptest! {
        #[test]
        fn no_octets_make_it_panic(octets in prop::collection::vec(any::<u8>(), 0..64)) {
            if let Ok((header, inside)) = Header::decode(&octets) {
                prop_assert!(Protocol::of(inside) == Some(header.protocol));
            }
        }
    }
}
