//! One connection: its subflows, and the data of both directions over all of them.

use crate::flow::Half;
use crate::reassembly::Reassembly;
use crate::report::{self, Direction, Event, EventKind, Gap, Kind, Settings};
use ropewalk_mptcp::keys;
use ropewalk_units::{Dsn, Duration, Instant, Seq};
use ropewalk_wire::{DataAck, Flags, Key, MptcpOption, Options, Segment};
use std::net::SocketAddr;

/// Data farther than this from the first octet do not belong to the connection: their numbers are
/// not genuine.
const FARTHEST: u64 = 1 << 62;
/// What an infinite mapping maps (RFC 8684 §3.7).
const INFINITE: u64 = 1 << 61;

/// One subflow. Directions are those of the connection.
#[derive(Debug)]
pub(crate) struct SubflowState {
    pub(crate) client: SocketAddr,
    pub(crate) server: SocketAddr,
    pub(crate) backup: bool,
    start: Instant,
    end: Instant,
    halves: [Half; 2],
}

/// One direction of the data.
#[derive(Debug, Default)]
struct Stream {
    /// The DSN of octet 0.
    first_dsn: Option<Dsn>,
    /// Where the DATA_FIN stands.
    fin: Option<u64>,
    seen: Reassembly,
    counts: report::Stream,
    /// The subflow that brought the last new data.
    last_subflow: usize,
}

/// A connection as far as its packets have passed.
#[derive(Debug)]
pub(crate) struct ConnectionState {
    pub(crate) kind: Kind,
    /// A mapping has passed, so both ends speak Multipath TCP.
    is_mapped: bool,
    keys: [Option<Key>; 2],
    start: Instant,
    end: Instant,
    streams: [Stream; 2],
    pub(crate) subflows: Vec<SubflowState>,
    events: Vec<Event>,
}

const fn index(direction: Direction) -> usize {
    match direction {
        Direction::Up => 0,
        Direction::Down => 1,
    }
}

const fn opposite(direction: Direction) -> Direction {
    match direction {
        Direction::Up => Direction::Down,
        Direction::Down => Direction::Up,
    }
}

impl ConnectionState {
    pub(crate) fn new(kind: Kind, now: Instant) -> Self {
        Self {
            kind,
            is_mapped: false,
            keys: [None; 2],
            start: now,
            end: now,
            streams: Default::default(),
            subflows: Vec::new(),
            events: Vec::new(),
        }
    }

    /// Adds a subflow between these ends; returns its number.
    pub(crate) fn add_subflow(&mut self, client: SocketAddr, server: SocketAddr, now: Instant) -> usize {
        let halves = [Half::new(), Half::new()];
        self.subflows.push(SubflowState { client, server, backup: false, start: now, end: now, halves });
        self.subflows.len() - 1
    }

    /// The token of the host that receives in `direction`. Its peer joins by it.
    pub(crate) fn token(&self, direction: Direction) -> Option<u32> {
        self.keys[index(opposite(direction))].map(keys::token)
    }

    /// Learns the key of the host that sends in `direction`: its data begin behind the initial DSN
    /// (RFC 8684 §3.1).
    fn learn_key(&mut self, direction: Direction, key: Key) {
        let at = index(direction);
        self.keys[at].get_or_insert(key);
        self.streams[at].first_dsn.get_or_insert(keys::initial_dsn(key) + 1);
    }

    /// The DSN near which the next of `direction` is expected.
    pub(crate) fn expected(&self, direction: Direction) -> Dsn {
        let stream = &self.streams[index(direction)];
        stream.first_dsn.unwrap_or_default() + stream.seen.highest()
    }

    /// Takes a segment of a subflow.
    pub(crate) fn process(
        &mut self,
        now: Instant,
        subflow: usize,
        direction: Direction,
        segment: &Segment,
        settings: &Settings,
    ) {
        self.end = now;
        self.subflows[subflow].end = now;
        self.begin(subflow, direction, segment);
        self.note_signals(now, subflow, direction, segment);
        self.note_mapping(now, subflow, direction, segment);
        self.on_ack(now, subflow, direction, segment);
        self.on_data(now, subflow, direction, segment, settings);
    }

