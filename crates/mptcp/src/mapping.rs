//! The receiver's DSS mappings of one subflow: which data octet is which subflow octet (RFC 8684 §3.3.1).

use ropewalk_wire::Dss;
use std::collections::BTreeMap;

/// A mapping in positions: octets since the start of the subflow's and of the connection's stream. Those of the subflow do
/// not wrap; a data position below the connection's first octet is a huge number.
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

/// What a mapping's last octet is (RFC 8684 §3.3.3).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum LastOctet {
    Data,
    DataFin,
}

impl LastOctet {
    /// Of the mapping in a DSS.
    #[inline]
    pub(crate) fn of(dss: &Dss) -> Self {
        if dss.data_fin() { Self::DataFin } else { Self::Data }
    }
}

impl Mapped {
    pub(crate) const fn end(&self) -> u64 {
        self.position + self.len
    }

    /// Do both say the same of octets that they share?
    const fn agrees_with(&self, other: &Self) -> bool {
        self.data.wrapping_sub(self.position) == other.data.wrapping_sub(other.position)
    }

    /// Can both be one? A checksum is about a mapping as a whole.
    const fn continues_with(&self, next: &Self) -> bool {
        let plain = self.checksum.is_none() && next.checksum.is_none();
        plain && self.end() == next.position && self.agrees_with(next)
    }

    /// Only the octets before `position`.
    fn cut(&mut self, position: u64) {
        self.len = self.len.min(position.saturating_sub(self.position));
    }

    /// The octets from `position` on.
    const fn from(&self, position: u64) -> Self {
        let skip = position - self.position;
        Self { position, data: self.data.wrapping_add(skip), len: self.len - skip, ..*self }
    }
}

/// Why a mapping is not taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Refused {
    /// It says something else of an octet than an earlier one, which must not change (RFC 8684 §3.3.1).
    Contradiction,
    /// As many mappings as the subflow may have wait for their data.
    Full,
    /// All of it lies beyond the receive window.
    Beyond,
}

/// Mappings whose data has not been read from the subflow, in order of their position and without overlap. Those that
/// say the same of neighbouring octets are one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Mappings {
    /// The first one, of no octets if there is none. Inline: data that arrives in order needs no other.
    first: Mapped,
    /// The others, by their position.
    later: BTreeMap<u64, Mapped>,
}

impl Mappings {
    /// Notes a mapping; those of data before `read` are forgotten. Of one that overlaps earlier ones only what they leave free
    /// is new: senders never change a mapping. At `most` so many may wait.
    #[inline(always)]
    pub(crate) fn insert(
        &mut self,
        mapping: Mapped,
        read: u64,
        most: impl FnOnce() -> usize,
    ) -> Result<(), Refused> {
        if self.have_passed(read) {
            self.pass(mapping);
            Ok(())
        } else {
            self.insert_later(mapping, read, most())
        }
    }

    /// Is no mapping of octets from `read` on there?
    #[inline(always)]
    pub(crate) fn have_passed(&self, read: u64) -> bool {
        self.later.is_empty() && self.first.end() <= read
    }

    /// The only mapping from now on.
    #[inline(always)]
    pub(crate) fn pass(&mut self, mapping: Mapped) {
        self.first = mapping;
    }

    #[inline(never)]
    fn insert_later(&mut self, mapping: Mapped, read: u64, most: usize) -> Result<(), Refused> {
        self.forget(read);
        if self.first.len == 0 {
            self.first = mapping;
            return Ok(());
        }
        if self.later.is_empty() && self.first.continues_with(&mapping) {
            self.first.len += mapping.len;
            return Ok(());
        }
        // What is next always finds room.
        if self.len() >= most && mapping.position > read {
            return Err(Refused::Full);
        }
        self.later.insert(self.first.position, self.first);
        let inserted = self.insert_anywhere(mapping);
        self.first = self.later.pop_first().map_or_else(Mapped::default, |(_, first)| first);
        inserted
    }

    /// Mappings that wait.
    fn len(&self) -> usize {
        self.later.len() + usize::from(self.first.len > 0)
    }

