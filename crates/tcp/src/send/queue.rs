//! The retransmission queue with its SACK scoreboard.
//!
//! Entries are segments as they were sent, in sequence order; a retransmission repeats the same segment. Every
//! total that loss recovery asks for is kept up to date: what was SACKed, deemed lost, retransmitted. So `pipe`
//! (RFC 6675 §4) costs nothing. Cursors make every walk amortised.

mod packets;
mod resend;
mod step;

use crate::spans::Spans;
use resend::Resend;
use ropewalk_units::{Duration, Instant, Mark, Seq};
use ropewalk_wire::Payload;
use std::collections::VecDeque;
use step::step;

/// What RACK found (RFC 8985 §6.2 step 5).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Overdue {
    /// Was a segment lost?
    pub(crate) any: bool,
    /// How long until the next one may be.
    pub(crate) next: Option<Duration>,
}

/// What is known about a segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Marks(u8);

impl Marks {
    /// Reported by a SACK block.
    pub(crate) const SACKED: Self = Self(1);
    /// Its first transmission, and every later one unless [`Self::RETRANSMITTED`], is deemed lost.
    pub(crate) const LOST: Self = Self(2);
    /// A retransmission is on its way.
    pub(crate) const RETRANSMITTED: Self = Self(4);
    /// It was retransmitted at least once (Karn: no round-trip time can be told).
    pub(crate) const EVER_RETRANSMITTED: Self = Self(8);
    /// It carries the FIN.
    pub(crate) const FIN: Self = Self(16);
    /// The last of a packet that several segments may have left in.
    const PACKET_END: Self = Self(32);

    pub(crate) const fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    fn set(&mut self, other: Self) {
        self.0 |= other.0;
    }

    fn clear(&mut self, other: Self) {
        self.0 &= !other.0;
    }

    /// Sent once, and nothing heard of it.
    const fn is_plain(self) -> bool {
        self.0 & !(Self::FIN.0 | Self::PACKET_END.0) == 0
    }
}

/// A segment that was sent and is not cumulatively acknowledged.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sent {
    /// First octet.
    pub(crate) seq: Seq,
    /// Sequence space, a FIN's included.
    pub(crate) len: u32,
    /// The data's place in the stream.
    pub(crate) offset: u64,
    /// When it was last sent.
    pub(crate) sent_at: Instant,
    /// What is known about it.
    pub(crate) marks: Marks,
}

impl Sent {
    /// Just sent; `marks` tell whether it carries the FIN.
    pub(crate) fn new(seq: Seq, payload: Payload, marks: Marks, now: Instant) -> Self {
        let len = payload.len + u32::from(marks.has(Marks::FIN));
        Self { seq, len, offset: payload.offset, sent_at: now, marks }
    }

    pub(crate) fn end(&self) -> Seq {
        self.seq + self.len
    }

    pub(crate) fn payload(&self) -> Payload {
        Payload { offset: self.offset, len: self.len - u32::from(self.marks.has(Marks::FIN)) }
    }

    /// Is it lost and not on its way again?
    fn waits(&self) -> bool {
        self.marks.has(Marks::LOST) && !self.marks.has(Marks::RETRANSMITTED)
    }

    /// Cuts the first `len` octets of data off; a FIN stays with the rest.
    fn split(&mut self, len: u32) -> Self {
        let mut first = Self { len, ..*self };
        first.marks.clear(Marks::FIN);
        first.marks.clear(Marks::PACKET_END);
        self.trim(self.seq + len);
        first
    }

    /// Part of it is acknowledged, since the peer cut the data anew: takes that off and returns its octets.
    fn trim(&mut self, una: Seq) -> u32 {
        let cut = una.since(self.seq);
        self.seq = una;
        self.len -= cut;
        self.offset += u64::from(cut);
        cut
    }
}

/// What an ACK delivered of a queue without marks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    /// Octets of sequence space, all of them cumulatively.
    pub(crate) acked: u32,
    /// When the first and the last whole segment were sent; [`Instant::MAX`] if there is none.
    pub(crate) oldest: Instant,
    pub(crate) newest: Instant,
}

