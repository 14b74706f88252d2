//! A segment's way out: the subflow's TCP cuts it, the connection adds the options and the window.

use super::subflows::Subflows;
use super::{Connection, Mode};
use crate::event::Event;
use crate::id::SubflowId;
use crate::keys;
use crate::role::Role;
use crate::subflow::{Infinite, Phase, Subflow};
use ropewalk_tcp::State;
use ropewalk_units::{Dsn, Instant, Ssn};
use ropewalk_wire::{
    Dss, FastClose, Flags, Generated, Join, Mapping, MptcpOption, Octets, Options, Payload, ResetReason,
    Segment, Sum, dss_checksum,
};

impl Connection {
    /// The next segment to send and the subflow it belongs to; call until `None`.
    pub fn poll_transmit(&mut self, now: Instant) -> Option<(SubflowId, Segment)> {
        let mut segment = Segment::default();
        self.transmit(now, &mut segment).map(|subflow| (subflow, segment))
    }

    /// As [`Self::poll_transmit`], but written over `segment`, where it is to stay: moving segments about costs more
    /// than making them. Returns the subflow, if there was one.
    #[inline(always)]
    pub fn transmit(&mut self, now: Instant, segment: &mut Segment) -> Option<SubflowId> {
        self.transmit_of(&Generated, now, segment)
    }

    /// As [`Self::transmit`], with checksums over these octets: `octets` has the ranges of the sent stream.
    #[inline(always)]
    pub fn transmit_of(
        &mut self,
        octets: &impl Octets,
        now: Instant,
        segment: &mut Segment,
    ) -> Option<SubflowId> {
        if self.planner.due.schedules() {
            self.schedule(now);
        }
        let mut index = 0;
        while let Some(&at) = self.subflows.live.get(index) {
            let subflow = &mut self.subflows[at as usize];
            if subflow.upkeep.is_unpolled() {
                if subflow.wants_to_transmit() && subflow.tcp.transmit(now, segment) {
                    subflow.upkeep.on_numbers();
                    let id = subflow.id;
                    self.attach(octets, at as usize, segment);
                    if self.receiving.owes() {
                        self.put_owed_ack(at as usize, segment);
                    }
                    self.look_ahead(index);
                    return Some(id);
                }
                subflow.upkeep.on_polled();
                if subflow.has_news() && self.has_ended(now, at as usize) {
                    self.subflows.live.remove(index);
                    self.emit(Event::SubflowGone(self.subflows[at as usize].id));
                    continue;
                }
            }
            index += 1;
        }
        if self.planner.due.schedules() {
            return self.transmit_after_events(octets, now, segment);
        }
        self.planner.due.on_polled();
        self.keep_slow_timer();
        None
    }

    /// May [`Self::transmit`] have a segment? When the answer is no, calling it would change nothing.
    pub fn wants_to_transmit(&self) -> bool {
        self.planner.due.is_anything()
    }

    /// An ACK leaves: it is the oldest one that is owed. The next one follows it.
    #[cold]
    fn put_owed_ack(&mut self, at: usize, segment: &mut Segment) {
        if segment.payload.len > 0 || segment.flags != Flags::ACK {
            return;
        }
        let Some(owed) = self.receiving.take_owed_ack(self.subflows[at].id) else { return };
        segment.ack = owed.ack;
        if owed.more {
            self.subflows[at].request_ack();
        }
    }

    /// A segment of the subflow at `index` of the living leaves. Often it was the last one, and all others are at rest.
    #[inline(always)]
    fn look_ahead(&mut self, index: usize) {
        let Subflows { all, live, .. } = &mut self.subflows;
        for &at in &live[index..] {
            let subflow = &mut all[at as usize];
            if subflow.upkeep.is_unpolled() && (subflow.wants_to_transmit() || subflow.has_news()) {
                return;
            }
            subflow.upkeep.on_polled();
        }
        self.planner.due.on_polled();
        self.keep_slow_timer();
    }

