//! A segment's way in: the subflow's TCP judges it, then *option → mapping → data_fin → data_ack*, then TCP takes
//! acknowledgement, text and FIN, then *checksum → reassemble*.
//!
//! No option has an effect before TCP has accepted the segment that carries it (RFC 9293 §3.10.7.4, RFC 5961). So an
//! attacker must guess TCP's numbers first. Of a RST only its reason counts.

use super::order::Waiting;
use super::refusal::without_text;
use super::{Connection, Finish, Mode};
use crate::config::Config;
use crate::event::{Event, FailureReason, Refusal, SubflowCloseReason};
use crate::id::SubflowId;
use crate::mapping::{LastOctet, Mapped, Refused};
use crate::role::Role;
use crate::subflow::{Phase, Subflow};
use ropewalk_tcp::{self as tcp, Acceptance, Blame, State, SubflowAcks};
use ropewalk_units::{Instant, Ssn};
use ropewalk_wire::{
    DataAck, Dss, FastClose, Flags, Generated, Join, Mapping, MptcpOption, Octets, Payload, ResetReason,
    Segment,
};

/// What the stage *option* decides about a segment that TCP has accepted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Admission {
    /// TCP takes it.
    Pass,
    /// TCP takes it, after which the joined subflow is fully established.
    Joined,
    /// As if it had been lost.
    Drop,
    /// TCP takes it without its text.
    Bare,
    /// The subflow is reset, without regard to the segment's text.
    Abort(ResetReason),
}

impl Connection {
    /// Takes a segment that arrived on a subflow.
    pub fn handle_segment(&mut self, now: Instant, subflow: SubflowId, segment: &Segment) {
        self.handle_segment_of(&Generated, now, subflow, segment);
    }

    /// As [`Self::handle_segment`], with checksums over these octets: `octets` has the ranges of payloads that came.
    pub fn handle_segment_of(
        &mut self,
        octets: &impl Octets,
        now: Instant,
        subflow: SubflowId,
        segment: &Segment,
    ) {
        if self.config.tcp.quirks.subflow_acks != SubflowAcks::Own {
            return self.handle_in_data_order(octets, now, subflow, segment);
        }
        if !self.process_expected(now, subflow, segment) {
            self.process_segment(octets, now, subflow, segment);
        }
    }

    /// Takes a segment, or keeps it until the data before its own have come by whatever subflow ([`super::order`]).
    #[cold]
    fn handle_in_data_order(
        &mut self,
        octets: &impl Octets,
        now: Instant,
        subflow: SubflowId,
        segment: &Segment,
    ) {
        if self.mode == Mode::Multipath
            && let Some(at) = self.subflows.place_of(subflow)
            && self.receiving.hold(&self.subflows[at], segment)
        {
            return self.acknowledge_held(at);
        }
        if self.config.tcp.quirks.subflow_acks == SubflowAcks::Twice && self.is_held(subflow, segment) {
            return;
        }
        // What is missing may come behind what waits for it, reinjected on the same subflow: then nothing waits any more.
        if segment.payload.len > 0 && !self.is_old(subflow, segment) {
            let released = self.receiving.release_of(subflow);
            self.process_released(octets, now, &released);
        }
        self.process_segment(octets, now, subflow, segment);
        loop {
            let released = self.receiving.release_next();
            if released.is_empty() {
                return;
            }
            self.process_released(octets, now, &released);
        }
    }

    /// Is it a copy of what waits already? Then the extra ACK is all that follows.
    fn is_held(&mut self, subflow: SubflowId, segment: &Segment) -> bool {
        let (Some(end), Some(at)) = (self.receiving.held_end(subflow), self.subflows.place_of(subflow))
        else {
            return false;
        };
        let waits = segment.payload.len > 0
            && segment.seq.before(end)
            && segment.seq.after_eq(self.subflows[at].tcp.rcv_nxt());
        if waits {
            self.acknowledge_held(at);
        }
        waits
    }

