//! Which controller bounds a path.

use ropewalk_congestion::{LostPacket, PathBbr, PathController, PathSample, Transparent};
use ropewalk_units::{Duration, Instant, Rate};

/// Octets on the wire of a full packet.
pub(crate) const FULL_PACKET: u32 = 1_548;

/// The controller of a path.
#[derive(Clone, Debug)]
pub(crate) enum AnyController {
    /// Always may send: for schedulers that steer by losses, and for copies on every path.
    Transparent(Transparent),
    Bbr(Box<BbrOnDemand>),
}

/// BBR of a path that is used on demand.
#[derive(Clone, Debug)]
pub(crate) struct BbrOnDemand {
    bbr: PathBbr,
    /// Losses are of a burst that was answered until what was sent after the answer comes: this much is delivered.
    answered_until: Option<u64>,
}

/// BBR.LossThresh (draft-ietf-ccwg-bbr): what probing tolerates.
const LOSS_THRESH: f64 = 0.02;
/// BBR.StartupFullLossCnt: so many losses are more than chance.
const FULL_LOSSES: u32 = 6;

impl BbrOnDemand {
    /// Is so much lost of what was on its way that it is not chance? Then the path is full, however little it was given on the mean; less is nothing
    /// to the controller, since it is sent again.
    fn is_full(lost: u64, inflight: u32) -> bool {
        lost >= u64::from(FULL_LOSSES * FULL_PACKET) && lost as f64 > f64::from(inflight) * LOSS_THRESH
    }

    /// Does it send far more than it knows the path to carry, to find out (a startup's gain is 2.77)?
    fn is_searching(&self, now: Instant) -> bool {
        let (Some(pacing), Some(bandwidth)) = (self.bbr.pacing_rate(now), self.bbr.bandwidth()) else {
            return true;
        };
        pacing.bits_per_sec() > 2 * bandwidth.bits_per_sec()
    }

    /// A round trip as short as the shortest, but for a packet's time, shows that the queue is empty: no need to drain it for a look.
    fn renewed(&self, rtt: Duration) -> Duration {
        let (Some(base), Some(bandwidth)) = (self.bbr.base_rtt(), self.bbr.bandwidth()) else { return rtt };
        let is_short = rtt <= base + bandwidth.transmission_time(FULL_PACKET);
        if is_short { rtt.min(base.saturating_sub(Duration::from_nanos(1))) } else { rtt }
    }

    fn on_lost(&mut self, now: Instant, packet: &LostPacket) {
        // While BBR searches, it counts losses itself.
        let is_answered = self.answered_until.is_some() && !self.is_searching(now);
        if !is_answered && Self::is_full(packet.lost, packet.tx_in_flight) {
            self.answered_until = Some(packet.total_delivered);
            self.bbr.on_lost(now, &LostPacket { is_app_limited: false, ..*packet });
        }
    }

    fn on_report(&mut self, now: Instant, sample: &PathSample) {
        let mut sample = *sample;
        let is_over = |until| sample.rate.has_packet && sample.rate.prior_delivered > until;
        if self.answered_until.is_some_and(is_over) {
            self.answered_until = None;
        }
        sample.rate.is_app_limited &= !Self::is_full(sample.rate.lost, sample.rate.tx_in_flight);
        sample.rate.rtt = sample.rate.rtt.map(|rtt| self.renewed(rtt));
        self.bbr.on_report(now, &sample);
    }
}

impl AnyController {
    pub(crate) fn transparent() -> Self {
        Self::Transparent(Transparent)
    }

    pub(crate) fn bbr(seed: u64, now: Instant) -> Self {
        Self::Bbr(Box::new(BbrOnDemand { bbr: PathBbr::new(seed, FULL_PACKET, now), answered_until: None }))
    }
}

macro_rules! each {
    ($own:expr, $name:ident => $call:expr) => {
        match $own {
            Self::Transparent($name) => $call,
            Self::Bbr($name) => $call,
        }
    };
    ($own:expr, $name:ident => $call:expr, bbr) => {
        match $own {
            Self::Transparent($name) => $call,
            Self::Bbr(bbr) => {
                let $name = &bbr.bbr;
                $call
            }
        }
    };
}

impl PathController for AnyController {
    fn on_restart_from_idle(&mut self, now: Instant) {
        match self {
            Self::Transparent(own) => own.on_restart_from_idle(now),
            Self::Bbr(own) => own.bbr.on_restart_from_idle(now),
        }
    }

    #[inline]
    fn on_sent(&mut self, now: Instant, size: u32, inflight: u32) {
        match self {
            Self::Transparent(own) => own.on_sent(now, size, inflight),
            Self::Bbr(own) => own.bbr.on_sent(now, size, inflight),
        }
    }

    fn on_lost(&mut self, now: Instant, packet: &LostPacket) {
        each!(self, own => own.on_lost(now, packet));
    }

    fn on_report(&mut self, now: Instant, sample: &PathSample) {
        each!(self, own => own.on_report(now, sample));
    }

    fn on_timeout(&mut self, now: Instant) {
        match self {
            Self::Transparent(own) => own.on_timeout(now),
            Self::Bbr(own) => own.bbr.on_timeout(now),
        }
    }

    #[inline]
    fn inflight_bound(&self) -> u32 {
        each!(self, own => own.inflight_bound(), bbr)
    }

    #[inline]
    fn pacing_rate(&self, now: Instant) -> Option<Rate> {
        each!(self, own => own.pacing_rate(now), bbr)
    }

    /// One packet, however small: a burst of more could be longer than the line's buffer.
    #[inline]
    fn send_quantum(&self) -> u32 {
        1
    }

    fn bandwidth(&self) -> Option<Rate> {
        each!(self, own => own.bandwidth(), bbr)
    }

    fn base_rtt(&self) -> Option<Duration> {
        each!(self, own => own.base_rtt(), bbr)
    }

    fn limits_itself(&self) -> bool {
        each!(self, own => own.limits_itself(), bbr)
    }
}