    /// Emits the events of a subflow that has nothing more to send. Returns whether it is over.
    #[cold]
    fn has_ended(&mut self, now: Instant, at: usize) -> bool {
        self.collect_events(now, at);
        self.subflows[at].tcp.state() == State::Closed
    }

    /// The events may have given other subflows something to carry.
    #[cold]
    fn transmit_after_events(
        &mut self,
        octets: &impl Octets,
        now: Instant,
        segment: &mut Segment,
    ) -> Option<SubflowId> {
        if self.subflows.open().next().is_some() {
            return self.transmit_of(octets, now, segment);
        }
        self.planner.due.on_polled();
        self.keep_slow_timer();
        None
    }

    /// Adds options and window to a segment.
    #[inline(always)]
    fn attach(&mut self, octets: &impl Octets, at: usize, segment: &mut Segment) {
        if segment.flags.contains(Flags::SYN) {
            return self.attach_syn(at, segment);
        }
        let least = u64::from(self.config.tcp.mss);
        let subflow = &mut self.subflows[at];
        let scale = subflow.tcp.own_window_scale();
        segment.window = self.receiving.window_field(subflow.tcp.offered(), scale, least);
        subflow.on_announced(u32::from(segment.window) << scale);
        let subflow = &self.subflows[at];
        if segment.flags.contains(Flags::RST) {
            self.attach_reset(at, segment);
        } else if self.mode != Mode::Multipath {
            self.attach_plain(octets, at, segment);
        } else if segment.payload.len > 0 {
            self.attach_mapping(octets, subflow, segment);
        } else {
            self.attach_acknowledgement(at, segment);
        }
    }

    #[cold]
    fn attach_syn(&mut self, at: usize, segment: &mut Segment) {
        segment.window = self.receiving.window.on_syn();
        let subflow = &mut self.subflows[at];
        subflow.syns += 1;
        let backup = subflow.backup_own;
        let address_id = subflow.local_id;
        let answer = segment.flags.contains(Flags::ACK);
        let option = match &subflow.join {
            None if self.mode == Mode::Tcp || (!answer && !self.config.offers(subflow.syns)) => return,
            None => MptcpOption::Capable {
                checksum_required: self.agreement.checksum,
                no_more_subflows: !self.config.allow_join_initial_addr_port,
                sender_key: answer.then_some(self.agreement.own_key),
                receiver_key: None,
                data: None,
            },
            Some(join) if answer => {
                let peer_key = self.agreement.peer_key.unwrap_or(0);
                let hmac = keys::join_hmac(self.agreement.own_key, peer_key, join.own_nonce, join.peer_nonce);
                let hmac = keys::leftmost_64(&hmac);
                MptcpOption::Join(Join::SynAck { backup, address_id, hmac, nonce: join.own_nonce })
            }
            Some(join) => MptcpOption::Join(Join::Syn {
                backup,
                address_id,
                token: self.agreement.peer_token,
                nonce: join.own_nonce,
            }),
        };
        segment.options.mptcp.push(option);
    }

    /// RFC 8684 §3.6; on a fast close §3.5, on a failed checksum §3.7.
    #[cold]
    fn attach_reset(&mut self, at: usize, segment: &mut Segment) {
        if self.mode != Mode::Multipath {
            return;
        }
        let subflow = &mut self.subflows[at];
        let mptcp = &mut segment.options.mptcp;
        if subflow.fast_close
            && let Some(receiver_key) = self.agreement.peer_key
        {
            mptcp.push(MptcpOption::FastClose(FastClose { receiver_key }));
        }
        if let Some(MptcpOption::Fail(dsn)) = subflow.rare.front() {
            mptcp.push(MptcpOption::Fail(*dsn));
        }
        let reason = subflow.reset.unwrap_or(ResetReason::Unspecified);
        // T: the shortage may pass.
        mptcp.push(MptcpOption::Reset { transient: reason == ResetReason::Resources, reason });
    }

