//! Multipath TCP's options (RFC 8684 §3) in every length that the standard and Linux send.

use super::ReadError;
use super::cursor::Cursor;
use crate::codes::{capable, dss, subtype};
use crate::mptcp::{
    AddAddress, DataAck, Dss, FastClose, Join, Mapping, MptcpOption, Priority, RemoveAddress, ResetReason,
};
use ropewalk_units::{Dsn, Ssn};
use std::net::IpAddr;

/// One of Multipath TCP's options as it stands in a header.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ReadMptcp<'a> {
    /// The data sequence signal.
    Dss(ReadDss),
    /// Another that we speak.
    Rare(MptcpOption),
    /// A subtype, version or length that we do not speak: what stands behind kind and length.
    Unknown(&'a [u8]),
}

/// A data sequence number on the wire (RFC 8684 §3.3.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WireDsn {
    /// Its low 32 bits.
    Short(u32),
    /// All of it.
    Long(Dsn),
}

impl WireDsn {
    /// The number nearest to `near` that it can stand for.
    pub const fn near(self, near: Dsn) -> Dsn {
        match self {
            Self::Short(low) => near.nearest(low),
            Self::Long(dsn) => dsn,
        }
    }
}

/// The mapping of a [`ReadDss`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReadMapping {
    /// Data sequence number of the first octet.
    pub dsn: WireDsn,
    /// Subflow sequence number of the first octet, relative to the subflow's initial one.
    pub ssn: Ssn,
    /// Data-level length; 0 means an infinite mapping (RFC 8684 §3.7).
    pub len: u16,
    /// The checksum, if there is one.
    pub checksum: Option<u16>,
}

/// A data sequence signal as it stands in a header: unlike [`Dss`] it may have a DSN of 32 bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReadDss {
    /// The DATA_ACK.
    pub data_ack: Option<DataAck>,
    /// The mapping.
    pub mapping: Option<ReadMapping>,
    /// F: the mapping's last octet is the DATA_FIN.
    pub data_fin: bool,
}

impl ReadDss {
    /// The signal with its DSN whole: the one nearest to `near`.
    pub fn near(&self, near: Dsn) -> Dss {
        let mapping = self.mapping.map(|ReadMapping { dsn, ssn, len, checksum }| Mapping {
            dsn: dsn.near(near),
            ssn,
            len,
            checksum,
        });
        let dss = Dss::new(self.data_ack, mapping);
        if self.data_fin { dss.ending() } else { dss }
    }

    /// RFC 8684 §3.3, figure 9. Bits that no field goes with say nothing: `a` without A, `m` without M.
    fn read(cursor: &mut Cursor<'_>) -> Result<Self, ReadError> {
        let flags = cursor.u8()?;
        let has = |flag: u8| flags & flag != 0;
        let data_ack = match (has(dss::ACK), has(dss::LONG_ACK)) {
            (false, _) => None,
            (true, false) => Some(DataAck::Short(cursor.u32()?)),
            (true, true) => Some(DataAck::Long(Dsn::new(cursor.u64()?))),
        };
        let mapping = match has(dss::MAPPING) {
            true => Some(ReadMapping {
                dsn: match has(dss::LONG_DSN) {
                    true => WireDsn::Long(Dsn::new(cursor.u64()?)),
                    false => WireDsn::Short(cursor.u32()?),
                },
                ssn: Ssn::new(cursor.u32()?),
                len: cursor.u16()?,
                checksum: if cursor.left() > 0 { Some(cursor.u16()?) } else { None },
            }),
            false => None,
        };
        Ok(Self { data_ack, mapping, data_fin: has(dss::FIN) })
    }

    fn emit_body(&self, out: &mut Vec<u8>) {
        let start = out.len();
        out.extend([subtype::DSS, if self.data_fin { dss::FIN } else { 0 }]);
        let mut flags = 0;
        match self.data_ack {
            None => {}
            Some(DataAck::Short(low)) => {
                flags |= dss::ACK;
                out.extend(low.to_be_bytes());
            }
            Some(DataAck::Long(dsn)) => {
                flags |= dss::ACK | dss::LONG_ACK;
                out.extend(dsn.get().to_be_bytes());
            }
        }
        if let Some(mapping) = &self.mapping {
            flags |= dss::MAPPING;
            match mapping.dsn {
                WireDsn::Short(low) => out.extend(low.to_be_bytes()),
                WireDsn::Long(dsn) => {
                    flags |= dss::LONG_DSN;
                    out.extend(dsn.get().to_be_bytes());
                }
            }
            out.extend(mapping.ssn.get().to_be_bytes());
            out.extend(mapping.len.to_be_bytes());
            out.extend(mapping.checksum.map(u16::to_be_bytes).into_iter().flatten());
        }
        out[start + 1] |= flags;
    }
}

impl<'a> ReadMptcp<'a> {
    /// The option behind kind and length.
    pub(super) fn read(body: &'a [u8]) -> Self {
        Self::known(body).ok().flatten().unwrap_or(Self::Unknown(body))
    }

