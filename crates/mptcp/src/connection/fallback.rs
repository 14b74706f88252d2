//! Checksums, MP_FAIL and the ways back to plain TCP (RFC 8684 §3.3.1, §3.7).

use super::receive::{Admission, most_mappings};
use super::{Connection, Mode};
use crate::event::{Event, FallbackReason, SubflowCloseReason};
use crate::mapping::{LastOctet, Mapped, Refused};
use crate::subflow::{Infinite, Phase, Unverified};
use ropewalk_units::{Dsn, Instant, Ssn};
use ropewalk_wire::{Flags, Mapping, MptcpOption, Octets, Payload, ResetReason, Segment, Sum, dss_checksum};

/// Parts of a mapping that a subflow may gather for its checksum, however small the receive buffer is: the longest mapping in
/// segments of 256 octets.
const MOST_PARTS: usize = 256;

impl Connection {
    /// Only the initial subflow has ever carried data, in order, so that its stream *is* the connection's and
    /// both hosts can go on without mappings (RFC 8684 §3.7).
    fn is_one_stream(&self) -> bool {
        let received_in_order = self.subflows[0].read == self.receiving.reassembly.next();
        !self.sending.split
            && !self.subflows.joined
            && received_in_order
            && self.subflows[0].phase != Phase::Closed
    }

    /// A segment without any option of Multipath TCP, on an open subflow. RFC 8684 §3.7: as an ACK of data it shows that the path
    /// strips them, as long as no DATA_ACK for data has come; later a peer may leave them out.
    #[inline(never)]
    pub(super) fn without_options(
        &mut self,
        at: usize,
        segment: &Segment,
        admission: Admission,
    ) -> Admission {
        let subflow = &mut self.subflows[at];
        subflow.optionless = true;
        if subflow.data_acked || !subflow.acknowledges_data(segment) {
            return admission;
        }
        self.options_lost(at)
    }

    /// A DATA_ACK has come on a subflow: with the acknowledgement of data it proves that options pass both ways.
    pub(super) fn note_confirmation(&mut self, at: usize, segment: &Segment) {
        let subflow = &mut self.subflows[at];
        subflow.optionless = false;
        if !subflow.data_acked {
            subflow.data_acked = subflow.acknowledges_data(segment);
        }
    }

    #[cold]
    pub(super) fn options_lost(&mut self, at: usize) -> Admission {
        if at == 0 && self.is_one_stream() {
            self.announce_plain_stream();
            let early = !self.agreement.confirmed;
            self.fall_back(if early { FallbackReason::HandshakeStripped } else { FallbackReason::Stripped });
            Admission::Pass
        } else {
            Admission::Abort(ResetReason::Middlebox)
        }
    }

    /// What is sent from now on gets an infinite mapping. The path may drop options in one direction only, and then the
    /// peer still waits for mappings (RFC 8684 §3.7).
    fn announce_plain_stream(&mut self) {
        let initial = &mut self.subflows[0];
        // Where the next new segment begins.
        let position = initial.pushed - initial.tcp.unsent();
        initial.infinite_out.get_or_insert(Infinite { position, data: position, announced: true });
    }

    /// Data came that no mapping covers. If none ever has, the options do not get through, and the connection goes on without
    /// (`true`: look again). Otherwise the subflow is broken and is reset (RFC 8684 §3.7).
    pub(super) fn octets_unmapped(&mut self, now: Instant, at: usize) -> bool {
        if at == 0 && self.mode == Mode::Multipath && !self.receiving.mapped && self.is_one_stream() {
            self.fall_back(FallbackReason::Stripped);
            return true;
        }
        self.reset_subflow(now, at, ResetReason::Middlebox);
        false
    }