/// What one ACK delivered, gathered while the queue is walked.
#[derive(Clone, Debug)]
pub(crate) struct Delivery {
    now: Instant,
    /// The millisecond of the timestamp echoed: later retransmissions cannot have caused the ACK.
    echo: Option<u64>,
    min_rtt: Duration,
    fack: Seq,
    /// Octets of sequence space acknowledged cumulatively.
    pub(crate) acked: u32,
    /// Octets newly SACKed.
    pub(crate) sacked: u32,
    /// Octets newly known to have arrived: cumulatively and not SACKed before, or SACKed.
    pub(crate) delivered: u32,
    /// When the oldest segment delivered, never retransmitted, was sent; [`Instant::MAX`] if there is none.
    pub(crate) oldest: Instant,
    /// … the newest.
    pub(crate) newest: Instant,
    /// RACK: the latest (re)transmission delivered: when sent, and its end.
    pub(crate) latest: Option<(Instant, Seq)>,
    /// When the transmission was sent that Linux looks at last: SACKed segments come first, then those acknowledged cumulatively.
    pub(crate) looked_at: Option<Instant>,
    /// That one was acknowledged cumulatively.
    cumulatively: bool,
    /// Sequence number of the lowest never-retransmitted segment delivered below one delivered before.
    pub(crate) reordered: Option<Seq>,
    /// Never-retransmitted segments were delivered, the highest ending here.
    pub(crate) original_end: Option<Seq>,
    /// Retransmitted segments were delivered.
    pub(crate) retransmitted: bool,
    /// Of one of them the timestamp says that the original was.
    pub(crate) late_original: bool,
}

impl Delivery {
    pub(crate) fn new(now: Instant, echo: Option<u64>, min_rtt: Duration, fack: Seq) -> Self {
        Self {
            now,
            echo,
            min_rtt,
            fack,
            acked: 0,
            sacked: 0,
            delivered: 0,
            oldest: Instant::MAX,
            newest: Instant::MAX,
            latest: None,
            looked_at: None,
            cumulatively: false,
            reordered: None,
            original_end: None,
            retransmitted: false,
            late_original: false,
        }
    }

    /// A segment is newly delivered.
    fn note(&mut self, sent: &Sent) {
        self.delivered += sent.len;
        if sent.marks.has(Marks::EVER_RETRANSMITTED) {
            self.retransmitted = true;
            // RFC 8985 §6.2 step 2: perhaps the original caused this ACK.
            let earlier = self.echo.is_some_and(|echo| echo < sent.sent_at.as_millis());
            self.late_original |= earlier;
            let spurious = earlier || self.now.saturating_since(sent.sent_at) < self.min_rtt;
            if spurious {
                return;
            }
        } else {
            if self.oldest == Instant::MAX {
                self.oldest = sent.sent_at;
            }
            self.newest = sent.sent_at;
            let end = sent.end();
            self.original_end = Some(self.original_end.map_or(end, |old| old.max(end)));
            if end.before(self.fack) && self.reordered.is_none_or(|old| sent.seq.before(old)) {
                self.reordered = Some(sent.seq);
            }
        }
        if !self.cumulatively {
            self.looked_at = Some(sent.sent_at);
        }
        if self.latest.is_none_or(|(at, end)| sent_after(sent.sent_at, sent.end(), at, end)) {
            self.latest = Some((sent.sent_at, sent.end()));
        }
    }
}

/// RFC 8985 §6.2: was the first transmission, at `at` and ending at `end`, made after the second?
pub(crate) fn sent_after(at: Instant, end: Seq, other_at: Instant, other_end: Seq) -> bool {
    at > other_at || (at == other_at && end.after(other_end))
}

