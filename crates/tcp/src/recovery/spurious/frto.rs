//! F-RTO (RFC 5682 §3.1, the version with SACK; §2.1 without it): after a timeout, send something new and see what comes back.

use super::{Cause, Verdict};
use ropewalk_units::Mark;

/// One ACK after the timeout.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct FrtoAck {
    /// SND.UNA after it.
    pub(crate) snd_una: Mark,
    /// It advanced SND.UNA.
    pub(crate) advanced: bool,
    /// Highest octet, plus one, that it acknowledges cumulatively or newly by SACK.
    pub(crate) highest: Mark,
    /// It newly acknowledges, cumulatively or by SACK, data sent once only, at or below RecoveryPoint.
    pub(crate) original_below: bool,
    /// The highest sequence number sent, plus one.
    pub(crate) snd_max: Mark,
    /// New data could be sent: there is some, and the peer's window takes it.
    pub(crate) can_send_new: bool,
}

/// What to do next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum FrtoAction {
    /// Not armed, or wait for the next ACK and retransmit nothing more.
    Wait,
    /// (2b): up to two new segments instead of retransmissions.
    SendNew,
    /// The loss was real: recovery as after any timeout, cwnd at most this many segments.
    Recover {
        /// 2 in step (2a), 3 in step (3a).
        segments: u32,
    },
    /// (3b): the timeout was spurious.
    Spurious,
}

/// Where the algorithm stands.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
enum Step {
    #[default]
    Idle,
    /// (2): the first segment was sent again.
    First,
    /// (3): new data was sent.
    Second,
}

/// The detector of one connection.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Frto {
    step: Step,
    recovery_point: Option<Mark>,
}

impl Frto {
    /// RFC 5682 §3.1 (1): the timer expired and the first unacknowledged segment is sent again. False if a
    /// recovery is still in progress, which forbids the algorithm; a timeout of the same segment `again` does not (Linux
    /// `tcp_enter_loss`).
    pub(crate) fn begin(&mut self, snd_una: Mark, snd_max: Mark, again: bool) -> bool {
        let recovering = !again && self.recovery_point.is_some_and(|point| point > snd_una);
        if recovering {
            self.recovery_point = Some(snd_max);
        }
        self.step = if recovering { Step::Idle } else { Step::First };
        !recovering
    }

    /// Fast recovery began, up to `snd_max`: a timeout inside it is no case for F-RTO.
    pub(crate) fn on_fast_recovery(&mut self, snd_max: Mark) {
        self.recovery_point = Some(snd_max);
        self.step = Step::Idle;
    }

    /// Whether an ACK is awaited.
    pub(crate) fn is_active(&self) -> bool {
        self.step != Step::Idle
    }

    /// Another detector found the timeout spurious, or recovery ended (fast recovery too): no recovery is in
    /// progress any more.
    pub(crate) fn stop(&mut self) {
        *self = Self::default();
    }

    /// RFC 5682 §3.1 (2) and (3).
    pub(crate) fn on_ack(&mut self, ack: &FrtoAck) -> FrtoAction {
        match self.step {
            Step::Idle => FrtoAction::Wait,
            Step::First => self.first(ack),
            Step::Second => self.second(ack),
        }
    }

    /// (2): duplicate ACKs only update the scoreboard.
    fn first(&mut self, ack: &FrtoAck) -> FrtoAction {
        if !ack.advanced {
            return FrtoAction::Wait;
        }
        self.recovery_point = Some(ack.snd_max);
        // (2a), and (2b) without anything new to send.
        if ack.snd_una >= ack.snd_max || !ack.can_send_new {
            self.step = Step::Idle;
            return FrtoAction::Recover { segments: 2 };
        }
        self.step = Step::Second;
        FrtoAction::SendNew
    }

    /// (3): the ACK that answers the new data, or originals that were on their way.
    fn second(&mut self, ack: &FrtoAck) -> FrtoAction {
        let Some(point) = self.recovery_point else { return FrtoAction::Wait };
        self.step = Step::Idle;
        // (3a): beyond the point, or nothing new below it.
        if ack.highest > point || !ack.original_below {
            return FrtoAction::Recover { segments: 3 };
        }
        // (3b)
        self.recovery_point = Some(ack.snd_una);
        FrtoAction::Spurious
    }
}

impl FrtoAction {
    /// The same in the detectors' common terms.
    pub(crate) fn verdict(self) -> Verdict {
        match self {
            Self::Wait | Self::SendNew => Verdict::Undecided,
            Self::Recover { .. } => Verdict::Genuine,
            Self::Spurious => Verdict::Spurious { cause: Cause::Timeout },
        }
    }
}
