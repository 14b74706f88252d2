//! Options of Multipath TCP, and SACK blocks, of any content.

use crate::knowledge::Knowledge;
use crate::source::Source;
use ropewalk_units::{Dsn, Seq, Ssn};
use ropewalk_wire::{
    AddAddress, DataAck, Dss, FastClose, Join, Mapping, MptcpOption, Priority, RemoveAddress, ResetReason,
    SackBlocks,
};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Up to four blocks around `ack`, or anywhere; some of them the wrong way round.
pub(crate) fn sack(source: &mut impl Source, ack: Seq) -> SackBlocks {
    let mut blocks = SackBlocks::EMPTY;
    for _ in 0..1 + source.below(4) {
        let spread = source.pick(&[1, 1460, 100_000, 1 << 31]);
        let left = source.near(u64::from(ack.get()), spread) as u32;
        let len = source.pick(&[0, 1, 1460, 100_000, u64::from(u32::MAX)]) as u32;
        blocks.push(Seq::new(left), Seq::new(left.wrapping_add(len)));
    }
    blocks
}

/// A number near `known`, or anywhere.
fn dsn(source: &mut impl Source, known: Dsn) -> Dsn {
    let spread = source.pick(&[0, 0, 1, 1460, 100_000, 1 << 33]);
    if source.one_in(4) { Dsn::new(source.next()) } else { Dsn::new(source.near(known.get(), spread)) }
}

/// A data sequence signal of any shape: around what the attacker knows, three times out of four.
pub fn dss(source: &mut impl Source, knowledge: &Knowledge) -> Dss {
    let data_ack = (!source.one_in(3)).then(|| {
        let dsn = dsn(source, knowledge.data_ack);
        if source.one_in(2) { DataAck::Long(dsn) } else { DataAck::Short(dsn.get() as u32) }
    });
    let mapping = (!source.one_in(3)).then(|| {
        let spread = source.pick(&[0, 0, 1, 1460, 100_000]);
        let near = source.near(u64::from(knowledge.ssn.get()), spread) as u32;
        let ssn = source.pick(&[near, near, near, 0, 1]);
        let len = source.pick(&[0, 0, 1, 2, 536, 1460, 1461, u16::MAX]);
        let checksum = source.one_in(2).then(|| source.next() as u16);
        Mapping { dsn: dsn(source, knowledge.dsn), ssn: Ssn::new(ssn), len, checksum }
    });
    let dss = Dss::new(data_ack, mapping);
    if source.one_in(4) { dss.ending() } else { dss }
}

/// One of Multipath TCP's options beside the DSS.
pub fn rare(source: &mut impl Source, knowledge: &Knowledge) -> MptcpOption {
    match source.below(8) {
        0 => capable(source, knowledge),
        1 => MptcpOption::Join(join(source, knowledge)),
        2 => MptcpOption::AddAddress(add_address(source)),
        3 => {
            let address_ids = (0..1 + source.below(4)).map(|_| source.pick(&[0, 0, 1, 2, 255])).collect();
            MptcpOption::RemoveAddress(RemoveAddress { address_ids })
        }
        4 => MptcpOption::Priority(Priority { backup: source.one_in(2) }),
        5 => MptcpOption::Fail(dsn(source, knowledge.dsn)),
        6 => {
            let any = source.next();
            // Half of the attackers know the key.
            let known = knowledge.keys.1.filter(|_| source.one_in(2));
            MptcpOption::FastClose(FastClose { receiver_key: known.unwrap_or(any) })
        }
        _ => MptcpOption::Reset { transient: source.one_in(2), reason: reason(source) },
    }
}

fn reason(source: &mut impl Source) -> ResetReason {
    source.pick(&ResetReason::ALL)
}

fn capable(source: &mut impl Source, knowledge: &Knowledge) -> MptcpOption {
    let drawn = (source.next(), source.next());
    let known = source.one_in(2);
    let sender = if known { knowledge.keys.0.unwrap_or(drawn.0) } else { drawn.0 };
    let receiver = if known { knowledge.keys.1.unwrap_or(drawn.1) } else { drawn.1 };
    let keys = source.below(4);
    let checksum = source.one_in(2).then(|| source.next() as u16);
    let data = (keys > 2).then(|| (source.pick(&[0, 1, 1460, u16::MAX]), checksum));
    MptcpOption::Capable {
        checksum_required: source.one_in(2),
        no_more_subflows: source.one_in(2),
        sender_key: (keys > 0).then_some(sender),
        receiver_key: (keys > 1).then_some(receiver),
        data,
    }
}

fn join(source: &mut impl Source, knowledge: &Knowledge) -> Join {
    let drawn = source.next();
    let (backup, address_id) = (source.one_in(2), source.pick(&[0, 1, 2, 255]));
    let nonce = source.next() as u32;
    match source.below(3) {
        0 => {
            let token = knowledge.token.filter(|_| source.one_in(2)).unwrap_or(drawn as u32);
            Join::Syn { backup, address_id, token, nonce }
        }
        1 => Join::SynAck { backup, address_id, hmac: drawn, nonce },
        _ => {
            let mut hmac = [0; 20];
            hmac[..8].copy_from_slice(&drawn.to_be_bytes());
            Join::Ack { hmac }
        }
    }
}

fn add_address(source: &mut impl Source) -> AddAddress {
    let drawn = source.next();
    let any = IpAddr::V4(Ipv4Addr::from_bits(drawn as u32));
    let other = IpAddr::V6(Ipv6Addr::from_bits(u128::from(drawn) << 64 | u128::from(drawn)));
    let nobodys = [Ipv4Addr::UNSPECIFIED.into(), Ipv4Addr::BROADCAST.into(), Ipv6Addr::UNSPECIFIED.into()];
    let [nobody, all, none] = nobodys;
    let any_port = source.next() as u16;
    AddAddress {
        address_id: source.next() as u8,
        address: source.pick(&[any, any, other, nobody, all, none]),
        port: source.one_in(2).then(|| source.pick(&[any_port, any_port, 0])),
        hmac: source.one_in(2).then(|| source.next()),
    }
}