/// The queue. Totals are octets of sequence space.
#[derive(Clone, Debug, Default)]
pub(crate) struct SentQueue {
    segments: VecDeque<Sent>,
    sacked: u32,
    sacked_segments: u32,
    lost: u32,
    retransmitted: u32,
    /// Octets that are lost and have no retransmission on its way.
    to_retransmit: u32,
    /// Segments that bear a mark beside the FIN's and the packet's.
    marked: u32,
    /// Ends of packets.
    packets: u32,
    /// SND.UNA: where the first segment begins.
    una: Mark,
    /// Segments that are lost and have no retransmission on its way.
    resend: Resend,
    /// RFC 6675 loss marking, RACK's walk of first transmissions: everything below was judged.
    judged: Mark,
    /// Highest octet SACKed, plus one. Significant while something is SACKed, and so above SND.UNA.
    highest_sacked: Seq,
    /// What is SACKed: it needs no second walk.
    reported: Spans,
    /// Retransmissions in the order in which they were sent, for RACK; entries are checked by their time when used.
    retransmissions: VecDeque<(Instant, Seq)>,
    /// What was deemed lost since it was last asked, for a controller that wants to know each.
    lost_log: Vec<Lost>,
    keeps: Keeps,
}

/// What a queue records beside its segments, if the configuration needs it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Keeps {
    /// Retransmissions in their order, for RACK.
    pub(crate) retransmissions: bool,
    /// What is deemed lost, for a controller that models the path.
    pub(crate) losses: bool,
}

/// A transmission that was deemed lost.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Lost {
    /// Its first octet.
    pub(crate) seq: Seq,
    /// Sequence space.
    pub(crate) len: u32,
}

/// Capacity that an idle queue may keep.
const SPARE: usize = 64;

impl SentQueue {
    /// Names the data of each segment.
    pub(crate) fn visit(&self, visit: &mut impl FnMut(Payload)) {
        self.segments.iter().for_each(|sent| visit(sent.payload()));
    }

    /// The first segment will follow the SYN.
    pub(crate) fn new(keeps: Keeps) -> Self {
        Self { una: Mark::START + 1, keeps, ..Self::default() }
    }

    /// SND.UNA, once the SYN is acknowledged.
    pub(crate) fn una(&self) -> Mark {
        self.una
    }

    /// The place of a number at or above SND.UNA, while the queue is not empty.
    pub(crate) fn mark_of(&self, seq: Seq) -> Mark {
        self.una + self.segments.front().map_or(0, |front| seq.since(front.seq))
    }

    /// The transmissions deemed lost since the last call.
    pub(crate) fn take_lost(&mut self) -> Vec<Lost> {
        std::mem::take(&mut self.lost_log)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.segments.len()
    }

    pub(crate) fn front(&self) -> Option<&Sent> {
        self.segments.front()
    }

    pub(crate) fn get(&self, index: usize) -> Option<&Sent> {
        self.segments.get(index)
    }

    pub(crate) fn push(&mut self, sent: Sent) {
        self.segments.push_back(sent);
    }

    /// RFC 6675 §4: octets that left the network or never will: SACKed and lost ones less retransmissions.
    pub(crate) fn pipe(&self, flight: u32) -> u32 {
        flight.saturating_sub(self.sacked + self.lost) + self.retransmitted
    }

    /// Octets SACKed.
    pub(crate) fn sacked(&self) -> u32 {
        self.sacked
    }

    /// Segments SACKed.
    pub(crate) fn sacked_segments(&self) -> u32 {
        self.sacked_segments
    }

    pub(crate) fn wants_retransmission(&self) -> bool {
        self.to_retransmit > 0
    }

    /// Is anything deemed lost, sent again or not?
    pub(crate) fn has_lost(&self) -> bool {
        self.lost > 0
    }

    /// The highest octet SACKed, plus one.
    pub(crate) fn highest_sacked(&self) -> Option<Seq> {
        (self.sacked > 0).then_some(self.highest_sacked)
    }

    /// The first segment that ends above `seq`.
    fn index_above(&self, seq: Seq) -> usize {
        self.segments.partition_point(|sent| sent.end().before_eq(seq))
    }

    /// The first segment that ends above `mark`.
    fn index_past(&self, mark: Mark) -> usize {
        match self.segments.front() {
            Some(front) if mark > self.una => self.index_above(front.seq + mark.since(self.una) as u32),
            _ => 0,
        }
    }

    /// The segment that starts at `seq`.
    pub(crate) fn index_of(&self, seq: Seq) -> Option<usize> {
        let index = self.index_above(seq);
        self.segments.get(index).is_some_and(|sent| sent.seq == seq).then_some(index)
    }

