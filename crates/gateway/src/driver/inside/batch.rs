//! Packets that one thread hands to another, and room for them that is used again.

use std::sync::{Mutex, PoisonError};

/// A batch is handed over when it has so many packets.
const FULL: usize = 64;
/// Octets of a batch's room at the start. It grows if more come together.
const ROOM: usize = 1 << 17;

/// Packets, one behind the other.
#[derive(Default)]
pub(super) struct Batch {
    octets: Vec<u8>,
    lens: Vec<usize>,
}

impl Batch {
    fn with_room() -> Self {
        Self { octets: Vec::with_capacity(ROOM), lens: Vec::with_capacity(2 * FULL) }
    }

    pub(super) fn push(&mut self, packet: &[u8]) {
        self.octets.extend_from_slice(packet);
        self.lens.push(packet.len());
    }

    pub(super) fn is_empty(&self) -> bool {
        self.lens.is_empty()
    }

    pub(super) fn is_full(&self) -> bool {
        self.lens.len() >= FULL
    }

    /// Passes on each packet, in order.
    pub(super) fn for_each(&mut self, mut take: impl FnMut(&mut [u8])) {
        let mut rest = self.octets.as_mut_slice();
        for &len in &self.lens {
            let (packet, behind) = rest.split_at_mut(len);
            take(packet);
            rest = behind;
        }
    }
}

/// Batches that nobody uses.
#[derive(Default)]
pub(super) struct Pool(Mutex<Vec<Batch>>);

impl Pool {
    /// An empty batch.
    pub(super) fn take(&self) -> Batch {
        let spare = self.0.lock().unwrap_or_else(PoisonError::into_inner).pop();
        spare.unwrap_or_else(Batch::with_room)
    }

    /// Keeps the room of a batch for another one.
    pub(super) fn put(&self, mut batch: Batch) {
        batch.octets.clear();
        batch.lens.clear();
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(batch);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Also in a batch that was used before.
        #[test]
        fn packets_come_out_as_they_went_in(
            packets in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..100)
        ) {
            let pool = Pool::default();
            let mut used = pool.take();
            used.push(b"before");
            pool.put(used);
            let mut batch = pool.take();
            packets.iter().for_each(|packet| batch.push(packet));
            prop_assert_eq!((batch.is_empty(), batch.is_full()), (packets.is_empty(), packets.len() >= FULL));
            let mut out = Vec::new();
            batch.for_each(|packet| out.push(packet.to_vec()));
            prop_assert_eq!(out, packets);
        }
    }
}
