//! The tunnel's path: its controller, what waits before it, and what is on its way.

use crate::case::{Case, Demand};
use crate::parcel::{FULL, Parcel, tunnelled};
use ropewalk_aqm::{Callbacks, CodelConfig, CodelQueue, Dropped, Load, QueueLimit, Queued};
use ropewalk_congestion::{ControlledPath, CopaTuning, PacketState, PathController};
use ropewalk_units::{Duration, Instant, Rate};
use ropewalk_wire::Segment;
use std::collections::VecDeque;

/// Packets of the inner flow wait here.
const WAITING: QueueLimit = QueueLimit::Packets(1000);
/// CoDel's target for them.
const TARGET: Duration = Duration::from_millis(15);
/// Nothing is on its way after this time without a report.
const SILENCE: Duration = Duration::from_secs(2);
/// A demand of constant rate makes up for so many packets that had to wait.
const CATCH_UP: u64 = 40;

/// The inner flow's packets that wait.
struct Backlog {
    queue: CodelQueue<Segment>,
    load: Load,
}

/// What CoDel drops counts no more.
struct Account<'a>(&'a mut Load);

impl Account<'_> {
    fn remove(&mut self, bytes: u32) {
        self.0.packets -= 1;
        self.0.bytes -= u64::from(bytes);
    }
}

impl Callbacks<Segment> for Account<'_> {
    fn discard(&mut self, _at: Instant, queued: Queued<Segment>, reason: Dropped) {
        if reason == Dropped::Codel {
            self.remove(queued.bytes);
        }
    }

    fn mark(&mut self, _at: Instant, _segment: &mut Segment) -> bool {
        false
    }

    fn flow_hash(&self, _segment: &Segment) -> u32 {
        0
    }
}

impl Backlog {
    fn new() -> Self {
        let config = CodelConfig { target: TARGET, ..CodelConfig::default() };
        Self { queue: CodelQueue::new(WAITING, config), load: Load::default() }
    }

    fn push(&mut self, now: Instant, segment: Segment) {
        let queued = Queued { bytes: tunnelled(&segment), packet: segment, enqueued: now };
        let (before, bytes) = (self.load, queued.bytes);
        self.queue.enqueue(now, queued, before, &mut Account(&mut self.load));
        if WAITING.fits(before, bytes) {
            self.load.add(bytes);
        }
    }

    fn pop(&mut self, now: Instant) -> Option<Segment> {
        let mut account = Account(&mut self.load);
        let queued = self.queue.dequeue(now, &mut account)?;
        account.remove(queued.bytes);
        Some(queued.packet)
    }
}

/// When the controller yields to delay no longer.
#[derive(Default)]
pub(crate) struct Competition {
    /// Since when.
    since: Option<Instant>,
    /// For how long in all, while it was measured.
    pub(crate) measured: Duration,
    /// When it changed.
    pub(crate) switches: Vec<f64>,
}

impl Competition {
    fn update(&mut self, now: Instant, from: Instant, competing: bool) {
        if let Some(since) = self.since {
            self.measured += now.saturating_since(since.max(from));
        }
        if self.since.is_some() != competing {
            self.switches.push(now.as_secs_f64());
        }
        self.since = competing.then_some(now);
    }
}

/// The sending end of the path.
pub(crate) struct Path {
    channel: ControlledPath<Box<dyn PathController>>,
    backlog: Backlog,
    demand: Demand,
    /// Of a demand of constant rate: the time of a packet, and when the next one wants to leave.
    gap: Duration,
    next: Instant,
    /// Octets and state of each packet that no report has told of.
    log: VecDeque<(u32, PacketState)>,
    /// The number of the first of them.
    first: u64,
    /// The last report.
    heard: Instant,
    from: Instant,
    pub(crate) competition: Competition,
}

impl Path {
    pub(crate) fn new(case: &Case, controller: Box<dyn PathController>) -> Self {
        let share = if let Demand::Constant(share) = case.demand { share } else { 1.0 };
        Self {
            channel: ControlledPath::new(controller, CopaTuning::default().catch_up, Instant::ZERO),
            backlog: Backlog::new(),
            demand: case.demand,
            gap: Rate::from_bits_per_sec((share * case.mbps * 1e6) as u64).transmission_time(FULL),
            next: Instant::ZERO,
            log: VecDeque::new(),
            first: 0,
            heard: Instant::ZERO,
            from: Instant::ZERO + Duration::from_secs(u64::from(case.from)),
            competition: Competition::default(),
        }
    }

    /// The inner flow sends a segment.
    pub(crate) fn push(&mut self, now: Instant, segment: Segment) {
        self.backlog.push(now, segment);
    }

    /// The next packet that may leave.
    pub(crate) fn poll_transmit(&mut self, now: Instant) -> Option<Parcel> {
        if !self.channel.may_send(now, FULL) {
            return None;
        }
        let Some((bytes, inner)) = self.wanted(now) else {
            self.channel.on_nothing_to_send();
            return None;
        };
        let number = self.first + self.log.len() as u64;
        let state = self.channel.on_sent(now, bytes);
        self.log.push_back((bytes, state));
        Some(Parcel::Datagram { number, sent: now, bytes, inner })
    }

    /// The next packet that wants to leave: its octets, and what is in it.
    fn wanted(&mut self, now: Instant) -> Option<(u32, Option<Segment>)> {
        match self.demand {
            Demand::Backlog => Some((FULL, None)),
            Demand::Inner => self.backlog.pop(now).map(|segment| (tunnelled(&segment), Some(segment))),
            Demand::Constant(_) if self.next > now => None,
            Demand::Constant(_) => {
                let missed = now.saturating_since(self.next).min(self.gap * CATCH_UP);
                self.next = now - missed + self.gap;
                Some((FULL, None))
            }
        }
    }

    /// A report has come that left at `sent`.
    pub(crate) fn handle_report(&mut self, now: Instant, sent: Instant, arrived: &[(u64, Instant)]) {
        self.heard = now;
        for &(number, arrival) in arrived {
            while self.first <= number
                && let Some((bytes, state)) = self.log.pop_front()
            {
                if self.first < number {
                    self.channel.on_lost(now, bytes, &state);
                } else {
                    let rtt = now.saturating_since(state.send_time);
                    self.channel.on_delivered(bytes, &state, rtt - sent.saturating_since(arrival));
                }
                self.first += 1;
            }
        }
        self.channel.end_report(now);
        self.competition.update(now, self.from, self.channel.controller().is_competing());
    }

    /// Gives up what is on its way when no report comes for long.
    pub(crate) fn handle_timeout(&mut self, now: Instant) {
        if self.channel.inflight() > 0 && now.saturating_since(self.heard) > SILENCE {
            self.heard = now;
            self.first += self.log.len() as u64;
            self.log.clear();
            self.channel.on_timeout(now);
        }
    }

    /// When something is to be done next without a packet that comes.
    pub(crate) fn deadline(&self, now: Instant) -> Instant {
        let silence = if self.channel.inflight() > 0 {
            self.heard + SILENCE + Duration::from_nanos(1)
        } else {
            Instant::MAX
        };
        let paced = self.channel.next_send_time();
        let next = match self.demand {
            Demand::Constant(_) => paced.max(self.next),
            Demand::Backlog | Demand::Inner => paced,
        };
        if self.channel.has_room(FULL) && next > now { next.min(silence) } else { silence }
    }
}
