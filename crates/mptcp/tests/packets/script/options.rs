//! Multipath TCP's options in a line.

use super::Keys;
use super::parse::Words;
use ropewalk_mptcp::keys;
use ropewalk_testnet::words::number;
use ropewalk_units::Ssn;
use ropewalk_wire::{
    AddAddress, DataAck, Dss, FastClose, Flags, Join, Mapping, MptcpOption, MptcpOptions, Payload, Priority,
    RemoveAddress, ResetReason, Segment, dss_checksum, stream_sum,
};
use std::net::{IpAddr, SocketAddr};

/// What a line says of the options, until all of its words are read.
#[derive(Default)]
pub(super) struct Parts {
    data_ack: Option<DataAck>,
    /// Data position, SSN, length.
    mapping: Option<(u64, u32, u16)>,
    data_fin: bool,
    /// A checksum, right or wrong.
    checksum: Option<bool>,
    offset: Option<u64>,
    no_more_subflows: bool,
    capable: Option<Option<u16>>,
    rare: Vec<MptcpOption>,
}

impl Parts {
    pub(super) fn word(&mut self, word: &str, rest: &mut Words<'_>, segment: &Segment, keys: &Keys) {
        let (_, received) = keys.data();
        let (own, peer) = keys.keys();
        match word {
            "dack" => self.data_ack = Some(DataAck::Long(received + rest.value(word))),
            "dack32" => {
                self.data_ack = Some(DataAck::Short((received + rest.value::<u64>(word)).get() as u32));
            }
            "map" => self.mapping = Some((rest.value(word), rest.value(word), rest.value(word))),
            "fin" => self.data_fin = true,
            "sum" => self.checksum = Some(true),
            "badsum" => self.checksum = Some(false),
            "at" => self.offset = Some(rest.value(word)),
            "c" => self.no_more_subflows = true,
            "capable" => self.capable = Some(rest.optional()),
            "join" | "badjoin" => {
                self.rare.push(MptcpOption::Join(join(segment.flags, keys, word == "join")));
            }
            "add" | "badadd" | "echo" => {
                let id = rest.value(word);
                let (address, port) = endpoint(rest.text(word));
                let hmac = keys::address_hmac(own, peer, id, address, port);
                let hmac = (word != "echo").then_some(if word == "add" { hmac } else { !hmac });
                self.rare.push(MptcpOption::AddAddress(AddAddress { address_id: id, address, port, hmac }));
            }
            "remove" => {
                let address_ids = vec![rest.value(word)];
                self.rare.push(MptcpOption::RemoveAddress(RemoveAddress { address_ids }));
            }
            "prio" => {
                let backup = rest.value::<u8>(word) == 1;
                self.rare.push(MptcpOption::Priority(Priority { backup }));
            }
            "fail" => {
                // The DSN of the other direction's data: what its receiver could not verify.
                self.rare.push(MptcpOption::Fail(received + rest.value(word)));
            }
            "fastclose" => self.rare.push(MptcpOption::FastClose(FastClose { receiver_key: peer })),
            "badfastclose" => self.rare.push(MptcpOption::FastClose(FastClose { receiver_key: !peer })),
            "tcprst" | "transient" => {
                let reason = reason(rest.value(word));
                self.rare.push(MptcpOption::Reset { transient: word == "transient", reason });
            }
            "nodss" | "nomptcp" | "nofin" => {}
            _ => panic!("unknown field {word}"),
        }
    }

    pub(super) fn attach(self, segment: &mut Segment, keys: &Keys) {
        let (sent, _) = keys.data();
        let first = segment.seq.since(keys.bases().0);
        // The stream's first octet is sequence number 1 of the first subflow, unless a mapping says otherwise.
        let by_sequence = u64::from(first.max(1) - 1);
        let mapped = self.mapping.filter(|(_, ssn, _)| *ssn > 0);
        let offset = mapped.map_or(by_sequence, |(data, ssn, _)| data + u64::from(first.wrapping_sub(ssn)));
        segment.payload.offset = self.offset.unwrap_or(offset);
        let mptcp = &mut segment.options.mptcp;
        if self.data_ack.is_some() || self.mapping.is_some() || self.data_fin {
            let mapping = self.mapping.map(|(data, ssn, len)| {
                let (dsn, ssn) = (sent + data, Ssn::new(ssn));
                let octets = u32::from(len) - u32::from(self.data_fin);
                let sum = stream_sum(Payload { offset: data, len: octets });
                let right = dss_checksum(dsn, ssn, len, sum);
                let checksum = self.checksum.map(|good| if good { right } else { !right });
                Mapping { dsn, ssn, len, checksum }
            });
            let dss = Dss::new(self.data_ack, mapping);
            mptcp.dss = Some(if self.data_fin { dss.ending() } else { dss });
        }
        if let Some(len) = self.capable {
            mptcp.push(capable(segment.flags, keys, len, self.checksum, self.no_more_subflows));
        }
        for option in self.rare {
            mptcp.push(option);
        }
    }
}

