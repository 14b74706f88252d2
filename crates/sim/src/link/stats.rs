//! What a link counts.

use ropewalk_units::Duration;

/// The counters of one direction, as a link keeps them.
#[derive(Clone, Default)]
pub(super) struct Counters {
    pub(super) offered: u64,
    pub(super) duplicates: u64,
    pub(super) transmitted: u64,
    pub(super) transmitted_bytes: u64,
    pub(super) delivered: u64,
    pub(super) drops_queue: u64,
    pub(super) drops_loss: u64,
    pub(super) marks: u64,
    pub(super) queued: u32,
    pub(super) queued_bytes: u64,
    /// Without the packet in transmission.
    pub(super) busy: Duration,
    /// Until the last change of capacity.
    pub(super) capacity_bytes: u64,
}

/// What one direction of a link has done so far.
///
/// `offered + duplicates = delivered + drops_queue + drops_loss + queued + in_flight`, always. What was put on its
/// way ([`crate::World::put_in_flight`]) is counted nowhere.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct LinkStats {
    /// Packets that nodes sent into it.
    pub offered: u64,
    /// Copies it made of its own.
    pub duplicates: u64,
    /// Packets that left the transmitter, the lost ones included.
    pub transmitted_packets: u64,
    /// Their octets.
    pub transmitted_bytes: u64,
    /// Packets that arrived, or were taken out on their way ([`crate::World::take_in_flight`]).
    pub delivered: u64,
    /// Packets dropped by the queue: full, or by active queue management.
    pub drops_queue: u64,
    /// Packets lost on the medium or because the link was down.
    pub drops_loss: u64,
    /// Packets marked Congestion Experienced here.
    pub marks: u64,
    /// Packets waiting or in transmission now.
    pub queued: u64,
    /// Their octets.
    pub queued_bytes: u64,
    /// Packets between transmitter and receiver now.
    pub in_flight: u64,
    /// Time in which a packet was in transmission (with a trace: waited for its opportunity).
    pub busy: Duration,
    /// Octets that it could have transmitted while it was up.
    pub capacity_bytes: u64,
}

impl Counters {
    pub(super) fn view(&self, in_flight: usize, busy: Duration, capacity_bytes: u64) -> LinkStats {
        LinkStats {
            offered: self.offered,
            duplicates: self.duplicates,
            transmitted_packets: self.transmitted,
            transmitted_bytes: self.transmitted_bytes,
            delivered: self.delivered,
            drops_queue: self.drops_queue,
            drops_loss: self.drops_loss,
            marks: self.marks,
            queued: u64::from(self.queued),
            queued_bytes: self.queued_bytes,
            in_flight: in_flight as u64,
            busy,
            capacity_bytes,
        }
    }
}

impl LinkStats {
    /// The share of its capacity that was used, in [0, 1].
    pub fn utilisation(&self) -> f64 {
        if self.capacity_bytes == 0 {
            return 0.0;
        }
        (self.transmitted_bytes as f64 / self.capacity_bytes as f64).min(1.0)
    }
}
