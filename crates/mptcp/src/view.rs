//! What the decisions (scheduler, coupled congestion control) see of the subflows and of the send queue.

use crate::id::SubflowId;
use ropewalk_units::{Duration, Rate};

/// A snapshot of one subflow. Sizes in octets; counters run from the subflow's start.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct SubflowView {
    /// Its place in the connection, in the form of an identifier: places are few, and used again, so that what is
    /// remembered by place is bounded.
    pub(crate) id: SubflowId,
    /// Index of its path in the scenario's list (beyond the list: an announced address).
    pub(crate) path_index: u32,
    /// B = 1 at either end.
    pub(crate) backup: bool,
    /// May carry new data: fully established (RFC 8684 §3.2), not closing, not stale.
    pub(crate) usable: bool,
    /// Takes part in coupled congestion control: established, and the scheduler counts it
    /// ([`crate::scheduler::Scheduler::participates`]).
    pub(crate) coupled: bool,
    /// Congestion window.
    pub(crate) cwnd: u32,
    /// Slow start threshold.
    pub(crate) ssthresh: u32,
    /// Sent and not cumulatively acknowledged.
    pub(crate) flight: u32,
    /// What counts against `cwnd` (RFC 6675 pipe).
    pub(crate) pipe: u32,
    /// What `cwnd` lets out beyond `pipe` and beyond `unsent`.
    pub(crate) cwnd_space: u32,
    /// Handed to the subflow, not transmitted yet.
    pub(crate) unsent: u64,
    /// Free octets of the subflow's send buffer.
    pub(crate) send_space: u64,
    /// For schedulers that look at rates: the memory that its send queue takes, and what it may take, as Linux counts it.
    pub(crate) memory_queued: u64,
    pub(crate) memory_limit: u64,
    /// Redundant scheduling only: octets of the connection's queue at or after this subflow's own pointer (never
    /// before DATA_UNA) that the connection-level window lets out and this subflow has not carried.
    pub(crate) own_backlog: u64,
    /// Payload of a full segment.
    pub(crate) smss: u32,
    /// Smoothed round-trip time.
    pub(crate) srtt: Option<Duration>,
    /// Its mean deviation (RFC 6298 §2.3).
    pub(crate) rttvar: Duration,
    /// Least RTT sampled.
    pub(crate) min_rtt: Option<Duration>,
    /// The latest RTT sample (SRTT will do where samples are not kept).
    pub(crate) latest_rtt: Option<Duration>,
    /// cwnd < ssthresh.
    pub(crate) in_slow_start: bool,
    /// Fast recovery.
    pub(crate) in_recovery: bool,
    /// Recovery after a timeout (Linux's Loss state).
    pub(crate) in_timeout_recovery: bool,
    /// As Linux computes it.
    pub(crate) pacing_rate: Rate,
    /// Recently measured delivery rate.
    pub(crate) delivery_rate: Option<Rate>,
    /// Payload octets cumulatively acknowledged so far.
    pub(crate) bytes_acked: u64,
    /// Data segments sent so far, retransmissions included.
    pub(crate) segments_sent: u64,
    /// Retransmitted segments so far.
    pub(crate) retransmissions: u64,
    /// Loss events so far: fast recoveries and timeouts entered.
    pub(crate) loss_events: u64,
}

impl SubflowView {
    /// Nothing else than a window limits it: a whole segment, or all that it is asked to carry, fits the
    /// congestion window, and the subflow's buffer has room.
    pub(crate) fn has_room(&self, wanted: u64) -> bool {
        let least = u64::from(self.smss).min(wanted);
        self.send_space > 0
            && (u64::from(self.cwnd_space) >= least || (self.is_idle() && self.cwnd_space > 0))
    }

    /// Nothing in flight and nothing waiting.
    pub(crate) fn is_idle(&self) -> bool {
        self.pipe == 0 && self.unsent == 0
    }

    /// Handed over and not acknowledged: in flight or waiting.
    pub(crate) fn queued(&self) -> u64 {
        u64::from(self.flight) + self.unsent
    }

    /// SRTT in seconds; one second (RFC 6298 §2.1's first RTO) before the first sample.
    pub(crate) fn rtt_seconds(&self) -> f64 {
        self.srtt.map_or(1.0, |srtt| srtt.as_nanos().max(1) as f64 * 1e-9)
    }

