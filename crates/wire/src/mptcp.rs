//! The options of Multipath TCP version 1 (RFC 8684 §3) as values, with their lengths.

use ropewalk_units::{Dsn, Ssn};
use std::fmt;
use std::net::IpAddr;

/// A host's 64-bit key (RFC 8684 §3.1).
pub type Key = u64;
/// A connection's 32-bit token: the most significant bits of SHA-256(key).
pub type Token = u32;
/// A random number of MP_JOIN.
pub type Nonce = u32;

/// A DATA_ACK of 4 or 8 octets (RFC 8684 §3.3.2).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DataAck {
    /// The low 32 bits.
    Short(u32),
    /// All 64 bits.
    Long(Dsn),
}

/// A DSS mapping (RFC 8684 §3.3.1). Always sent with a 64-bit DSN.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mapping {
    /// Data sequence number of the first octet.
    pub dsn: Dsn,
    /// Subflow sequence number of the first octet, relative to the subflow's initial one; 0 when the mapping
    /// only carries a DATA_FIN on a segment without data, or starts an infinite mapping at the first octet.
    pub ssn: Ssn,
    /// Data-level length, DATA_FIN's octet included; 0 means an infinite mapping (RFC 8684 §3.7).
    pub len: u16,
    /// The checksum, if the connection uses them.
    pub checksum: Option<u16>,
}

/// How long the DATA_ACK of a [`Dss`] is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AckWidth {
    None,
    Short,
    Long,
}

/// The data sequence signal (RFC 8684 §3.3).
///
/// Kept flat, in 32 octets: every segment of a Multipath TCP connection carries one, and is moved several times
/// on its way. What is absent is zero.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Dss {
    data_ack: u64,
    dsn: Dsn,
    ssn: Ssn,
    len: u16,
    checksum: u16,
    ack_width: AckWidth,
    has_mapping: bool,
    has_checksum: bool,
    data_fin: bool,
}

impl Dss {
    /// A signal with these parts and without F.
    pub fn new(data_ack: Option<DataAck>, mapping: Option<Mapping>) -> Self {
        let (ack_width, data_ack) = match data_ack {
            None => (AckWidth::None, 0),
            Some(DataAck::Short(low)) => (AckWidth::Short, u64::from(low)),
            Some(DataAck::Long(dsn)) => (AckWidth::Long, dsn.get()),
        };
        let has_mapping = mapping.is_some();
        let none = Mapping { dsn: Dsn::new(0), ssn: Ssn::new(0), len: 0, checksum: None };
        let Mapping { dsn, ssn, len, checksum } = mapping.unwrap_or(none);
        Self {
            data_ack,
            dsn,
            ssn,
            len,
            checksum: checksum.unwrap_or(0),
            ack_width,
            has_mapping,
            has_checksum: checksum.is_some(),
            data_fin: false,
        }
    }

    /// The same with F: the mapping's last octet is the DATA_FIN.
    #[must_use]
    pub fn ending(self) -> Self {
        Self { data_fin: true, ..self }
    }

    /// The DATA_ACK.
    pub fn data_ack(&self) -> Option<DataAck> {
        match self.ack_width {
            AckWidth::None => None,
            AckWidth::Short => Some(DataAck::Short(self.data_ack as u32)),
            AckWidth::Long => Some(DataAck::Long(Dsn::new(self.data_ack))),
        }
    }

    /// The mapping.
    pub fn mapping(&self) -> Option<Mapping> {
        let checksum = self.has_checksum.then_some(self.checksum);
        self.has_mapping.then_some(Mapping { dsn: self.dsn, ssn: self.ssn, len: self.len, checksum })
    }

    /// F: the mapping's last octet is the DATA_FIN.
    pub fn data_fin(&self) -> bool {
        self.data_fin
    }

    /// Octets on the wire, padded to a multiple of four.
    pub fn wire_len(&self) -> u32 {
        let mut len = match self.ack_width {
            AckWidth::None => 4,
            AckWidth::Short => 8,
            AckWidth::Long => 12,
        };
        if self.has_mapping {
            // 14 without the checksum, and then padded to the same.
            len += 16;
        }
        len
    }
}