    /// Was all of it acknowledged on its subflow?
    fn is_old(&self, subflow: SubflowId, segment: &Segment) -> bool {
        let at = self.subflows.place_of(subflow);
        at.is_some_and(|at| segment.end().before_eq(self.subflows[at].tcp.rcv_nxt()))
    }

    /// The extra ACK for a segment that waits.
    fn acknowledge_held(&mut self, at: usize) {
        if self.config.tcp.quirks.subflow_acks == SubflowAcks::Twice {
            self.receiving.owe(self.subflows[at].id, self.subflows[at].tcp.rcv_nxt());
            self.subflows[at].request_ack();
            self.planner.due.request_poll();
        }
    }

    /// An ACK that advances nothing counts for the subflow that [`Blame`] names.
    #[cold]
    fn blame(&mut self, now: Instant, at: usize, segment: &Segment) -> Acceptance {
        let subflow = &self.subflows[at];
        let duplicate = segment.payload.len == 0
            && segment.flags == Flags::ACK
            && subflow.phase == Phase::Open
            && segment.ack == subflow.tcp.snd_una()
            && subflow.tcp.flight_size() > 0;
        if !duplicate {
            return Acceptance::Current;
        }
        if self.config.tcp.quirks.duplicates_blame != Blame::Nobody
            && let Some(head) = self.sending.queue.head()
        {
            let blocking = head.latest as usize;
            self.subflows[blocking].tcp.blame(now);
            self.subflows[blocking].upkeep.on_numbers();
            self.subflows[blocking].upkeep.on_request();
        }
        Acceptance::Signal
    }

    fn process_released(&mut self, octets: &impl Octets, now: Instant, released: &[Waiting]) {
        for waiting in released {
            let at = self.subflows.place_of(waiting.subflow);
            if at.is_none_or(|at| self.subflows[at].tcp.state() == State::Closed) {
                continue;
            }
            let mut segment = waiting.segment.clone();
            // Later segments have acknowledged more meanwhile. Its own number could be too old for RFC 5961 §5.2 by now.
            if let Some(una) = at.map(|at| self.subflows[at].tcp.snd_una())
                && segment.ack.before(una)
            {
                segment.ack = una;
            }
            self.process_segment(octets, now, waiting.subflow, &segment);
            if let (SubflowAcks::Twice, Some(at)) = (self.config.tcp.quirks.subflow_acks, at) {
                self.receiving.owe(waiting.subflow, self.subflows[at].tcp.rcv_nxt());
                self.subflows[at].request_ack();
                self.planner.due.request_poll();
            }
        }
    }

    /// All stages. [`Self::process_expected`] has the same result for the segments that it takes.
    pub(super) fn process_segment(
        &mut self,
        octets: &impl Octets,
        now: Instant,
        subflow: SubflowId,
        segment: &Segment,
    ) {
        let Some(at) = self.subflows.place_of(subflow) else { return };
        let flow = &mut self.subflows[at];
        flow.upkeep.on_numbers();
        if flow.tcp.state() == State::Closed {
            return self.answer_stray(now, at, segment);
        }
        match flow.tcp.judge(now, segment) {
            Acceptance::Rejected => {}
            Acceptance::Reset => self.on_reset_options(at, segment),
            acceptance => self.process_accepted(now, at, segment, acceptance),
        }
        if self.subflows[at].tcp.readable() > 0 {
            self.process_stream(octets, now, at);
        }
        self.after_input(now, at);
        self.poll_after(at, segment);
    }

    /// Is there anything to be polled after a segment? After data that is so only if an ACK is due, or if another subflow was asked
    /// for something meanwhile.
    #[inline(always)]
    pub(super) fn poll_after(&mut self, at: usize, segment: &Segment) {
        let subflow = &mut self.subflows[at];
        if segment.payload.len == 0 || subflow.wants_to_transmit() || subflow.has_news() {
            subflow.upkeep.on_request();
        }
        if self.subflows.live().any(|subflow| subflow.upkeep.is_unpolled()) {
            self.planner.due.request_poll();
        }
    }