    fn event(&mut self, time: Instant, subflow: usize, direction: Direction, kind: EventKind) {
        self.events.push(Event { time, subflow, direction, kind });
    }

    /// Notes what SYN, FIN, RST and the options of Multipath TCP say.
    fn note_signals(&mut self, now: Instant, subflow: usize, direction: Direction, segment: &Segment) {
        let flags = segment.flags;
        if flags.contains(Flags::SYN) && !flags.contains(Flags::ACK) {
            self.event(now, subflow, direction, EventKind::Syn);
        }
        let mut reason = None;
        for option in segment.options.mptcp.rare() {
            if let MptcpOption::Reset { reason: given, .. } = option {
                reason = Some(*given);
            }
            self.note_option(now, subflow, direction, flags, option);
        }
        if flags.contains(Flags::FIN) {
            let half = &mut self.subflows[subflow].halves[index(direction)];
            if let Some(place) = half.place(segment.seq) {
                half.finish(place + u64::from(segment.payload.len));
            }
            self.event(now, subflow, direction, EventKind::Fin);
        }
        if flags.contains(Flags::RST) {
            self.event(now, subflow, direction, EventKind::Reset(reason));
        }
    }

    fn note_option(
        &mut self,
        now: Instant,
        subflow: usize,
        direction: Direction,
        flags: Flags,
        option: &MptcpOption,
    ) {
        let kind = match option {
            MptcpOption::Capable { sender_key, receiver_key, .. } => {
                self.note_keys(direction, flags, *sender_key, *receiver_key);
                return;
            }
            MptcpOption::Join(ropewalk_wire::Join::Syn { backup, .. }) => {
                self.subflows[subflow].backup |= *backup;
                return;
            }
            MptcpOption::Join(_) | MptcpOption::Reset { .. } => return,
            MptcpOption::AddAddress(add) if add.hmac.is_none() => return,
            MptcpOption::AddAddress(add) => {
                EventKind::AddAddress { id: add.address_id, address: add.address, port: add.port }
            }
            MptcpOption::RemoveAddress(remove) => EventKind::RemoveAddress(remove.address_ids.clone()),
            MptcpOption::Priority(priority) => {
                self.subflows[subflow].backup = priority.backup;
                EventKind::Priority { backup: priority.backup }
            }
            MptcpOption::Fail(_) => EventKind::Fail,
            MptcpOption::FastClose(_) => EventKind::FastClose,
        };
        self.event(now, subflow, direction, kind);
    }

    /// RFC 8684 §3.1: the SYN/ACK brings the server's key, the third segment both.
    fn note_keys(&mut self, direction: Direction, flags: Flags, sender: Option<Key>, receiver: Option<Key>) {
        if flags.contains(Flags::SYN) && flags.contains(Flags::ACK) {
            self.kind = Kind::Mptcp;
        }
        if let Some(key) = sender {
            self.learn_key(direction, key);
        }
        if let Some(key) = receiver {
            self.learn_key(opposite(direction), key);
        }
    }

    /// Finds place 0 of a direction: behind the SYN, or else where the first segment says it is.
    fn begin(&mut self, subflow: usize, direction: Direction, segment: &Segment) {
        let half = &mut self.subflows[subflow].halves[index(direction)];
        if half.is_begun() {
            return;
        }
        if segment.flags.contains(Flags::SYN) {
            half.begin_at(segment.seq + 1);
        } else if let Some(mapping) = segment.options.mptcp.dss.and_then(|dss| dss.mapping())
            && mapping.ssn.get() > 0
        {
            // The subflow's handshake is not in the capture. A mapping's first segment begins where
            // the mapping does.
            half.begin_at(segment.seq - (mapping.ssn.get() - 1));
        } else {
            half.begin_at(segment.seq);
        }
    }

