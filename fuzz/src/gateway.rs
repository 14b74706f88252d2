//! The gateway's parsers: any octets are a message, an offer, a packet, a configuration or a record, or an error.

use ropewalk_gateway::config::Config;
use ropewalk_gateway::packet::{FlowHasher, Header, clamp_mss, too_long};
use ropewalk_gateway::record::replay;
use ropewalk_gateway::session::message::Message;
use ropewalk_gateway::session::offer::{Answer, Offer};
use std::path::Path;

/// Reads the octets as each of them.
pub fn run(octets: &[u8]) {
    let _ = Message::read(octets);
    if let Ok(offer) = Offer::decode(octets) {
        assert_eq!(Offer::decode(&offer.encode()), Ok(offer));
    }
    if let Ok(answer) = Answer::decode(octets) {
        assert_eq!(Answer::decode(&answer.encode()), Ok(answer));
    }
    packet(octets);
    if let Ok(text) = std::str::from_utf8(octets) {
        let _ = Config::parse(Path::new("/nowhere/gateway.toml"), text, [1, 2], &|_| Ok(Vec::new()));
    }
    let _ = replay(octets, |_, _| Err("none".into()));
}

fn packet(octets: &[u8]) {
    let mut packet = octets.to_vec();
    if let Some(first) = packet.first_mut() {
        *first = if *first & 1 == 0 { 0x45 } else { 0x60 };
    }
    for octets in [octets, &packet] {
        if let Some(header) = Header::read(octets) {
            assert!(header.transport_at <= octets.len());
            FlowHasher::new([1, 2]).hash(&header, octets);
        }
        if let Some(answer) = too_long(octets, 1280) {
            let own = Header::read(octets).expect("only a packet is answered");
            let header = Header::read(&answer).expect("the answer is a packet");
            assert_eq!((header.source, header.destination), (own.destination, own.source));
            assert_eq!(too_long(&answer, 1280), None, "no error about an error");
        }
        let mut clamped = octets.to_vec();
        clamp_mss(&mut clamped, 1280);
        assert_eq!(clamped.len(), octets.len());
    }
}
