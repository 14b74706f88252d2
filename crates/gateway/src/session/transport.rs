//! A session's keys in use: every datagram is sealed, with a counter for each path.

use super::message::{self, OVERHEAD, TRANSPORT_HEADER};
use super::noise::Split;
use super::replay::ReplayWindow;
use ring::aead::{AES_256_GCM, Aad, Algorithm, CHACHA20_POLY1305, LessSafeKey, Nonce, UnboundKey};
use ropewalk_bonding::{MAX_PATHS, PathId};
use ropewalk_units::{Duration, Instant};

/// A site asks for new keys when it has had these for this long: WireGuard's Rekey-After-Time (its
/// paper, §6.1).
pub const REKEY_AFTER: Duration = Duration::from_secs(120);
/// Keys older than this open and seal nothing: WireGuard's Reject-After-Time.
pub const REJECT_AFTER: Duration = Duration::from_secs(180);
/// A site asks for new keys when one end has sealed this many datagrams: the limit of AES-GCM
/// (RFC 9001 §6.6).
pub const REKEY_AFTER_DATAGRAMS: u64 = 1 << 23;
/// A key that has sealed this many datagrams seals nothing more. What its counters show to be
/// beyond that is not opened, as with WireGuard's Reject-After-Messages.
pub const REJECT_AFTER_DATAGRAMS: u64 = 1 << 24;

/// Bits of a counter in the nonce. The octet above them is the path.
const COUNTER_BITS: u32 = 56;
// The header has three octets for a counter.
const _: () = assert!(REJECT_AFTER_DATAGRAMS <= 1 << 24);

/// Which end this is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// It asked.
    Site,
    /// It answered.
    Hub,
}

/// The algorithm that seals.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cipher {
    /// AES-256-GCM.
    Aes,
    /// ChaCha20-Poly1305.
    ChaCha,
}

impl Cipher {
    fn algorithm(self) -> &'static Algorithm {
        match self {
            Self::Aes => &AES_256_GCM,
            Self::ChaCha => &CHACHA20_POLY1305,
        }
    }
}

/// Why a sealed datagram is not taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unopened {
    /// It is not authentic.
    Forged,
    /// It came before, or is too old to tell.
    Replayed,
    /// The keys are too old, or have sealed too much.
    Expired,
}

/// What was opened.
#[derive(Debug, PartialEq, Eq)]
pub struct Opened<'a> {
    /// The path it came by.
    pub path: PathId,
    /// Nothing that was sent later on this path has come before it.
    pub is_newest: bool,
    /// What was sealed.
    pub plain: &'a [u8],
}

/// A session's two keys, and the counters of what was sealed and opened with them.
pub struct Transport {
    seal: LessSafeKey,
    open: LessSafeKey,
    /// This end's name of the session.
    pub local: u32,
    /// The other end's name of it.
    remote: u32,
    born: Instant,
    sent: [u32; MAX_PATHS],
    sealed: u64,
    /// How many datagrams the other end has sealed at least, as their counters show.
    sealed_there: u64,
    seen: [ReplayWindow; MAX_PATHS],
}

/// How both ends name a session.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Names {
    /// This end's name.
    pub local: u32,
    /// The other end's name.
    pub remote: u32,
}

fn nonce(path: PathId, counter: u32) -> Nonce {
    let number = u64::from(path.0) << COUNTER_BITS | u64::from(counter);
    let mut octets = [0; 12];
    octets[4..].copy_from_slice(&number.to_be_bytes());
    Nonce::assume_unique_for_key(octets)
}

impl Transport {
    /// From a handshake's keys.
    pub fn new(split: &Split, end: End, cipher: Cipher, names: Names, now: Instant) -> Self {
        let key = |octets: &[u8; 32]| {
            LessSafeKey::new(UnboundKey::new(cipher.algorithm(), octets).expect("32 octets"))
        };
        let (to_hub, to_site) = (key(&split.to_hub), key(&split.to_site));
        let (seal, open) = match end {
            End::Site => (to_hub, to_site),
            End::Hub => (to_site, to_hub),
        };
        Self {
            seal,
            open,
            local: names.local,
            remote: names.remote,
            born: now,
            sent: [0; MAX_PATHS],
            sealed: 0,
            sealed_there: 0,
            seen: Default::default(),
        }
    }

    /// Is it time for new keys?
    pub fn is_due(&self, now: Instant) -> bool {
        self.sealed.max(self.sealed_there) >= REKEY_AFTER_DATAGRAMS || now >= self.due_at()
    }

    /// When it is time for new keys at the latest.
    pub fn due_at(&self) -> Instant {
        self.born + REKEY_AFTER
    }

    /// From this time on it opens and seals nothing.
    pub fn ends_at(&self) -> Instant {
        self.born + REJECT_AFTER
    }

