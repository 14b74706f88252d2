//! Which SACK blocks an ACK carries (RFC 2018 §4, RFC 2883).

use ropewalk_units::Seq;
use ropewalk_wire::SackBlocks;

type Block = (Seq, Seq);

const EMPTY: Block = (Seq::new(0), Seq::new(0));

/// The blocks reported last, the most recent first, and a duplicate that is still to be reported.
#[derive(Clone, Debug)]
pub(crate) struct SackGenerator {
    recent: [Block; 4],
    len: u8,
    duplicate: Option<Block>,
}

impl Default for SackGenerator {
    fn default() -> Self {
        Self { recent: [EMPTY; 4], len: 0, duplicate: None }
    }
}

impl SackGenerator {
    /// Octets `block` now lie above a hole, contiguously, because of the segment that has just arrived: they
    /// are reported first (RFC 2018 §4), blocks that they swallowed no more.
    pub(crate) fn received(&mut self, block: Block) {
        let mut kept = 0;
        let mut blocks = [EMPTY; 4];
        blocks[0] = block;
        for old in &self.recent[..usize::from(self.len)] {
            let swallowed = block.0.before_eq(old.0) && old.1.before_eq(block.1);
            if !swallowed && kept < 3 {
                kept += 1;
                blocks[kept] = *old;
            }
        }
        self.recent = blocks;
        self.len = kept as u8 + 1;
    }

    /// RCV.NXT moved: blocks below it are gone.
    pub(crate) fn advanced(&mut self, next: Seq) {
        let mut kept = 0;
        for i in 0..usize::from(self.len) {
            if self.recent[i].1.after(next) {
                self.recent[kept] = self.recent[i];
                kept += 1;
            }
        }
        self.len = kept as u8;
    }

    /// These octets arrived a second time: the next ACK says so (RFC 2883 §4).
    pub(crate) fn duplicated(&mut self, block: Block) {
        self.duplicate = Some(block);
    }

    /// Is there anything to report?
    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0 && self.duplicate.is_none()
    }

    /// The option's blocks, at most `room` of them; the duplicate comes first (RFC 2883 §4) and is reported
    /// once only.
    pub(crate) fn take(&mut self, room: usize) -> SackBlocks {
        let mut blocks = SackBlocks::EMPTY;
        if room > 0
            && let Some((left, right)) = self.duplicate.take()
        {
            blocks.push(left, right);
        }
        for (left, right) in &self.recent[..usize::from(self.len)] {
            blocks.push(*left, *right);
        }
        blocks.truncate(room);
        blocks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(left: u32, right: u32) -> Block {
        (Seq::new(left), Seq::new(right))
    }

    #[test]
    fn the_latest_block_comes_first_and_swallows() {
        let mut sack = SackGenerator::default();
        sack.received(block(20, 30));
        sack.received(block(40, 50));
        sack.received(block(60, 70));
        assert_eq!(sack.take(4).as_slice(), [block(60, 70), block(40, 50), block(20, 30)]);
        sack.received(block(20, 50));
        assert_eq!(sack.take(4).as_slice(), [block(20, 50), block(60, 70)]);
        sack.advanced(Seq::new(50));
        assert_eq!(sack.take(4).as_slice(), [block(60, 70)]);
    }

    #[test]
    fn a_duplicate_is_reported_first_and_once() {
        let mut sack = SackGenerator::default();
        sack.received(block(20, 30));
        sack.duplicated(block(5, 10));
        assert_eq!(sack.take(3).as_slice(), [block(5, 10), block(20, 30)]);
        assert_eq!(sack.take(3).as_slice(), [block(20, 30)]);
        sack.duplicated(block(5, 10));
        assert_eq!(sack.take(0).as_slice(), []);
        assert!(!sack.is_empty(), "no room is no report");
    }
}
