//! A reader of option octets into the typed values: enough to check the emitter, no more.

use ropewalk_units::{Dsn, Seq, Ssn};
use ropewalk_wire::{
    AddAddress, DataAck, Dss, FastClose, Join, Mapping, MptcpOption, Options, Priority, RemoveAddress,
    ResetReason, Timestamps,
};
use std::net::IpAddr;

/// Takes big-endian numbers off the front of an option's body.
struct Cursor<'a>(&'a [u8]);

impl Cursor<'_> {
    fn take<const N: usize>(&mut self) -> [u8; N] {
        let (taken, rest) = self.0.split_first_chunk::<N>().expect("an option shorter than its shape");
        self.0 = rest;
        *taken
    }
    fn u8(&mut self) -> u8 {
        self.take::<1>()[0]
    }
    fn u16(&mut self) -> u16 {
        u16::from_be_bytes(self.take())
    }
    fn u32(&mut self) -> u32 {
        u32::from_be_bytes(self.take())
    }
    fn u64(&mut self) -> u64 {
        u64::from_be_bytes(self.take())
    }
    fn left(&self) -> usize {
        self.0.len()
    }
}

/// Reads the whole option area of a TCP header.
pub(crate) fn options(mut octets: &[u8]) -> Options {
    let mut options = Options::default();
    while let [kind, rest @ ..] = octets {
        if *kind <= 1 {
            octets = rest;
            continue;
        }
        let (option, after) = octets.split_at(usize::from(rest[0]));
        let mut body = Cursor(&option[2..]);
        match kind {
            2 => options.mss = Some(body.u16()),
            3 => options.window_scale = Some(body.u8()),
            4 => options.sack_permitted = true,
            5 => {
                while body.left() > 0 {
                    options.sack.push(Seq::new(body.u32()), Seq::new(body.u32()));
                }
            }
            8 => options.timestamps = Some(Timestamps { value: body.u32(), echo: body.u32() }),
            30 => mptcp(&mut body, &mut options),
            other => panic!("option kind {other}"),
        }
        octets = after;
    }
    options
}

fn mptcp(body: &mut Cursor<'_>, options: &mut Options) {
    let first = body.u8();
    let (subtype, low) = (first >> 4, first & 0x0f);
    let option = match subtype {
        0 => capable(body, low),
        1 => MptcpOption::Join(join(body, low)),
        2 => {
            options.mptcp.dss = Some(dss(body));
            return;
        }
        3 => MptcpOption::AddAddress(add_address(body, low)),
        4 => MptcpOption::RemoveAddress(RemoveAddress { address_ids: body.0.to_vec() }),
        5 => MptcpOption::Priority(Priority { backup: low & 1 != 0 }),
        6 => {
            assert_eq!(body.u8(), 0);
            MptcpOption::Fail(Dsn::new(body.u64()))
        }
        7 => {
            assert_eq!(body.u8(), 0);
            MptcpOption::FastClose(FastClose { receiver_key: body.u64() })
        }
        8 => MptcpOption::Reset { transient: low & 1 != 0, reason: reason(body.u8()) },
        other => panic!("Multipath TCP subtype {other}"),
    };
    options.mptcp.push(option);
}

fn capable(body: &mut Cursor<'_>, version: u8) -> MptcpOption {
    assert_eq!(version, 1);
    let flags = body.u8();
    assert_eq!(flags & !0xa0, 0x01, "H alone besides A and C");
    let mut key = || (body.left() >= 8).then(|| body.u64());
    let (sender_key, receiver_key) = (key(), key());
    let data = match body.left() {
        0 => None,
        2 => Some((body.u16(), None)),
        _ => Some((body.u16(), Some(body.u16()))),
    };
    MptcpOption::Capable {
        checksum_required: flags & 0x80 != 0,
        no_more_subflows: flags & 0x20 != 0,
        sender_key,
        receiver_key,
        data,
    }
}

fn join(body: &mut Cursor<'_>, low: u8) -> Join {
    let (backup, address_id) = (low & 1 != 0, body.u8());
    match body.left() {
        8 => Join::Syn { backup, address_id, token: body.u32(), nonce: body.u32() },
        12 => Join::SynAck { backup, address_id, hmac: body.u64(), nonce: body.u32() },
        20 => Join::Ack { hmac: body.take() },
        other => panic!("MP_JOIN with {other} octets after the address"),
    }
}

fn dss(body: &mut Cursor<'_>) -> Dss {
    let flags = body.u8();
    let data_ack = match flags & 0x03 {
        0 => None,
        1 => Some(DataAck::Short(body.u32())),
        _ => Some(DataAck::Long(Dsn::new(body.u64()))),
    };
    let mapping = (flags & 0x04 != 0).then(|| {
        assert_ne!(flags & 0x08, 0, "a 32-bit DSN");
        Mapping {
            dsn: Dsn::new(body.u64()),
            ssn: Ssn::new(body.u32()),
            len: body.u16(),
            checksum: (body.left() >= 2).then(|| body.u16()),
        }
    });
    Dss::new(data_ack, mapping, flags & 0x10 != 0)
}

fn add_address(body: &mut Cursor<'_>, low: u8) -> AddAddress {
    let echo = low & 1 != 0;
    let address_id = body.u8();
    let after_address =
        |address: usize| matches!((body.left() - address, echo), (0 | 2, true) | (8 | 10, false));
    // An IPv4 address with what may follow it is shorter than any IPv6 address.
    let address: IpAddr =
        if body.left() < 16 && after_address(4) { body.take::<4>().into() } else { body.take::<16>().into() };
    let port = matches!(body.left(), 2 | 10).then(|| body.u16());
    let hmac = (!echo).then(|| body.u64());
    AddAddress { address_id, address, port, hmac }
}

fn reason(code: u8) -> ResetReason {
    [
        ResetReason::Unspecified,
        ResetReason::Mptcp,
        ResetReason::Resources,
        ResetReason::Prohibited,
        ResetReason::OutstandingData,
        ResetReason::Performance,
        ResetReason::Middlebox,
    ][usize::from(code)]
}