    /// A segment that the subflow's TCP has accepted.
    #[inline(always)]
    fn process_accepted(&mut self, now: Instant, at: usize, segment: &Segment, mut acceptance: Acceptance) {
        self.subflows[at].silence.on_heard(now);
        if self.subflows[at].doubted {
            self.trust(at);
        }
        let admission = self.process_options(now, at, segment, acceptance);
        if let Admission::Abort(reason) = admission {
            return self.refuse(now, at, segment, acceptance, reason);
        }
        // An option may have ended the subflow.
        if admission == Admission::Drop || self.subflows[at].tcp.state() == State::Closed {
            return;
        }
        let bare;
        let segment = if admission == Admission::Bare || self.refuses_text(at, segment) {
            bare = without_text(segment);
            // It is no duplicate ACK: it had text.
            if acceptance == Acceptance::Current && segment.ack == self.subflows[at].tcp.snd_una() {
                acceptance = Acceptance::Signal;
            }
            &bare
        } else {
            segment
        };
        if self.only_signals(at, segment) {
            acceptance = Acceptance::Signal;
        } else if self.config.tcp.quirks.duplicates_blame != Blame::Own && acceptance == Acceptance::Current {
            acceptance = self.blame(now, at, segment);
        }
        self.hand_to_tcp(at, segment, acceptance);
        if admission == Admission::Joined {
            self.open_joined(now, at);
        }
        if self.mode == Mode::Tcp && at == self.plain as usize {
            self.plain_progress(now, segment);
        }
    }

    /// The subflow is reset instead of taking the segment. Only an active opener takes the answer to its SYN first: without it
    /// there is no RST that the peer would believe.
    #[cold]
    fn refuse(
        &mut self,
        now: Instant,
        at: usize,
        segment: &Segment,
        acceptance: Acceptance,
        reason: ResetReason,
    ) {
        let subflow = &mut self.subflows[at];
        if subflow.tcp.state() == State::SynSent {
            subflow.tcp.process(segment, acceptance);
        }
        self.reset_subflow(now, at, reason);
    }

    /// What a RST says that the subflow's TCP has accepted: its reason (RFC 8684 §3.6), and that the whole connection
    /// is over (§3.5). MP_FAIL on it (§3.7) asks for nothing more: the subflow is gone, and others carry its data.
    #[cold]
    fn on_reset_options(&mut self, at: usize, segment: &Segment) {
        for option in segment.options.mptcp.rare() {
            match option {
                MptcpOption::Reset { transient, reason } => {
                    self.subflows[at].peer_reset = Some(Refusal { transient: *transient, reason: *reason });
                }
                MptcpOption::FastClose(close) => self.on_fast_close(*close),
                _ => {}
            }
        }
    }

    /// RFC 8684 §3.5: believed only with our key.
    #[cold]
    fn on_fast_close(&mut self, close: FastClose) {
        if self.mode == Mode::Multipath && close.receiver_key == self.agreement.own_key {
            self.fail(FailureReason::PeerAborted);
        }
    }

    /// A segment for a subflow that is gone: its TCP answers with a RST (RFC 9293 §3.10.7.1).
    #[cold]
    fn answer_stray(&mut self, now: Instant, at: usize, segment: &Segment) {
        self.subflows[at].tcp.handle_segment(now, segment);
        self.subflows[at].upkeep.on_request();
        self.planner.due.request_poll();
        if !self.subflows.live.contains(&(at as u32)) {
            self.subflows.live.push(at as u32);
        }
    }