    /// After fallback what was mapped before still comes with its mappings: until an infinite one comes, and then until all
    /// before it is there. An infinite mapping says at any time where the peer begins again: it may have fallen back after
    /// this end.
    #[inline(never)]
    pub(super) fn on_late_options(&mut self, at: usize, segment: &Segment) -> Admission {
        if at != self.plain as usize {
            return Admission::Pass;
        }
        let subflow = &self.subflows[at];
        let awaited =
            subflow.discarding || subflow.infinite_in.is_none_or(|infinite| subflow.read < infinite.position);
        let mapping = segment.options.mptcp.dss.and_then(|dss| dss.mapping());
        if let Some(mapping) = mapping.filter(|mapping| awaited || mapping.len == 0)
            && self.on_mapping(at, segment, &mapping, LastOctet::Data) == Err(Refused::Full)
        {
            return Admission::Drop;
        }
        Admission::Pass
    }

    /// Octets to discard at the start of `len` ones: all of them while an infinite mapping is awaited, then those
    /// before it.
    pub(super) fn discarded(&mut self, at: usize, len: u32) -> u32 {
        let subflow = &mut self.subflows[at];
        let Some(infinite) = subflow.infinite_in else {
            // MP_FAIL is not acknowledged: data without an infinite mapping says that it was lost.
            if subflow.rare.is_empty() {
                let expected = self.receiving.expected();
                subflow.signal(MptcpOption::Fail(expected));
            }
            return len;
        };
        let before = infinite.position.saturating_sub(subflow.read);
        if before <= u64::from(len) {
            subflow.discarding = false;
        }
        before.min(u64::from(len)) as u32
    }

    /// Goes on as plain TCP on the initial subflow.
    pub(super) fn fall_back(&mut self, reason: FallbackReason) {
        if self.mode == Mode::Tcp {
            return;
        }
        self.mode = Mode::Tcp;
        // RFC 8684 §3.7: a stream without mappings repeats no octet.
        self.sending.queue.cancel_reinjections();
        let next = self.receiving.reassembly.next();
        let initial = &mut self.subflows[0];
        initial.infinite_in.get_or_insert(Infinite { position: initial.read, data: next, announced: false });
        initial.infinite_out.get_or_insert(Infinite { position: 0, data: 0, announced: false });
        initial.rare.clear();
        initial.data_fin_due = false;
        self.emit(Event::FellBack(reason));
        self.abort_others();
        self.planner.due.request_schedule();
    }

    /// Only one subflow is left after fallback.
    fn abort_others(&mut self) {
        let plain = self.plain;
        self.subflows.for_each_live(|subflow| {
            if u32::from(subflow.place) != plain {
                subflow.reset = Some(ResetReason::Mptcp);
                subflow.tcp.abort();
                subflow.touch();
            }
        });
    }

    /// Plain TCP: what the subflow acknowledges is what the peer has, and the window is relative to it.
    #[inline(never)]
    pub(super) fn plain_progress(&mut self, now: Instant, segment: &Segment) {
        let plain = &self.subflows[self.plain as usize];
        let Some(infinite) = plain.infinite_out else { return };
        let tcp = &plain.tcp;
        let acked = tcp.stats().bytes_acked;
        let current = segment.flags.contains(Flags::ACK) && segment.ack == tcp.snd_una();
        let scaled = !segment.flags.contains(Flags::SYN);
        let window = u64::from(segment.window) << if scaled { tcp.peer_window_scale() } else { 0 };
        // What lies before the mapping was the connection's own stream, or is sent again behind it.
        if let Some(data) = (infinite.data + acked).checked_sub(infinite.position)
            && self.sending.queue.acknowledge(data)
        {
            self.note_progress(now);
        }
        if current {
            self.open_send_window(self.sending.queue.una(), window);
        }
    }

    /// RFC 8684 §3.3.3: the checksum of a DATA_FIN without data covers the pseudo-header only. A wrong one is as if it had
    /// not come: it is repeated.
    pub(super) fn data_fin_is_intact(&self, mapping: &Mapping) -> bool {
        mapping.checksum.is_none_or(|checksum| {
            checksum == dss_checksum(mapping.dsn, mapping.ssn, mapping.len, Sum::default())
        })
    }

