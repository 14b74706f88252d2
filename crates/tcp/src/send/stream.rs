//! Ranges of the outgoing stream that were pushed and never transmitted.

use ropewalk_wire::Payload;
use std::collections::VecDeque;

#[derive(Clone, Copy, Debug, Default)]
struct Range {
    offset: u64,
    len: u64,
}

/// The unsent ranges, in order. The first one lives inline: a plain TCP stream is one range for ever, and
/// so never allocates.
#[derive(Clone, Debug, Default)]
pub(crate) struct SendStream {
    front: Range,
    rest: VecDeque<Range>,
    unsent: u64,
}

impl SendStream {
    /// Octets that wait.
    pub(crate) fn unsent(&self) -> u64 {
        self.unsent
    }

    /// Names each range that waits.
    pub(crate) fn visit(&self, visit: &mut impl FnMut(Payload)) {
        for range in self.rest.iter().chain([&self.front]) {
            let (mut offset, end) = (range.offset, range.offset + range.len);
            while offset < end {
                let len = (end - offset).min(u64::from(u32::MAX)) as u32;
                visit(Payload { offset, len });
                offset += u64::from(len);
            }
        }
    }

    /// Octets of the first contiguous range: the longest segment that may be cut now.
    pub(crate) fn front_len(&self) -> u64 {
        self.front.len
    }

    /// Appends a range, merging it with the last one if their offsets are contiguous.
    pub(crate) fn push(&mut self, payload: Payload) {
        if payload.len == 0 {
            return;
        }
        let len = u64::from(payload.len);
        self.unsent += len;
        let last = self.rest.back_mut().unwrap_or(&mut self.front);
        if last.len == 0 {
            *last = Range { offset: payload.offset, len };
        } else if last.offset + last.len == payload.offset {
            last.len += len;
        } else {
            self.rest.push_back(Range { offset: payload.offset, len });
        }
    }

    /// Cuts at most `max` octets from the front; never across two ranges.
    pub(crate) fn cut(&mut self, max: u32) -> Payload {
        let len = self.front.len.min(u64::from(max));
        let payload = Payload { offset: self.front.offset, len: len as u32 };
        self.front.offset += len;
        self.front.len -= len;
        self.unsent -= len;
        if self.front.len == 0
            && let Some(next) = self.rest.pop_front()
        {
            self.front = next;
        }
        payload
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contiguous_pushes_merge_and_a_cut_never_spans_a_jump() {
        let mut stream = SendStream::default();
        stream.push(Payload { offset: 0, len: 1000 });
        stream.push(Payload { offset: 1000, len: 500 });
        stream.push(Payload { offset: 9000, len: 700 });
        stream.push(Payload { offset: 9700, len: 300 });
        assert_eq!((stream.unsent(), stream.front_len()), (2500, 1500));
        assert_eq!(stream.cut(1400), Payload { offset: 0, len: 1400 });
        assert_eq!(stream.cut(1400), Payload { offset: 1400, len: 100 });
        assert_eq!(stream.cut(1400), Payload { offset: 9000, len: 1000 });
        assert_eq!(stream.cut(1400).len, 0);
        stream.push(Payload { offset: 5, len: 5 });
        assert_eq!(stream.cut(3), Payload { offset: 5, len: 3 });
        assert_eq!(stream.unsent(), 2);
    }

    #[test]
    fn all_that_waits_is_named_whatever_the_places_and_lengths() {
        let mut stream = SendStream::default();
        stream.push(Payload { offset: 7000, len: u32::MAX });
        stream.push(Payload { offset: 7000 + u64::from(u32::MAX), len: 10 });
        stream.push(Payload { offset: 100, len: 20 });
        let mut named = Vec::new();
        stream.visit(&mut |range| named.push((range.offset, range.len)));
        named.sort_unstable();
        assert_eq!(named, [(100, 20), (7000, u32::MAX), (7000 + u64::from(u32::MAX), 10)]);
    }
}
