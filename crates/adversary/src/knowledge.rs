//! What an attacker knows besides addresses and ports.

use ropewalk_units::{Dsn, Ssn};
use ropewalk_wire::{DataAck, Key, MptcpOption, Segment, Timestamps, Token};

/// What an attacker has last seen on segments to one end. It includes no SEQ and no ACK: the blind
/// attacker of RFC 5961 has to guess those.
#[derive(Clone, Copy, Debug, Default)]
pub struct Knowledge {
    /// Of the last honest segment with timestamps.
    pub timestamps: Option<Timestamps>,
    /// The DSN that comes next.
    pub dsn: Dsn,
    /// The subflow sequence number that comes next.
    pub ssn: Ssn,
    /// The last DATA_ACK.
    pub data_ack: Dsn,
    /// The key of this end's peer, and this end's own key.
    pub keys: (Option<Key>, Option<Key>),
    /// This end's token, as a MP_JOIN would name it.
    pub token: Option<Token>,
}

impl Knowledge {
    /// An honest segment to this end was seen.
    pub fn observe(&mut self, segment: &Segment) {
        if segment.options.timestamps.is_some() {
            self.timestamps = segment.options.timestamps;
        }
        if let Some(dss) = &segment.options.mptcp.dss {
            if let Some(mapping) = dss.mapping() {
                self.dsn = mapping.dsn + u64::from(mapping.len);
                self.ssn = Ssn::new(mapping.ssn.get().wrapping_add(u32::from(mapping.len)));
            }
            match dss.data_ack() {
                Some(DataAck::Long(dsn)) => self.data_ack = dsn,
                Some(DataAck::Short(low)) => self.data_ack = self.data_ack.nearest(low),
                None => {}
            }
        }
        for option in segment.options.mptcp.rare() {
            if let MptcpOption::Capable { sender_key, receiver_key, .. } = option {
                self.keys = (sender_key.or(self.keys.0), receiver_key.or(self.keys.1));
            }
        }
    }
}
