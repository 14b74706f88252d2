//! Header prediction (RFC 7323 §5.3 names the idea): in a transfer nearly every data segment continues its subflow's stream,
//! maps exactly what it carries, and says nothing else that is new. What [`super::receive`] does with such a segment comes
//! to a few steps. They are taken here, without asking what else the segment could be.
//!
//! The rule: the connection is the same afterwards, in every part, as if the segment had gone the long way.

use super::{Connection, Finish, Mode};
use crate::mapping::Mapped;
use crate::subflow::{Phase, Subflow};
use ropewalk_tcp::Acceptance;
use ropewalk_units::{Instant, Ssn};
use ropewalk_wire::{DataAck, Dss, Segment};

impl Connection {
    /// Takes a segment that the subflow's TCP has just accepted, if it is expected. If it is not, nothing has changed.
    #[inline(always)]
    pub(super) fn take_expected(&mut self, now: Instant, at: usize, segment: &Segment) -> bool {
        let options = &segment.options.mptcp;
        let Some(dss) = &options.dss else { return false };
        if segment.payload.len == 0 || options.has_rare() || !self.is_calm() {
            return false;
        }
        let Some(mapped) = self.expected(&self.subflows[at], segment, dss) else { return false };
        if !self.tells_known_data_ack(dss) {
            return false;
        }
        self.note_mapped_octets(at, segment, mapped);
        self.take_in_order(now, at, segment, mapped.data);
        true
    }

    /// No handshake, no fallback, no checksums, and no end of either stream in sight.
    #[inline(always)]
    fn is_calm(&self) -> bool {
        self.mode == Mode::Multipath
            && self.agreement.confirmed
            && !self.agreement.checksum
            && self.receiving.fin().is_none()
            && self.sending.finish == Finish::No
    }

    /// The mapping of a segment that continues its subflow's stream, if it is about exactly these octets and they lie in
    /// the window.
    #[inline(always)]
    fn expected(&self, subflow: &Subflow, segment: &Segment, dss: &Dss) -> Option<Mapped> {
        let mapping = dss.mapping()?;
        let len = segment.payload.len;
        let exact = u32::from(mapping.len) == len && !dss.data_fin() && mapping.checksum.is_none();
        let here = mapping.ssn == Ssn::from_seq(segment.seq, subflow.tcp.irs());
        if !exact || !here || !subflow.is_calm() || !subflow.tcp.is_continued_by(segment) {
            return None;
        }
        // In the circle: what lies below the octet that is expected next is a huge distance away.
        let data = mapping.dsn.since(self.receiving.first);
        let ahead = data.wrapping_sub(self.receiving.reassembly.next());
        let window = self.receiving.window.edge().wrapping_sub(self.receiving.reassembly.next());
        let inside = ahead <= window && u64::from(len) <= window - ahead && window as i64 >= 0;
        inside.then_some(Mapped {
            position: subflow.read,
            data,
            len: u64::from(len),
            checksum: None,
            data_fin: false,
        })
    }

    /// Is the DATA_ACK the one that was heard last?
    #[inline(always)]
    fn tells_known_data_ack(&self, dss: &Dss) -> bool {
        let una = self.sending.queue.dsn(self.sending.queue.una());
        match dss.data_ack() {
            None => true,
            Some(DataAck::Long(dsn)) => dsn == una,
            Some(DataAck::Short(low)) => low == una.get() as u32,
        }
    }

    /// What the stages *mapping* and *data_ack* come to.
    #[inline(always)]
    fn note_mapped_octets(&mut self, at: usize, segment: &Segment, mapped: Mapped) {
        self.receiving.mapped = true;
        self.subflows[at].mappings.replace(mapped);
        let acknowledges = segment.options.mptcp.dss.is_some_and(|dss| dss.data_ack().is_some());
        if acknowledges {
            self.note_confirmation(at, segment);
            let window = u64::from(segment.window) << self.subflows[at].tcp.peer_window_scale();
            self.open_send_window(self.sending.queue.una(), window);
        }
    }

    /// TCP takes the text, and the connection takes it from there.
    #[inline(always)]
    fn take_in_order(&mut self, now: Instant, at: usize, segment: &Segment, data: u64) {
        let subflow = &mut self.subflows[at];
        subflow.touch();
        subflow.tcp.process(segment, Acceptance::Current);
        subflow.tcp.read(u64::MAX);
        subflow.read += u64::from(segment.payload.len);
        let tells = subflow.tcp.has_events();
        if tells || self.timers.are_slow_ones_stale() || subflow.tcp.wants_to_transmit() {
            self.planner.due.request_poll();
        } else {
            // Every second segment is not acknowledged: polling would find nothing.
            subflow.upkeep.on_polled();
        }
        self.receiving.reassembly.insert(now, data, segment.payload);
        self.tune_window(now);
        self.planner.due.request_schedule_if(self.sending.is_busy());
        if tells {
            self.on_rare_event(now, at);
        }
    }
}

impl Subflow {
    /// Established, and nothing about its mappings is out of the ordinary.
    #[inline(always)]
    fn is_calm(&self) -> bool {
        self.phase == Phase::Open
            && !self.doubted
            && !self.timed_out
            && !self.discarding
            && self.infinite_in.is_none()
            && self.mappings.are_used_up(self.read)
    }
}
