//! The four datagrams of the protocol, as octets: `docs/gateway-protocol.md` draws them.

use ropewalk_bonding::{MAX_PATHS, PathId};

/// Version of the outer format: upper half of the first octet.
pub const VERSION: u8 = 1;

const INITIATION: u8 = 1;
const RESPONSE: u8 = 2;
const COOKIE: u8 = 3;
/// The first of eight kinds: the lower three bits are the path.
const TRANSPORT: u8 = 8;
const TRANSPORT_PATH: u8 = 7;
const _: () = assert!(MAX_PATHS == TRANSPORT_PATH as usize + 1);

/// Bits of a session's name.
pub const NAME_BITS: u32 = 16;
/// Octets of an authenticator.
pub const MAC: usize = 16;
/// Octets of a public key.
pub const KEY: usize = 32;
/// Octets before what is sealed.
pub const TRANSPORT_HEADER: usize = 6;
/// Octets that sealing appends.
pub const TAG: usize = 16;
/// Octets that a session adds to a datagram: header and tag.
pub const OVERHEAD: usize = TRANSPORT_HEADER + TAG;
/// Octets of an initiation beside its Noise message.
pub const INITIATION_FIXED: usize = 8 + 2 * MAC;
/// The shortest Noise message of an initiation: two keys, one of them sealed, and an empty payload.
const INITIATION_NOISE: usize = KEY + KEY + TAG + TAG;
/// Octets of a response before its Noise message.
pub const RESPONSE_HEADER: usize = 12;
/// Octets of a cookie.
pub const COOKIE_LEN: usize = 16;
/// Octets of a cookie's nonce.
pub const COOKIE_NONCE: usize = 24;
const COOKIE_TOTAL: usize = 8 + COOKIE_NONCE + COOKIE_LEN + TAG;
/// The longest handshake datagram.
pub const LONGEST_HANDSHAKE: usize = 1200;

/// A datagram by its kind. Nothing of it is authenticated yet.
#[derive(Debug)]
pub enum Message<'a> {
    /// A site asks for a session.
    Initiation(Initiation<'a>),
    /// The hub's answer.
    Response(Response<'a>),
    /// The hub is busy: the site has to show that it receives at its address.
    Cookie(Cookie<'a>),
    /// A sealed datagram.
    Transport(Transport),
}

/// A site's first message.
#[derive(Clone, Copy, Debug)]
pub struct Initiation<'a> {
    /// The whole datagram.
    pub whole: &'a [u8],
    /// How the site names the session.
    pub sender: u32,
    /// The Noise message.
    pub noise: &'a [u8],
}

/// The hub's answer.
#[derive(Clone, Copy, Debug)]
pub struct Response<'a> {
    /// How the hub names the session.
    pub sender: u32,
    /// How the site names it.
    pub receiver: u32,
    /// The Noise message.
    pub noise: &'a [u8],
}

/// A sealed cookie.
#[derive(Clone, Copy, Debug)]
pub struct Cookie<'a> {
    /// How the site names the session that it asked for.
    pub receiver: u32,
    /// The nonce from which the sealing key is derived.
    pub nonce: &'a [u8; COOKIE_NONCE],
    /// The cookie and its tag.
    pub sealed: &'a [u8],
}

/// The header of a sealed datagram.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Transport {
    /// The path it was sent on.
    pub path: PathId,
    /// How the receiver names the session, below 2¹⁶.
    pub receiver: u32,
    /// The datagram's number on the path under these keys, from 0, below 2²⁴.
    pub counter: u32,
}

/// Why octets are no datagram of the protocol.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Malformed {
    /// Fewer octets than the kind has, or more.
    Length,
    /// A version that is not spoken here.
    Version(u8),
    /// No kind that is known.
    Kind(u8),
}

/// The number in three octets.
fn u24_at(octets: &[u8], place: usize) -> u32 {
    octets[place..].first_chunk().map_or(0, |&[high, middle, low]| u32::from_be_bytes([0, high, middle, low]))
}

/// A number's three lower octets.
const fn u24(number: u32) -> [u8; 3] {
    let [_, high, middle, low] = number.to_be_bytes();
    [high, middle, low]
}

/// A session's name.
fn name_at(octets: &[u8], place: usize) -> u32 {
    octets[place..].first_chunk().map_or(0, |&name| u16::from_be_bytes(name).into())
}

/// A session's name in a handshake. Older versions have longer ones, and get them back.
fn long_name_at(octets: &[u8], place: usize) -> u32 {
    octets[place..].first_chunk().map_or(0, |&name| u32::from_be_bytes(name))
}

impl<'a> Message<'a> {
    /// Reads a datagram. Never panics.
    ///
    /// # Errors
    /// [`Malformed`]
    pub fn read(octets: &'a [u8]) -> Result<Self, Malformed> {
        let first = *octets.first().ok_or(Malformed::Length)?;
        if first >> 4 != VERSION {
            return Err(Malformed::Version(first >> 4));
        }
        let holds = |least: usize, most: usize| {
            if (least..=most).contains(&octets.len()) { Ok(()) } else { Err(Malformed::Length) }
        };
        match first & 0xf {
            INITIATION => {
                holds(INITIATION_FIXED + INITIATION_NOISE, LONGEST_HANDSHAKE)?;
                let noise = &octets[8..octets.len() - 2 * MAC];
                Ok(Self::Initiation(Initiation { whole: octets, sender: long_name_at(octets, 4), noise }))
            }
            RESPONSE => {
                holds(RESPONSE_HEADER + KEY + TAG, LONGEST_HANDSHAKE)?;
                let (sender, receiver) = (long_name_at(octets, 4), long_name_at(octets, 8));
                Ok(Self::Response(Response { sender, receiver, noise: &octets[RESPONSE_HEADER..] }))
            }
            COOKIE => {
                holds(COOKIE_TOTAL, COOKIE_TOTAL)?;
                let (nonce, sealed) = octets[8..].split_first_chunk().ok_or(Malformed::Length)?;
                Ok(Self::Cookie(Cookie { receiver: long_name_at(octets, 4), nonce, sealed }))
            }
            kind if kind & !TRANSPORT_PATH == TRANSPORT => {
                holds(OVERHEAD, usize::MAX)?;
                Ok(Self::Transport(Transport::decode(octets)))
            }
            kind => Err(Malformed::Kind(kind)),
        }
    }
}