    /// Stage *option*, and with it all that a DSS says.
    #[inline(always)]
    fn process_options(
        &mut self,
        now: Instant,
        at: usize,
        segment: &Segment,
        acceptance: Acceptance,
    ) -> Admission {
        let mut admission = Admission::Pass;
        if self.subflows[at].phase == Phase::Opening {
            admission = self.admit_opening(now, at, segment);
            if matches!(admission, Admission::Drop | Admission::Abort(_)) {
                return admission;
            }
        }
        if self.mode != Mode::Multipath {
            if self.mode == Mode::Tcp && !segment.options.mptcp.is_empty() {
                return self.on_late_options(at, segment);
            }
            return admission;
        }
        let options = &segment.options.mptcp;
        if options.has_rare() {
            if self.agreement.is_broken_by_first_mapping(segment) {
                return Admission::Abort(ResetReason::Mptcp);
            }
            self.process_rare_options(now, at, segment);
        }
        if let Some(dss) = &options.dss {
            if dss.mapping().is_some_and(|mapping| self.agreement.is_broken_by(&mapping, LastOctet::of(dss)))
            {
                return Admission::Abort(ResetReason::Mptcp);
            }
            if let Err(refused) = self.on_dss(now, at, segment, dss, acceptance) {
                return match refused {
                    Refused::Contradiction => Admission::Abort(ResetReason::Mptcp),
                    Refused::Full | Refused::Beyond if admission == Admission::Pass => Admission::Bare,
                    Refused::Full | Refused::Beyond => Admission::Drop,
                };
            }
        } else if !options.has_rare() && self.subflows[at].phase == Phase::Open {
            return self.without_options(at, segment, admission);
        }
        admission
    }

    #[cold]
    fn admit_opening(&mut self, now: Instant, at: usize, segment: &Segment) -> Admission {
        self.timers.on_slow_change();
        if self.subflows[at].join.is_some() {
            if self.mode == Mode::Multipath { self.admit_joined(now, at, segment) } else { Admission::Pass }
        } else if self.mode == Mode::Opening {
            let admission = self.admit_initial(segment);
            if self.mode != Mode::Opening {
                // Windows of SYNs are not scaled (RFC 7323 §2.2).
                let scaled = !segment.flags.contains(Flags::SYN);
                let shift = if scaled { self.subflows[at].tcp.peer_window_scale() } else { 0 };
                self.open_send_window(0, u64::from(segment.window) << shift);
            }
            admission
        } else {
            Admission::Pass
        }
    }

    /// The rare options of a segment.
    #[cold]
    fn process_rare_options(&mut self, now: Instant, at: usize, segment: &Segment) {
        self.timers.on_slow_change();
        let rare = segment.options.mptcp.rare();
        for option in rare {
            match option {
                MptcpOption::Capable { data: Some((len, checksum)), .. } if self.role == Role::Server => {
                    // RFC 8684 §3.1: the first data's mapping, beginning at the first octet of both spaces.
                    let ssn = Ssn::new(1);
                    let mapping = Mapping { dsn: self.receiving.first, ssn, len: *len, checksum: *checksum };
                    // The first of all contradicts none, and what is said again says the same.
                    let _ = self.on_mapping(at, segment, &mapping, LastOctet::Data);
                }
                // RFC 8684 §3.2: the third packet again, since its acknowledgement was lost.
                MptcpOption::Join(Join::Ack { .. }) if !self.subflows[at].active => {
                    self.subflows[at].request_ack();
                }
                MptcpOption::Capable { .. } | MptcpOption::Join(_) => {}
                MptcpOption::AddAddress(add) => {
                    // Linux's path manager hears of the address first.
                    self.on_add_address(now, at, add);
                    self.confirm_by_peer(now);
                }
                MptcpOption::RemoveAddress(remove) => self.on_remove_address(now, remove),
                MptcpOption::Priority(priority) => self.on_priority(at, *priority),
                MptcpOption::Fail(dsn) => self.on_fail(now, at, *dsn),
                MptcpOption::FastClose(close) => self.on_fast_close(*close),
                // RFC 8684 §3.6: on a RST only.
                MptcpOption::Reset { .. } => {}
            }
        }
    }

