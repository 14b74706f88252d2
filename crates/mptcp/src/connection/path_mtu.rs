//! A router says that segments of a subflow are too long for its path.

use super::Connection;
use crate::id::SubflowId;
use ropewalk_tcp::TooBig;
use ropewalk_units::{Instant, Seq};

impl Connection {
    /// A router says that a segment of this subflow was too long ([`ropewalk_tcp::Connection::packet_too_big`]). The others' paths
    /// are their own.
    pub fn packet_too_big(&mut self, now: Instant, subflow: SubflowId, seq: Seq, mss: u16) -> TooBig {
        let Some(at) = self.subflows.place_of(subflow) else { return TooBig::Ignored };
        let result = self.subflows[at].tcp.packet_too_big(now, seq, mss);
        self.subflows[at].touch();
        self.planner.due.request_poll();
        result
    }
}
