//! From the paths to the LAN.

use super::Endpoint;
use crate::config::{Config, Order};
use crate::id::{FlowSeq, GlobalSeq, PathId};
use crate::queue::Payload;
use crate::receive::incoming::Incoming;
use crate::receive::replay::Seen;
use crate::receive::resequencer::Arrival;
use crate::wire::compact::{CompactHeader, Nearby};
use crate::wire::header::{DataHeader, Transmission};
use ropewalk_congestion::UNKNOWN;
use ropewalk_units::{Duration, Instant};

/// Why a data packet was not taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// A copy was taken before.
    Duplicate,
    /// It came after the resequencer had given it up, or is older than the replay window.
    Late,
    /// The path is not one of this bond's, or the header names another path.
    UnknownPath,
    /// The driver has left so many packets undelivered that there is no room.
    Full,
}

/// How long a packet with the relative one-way delay `own` (µs) waits for a missing one.
///
/// It is the time until the slowest live path would have delivered what was sent before the packet,
/// by its recent delays. A quarter of that is added, and the time by which a queue may have grown
/// since. While the delay of a live path is unknown, it is half a second.
pub(super) fn patience(config: &Config, incoming: &[Incoming], now: Instant, own: i64) -> Duration {
    let bounds = config.resequencer;
    if let Some(timeout) = bounds.timeout {
        return timeout;
    }
    let is_unknown = |path: &Incoming| path.recent.most().is_none() && is_live(config, path, now);
    if incoming.iter().any(is_unknown) {
        return bounds.blind_timeout();
    }
    let live = incoming.iter().filter(|path| is_live(config, path, now));
    let slowest = live.filter_map(|path| path.recent.most()).max().unwrap_or(own);
    let spread = Duration::from_micros((slowest - own).max(0) as u64);
    (spread + spread / 4 + config.tuning.bond.slack).clamp(bounds.min_timeout, bounds.max_timeout)
}

fn is_live(config: &Config, path: &Incoming, now: Instant) -> bool {
    let own = path.bearable(config.keepalive.suspect_after);
    let most = if path.is_heard { own } else { own.max(UNKNOWN) };
    now.saturating_since(path.heard_at) < most
}

impl<P: Payload> Endpoint<P> {
    /// A data packet that came by a path.
    #[inline]
    pub(super) fn handle_data(
        &mut self,
        now: Instant,
        path: PathId,
        header: &DataHeader,
        packet: P,
    ) -> Result<(), Refusal> {
        if !self.is_addressed(path, header) {
            return Err(Refusal::UnknownPath);
        }
        let len = packet.wire_len();
        let delay = self.ways.on_arrival(now, path, header.timestamp);
        self.count(now, path, header, len, delay);
        self.feedback.note_data();
        if self.resequencer.is_full() {
            return Err(Refusal::Full);
        }
        match self.replay.note(header.global_seq) {
            Seen::New => {}
            Seen::Duplicate => {
                self.resequencer.count_duplicate();
                return Err(Refusal::Duplicate);
            }
            Seen::Unknown => {
                self.resequencer.count_late();
                return Err(Refusal::Late);
            }
        }
        let taken = self.resequence(now, header, len, delay, packet);
        if self.resequencer.is_blocked() {
            self.give_up_what_is_lost(now);
        }
        self.note_given_up();
        taken.map_err(|_late| Refusal::Late)
    }

    /// Completes the numbers of a header by those that came before. `None`: it names a path that
    /// this bond does not have.
    #[inline]
    pub fn complete(&self, header: &CompactHeader) -> Option<DataHeader> {
        let incoming = self.incoming.get(header.path().index())?;
        let nearby = Nearby {
            flow_seq: self.resequencer.next(header.bucket()),
            global_seq: self.replay.highest().unwrap_or_default(),
            path_seq: incoming.next(),
        };
        Some(header.complete(nearby))
    }

    /// Are the path and the header's path of this bond, and the same? A repair may come by any
    /// path.
    #[inline]
    fn is_addressed(&self, path: PathId, header: &DataHeader) -> bool {
        let is_own = header.path == path || header.transmission == Transmission::Repair;
        is_own && path.index().max(header.path.index()) < self.incoming.len()
    }

    #[inline]
    fn count(&mut self, now: Instant, path: PathId, header: &DataHeader, len: u32, delay: i64) {
        let incoming = &mut self.incoming[path.index()];
        if header.transmission == Transmission::Repair {
            incoming.on_unnumbered(now, delay);
            self.incoming[header.path.index()].on_repair(now, header);
            return;
        }
        incoming.on_data(now, header, len + self.config.overhead, delay);
        // What the peer uses is no line at rest: it is worth its reports.
        self.paths[path.index()].wake(now);
        self.ask_for_repairs(now, path);
    }

    #[inline]
    fn resequence(
        &mut self,
        now: Instant,
        header: &DataHeader,
        len: u32,
        delay: i64,
        packet: P,
    ) -> Result<(), P> {
        let (bucket, seq) = match self.config.order {
            Order::PerFlow if header.class.is_ordered() => (header.bucket, header.flow_seq),
            Order::Global => (0, FlowSeq::new(header.global_seq.get())),
            Order::PerFlow | Order::Off => {
                self.resequencer.pass(packet);
                return Ok(());
            }
        };
        let (config, incoming) = (&self.config, &self.incoming);
        let arrival = Arrival { bucket, seq, global: header.global_seq, len, packet };
        self.resequencer.offer(now, arrival, || patience(config, incoming, now, delay))
    }

    /// Gives up missing packets that will not come any more: every live path has passed them, or
    /// the only path that carried them has.
    pub(super) fn give_up_what_is_lost(&mut self, now: Instant) {
        if self.config.resequencer.timeout.is_some() {
            return;
        }
        if let Some(passed) = self.passed(now) {
            self.resequencer.on_passed(now, None, passed);
        }
        for path in &mut self.incoming {
            if let Some((from, passed)) = path.passed_alone(now) {
                self.resequencer.on_passed(now, Some(from), passed);
            }
        }
    }

    /// The greatest number that every live path has passed; `None`: that of some path is not known.
    fn passed(&mut self, now: Instant) -> Option<GlobalSeq> {
        let mut least: Option<GlobalSeq> = None;
        let suspect_after = self.config.keepalive.suspect_after;
        let is_awaited =
            |path: &Incoming| is_live(&self.config, path, now) || path.is_in_doubt(now, now, suspect_after);
        for path in self.incoming.iter_mut().filter(|path| is_awaited(path)) {
            let passed = path.passed(now)?;
            least = Some(least.map_or(passed, |least| if passed.before(least) { passed } else { least }));
        }
        least
    }

    /// Gives up packets whose time is up, unless a path that is delivering or under repair may
    /// still bring them.
    pub(super) fn give_up_in_time(&mut self, now: Instant) {
        let (bounds, soon) = (self.config.resequencer, self.config.tuning.copa.report_interval);
        let (incoming, suspect_after) = (&mut self.incoming, self.config.keepalive.suspect_after);
        self.resequencer.expire(now, |arrived_at, global| {
            let last = arrived_at.saturating_add(bounds.max_timeout);
            let is_coming = bounds.timeout.is_none()
                && now < last
                && incoming.iter_mut().any(|path| path.may_bring(now, (arrived_at, global), suspect_after));
            is_coming.then(|| now.saturating_add(soon).min(last))
        });
    }
}