    /// The server has sent an option of Multipath TCP after the third ACK: it has both keys.
    fn confirm_by_peer(&mut self, now: Instant) {
        if !self.agreement.confirmed && self.role == Role::Client {
            self.confirm(now);
        }
    }

    #[inline(always)]
    fn on_dss(
        &mut self,
        now: Instant,
        at: usize,
        segment: &Segment,
        dss: &Dss,
        acceptance: Acceptance,
    ) -> Result<(), Refused> {
        if !self.agreement.confirmed {
            self.confirm_by_peer(now);
        }
        let mapped = dss
            .mapping()
            .map_or(Ok(()), |mapping| self.on_mapping(at, segment, &mapping, LastOctet::of(dss)));
        if mapped == Err(Refused::Contradiction) {
            return mapped;
        }
        // What acknowledges less than SND.UNA says nothing new about the connection either.
        if let Some(data_ack) = dss.data_ack()
            && acceptance != Acceptance::Old
        {
            self.on_data_ack(now, at, segment, data_ack);
        }
        mapped
    }

    /// Stage *mapping*.
    #[inline(always)]
    pub(super) fn on_mapping(
        &mut self,
        at: usize,
        segment: &Segment,
        mapping: &Mapping,
        last: LastOctet,
    ) -> Result<(), Refused> {
        let data = mapping.dsn.since(self.receiving.first);
        let mut len = u64::from(mapping.len);
        if last == LastOctet::DataFin || len == 0 {
            // RFC 8684 §3.3.3: the DATA_FIN takes the mapping's last octet.
            len = len.saturating_sub(1);
            self.on_rare_mapping(at, segment, mapping, last)?;
        }
        if len == 0 {
            return Ok(());
        }
        let (config, live) = (&self.config, self.subflows.live.len());
        let subflow = &mut self.subflows[at];
        // RFC 8684 §3.3.1: it is about octets of the segment that carries it, some at least. One that is only about octets to
        // come could be planted before their own arrives.
        let first = Ssn::from_seq(segment.seq, subflow.tcp.irs());
        let apart = (first.get().wrapping_sub(mapping.ssn.get())) as i32;
        let ahead = -i64::from(apart.min(0));
        if i64::from(apart) >= len as i64 || ahead >= i64::from(segment.payload.len) {
            return Ok(());
        }
        self.receiving.mapped = true;
        if let Some(position) = subflow.position_in(mapping.ssn)
            && position + len > subflow.read
        {
            let data_fin = last == LastOctet::DataFin;
            let mapped = Mapped { position, data, len, checksum: mapping.checksum, data_fin };
            // The sender may not use it (RFC 8684 §3.3.5). One below the first octet is a huge number.
            if (data.wrapping_sub(self.receiving.window.edge()) as i64) >= 0 {
                subflow.request_ack();
                return Err(Refused::Beyond);
            }
            return subflow.mappings.insert(mapped, subflow.read, || most_mappings(config, live));
        }
        Ok(())
    }

    /// An infinite mapping, or one with a DATA_FIN.
    #[cold]
    fn on_rare_mapping(
        &mut self,
        at: usize,
        segment: &Segment,
        mapping: &Mapping,
        last: LastOctet,
    ) -> Result<(), Refused> {
        let data = mapping.dsn.since(self.receiving.first);
        match (last, mapping.len) {
            (LastOctet::Data, _) => self.on_infinite_mapping(at, segment, mapping.ssn, data),
            // A DATA_FIN without its own octet.
            (LastOctet::DataFin, 0) => Ok(()),
            (LastOctet::DataFin, 1) if !self.data_fin_is_intact(mapping) => Ok(()),
            (LastOctet::DataFin, len) => {
                self.on_data_fin(at, data.wrapping_add(u64::from(len) - 1));
                Ok(())
            }
        }
    }

