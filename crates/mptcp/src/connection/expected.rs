//! Header prediction for Multipath TCP: what the subflow's TCP expects ([`tcp::Connection::expects`]), and of options only
//! a DSS that goes on where the last one ended.
//!
//! For such a segment, few stages of [`super::receive`] do anything. This file does only that.

use super::{Connection, Mode};
use crate::id::SubflowId;
use crate::mapping::Mapped;
use crate::subflow::Phase;
use ropewalk_tcp::{Blame, SubflowAcks};
use ropewalk_units::{Instant, Ssn};
use ropewalk_wire::{DataAck, Generated, Segment};

/// What the DSS of an expected segment says.
#[derive(Clone, Copy)]
struct Expected {
    /// With data only: where all of it belongs.
    mapped: Option<Mapped>,
    data_ack: DataAck,
}

impl Connection {
    /// Takes the segment if it is an expected one, as [`Self::process_segment`] would. Returns whether it was.
    #[inline(never)]
    pub(super) fn process_expected(&mut self, now: Instant, subflow: SubflowId, segment: &Segment) -> bool {
        let Some(at) = self.subflows.place_of(subflow) else { return false };
        let Some(expected) = self.expected(at, segment) else { return false };
        let subflow = &mut self.subflows[at];
        subflow.upkeep.on_numbers();
        subflow.silence.on_heard(now);
        match expected.mapped {
            Some(mapped) => self.process_expected_data(now, at, segment, mapped, expected.data_ack),
            None => {
                self.on_data_ack(now, at, segment, expected.data_ack);
                self.with_coupling(at, |tcp| tcp.process_expected(now, segment));
            }
        }
        self.after_input(now, at);
        self.poll_after(at, segment);
        true
    }

    /// Is it a segment that header prediction takes? For tests, and the next one too.
    #[doc(hidden)]
    pub fn expects(&self, subflow: SubflowId, segment: &Segment) -> bool {
        let own = self.config.tcp.quirks.subflow_acks == SubflowAcks::Own;
        own && self.subflows.place_of(subflow).is_some_and(|at| self.expected(at, segment).is_some())
    }

    /// Takes a segment without header prediction.
    #[doc(hidden)]
    pub fn handle_by_stages(&mut self, now: Instant, subflow: SubflowId, segment: &Segment) {
        self.process_segment(&Generated, now, subflow, segment);
    }

    /// What an expected segment says; `None` for any other. All of this must hold:
    /// - The subflow's TCP expects it, and nothing that came before waits there to be read.
    /// - The handshake is proven, and checksums are not agreed upon.
    /// - The subflow is open and its address is not in doubt. It has had no failed checksum and no infinite mapping.
    /// - The only option of Multipath TCP is a DSS with a DATA_ACK and without DATA_FIN.
    /// - With data: its mapping is of the segment's octets, begins within the window, and no other mapping waits.
    /// - Without: there is no mapping.
    #[inline(always)]
    fn expected(&self, at: usize, segment: &Segment) -> Option<Expected> {
        let (subflow, options) = (&self.subflows[at], &segment.options.mptcp);
        let dss = options.dss.as_ref()?;
        let calm = self.mode == Mode::Multipath
            && self.agreement.confirmed
            && !self.agreement.checksum
            && self.config.tcp.quirks.duplicates_blame == Blame::Own
            && subflow.phase == Phase::Open
            && !subflow.doubted
            && !subflow.discarding
            && subflow.infinite_in.is_none()
            && subflow.tcp.readable() == 0;
        if !calm || options.has_rare() || dss.data_fin() || !subflow.tcp.expects(segment) {
            return None;
        }
        let data_ack = dss.data_ack()?;
        let Some(mapping) = dss.mapping() else {
            return (segment.payload.len == 0).then_some(Expected { mapped: None, data_ack });
        };
        let data = mapping.dsn.since(self.receiving.first);
        let fits = segment.payload.len > 0
            && mapping.checksum.is_none()
            && u32::from(mapping.len) == segment.payload.len
            && mapping.ssn == Ssn::from_seq(segment.seq, subflow.tcp.irs())
            && (data.wrapping_sub(self.receiving.window.edge()) as i64) < 0
            && subflow.mappings.have_passed(subflow.read);
        let mapped = Mapped {
            position: subflow.read,
            data,
            len: u64::from(mapping.len),
            checksum: None,
            data_fin: false,
        };
        fits.then_some(Expected { mapped: Some(mapped), data_ack })
    }

    /// The data goes through the subflow at once, and to where it belongs.
    #[inline(always)]
    fn process_expected_data(
        &mut self,
        now: Instant,
        at: usize,
        segment: &Segment,
        mapped: Mapped,
        data_ack: DataAck,
    ) {
        self.receiving.mapped = true;
        self.on_data_ack_beside_data(now, at, segment, data_ack);
        let subflow = &mut self.subflows[at];
        subflow.mappings.pass(mapped);
        subflow.read += mapped.len;
        subflow.tcp.pass_expected(now, segment);
        self.reassemble(now, mapped.data, segment.payload);
        self.after_reading(now);
    }

    /// Nearly always a DATA_ACK beside data says what the last one said: this end sends nothing.
    #[inline(always)]
    fn on_data_ack_beside_data(&mut self, now: Instant, at: usize, segment: &Segment, data_ack: DataAck) {
        let una = self.sending.queue.dsn(self.sending.queue.una());
        let repeats = match data_ack {
            DataAck::Long(dsn) => dsn == una,
            DataAck::Short(low) => low == una.get() as u32,
        };
        let window = u64::from(segment.window) << self.subflows[at].tcp.peer_window_scale();
        if repeats && !self.sending.would_open_window(window) {
            return self.note_confirmation(at, segment);
        }
        self.on_data_ack(now, at, segment, data_ack);
    }
}
