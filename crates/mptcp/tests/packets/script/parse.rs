//! Lines to segments, and segments held against lines.

use super::{Keys, options};
use ropewalk_testnet::words::{flags, number, pair};
use ropewalk_units::Seq;
use ropewalk_wire::{Flags, SackBlocks, Segment, Timestamps};
use std::slice::Iter;

/// The words of a line that are left.
pub(super) struct Words<'a>(Iter<'a, &'a str>);

impl<'a> Words<'a> {
    pub(super) fn value<T: std::str::FromStr>(&mut self, name: &str) -> T {
        number(self.text(name))
    }

    pub(super) fn text(&mut self, name: &str) -> &'a str {
        self.0.next().unwrap_or_else(|| panic!("{name} without a value"))
    }

    /// The next word, if it is a number.
    pub(super) fn optional(&mut self) -> Option<u16> {
        let number = self.0.as_slice().first()?.parse().ok()?;
        self.0.next();
        Some(number)
    }
}

/// The segment that a line's words describe.
pub(super) fn segment(words: &[&str], keys: &Keys) -> Segment {
    let mut segment = Segment { window: 60_000, flags: flags(words[0]), ..Segment::default() };
    let (seq, ack) = keys.bases();
    segment.seq = seq;
    let mut parts = options::Parts::default();
    let ranged = words.get(1).is_some_and(|word| is_range(word));
    if ranged {
        range(&mut segment, words[1], seq);
    }
    let mut rest = Words(words[1 + usize::from(ranged)..].iter());
    while let Some(word) = rest.0.next() {
        match *word {
            "ack" => segment.ack = ack + rest.value::<u32>(word),
            "win" => segment.window = rest.value(word),
            "mss" => segment.options.mss = Some(rest.value(word)),
            "wscale" => segment.options.window_scale = Some(rest.value(word)),
            "ts" => {
                let (value, echo) = (rest.value(word), rest.value(word));
                segment.options.timestamps = Some(Timestamps { value, echo });
            }
            "sackok" => segment.options.sack_permitted = true,
            "sack" => segment.options.sack = blocks(rest.text(word), ack),
            word => parts.word(word, &mut rest, &segment, keys),
        }
    }
    parts.attach(&mut segment, keys);
    segment
}

fn is_range(word: &str) -> bool {
    word.split_once(':').is_some_and(|(from, to)| from.parse::<u32>().is_ok() && to.parse::<u32>().is_ok())
}

fn range(segment: &mut Segment, word: &str, seq: Seq) {
    let (from, to) = pair(word, ':');
    let controls =
        u32::from(segment.flags.contains(Flags::SYN)) + u32::from(segment.flags.contains(Flags::FIN));
    segment.seq = seq + from;
    segment.payload.len = to.wrapping_sub(from) - controls;
}

fn blocks(word: &str, base: Seq) -> SackBlocks {
    let mut blocks = SackBlocks::EMPTY;
    for block in word.split(',') {
        let (left, right) = pair(block, '-');
        blocks.push(base + left, base + right);
    }
    blocks
}

/// Holds an outgoing segment against the words of a line.
#[track_caller]
pub(super) fn compare(words: &[&str], keys: &Keys, found: &Segment, message: &str) {
    let keys = keys.outgoing();
    let wanted = segment(words, &keys);
    let compared = |flags: Flags| flags.bits() & !Flags::PSH.bits();
    assert_eq!(compared(found.flags), compared(wanted.flags), "flags: {message}");
    if words.get(1).is_some_and(|word| is_range(word)) {
        assert_eq!((found.seq, found.end()), (wanted.seq, wanted.end()), "range: {message}");
    }
    for word in words {
        match *word {
            "ack" => assert_eq!(found.ack, wanted.ack, "ack: {message}"),
            "win" => assert_eq!(found.window, wanted.window, "window: {message}"),
            "sack" => assert_eq!(found.options.sack, wanted.options.sack, "sack: {message}"),
            "nomptcp" => assert!(found.options.mptcp.is_empty(), "options: {message}"),
            "nodss" => assert!(found.options.mptcp.dss.is_none(), "DSS: {message}"),
            word => options::compare(word, &found.options.mptcp, &wanted.options.mptcp, message),
        }
    }
}
