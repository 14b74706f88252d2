//! Linux's test of whether cwnd is what limits the sender.

use ropewalk_units::Mark;

/// What cwnd has room for when a segment has left.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Room {
    /// Another segment.
    Segment,
    /// No other: cwnd limits the sender.
    None,
}

/// How much of cwnd a round used: a window that is not used does not grow (`tcp_cwnd_validate`).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Usage {
    limited: bool,
    most: u32,
    /// The round ends when this is acknowledged.
    round_end: Mark,
}

impl Usage {
    pub(crate) fn new() -> Self {
        Self { limited: false, most: 0, round_end: Mark::START }
    }

    /// Does cwnd limit the sender?
    pub(crate) fn is_limited(&self) -> bool {
        self.limited
    }

    /// The most that was on its way in this round.
    pub(crate) fn most(&self) -> u32 {
        self.most
    }

    /// cwnd holds data back.
    pub(crate) fn set_limited(&mut self) {
        self.limited = true;
    }

    /// A segment has left: `flight` octets from `una` on are on their way.
    pub(crate) fn on_sent(&mut self, una: Mark, flight: u32, room: Room) {
        let limited = room == Room::None;
        if una >= self.round_end || limited || (!self.limited && flight > self.most) {
            self.limited = limited;
            self.most = flight;
            self.round_end = una + flight;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_remembers_that_the_window_was_full() {
        let mut usage = Usage::new();
        usage.on_sent(Mark::START, 1000, Room::Segment);
        assert!(!usage.is_limited() && usage.most() == 1000);
        usage.on_sent(Mark::START, 3000, Room::None);
        usage.on_sent(Mark::START + 500, 2500, Room::Segment);
        assert!(usage.is_limited(), "until the round is over");
        usage.on_sent(Mark::START + 3000, 1000, Room::Segment);
        assert!(!usage.is_limited() && usage.most() == 1000);
    }

    /// `tcp_cwnd_validate`: the maximum of a round, which ends when all is acknowledged that was on its way at that time.
    #[test]
    fn a_round_remembers_the_most_that_was_on_its_way() {
        let mut usage = Usage::new();
        usage.on_sent(Mark::START, 1000, Room::Segment);
        usage.on_sent(Mark::START, 2000, Room::Segment);
        assert_eq!(usage.most(), 2000);
        usage.on_sent(Mark::START + 1000, 1500, Room::Segment);
        assert_eq!(usage.most(), 2000, "no less in this round");
        // As much once more does not make the round longer.
        usage.on_sent(Mark::START + 1000, 2000, Room::Segment);
        usage.on_sent(Mark::START + 2000, 500, Room::Segment);
        assert_eq!(usage.most(), 500, "another round");
    }

    #[test]
    fn more_on_its_way_does_not_make_a_round_forget_that_the_window_was_full() {
        let mut usage = Usage::new();
        usage.on_sent(Mark::START, 3000, Room::None);
        usage.on_sent(Mark::START + 1000, 3500, Room::Segment);
        assert!(usage.is_limited());
    }
}
