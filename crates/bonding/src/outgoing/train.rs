//! Trains of probes: what is sent faster than the path is comes as fast as the path is.
//!
//! Over a path of which nothing is known the first train is sent at once. It is short; longer ones follow while nobody else uses the
//! path, each faster than the path is known to be, until one comes slower than it was sent. Then a sparse one of many short probes shows
//! how often packets are lost.

use super::log::Entry;
use crate::clock::micros;
use crate::control::PathReport;
use crate::id::PathSeq;
use ropewalk_units::{Duration, Instant};

/// Probes in the first train: RFC 6928's initial window.
const LENGTH: u32 = 10;
/// And in others, at most.
const LENGTH_MOST: u32 = 512;
/// How long the others are: so many mean deviations of the path's round trip, which pass for rate else, but within these bounds.
const DEVIATIONS: u64 = 4;
const SPAN: Duration = Duration::from_millis(10);
const SPAN_MOST: Duration = Duration::from_millis(20);
/// Before so many keepalives, the deviation of a steady path is not known to be no less than it seems.
const KEEPALIVES: u32 = 20;
/// They are so much faster than the path is known to be that they would fill a queue of this length.
const QUEUE: Duration = Duration::from_micros(7_500);
/// A train that came at this share of the rate that it was sent at was carried.
const CARRIED: f64 = 0.9;
/// Beyond this rate, in bits per second, no faster one is tried.
const FASTEST: f64 = 150e6;
/// Less of it than this, in µs, shows no rate.
const SHORT_MICROS: i64 = 4_000;
/// Probes that are due within this time leave together.
const TICK: Duration = Duration::from_micros(250);
/// Probes of which the losses are counted: so many, at this distance at least, and such that full packets at that distance would take
/// this part of the path's rate (over radio a short one takes nearly as long); and again after so long if some are.
const COUNTED: u32 = 1000;
const SPARSE: Duration = Duration::from_micros(2_500);
const MODEST: f64 = 0.5;
const FULL_BITS: f64 = 12_000.0;
const RECOUNT: Duration = Duration::from_secs(30);
/// After so many that showed nothing, of which others used the path for instance, no more are sent.
const FRUITLESS: u32 = 5;
/// What followed the train has kept the path busy until its end if the last of it waited so long, in µs.
const BUSY_MICROS: i64 = 2_000;

/// What a train has shown of the path's rate, in bits per second.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Shown {
    /// Only that something comes.
    Little,
    /// This, of ten packets: hardly more, unless delays vary.
    Hint(f64),
    /// At least this.
    AtLeast(f64),
    /// This.
    Rate(f64),
}

/// How long a train is to be over a path whose round-trip time deviates so much on the mean, of as many keepalives; none if
/// none would be long enough, or that is not known yet.
pub(super) fn span(deviation: Duration, keepalives: u32) -> Option<Duration> {
    let span = (deviation * DEVIATIONS).max(SPAN);
    (span == SPAN || (span <= SPAN_MOST && keepalives >= KEEPALIVES)).then_some(span)
}

/// How many probes a train has, and the nanoseconds from one to the next; 0: all at once.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plan {
    length: u32,
    gap: u64,
}

/// What is to be sent next.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
enum Stage {
    #[default]
    First,
    /// A train faster than so many bits per second.
    Beyond(f64),
    /// One that counts losses.
    Count,
    /// They were last counted at this time.
    Counted(Instant),
}

/// The train under way, if there is one, and what follows.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Train {
    under_way: Option<UnderWay>,
    stage: Stage,
    fruitless: u32,
}

#[derive(Clone, Copy, Debug)]
struct UnderWay {
    /// How many have been sent, and will be.
    probes: u32,
    length: u32,
    began_at: Instant,
    /// Nanoseconds from one to the next; 0: all at once.
    gap: u64,
    /// Have others sent on the path since it began?
    is_spoilt: bool,
    /// The number after its last, and the octets of each.
    end: PathSeq,
    probe_len: u32,
    /// The sender's clock in µs.
    left_at: u32,
    /// What the peer had received before it.
    received_bytes: u32,
    /// The least delay reported since, and the last, in µs.
    least: i64,
    delay: i64,
    /// When what came last left.
    last_left_at: u32,
    /// What the first report since and the last one say.
    first: Option<Mark>,
    last: Mark,
}