    /// 1 / SRTT in 1/s: one division serves a rule's every w/r and w/r².
    pub(crate) fn per_rtt(&self) -> f64 {
        self.srtt.map_or(1.0, |srtt| 1e9 / srtt.as_nanos().max(1) as f64)
    }

    /// The window in segments, 1 at least.
    pub(crate) fn window_segments(&self) -> f64 {
        (f64::from(self.cwnd) / f64::from(self.smss.max(1))).max(1.0)
    }
}

/// A snapshot of the connection's send queue. Sizes in octets.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(crate) struct QueueView {
    /// Written by the application and given to no subflow yet.
    pub(crate) unsent: u64,
    /// What the connection-level window lets out beyond what was given to subflows.
    pub(crate) window_left: u64,
    /// Given to subflows and not DATA_ACKed. With `window_left` it makes the peer's whole window.
    pub(crate) in_flight: u64,
    /// DATA_ACKed since the connection began.
    pub(crate) data_acked: u64,
    /// Opportunistic retransmissions so far.
    pub(crate) opportunistic_retransmissions: u64,
}

#[cfg(test)]
pub(crate) mod samples {
    //! Views for tests.
    use super::{QueueView, SubflowView};
    use crate::id::SubflowId;
    use ropewalk_units::{Duration, Rate};

    /// An established subflow in congestion avoidance with `cwnd` segments of 1000 octets, nothing in flight.
    pub(crate) fn subflow(id: u32, cwnd: u32, rtt: Duration) -> SubflowView {
        let rate = (f64::from(cwnd) * 8000.0 / rtt.as_secs_f64()) as u64;
        SubflowView {
            id: SubflowId(id),
            path_index: id,
            backup: false,
            usable: true,
            coupled: true,
            cwnd: cwnd * 1000,
            ssthresh: cwnd * 1000 / 2,
            flight: 0,
            pipe: 0,
            cwnd_space: cwnd * 1000,
            unsent: 0,
            send_space: 1_000_000,
            memory_queued: 0,
            memory_limit: 2 * u64::from(cwnd.max(10)) * 1000,
            own_backlog: 0,
            smss: 1000,
            srtt: Some(rtt),
            rttvar: rtt / 8,
            min_rtt: Some(rtt),
            latest_rtt: Some(rtt),
            in_slow_start: false,
            in_recovery: false,
            in_timeout_recovery: false,
            pacing_rate: Rate::from_bits_per_sec(rate * 6 / 5),
            delivery_rate: Some(Rate::from_bits_per_sec(rate)),
            bytes_acked: 0,
            segments_sent: 0,
            retransmissions: 0,
            loss_events: 0,
        }
    }

    /// `octets` handed to `view` and transmitted.
    pub(crate) fn carry(view: &mut SubflowView, octets: u32) {
        view.flight += octets;
        view.memory_queued += u64::from(octets);
        view.pipe += octets;
        view.cwnd_space = view.cwnd.saturating_sub(view.pipe);
        view.send_space = view.send_space.saturating_sub(u64::from(octets));
        view.segments_sent += u64::from(octets.div_ceil(view.smss));
    }

    /// All in flight is acknowledged.
    pub(crate) fn acknowledge(view: &mut SubflowView) {
        view.bytes_acked += u64::from(view.flight);
        view.send_space += u64::from(view.flight);
        view.memory_queued = 0;
        view.flight = 0;
        view.pipe = 0;
        view.cwnd_space = view.cwnd;
    }

    /// An ample queue behind an ample window.
    pub(crate) fn queue() -> QueueView {
        QueueView { unsent: 1_000_000, window_left: 1_000_000, ..QueueView::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::samples::subflow;
    use super::*;

    /// A pacer may hold it back whose window is open.
    #[test]
    fn while_a_subflow_is_idle_any_octet_is_room_and_none_is_no_room() {
        let mut view = subflow(0, 10, Duration::from_millis(10));
        view.cwnd_space = 1;
        assert!(view.has_room(2000));
        view.cwnd_space = 0;
        assert!(!view.has_room(2000));
        view.pipe = 1000;
        view.cwnd_space = 999;
        assert!(!view.has_room(2000), "no whole segment, and it is not idle");
    }
}