    /// Stage *data_fin* (RFC 8684 §3.3.3): within the window and above all that has arrived, as a FIN must be. The first one
    /// counts, and is acknowledged however often it comes.
    #[cold]
    fn on_data_fin(&mut self, at: usize, data: u64) {
        if self.receiving.on_data_fin(data) {
            self.subflows[at].request_ack();
        }
    }

    /// Stage *data_ack* (RFC 8684 §3.3.2), and the window that is relative to it (§3.3.5).
    pub(super) fn on_data_ack(&mut self, now: Instant, at: usize, segment: &Segment, data_ack: DataAck) {
        let dsn = match data_ack {
            DataAck::Long(dsn) => dsn,
            DataAck::Short(low) => self.sending.queue.dsn(self.sending.queue.una()).nearest(low),
        };
        let acknowledged = self.sending.queue.data(dsn);
        let finished = self.sending.acknowledges_data_fin(acknowledged);
        if acknowledged > self.sending.queue.next() && !finished {
            return;
        }
        self.note_confirmation(at, segment);
        let una = acknowledged.min(self.sending.queue.next());
        if self.sending.queue.acknowledge(una) {
            self.note_progress(now);
        }
        if finished {
            self.finish_acknowledged();
        }
        let window = u64::from(segment.window) << self.subflows[at].tcp.peer_window_scale();
        self.open_send_window(una, window);
    }

    /// The peer acknowledges something new.
    pub(super) fn note_progress(&mut self, now: Instant) {
        self.timers.progress(now);
        self.planner.due.request_schedule();
    }

    /// Is a segment only there to carry options or a larger window, so that the subflow's TCP must not count it
    /// as a duplicate acknowledgement (RFC 8684 §3.3.2)? It acknowledges nothing, carries nothing and reports
    /// nothing out of order.
    fn only_signals(&self, at: usize, segment: &Segment) -> bool {
        let options = &segment.options;
        if segment.payload.len > 0 || segment.flags != Flags::ACK || !options.sack.is_empty() {
            return false;
        }
        let signals =
            options.mptcp.has_rare() || options.mptcp.dss.is_some_and(|dss| dss.mapping().is_some());
        signals && {
            let subflow = &self.subflows[at];
            subflow.phase == Phase::Open && segment.ack == subflow.tcp.snd_una()
        }
    }

    #[inline(always)]
    fn hand_to_tcp(&mut self, at: usize, segment: &Segment, acceptance: Acceptance) {
        let subflow = &mut self.subflows[at];
        let acknowledges = segment.payload.len == 0 || segment.ack != subflow.tcp.snd_una();
        if !acknowledges {
            return subflow.tcp.process(segment, acceptance);
        }
        self.with_coupling(at, |tcp| tcp.process(segment, acceptance));
    }

    /// The subflow's TCP takes an acknowledgement, with what coupled congestion control lays down.
    #[inline(always)]
    pub(super) fn with_coupling(&mut self, at: usize, take: impl FnOnce(&mut tcp::Connection)) {
        if !self.planner.is_coupled() {
            return take(&mut self.subflows[at].tcp);
        }
        self.planner.set_coupling(&mut self.subflows, at);
        let subflow = &mut self.subflows[at];
        let before = subflow.tcp.stats().bytes_acked;
        take(&mut subflow.tcp);
        subflow.upkeep.on_numbers();
        self.planner.after_ack(&mut self.subflows, at, before);
    }

    /// Follows up a segment or a timeout that a subflow's TCP has handled.
    #[inline(always)]
    pub(super) fn after_input(&mut self, now: Instant, at: usize) {
        self.planner.due.request_schedule_if(self.sending.is_busy());
        if self.sending.awaits_writer() {
            self.tend_send_buffer();
        }
        let subflow = &mut self.subflows[at];
        if subflow.timed_out || subflow.tcp.has_events() {
            self.on_rare_event(now, at);
        }
        if self.receiving.fin().is_some() || self.sending.finish != Finish::No || self.mode == Mode::Tcp {
            self.progress_close(now, at);
        }
    }

