//! Keys, and everything derived from them: tokens, initial data sequence numbers, HMACs, and the connection's
//! own random numbers.

use hmac::{Hmac, KeyInit, Mac};
use ropewalk_units::Dsn;
use ropewalk_wire::{Key, Nonce, Token};
use sha2::{Digest, Sha256};
use std::net::IpAddr;
use subtle::ConstantTimeEq;

/// The only randomness a connection gets: its key and its nonces are derived from it as HMAC-SHA256(secret, counter).
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Secret(
    /// The octets, from the driver's own source of randomness.
    pub [u8; 32],
);

impl Secret {
    /// The token that a connection with this secret has. No two connections of a host may have the same one
    /// (RFC 8684 §3.1): a driver that has it in use takes another secret.
    pub fn token(&self) -> Token {
        token(Draws::new(*self).key())
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret(..)")
    }
}

/// Draws from a [`Secret`], one number after the other.
#[derive(Clone, Debug)]
pub(crate) struct Draws {
    secret: Secret,
    counter: u64,
}

impl Draws {
    pub(crate) const fn new(secret: Secret) -> Self {
        Self { secret, counter: 0 }
    }

    fn next(&mut self) -> u64 {
        let drawn = hmac(&self.secret.0, &[&self.counter.to_be_bytes()]);
        self.counter += 1;
        first_u64(&drawn)
    }

    pub(crate) fn key(&mut self) -> Key {
        self.next()
    }

    pub(crate) fn nonce(&mut self) -> Nonce {
        (self.next() >> 32) as Nonce
    }
}

/// The token of the connection whose host has this key: the most significant 32 bits of SHA-256(key)
/// (RFC 8684 §3.2).
pub fn token(key: Key) -> Token {
    let digest = Sha256::digest(key.to_be_bytes());
    u32::from_be_bytes([digest[0], digest[1], digest[2], digest[3]])
}

/// The initial data sequence number of the host with this key: the least significant 64 bits of SHA-256(key)
/// (RFC 8684 §3.1).
pub fn initial_dsn(key: Key) -> Dsn {
    #[cfg(test)]
    if let Some(given) = INITIAL_DSN.get() {
        return given;
    }
    let digest = Sha256::digest(key.to_be_bytes());
    let mut octets = [0; 8];
    octets.copy_from_slice(&digest[24..]);
    Dsn::new(u64::from_be_bytes(octets))
}

/// The HMAC of a MP_JOIN (RFC 8684 §3.2): key and message begin with what the sender of the HMAC chose.
/// The SYN/ACK carries its leftmost 64 bits ([`leftmost_64`]), the third ACK its leftmost 160.
pub fn join_hmac(own_key: Key, peer_key: Key, own_nonce: Nonce, peer_nonce: Nonce) -> [u8; 32] {
    hmac(&both(own_key, peer_key), &[&own_nonce.to_be_bytes(), &peer_nonce.to_be_bytes()])
}

/// The leftmost 64 bits of an HMAC.
pub fn leftmost_64(hmac: &[u8; 32]) -> u64 {
    first_u64(hmac)
}

/// The leftmost 160 bits of an HMAC.
pub fn leftmost_160(hmac: &[u8; 32]) -> [u8; 20] {
    let mut octets = [0; 20];
    octets.copy_from_slice(&hmac[..20]);
    octets
}

/// Are two HMACs, or parts of them, the same? How long the answer takes does not say where they differ.
pub fn hmacs_agree(expected: &[u8], received: &[u8]) -> bool {
    expected.ct_eq(received).into()
}

/// The HMAC of an ADD_ADDR: the rightmost 64 bits, over address identifier, address and port, 0 if there is
/// none (RFC 8684 §3.4.1).
pub fn address_hmac(announcer: Key, other: Key, address_id: u8, address: IpAddr, port: Option<u16>) -> u64 {
    let port = port.unwrap_or(0).to_be_bytes();
    let key = both(announcer, other);
    let mac = match address {
        IpAddr::V4(address) => hmac(&key, &[&[address_id], &address.octets(), &port]),
        IpAddr::V6(address) => hmac(&key, &[&[address_id], &address.octets(), &port]),
    };
    let mut octets = [0; 8];
    octets.copy_from_slice(&mac[24..]);
    u64::from_be_bytes(octets)
}

fn both(first: Key, second: Key) -> [u8; 16] {
    let mut octets = [0; 16];
    octets[..8].copy_from_slice(&first.to_be_bytes());
    octets[8..].copy_from_slice(&second.to_be_bytes());
    octets
}

fn first_u64(octets: &[u8; 32]) -> u64 {
    let mut first = [0; 8];
    first.copy_from_slice(&octets[..8]);
    u64::from_be_bytes(first)
}

fn hmac(key: &[u8], message: &[&[u8]]) -> [u8; 32] {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("HMAC takes keys of any length (RFC 2104 §2)");
    for part in message {
        mac.update(part);
    }
    mac.finalize().into_bytes().into()
}

#[cfg(test)]
thread_local! {
    /// What every key gives in this test, where numbers near the wrap are wanted: no key can be found for them.
    pub(crate) static INITIAL_DSN: std::cell::Cell<Option<Dsn>> = const { std::cell::Cell::new(None) };
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    // What Linux 6.18 sent in one connection with ADD_ADDR and two MP_JOINs.
    const CLIENT: Key = 0x8a5c_3fbc_e064_80d9;
    const SERVER: Key = 0x0121_d2b9_1c16_d811;

    #[test]
    fn tokens_and_initial_dsns_are_linux_s() {
        assert_eq!(token(CLIENT), 0x0b7f_5f5d);
        assert_eq!(token(SERVER), 0x8b52_89b8);
        assert_eq!(initial_dsn(CLIENT), Dsn::new(0x9b4c_73fa_a247_9653));
        assert_eq!(initial_dsn(SERVER), Dsn::new(0x3f9a_a642_af4b_29e6));
    }

    #[test]
    fn join_hmacs_are_linux_s() {
        let (client_nonce, server_nonce) = (0x88a7_2a18, 0x72ea_8c6b);
        let syn_ack = join_hmac(SERVER, CLIENT, server_nonce, client_nonce);
        assert_eq!(leftmost_64(&syn_ack), 0xe93c_7170_13a5_e1d1);
        let third = leftmost_160(&join_hmac(CLIENT, SERVER, client_nonce, server_nonce));
        let expected = 0xe6a7_7cf7_9bd6_7ec9_88fd_e84a_ddec_119b_u128.to_be_bytes();
        assert_eq!(third[..16], expected);
        assert_eq!(third[16..], 0x31a8_e3e7_u32.to_be_bytes());
    }

    #[test]
    fn address_hmacs_are_linux_s() {
        let address = IpAddr::V4(Ipv4Addr::new(10, 1, 2, 2));
        assert_eq!(address_hmac(SERVER, CLIENT, 1, address, Some(5002)), 0x06ce_d6ce_5f58_e3e2);
        let (client, server) = (0xd260_b292_d406_29cd, 0xcb88_7437_ec4e_269e);
        assert_eq!(address_hmac(server, client, 1, address, None), 0xacbd_7405_931a_efcc);
    }

    #[test]
    fn draws_differ_from_each_other_and_between_secrets() {
        let mut one = Draws::new(Secret([1; 32]));
        let mut two = Draws::new(Secret([2; 32]));
        let first: Vec<_> = (0..8).map(|_| one.key()).collect();
        let second: Vec<_> = (0..8).map(|_| two.key()).collect();
        for (i, key) in first.iter().enumerate() {
            assert!(!second.contains(key) && !first[..i].contains(key));
        }
    }
}