    /// Stage *checksum*: gathers a mapping's octets and delivers them when the checksum agrees.
    #[inline(never)]
    pub(super) fn verify(
        &mut self,
        octets: &impl Octets,
        now: Instant,
        at: usize,
        mapped: Mapped,
        part: Payload,
    ) {
        let most = most_mappings(&self.config, self.subflows.live.len()).max(MOST_PARTS);
        let subflow = &mut self.subflows[at];
        let unverified = &mut subflow.unverified;
        if unverified.start != mapped.position {
            *unverified = Unverified { start: mapped.position, parts: Vec::new() };
        }
        unverified.gather(part);
        if subflow.read < mapped.end() {
            if unverified.parts.len() > most {
                self.reset_subflow(now, at, ResetReason::Resources);
            }
            return;
        }
        let parts = std::mem::take(&mut subflow.unverified).parts;
        let dsn = self.receiving.first + mapped.data;
        let ssn = Ssn::new((mapped.position as u32).wrapping_add(1));
        let len = (mapped.len + u64::from(mapped.data_fin)) as u16;
        let expected = dss_checksum(dsn, ssn, len, sum_of(octets, &parts));
        if mapped.checksum != Some(expected) {
            return self.checksum_failed(now, at, dsn);
        }
        let mut data = mapped.data;
        for part in parts {
            self.reassemble(now, data, part);
            data = data.wrapping_add(u64::from(part.len));
        }
    }

    /// RFC 8684 §3.7: with other subflows, this one is reset with MP_FAIL; the only one goes on, discarding
    /// what comes until the peer answers MP_FAIL with an infinite mapping.
    fn checksum_failed(&mut self, now: Instant, at: usize, dsn: Dsn) {
        self.stats.checksum_failures += 1;
        self.receiving.forget_fin();
        let id = self.subflows[at].id;
        self.emit(Event::ChecksumFailed(id));
        let others = self.subflows.has_others(at);
        let subflow = &mut self.subflows[at];
        if others {
            subflow.rare.clear();
            subflow.rare.push_back(MptcpOption::Fail(dsn));
            self.reset_subflow(now, at, ResetReason::Middlebox);
        } else {
            subflow.discarding = true;
            subflow.mappings.clear();
            subflow.signal(MptcpOption::Fail(dsn));
        }
    }

    /// MP_FAIL came. On the only subflow, data is sent again under an infinite mapping: from the first octet that
    /// is not DATA_ACKed, as others may be missing below the one that the peer names.
    ///
    /// Checksums must have been negotiated (§3.7), and it must name what was sent.
    pub(super) fn on_fail(&mut self, now: Instant, at: usize, dsn: Dsn) {
        let sent = self.sending.queue.data(dsn) <= self.sending.queue.next();
        if !self.agreement.checksum || !sent || self.subflows[at].infinite_out.is_some() {
            return;
        }
        if self.subflows.has_others(at) {
            return self.reset_subflow(now, at, ResetReason::Middlebox);
        }
        let expected = self.receiving.expected();
        self.go_infinite(at);
        // The other direction follows: the peer answers with an infinite mapping of its own.
        self.subflows[at].signal(MptcpOption::Fail(expected));
    }

    /// The peer maps everything from now on (RFC 8684 §3.7): on the only subflow, after an MP_FAIL or while its stream is the
    /// connection's. It begins with the segment that carries it or before.
    #[cold]
    pub(super) fn on_infinite_mapping(
        &mut self,
        at: usize,
        segment: &Segment,
        ssn: Ssn,
        data: u64,
    ) -> Result<(), Refused> {
        let subflow = &self.subflows[at];
        if self.subflows.living().any(|other| other != at) {
            return Err(Refused::Contradiction);
        }
        let failed = subflow.discarding || subflow.infinite_out.is_some();
        let end = Ssn::from_seq(segment.seq + segment.payload.len, subflow.tcp.irs());
        let position =
            subflow.position_in(ssn).filter(|&at| subflow.position_in(end).is_some_and(|end| at <= end));
        let Some(position) = position.filter(|_| failed || at == 0 && self.is_one_stream()) else {
            return Ok(());
        };
        if subflow.infinite_in.is_some_and(|known| known.announced && known.position == position) {
            return Ok(());
        }
        // It may leave out nothing. What comes before it takes its room in the stream, unless it is discarded.
        let next = self.receiving.reassembly.next();
        let most = if position > subflow.read && !subflow.discarding {
            next + subflow.unverified_octets() + (position - subflow.read)
        } else {
            (next + position.min(subflow.read)).saturating_sub(subflow.read)
        };
        self.keep_earlier(at, position)?;
        let subflow = &mut self.subflows[at];
        subflow.infinite_in = Some(Infinite { position, data: data.min(most), announced: true });
        if subflow.infinite_out.is_none() {
            if failed {
                self.go_infinite(at);
            } else {
                // The peer has fallen back and takes our stream as it comes: nothing is sent twice.
                self.announce_plain_stream();
                self.fall_back(FallbackReason::PeerFellBack);
            }
        }
        Ok(())
    }

