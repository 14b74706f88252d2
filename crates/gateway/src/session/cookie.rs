//! Authenticators of initiations. The hub checks them before it computes a handshake, so a sender
//! that does not know its public key costs little. A busy hub also asks for a cookie, which shows
//! that the sender receives at its address.

use super::message::{COOKIE_LEN, COOKIE_NONCE, Initiation, KEY, MAC, TAG};
use blake2::digest::consts::{U16, U32};
use blake2::digest::{Digest, KeyInit, Mac};
use blake2::{Blake2s256, Blake2sMac};
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, Nonce, UnboundKey};
use ropewalk_units::{Duration, Instant};
use std::net::{IpAddr, SocketAddr};
use subtle::ConstantTimeEq;

/// How long a cookie is used, and how often the hub's secret changes: as in WireGuard (its paper,
/// §5.4.7).
pub const COOKIE_LIFE: Duration = Duration::from_secs(120);
/// Handshakes in a second that are answered without cookies. They cost about a hundredth of a core.
const CALM: u32 = 100;
/// Handshakes in a second from one address, with a cookie.
const OF_ONE: u16 = 20;
/// Counters of addresses. Addresses that share a counter share its limit for the second.
const METERS: usize = 1024;

type Key = [u8; KEY];

fn key(label: &[u8], public: &Key) -> Key {
    Blake2s256::new().chain_update(label).chain_update(public).finalize().into()
}

fn mac(key: &[u8], octets: &[u8]) -> [u8; MAC] {
    let mac = <Blake2sMac<U16> as KeyInit>::new_from_slice(key).expect("at most 32 octets");
    mac.chain_update(octets).finalize().into_bytes().into()
}

/// The key of one sealed cookie. It is used once.
fn sealing(key: &Key, nonce: &[u8; COOKIE_NONCE]) -> LessSafeKey {
    let mac = <Blake2sMac<U32> as KeyInit>::new_from_slice(key).expect("32 octets");
    let key = mac.chain_update(nonce).finalize().into_bytes();
    LessSafeKey::new(UnboundKey::new(&CHACHA20_POLY1305, &key).expect("32 octets"))
}

fn zero() -> Nonce {
    Nonce::assume_unique_for_key([0; 12])
}

/// The keys that follow from a hub's public key.
pub struct MacKeys {
    mac: Key,
    cookie: Key,
}

impl MacKeys {
    /// The keys of the hub with this public key.
    pub fn new(hub: &Key) -> Self {
        Self { mac: key(b"ropewalk mac1", hub), cookie: key(b"ropewalk cookie", hub) }
    }

    /// Appends both authenticators to an initiation; gives the first.
    pub fn sign(&self, message: &mut Vec<u8>, cookie: Option<&[u8; COOKIE_LEN]>) -> [u8; MAC] {
        let first = mac(&self.mac, message);
        message.extend_from_slice(&first);
        let second = cookie.map_or([0; MAC], |cookie| mac(cookie, message));
        message.extend_from_slice(&second);
        first
    }

    /// Opens a cookie that answers a message with this first authenticator. `None`: it is not
    /// authentic.
    pub fn open_cookie(
        &self,
        nonce: &[u8; COOKIE_NONCE],
        sealed: &[u8],
        first: &[u8; MAC],
    ) -> Option<[u8; COOKIE_LEN]> {
        let mut octets = <[u8; COOKIE_LEN + TAG]>::try_from(sealed).ok()?;
        let opened = sealing(&self.cookie, nonce).open_in_place(zero(), Aad::from(first), &mut octets);
        opened.ok()?.first_chunk().copied()
    }
}

/// What a hub does with an initiation before it computes anything expensive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// It may cost a handshake.
    Answer,
    /// It is answered with a cookie.
    AskForCookie,
    /// It is not answered.
    Drop(Reason),
}

/// Why an initiation is dropped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reason {
    /// Its first authenticator is wrong: its sender does not know the hub's key.
    Mac,
    /// Its address asks too often.
    TooMany,
}

