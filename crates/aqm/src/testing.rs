//! Callbacks for the tests of one discipline.

use crate::{Callbacks, Dropped, Load, Queued};
use ropewalk_units::Instant;

/// Remembers what was done. Packets are numbers that the test chooses; `number / 1000` is the flow.
#[derive(Default)]
pub(crate) struct Log {
    pub(crate) ecn: bool,
    pub(crate) dropped: Vec<(Instant, u32, Dropped)>,
    pub(crate) marked: Vec<(Instant, u32)>,
}

impl Callbacks<u32> for Log {
    fn discard(&mut self, at: Instant, queued: Queued<u32>, reason: Dropped) {
        self.dropped.push((at, queued.packet, reason));
    }

    fn mark(&mut self, at: Instant, packet: &mut u32) -> bool {
        if self.ecn {
            self.marked.push((at, *packet));
        }
        self.ecn
    }

    fn flow_hash(&self, packet: &u32) -> u32 {
        packet / 1_000
    }
}

pub(crate) fn ms(ms: u64) -> Instant {
    Instant::from_nanos(ms * 1_000_000)
}

pub(crate) fn packet(number: u32, bytes: u32, enqueued: Instant) -> Queued<u32> {
    Queued { packet: number, bytes, enqueued }
}

/// What a packet finds in the queue: `packets` packets of 1000 octets.
pub(crate) fn load(packets: u32) -> Load {
    Load { packets, bytes: u64::from(packets) * 1_000 }
}