    /// Another infinite mapping will begin at `position`. For octets before it, what the one so far says still holds.
    fn keep_earlier(&mut self, at: usize, position: u64) -> Result<(), Refused> {
        let (config, live) = (&self.config, self.subflows.live.len());
        let subflow = &mut self.subflows[at];
        let Some(earlier) = subflow.infinite_in.filter(|_| !subflow.discarding) else { return Ok(()) };
        let start = earlier.position.max(subflow.read);
        if start >= position {
            return Ok(());
        }
        let data = earlier.data + (start - earlier.position);
        let mapped = Mapped { position: start, data, len: position - start, ..Mapped::default() };
        subflow.mappings.cut(start);
        subflow.mappings.insert(mapped, subflow.read, || most_mappings(config, live))
    }

    /// Our data gets an infinite mapping, and the connection is TCP from now on.
    fn go_infinite(&mut self, at: usize) {
        let data = self.sending.queue.una();
        self.sending.queue.rewind(data);
        self.sending.split = true;
        let subflow = &mut self.subflows[at];
        subflow.infinite_out = Some(Infinite { position: subflow.pushed, data, announced: true });
        subflow.pointer = data;
        subflow.data_fin_due = false;
        self.plain = at as u32;
        self.abort_others();
        if self.mode != Mode::Tcp {
            self.mode = Mode::Tcp;
            let ours = self.stats.checksum_failures > 0;
            let reason = if ours { FallbackReason::ChecksumFailed } else { FallbackReason::PeerFellBack };
            self.emit(Event::FellBack(reason));
        }
        self.planner.due.request_schedule();
    }

    /// The end of a connection that has fallen back is that of its one subflow.
    pub(super) fn plain_end(&self, reason: SubflowCloseReason) -> bool {
        self.mode == Mode::Tcp && reason == SubflowCloseReason::Finished
    }
}

/// The sum over octets in parts; an odd part shifts those that follow by one octet.
fn sum_of(octets: &impl Octets, parts: &[Payload]) -> Sum {
    let mut total = Sum::default();
    let mut odd = false;
    for part in parts {
        let sum = octets.sum(*part);
        total = total.add(if odd { sum.swapped() } else { sum });
        odd ^= part.len % 2 == 1;
    }
    total
}

#[cfg(test)]
mod tests {
    use super::*;
    use ropewalk_wire::{Generated, stream_sum};

    /// RFC 1071 §2 (B): octets sum up in pairs, wherever a part ends.
    #[test]
    fn the_sum_over_parts_of_any_length_is_that_over_the_whole() {
        for lengths in [vec![1, 2, 1, 4], vec![3, 3, 2, 5, 1, 1], vec![2, 2, 3, 6], vec![7]] {
            let mut parts = Vec::new();
            let mut offset = 0;
            for len in lengths {
                parts.push(Payload { offset, len });
                offset += u64::from(len);
            }
            let whole = stream_sum(Payload { offset: 0, len: offset as u32 });
            let checksum = |sum| dss_checksum(Dsn::new(1), Ssn::new(1), 1, sum);
            assert_eq!(checksum(sum_of(&Generated, &parts)), checksum(whole), "{parts:?}");
        }
    }
}
