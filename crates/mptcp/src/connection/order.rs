//! Subflows that acknowledge in the order of the connection's data. This is a defect of some simulators.
//! [`ropewalk_tcp::Quirks::subflow_acks`] switches it on, to show its effect on their results.

use crate::id::SubflowId;
use crate::subflow::Subflow;
use ropewalk_units::{Dsn, Seq};
use ropewalk_wire::Segment;

/// Segments that arrived before their turn: their subflows have not processed them.
#[derive(Clone, Debug, Default)]
pub(super) struct Held(Vec<Waiting>);

/// One of them.
#[derive(Clone, Debug)]
pub(super) struct Waiting {
    pub(super) subflow: SubflowId,
    /// Place of its first octet in the connection's data.
    data: u64,
    pub(super) segment: Segment,
}

/// How far the connection's data have arrived.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// DSN of the peer's first octet.
    pub(super) first: Dsn,
    /// The octet that is expected next.
    pub(super) next: u64,
    /// The first octet beyond the window.
    pub(super) edge: u64,
}

impl Held {
    /// Keeps a segment whose data are next on their subflow but not in the connection. Was it one?
    pub(super) fn hold(&mut self, flow: &Subflow, segment: &Segment, place: Place) -> bool {
        let Some(data) = self.data_ahead(flow, segment, place) else { return false };
        self.0.push(Waiting { subflow: flow.id, data, segment: segment.clone() });
        true
    }

    /// All that waits on one subflow, in its order.
    pub(super) fn release_of(&mut self, subflow: SubflowId) -> Vec<Waiting> {
        self.release(|waiting| waiting.subflow == subflow)
    }

    /// What does not wait for other data, since `next` is expected.
    pub(super) fn release_before(&mut self, next: u64) -> Vec<Waiting> {
        self.release(|waiting| waiting.data <= next)
    }

    /// Where what waits on one subflow ends.
    pub(super) fn end_of(&self, subflow: SubflowId) -> Option<Seq> {
        self.0.iter().rfind(|held| held.subflow == subflow).map(|held| held.segment.end())
    }

    fn release(&mut self, may_go: impl Fn(&Waiting) -> bool) -> Vec<Waiting> {
        self.0.extract_if(.., |waiting| may_go(waiting)).collect()
    }

    /// The place of a segment's data, if they are next on their subflow but not in the connection. What comes
    /// after a hole of its own subflow does not wait: the duplicate acknowledgement for it goes out.
    fn data_ahead(&self, flow: &Subflow, segment: &Segment, place: Place) -> Option<u64> {
        if segment.payload.len == 0 {
            return None;
        }
        let mapping = segment.options.mptcp.dss.as_ref()?.mapping()?;
        let last = self.0.iter().rfind(|held| held.subflow == flow.id);
        let next = last.map_or(flow.tcp.rcv_nxt(), |held| held.segment.end());
        // RFC 8684 §3.3.1: subflow sequence numbers count from the initial one.
        let within = segment.seq.get().wrapping_sub(flow.tcp.irs().get()).wrapping_sub(mapping.ssn.get());
        let data = mapping.dsn.since(place.first).wrapping_add(u64::from(within));
        // Whatever the numbers: no more than the window holds waits.
        let ahead = data > place.next && data < place.edge;
        (segment.seq == next && ahead).then_some(data)
    }
}
