//! HyStart++ (RFC 9406): leave slow start when the round-trip time rises, before anything is lost.

use super::Growth;
use ropewalk_units::Duration;

// RFC 9406 §4.3, the recommended constants.
const MIN_RTT_THRESHOLD: Duration = Duration::from_millis(4);
const MAX_RTT_THRESHOLD: Duration = Duration::from_millis(16);
const MIN_RTT_DIVISOR: u64 = 8;
const ROUND_SAMPLES: u32 = 8;
const CONSERVATIVE_GROWTH_DIVISOR: u32 = 4;
const CONSERVATIVE_ROUNDS: u32 = 5;
/// L: segments that one ACK may add in slow start, unless the sender paces.
const ACK_LIMIT: u32 = 8;

/// The state over rounds. A round ends when what was outstanding at its start is acknowledged; rounds are counted in
/// octets since the beginning, which never wrap.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct PlusPlus {
    /// RFC 9406 §4.3: no limit if the sender paces.
    limit: Option<u32>,
    window_end: Option<u64>,
    last_round: Option<Duration>,
    this_round: Option<Duration>,
    samples: u32,
    conservative: Option<Conservative>,
}

/// Conservative slow start: verify that the rise was not an outlier.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Conservative {
    baseline: Duration,
    rounds: u32,
}

impl PlusPlus {
    pub(crate) fn new(paced: bool) -> Self {
        Self {
            limit: (!paced).then_some(ACK_LIMIT),
            window_end: None,
            last_round: None,
            this_round: None,
            samples: 0,
            conservative: None,
        }
    }

    /// One ACK of new data in the initial slow start.
    pub(crate) fn on_ack(&mut self, acked: u64, sent: u64, rtt: Option<Duration>) -> Growth {
        // The sample belongs to the round in which its data was sent, also when this ACK ends that round.
        if let Some(rtt) = rtt {
            self.this_round = Some(self.this_round.map_or(rtt, |least| least.min(rtt)));
            self.samples += 1;
            if self.samples >= ROUND_SAMPLES {
                self.judge();
            }
        }
        if self.start_round(acked, sent) {
            return Growth::Leave;
        }
        let divisor = if self.conservative.is_some() { CONSERVATIVE_GROWTH_DIVISOR } else { 1 };
        Growth::Limited { segments: self.limit, divisor }
    }

    /// RFC 9406 §4.2: begins a round when the last one is acknowledged. True when that was the last round of
    /// conservative slow start.
    fn start_round(&mut self, acked: u64, sent: u64) -> bool {
        if self.window_end.is_some_and(|end| acked < end) {
            return false;
        }
        let first = self.window_end.is_none();
        self.window_end = Some(sent);
        if first {
            return false;
        }
        self.last_round = self.this_round.take();
        self.samples = 0;
        self.conservative.as_mut().is_some_and(|state| {
            // RFC 9406 §4.2: the partial round in which it began counts too.
            state.rounds += 1;
            state.rounds >= CONSERVATIVE_ROUNDS
        })
    }

    /// RFC 9406 §4.2, on every sample from the eighth of a round on.
    fn judge(&mut self) {
        let Some(current) = self.this_round else { return };
        match self.conservative {
            Some(state) if current < state.baseline => self.conservative = None,
            Some(_) => {}
            None => {
                let Some(last) = self.last_round else { return };
                let threshold = (last / MIN_RTT_DIVISOR).clamp(MIN_RTT_THRESHOLD, MAX_RTT_THRESHOLD);
                if current >= last + threshold {
                    self.conservative = Some(Conservative { baseline: current, rounds: 0 });
                }
            }
        }
    }
}