/// MP_CAPABLE in the shape that the flags want (RFC 8684 §3.1). `sum` sets A, and with a length adds the checksum.
fn capable(flags: Flags, keys: &Keys, len: Option<u16>, checksum: Option<bool>, c: bool) -> MptcpOption {
    let (own, peer) = keys.keys();
    let (syn, ack) = (flags.contains(Flags::SYN), flags.contains(Flags::ACK));
    let data = len.map(|len| {
        let dsn = keys.data().0;
        let sum = stream_sum(Payload { offset: 0, len: u32::from(len) });
        let right = dss_checksum(dsn, Ssn::new(1), len, sum);
        (len, checksum.map(|good| if good { right } else { !right }))
    });
    MptcpOption::Capable {
        checksum_required: checksum.is_some(),
        no_more_subflows: c,
        sender_key: ack.then_some(own),
        receiver_key: (!syn).then_some(peer),
        data,
    }
}

/// MP_JOIN in the shape that the flags want (RFC 8684 §3.2).
fn join(flags: Flags, keys: &Keys, right: bool) -> Join {
    let (own, peer) = keys.keys();
    let (own_nonce, peer_nonce) = keys.nonces();
    let hmac = keys::join_hmac(own, peer, own_nonce, peer_nonce);
    match (flags.contains(Flags::SYN), flags.contains(Flags::ACK)) {
        (true, false) => {
            let token = keys::token(peer);
            let token = if right { token } else { !token };
            Join::Syn { backup: false, address_id: keys.address_id(), token, nonce: own_nonce }
        }
        (true, true) => {
            let hmac = keys::leftmost_64(&hmac);
            let hmac = if right { hmac } else { !hmac };
            Join::SynAck { backup: false, address_id: keys.address_id(), hmac, nonce: own_nonce }
        }
        _ => {
            let mut hmac = keys::leftmost_160(&hmac);
            hmac[0] ^= u8::from(!right);
            Join::Ack { hmac }
        }
    }
}

fn endpoint(word: &str) -> (IpAddr, Option<u16>) {
    match word.parse::<SocketAddr>() {
        Ok(address) => (address.ip(), Some(address.port())),
        Err(_) => (number(word), None),
    }
}

fn reason(code: u8) -> ResetReason {
    use ResetReason::{Middlebox, Mptcp, OutstandingData, Performance, Prohibited, Resources, Unspecified};
    let all = [Unspecified, Mptcp, Resources, Prohibited, OutstandingData, Performance, Middlebox];
    all[usize::from(code)]
}

/// Holds the option that `word` names against the wanted one.
#[track_caller]
pub(super) fn compare(word: &str, found: &MptcpOptions, wanted: &MptcpOptions, message: &str) {
    let (have, want) = (found.dss, wanted.dss);
    match word {
        "dack" | "dack32" => {
            let of = |dss: Option<Dss>| dss.and_then(|dss| dss.data_ack());
            assert_eq!(of(have), of(want), "DATA_ACK: {message}");
        }
        "map" => {
            let of = |dss: Option<Dss>| dss.and_then(|dss| dss.mapping()).map(|m| (m.dsn, m.ssn, m.len));
            assert_eq!(of(have), of(want), "mapping: {message}");
        }
        "sum" => {
            let of = |dss: Option<Dss>| dss.and_then(|dss| dss.mapping()).and_then(|m| m.checksum);
            if want.is_some() {
                assert_eq!(of(have), of(want), "checksum: {message}");
            }
        }
        "fin" => assert!(have.is_some_and(|dss| dss.data_fin()), "no DATA_FIN: {message}"),
        "nofin" => assert!(!have.is_some_and(|dss| dss.data_fin()), "DATA_FIN: {message}"),
        "capable" | "join" | "add" | "echo" | "remove" | "prio" | "fail" | "fastclose" | "tcprst"
        | "transient" => {
            for option in wanted.rare() {
                assert!(found.rare().iter().any(|have| same(have, option)), "no {option:?}: {message}");
            }
        }
        _ => {}
    }
}

/// The same option; what the connection draws by itself (random numbers, Address IDs of joins) is not compared.
fn same(found: &MptcpOption, wanted: &MptcpOption) -> bool {
    match (found, wanted) {
        (MptcpOption::Join(Join::Syn { token, .. }), MptcpOption::Join(Join::Syn { token: wanted, .. })) => {
            token == wanted
        }
        (
            MptcpOption::Join(Join::SynAck { hmac, .. }),
            MptcpOption::Join(Join::SynAck { hmac: wanted, .. }),
        ) => hmac == wanted,
        _ => found == wanted,
    }
}

/// One line, for a person.
pub(super) fn print(options: &MptcpOptions) -> String {
    let mut words: Vec<String> = options.rare().iter().map(|option| format!("{option:?}")).collect();
    words.extend(options.dss.map(|dss| format!("{dss:?}")));
    words.join(" ")
}