impl fmt::Debug for Dss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dss")
            .field("data_ack", &self.data_ack())
            .field("mapping", &self.mapping())
            .field("data_fin", &self.data_fin)
            .finish()
    }
}

/// MP_JOIN in its three shapes (RFC 8684 §3.2).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Join {
    /// On the SYN: 12 octets.
    Syn {
        /// B: use the subflow only as a backup.
        backup: bool,
        /// The sender's address.
        address_id: u8,
        /// The receiver's token.
        token: Token,
        /// The sender's random number.
        nonce: Nonce,
    },
    /// On the SYN/ACK: 16 octets.
    SynAck {
        /// B: use the subflow only as a backup.
        backup: bool,
        /// The sender's address.
        address_id: u8,
        /// Leftmost 64 bits of the HMAC.
        hmac: u64,
        /// The sender's random number.
        nonce: Nonce,
    },
    /// On the third ACK: 24 octets.
    Ack {
        /// Leftmost 160 bits of the HMAC.
        hmac: [u8; 20],
    },
}

/// ADD_ADDR and its echo (RFC 8684 §3.4.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AddAddress {
    /// Identifier of the address.
    pub address_id: u8,
    /// The address.
    pub address: IpAddr,
    /// The port, if it is not that of the first subflow.
    pub port: Option<u16>,
    /// Rightmost 64 bits of the HMAC; `None` makes this the echo (E = 1).
    pub hmac: Option<u64>,
}

/// REMOVE_ADDR (RFC 8684 §3.4.2).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RemoveAddress {
    /// Identifiers of the addresses that are gone; at least one.
    pub address_ids: Vec<u8>,
}

/// MP_PRIO (RFC 8684 §3.3.8): the subflow it travels on becomes a backup, or a full one again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Priority {
    /// B.
    pub backup: bool,
}

/// MP_FASTCLOSE (RFC 8684 §3.5).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FastClose {
    /// The receiver's key.
    pub receiver_key: Key,
}

/// Why a subflow is reset (MP_TCPRST, RFC 8684 §3.6).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum ResetReason {
    /// Unspecified error.
    Unspecified = 0,
    /// MPTCP-specific error.
    Mptcp = 1,
    /// Lack of resources.
    Resources = 2,
    /// Administratively prohibited.
    Prohibited = 3,
    /// Too much outstanding data.
    OutstandingData = 4,
    /// Unacceptable performance.
    Performance = 5,
    /// Middlebox interference.
    Middlebox = 6,
}

impl ResetReason {
    /// All of them, each at the place of its code.
    pub const ALL: [Self; 7] = [
        Self::Unspecified,
        Self::Mptcp,
        Self::Resources,
        Self::Prohibited,
        Self::OutstandingData,
        Self::Performance,
        Self::Middlebox,
    ];
}

/// An option that is rare: it appears in handshakes, or when addresses and priorities change.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum MptcpOption {
    /// MP_CAPABLE (RFC 8684 §3.1): 4 octets without keys (SYN), 12 with the sender's (SYN/ACK), 20 with both
    /// (third ACK), 22 or 24 with both and a data length (first data, without and with checksum).
    Capable {
        /// A: the sender requires checksums.
        checksum_required: bool,
        /// C: the sender's address takes no further subflows.
        no_more_subflows: bool,
        /// The sender's key.
        sender_key: Option<Key>,
        /// The receiver's key.
        receiver_key: Option<Key>,
        /// Data-level length and checksum, on the first data.
        data: Option<(u16, Option<u16>)>,
    },
    /// MP_JOIN.
    Join(Join),
    /// ADD_ADDR.
    AddAddress(AddAddress),
    /// REMOVE_ADDR.
    RemoveAddress(RemoveAddress),
    /// MP_PRIO.
    Priority(Priority),
    /// MP_FAIL with the DSN where the failure began (RFC 8684 §3.7).
    Fail(Dsn),
    /// MP_FASTCLOSE.
    FastClose(FastClose),
    /// MP_TCPRST: transient or not, and why.
    Reset {
        /// T: the condition may pass.
        transient: bool,
        /// The reason.
        reason: ResetReason,
    },
}

