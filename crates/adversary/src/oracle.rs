//! What a TCP has to accept of a segment, whoever sent it.

use ropewalk_units::Seq;
use ropewalk_wire::{Flags, Segment};

/// How far the opening of an end has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Opening {
    /// No connection yet: the host listens.
    Listen,
    /// SYN-SENT.
    SynSent,
    /// SYN-RECEIVED.
    SynReceived,
    /// Any synchronised state.
    Synchronized,
    /// No connection any more.
    Closed,
}

/// The receive windows that one end has offered in all of its segments.
#[derive(Clone, Copy, Debug, Default)]
pub struct Windows {
    edge: Option<Seq>,
    largest: u32,
}

impl Windows {
    /// Notes a segment that the end sent. `shift` scales its window field, except on a SYN
    /// (RFC 7323 §2.2).
    pub fn observe(&mut self, segment: &Segment, shift: u8) {
        let shift = if segment.flags.contains(Flags::SYN) { 0 } else { shift };
        let window = u32::from(segment.window) << shift;
        self.largest = self.largest.max(window);
        if segment.flags.contains(Flags::ACK) {
            let edge = segment.ack + window;
            self.edge = Some(self.edge.map_or(edge, |known| known.max(edge)));
        }
    }

    /// The right edge, the farthest that was ever offered; `next` if none was.
    pub fn edge(&self, next: Seq) -> Seq {
        self.edge.map_or(next, |edge| edge.max(next))
    }

    /// The largest window, in octets.
    pub fn largest(&self) -> u32 {
        self.largest
    }
}

/// An end's numbers.
#[derive(Clone, Copy, Debug)]
pub struct Victim {
    /// Its state.
    pub opening: Opening,
    /// SND.UNA.
    pub snd_una: Seq,
    /// SND.NXT.
    pub snd_nxt: Seq,
    /// RCV.NXT.
    pub rcv_nxt: Seq,
    /// RCV.NXT + RCV.WND, or farther.
    pub edge: Seq,
    /// The largest window that its peer ever offered (MAX.SND.WND of RFC 5961 §5.2).
    pub max_window: u32,
}

/// Why a segment has to be accepted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reason {
    /// RFC 9293 §3.10.7.2: a SYN to a listening host opens another connection.
    Listening,
    /// RFC 9293 §3.10.7.3: a SYN without ACK is a simultaneous open, and whatever acknowledges our
    /// SYN counts.
    SynSent,
    /// RFC 9293 §3.10.7.4: a SYN in the window returns SYN-RECEIVED to LISTEN.
    SynReceived,
    /// RFC 5961 §3.2: a RST with the very number expected.
    Reset,
    /// RFC 5961 §5.2: SEQ in the window, ACK acceptable.
    InWindow,
}

/// Must an endpoint that follows RFC 9293, RFC 5961 and RFC 7323 accept the segment? Returns the
/// reason, or `None` if not. Where that depends on the timestamp, the answer is yes: tests leave
/// such segments out.
pub fn must_accept(victim: &Victim, segment: &Segment) -> Option<Reason> {
    let (syn, ack) = (segment.flags.contains(Flags::SYN), segment.flags.contains(Flags::ACK));
    let reset = segment.flags.contains(Flags::RST);
    match victim.opening {
        Opening::Closed => None,
        Opening::Listen => (syn && !reset && !ack).then_some(Reason::Listening),
        Opening::SynSent => {
            let opens = if ack { victim.acknowledges_syn(segment) } else { syn && !reset };
            opens.then_some(Reason::SynSent)
        }
        Opening::SynReceived | Opening::Synchronized if reset => {
            (segment.seq == victim.rcv_nxt).then_some(Reason::Reset)
        }
        Opening::SynReceived if syn => victim.is_in_window(segment).then_some(Reason::SynReceived),
        Opening::SynReceived | Opening::Synchronized => {
            let accepted = ack && !syn && victim.is_in_window(segment) && victim.acknowledges(segment);
            accepted.then_some(Reason::InWindow)
        }
    }
}

impl Victim {
    fn acknowledges_syn(&self, segment: &Segment) -> bool {
        segment.ack.after(self.snd_una) && segment.ack.before_eq(self.snd_nxt)
    }

    /// RFC 9293 §3.4, with the farthest edge for the window's.
    fn is_in_window(&self, segment: &Segment) -> bool {
        let (first, end) = (segment.seq, segment.end());
        let inside = |seq: Seq| seq.after_eq(self.rcv_nxt) && seq.before_eq(self.edge);
        inside(first) || inside(end) || (first.before(self.rcv_nxt) && end.after(self.rcv_nxt))
    }

    fn acknowledges(&self, segment: &Segment) -> bool {
        let oldest = self.snd_una - self.max_window;
        segment.ack.after_eq(oldest) && segment.ack.before_eq(self.snd_nxt)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ropewalk_wire::Payload;

    const VICTIM: Victim = Victim {
        opening: Opening::Synchronized,
        snd_una: Seq::new(1000),
        snd_nxt: Seq::new(2000),
        rcv_nxt: Seq::new(5000),
        edge: Seq::new(9000),
        max_window: 100,
    };

    fn judge(seq: u32, ack: u32, flags: Flags, len: u32) -> Option<Reason> {
        let payload = Payload { offset: 0, len };
        let segment =
            Segment { seq: Seq::new(seq), ack: Seq::new(ack), flags, payload, ..Segment::default() };
        must_accept(&VICTIM, &segment)
    }

    #[test]
    fn only_what_is_in_both_windows_is_accepted() {
        assert_eq!(judge(5000, 1500, Flags::ACK, 10), Some(Reason::InWindow));
        assert_eq!(judge(4995, 950, Flags::ACK, 10), Some(Reason::InWindow), "overlapping, an old ACK");
        assert_eq!(judge(4990, 1500, Flags::ACK, 5), None, "old data");
        assert_eq!(judge(9001, 1500, Flags::ACK, 10), None, "beyond the window");
        assert_eq!(judge(5000, 2001, Flags::ACK, 10), None, "ACK of what was never sent");
        assert_eq!(judge(5000, 899, Flags::ACK, 10), None, "ACK too old");
        assert_eq!(judge(5000, 1500, Flags::NONE, 10), None, "no ACK");
        assert_eq!(judge(5000, 1500, Flags::SYN | Flags::ACK, 10), None, "a challenge ACK answers");
    }

    #[test]
    fn only_the_exact_number_resets() {
        assert_eq!(judge(5000, 0, Flags::RST, 0), Some(Reason::Reset));
        assert_eq!(judge(5001, 0, Flags::RST, 0), None);
    }
}