/// The hub's guard before the handshake. It allocates nothing after it is made.
pub struct Guard {
    keys: MacKeys,
    secret: Key,
    last_secret: Key,
    renewed_at: Instant,
    second: Instant,
    in_second: u32,
    was_busy: bool,
    meters: Box<[u16; METERS]>,
}

impl Guard {
    /// The guard of the hub with this public key. `secret` is random.
    pub fn new(hub: &Key, secret: Key, now: Instant) -> Self {
        Self {
            keys: MacKeys::new(hub),
            last_secret: secret,
            secret,
            renewed_at: now,
            second: now,
            in_second: 0,
            was_busy: false,
            meters: Box::new([0; METERS]),
        }
    }

    /// Is the secret so old that a new one has to be given?
    pub fn is_due(&self, now: Instant) -> bool {
        now.saturating_since(self.renewed_at) >= COOKIE_LIFE
    }

    /// Takes a new secret. Cookies of the old one are valid until the next change.
    pub fn renew(&mut self, now: Instant, secret: Key) {
        self.last_secret = std::mem::replace(&mut self.secret, secret);
        self.renewed_at = now;
    }

    /// Judges an initiation.
    pub fn judge(&mut self, now: Instant, message: &Initiation<'_>, from: SocketAddr) -> Verdict {
        let (covered, first) = message.first_mac();
        if !bool::from(mac(&self.keys.mac, covered).ct_eq(first)) {
            return Verdict::Drop(Reason::Mac);
        }
        self.begin_second(now);
        self.in_second = self.in_second.saturating_add(1);
        if self.in_second <= CALM && !self.was_busy {
            return Verdict::Answer;
        }
        if !self.has_cookie(message, from) {
            return Verdict::AskForCookie;
        }
        let meter = self.meter(from.ip());
        *meter = meter.saturating_add(1);
        if *meter > OF_ONE { Verdict::Drop(Reason::TooMany) } else { Verdict::Answer }
    }

    /// Begins a new second if the last one is over. In the second after a busy one each sender has
    /// to show a cookie, too.
    fn begin_second(&mut self, now: Instant) {
        if now.saturating_since(self.second) < Duration::from_secs(1) {
            return;
        }
        self.was_busy = self.in_second > CALM && now.saturating_since(self.second) < Duration::from_secs(2);
        self.second = now;
        self.in_second = 0;
        self.meters.fill(0);
    }

    fn meter(&mut self, address: IpAddr) -> &mut u16 {
        let digest = mac(&self.secret, &prefix(address));
        let place = u16::from_be_bytes([digest[0], digest[1]]);
        &mut self.meters[usize::from(place) % METERS]
    }

    fn has_cookie(&self, message: &Initiation<'_>, from: SocketAddr) -> bool {
        let (covered, second) = message.second_mac();
        let holds = |secret| bool::from(mac(&cookie(secret, from), covered).ct_eq(second));
        holds(&self.secret) || holds(&self.last_secret)
    }

    /// The sealed cookie for the sender of this message.
    pub fn seal(
        &self,
        message: &Initiation<'_>,
        from: SocketAddr,
        nonce: &[u8; COOKIE_NONCE],
    ) -> [u8; COOKIE_LEN + TAG] {
        let mut sealed = [0; COOKIE_LEN + TAG];
        let (octets, tag) = sealed.split_at_mut(COOKIE_LEN);
        octets.copy_from_slice(&cookie(&self.secret, from));
        let (_, first) = message.first_mac();
        let key = sealing(&self.keys.cookie, nonce);
        let made = key.seal_in_place_separate_tag(zero(), Aad::from(first), octets);
        tag.copy_from_slice(made.expect("sixteen octets are not too many").as_ref());
        sealed
    }
}

/// What counts as one address: an IPv4 address, or an IPv6 prefix of 64 bits.
fn prefix(address: IpAddr) -> [u8; 8] {
    let octets = match address {
        IpAddr::V4(address) => address.to_ipv6_mapped().octets()[8..].try_into(),
        IpAddr::V6(address) => address.octets()[..8].try_into(),
    };
    octets.expect("eight octets")
}