    /// Learns what the segment's mapping says, whether a DSS or the first data's MP_CAPABLE brought
    /// it.
    fn note_mapping(&mut self, now: Instant, subflow: usize, direction: Direction, segment: &Segment) {
        let half = &mut self.subflows[subflow].halves[index(direction)];
        if let Some(len) = first_data(&segment.options) {
            half.mappings.add(0, 0, u64::from(len));
        }
        let Some(dss) = segment.options.mptcp.dss else { return };
        let Some(mapping) = dss.mapping() else { return };
        if mapping.len > 0 {
            // Nobody maps data before the peer has answered. The capture may lack its answer.
            self.is_mapped = true;
            if self.kind == Kind::FellBack {
                self.kind = Kind::Mptcp;
            }
        }
        let place = match mapping.ssn.get() {
            0 => half.place(segment.seq),
            ssn => mapped_place(half, segment.seq, ssn),
        };
        // Without the key, data count from their first mapping. On the first subflow they count from
        // its first octet, as they did before the mapping came.
        let before = place.filter(|_| subflow == 0 && self.kind != Kind::LooseSubflow).unwrap_or(0);
        let stream = &mut self.streams[index(direction)];
        let first = *stream.first_dsn.get_or_insert(mapping.dsn + before.wrapping_neg());
        let data = mapping.dsn.since(first);
        if dss.data_fin() && data <= FARTHEST && mapping.len > 0 {
            stream.fin = Some(data + u64::from(mapping.len) - 1);
            self.event(now, subflow, direction, EventKind::DataFin);
        }
        let half = &mut self.subflows[subflow].halves[index(direction)];
        if data > FARTHEST || mapping.ssn.get() == 0 && mapping.len != 0 {
            return;
        }
        let Some(place) = place else { return };
        if mapping.len == 0 {
            half.mappings.add(place, data, INFINITE);
            if !std::mem::replace(&mut half.is_plain, true) {
                self.event(now, subflow, direction, EventKind::InfiniteMapping);
            }
        } else {
            half.mappings.add(place, data, u64::from(mapping.len) - u64::from(dss.data_fin()));
        }
    }

    /// What the segment acknowledges, of the other direction: at the subflow's level and at the
    /// data's.
    fn on_ack(&mut self, now: Instant, subflow: usize, direction: Direction, segment: &Segment) {
        if !segment.flags.contains(Flags::ACK) || segment.flags.contains(Flags::RST) {
            return;
        }
        let other = opposite(direction);
        let expected = self.expected(other);
        let half = &mut self.subflows[subflow].halves[index(other)];
        let stream = &mut self.streams[index(other)];
        let place = half.place(segment.ack).map(|place| half.acknowledged(now, place));
        let data = match self.kind {
            Kind::Tcp | Kind::FellBack => place,
            Kind::Mptcp | Kind::LooseSubflow => stream.acknowledged_data(&segment.options, expected),
        };
        if let Some(data) = data {
            stream.seen.acknowledged(now, data);
        }
    }

    /// Sorts the segment's octets into fresh, retransmitted, reinjected and unmapped ones.
    fn on_data(
        &mut self,
        now: Instant,
        subflow: usize,
        direction: Direction,
        segment: &Segment,
        settings: &Settings,
    ) {
        let half = &mut self.subflows[subflow].halves[index(direction)];
        let len = u64::from(segment.payload.len);
        if len == 0 {
            half.counts.bare_segments += 1;
            return;
        }
        half.counts.segments += 1;
        half.counts.octets += len;
        let Some(begin) = half.place(segment.seq) else {
            half.counts.unmapped_octets += len;
            return;
        };
        let new = half.process(now, begin, begin + len);
        half.counts.retransmitted_octets += len - new;
        let stream = &mut self.streams[index(direction)];
        let mut left = new;
        let mut at = begin;
        // The octets that came before are in front. What a retransmission adds is behind them.
        let mut repeated = len - new;
        let mut fresh = 0;
        while at < begin + len && left > 0 {
            let (data, octets) = match self.kind {
                Kind::Tcp | Kind::FellBack => (Some(at), begin + len - at),
                Kind::Mptcp | Kind::LooseSubflow => half.mappings.of(at, begin + len - at),
            };
            let known = data.map(|data| stream.process(now, data, octets, subflow, settings.gap));
            let counted = octets.saturating_sub(repeated).min(left);
            repeated = repeated.saturating_sub(octets);
            match known {
                None => half.counts.unmapped_octets += counted,
                Some(first_seen) => {
                    let first_seen = first_seen.min(counted);
                    fresh += first_seen;
                    half.counts.reinjected_octets += counted - first_seen;
                }
            }
            left -= counted;
            at += octets;
        }
        half.counts.unmapped_octets += left;
        half.counts.fresh_octets += fresh;
        if fresh > 0 {
            half.sample(now.saturating_since(Instant::ZERO), settings.interval, fresh);
        }
    }