    /// Everything below `una` is acknowledged.
    pub(crate) fn acknowledge(&mut self, una: Seq, delivery: &mut Delivery) {
        let acked_before = delivery.acked;
        while let Some(front) = self.segments.front_mut() {
            if front.end().after(una) {
                if front.seq.before(una) {
                    let (cut, sacked) = (front.trim(una), front.marks.has(Marks::SACKED));
                    delivery.acked += cut;
                    delivery.delivered += if sacked { 0 } else { cut };
                    let marks = front.marks;
                    self.forget_octets(marks, cut);
                }
                break;
            }
            let sent = *front;
            self.segments.pop_front();
            self.packets -= u32::from(sent.marks.has(Marks::PACKET_END));
            delivery.acked += sent.len;
            if sent.marks.is_plain() {
                delivery.note(&sent);
            } else {
                self.forget(&sent, delivery);
            }
        }
        delivery.cumulatively = delivery.looked_at.is_some();
        self.una += delivery.acked - acked_before;
        self.reported.forget_below(una);
        if self.segments.is_empty() {
            self.drained();
        }
    }

    /// Is every segment in the queue as it was sent first: none SACKed, deemed lost or sent again?
    pub(crate) fn is_plain(&self) -> bool {
        self.marked == 0
    }

    /// [`Self::acknowledge`] for a queue that is plain: nearly always.
    pub(crate) fn acknowledge_plain(&mut self, una: Seq) -> Arrival {
        let mut arrival = Arrival { acked: 0, oldest: Instant::MAX, newest: Instant::MAX };
        while let Some(front) = self.segments.front_mut() {
            if front.end().after(una) {
                if front.seq.before(una) {
                    arrival.acked += front.trim(una);
                }
                self.una += arrival.acked;
                return arrival;
            }
            arrival.acked += front.len;
            arrival.newest = front.sent_at;
            arrival.oldest = arrival.oldest.min(arrival.newest);
            self.packets -= u32::from(front.marks.has(Marks::PACKET_END));
            self.segments.pop_front();
        }
        self.una += arrival.acked;
        self.drained();
        arrival
    }

    /// A marked segment leaves.
    fn forget(&mut self, sent: &Sent, delivery: &mut Delivery) {
        self.marked -= 1;
        if sent.marks.has(Marks::SACKED) {
            self.sacked -= sent.len;
            self.sacked_segments -= 1;
        } else {
            delivery.note(sent);
            self.unmark(sent);
        }
    }

    /// Takes a segment's loss and retransmission out of the totals.
    fn unmark(&mut self, sent: &Sent) {
        if sent.marks.has(Marks::LOST) {
            self.lost -= sent.len;
            if !sent.marks.has(Marks::RETRANSMITTED) {
                self.to_retransmit -= sent.len;
            }
        }
        if sent.marks.has(Marks::RETRANSMITTED) {
            self.retransmitted -= sent.len;
        }
    }

    /// A segment with these marks has become shorter.
    fn forget_octets(&mut self, marks: Marks, cut: u32) {
        if marks.has(Marks::SACKED) {
            self.sacked -= cut;
        }
        if marks.has(Marks::LOST) {
            self.lost -= cut;
            if !marks.has(Marks::RETRANSMITTED) {
                self.to_retransmit -= cut;
            }
        }
        if marks.has(Marks::RETRANSMITTED) {
            self.retransmitted -= cut;
        }
    }

    /// All is acknowledged: memory of a large window is given back.
    fn drained(&mut self) {
        self.retransmissions.clear();
        self.resend.clear();
        if self.segments.capacity() > SPARE {
            self.segments.shrink_to(SPARE);
        }
        if self.retransmissions.capacity() > SPARE {
            self.retransmissions.shrink_to(SPARE);
        }
        self.resend.shrink_to(SPARE);
    }

