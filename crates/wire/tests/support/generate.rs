//! Strategies: any options a stack could send.

use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;
use ropewalk_units::{Dsn, Seq, Ssn};
use ropewalk_wire::{
    AddAddress, DataAck, Dss, Ecn, FastClose, Flags, Join, Mapping, MptcpOption, MptcpOptions, Options,
    PacketHeader, Payload, Priority, RemoveAddress, ResetReason, SackBlocks, Segment, Timestamps,
};
use std::net::IpAddr;

pub(crate) fn dss() -> impl Strategy<Value = Dss> {
    let data_ack = of(prop_oneof![
        any::<u32>().prop_map(DataAck::Short),
        any::<u64>().prop_map(|dsn| DataAck::Long(Dsn::new(dsn))),
    ]);
    let mapping = of((any::<u64>(), any::<u32>(), any::<u16>(), of(any::<u16>())).prop_map(
        |(dsn, ssn, len, checksum)| Mapping { dsn: Dsn::new(dsn), ssn: Ssn::new(ssn), len, checksum },
    ));
    (data_ack, mapping, any::<bool>()).prop_map(|(data_ack, mapping, data_fin)| {
        let dss = Dss::new(data_ack, mapping);
        if data_fin { dss.ending() } else { dss }
    })
}

fn capable() -> impl Strategy<Value = MptcpOption> {
    let keys = prop_oneof![
        Just((None, None, None)),
        any::<u64>().prop_map(|key| (Some(key), None, None)),
        (any::<u64>(), any::<u64>(), of((any::<u16>(), of(any::<u16>()))))
            .prop_map(|(sender, receiver, data)| (Some(sender), Some(receiver), data)),
    ];
    (any::<bool>(), any::<bool>(), keys).prop_map(
        |(checksum_required, no_more_subflows, (sender_key, receiver_key, data))| MptcpOption::Capable {
            checksum_required,
            no_more_subflows,
            sender_key,
            receiver_key,
            data,
        },
    )
}

fn join() -> impl Strategy<Value = Join> {
    prop_oneof![
        (any::<bool>(), any::<u8>(), any::<u32>(), any::<u32>())
            .prop_map(|(backup, address_id, token, nonce)| Join::Syn { backup, address_id, token, nonce }),
        (any::<bool>(), any::<u8>(), any::<u64>(), any::<u32>())
            .prop_map(|(backup, address_id, hmac, nonce)| Join::SynAck { backup, address_id, hmac, nonce }),
        any::<[u8; 20]>().prop_map(|hmac| Join::Ack { hmac }),
    ]
}

fn reset() -> impl Strategy<Value = MptcpOption> {
    let reason = prop::sample::select(&ResetReason::ALL[..]);
    (any::<bool>(), reason).prop_map(|(transient, reason)| MptcpOption::Reset { transient, reason })
}

pub(crate) fn mptcp_option() -> impl Strategy<Value = MptcpOption> {
    prop_oneof![
        capable(),
        join().prop_map(MptcpOption::Join),
        (any::<u8>(), any::<IpAddr>(), of(any::<u16>()), of(any::<u64>())).prop_map(
            |(address_id, address, port, hmac)| {
                MptcpOption::AddAddress(AddAddress { address_id, address, port, hmac })
            }
        ),
        vec(any::<u8>(), 1..6)
            .prop_map(|address_ids| MptcpOption::RemoveAddress(RemoveAddress { address_ids })),
        any::<bool>().prop_map(|backup| MptcpOption::Priority(Priority { backup })),
        any::<u64>().prop_map(|dsn| MptcpOption::Fail(Dsn::new(dsn))),
        any::<u64>().prop_map(|receiver_key| MptcpOption::FastClose(FastClose { receiver_key })),
        reset(),
    ]
}

pub(crate) fn options() -> impl Strategy<Value = Options> {
    let timestamps = of((any::<u32>(), any::<u32>()).prop_map(|(value, echo)| Timestamps { value, echo }));
    let sack = vec((any::<u32>(), any::<u32>()), 0..=4).prop_map(|blocks| {
        let mut sack = SackBlocks::EMPTY;
        for (left, right) in blocks {
            sack.push(Seq::new(left), Seq::new(right));
        }
        sack
    });
    let tcp = (of(any::<u16>()), of(0u8..=14), any::<bool>(), timestamps, sack);
    (tcp, of(dss()), vec(mptcp_option(), 0..3)).prop_map(
        |((mss, window_scale, sack_permitted, timestamps, sack), dss, rare)| {
            let mut options =
                Options { mss, window_scale, sack_permitted, timestamps, sack, ..Options::default() };
            options.mptcp.dss = dss;
            for option in rare {
                options.mptcp.push(option);
            }
            options
        },
    )
}

/// A segment with options that fit a header.
pub(crate) fn segment() -> impl Strategy<Value = Segment> {
    let flags = prop::collection::vec(
        prop::sample::select(vec![
            Flags::FIN,
            Flags::SYN,
            Flags::RST,
            Flags::PSH,
            Flags::ACK,
            Flags::ECE,
            Flags::CWR,
        ]),
        0..4,
    )
    .prop_map(|flags| flags.into_iter().fold(Flags::NONE, |all, flag| all | flag));
    let ecn = prop::sample::select(vec![Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ce]);
    let options = options().prop_map(|mut options| {
        if options.wire_len() > Options::SPACE {
            let dss = options.mptcp.dss.take();
            options.mptcp = MptcpOptions::default();
            options.mptcp.dss = dss;
        }
        if options.wire_len() > Options::SPACE {
            options.sack = SackBlocks::EMPTY;
        }
        if options.wire_len() > Options::SPACE {
            options.mptcp.dss = None;
        }
        options
    });
    (any::<u32>(), any::<u32>(), flags, any::<u16>(), 0u64..1 << 40, 0u32..1500, options, ecn).prop_map(
        |(seq, ack, flags, window, offset, len, options, ecn)| Segment {
            seq: Seq::new(seq),
            ack: Seq::new(ack),
            flags,
            window,
            payload: Payload { offset, len },
            options,
            ecn,
        },
    )
}

pub(crate) fn header() -> impl Strategy<Value = PacketHeader> {
    let addresses = prop_oneof![
        (any::<[u8; 4]>(), any::<[u8; 4]>()).prop_map(|(a, b)| (IpAddr::from(a), IpAddr::from(b))),
        (any::<[u8; 16]>(), any::<[u8; 16]>()).prop_map(|(a, b)| (IpAddr::from(a), IpAddr::from(b))),
    ];
    (addresses, any::<u16>(), any::<u16>(), any::<u16>(), 1u8.., 0u8..64).prop_map(
        |((source, destination), source_port, destination_port, identification, ttl, dscp)| PacketHeader {
            source,
            destination,
            source_port,
            destination_port,
            identification,
            ttl,
            dscp,
        },
    )
}