    /// A data segment: the mapping of what it carries (RFC 8684 §3.3.1).
    #[inline]
    fn attach_mapping(&self, octets: &impl Octets, subflow: &Subflow, segment: &mut Segment) {
        let ssn = Ssn::from_seq(segment.seq, subflow.tcp.iss());
        if !self.agreement.confirmed && self.role == Role::Client && ssn == Ssn::new(1) {
            return self.attach_capable(segment, Some(octets));
        }
        // The mapping needs four octets more than were reserved. It is written only if the segment leaves them.
        let has_room = segment.payload.len + 4 <= subflow.tcp.smss();
        let mapping = self.mapping_of(octets, segment.payload, ssn);
        let receiving = &self.receiving;
        let data_ack = if has_room { receiving.data_ack() } else { receiving.short_data_ack() };
        segment.options.mptcp.dss = Some(Dss::new(Some(data_ack), Some(mapping)));
        fit_sack(&mut segment.options);
    }

    fn mapping_of(&self, octets: &impl Octets, payload: Payload, ssn: Ssn) -> Mapping {
        let dsn = self.sending.queue.dsn(payload.offset);
        let len = payload.len as u16;
        let checksum =
            if self.agreement.checksum { Some(checksum_of(octets, dsn, ssn, payload)) } else { None };
        Mapping { dsn, ssn, len, checksum }
    }

    /// MP_CAPABLE with both keys: the third ACK, and the first data until something of the peer proves that it
    /// arrived (RFC 8684 §3.1).
    #[cold]
    fn attach_capable(&self, segment: &mut Segment, data: Option<&impl Octets>) {
        let data = data.map(|octets| {
            let mapping = self.mapping_of(octets, segment.payload, Ssn::new(1));
            (mapping.len, mapping.checksum)
        });
        segment.options.mptcp.push(MptcpOption::Capable {
            checksum_required: self.agreement.checksum,
            no_more_subflows: !self.config.allow_join_initial_addr_port,
            sender_key: Some(self.agreement.own_key),
            receiver_key: self.agreement.peer_key,
            data,
        });
        fit_sack(&mut segment.options);
    }

    /// A segment without data: DATA_ACK, and whatever else waits.
    fn attach_acknowledgement(&mut self, at: usize, segment: &mut Segment) {
        let subflow = &self.subflows[at];
        if subflow.active && subflow.phase == Phase::Opening && self.attach_third_ack(at, segment) {
            return;
        }
        if !self.agreement.confirmed && self.role == Role::Client && self.keys_go_first(at) {
            return self.attach_capable(segment, None::<&Generated>);
        }
        let subflow = &mut self.subflows[at];
        let rare = !subflow.rare.is_empty();
        let data_fin = std::mem::take(&mut subflow.data_fin_due);
        let dss = if data_fin { self.data_fin() } else { Dss::new(Some(self.receiving.data_ack()), None) };
        let options = &mut segment.options;
        if rare {
            self.attach_rare(at, options, dss);
        } else {
            options.mptcp.dss = Some(dss);
        }
        fit_sack(options);
    }

    /// RFC 8684 §3.3.3: without data, SSN 0 and a length of 1.
    #[cold]
    fn data_fin(&self) -> Dss {
        let (dsn, ssn) = (self.sending.queue.dsn(self.sending.queue.written()), Ssn::new(0));
        let checksum = self.agreement.checksum.then(|| dss_checksum(dsn, ssn, 1, Sum::default()));
        Dss::new(Some(self.receiving.data_ack()), Some(Mapping { dsn, ssn, len: 1, checksum })).ending()
    }

    /// Nothing proves that the third ACK arrived, so that pure ACKs repeat its keys (RFC 8684 §3.1); a DATA_FIN
    /// has no room beside them and follows in an ACK of its own.
    #[cold]
    fn keys_go_first(&mut self, at: usize) -> bool {
        let subflow = &mut self.subflows[at];
        if !subflow.data_fin_due {
            return true;
        }
        subflow.keys_sent = !subflow.keys_sent;
        if subflow.keys_sent {
            subflow.request_ack();
        }
        subflow.keys_sent
    }

