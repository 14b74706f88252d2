//! Packets that a driver keeps, since they may have to be sent again.

use crate::id::GlobalSeq;

/// How many packets back: what 240 Mbit/s send in 0.4 s.
const CAPACITY: u32 = 8192;

/// The last packets that [`crate::Dispatch::kept_as`] asked to be kept, by their numbers in the bond. Takes no memory before the first.
#[derive(Debug)]
pub struct Keep<P> {
    slots: Vec<Option<(GlobalSeq, P)>>,
}

impl<P> Default for Keep<P> {
    fn default() -> Self {
        Self { slots: Vec::new() }
    }
}

impl<P> Keep<P> {
    /// Keeps a packet. What is forgotten for it, for the driver to free.
    #[inline]
    pub fn put(&mut self, number: GlobalSeq, packet: P) -> Option<P> {
        if self.slots.is_empty() {
            self.slots.resize_with(CAPACITY as usize, || None);
        }
        let slot = &mut self.slots[(number.get() % CAPACITY) as usize];
        slot.replace((number, packet)).map(|(_, forgotten)| forgotten)
    }

    /// A packet, if it is still kept.
    #[inline]
    pub fn get(&self, number: GlobalSeq) -> Option<&P> {
        let slot = self.slots.get((number.get() % CAPACITY) as usize)?;
        slot.as_ref().filter(|(kept, _)| *kept == number).map(|(_, packet)| packet)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_ones_are_kept_and_the_others_handed_back() {
        let mut keep = Keep::default();
        let number = |number: u32| GlobalSeq::new(number.wrapping_add(u32::MAX - 100));
        assert_eq!(keep.get(number(0)), None);
        for packet in 0..CAPACITY {
            assert_eq!(keep.put(number(packet), packet), None);
        }
        assert_eq!((keep.get(number(0)), keep.get(number(CAPACITY - 1))), (Some(&0), Some(&(CAPACITY - 1))));
        assert_eq!(keep.put(number(CAPACITY), CAPACITY), Some(0));
        assert_eq!((keep.get(number(0)), keep.get(number(CAPACITY))), (None, Some(&CAPACITY)));
    }
}
