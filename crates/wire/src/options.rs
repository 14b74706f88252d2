//! TCP options as bytes, laid out as real stacks do; their number always equals `Options::wire_len`.

use crate::codes::{capable, dss, kind, subtype};
use crate::mptcp::{AddAddress, DataAck, Dss, Join, MptcpOption};
use crate::segment::{Options, SackBlocks, Timestamps};
use std::net::IpAddr;

impl Options {
    /// Appends the options' octets, [`Options::wire_len`] of them.
    pub fn emit(&self, out: &mut Vec<u8>) {
        if let Some(mss) = self.mss {
            out.extend([kind::MSS, 4]);
            out.extend(mss.to_be_bytes());
        }
        self.emit_sack_permitted_and_timestamps(out);
        if let Some(shift) = self.window_scale {
            out.extend([kind::NOP, kind::WINDOW_SCALE, 3, shift]);
        }
        emit_sack(&self.sack, out);
        if let Some(dss) = &self.mptcp.dss {
            dss.emit(out);
        }
        for option in self.mptcp.rare() {
            option.emit(out);
        }
    }

    /// "SACK permitted" takes the place of the two NOPs before the timestamps of a SYN.
    fn emit_sack_permitted_and_timestamps(&self, out: &mut Vec<u8>) {
        if self.sack_permitted && self.timestamps.is_some() {
            out.extend([kind::SACK_PERMITTED, 2]);
        } else if self.sack_permitted {
            out.extend([kind::NOP, kind::NOP, kind::SACK_PERMITTED, 2]);
        } else if self.timestamps.is_some() {
            out.extend([kind::NOP, kind::NOP]);
        }
        if let Some(Timestamps { value, echo }) = self.timestamps {
            out.extend([kind::TIMESTAMPS, 10]);
            out.extend(value.to_be_bytes());
            out.extend(echo.to_be_bytes());
        }
    }
}

/// RFC 2018 §3, behind two NOPs.
fn emit_sack(sack: &SackBlocks, out: &mut Vec<u8>) {
    if sack.is_empty() {
        return;
    }
    out.extend([kind::NOP, kind::NOP, kind::SACK, 2 + 8 * sack.as_slice().len() as u8]);
    for (left, right) in sack.as_slice() {
        out.extend(left.get().to_be_bytes());
        out.extend(right.get().to_be_bytes());
    }
}

/// Writes kind and length around what `body` appends.
pub(crate) fn emit_option(kind: u8, out: &mut Vec<u8>, body: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.extend([kind, 0]);
    body(out);
    out[start + 1] = (out.len() - start) as u8;
}

/// A Multipath TCP option, with NOPs behind it up to whole words.
fn emit_padded(out: &mut Vec<u8>, body: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    emit_option(kind::MPTCP, out, body);
    let len = out.len() - start;
    out.resize(start + len.next_multiple_of(4), kind::NOP);
}

impl Dss {
    /// RFC 8684 §3.3, figure 9.
    fn emit(&self, out: &mut Vec<u8>) {
        emit_padded(out, |out| {
            out.extend([subtype::DSS, self.flags()]);
            match self.data_ack() {
                None => {}
                Some(DataAck::Short(low)) => out.extend(low.to_be_bytes()),
                Some(DataAck::Long(dsn)) => out.extend(dsn.get().to_be_bytes()),
            }
            if let Some(mapping) = self.mapping() {
                out.extend(mapping.dsn.get().to_be_bytes());
                out.extend(mapping.ssn.get().to_be_bytes());
                out.extend(mapping.len.to_be_bytes());
                out.extend(mapping.checksum.map(u16::to_be_bytes).into_iter().flatten());
            }
        });
    }

    /// F, m, M, a and A, from the left.
    fn flags(&self) -> u8 {
        let ack = match self.data_ack() {
            None => 0,
            Some(DataAck::Short(_)) => dss::ACK,
            Some(DataAck::Long(_)) => dss::ACK | dss::LONG_ACK,
        };
        let mapping = if self.mapping().is_some() { dss::MAPPING | dss::LONG_DSN } else { 0 };
        ack | mapping | if self.data_fin() { dss::FIN } else { 0 }
    }
}

impl MptcpOption {
    /// The option's octets, padded.
    fn emit(&self, out: &mut Vec<u8>) {
        emit_padded(out, |out| self.emit_body(out));
    }

    /// What stands behind kind and length.
    pub(crate) fn emit_body(&self, out: &mut Vec<u8>) {
        match self {
            Self::Capable { .. } => self.emit_capable(out),
            Self::Join(join) => emit_join(join, out),
            Self::AddAddress(add) => emit_add_address(add, out),
            Self::RemoveAddress(remove) => {
                out.push(subtype::REMOVE_ADDRESS);
                out.extend(&remove.address_ids);
            }
            Self::Priority(priority) => out.push(subtype::PRIORITY | u8::from(priority.backup)),
            Self::Fail(dsn) => {
                out.extend([subtype::FAIL, 0]);
                out.extend(dsn.get().to_be_bytes());
            }
            Self::FastClose(close) => {
                out.extend([subtype::FAST_CLOSE, 0]);
                out.extend(close.receiver_key.to_be_bytes());
            }
            Self::Reset { transient, reason } => {
                out.extend([subtype::RESET | u8::from(*transient), *reason as u8]);
            }
        }
    }

    /// RFC 8684 §3.1, figure 4; version 1, and H (HMAC-SHA256) as the only algorithm there is.
    fn emit_capable(&self, out: &mut Vec<u8>) {
        let Self::Capable { checksum_required, no_more_subflows, sender_key, receiver_key, data } = self
        else {
            return;
        };
        let a = if *checksum_required { capable::A } else { 0 };
        let c = if *no_more_subflows { capable::C } else { 0 };
        out.extend([subtype::CAPABLE | capable::VERSION, a | c | capable::H]);
        for key in [sender_key, receiver_key].into_iter().flatten() {
            out.extend(key.to_be_bytes());
        }
        if let Some((len, checksum)) = data {
            out.extend(len.to_be_bytes());
            out.extend(checksum.map(u16::to_be_bytes).into_iter().flatten());
        }
    }
}

/// RFC 8684 §3.2, figures 5 to 7.
fn emit_join(join: &Join, out: &mut Vec<u8>) {
    match join {
        Join::Syn { backup, address_id, token, nonce } => {
            out.extend([subtype::JOIN | u8::from(*backup), *address_id]);
            out.extend(token.to_be_bytes());
            out.extend(nonce.to_be_bytes());
        }
        Join::SynAck { backup, address_id, hmac, nonce } => {
            out.extend([subtype::JOIN | u8::from(*backup), *address_id]);
            out.extend(hmac.to_be_bytes());
            out.extend(nonce.to_be_bytes());
        }
        Join::Ack { hmac } => {
            out.extend([subtype::JOIN, 0]);
            out.extend(hmac);
        }
    }
}

/// RFC 8684 §3.4.1, figure 12; E marks the echo, which has no HMAC.
fn emit_add_address(add: &AddAddress, out: &mut Vec<u8>) {
    let echo = u8::from(add.hmac.is_none());
    out.extend([subtype::ADD_ADDRESS | echo, add.address_id]);
    match add.address {
        IpAddr::V4(address) => out.extend(address.octets()),
        IpAddr::V6(address) => out.extend(address.octets()),
    }
    out.extend(add.port.map(u16::to_be_bytes).into_iter().flatten());
    out.extend(add.hmac.map(u64::to_be_bytes).into_iter().flatten());
}