    pub(crate) fn report(mut self, last: Instant, settings: &Settings) -> report::Connection {
        let token = self.token(Direction::Up);
        if self.kind == Kind::Mptcp && !self.is_mapped && self.keys.iter().any(Option::is_none) {
            self.kind = Kind::FellBack;
        }
        let (client, server) = self.subflows.first().map_or_else(
            || unreachable!("a connection has a subflow from its first packet on"),
            |subflow| (subflow.client, subflow.server),
        );
        report::Connection {
            kind: self.kind,
            client,
            server,
            start: self.start,
            end: self.end,
            token,
            streams: self.streams.map(|stream| stream.report(last)),
            subflows: self.subflows.into_iter().map(|subflow| subflow.report(settings)).collect(),
            events: self.events,
        }
    }
}

/// The length of the mapping that the first data's MP_CAPABLE brings (RFC 8684 §3.1).
fn first_data(options: &Options) -> Option<u16> {
    options.mptcp.rare().iter().find_map(|option| match option {
        MptcpOption::Capable { data: Some((len, _)), .. } => Some(*len),
        _ => None,
    })
}

/// The place of a subflow sequence number. The number wraps at 32 bits, a place does not. `seq`
/// tells which wrap is meant.
fn mapped_place(half: &Half, seq: Seq, ssn: u32) -> Option<u64> {
    let near = half.place(seq)?;
    let ahead = (ssn - 1).wrapping_sub(near as u32) as i32;
    near.checked_add_signed(i64::from(ahead))
}

impl Stream {
    /// Where the DATA_ACK of these options stands; the DATA_FIN takes a number and is no octet.
    fn acknowledged_data(&self, options: &Options, expected: Dsn) -> Option<u64> {
        let dsn = match options.mptcp.dss?.data_ack()? {
            DataAck::Short(low) => expected.nearest(low),
            DataAck::Long(dsn) => dsn,
        };
        let data = dsn.since(self.first_dsn?);
        let data = self.fin.map_or(data, |fin| data.min(fin));
        (data <= FARTHEST).then_some(data)
    }

    /// Takes octets of data; returns how many are new.
    fn process(&mut self, now: Instant, data: u64, len: u64, subflow: usize, gap: Duration) -> u64 {
        if data > FARTHEST {
            return 0;
        }
        let highest = self.seen.highest();
        let new = self.seen.insert(now, data, data + len);
        if new == 0 {
            return 0;
        }
        if data < highest {
            self.counts.late_segments += 1;
            self.counts.late_extent = self.counts.late_extent.max(highest - data);
        }
        self.note_gap(now, subflow, gap);
        self.counts.octets += new;
        self.counts.first.get_or_insert(now);
        self.counts.last = Some(now);
        self.last_subflow = subflow;
        new
    }

    fn note_gap(&mut self, now: Instant, after: usize, gap: Duration) {
        let Some(start) = self.counts.last else { return };
        let duration = now.saturating_since(start);
        if duration >= gap {
            self.counts.gaps.push(Gap { start, duration, before: self.last_subflow, after });
        }
    }

    /// `last` is the capture's last packet: what waits then has waited until then.
    fn report(mut self, last: Instant) -> report::Stream {
        self.seen.end(last);
        report::Stream {
            missing_octets: self.seen.missing,
            blocked: self.seen.blocked,
            longest_block: self.seen.longest_block,
            mean_wait: self.seen.mean_wait(self.counts.octets),
            ..self.counts
        }
    }
}

impl SubflowState {
    fn report(self, settings: &Settings) -> report::Subflow {
        let Self { client, server, backup, start, end, halves } = self;
        let flows = halves.map(|half| half.report(settings.interval));
        report::Subflow { client, server, backup, start, end, flows }
    }
}