    /// Something rare happened to a subflow.
    #[cold]
    fn on_rare_event(&mut self, now: Instant, at: usize) {
        while let Some(event) = self.subflows[at].tcp.poll_event() {
            self.on_tcp_event(now, at, event);
        }
        if self.subflows[at].timed_out {
            self.look_for_recovery(at);
        }
    }

    /// Reads what the subflow delivers and puts it where its mappings say.
    fn process_stream(&mut self, octets: &impl Octets, now: Instant, at: usize) {
        loop {
            let subflow = &mut self.subflows[at];
            let Some(received) = subflow.tcp.read(u64::MAX) else { break };
            let more = subflow.tcp.readable() > 0;
            match read_mapped(subflow, received.payload) {
                Some(data) => self.reassemble(now, data, received.payload),
                None => {
                    self.process_octets(octets, now, at, received.payload);
                    self.receiving.reassembly.account(now);
                }
            }
            if !more {
                break;
            }
        }
        self.after_reading(now);
    }

    /// What the subflow delivered has been put together.
    #[inline(always)]
    pub(super) fn after_reading(&mut self, now: Instant) {
        self.tune_window(now);
        if self.config.trace {
            self.trace_blocking(now);
        }
    }

    #[cold]
    fn trace_blocking(&mut self, now: Instant) {
        if let Some(event) = self.receiving.trace_blocking(now) {
            self.emit(event);
        }
    }

    #[inline(never)]
    fn process_octets(&mut self, octets: &impl Octets, now: Instant, at: usize, mut payload: Payload) {
        while payload.len > 0 {
            let subflow = &mut self.subflows[at];
            let position = subflow.read;
            if subflow.phase == Phase::Closed {
                return;
            }
            if subflow.discarding {
                if subflow.infinite_in.is_none() && self.subflows.has_others(at) {
                    // Other subflows have been established meanwhile: they carry it.
                    return self.reset_subflow(now, at, ResetReason::Middlebox);
                }
                let skip = self.discarded(at, payload.len);
                self.subflows[at].read += u64::from(skip);
                payload = Payload { offset: payload.offset + u64::from(skip), len: payload.len - skip };
                continue;
            }
            let infinite = subflow.infinite_in;
            let (data, len, checksum) = if let Some(infinite) = infinite
                && position >= infinite.position
            {
                // A mapping that reaches beyond its start is never whole.
                subflow.unverified.parts.clear();
                (infinite.data + (position - infinite.position), payload.len, None)
            } else if let Some(mapped) = subflow.mappings.at(position) {
                let end = infinite.map_or(mapped.end(), |infinite| mapped.end().min(infinite.position));
                let len = (end - position).min(u64::from(payload.len)) as u32;
                (mapped.data.wrapping_add(position - mapped.position), len, mapped.checksum.map(|_| mapped))
            } else if self.octets_unmapped(now, at) {
                continue;
            } else {
                return;
            };
            let part = Payload { offset: payload.offset, len };
            self.subflows[at].read += u64::from(len);
            match checksum {
                None => self.reassemble(now, data, part),
                Some(mapped) => self.verify(octets, now, at, mapped, part),
            }
            payload = Payload { offset: payload.offset + u64::from(len), len: payload.len - len };
        }
    }

    /// Stage *reassemble*. What lies beyond the window that we offered, or beyond the DATA_FIN, is dropped; the peer sends it
    /// again, if it was meant. Positions are taken in the circle: one below the first octet is a huge number.
    #[inline(always)]
    pub(super) fn reassemble(&mut self, now: Instant, data: u64, mut payload: Payload) {
        let end = data.wrapping_add(u64::from(payload.len));
        let edge = self.receiving.window.edge();
        if (end.wrapping_sub(edge) as i64) > 0 || self.receiving.fin().is_some() {
            payload.len -= self.beyond(end, edge, payload.len);
            if payload.len == 0 {
                return self.receiving.reassembly.account(now);
            }
        }
        self.receiving.reassembly.insert(now, data, payload);
    }

