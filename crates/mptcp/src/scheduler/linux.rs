//! The rule of upstream Linux (`mptcp_subflow_get_send`): the subflow that will have drained its queue first,
//! in bursts.
//!
//! Approximations: a queue is counted in payload octets, where the kernel counts the memory of its buffers; only
//! ratios matter. The kernel tunes a subflow's send memory to two congestion windows and never shrinks it. Here it is
//! twice the largest window seen, and at most the subflow's configured buffer.

use super::rule::{Decision, Needs, SchedulingRule, candidates};
use crate::config::Config;
use crate::id::SubflowId;
use crate::view::{QueueView, SubflowView};
use ropewalk_units::Instant;

/// Octets of one burst (Linux `MPTCP_SEND_BURST_SIZE`: 64 kB less the largest IP and TCP headers).
const BURST: u64 = 65_428;
/// Windows of send memory (Linux `tcp_sndbuf_expand`).
const MEMORY_WINDOWS: u64 = 2;
/// Least window counted for the memory, in segments (Linux `TCP_INIT_CWND`).
const LEAST_WINDOW: u64 = 10;

/// What the rule remembers of one subflow.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
struct Pace {
    /// Weighted mean of the pacing rates at its bursts, octets per second; 0 before the first.
    average: f64,
    /// Largest congestion window seen, octets.
    largest_window: u64,
}

/// The current burst.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Linux {
    paces: Vec<Pace>,
    current: Option<SubflowId>,
    burst_left: u64,
}

impl SchedulingRule for Linux {
    const NEEDS: Needs = Needs::Rates;

    fn of(_config: &Config) -> Self {
        Self::default()
    }

    /// The current burst's subflow while it lasts; else the least linger time.
    #[inline]
    fn pick(&mut self, _now: Instant, subflows: &[SubflowView], queue: &QueueView) -> Decision {
        self.note_windows(subflows);
        if self.burst_left > 0
            && let Some(current) = subflows.iter().find(|s| Some(s.id) == self.current)
            && current.usable
            && self.memory_left(current) > 0
        {
            return self.give(current, queue, "linux: burst goes on");
        }
        self.burst_left = 0;
        let Some(chosen) = self.least_linger(subflows) else {
            return Decision::wait("linux: no active subflow");
        };
        // The kernel does not look for a second choice: with the quickest full, it waits.
        if self.memory_left(chosen) == 0 {
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
        if let Some(pace) = self.paces.get_mut(place.0 as usize) {
            *pace = Pace::default();
        }
        if self.current == Some(place) {
            self.burst_left = 0;
        }
    }

    fn note_windows(&mut self, subflows: &[SubflowView]) {
        for view in subflows {
            let index = view.id.0 as usize;
            if index >= self.paces.len() {
                self.paces.resize(index + 1, Pace::default());
            }
            let window = u64::from(view.cwnd).max(LEAST_WINDOW * u64::from(view.smss));
            let pace = &mut self.paces[index];
            pace.largest_window = pace.largest_window.max(window);
            if pace.average == 0.0 {
                pace.average = octets_per_second(view);
            }
        }
    }

    fn memory_left(&self, view: &SubflowView) -> u64 {
        let memory = MEMORY_WINDOWS * self.paces[view.id.0 as usize].largest_window;
        memory.saturating_sub(view.queued()).min(view.send_space)
    }

    /// Least queued / average pacing rate among the active subflows; among backups if there is no other.
    fn least_linger<'a>(&self, subflows: &'a [SubflowView]) -> Option<&'a SubflowView> {
        let mut best: Option<(&SubflowView, f64)> = None;
        for view in candidates(subflows) {
            let pace = self.paces[view.id.0 as usize].average;
            if pace == 0.0 {
                continue;
            }
            let linger = view.queued() as f64 / pace;
            if best.is_none_or(|(_, least)| linger < least) {
                best = Some((view, linger));
            }
        }
        best.map(|(view, _)| view)
    }

    fn start_burst(&mut self, view: &SubflowView, queue: &QueueView) {
        let burst = BURST.min(queue.window_left);
        let queued = view.queued() as f64;
        let pace = &mut self.paces[view.id.0 as usize];
        pace.average =
            (pace.average * queued + octets_per_second(view) * burst as f64) / (queued + burst as f64);
        self.current = Some(view.id);
        self.burst_left = burst;
    }

    fn give(&mut self, view: &SubflowView, queue: &QueueView, reason: &'static str) -> Decision {
        // A segment's worth may overrun the memory, as a buffer may in the kernel.
        let room = self.memory_left(view).max(u64::from(view.smss).min(view.send_space));
        let octets = self.burst_left.min(room).min(queue.unsent).min(queue.window_left);
        self.burst_left -= octets;
        Decision::Send { subflow: view.id, octets, reason }
    }
}

fn octets_per_second(view: &SubflowView) -> f64 {
    view.pacing_rate.bits_per_sec() as f64 / 8.0
}
