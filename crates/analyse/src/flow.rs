//! One direction of a subflow: sequence numbers, mappings, round trips.

use crate::mapping::Mappings;
use crate::reassembly::Reassembly;
use crate::report;
use hdrhistogram::Histogram;
use ropewalk_units::{Duration, Instant, Seq};
use std::collections::{BTreeMap, VecDeque};

/// At most so many segments await their acknowledgement. Beyond that the oldest is forgotten, and
/// gives no sample.
const PENDING: usize = 65_536;

/// A segment whose acknowledgement gives a round trip, unless it was sent twice (Karn's rule,
/// RFC 6298 §3).
#[derive(Clone, Copy, Debug)]
struct Pending {
    end: u64,
    sent: Instant,
}

/// One direction of a subflow, as far as its packets have passed. Places count octets from the one
/// behind the SYN.
#[derive(Debug)]
pub(crate) struct Half {
    /// The sequence number of place 0.
    first: Option<Seq>,
    /// The farthest place so far. It tells how often the sequence numbers have wrapped.
    latest: u64,
    seen: Reassembly,
    pub(crate) mappings: Mappings,
    /// Where the FIN stands.
    fin: Option<u64>,
    pending: VecDeque<Pending>,
    round_trips: Histogram<u32>,
    /// Octets of new data by interval.
    samples: BTreeMap<u64, u64>,
    pub(crate) counts: report::Flow,
    /// The mapping is infinite: data go on from here without further ones.
    pub(crate) is_plain: bool,
}

impl Half {
    pub(crate) fn new() -> Self {
        Self {
            first: None,
            latest: 0,
            seen: Reassembly::default(),
            mappings: Mappings::default(),
            fin: None,
            pending: VecDeque::new(),
            // Up to an hour in microseconds, with two digits.
            round_trips: Histogram::new_with_bounds(1, 3_600_000_000, 2).expect("fixed bounds"),
            samples: BTreeMap::new(),
            counts: report::Flow::default(),
            is_plain: false,
        }
    }

    /// Says which sequence number is place 0, if nothing said so before.
    pub(crate) fn begin_at(&mut self, first: Seq) {
        self.first.get_or_insert(first);
    }

    pub(crate) fn is_begun(&self) -> bool {
        self.first.is_some()
    }

    /// The place of a sequence number: of all possible places, the one nearest to the farthest so
    /// far. `None` if it lies before place 0, or if place 0 is unknown.
    pub(crate) fn place(&self, seq: Seq) -> Option<u64> {
        let low = seq.since(self.first?);
        let ahead = low.wrapping_sub(self.latest as u32) as i32;
        self.latest.checked_add_signed(i64::from(ahead))
    }

    /// Takes the octets from `begin` to `end`; returns how many this subflow had not carried
    /// before.
    pub(crate) fn process(&mut self, now: Instant, begin: u64, end: u64) -> u64 {
        self.latest = self.latest.max(end);
        let new = self.seen.insert(now, begin, end);
        self.await_ack(now, begin, end, new == end - begin);
        new
    }

    /// Notes a segment, to measure its round trip. If some of it was seen before, the segments that
    /// it covers give no sample (Karn's rule). A segment that fills a hole gives none either:
    /// nobody knows when it was first sent.
    fn await_ack(&mut self, now: Instant, begin: u64, end: u64, is_new: bool) {
        if !is_new {
            let from = self.pending.partition_point(|pending| pending.end <= begin);
            let to = self.pending.partition_point(|pending| pending.end <= end);
            self.pending.drain(from..to);
        } else if self.pending.back().is_none_or(|last| last.end < end) {
            if self.pending.len() == PENDING {
                self.pending.pop_front();
            }
            self.pending.push_back(Pending { end, sent: now });
        }
    }

    /// A FIN stands behind the octet before `place`.
    pub(crate) fn finish(&mut self, place: u64) {
        self.fin.get_or_insert(place);
    }

    /// Notes that the other end has everything before `place`. Returns where the acknowledged data
    /// end, without the FIN.
    pub(crate) fn acknowledged(&mut self, now: Instant, place: u64) -> u64 {
        // The FIN takes a number and is no octet.
        let place = self.fin.map_or(place, |fin| place.min(fin));
        let mut newest = None;
        while let Some(first) = self.pending.front()
            && first.end <= place
        {
            newest = Some(first.sent);
            self.pending.pop_front();
        }
        if let Some(sent) = newest {
            let rtt = now.saturating_since(sent);
            self.round_trips.saturating_record(rtt.as_micros().max(1));
            self.counts.min_rtt = Some(self.counts.min_rtt.map_or(rtt, |least| least.min(rtt)));
        }
        self.seen.acknowledged(now, place);
        place
    }

    /// Counts new data in the interval of `since_start`.
    pub(crate) fn sample(&mut self, since_start: Duration, interval: Duration, octets: u64) {
        *self.samples.entry(since_start.as_nanos() / interval.as_nanos().max(1)).or_default() += octets;
    }

    pub(crate) fn report(self, interval: Duration) -> report::Flow {
        let sample = |(number, octets): (u64, u64)| report::Sample {
            time: Instant::from_nanos(number * interval.as_nanos()),
            octets,
        };
        let median = self.round_trips.value_at_quantile(0.5);
        report::Flow {
            median_rtt: (!self.round_trips.is_empty()).then(|| Duration::from_micros(median)),
            samples: self.samples.into_iter().map(sample).collect(),
            ..self.counts
        }
    }
}
