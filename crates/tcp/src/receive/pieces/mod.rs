//! Octets above a hole, in pieces: what arrived out of order.
//!
//! Over all arrivals, each one costs O(log n). No more pieces are kept than the owner allows, so single octets with
//! gaps between them cost bounded memory. Pieces lie in a list as long as only its ends change, in trees after that.

mod few;
mod many;
mod step;

use few::Few;
use many::Many;
use ropewalk_wire::Payload;

/// Places are counts of octets, which do not wrap. Pieces that touch, in place and in the stream that they carry, are one.
#[derive(Clone, Debug, Default)]
pub struct Pieces {
    octets: u64,
    few: Few,
    /// All of them, once something has changed in the midst of the list; until none is left.
    many: Option<Box<Many>>,
}

impl Pieces {
    /// Nothing above a hole?
    pub fn is_empty(&self) -> bool {
        self.octets == 0
    }

    /// Octets held.
    pub fn octets(&self) -> u64 {
        self.octets
    }

    /// Pieces held.
    pub fn len(&self) -> usize {
        self.many.as_ref().map_or(self.few.len(), |many| many.len())
    }

    /// The place of the lowest octet, if there is one.
    pub fn start(&self) -> Option<u64> {
        self.first().map(|(at, _)| at)
    }

    /// The place behind the highest octet, if there is one.
    pub fn end(&self) -> Option<u64> {
        self.many.as_ref().map_or_else(|| self.few.end(), |many| many.end())
    }

    /// Takes octets. Returns how many of them are new; where they overlap, the older copy stays. `None`: `most` pieces are
    /// held, and nothing is taken.
    #[inline]
    pub fn insert(&mut self, at: u64, payload: Payload, most: usize) -> Option<u32> {
        let added = if self.few.append(at, payload) {
            payload.len
        } else if self.len() >= most {
            return self.insert_at_most(at, payload);
        } else if self.many.is_none() && self.few.is_near(at, payload.len) {
            self.few.insert(at, payload)
        } else {
            self.insert_many(at, payload)
        };
        self.octets += u64::from(added);
        Some(added)
    }

    /// With as many pieces as there may be, only what continues the highest one.
    #[cold]
    fn insert_at_most(&mut self, at: u64, payload: Payload) -> Option<u32> {
        let continued = self.many.as_mut().is_some_and(|many| many.append(at, payload));
        self.octets += if continued { u64::from(payload.len) } else { 0 };
        if continued { Some(payload.len) } else { (payload.len == 0).then_some(0) }
    }

    #[inline(never)]
    fn insert_many(&mut self, at: u64, payload: Payload) -> u32 {
        let few = &mut self.few;
        self.many.get_or_insert_with(|| Box::new(Many::of(few.drain()))).insert(at, payload)
    }

    /// All before `next` has arrived otherwise: takes out the lowest piece, if it connects to that. Of it come the octets from
    /// `next` on, perhaps none, and the number of those before.
    #[inline]
    pub fn connect(&mut self, next: u64) -> Option<(Payload, u64)> {
        let (at, payload) = self.first().filter(|(at, _)| *at <= next)?;
        self.octets -= u64::from(payload.len);
        match &mut self.many {
            None => self.few.remove_first(),
            Some(many) => {
                many.remove_first();
                if self.octets == 0 {
                    self.many = None;
                }
            }
        }
        let old = (next - at).min(u64::from(payload.len));
        Some((Payload { offset: payload.offset + old, len: payload.len - old as u32 }, old))
    }

    /// Names each piece.
    pub fn visit(&self, visit: &mut impl FnMut(Payload)) {
        match &self.many {
            None => self.few.visit(visit),
            Some(many) => many.visit(visit),
        }
    }

    fn first(&self) -> Option<(u64, Payload)> {
        self.many.as_ref().map_or_else(|| self.few.first(), |many| many.first())
    }

    /// The contiguous octets around a place, whatever they carry.
    pub fn block_around(&self, at: u64) -> Option<(u64, u64)> {
        self.many.as_ref().map_or_else(|| self.few.block_around(at), |many| many.block_around(at))
    }
}

#[cfg(test)]
mod tests;