    /// Applies the SACK blocks of one ACK, all of them above `una` and at most up to `nxt`.
    pub(crate) fn sack(&mut self, blocks: &[(Seq, Seq)], delivery: &mut Delivery) {
        for (left, right) in blocks.iter().copied() {
            let mut from = left;
            while from.before(right) {
                let known = self.reported.ending_above(from).filter(|known| known.0.before(right));
                let (to, next) = known.map_or((right, right), |known| (known.0, known.1));
                if from.before(to) {
                    self.sack_range(left, from, to, delivery);
                }
                from = next;
            }
        }
    }

    /// Marks the segments that end in `(from, right]` and begin at or above `left`.
    fn sack_range(&mut self, left: Seq, from: Seq, right: Seq, delivery: &mut Delivery) {
        let mut index = self.index_above(from);
        let mut first = None;
        while let Some(sent) = self.segments.get(index).copied().filter(|sent| sent.end().before_eq(right)) {
            if !sent.marks.has(Marks::SACKED) && sent.seq.after_eq(left) {
                self.unmark(&sent);
                delivery.note(&sent);
                delivery.sacked += sent.len;
                self.highest_sacked =
                    if self.sacked == 0 { sent.end() } else { self.highest_sacked.max(sent.end()) };
                self.sacked += sent.len;
                self.sacked_segments += 1;
                self.marked += u32::from(sent.marks.is_plain());
                let marks = &mut self.segments[index].marks;
                marks.clear(Marks::LOST);
                marks.clear(Marks::RETRANSMITTED);
                marks.set(Marks::SACKED);
                first = first.or(Some(sent.seq));
            }
            index += 1;
        }
        if let Some(first) = first {
            self.reported.cover(first, self.segments[index - 1].end());
        }
    }

    /// Deems the segment's last transmission lost. False if it was so already, or is SACKed.
    pub(crate) fn mark_lost(&mut self, index: usize) -> bool {
        let Some(sent) = self.segments.get_mut(index).filter(|sent| !sent.marks.has(Marks::SACKED)) else {
            return false;
        };
        let (seq, len) = (sent.seq, sent.len);
        let was_plain = sent.marks.is_plain();
        if sent.marks.has(Marks::RETRANSMITTED) {
            sent.marks.clear(Marks::RETRANSMITTED);
            self.retransmitted -= len;
        } else if sent.marks.has(Marks::LOST) {
            return false;
        }
        if !sent.marks.has(Marks::LOST) {
            sent.marks.set(Marks::LOST);
            self.lost += len;
        }
        self.marked += u32::from(was_plain);
        let at = self.mark_of(seq);
        if self.to_retransmit == 0 {
            self.resend.clear();
        }
        self.resend.add(at);
        self.to_retransmit += len;
        if self.keeps.losses {
            self.lost_log.push(Lost { seq, len });
        }
        true
    }

    /// Has the segment with the octet `seq` more data than `longest`?
    pub(crate) fn exceeds(&self, seq: Seq, longest: u32) -> bool {
        self.segments.get(self.index_above(seq)).is_some_and(|sent| sent.payload().len > longest)
    }

    /// Cuts segments with more data than `longest` into pieces. Returns the pieces that have not arrived, by their index.
    pub(crate) fn cut(&mut self, longest: u32) -> Vec<usize> {
        let mut pieces = VecDeque::with_capacity(self.segments.len());
        let mut missing = Vec::new();
        for mut sent in std::mem::take(&mut self.segments) {
            let is_long = sent.payload().len > longest;
            while sent.payload().len > longest {
                let first = sent.split(longest);
                self.note_piece(&first, pieces.len(), &mut missing);
                pieces.push_back(first);
            }
            if is_long && !sent.marks.has(Marks::SACKED) {
                missing.push(pieces.len());
            }
            pieces.push_back(sent);
        }
        self.segments = pieces;
        self.find_waiting();
        missing
    }

    /// A piece was cut off at `index`: one segment more bears its marks.
    fn note_piece(&mut self, piece: &Sent, index: usize, missing: &mut Vec<usize>) {
        let marks = piece.marks;
        self.marked += u32::from(!marks.is_plain());
        if marks.has(Marks::SACKED) {
            self.sacked_segments += 1;
        } else {
            missing.push(index);
        }
    }

    /// Deems everything lost that is not SACKed (after a timeout).
    pub(crate) fn mark_all_lost(&mut self) {
        for index in 0..self.segments.len() {
            self.mark_lost(index);
        }
    }