/// Octets received by a time in µs, the peer's.
#[derive(Clone, Copy, Debug, Default)]
struct Mark {
    bytes: u32,
    at: u32,
}

impl UnderWay {
    fn is_complete(&self) -> bool {
        self.probes >= self.length
    }

    /// When the next probe is due.
    fn next_at(&self) -> Instant {
        self.began_at.saturating_add(Duration::from_nanos(self.gap * u64::from(self.probes)))
    }

    /// What the first train, sent at once, has shown: the time from the least delay to that of the last. It left behind a keepalive, which
    /// is taken for its first packet. What came after it counts too, if the path was busy with it.
    fn at_once(&self, report: &PathReport) -> Shown {
        let waited = self.delay - self.least;
        let sent_later = i64::from(self.last_left_at.wrapping_sub(self.left_at) as i32);
        if sent_later > 0 && waited <= BUSY_MICROS {
            return Shown::Little;
        }
        let bytes = report.received_bytes.wrapping_sub(self.received_bytes);
        Shown::Hint(rate(bytes, sent_later.max(0) + waited))
    }

    /// What a train sent at this rate has shown: how fast it came from the first report of it to the last, so that neither a report
    /// lost on the way nor a delay that varies matters much.
    fn paced(&self) -> Shown {
        let Some(first) = self.first else { return Shown::Little };
        let micros = i64::from(self.last.at.wrapping_sub(first.at));
        if micros < SHORT_MICROS {
            return Shown::Little;
        }
        let rate = rate(self.last.bytes.wrapping_sub(first.bytes), micros);
        let sent_at = f64::from(self.probe_len) * 8e9 / self.gap as f64;
        if rate < sent_at * CARRIED { Shown::Rate(rate) } else { Shown::AtLeast(rate) }
    }
}

fn rate(bytes: u32, micros: i64) -> f64 {
    f64::from(bytes) * 8e6 / micros.max(1) as f64
}

impl Train {
    /// Has no more been sent than the first train?
    pub(super) fn is_first(&self) -> bool {
        self.stage == Stage::First
    }

    pub(super) fn is_under_way(&self) -> bool {
        self.under_way.is_some()
    }

    /// Are all of its probes sent?
    pub(super) fn is_complete(&self) -> bool {
        self.under_way.is_none_or(|train| train.is_complete())
    }

    /// Is another one to be sent, if nobody uses the path? `is_lossy`: it is known to lose packets.
    pub(super) fn is_wanted(&self, now: Instant, is_lossy: bool) -> bool {
        self.under_way.is_none()
            && match self.stage {
                Stage::First => false,
                Stage::Beyond(_) | Stage::Count => true,
                Stage::Counted(at) => is_lossy && now.saturating_since(at) >= RECOUNT,
            }
    }

    /// What a train of probes of `len` octets is to be that begins now over a path of this rate, in bits per second; `span`: its length in
    /// time, if it is to show a rate.
    pub(super) fn plan(&self, len: u32, span: Duration, bits_per_sec: f64) -> Plan {
        let bits = 8.0 * f64::from(len);
        match self.stage {
            Stage::First => Plan { length: LENGTH, gap: 0 },
            Stage::Beyond(known) => {
                let rate = known * (1.0 + QUEUE.as_secs_f64() / span.as_secs_f64());
                let length = (rate * span.as_secs_f64() / bits) as u32;
                Plan { length: length.clamp(LENGTH, LENGTH_MOST), gap: (bits * 1e9 / rate) as u64 }
            }
            Stage::Count | Stage::Counted(_) => {
                let modest = (FULL_BITS * 1e9 / (MODEST * bits_per_sec)) as u64;
                Plan { length: COUNTED, gap: modest.max(SPARSE.as_nanos()) }
            }
        }
    }