impl Initiation<'_> {
    /// What the first authenticator covers, and the authenticator.
    pub fn first_mac(&self) -> (&[u8], &[u8]) {
        let at = self.whole.len() - 2 * MAC;
        (&self.whole[..at], &self.whole[at..at + MAC])
    }

    /// What the second authenticator covers, and the authenticator.
    pub fn second_mac(&self) -> (&[u8], &[u8]) {
        self.whole.split_at(self.whole.len() - MAC)
    }

    /// The site's ephemeral key: it begins the Noise message.
    pub fn ephemeral(&self) -> [u8; KEY] {
        *self.noise.first_chunk().expect("a Noise message begins with a key")
    }
}

impl Transport {
    fn decode(octets: &[u8]) -> Self {
        let path = octets.first().map_or(0, |first| first & TRANSPORT_PATH);
        Self { path: PathId(path), receiver: name_at(octets, 1), counter: u24_at(octets, 3) }
    }

    /// As octets.
    pub fn encode(&self) -> [u8; TRANSPORT_HEADER] {
        let mut octets = [0; TRANSPORT_HEADER];
        octets[0] = VERSION << 4 | TRANSPORT | self.path.0;
        octets[1..3].copy_from_slice(&(self.receiver as u16).to_be_bytes());
        octets[3..].copy_from_slice(&u24(self.counter));
        octets
    }
}

/// An initiation without its authenticators.
pub fn initiation(sender: u32, noise: &[u8]) -> Vec<u8> {
    let mut octets = vec![VERSION << 4 | INITIATION, 0, 0, 0];
    octets.extend_from_slice(&sender.to_be_bytes());
    octets.extend_from_slice(noise);
    octets
}

/// A response.
pub fn response(sender: u32, receiver: u32, noise: &[u8]) -> Vec<u8> {
    let mut octets = vec![VERSION << 4 | RESPONSE, 0, 0, 0];
    octets.extend_from_slice(&sender.to_be_bytes());
    octets.extend_from_slice(&receiver.to_be_bytes());
    octets.extend_from_slice(noise);
    octets
}

/// Appends a sealed cookie to `out`.
pub fn cookie(receiver: u32, nonce: &[u8; COOKIE_NONCE], sealed: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(&[VERSION << 4 | COOKIE, 0, 0, 0]);
    out.extend_from_slice(&receiver.to_be_bytes());
    out.extend_from_slice(nonce);
    out.extend_from_slice(sealed);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_header_is_these_octets() {
        let header = Transport { path: PathId(2), receiver: 0x0102, counter: 0x0a_0b0c };
        let octets = [0x1a, 1, 2, 0x0a, 0x0b, 0x0c];
        assert_eq!(header.encode(), octets);
        let mut datagram = octets.to_vec();
        datagram.resize(OVERHEAD, 0);
        assert!(matches!(Message::read(&datagram), Ok(Message::Transport(read)) if read == header));
    }

    /// A site of an older version takes the answer for its own only then, and hears of the version.
    #[test]
    fn a_longer_name_is_given_back_as_it_came() {
        let question = initiation(0x01_0203, &[0; INITIATION_NOISE]);
        let question = [&question[..], &[0; 2 * MAC]].concat();
        let Ok(Message::Initiation(Initiation { sender, .. })) = Message::read(&question) else {
            panic!("it is an initiation")
        };
        assert_eq!(response(4, sender, &[])[8..12], [0, 1, 2, 3]);
    }

    #[test]
    fn other_versions_kinds_and_lengths_are_refused() {
        assert_eq!(Message::read(&[]).unwrap_err(), Malformed::Length);
        assert_eq!(Message::read(&[0x24; 64]).unwrap_err(), Malformed::Version(2));
        assert_eq!(Message::read(&[0x14; 64]).unwrap_err(), Malformed::Kind(4));
        assert_eq!(Message::read(&[0x18; OVERHEAD - 1]).unwrap_err(), Malformed::Length);
        assert_eq!(Message::read(&[0x13; COOKIE_TOTAL + 1]).unwrap_err(), Malformed::Length);
        assert_eq!(Message::read(&[0x11; LONGEST_HANDSHAKE + 1]).unwrap_err(), Malformed::Length);
    }

    proptest! {
        #[test]
        fn no_octets_make_it_panic(kind in 0u8..16, mut octets in prop::collection::vec(any::<u8>(), 0..1300)) {
            if let Some(first) = octets.first_mut() {
                *first = VERSION << 4 | kind;
            }
            if let Ok(Message::Initiation(initiation)) = Message::read(&octets) {
                let ((covered, first), (all, second)) = (initiation.first_mac(), initiation.second_mac());
                prop_assert_eq!(covered.len() + 2 * MAC, octets.len());
                prop_assert_eq!((first.len(), second.len(), all.len() + MAC), (MAC, MAC, octets.len()));
                let _ = initiation.ephemeral();
            }
        }
    }
}
