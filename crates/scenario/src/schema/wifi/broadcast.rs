//! What stations tell all that hear them: `[wifi.broadcasts.NAME]`.

use crate::schema::interval::IntervalTable;
use crate::schema::quantity::{Name, Size, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Datagrams that stations send to all that hear them: hellos, probes, announcements. They go once, without an ACK, and
/// no station forwards them.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct BroadcastTable {
    /// The stations that send (default: all with a radio on the channel).
    pub(crate) from: Option<Vec<Name>>,
    /// The channel (default: the network's first).
    pub(crate) channel: Option<u8>,
    /// Payload octets of one datagram; 28 octets of headers come on top (default 100 B).
    pub(crate) packet_size: Option<Size>,
    /// From one datagram of a station to its next (default 1 s).
    pub(crate) interval: Option<IntervalTable>,
    /// When the first are sent (default 0 s).
    pub(crate) start: Option<Time>,
    /// Each station begins at a time of its own, drawn from so much after `start` (default: the interval; 0 s: all
    /// at once).
    pub(crate) spread: Option<Time>,
    /// How long from `start` (default: until the end).
    pub(crate) duration: Option<Time>,
}