    /// The option, if we speak it and its length is one that it can have.
    fn known(body: &[u8]) -> Result<Option<Self>, ReadError> {
        let mut cursor = Cursor::new(body, "MPTCP option");
        let first = cursor.u8()?;
        let (kind, low) = (first & 0xf0, first & 0x0f);
        let option = match kind {
            subtype::DSS => Self::Dss(ReadDss::read(&mut cursor)?),
            subtype::CAPABLE if low == capable::VERSION => match read_capable(&mut cursor)? {
                Some(option) => Self::Rare(option),
                None => return Ok(None),
            },
            subtype::JOIN => match read_join(&mut cursor, low)? {
                Some(join) => Self::Rare(MptcpOption::Join(join)),
                None => return Ok(None),
            },
            subtype::ADD_ADDRESS => match read_add_address(&mut cursor, low)? {
                Some(add) => Self::Rare(MptcpOption::AddAddress(add)),
                None => return Ok(None),
            },
            _ => match read_short(kind, low, &mut cursor)? {
                Some(option) => Self::Rare(option),
                None => return Ok(None),
            },
        };
        Ok((cursor.left() == 0).then_some(option))
    }

    /// Appends what stands behind kind and length.
    pub(super) fn emit_body(&self, out: &mut Vec<u8>) {
        match self {
            Self::Dss(dss) => dss.emit_body(out),
            Self::Rare(option) => option.emit_body(out),
            Self::Unknown(body) => out.extend_from_slice(body),
        }
    }
}

/// RFC 8684 §3.1, figure 4. With B, or without H, the option is one that we do not speak: its SYN is plain TCP's.
fn read_capable(cursor: &mut Cursor<'_>) -> Result<Option<MptcpOption>, ReadError> {
    let flags = cursor.u8()?;
    if flags & capable::B != 0 || flags & capable::H == 0 {
        return Ok(None);
    }
    let keys = match cursor.left() {
        0 => 0,
        8 => 1,
        16 | 18 | 20 => 2,
        _ => return Ok(None),
    };
    let sender_key = if keys >= 1 { Some(cursor.u64()?) } else { None };
    let receiver_key = if keys == 2 { Some(cursor.u64()?) } else { None };
    let data = match cursor.left() {
        0 => None,
        2 => Some((cursor.u16()?, None)),
        _ => Some((cursor.u16()?, Some(cursor.u16()?))),
    };
    Ok(Some(MptcpOption::Capable {
        checksum_required: flags & capable::A != 0,
        no_more_subflows: flags & capable::C != 0,
        sender_key,
        receiver_key,
        data,
    }))
}

/// RFC 8684 §3.2, figures 5 to 7: the length tells the shape.
fn read_join(cursor: &mut Cursor<'_>, low: u8) -> Result<Option<Join>, ReadError> {
    let (backup, address_id) = (low & 1 != 0, cursor.u8()?);
    Ok(match cursor.left() {
        8 => Some(Join::Syn { backup, address_id, token: cursor.u32()?, nonce: cursor.u32()? }),
        12 => Some(Join::SynAck { backup, address_id, hmac: cursor.u64()?, nonce: cursor.u32()? }),
        20 => Some(Join::Ack { hmac: cursor.take()? }),
        _ => None,
    })
}

/// RFC 8684 §3.4.1, figure 12: E and the length tell the shape. The echo has no HMAC.
fn read_add_address(cursor: &mut Cursor<'_>, low: u8) -> Result<Option<AddAddress>, ReadError> {
    let echo = low & 1 != 0;
    let address_id = cursor.u8()?;
    let hmac_len = if echo { 0 } else { 8 };
    let (is_v4, has_port) = match cursor.left().checked_sub(hmac_len) {
        Some(4) => (true, false),
        Some(6) => (true, true),
        Some(16) => (false, false),
        Some(18) => (false, true),
        _ => return Ok(None),
    };
    let address: IpAddr = if is_v4 { cursor.take::<4>()?.into() } else { cursor.take::<16>()?.into() };
    let port = if has_port { Some(cursor.u16()?) } else { None };
    let hmac = if echo { None } else { Some(cursor.u64()?) };
    Ok(Some(AddAddress { address_id, address, port, hmac }))
}

/// The options of one shape.
fn read_short(kind: u8, low: u8, cursor: &mut Cursor<'_>) -> Result<Option<MptcpOption>, ReadError> {
    Ok(Some(match kind {
        subtype::REMOVE_ADDRESS if cursor.left() > 0 => {
            let mut address_ids = Vec::with_capacity(cursor.left());
            while cursor.left() > 0 {
                address_ids.push(cursor.u8()?);
            }
            MptcpOption::RemoveAddress(RemoveAddress { address_ids })
        }
        subtype::PRIORITY => MptcpOption::Priority(Priority { backup: low & 1 != 0 }),
        subtype::FAIL => {
            cursor.u8()?;
            MptcpOption::Fail(Dsn::new(cursor.u64()?))
        }
        subtype::FAST_CLOSE => {
            cursor.u8()?;
            MptcpOption::FastClose(FastClose { receiver_key: cursor.u64()? })
        }
        subtype::RESET => MptcpOption::Reset { transient: low & 1 != 0, reason: reason(cursor.u8()?) },
        _ => return Ok(None),
    }))
}

/// RFC 8684 §3.6, table 3. A reason that the table lacks says no more than "unspecified".
fn reason(code: u8) -> ResetReason {
    ResetReason::ALL.get(usize::from(code)).copied().unwrap_or(ResetReason::Unspecified)
}