    /// How many of the last `len` octets before `end` lie beyond the window.
    #[inline(never)]
    fn beyond(&mut self, end: u64, edge: u64, len: u32) -> u32 {
        // Plain TCP has acknowledged what an infinite mapping is about: it keeps within its own window.
        let plain = &self.subflows[self.plain as usize];
        let infinite = plain.infinite_in.is_some_and(|infinite| plain.read > infinite.position);
        let edge = if infinite { end } else { edge };
        let edge = self.receiving.fin().map_or(edge, |fin| fin.min(edge));
        let beyond = (end.wrapping_sub(edge) as i64).clamp(0, i64::from(len)) as u32;
        self.stats.bytes_beyond_window += u64::from(beyond);
        beyond
    }

    #[cold]
    pub(super) fn on_tcp_event(&mut self, now: Instant, at: usize, event: tcp::Event) {
        self.timers.on_slow_change();
        let id = self.subflows[at].id;
        match event {
            tcp::Event::Established => self.tcp_established(now, at),
            tcp::Event::Closed(reason) => {
                let reset = self.subflows[at].reset;
                let reason = match reason {
                    tcp::CloseReason::Finished => SubflowCloseReason::Finished,
                    tcp::CloseReason::Reset => {
                        SubflowCloseReason::Reset(self.subflows[at].peer_reset.map(|reset| reset.reason))
                    }
                    tcp::CloseReason::Refused => SubflowCloseReason::Refused,
                    tcp::CloseReason::TimedOut => SubflowCloseReason::TimedOut,
                    tcp::CloseReason::Aborted => {
                        SubflowCloseReason::Aborted(reset.unwrap_or(ResetReason::Unspecified))
                    }
                };
                self.subflow_closed(now, at, reason);
            }
            tcp::Event::TimeoutFired { .. } => self.subflow_timed_out(at),
            tcp::Event::PeerFinished if self.mode == Mode::Multipath => self.follow_subflow_fin(at),
            tcp::Event::FinAcknowledged if self.mode == Mode::Tcp => self.finish_acknowledged(),
            _ => {}
        }
        self.emit(Event::Subflow { id, event });
    }

    #[cold]
    fn tcp_established(&mut self, now: Instant, at: usize) {
        let subflow = &mut self.subflows[at];
        match &mut subflow.join {
            None => self.open_initial(now),
            Some(join) if subflow.active => {
                // RFC 8684 §3.2: the third ACK is repeated until something proves that it arrived.
                join.third_ack_due = Some(now + subflow.tcp.rto());
                self.subflows.joined = true;
            }
            Some(_) => {}
        }
    }
}

/// Mappings that may wait on each of so many subflows: a share of the pieces that the receive buffer may be in.
pub(super) fn most_mappings(config: &Config, subflows: usize) -> usize {
    let pieces = config.tcp.most_pieces(config.receive_buffer);
    (pieces / subflows.max(1)).max(config.least_mappings as usize)
}

/// The place of octets that one mapping without checksum covers, nearly all; they count as read then.
#[inline(always)]
fn read_mapped(subflow: &mut Subflow, payload: Payload) -> Option<u64> {
    let (position, len) = (subflow.read, u64::from(payload.len));
    let special = subflow.discarding || subflow.infinite_in.is_some() || subflow.phase == Phase::Closed;
    let mapped = subflow.mappings.at(position)?;
    if special || mapped.checksum.is_some() || mapped.end() < position + len {
        return None;
    }
    subflow.read += len;
    Some(mapped.data.wrapping_add(position - mapped.position))
}
