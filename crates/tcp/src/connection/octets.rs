//! Which octets a connection still holds: for a host that keeps real ones beside it.

use super::Connection;
use ropewalk_wire::Payload;

impl Connection {
    /// Octets that arrived and were not read, those above a hole included.
    pub fn held_octets(&self) -> u64 {
        self.receiver.readable() + self.receiver.waiting().octets
    }

    /// Names each range that arrived and was not read, in no particular order.
    pub fn visit_held(&self, visit: &mut impl FnMut(Payload)) {
        self.receiver.visit(visit);
    }

    /// Names each range that was pushed and is not acknowledged, whether it was sent or not.
    pub fn visit_unacknowledged(&self, visit: &mut impl FnMut(Payload)) {
        self.sender.visit(visit);
    }
}
