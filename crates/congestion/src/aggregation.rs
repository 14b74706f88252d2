//! How much more is acknowledged at once than the bandwidth explains (draft-ietf-ccwg-bbr, "BBRUpdateACKAggregation"): what lumps of
//! acknowledgements hold back.

use ropewalk_units::Instant;

/// BBR.ExtraAckedFilterLen, in rounds.
const ROUNDS: usize = 10;

/// BBR.extra_acked and its filter. Octets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AckAggregation {
    since: Instant,
    delivered: u64,
    most: MaxOfRounds,
}

impl AckAggregation {
    /// Nothing was acknowledged yet.
    pub(crate) fn new(now: Instant) -> Self {
        Self { since: now, delivered: 0, most: MaxOfRounds::default() }
    }

    /// What was acknowledged before an idle time explains nothing.
    pub(crate) fn restart(&mut self, now: Instant) {
        self.since = now;
    }

    /// `acked` more came in this round, at `bandwidth` octets per second; no more than `cap` counts.
    pub(crate) fn update(&mut self, now: Instant, round: u64, acked: u32, bandwidth: f64, cap: u32) {
        let mut expected = bandwidth * now.saturating_since(self.since).as_secs_f64();
        if self.delivered as f64 <= expected {
            (self.delivered, self.since) = (0, now);
            expected = 0.0;
        }
        self.delivered += u64::from(acked);
        let extra = (self.delivered as f64 - expected).clamp(0.0, f64::from(cap));
        self.most.update(round, extra as u32);
    }

    /// The most of the last round alone.
    pub(crate) fn of_this_round(&self) -> u32 {
        self.most.of_this_round()
    }

    /// The most of the last rounds.
    pub(crate) fn of_all_rounds(&self) -> u32 {
        self.most.of_all_rounds()
    }
}

/// The largest value of each of the last rounds.
#[derive(Clone, Copy, Debug, Default)]
struct MaxOfRounds {
    most: [u32; ROUNDS],
    round: u64,
}

impl MaxOfRounds {
    /// A value of `round`; rounds never go back.
    fn update(&mut self, round: u64, value: u32) {
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
    fn of_this_round(&self) -> u32 {
        self.most[slot(self.round)]
    }

    /// The largest value of all rounds that are remembered.
    fn of_all_rounds(&self) -> u32 {
        self.most.iter().copied().fold(0, u32::max)
    }
}

fn slot(round: u64) -> usize {
    (round % ROUNDS as u64) as usize
}