    /// The third ACK of a MP_JOIN (RFC 8684 §3.2).
    #[cold]
    fn attach_third_ack(&mut self, at: usize, segment: &mut Segment) -> bool {
        let (Some(join), Some(peer_key)) = (&self.subflows[at].join, self.agreement.peer_key) else {
            return false;
        };
        let hmac = keys::join_hmac(self.agreement.own_key, peer_key, join.own_nonce, join.peer_nonce);
        segment.options.mptcp.push(MptcpOption::Join(Join::Ack { hmac: keys::leftmost_160(&hmac) }));
        fit_sack(&mut segment.options);
        true
    }

    /// One waiting option, with the DSS if both fit. ADD_ADDR travels alone, as Linux sends it; the longest one
    /// displaces the timestamps.
    #[cold]
    fn attach_rare(&mut self, at: usize, options: &mut Options, dss: Dss) {
        let subflow = &mut self.subflows[at];
        let Some(option) = subflow.rare.pop_front() else { return };
        let alone = matches!(option, MptcpOption::AddAddress(_));
        options.sack.truncate(0);
        options.mptcp.push(option);
        if options.wire_len() > Options::SPACE {
            options.timestamps = None;
        }
        if !alone && options.wire_len() + dss.wire_len() <= Options::SPACE {
            options.mptcp.dss = Some(dss);
        }
        if !subflow.rare.is_empty() {
            subflow.request_ack();
        }
    }

    /// After fallback: no options, except the mappings of what was mapped before and the infinite one itself
    /// (RFC 8684 §3.7).
    #[inline(never)]
    fn attach_plain(&mut self, octets: &impl Octets, at: usize, segment: &mut Segment) {
        let Some(Infinite { position, data, announced: true }) = self.subflows[at].infinite_out else {
            return;
        };
        let subflow = &mut self.subflows[at];
        if segment.payload.len == 0 {
            if let Some(option) = subflow.rare.pop_front() {
                segment.options.mptcp.push(option);
                fit_sack(&mut segment.options);
            }
            return;
        }
        let ssn = Ssn::from_seq(segment.seq, subflow.tcp.iss());
        let first = Ssn::new((position as u32).wrapping_add(1));
        let offset = ssn.get().wrapping_sub(first.get()) as i32;
        if offset > 0 {
            return;
        }
        let mapping = if offset == 0 {
            let checksum = self.agreement.checksum.then_some(0);
            Mapping { dsn: self.sending.queue.dsn(data), ssn, len: 0, checksum }
        } else {
            self.mapping_of(octets, segment.payload, ssn)
        };
        segment.options.mptcp.dss = Some(Dss::new(Some(self.receiving.short_data_ack()), Some(mapping)));
        fit_sack(&mut segment.options);
    }
}

/// RFC 8684 §3.3.1.
#[cold]
fn checksum_of(octets: &impl Octets, dsn: Dsn, ssn: Ssn, payload: Payload) -> u16 {
    dss_checksum(dsn, ssn, payload.len as u16, octets.sum(payload))
}

/// Drops SACK blocks that do not fit behind the other options; the first are the newest (RFC 2018 §4).
fn fit_sack(options: &mut Options) {
    if !options.sack.is_empty() {
        cut_sack(options);
    }
}

#[cold]
fn cut_sack(options: &mut Options) {
    let len = options.wire_len();
    if len > Options::SPACE {
        let blocks = options.sack.as_slice().len() as u32;
        let without = len - if blocks > 0 { 4 + 8 * blocks } else { 0 };
        let room = Options::SPACE.saturating_sub(without);
        options.sack.truncate((room.saturating_sub(4) / 8) as usize);
    }
}
