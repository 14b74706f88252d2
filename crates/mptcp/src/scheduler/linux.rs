//! The rule of upstream Linux (`mptcp_subflow_get_send`): the subflow that will have drained its queue first,
//! in bursts.
//!
//! A burst ends where a piece of the stream ends, as the kernel keeps it: a page. Only there it looks whether the subflow's
//! memory is full.

use super::rule::{Decision, Needs, SchedulingRule, candidates};
use crate::config::Config;
use crate::id::SubflowId;
use crate::memory::piece_end;
use crate::view::{QueueView, SubflowView};
use ropewalk_units::Instant;

/// Octets of one burst (Linux `MPTCP_SEND_BURST_SIZE`: 64 kB less the largest IP and TCP headers).
const BURST: u64 = 65_428;

/// The current burst.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Linux {
    /// By place: weighted mean of the pacing rates at the subflow's bursts, octets per second; 0 before the first.
    averages: Vec<f64>,
    current: Option<SubflowId>,
    burst_left: u64,
}

impl SchedulingRule for Linux {
    const NEEDS: Needs = Needs::Rates;
    const REINJECTS_IN_TURN: bool = true;

    fn of(_config: &Config) -> Self {
        Self::default()
    }

    /// The current burst's subflow while it lasts; else the least linger time.
    fn pick(&mut self, _now: Instant, subflows: &[SubflowView], queue: &QueueView) -> Decision {
        self.note_rates(subflows);
        if self.burst_left > 0
            && let Some(current) = subflows.iter().find(|s| Some(s.id) == self.current)
            && current.usable
            && has_memory(current)
        {
            return self.give(current, queue, "linux: burst goes on");
        }
        self.burst_left = 0;
        let Some(chosen) = self.least_linger(subflows) else {
            return Decision::wait("linux: no active subflow");
        };
        // As the kernel: if the quickest subflow is full, nothing is sent on others.
        if !has_memory(chosen) {
            return Decision::wait("linux: the quickest subflow's send memory is full");
        }
        self.start_burst(chosen, queue);
        self.give(chosen, queue, "linux: least time to drain")
    }

    fn forget(&mut self, place: SubflowId) {
        self.forget_place(place);
    }
}

impl Linux {
    /// Another subflow has this place.
    fn forget_place(&mut self, place: SubflowId) {
        if let Some(average) = self.averages.get_mut(place.0 as usize) {
            *average = 0.0;
        }
        if self.current == Some(place) {
            self.burst_left = 0;
        }
    }

    fn note_rates(&mut self, subflows: &[SubflowView]) {
        for view in subflows {
            let index = view.id.0 as usize;
            if index >= self.averages.len() {
                self.averages.resize(index + 1, 0.0);
            }
            if self.averages[index] == 0.0 {
                self.averages[index] = octets_per_second(view);
            }
        }
    }

    /// Least queued memory / average pacing rate among the active subflows; among backups if there is no other.
    fn least_linger<'a>(&self, subflows: &'a [SubflowView]) -> Option<&'a SubflowView> {
        let mut best: Option<(&SubflowView, f64)> = None;
        for view in candidates(subflows) {
            let pace = self.averages[view.id.0 as usize];
            if pace == 0.0 {
                continue;
            }
            let linger = view.memory_queued as f64 / pace;
            if best.is_none_or(|(_, least)| linger < least) {
                best = Some((view, linger));
            }
        }
        best.map(|(view, _)| view)
    }

    fn start_burst(&mut self, view: &SubflowView, queue: &QueueView) {
        let burst = BURST.min(queue.window_left);
        let queued = view.memory_queued as f64;
        let average = &mut self.averages[view.id.0 as usize];
        *average = (*average * queued + octets_per_second(view) * burst as f64) / (queued + burst as f64);
        self.current = Some(view.id);
        self.burst_left = burst;
    }

    /// The rest of a piece, whatever the burst and the memory have left. What ends before it ends the burst.
    fn give(&mut self, view: &SubflowView, queue: &QueueView, reason: &'static str) -> Decision {
        let next = queue.data_acked + queue.in_flight;
        let piece = piece_end(next) - next;
        let octets = piece.min(view.send_space).min(queue.unsent).min(queue.window_left);
        self.burst_left = if octets < piece { 0 } else { self.burst_left.saturating_sub(octets) };
        Decision::Send { subflow: view.id, octets, reason }
    }
}

/// Is the subflow's send memory not full (Linux `sk_stream_memory_free`)?
fn has_memory(view: &SubflowView) -> bool {
    view.memory_queued < view.memory_limit && view.send_space > 0
}

fn octets_per_second(view: &SubflowView) -> f64 {
    view.pacing_rate.bits_per_sec() as f64 / 8.0
}