    /// May it still seal?
    pub fn is_alive(&self, now: Instant) -> bool {
        now < self.ends_at() && self.sealed < REJECT_AFTER_DATAGRAMS
    }

    /// Seals `datagram`, whose first [`TRANSPORT_HEADER`] octets are left free for the header.
    /// Returns whether it did so: it does not if the keys are too old or have sealed too much.
    #[must_use]
    pub fn seal(&mut self, now: Instant, path: PathId, datagram: &mut Vec<u8>) -> bool {
        if !self.is_alive(now) {
            return false;
        }
        let counter = self.sent[path.index()];
        self.sent[path.index()] += 1;
        self.sealed += 1;
        let header = message::Transport { path, receiver: self.remote, counter }.encode();
        let (head, plain) = datagram.split_at_mut(TRANSPORT_HEADER);
        head.copy_from_slice(&header);
        let tag = self.seal.seal_in_place_separate_tag(nonce(path, counter), Aad::from(header), plain);
        datagram.extend_from_slice(tag.expect("no datagram is too long").as_ref());
        true
    }

    /// Opens a datagram with this header, in place.
    ///
    /// # Errors
    /// [`Unopened`]. Then nothing has changed but the octets of `datagram`.
    pub fn open<'a>(
        &mut self,
        now: Instant,
        header: message::Transport,
        datagram: &'a mut [u8],
    ) -> Result<Opened<'a>, Unopened> {
        let seen = &mut self.seen[header.path.index()];
        let counter = u64::from(header.counter);
        if now >= self.born + REJECT_AFTER {
            return Err(Unopened::Expired);
        }
        if datagram.len() < OVERHEAD {
            return Err(Unopened::Forged);
        }
        if !seen.is_new(counter) {
            return Err(Unopened::Replayed);
        }
        let (head, sealed) = datagram.split_at_mut(TRANSPORT_HEADER);
        let head = Aad::from(&*head);
        let plain = self.open.open_in_place(nonce(header.path, header.counter), head, sealed);
        let plain = plain.map_err(|_| Unopened::Forged)?;
        let sealed_there = self.sealed_there + (counter + 1).saturating_sub(seen.next());
        if sealed_there > REJECT_AFTER_DATAGRAMS {
            return Err(Unopened::Expired);
        }
        self.sealed_there = sealed_there;
        Ok(Opened { path: header.path, is_newest: seen.note(counter), plain })
    }
}

#[cfg(test)]
mod tests {
    use super::super::message::Message;
    use super::*;
    use proptest::prelude::*;
    use zeroize::Zeroizing;

    fn pair(cipher: Cipher) -> (Transport, Transport) {
        let split = Split { to_hub: Zeroizing::new([1; 32]), to_site: Zeroizing::new([2; 32]) };
        let names = |local, remote| Names { local, remote };
        let site = Transport::new(&split, End::Site, cipher, names(10, 20), Instant::ZERO);
        let hub = Transport::new(&split, End::Hub, cipher, names(20, 10), Instant::ZERO);
        (site, hub)
    }

    fn sealed(transport: &mut Transport, path: u8, plain: &[u8]) -> Vec<u8> {
        let mut datagram = vec![0; TRANSPORT_HEADER];
        datagram.extend_from_slice(plain);
        assert!(transport.seal(Instant::ZERO, PathId(path), &mut datagram));
        datagram
    }

    fn open(transport: &mut Transport, datagram: &[u8]) -> Result<(PathId, bool, Vec<u8>), Unopened> {
        let Ok(Message::Transport(header)) = Message::read(datagram) else { return Err(Unopened::Forged) };
        let mut datagram = datagram.to_vec();
        let opened = transport.open(Instant::ZERO, header, &mut datagram)?;
        Ok((opened.path, opened.is_newest, opened.plain.to_vec()))
    }

    #[test]
    fn what_one_end_seals_the_other_opens_once() {
        for cipher in [Cipher::Aes, Cipher::ChaCha] {
            let (mut site, mut hub) = pair(cipher);
            let first = sealed(&mut site, 1, b"first");
            let second = sealed(&mut site, 1, b"second");
            assert_eq!(open(&mut hub, &second), Ok((PathId(1), true, b"second".to_vec())));
            assert_eq!(open(&mut hub, &first), Ok((PathId(1), false, b"first".to_vec())));
            assert_eq!(open(&mut hub, &first), Err(Unopened::Replayed));
            let back = sealed(&mut hub, 1, b"back");
            assert_eq!(open(&mut site, &back), Ok((PathId(1), true, b"back".to_vec())));
            assert!(open(&mut hub, &back).is_err(), "nobody opens its own");
        }
    }

    #[test]
    fn paths_do_not_share_nonces() {
        let (mut site, _) = pair(Cipher::ChaCha);
        let (one, two) = (sealed(&mut site, 0, &[0; 64]), sealed(&mut site, 1, &[0; 64]));
        assert_ne!(one[TRANSPORT_HEADER..], two[TRANSPORT_HEADER..]);
    }

