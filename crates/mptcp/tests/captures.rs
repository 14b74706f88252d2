//! Tokens and HMACs of Linux's own Multipath TCP, recomputed from the keys in the captured handshakes.

#[path = "../../wire/tests/support/pcap.rs"]
mod pcap;

use ropewalk_mptcp::keys::{address_hmac, join_hmac, leftmost_64, leftmost_160, token};
use ropewalk_units::Dsn;
use ropewalk_wire::read::{IpPacket, TcpPacket};
use ropewalk_wire::{AddAddress, Join, Key, MptcpOption, Nonce, Options};
use std::collections::BTreeMap;
use std::net::IpAddr;

/// One end of a subflow.
type End = (IpAddr, u16);

/// The keys of a connection: of who opened it, and of who took it.
#[derive(Clone, Copy, Debug)]
struct Keys {
    client: Key,
    server: Key,
}

/// A join in progress: the keys of who joins and of who is joined, and their random numbers as far as they are known.
#[derive(Clone, Copy, Debug)]
struct Joining {
    own: Key,
    peer: Key,
    own_nonce: Nonce,
    peer_nonce: Nonce,
}

/// What was found to agree.
#[derive(Debug, Default)]
struct Agreed {
    tokens: u32,
    syn_acks: u32,
    acks: u32,
    addresses: u32,
}

/// Follows the one connection of a capture.
#[derive(Default)]
struct Follower {
    keys: Option<Keys>,
    /// The server's end of the first subflow.
    server: Option<IpAddr>,
    /// By the ends of the subflow, who joins first.
    joins: BTreeMap<(End, End), Joining>,
    agreed: Agreed,
}

impl Follower {
    fn take(&mut self, packet: &[u8]) {
        let ip = IpPacket::read(packet).expect("a packet");
        let tcp = TcpPacket::read(&ip).expect("a segment");
        let from = (ip.header.source, tcp.header.source_port);
        let to = (ip.header.destination, tcp.header.destination_port);
        let options = Options::read(tcp.options, Dsn::new(0));
        for option in options.mptcp.rare() {
            match option {
                MptcpOption::Capable { sender_key: Some(client), receiver_key: Some(server), .. } => {
                    self.keys = Some(Keys { client: *client, server: *server });
                    self.server = Some(to.0);
                }
                MptcpOption::Join(join) => self.join(join, from, to),
                MptcpOption::AddAddress(add) => self.add_address(add, from),
                _ => {}
            }
        }
    }

    fn join(&mut self, join: &Join, from: End, to: End) {
        let keys = self.keys.expect("a handshake came before the join");
        match *join {
            Join::Syn { token: expected, nonce, .. } => {
                let (own, peer) = match expected == token(keys.server) {
                    true => (keys.client, keys.server),
                    false => (keys.server, keys.client),
                };
                assert_eq!(expected, token(peer), "the token of the host that is joined");
                self.agreed.tokens += 1;
                self.joins.insert((from, to), Joining { own, peer, own_nonce: nonce, peer_nonce: 0 });
            }
            Join::SynAck { hmac, nonce, .. } => {
                let joining = self.joins.get_mut(&(to, from)).expect("a SYN came before");
                joining.peer_nonce = nonce;
                let Joining { own, peer, own_nonce, .. } = *joining;
                assert_eq!(hmac, leftmost_64(&join_hmac(peer, own, nonce, own_nonce)));
                self.agreed.syn_acks += 1;
            }
            Join::Ack { hmac } => {
                let Joining { own, peer, own_nonce, peer_nonce } = self.joins[&(from, to)];
                assert_eq!(hmac, leftmost_160(&join_hmac(own, peer, own_nonce, peer_nonce)));
                self.agreed.acks += 1;
            }
        }
    }

    /// On the first subflow, which tells who announces.
    fn add_address(&mut self, add: &AddAddress, (from, _): End) {
        let Some(hmac) = add.hmac else { return };
        let Keys { client, server } = self.keys.expect("a handshake came before the address");
        let (own, peer) = if Some(from) == self.server { (server, client) } else { (client, server) };
        assert_eq!(hmac, address_hmac(own, peer, add.address_id, add.address, add.port), "{add:?}");
        self.agreed.addresses += 1;
    }
}

#[test]
fn every_token_and_hmac_of_linux_agrees() {
    let mut all = Vec::new();
    for name in pcap::CAPTURES {
        let Some(packets) = pcap::packets(name) else { return };
        let mut follower = Follower::default();
        packets.iter().for_each(|packet| follower.take(packet));
        println!("{name}: {:?}", follower.agreed);
        assert!(follower.keys.is_some(), "{name}: no handshake");
        all.push(follower.agreed);
    }
    let total = |what: fn(&Agreed) -> u32| all.iter().map(what).sum::<u32>();
    assert!(total(|agreed| agreed.tokens) >= 5, "{all:?}");
    assert_eq!(total(|agreed| agreed.tokens), total(|agreed| agreed.syn_acks), "{all:?}");
    assert!(total(|agreed| agreed.acks) >= total(|agreed| agreed.tokens), "{all:?}");
    assert!(total(|agreed| agreed.addresses) >= 1, "{all:?}");
}