    /// Is it a rate that the next one shows, or the one under way, not losses?
    pub(super) fn shows_rate(&self) -> bool {
        matches!(self.stage, Stage::First | Stage::Beyond(_))
    }

    /// Are losses being counted?
    pub(super) fn counts_losses(&self) -> bool {
        self.under_way.is_some_and(|train| !train.is_spoilt) && !self.shows_rate()
    }

    /// Its probes, while it is under way.
    pub(super) fn len(&self) -> u32 {
        self.under_way.map_or(0, |train| train.probes)
    }

    /// When its next probe is due; `None` without any to come.
    pub(super) fn next_at(&self) -> Option<Instant> {
        let train = self.under_way.filter(|train| !train.is_complete())?;
        Some(train.next_at())
    }

    /// Somebody else uses the path.
    pub(super) fn spoil(&mut self) {
        if let Some(train) = &mut self.under_way
            && train.gap > 0
        {
            train.is_spoilt = true;
            train.length = train.probes;
        }
    }

    /// A train of probes of `len` octets begins; `last` is the report before.
    pub(super) fn begin(&mut self, now: Instant, len: u32, plan: Plan, last: &PathReport) {
        let left_at = micros(now);
        self.under_way = Some(UnderWay {
            probes: 0,
            length: plan.length,
            began_at: now,
            gap: plan.gap,
            is_spoilt: false,
            end: PathSeq::new(0),
            probe_len: len,
            left_at,
            received_bytes: last.received_bytes,
            least: i64::MAX,
            delay: 0,
            last_left_at: left_at,
            first: None,
            last: Mark::default(),
        });
    }

    /// A probe of it leaves, number `seq`.
    pub(super) fn on_probe(&mut self, seq: PathSeq) {
        if let Some(train) = &mut self.under_way {
            train.probes += 1;
            train.end = seq.next();
        }
    }

    /// The time at which what is due by `at` is sent.
    pub(super) fn tick(at: Instant) -> Instant {
        at.saturating_add(TICK)
    }

    /// A report that something came: the least delay and that of the last packet, in µs, and what is known of that packet.
    pub(super) fn note(&mut self, report: &PathReport, least: i64, delay: i64, last: &Entry) {
        if let Some(train) = &mut self.under_way {
            train.last = Mark { bytes: report.received_bytes, at: report.arrived_at };
            train.first.get_or_insert(train.last);
            train.least = train.least.min(least);
            train.delay = delay;
            train.last_left_at = last.left_at;
        }
    }

    /// Once the whole train has come, or is lost, what it has shown of the rate, if anything of it came.
    pub(super) fn settle(&mut self, now: Instant, report: &PathReport) -> Option<Shown> {
        let is_over = |train: &UnderWay| train.is_complete() && !report.next.before(train.end);
        let train = self.under_way.filter(is_over)?;
        self.under_way = None;
        if !self.shows_rate() {
            self.stage = Stage::Counted(now);
            return None;
        }
        if train.is_spoilt || report.received_bytes == train.received_bytes {
            self.count_fruitless();
            return None;
        }
        Some(if self.is_first() { train.at_once(report) } else { train.paced() })
    }

    fn count_fruitless(&mut self) {
        if let Stage::Beyond(_) = self.stage {
            self.fruitless += 1;
            if self.fruitless >= FRUITLESS {
                self.stage = Stage::Count;
            }
        }
    }

    /// After a train that has shown so much, the path's rate being taken for `bits_per_sec`: what is next? Once the rate is known, one that
    /// shows whether its buffer bears a queue, if that is not known yet.
    pub(super) fn climb(&mut self, shown: Shown, bits_per_sec: f64, is_buffer_known: bool) {
        let is_rate_known = matches!(shown, Shown::Rate(_));
        if shown == Shown::Little || (is_rate_known && !is_buffer_known) {
            self.count_fruitless();
        }
        let is_over = (is_rate_known && is_buffer_known) || bits_per_sec > FASTEST || !self.shows_rate();
        self.stage = if is_over { Stage::Count } else { Stage::Beyond(bits_per_sec) };
    }
}
