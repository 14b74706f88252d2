//! Controllers of a path: numbered datagrams go out, and a few times per round trip the peer reports what came and what
//! is missing. Nothing is sent again, so there is no recovery: a loss is told once.

mod bbr;
mod controlled;
mod copa;
mod doubt;
mod packet_size;
#[cfg(test)]
mod tests;
mod transparent;

pub use bbr::PathBbr;
pub use controlled::{ControlledPath, Spread};
pub use copa::{CopaTuning, PathCopa};
pub use transparent::Transparent;

use crate::rate_sample::{LostPacket, RateSample};
use ropewalk_units::{Duration, Instant, Rate};

/// Packets of an initial window (RFC 6928).
pub const INITIAL_WINDOW: u32 = 10;

/// How long nothing is known of a path (RFC 6298 §2.1, the first timeout). What was seen of it longer ago does not count as
/// known.
pub const UNKNOWN: Duration = Duration::from_secs(1);

/// A delay without queue is the least of so long: LEDBAT's BASE_HISTORY (RFC 6817 §2.5), Copa's window of RTTmin (§2.2). CUBIC does not
/// empty a deep buffer within the ten seconds that Copa has.
pub const BASE_HISTORY: Duration = Duration::from_secs(600);

/// What one report tells. Times are those at which the ACKs of single packets would have come: what the report waited at
/// the peer is taken off.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PathSample {
    /// The sample of the packet sent last among those that the report tells as delivered.
    pub rate: RateSample,
    /// The shortest round-trip time among those packets.
    pub least_rtt: Option<Duration>,
    /// The smoothed round-trip time, this report included.
    pub srtt: Duration,
    /// By how much packets come late that others overtake: no queue delays so.
    pub reordering: Duration,
    /// By how much later than round-trip times say a report comes, on average. What was delivered
    /// counts as on its way for so long.
    pub lag: Duration,
}

/// How much may be on a path and how fast it may leave. Volumes in octets.
///
/// Calls come in the order of events, with times that never go back. [`ControlledPath`] makes them.
pub trait PathController {
    /// A packet is about to leave while nothing is on its way and there had been nothing to send.
    fn on_restart_from_idle(&mut self, now: Instant);

    /// A packet of `size` octets leaves; `inflight` are on their way with it.
    fn on_sent(&mut self, now: Instant, size: u32, inflight: u32);

    /// A packet is missing. All losses of a report come before its [`Self::on_report`].
    fn on_lost(&mut self, now: Instant, packet: &LostPacket);

    /// A report with at least one packet delivered.
    fn on_report(&mut self, now: Instant, sample: &PathSample);

    /// A packet train came at this rate: what the line carried just then. `base_rtt`: the round trip without queue, if it is known
    /// from elsewhere.
    fn on_train(&mut self, _now: Instant, _rate: Rate, _base_rtt: Option<Duration>) {}

    /// No report came for long: what was on its way is given up.
    fn on_timeout(&mut self, now: Instant);

    /// How much may be on its way; `u32::MAX` is no bound.
    fn inflight_bound(&self) -> u32;

    /// How fast packets may leave at `now`; `None` is at once.
    fn pacing_rate(&self, now: Instant) -> Option<Rate>;

    /// The bandwidth that the controller believes the path to have for it; `None` while it knows nothing.
    fn bandwidth(&self) -> Option<Rate>;

    /// The round trip without queue that the controller believes in.
    fn base_rtt(&self) -> Option<Duration>;

    /// Does the controller hold the path below what it could carry, so that samples say nothing about its rate?
    fn limits_itself(&self) -> bool;

    /// Does the controller yield to delay no longer, because others on the line do not either?
    fn is_competing(&self) -> bool {
        false
    }

    /// Is the queue that is measured more than the controller would make, so that others hold it? What leaves beyond the window may
    /// hold it as well.
    fn is_crowded(&self) -> bool {
        false
    }
}

/// A controller chosen at run time.
impl<C: PathController + ?Sized> PathController for Box<C> {
    fn on_restart_from_idle(&mut self, now: Instant) {
        (**self).on_restart_from_idle(now);
    }

    fn on_sent(&mut self, now: Instant, size: u32, inflight: u32) {
        (**self).on_sent(now, size, inflight);
    }

    fn on_lost(&mut self, now: Instant, packet: &LostPacket) {
        (**self).on_lost(now, packet);
    }

    fn on_report(&mut self, now: Instant, sample: &PathSample) {
        (**self).on_report(now, sample);
    }

    fn on_train(&mut self, now: Instant, rate: Rate, base_rtt: Option<Duration>) {
        (**self).on_train(now, rate, base_rtt);
    }

    fn on_timeout(&mut self, now: Instant) {
        (**self).on_timeout(now);
    }

    fn inflight_bound(&self) -> u32 {
        (**self).inflight_bound()
    }

    fn pacing_rate(&self, now: Instant) -> Option<Rate> {
        (**self).pacing_rate(now)
    }

    fn bandwidth(&self) -> Option<Rate> {
        (**self).bandwidth()
    }

    fn base_rtt(&self) -> Option<Duration> {
        (**self).base_rtt()
    }

    fn limits_itself(&self) -> bool {
        (**self).limits_itself()
    }

    fn is_competing(&self) -> bool {
        (**self).is_competing()
    }

    fn is_crowded(&self) -> bool {
        (**self).is_crowded()
    }
}
