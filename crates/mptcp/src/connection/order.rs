//! Subflows that acknowledge in the order of the connection's data. This is a defect of some simulators.
//! [`crate::Config::acks_wait_for_data_order`] switches it on, to show its effect on their results.

use super::{Connection, Mode};
use crate::id::SubflowId;
use ropewalk_units::Instant;
use ropewalk_wire::{Octets, Segment};

/// Segments that arrived before their turn, so that their subflows have not heard of them yet.
#[derive(Clone, Debug, Default)]
pub(super) struct Held(Vec<Waiting>);

#[derive(Clone, Debug)]
struct Waiting {
    subflow: SubflowId,
    /// Place of its first octet in the connection's data.
    data: u64,
    segment: Segment,
}

impl Connection {
    /// Takes a segment, or keeps it until the data before its own have come by whatever subflow.
    #[cold]
    pub(super) fn handle_in_data_order(
        &mut self,
        octets: &impl Octets,
        now: Instant,
        subflow: SubflowId,
        segment: &Segment,
    ) {
        if let Some(data) = self.data_ahead(subflow, segment) {
            return self.receiving.held.0.push(Waiting { subflow, data, segment: segment.clone() });
        }
        // What is missing may come behind what waits for it, reinjected on the same subflow: then nothing waits any more.
        if segment.payload.len > 0 {
            self.release(octets, now, |held| held.subflow == subflow);
        }
        self.process_segment(octets, now, subflow, segment);
        while self.release_next(octets, now) {}
    }

    fn release_next(&mut self, octets: &impl Octets, now: Instant) -> bool {
        let next = self.receiving.reassembly.next();
        self.release(octets, now, |held| held.data <= next)
    }

    /// Hands on the segments that `may_go`, in their order; was there one?
    fn release(&mut self, octets: &impl Octets, now: Instant, may_go: impl Fn(&Waiting) -> bool) -> bool {
        let (going, staying) = std::mem::take(&mut self.receiving.held.0).into_iter().partition(may_go);
        self.receiving.held.0 = staying;
        let going: Vec<Waiting> = going;
        for held in &going {
            self.process_segment(octets, now, held.subflow, &held.segment);
        }
        !going.is_empty()
    }

    /// The place of a segment's data, if they are next on their subflow but not in the connection. What comes
    /// after a hole of its own subflow does not wait: the duplicate acknowledgement for it goes out.
    fn data_ahead(&self, subflow: SubflowId, segment: &Segment) -> Option<u64> {
        let flow = self.subflow(subflow)?;
        if self.mode != Mode::Multipath || segment.payload.len == 0 {
            return None;
        }
        let mapping = segment.options.mptcp.dss.as_ref()?.mapping()?;
        let last = self.receiving.held.0.iter().rfind(|held| held.subflow == subflow);
        let next = last.map_or(flow.tcp.rcv_nxt(), |held| held.segment.end());
        // RFC 8684 §3.3.1: subflow sequence numbers count from the initial one.
        let within = segment.seq.get().wrapping_sub(flow.tcp.irs().get()).wrapping_sub(mapping.ssn.get());
        let data = mapping.dsn.since(self.receiving.first).wrapping_add(u64::from(within));
        // Whatever the numbers: no more than the window holds waits.
        let ahead = data > self.receiving.reassembly.next() && data < self.receiving.window.edge();
        (segment.seq == next && ahead).then_some(data)
    }
}
