//! The test vectors of `docs/gateway-vectors.txt`. `ROPEWALK_BLESS=1` writes them again.

use super::cookie::{Guard, MacKeys};
use super::message::{self, Message};
use super::noise::{Parties, ask, hear, public};
use super::transport::{Cipher, End, Names, Transport};
use ropewalk_bonding::PathId;
use ropewalk_units::Instant;
use std::fmt::Write;
use std::net::SocketAddr;
use std::path::Path;

fn hex(octets: &[u8]) -> String {
    octets.iter().fold(String::new(), |mut text, octet| {
        let _ = write!(text, "{octet:02x}");
        text
    })
}

/// Makes all vectors. Each key is 32 equal octets.
fn vectors() -> String {
    let (site, hub, psk) = ([1; 32], [2; 32], [3; 32]);
    let hub_public = public(&hub);
    let parties = Parties { site: &site, hub: &hub_public, psk: &psk };
    let (_, noise) = ask(parties, [4; 32], b"offer");
    let mut initiation = message::initiation(0x0102, &noise);
    MacKeys::new(&hub_public).sign(&mut initiation, Some(&[6; 16]));
    let heard = hear(&hub, [5; 32], &noise).expect("it is authentic");
    let (noise, split) = heard.answer(&psk, b"answer");
    let mut all = vec![
        ("hub-public", hub_public.to_vec()),
        ("site-public", public(&site).to_vec()),
        ("initiation: payload `offer`, name 0102, cookie 16 × 06", initiation.clone()),
        ("response: payload `answer`, names 0506 and 0102", message::response(0x0506, 0x0102, &noise)),
        ("key-to-hub", split.to_hub.to_vec()),
        ("key-to-site", split.to_site.to_vec()),
    ];
    let from = SocketAddr::from(([192, 0, 2, 1], 1000));
    let sealed = {
        let Ok(Message::Initiation(asked)) = Message::read(&initiation) else { panic!("it is one") };
        Guard::new(&hub_public, [7; 32], Instant::ZERO).seal(&asked, from, &[8; 24])
    };
    let mut cookie = Vec::new();
    message::cookie(0x0102, &[8; 24], &sealed, &mut cookie);
    all.push((
        "cookie: for that initiation from 192.0.2.1 port 1000, hub's secret 32 × 07, nonce 24 × 08",
        cookie,
    ));
    for (name, cipher) in [
        ("transport: `ropewalk` from the site on path 1, counter 0, AES-256-GCM", Cipher::Aes),
        ("transport: `ropewalk` from the site on path 1, counter 0, ChaCha20-Poly1305", Cipher::ChaCha),
    ] {
        let names = Names { local: 0x0102, remote: 0x0506 };
        let mut transport = Transport::new(&split, End::Site, cipher, names, Instant::ZERO);
        let mut datagram = vec![0; message::TRANSPORT_HEADER];
        datagram.extend_from_slice(b"ropewalk");
        assert!(transport.seal(Instant::ZERO, PathId(1), &mut datagram));
        all.push((name, datagram));
    }
    all.iter().fold(String::new(), |text, (name, octets)| text + name + "\n" + &hex(octets) + "\n\n")
}

#[test]
fn the_vectors_are_those_of_the_documents() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/gateway-vectors.txt");
    let vectors = vectors();
    if std::env::var("ROPEWALK_BLESS").is_ok() {
        std::fs::write(&path, &vectors).expect("a file that can be written");
    }
    assert_eq!(std::fs::read_to_string(&path).expect("the vectors"), vectors);
}