impl MptcpOption {
    /// Octets on the wire, padded to a multiple of four.
    pub fn wire_len(&self) -> u32 {
        let len = match self {
            Self::Capable { sender_key, receiver_key, data, .. } => {
                let keys = u32::from(sender_key.is_some()) + u32::from(receiver_key.is_some());
                let data = data.map_or(0, |(_, checksum)| if checksum.is_some() { 4 } else { 2 });
                4 + 8 * keys + data
            }
            Self::Join(Join::Syn { .. }) => 12,
            Self::Join(Join::SynAck { .. }) => 16,
            Self::Join(Join::Ack { .. }) => 24,
            Self::AddAddress(add) => {
                let address = if add.address.is_ipv4() { 4 } else { 16 };
                4 + address + if add.port.is_some() { 2 } else { 0 } + if add.hmac.is_some() { 8 } else { 0 }
            }
            Self::RemoveAddress(remove) => 3 + remove.address_ids.len() as u32,
            Self::Priority(_) => 3,
            Self::Fail(_) => 12,
            Self::FastClose(_) => 12,
            Self::Reset { .. } => 4,
        };
        (len + 3) & !3
    }
}

/// The Multipath TCP options of one segment: the DSS inline, the rare ones on the heap.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct MptcpOptions {
    /// The data sequence signal.
    pub dss: Option<Dss>,
    /// The rare ones, at least one; `None` on nearly every segment, so that carrying them costs a thin pointer.
    #[expect(clippy::box_collection, reason = "a Vec would make every segment 16 octets larger")]
    rare: Option<Box<Vec<MptcpOption>>>,
}

impl MptcpOptions {
    /// Octets on the wire.
    pub fn wire_len(&self) -> u32 {
        let dss = self.dss.as_ref().map_or(0, Dss::wire_len);
        if self.rare.is_none() { dss } else { dss + self.rare_len() }
    }

    #[cold]
    fn rare_len(&self) -> u32 {
        self.rare().iter().map(MptcpOption::wire_len).sum()
    }

    /// Is there none?
    pub fn is_empty(&self) -> bool {
        self.dss.is_none() && self.rare.is_none()
    }

    /// Are there rare options?
    pub fn has_rare(&self) -> bool {
        self.rare.is_some()
    }

    /// The rare options as a slice.
    pub fn rare(&self) -> &[MptcpOption] {
        self.rare.as_ref().map_or(&[], |rare| rare.as_slice())
    }

    /// Adds a rare option.
    pub fn push(&mut self, option: MptcpOption) {
        self.rare.get_or_insert_default().push(option);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_those_of_rfc_8684() {
        let capable = |keys: usize, data| MptcpOption::Capable {
            checksum_required: false,
            no_more_subflows: false,
            sender_key: (keys > 0).then_some(1),
            receiver_key: (keys > 1).then_some(2),
            data,
        };
        assert_eq!(capable(0, None).wire_len(), 4);
        assert_eq!(capable(1, None).wire_len(), 12);
        assert_eq!(capable(2, None).wire_len(), 20);
        assert_eq!(capable(2, Some((1000, None))).wire_len(), 24, "22, padded");
        assert_eq!(capable(2, Some((1000, Some(7)))).wire_len(), 24);
        let mapping = Mapping { dsn: Dsn::new(1), ssn: Ssn::new(1), len: 1400, checksum: None };
        let dss = |data_ack, mapping| Dss::new(data_ack, mapping).wire_len();
        assert_eq!(dss(Some(DataAck::Short(1)), None), 8);
        assert_eq!(dss(Some(DataAck::Long(Dsn::new(1))), None), 12);
        assert_eq!(dss(Some(DataAck::Short(1)), Some(mapping)), 24, "22, padded");
        assert_eq!(dss(Some(DataAck::Long(Dsn::new(1))), Some(mapping)), 28);
    }
}
