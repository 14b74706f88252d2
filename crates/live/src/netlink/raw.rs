//! Messages of families that no crate of the netlink packets knows: their octets.

use netlink_packet_core::{DecodeError, NetlinkDeserializable, NetlinkHeader, NetlinkSerializable};

/// A message as it is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Raw {
    /// The type in its header.
    pub(super) kind: u16,
    /// What stands behind that.
    pub(super) octets: Vec<u8>,
}

impl NetlinkSerializable for Raw {
    fn message_type(&self) -> u16 {
        self.kind
    }

    fn buffer_len(&self) -> usize {
        self.octets.len()
    }

    fn serialize(&self, buffer: &mut [u8]) {
        buffer.copy_from_slice(&self.octets);
    }
}

impl NetlinkDeserializable for Raw {
    type Error = DecodeError;

    fn deserialize(header: &NetlinkHeader, payload: &[u8]) -> Result<Self, DecodeError> {
        Ok(Self { kind: header.message_type, octets: payload.to_vec() })
    }
}
