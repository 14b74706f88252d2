//! The transmissions under way.

use crate::frame::Frame;
use crate::topology::Neighbour;
use ropewalk_sim::PacketId;
use ropewalk_units::Duration;

#[derive(Clone, Debug)]
pub(crate) struct Transmission {
    pub(crate) radio: u32,
    pub(crate) frame: Frame,
    pub(crate) duration: Duration,
    /// For data: the entry by which its packet came.
    pub(crate) entry: u32,
    /// A broadcast packet, kept until all have heard it.
    pub(crate) broadcast: Option<PacketId>,
    /// How many have received it.
    pub(crate) copies: u32,
    /// Its place in the record of frames.
    pub(crate) record: u32,
    /// Ends still to come: the sender's, and with a propagation delay each neighbour's.
    pub(crate) ends: u32,
    /// Who hears it, if stations have moved since it began.
    pub(crate) neighbours: Option<Box<[Neighbour]>>,
}

/// Transmissions by number; numbers are used again.
#[derive(Default)]
pub(crate) struct Air {
    slots: Vec<Transmission>,
    free: Vec<u32>,
}

impl Air {
    #[inline]
    pub(crate) fn insert(&mut self, transmission: Transmission) -> u32 {
        if let Some(slot) = self.free.pop() {
            self.slots[slot as usize] = transmission;
            return slot;
        }
        self.slots.push(transmission);
        self.slots.len() as u32 - 1
    }

    #[inline]
    pub(crate) fn get(&self, slot: u32) -> &Transmission {
        &self.slots[slot as usize]
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, slot: u32) -> &mut Transmission {
        &mut self.slots[slot as usize]
    }

    /// Counts one end. Returns whether it was the last one: the number is then free.
    #[inline]
    pub(crate) fn end(&mut self, slot: u32) -> bool {
        let transmission = &mut self.slots[slot as usize];
        transmission.ends -= 1;
        let is_over = transmission.ends == 0;
        if is_over {
            self.free.push(slot);
        }
        is_over
    }

    pub(crate) fn under_way(&mut self) -> impl Iterator<Item = &mut Transmission> {
        self.slots.iter_mut().filter(|transmission| transmission.ends > 0)
    }
}
