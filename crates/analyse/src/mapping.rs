//! Which data a subflow's octets are: the DSS mappings that its segments brought (RFC 8684 §3.3.1).

use std::collections::BTreeMap;

/// A run of mapped octets: where it ends in the subflow, and where its first octet stands in the
/// connection's data.
#[derive(Clone, Copy, Debug)]
struct Span {
    end: u64,
    data: u64,
}

/// The mappings of one direction of a subflow, from its octets (counted from 0) to the
/// connection's. Mappings that continue each other are kept as one.
#[derive(Debug, Default)]
pub(crate) struct Mappings {
    spans: BTreeMap<u64, Span>,
}

impl Mappings {
    /// Adds a mapping of `len` octets; where another is there already, the first counts.
    pub(crate) fn add(&mut self, place: u64, data: u64, len: u64) {
        let mut begin = place;
        let end = place.saturating_add(len);
        while begin < end {
            if let Some((_, span)) = self.spans.range(..=begin).next_back()
                && span.end > begin
            {
                begin = span.end;
                continue;
            }
            let until = self.spans.range(begin..end).next().map_or(end, |(next, _)| *next);
            self.insert(begin, Span { end: until, data: data.wrapping_add(begin - place) });
            begin = until;
        }
    }

    /// Keeps a span, as a part of the one before it if it goes on from there.
    fn insert(&mut self, begin: u64, span: Span) {
        if let Some((first, before)) = self.spans.range_mut(..begin).next_back()
            && before.end == begin
            && before.data.wrapping_add(begin - first) == span.data
        {
            before.end = span.end;
        } else {
            self.spans.insert(begin, span);
        }
    }

    /// Where the octets from `begin` on stand in the connection's data, and how many of them (`len`
    /// at most) are mapped together. `None` if `begin` has no mapping, with the number of octets
    /// that lack one.
    pub(crate) fn of(&self, begin: u64, len: u64) -> (Option<u64>, u64) {
        if let Some((first, span)) = self.spans.range(..=begin).next_back()
            && span.end > begin
        {
            return (Some(span.data.wrapping_add(begin - first)), len.min(span.end - begin));
        }
        let next = self.spans.range(begin..).next().map_or(u64::MAX, |(next, _)| *next);
        (None, len.min(next - begin))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_that_join_on_are_one() {
        let mut mappings = Mappings::default();
        mappings.add(0, 1000, 100);
        mappings.add(0, 1000, 100);
        mappings.add(100, 1100, 50);
        assert_eq!(mappings.spans.len(), 1);
        mappings.add(150, 3000, 50);
        assert_eq!(mappings.of(120, 100), (Some(1120), 30));
        assert_eq!(mappings.of(150, 20), (Some(3000), 20));
        assert_eq!(mappings.of(200, 20), (None, 20));
    }

    #[test]
    fn the_first_mapping_counts() {
        let mut mappings = Mappings::default();
        mappings.add(100, 5000, 100);
        mappings.add(50, 0, 200);
        assert_eq!(mappings.of(50, 500), (Some(0), 50));
        assert_eq!(mappings.of(100, 500), (Some(5000), 100));
        assert_eq!(mappings.of(200, 500), (Some(150), 50));
        assert_eq!(mappings.of(0, 500), (None, 50));
    }
}