    #[test]
    fn any_changed_octet_is_noticed_and_changes_nothing() {
        let (mut site, mut hub) = pair(Cipher::Aes);
        let datagram = sealed(&mut site, 0, b"something");
        for place in 0..datagram.len() {
            let mut changed = datagram.clone();
            changed[place] ^= 0x80;
            // The tag covers the whole header, also the name of the session, which is not looked at
            // here.
            assert!(open(&mut hub, &changed).is_err(), "octet {place}");
        }
        assert!(open(&mut hub, &datagram).is_ok());
    }

    #[test]
    fn old_keys_open_nothing() {
        let (mut site, mut hub) = pair(Cipher::Aes);
        let mut datagram = sealed(&mut site, 0, b"late");
        let Ok(Message::Transport(header)) = Message::read(&datagram) else { panic!("it is sealed") };
        let late = Instant::ZERO + REJECT_AFTER;
        assert_eq!(hub.open(late, header, &mut datagram), Err(Unopened::Expired));
    }

    #[test]
    fn old_keys_seal_nothing() {
        let (mut site, _) = pair(Cipher::Aes);
        let mut datagram = vec![0; TRANSPORT_HEADER];
        assert!(!site.seal(Instant::ZERO + REJECT_AFTER, PathId(0), &mut datagram));
        assert_eq!(datagram, [0; TRANSPORT_HEADER]);
    }

    #[test]
    fn a_key_seals_and_opens_no_more_datagrams_than_it_may() {
        let (mut site, mut hub) = pair(Cipher::Aes);
        let before = sealed(&mut site, 1, b"before");
        // As if the rest but one had gone by path 0.
        (site.sent[0], site.sealed) = (REJECT_AFTER_DATAGRAMS as u32 - 2, REJECT_AFTER_DATAGRAMS - 1);
        let last = sealed(&mut site, 0, b"last");
        assert!(!site.seal(Instant::ZERO, PathId(0), &mut vec![0; TRANSPORT_HEADER]));
        assert_eq!(u64::from(site.sent[0]), REJECT_AFTER_DATAGRAMS - 1, "no counter was used");
        // As an end would that does not count.
        site.sealed = 0;
        let beyond = [sealed(&mut site, 0, b"beyond"), sealed(&mut site, 1, b"beyond")];
        assert!(open(&mut hub, &last).is_ok());
        assert!(open(&mut hub, &before).is_ok(), "what is late counts no other datagram");
        for beyond in beyond {
            assert_eq!(open(&mut hub, &beyond), Err(Unopened::Expired));
        }
    }

    #[test]
    fn new_keys_are_due_when_either_end_has_sealed_much() {
        let (mut site, mut hub) = pair(Cipher::Aes);
        hub.sent[2] = REKEY_AFTER_DATAGRAMS as u32 - 2;
        for is_due in [false, true] {
            let datagram = sealed(&mut hub, 2, b"down");
            assert!(open(&mut site, &datagram).is_ok());
            assert_eq!(site.is_due(Instant::ZERO), is_due);
        }
        let (mut site, _) = pair(Cipher::Aes);
        site.sealed = REKEY_AFTER_DATAGRAMS;
        assert!(site.is_due(Instant::ZERO));
    }

    proptest! {
        /// Under loss, reordering, replay, truncation and noise, what is opened was sealed, and is
        /// opened once.
        #[test]
        fn nothing_is_invented_and_nothing_comes_twice(
            operations in prop::collection::vec((0u8..6, any::<u8>(), any::<u16>()), 1..200)
        ) {
            let (mut site, mut hub) = pair(Cipher::ChaCha);
            let (mut wire, mut number, mut taken) = (Vec::new(), 0u32, std::collections::BTreeSet::new());
            for (operation, path, choice) in operations {
                let path = path % MAX_PATHS as u8;
                if operation < 2 || wire.is_empty() {
                    wire.push(sealed(&mut site, path, &number.to_be_bytes()));
                    number += 1;
                    continue;
                }
                let mut datagram: Vec<u8> = wire[usize::from(choice) % wire.len()].clone();
                match operation {
                    3 => datagram.truncate(usize::from(path) * 3),
                    4 => {
                        let place = usize::from(choice) % datagram.len();
                        datagram[place] ^= path + 1;
                    }
                    _ => {}
                }
                if let Ok((_, _, plain)) = open(&mut hub, &datagram) {
                    let number = u32::from_be_bytes(plain.as_slice().try_into().expect("four octets"));
                    prop_assert!(operation == 2 || operation == 5, "a changed datagram was taken");
                    prop_assert!(taken.insert(number), "{number} came twice");
                }
            }
        }
    }
}