    /// Takes every judgement of loss back: the recovery was spurious.
    pub(crate) fn unmark_all_lost(&mut self) {
        for sent in &mut self.segments {
            sent.marks.clear(Marks::LOST);
        }
        self.count_marked();
        self.lost = 0;
        self.to_retransmit = 0;
        self.judged = self.una;
    }

    /// The peer dropped what it had SACKed (RFC 2018 §8): nothing counts as SACKed any more.
    pub(crate) fn forget_sacks(&mut self) {
        for sent in &mut self.segments {
            sent.marks.clear(Marks::SACKED);
        }
        self.count_marked();
        self.sacked = 0;
        self.sacked_segments = 0;
        self.reported.clear();
        self.judged = self.una;
    }

    /// After marks were taken off.
    fn count_marked(&mut self) {
        self.marked = self.segments.iter().filter(|sent| !sent.marks.is_plain()).count() as u32;
    }

    /// RFC 6675 §4 NextSeg (3): the lowest segment at or above `from`, below the highest SACKed octet, that was
    /// neither SACKed nor retransmitted; and how far it has been looked for.
    pub(crate) fn next_hole(&self, from: Mark) -> (Option<usize>, Mark) {
        let Some(end) = self.highest_sacked() else { return (None, from) };
        let start = self.index_past(from);
        let mut below = self.segments.range(start..).take_while(|sent| sent.seq.before(end));
        let unsent = Marks(Marks::SACKED.0 | Marks::RETRANSMITTED.0);
        let found = below
            .position(|sent| {
                step();
                !sent.marks.has(unsent)
            })
            .map(|at| at + start);
        let looked_at = found.map_or(end, |found| self.segments[found].end());
        (found, self.mark_of(looked_at).max(from))
    }

    /// The highest segment that is not SACKed.
    pub(crate) fn last_unsacked(&self) -> Option<usize> {
        let last = self.segments.len().checked_sub(1)?;
        if !self.segments[last].marks.has(Marks::SACKED) {
            return Some(last);
        }
        let (first_sacked, _) = self.reported.last()?;
        self.index_of(first_sacked)?.checked_sub(1)
    }

    /// The segment was sent again.
    pub(crate) fn mark_retransmitted(&mut self, index: usize, now: Instant) {
        let sent = &mut self.segments[index];
        self.marked += u32::from(sent.marks.is_plain());
        if sent.marks.has(Marks::LOST) && !sent.marks.has(Marks::RETRANSMITTED) {
            self.to_retransmit -= sent.len;
        }
        if !sent.marks.has(Marks::RETRANSMITTED) {
            self.retransmitted += sent.len;
        }
        sent.marks.set(Marks::RETRANSMITTED);
        sent.marks.set(Marks::EVER_RETRANSMITTED);
        sent.sent_at = now;
        if self.keeps.retransmissions {
            self.retransmissions.push_back((now, sent.seq));
        }
    }

    /// RFC 6675 §4 IsLost, for all segments at once: those with at least `threshold` discontiguous SACKed runs,
    /// or more than `threshold - 1` segments' worth of SACKed octets above them. Each is judged once.
    pub(crate) fn mark_lost_below_sacks(&mut self, threshold: u32, smss: u32) -> bool {
        let Some(limit) = self.index_below_sacks(threshold, smss) else { return false };
        let start = self.index_past(self.judged);
        let mut any = false;
        for index in start..limit {
            if !self.segments[index].marks.has(Marks::RETRANSMITTED) {
                any |= self.mark_lost(index);
            }
        }
        if limit > start {
            self.judged = self.mark_of(self.segments[limit - 1].end());
        }
        any
    }

    /// The index below which enough was SACKed above: of a segment in the run with which it becomes enough.
    fn index_below_sacks(&self, threshold: u32, smss: u32) -> Option<usize> {
        let (mut octets, mut runs) = (0, 0);
        for (left, right) in self.reported.highest_first() {
            step();
            octets += right.since(left);
            runs += 1;
            if runs >= threshold || octets > (threshold - 1) * smss {
                return self.index_of(left);
            }
        }
        None
    }

