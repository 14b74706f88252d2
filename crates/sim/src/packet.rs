//! Packets and the arena that holds them.

/// What the engine must know of a packet. Everything else is the nodes' business.
pub trait Packet {
    /// Octets it takes on a link, all headers included.
    fn wire_len(&self) -> u32;
    /// Does it carry application data? [`crate::Loss::Exact`] counts only such packets.
    fn is_data(&self) -> bool;
    /// May it be marked instead of dropped (ECT(0), ECT(1) or CE; RFC 3168 §5)?
    fn ecn_capable(&self) -> bool;
    /// Sets Congestion Experienced.
    fn mark_ce(&mut self);
    /// A hash of its flow, for queues that separate flows; the same for all packets of a flow in one direction.
    fn flow_hash(&self) -> u32;
    /// A copy, for links that duplicate.
    fn duplicate(&self) -> Self;
}

/// A packet's place in the arena. It names the packet until that is taken or dropped; then the place is reused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PacketId(pub(crate) u32);

/// All packets that are anywhere between two nodes.
pub(crate) struct Arena<P> {
    slots: Vec<Option<P>>,
    free: Vec<u32>,
}

impl<P> Arena<P> {
    pub(crate) const fn new() -> Self {
        Self { slots: Vec::new(), free: Vec::new() }
    }

    #[inline]
    pub(crate) fn insert(&mut self, packet: P) -> PacketId {
        // The place freed last: its cache lines are still warm.
        if let Some(slot) = self.free.pop() {
            self.slots[slot as usize] = Some(packet);
            return PacketId(slot);
        }
        let slot = u32::try_from(self.slots.len()).expect("fewer than 2^32 packets");
        self.slots.push(Some(packet));
        PacketId(slot)
    }

    #[inline]
    pub(crate) fn get(&self, id: PacketId) -> &P {
        self.slots[id.0 as usize].as_ref().expect("a packet that is still there")
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, id: PacketId) -> &mut P {
        self.slots[id.0 as usize].as_mut().expect("a packet that is still there")
    }

    #[inline]
    pub(crate) fn take(&mut self, id: PacketId) -> P {
        let packet = self.slots[id.0 as usize].take().expect("a packet that is still there");
        self.free.push(id.0);
        packet
    }

    #[inline]
    pub(crate) fn discard(&mut self, id: PacketId) {
        self.slots[id.0 as usize] = None;
        self.free.push(id.0);
    }

    /// How many packets there are.
    pub(crate) fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_reused_only_after_its_packet_left() {
        let mut arena = Arena::new();
        let (a, b) = (arena.insert("a"), arena.insert("b"));
        assert_eq!((*arena.get(a), *arena.get(b), arena.len()), ("a", "b", 2));
        assert_eq!(arena.take(a), "a");
        let c = arena.insert("c");
        assert_eq!((c, *arena.get(c), *arena.get(b)), (a, "c", "b"));
        arena.discard(b);
        assert_eq!(arena.len(), 1);
    }

    #[test]
    #[should_panic(expected = "still there")]
    fn a_packet_is_taken_once() {
        let mut arena = Arena::new();
        let id = arena.insert(());
        arena.take(id);
        arena.take(id);
    }
}
