//! A train of probes: sent at once over a path that nothing is known of, it comes as fast as the path is.

use super::log::Entry;
use crate::control::PathReport;
use crate::id::PathSeq;

/// Probes in a train: RFC 6928's initial window.
const LENGTH: u32 = 10;
/// What followed the train has kept the path busy until its end if the last of it waited so long, in µs.
const BUSY_MICROS: i64 = 2_000;

/// The train under way, if there is one.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Train {
    under_way: Option<UnderWay>,
}

#[derive(Clone, Copy, Debug)]
struct UnderWay {
    probes: u32,
    /// The number after its last.
    end: PathSeq,
    /// The sender's clock in µs.
    left_at: u32,
    /// What the peer had received before it.
    received_bytes: u32,
    /// The least delay reported since, and the last, in µs.
    least: i64,
    delay: i64,
    /// When what came last left.
    last_left_at: u32,
}

/// What a train has shown: so many octets came within so many µs, or nothing but that the path is not slow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Arrival(pub(super) Option<(u32, i64)>);

impl Train {
    /// May one more probe be sent at once?
    pub(super) fn may_grow(&self) -> bool {
        self.under_way.is_none_or(|train| train.probes < LENGTH)
    }

    pub(super) fn is_under_way(&self) -> bool {
        self.under_way.is_some()
    }

    /// Its probes, while it is under way.
    pub(super) fn len(&self) -> u32 {
        self.under_way.map_or(0, |train| train.probes)
    }

    /// A probe, number `seq`, leaves at `left_at`; `last`: the report before.
    pub(super) fn on_probe(&mut self, seq: PathSeq, left_at: u32, last: &PathReport) {
        let begun = UnderWay {
            probes: 0,
            end: seq,
            left_at,
            received_bytes: last.received_bytes,
            least: i64::MAX,
            delay: 0,
            last_left_at: left_at,
        };
        let train = self.under_way.get_or_insert(begun);
        train.probes += 1;
        train.end = seq.next();
    }

    /// A report that something came: the least delay and that of the last packet, in µs, and what is known of that packet.
    pub(super) fn note(&mut self, least: i64, delay: i64, last: &Entry) {
        if let Some(train) = &mut self.under_way {
            train.least = train.least.min(least);
            train.delay = delay;
            train.last_left_at = last.left_at;
        }
    }

    /// Once the whole train has come, or is lost, what it has shown, if anything of it came. It left at once, behind a keepalive that is
    /// taken for its first; what came after it counts too, if the path was busy with it.
    pub(super) fn settle(&mut self, report: &PathReport) -> Option<Arrival> {
        let train = self.under_way.filter(|train| !report.next.before(train.end))?;
        self.under_way = None;
        let bytes = report.received_bytes.wrapping_sub(train.received_bytes);
        if bytes == 0 {
            return None;
        }
        let waited = train.delay - train.least;
        let sent_later = i64::from(train.last_left_at.wrapping_sub(train.left_at) as i32);
        let is_busy = sent_later <= 0 || waited > BUSY_MICROS;
        Some(Arrival(is_busy.then_some((bytes, sent_later.max(0) + waited))))
    }
}
