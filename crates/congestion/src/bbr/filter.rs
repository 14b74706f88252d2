//! BBR.extra_acked_filter: the largest value of the last packet-timed rounds, exactly.

/// BBR.ExtraAckedFilterLen, in rounds.
const ROUNDS: usize = 10;

/// The largest value of each of the last rounds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MaxOfRounds {
    most: [u32; ROUNDS],
    round: u64,
}

impl MaxOfRounds {
    /// A value of `round`; rounds never go back.
    pub(super) fn update(&mut self, round: u64, value: u32) {
        for passed in (self.round + 1..=round).take(ROUNDS) {
            self.most[slot(passed)] = 0;
        }
        if round > self.round + ROUNDS as u64 {
            self.most = [0; ROUNDS];
        }
        self.round = round;
        let most = &mut self.most[slot(round)];
        *most = value.max(*most);
    }

    /// The largest value of the last round alone.
    pub(super) fn of_this_round(&self) -> u32 {
        self.most[slot(self.round)]
    }

    /// The largest value of all rounds that are remembered.
    pub(super) fn of_all_rounds(&self) -> u32 {
        self.most.iter().copied().fold(0, u32::max)
    }
}

fn slot(round: u64) -> usize {
    (round % ROUNDS as u64) as usize
}