fn cookie(secret: &Key, from: SocketAddr) -> [u8; COOKIE_LEN] {
    let address = match from.ip() {
        IpAddr::V4(address) => address.to_ipv6_mapped(),
        IpAddr::V6(address) => address,
    };
    let mut octets = [0; 18];
    octets[..16].copy_from_slice(&address.octets());
    octets[16..].copy_from_slice(&from.port().to_be_bytes());
    mac(secret, &octets)
}

#[cfg(test)]
mod tests {
    use super::super::message::{self, Message};
    use super::*;

    const HUB: Key = [7; 32];

    fn at(millis: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(millis)
    }

    fn from(port: u16) -> SocketAddr {
        SocketAddr::from(([192, 0, 2, 1], port))
    }

    fn signed(cookie: Option<&[u8; COOKIE_LEN]>) -> (Vec<u8>, [u8; MAC]) {
        let mut message = message::initiation(1, &[3; 200]);
        let first = MacKeys::new(&HUB).sign(&mut message, cookie);
        (message, first)
    }

    fn judge(guard: &mut Guard, now: Instant, octets: &[u8], from: SocketAddr) -> Verdict {
        let Ok(Message::Initiation(message)) = Message::read(octets) else { panic!("an initiation") };
        guard.judge(now, &message, from)
    }

    fn busy() -> Guard {
        let mut guard = Guard::new(&HUB, [1; 32], at(0));
        let (message, _) = signed(None);
        for _ in 0..=CALM {
            judge(&mut guard, at(1), &message, from(1));
        }
        guard
    }

    #[test]
    fn who_does_not_know_the_hub_gets_nothing() {
        let mut guard = Guard::new(&HUB, [1; 32], at(0));
        let (mut message, _) = signed(None);
        message[20] ^= 1;
        assert_eq!(judge(&mut guard, at(0), &message, from(1)), Verdict::Drop(Reason::Mac));
    }

    #[test]
    fn in_a_flood_only_those_with_a_cookie_of_their_address_are_answered() {
        let mut guard = busy();
        let (message, first) = signed(None);
        assert_eq!(judge(&mut guard, at(2), &message, from(1)), Verdict::AskForCookie);
        let Ok(Message::Initiation(initiation)) = Message::read(&message) else { panic!("an initiation") };
        let sealed = guard.seal(&initiation, from(1), &[9; COOKIE_NONCE]);
        let keys = MacKeys::new(&HUB);
        let cookie = keys.open_cookie(&[9; COOKIE_NONCE], &sealed, &first).expect("it is for this message");
        let (message, _) = signed(Some(&cookie));
        assert_eq!(judge(&mut guard, at(3), &message, from(1)), Verdict::Answer);
        assert_eq!(judge(&mut guard, at(3), &message, from(2)), Verdict::AskForCookie, "another address");
        assert!(keys.open_cookie(&[9; COOKIE_NONCE], &sealed, &[0; MAC]).is_none(), "another message");
    }

    #[test]
    fn a_cookie_outlives_one_change_of_the_secret() {
        let mut guard = busy();
        let cookie = cookie(&guard.secret, from(1));
        let (message, _) = signed(Some(&cookie));
        guard.renew(at(4), [2; 32]);
        assert_eq!(judge(&mut guard, at(5), &message, from(1)), Verdict::Answer);
        guard.renew(at(6), [3; 32]);
        assert_eq!(judge(&mut guard, at(7), &message, from(1)), Verdict::AskForCookie);
    }

    #[test]
    fn one_address_with_a_cookie_is_not_all() {
        let mut guard = busy();
        let cookie = cookie(&guard.secret, from(1));
        let (message, _) = signed(Some(&cookie));
        let answered = (0..100).filter(|_| judge(&mut guard, at(5), &message, from(1)) == Verdict::Answer);
        assert_eq!(answered.count(), usize::from(OF_ONE));
    }

    #[test]
    fn after_a_flood_all_is_as_before() {
        let mut guard = busy();
        let (message, _) = signed(None);
        assert_eq!(judge(&mut guard, at(1500), &message, from(1)), Verdict::AskForCookie);
        assert_eq!(judge(&mut guard, at(3000), &message, from(1)), Verdict::Answer);
    }
}