    /// The same into `later`, which holds all of them meanwhile. Every step but one takes an earlier mapping's octets off; a
    /// new mapping is of 64 kB at most.
    fn insert_anywhere(&mut self, mut mapping: Mapped) -> Result<(), Refused> {
        let before = self.later.range(..=mapping.position).next_back().map(|(_, m)| *m);
        if let Some(covering) = before.filter(|m| m.end() > mapping.position) {
            if !covering.agrees_with(&mapping) {
                return Err(Refused::Contradiction);
            }
            // Nearly always the same mapping again, on the next segment or on a retransmission.
            if covering.end() >= mapping.end() || mapping.checksum.is_some() {
                return Ok(());
            }
            mapping = mapping.from(covering.end());
        }
        while let Some(next) = self.later.range(mapping.position..).next().map(|(_, m)| *m)
            && next.position < mapping.end()
        {
            if !next.agrees_with(&mapping) {
                return Err(Refused::Contradiction);
            }
            if mapping.checksum.is_some() {
                return Ok(());
            }
            self.put(Mapped { len: next.position - mapping.position, ..mapping });
            if next.end() >= mapping.end() {
                return Ok(());
            }
            mapping = mapping.from(next.end());
        }
        self.put(mapping);
        Ok(())
    }

    /// Puts a mapping that overlaps none where it belongs, and joins it with its neighbours.
    fn put(&mut self, mut mapping: Mapped) {
        if mapping.len == 0 {
            return;
        }
        let end = mapping.end();
        if self.later.get(&end).is_some_and(|next| mapping.continues_with(next))
            && let Some(next) = self.later.remove(&end)
        {
            mapping.len += next.len;
        }
        if let Some((_, before)) = self.later.range_mut(..mapping.position).next_back()
            && before.continues_with(&mapping)
        {
            before.len += mapping.len;
            return;
        }
        self.later.insert(mapping.position, mapping);
    }

    /// The mapping of the octet at `position`; those that end before it are forgotten.
    pub(crate) fn at(&mut self, position: u64) -> Option<Mapped> {
        self.forget(position);
        (self.first.len > 0 && self.first.position <= position).then_some(self.first)
    }

    fn forget(&mut self, before: u64) {
        while self.first.len > 0 && self.first.end() <= before {
            self.first = self.later.pop_first().map_or_else(Mapped::default, |(_, first)| first);
        }
    }