    /// RFC 8985 §6.2 step 5 for all segments at once: whatever was sent before `latest` and is overdue at `now`
    /// is lost.
    pub(crate) fn mark_overdue(&mut self, now: Instant, latest: (Instant, Seq), wait: Duration) -> Overdue {
        let originals = self.mark_overdue_originals(now, latest, wait);
        let retransmissions = self.mark_overdue_retransmissions(now, latest, wait);
        let next = match (originals.next, retransmissions.next) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        Overdue { any: originals.any || retransmissions.any, next }
    }

    /// First transmissions are in order of time: each is judged once.
    fn mark_overdue_originals(&mut self, now: Instant, latest: (Instant, Seq), wait: Duration) -> Overdue {
        let mut any = false;
        let mut index = self.index_past(self.judged);
        while let Some(sent) = self.segments.get(index).copied() {
            let settled = Marks(Marks::SACKED.0 | Marks::EVER_RETRANSMITTED.0 | Marks::LOST.0);
            if !sent.marks.has(settled) {
                if !sent_after(latest.0, latest.1, sent.sent_at, sent.end()) {
                    break;
                }
                let due = sent.sent_at + wait;
                if due > now {
                    return Overdue { any, next: Some(due - now) };
                }
                any |= self.mark_lost(index);
            }
            self.judged = self.mark_of(sent.end());
            index += 1;
        }
        Overdue { any, next: None }
    }

    /// Retransmissions, in the order in which they were sent.
    fn mark_overdue_retransmissions(
        &mut self,
        now: Instant,
        latest: (Instant, Seq),
        wait: Duration,
    ) -> Overdue {
        let mut any = false;
        while let Some((at, seq)) = self.retransmissions.front().copied() {
            let index = self.index_of(seq).filter(|index| {
                let sent = &self.segments[*index];
                sent.sent_at == at && sent.marks.has(Marks::RETRANSMITTED)
            });
            if let Some(index) = index {
                if !sent_after(latest.0, latest.1, at, self.segments[index].end()) {
                    break;
                }
                if at + wait > now {
                    return Overdue { any, next: Some(at + wait - now) };
                }
                any |= self.mark_lost(index);
            }
            self.retransmissions.pop_front();
        }
        Overdue { any, next: None }
    }
}

impl SentQueue {
    /// The totals are those of the entries, which cover `[una, nxt)` without gap.
    pub(crate) fn audit(&self, una: Seq, nxt: Seq) {
        let total = |mark| -> u32 {
            self.segments.iter().filter(|sent| sent.marks.has(mark)).map(|sent| sent.len).sum()
        };
        assert_eq!(self.sacked, total(Marks::SACKED));
        let reported =
            |sent: &Sent| self.reported.around(sent.seq).is_some_and(|span| span.1.after_eq(sent.end()));
        assert!(self.segments.iter().all(|sent| sent.marks.has(Marks::SACKED) == reported(sent)));
        assert_eq!(self.lost, total(Marks::LOST));
        assert_eq!(self.retransmitted, total(Marks::RETRANSMITTED));
        assert_eq!(self.marked as usize, self.segments.iter().filter(|sent| !sent.marks.is_plain()).count());
        let ends = self.segments.iter().filter(|sent| sent.marks.has(Marks::PACKET_END)).count();
        assert_eq!(self.packets as usize, ends);
        let waiting = || self.segments.iter().filter(|sent| sent.waits());
        assert_eq!(self.to_retransmit, waiting().map(|sent| sent.len).sum::<u32>());
        // The first segment may have begun lower, before a part of it was acknowledged.
        let is_known = |sent: &Sent| sent.seq == una || self.resend.holds(self.mark_of(sent.seq));
        assert!(waiting().all(is_known));
        if let (Some(first), Some(last)) = (self.segments.front(), self.segments.back()) {
            assert_eq!((first.seq, last.end()), (una, nxt));
            for (a, b) in self.segments.iter().zip(self.segments.iter().skip(1)) {
                assert_eq!(a.end(), b.seq);
            }
        }
    }
}

#[cfg(test)]
mod tests;
