//! The receiver's DSS mappings of one subflow: which data octet is which subflow octet (RFC 8684 §3.3.1).

use std::collections::VecDeque;

/// A mapping in positions, which do not wrap: octets since the start of the subflow's and of the connection's
/// stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Mapped {
    /// First octet on the subflow.
    pub(crate) position: u64,
    /// The same octet of the connection.
    pub(crate) data: u64,
    /// Octets.
    pub(crate) len: u64,
    /// The checksum that came with it.
    pub(crate) checksum: Option<u16>,
    /// A DATA_FIN followed: its octet counts in the length that the checksum covers (RFC 8684 §3.3.3).
    pub(crate) data_fin: bool,
}

impl Mapped {
    pub(crate) const fn end(&self) -> u64 {
        self.position + self.len
    }
}

/// Mappings whose data has not been read from the subflow, in order of their position and without overlap.
#[derive(Clone, Debug, Default)]
pub(crate) struct Mappings {
    /// The first one, of no octets if there is none. Inline: data that arrives in order needs no other.
    first: Mapped,
    later: VecDeque<Mapped>,
}

impl Mappings {
    /// Notes a mapping; those of data before `read` are forgotten. One that overlaps an earlier one keeps only what
    /// the earlier one leaves free: "the first one is kept" (RFC 8684 §3.3.1 asks senders never to change a
    /// mapping).
    #[inline(always)]
    pub(crate) fn insert(&mut self, mapping: Mapped, read: u64) {
        if self.later.is_empty() && self.first.end() <= read {
            self.first = mapping;
        } else {
            self.insert_later(mapping, read);
        }
    }

    #[inline(never)]
    fn insert_later(&mut self, mapping: Mapped, read: u64) {
        self.forget(read);
        if self.first.len == 0 {
            self.first = mapping;
        } else if mapping.position < self.later.back().unwrap_or(&self.first).end() {
            self.later.push_front(self.first);
            self.insert_before_end(mapping);
            self.first = self.later.pop_front().unwrap_or_default();
        } else {
            self.later.push_back(mapping);
        }
    }

    /// The same into `later`, which holds all of them meanwhile.
    #[inline(never)]
    fn insert_anywhere(&mut self, mapping: Mapped) {
        match self.later.back() {
            Some(last) if mapping.position < last.end() => self.insert_before_end(mapping),
            _ => self.later.push_back(mapping),
        }
    }

    #[inline(never)]
    fn insert_before_end(&mut self, mut mapping: Mapped) {
        let at = self.later.partition_point(|m| m.end() <= mapping.position);
        let covering = self.later[at];
        if covering.position <= mapping.position {
            // Nearly always the same mapping again, on the next segment or on a retransmission.
            let covered = covering.end().min(mapping.end()) - mapping.position;
            if covered == mapping.len || mapping.checksum.is_some() {
                return;
            }
            mapping = Mapped {
                position: mapping.position + covered,
                data: mapping.data + covered,
                len: mapping.len - covered,
                checksum: None,
                data_fin: false,
            };
            return self.insert_anywhere(mapping);
        }
        let free = covering.position - mapping.position;
        if free >= mapping.len {
            self.later.insert(at, mapping);
        } else if mapping.checksum.is_none() {
            self.later.insert(at, Mapped { len: free, ..mapping });
            self.insert_anywhere(Mapped {
                position: mapping.position + free,
                data: mapping.data + free,
                len: mapping.len - free,
                checksum: None,
                data_fin: false,
            });
        }
    }

    /// The mapping of the octet at `position`; those that end before it are forgotten.
    #[inline]
    pub(crate) fn at(&mut self, position: u64) -> Option<Mapped> {
        self.forget(position);
        (self.first.len > 0 && self.first.position <= position).then_some(self.first)
    }

    #[inline]
    fn forget(&mut self, before: u64) {
        while self.first.len > 0 && self.first.end() <= before {
            self.first = self.later.pop_front().unwrap_or_default();
        }
    }

    /// Forgets everything: an infinite mapping replaces what was.
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn mapped(position: u64, data: u64, len: u64) -> Mapped {
        Mapped { position, data, len, checksum: None, data_fin: false }
    }

    #[test]
    fn mappings_are_found_in_any_order_of_arrival_and_repeats_change_nothing() {
        let mut mappings = Mappings::default();
        for mapping in [mapped(0, 100, 10), mapped(20, 500, 10), mapped(10, 300, 10), mapped(20, 500, 10)] {
            mappings.insert(mapping, 0);
        }
        assert_eq!(mappings.later.len(), 2);
        assert_eq!(mappings.at(0), Some(mapped(0, 100, 10)));
        assert_eq!(mappings.at(15), Some(mapped(10, 300, 10)));
        assert_eq!(mappings.at(20), Some(mapped(20, 500, 10)));
        assert_eq!(mappings.at(30), None);
        assert_eq!((mappings.first.len, mappings.later.len()), (0, 0));
    }

    #[test]
    fn data_before_the_first_mapping_has_none() {
        let mut mappings = Mappings::default();
        mappings.insert(mapped(5, 0, 5), 0);
        assert_eq!(mappings.at(4), None);
        assert_eq!(mappings.at(5), Some(mapped(5, 0, 5)));
    }

    proptest! {
        /// Whatever overlaps arrive, each octet keeps the mapping that came first for it.
        #[test]
        fn the_first_mapping_of_an_octet_wins(raw in prop::collection::vec((0u64..60, 1u64..20), 1..12)) {
            let mut mappings = Mappings::default();
            let mut expected = [None; 100];
            for (i, &(position, len)) in raw.iter().enumerate() {
                let data = 1000 * i as u64;
                mappings.insert(mapped(position, data, len), 0);
                for octet in 0..len {
                    expected[(position + octet) as usize].get_or_insert(data + octet);
                }
            }
            for (position, expected) in expected.iter().enumerate() {
                let position = position as u64;
                let found = mappings.at(position).map(|m| m.data + position - m.position);
                prop_assert_eq!(found, *expected);
            }
        }
    }
}