    /// Forgets what was said of octets from `position` on.
    pub(crate) fn cut(&mut self, position: u64) {
        let _ = self.later.split_off(&position);
        if let Some(mut last) = self.later.last_entry() {
            last.get_mut().cut(position);
        }
        self.first.cut(position);
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

    const MANY: usize = 1000;

    fn mapped(position: u64, data: u64, len: u64) -> Mapped {
        Mapped { position, data, len, checksum: None, data_fin: false }
    }

    #[test]
    fn mappings_are_found_in_any_order_of_arrival_and_repeats_change_nothing() {
        let mut mappings = Mappings::default();
        for mapping in [mapped(0, 100, 10), mapped(20, 500, 10), mapped(10, 300, 10), mapped(20, 500, 10)] {
            assert_eq!(mappings.insert(mapping, 0, || MANY), Ok(()));
        }
        assert_eq!(mappings.len(), 3);
        assert_eq!(mappings.at(0), Some(mapped(0, 100, 10)));
        assert_eq!(mappings.at(15), Some(mapped(10, 300, 10)));
        assert_eq!(mappings.at(20), Some(mapped(20, 500, 10)));
        assert_eq!(mappings.at(30), None);
        assert_eq!(mappings.len(), 0);
    }

    #[test]
    fn data_before_the_first_mapping_has_none() {
        let mut mappings = Mappings::default();
        assert_eq!(mappings.insert(mapped(5, 0, 5), 0, || MANY), Ok(()));
        assert_eq!(mappings.at(4), None);
        assert_eq!(mappings.at(5), Some(mapped(5, 0, 5)));
    }

    #[test]
    fn a_mapping_below_the_first_octet_of_the_connection_wraps_and_stays_one() {
        let mut mappings = Mappings::default();
        assert_eq!(mappings.insert(mapped(0, u64::MAX - 4, 10), 0, || MANY), Ok(()));
        assert_eq!(mappings.insert(mapped(8, 3, 10), 0, || MANY), Ok(()));
        assert_eq!(mappings.at(9), Some(mapped(0, u64::MAX - 4, 18)));
    }

    #[test]
    fn with_as_many_as_there_may_be_only_what_joins_the_first_is_taken() {
        let mut mappings = Mappings::default();
        for i in 0..4 {
            assert_eq!(mappings.insert(mapped(20 * i, 20 * i, 10), 0, || 4), Ok(()));
        }
        assert_eq!(mappings.insert(mapped(80, 80, 10), 0, || 4), Err(Refused::Full));
        assert_eq!(mappings.insert(mapped(80, 80, 10), 10, || 4), Ok(()), "one was read");
        assert_eq!(mappings.insert(mapped(100, 100, 10), 10, || 4), Err(Refused::Full));
        assert_eq!(mappings.insert(mapped(10, 7, 5), 10, || 4), Ok(()), "what is next always finds room");
    }

    #[test]
    fn what_is_cut_off_is_not_there_and_the_rest_stays() {
        for (position, rest) in
            [(0, [0, 0, 0]), (5, [5, 0, 0]), (10, [10, 0, 0]), (25, [10, 5, 0]), (99, [10; 3])]
        {
            let mut mappings = Mappings::default();
            for place in [0, 20, 40] {
                assert_eq!(mappings.insert(mapped(place, place + 7, 10), 0, || MANY), Ok(()));
            }
            mappings.cut(position);
            for (place, len) in [0, 20, 40].into_iter().zip(rest) {
                let expected = (len > 0).then(|| mapped(place, place + 7, len));
                assert_eq!(mappings.at(place), expected, "{position}");
            }
            assert_eq!(mappings.insert(mapped(50, 1, 10), 50, || 0), Ok(()), "{position}");
        }
    }

    /// It covers all octets of its own, and no other.
    #[test]
    fn a_mapping_with_a_checksum_joins_no_neighbour() {
        let (plain, summed) = (mapped(0, 0, 10), Mapped { checksum: Some(7), ..mapped(10, 10, 10) });
        for order in [[plain, summed], [summed, plain]] {
            let mut mappings = Mappings::default();
            for mapping in order {
                assert_eq!(mappings.insert(mapping, 0, || MANY), Ok(()));
            }
            assert_eq!([mappings.at(0), mappings.at(10)], [Some(plain), Some(summed)]);
        }
    }

    proptest! {
        /// Mappings may overlap. Each octet keeps the first mapping that named it, and a mapping that contradicts it
        /// is refused. The parts of a refused mapping before the contradiction may stay: they contradict nothing.
        #[test]
        fn every_octet_is_mapped_once_and_contradictions_are_found(
            raw in prop::collection::vec((0u64..60, 1u64..20, 0u64..2), 1..24),
        ) {
            let mut mappings = Mappings::default();
            let mut expected = [None; 100];
            for &(position, len, stream) in &raw {
                let data = (1000 * stream).wrapping_add(position).wrapping_sub(30);
                let octets = position as usize..(position + len) as usize;
                let contradicts = expected[octets.clone()].iter().any(|known| known.is_some_and(|s| s != stream));
                let inserted = mappings.insert(mapped(position, data, len), 0, || MANY);
                prop_assert_eq!(inserted.is_err(), contradicts);
                for known in &mut expected[octets] {
                    if known.is_none() && contradicts {
                        break;
                    }
                    known.get_or_insert(stream);
                }
                if contradicts {
                    // The subflow would be reset.
                    return Ok(());
                }
                let runs = expected.windows(2).filter(|pair| pair[0] != pair[1] && pair[1].is_some()).count();
                let runs = runs + usize::from(expected[0].is_some());
                prop_assert_eq!(mappings.len(), runs, "neighbours that agree are one");
            }
            for (position, expected) in expected.iter().enumerate() {
                let position = position as u64;
                let found = mappings.at(position).map(|m| m.data.wrapping_add(position - m.position));
                let expected = expected.map(|stream| (1000 * stream).wrapping_add(position).wrapping_sub(30));
                prop_assert_eq!(found, expected);
            }
        }
    }
}
