//! Coupled congestion control: pure rules that see all subflows and lay down the increase and the decrease of
//! one of them.
//!
//! How a connection drives it: before a subflow handles an ACK or a timeout, it passes [`CoupledControl::coupling`]
//! of the current views to `tcp::Connection::set_coupling`. Afterwards it calls [`CoupledControl::on_acked`] with the
//! octets newly acknowledged, and [`CoupledControl::on_loss`] if `loss_events` rose. A [`WindowUpdate`] from
//! `on_acked` goes into `set_cwnd`. Every function takes the views of *all* subflows and the position of the one it
//! is about. A subflow whose `coupled` is false does not count in the others' sums, and is not coupled itself.

mod balia;
mod lia;
mod olia;
mod paper;
mod wvegas;

#[cfg(test)]
mod tests;

use crate::config::Coupling as Algorithm;
use crate::view::SubflowView;
use ropewalk_tcp::Coupling;

/// cwnd and ssthresh that an algorithm sets itself (wVegas), in octets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct WindowUpdate {
    /// Congestion window.
    pub(crate) cwnd: u32,
    /// Slow start threshold.
    pub(crate) ssthresh: u32,
}

/// One algorithm and what it remembers of the subflows.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct CoupledControl {
    algorithm: Algorithm,
    /// The decrease starts from cwnd, not from FlightSize (`tcp::Config::ssthresh_from_cwnd`).
    from_cwnd: bool,
    olia: Vec<olia::Intervals>,
    wvegas: Vec<wvegas::Flow>,
}

impl CoupledControl {
    /// For `algorithm`; `from_cwnd` as [`ropewalk_tcp::Config::ssthresh_from_cwnd`].
    pub(crate) fn new(algorithm: Algorithm, from_cwnd: bool) -> Self {
        Self { algorithm, from_cwnd, olia: Vec::new(), wvegas: Vec::new() }
    }

    /// Whether the subflows must run with `CongestionControl::Coupled` and be told their coupling.
    pub(crate) fn is_coupled(&self) -> bool {
        !matches!(self.algorithm, Algorithm::Uncoupled | Algorithm::Cubic | Algorithm::Bbr)
    }

    /// Increase and decrease of `flows[index]` now.
    #[inline(always)]
    pub(crate) fn coupling(&self, flows: &[SubflowView], index: usize) -> Coupling {
        let flow = &flows[index];
        let base = self.decrease_base(flow);
        if !flow.coupled {
            return reno(flow, base);
        }
        match self.algorithm {
            Algorithm::Uncoupled | Algorithm::Cubic | Algorithm::Bbr => reno(flow, base),
            Algorithm::FullyCoupled => paper::fully_coupled(flows, index),
            Algorithm::LinkedIncreases => paper::linked_increases(flows, base),
            Algorithm::RttCompensator => paper::rtt_compensator(flows, index, base),
            Algorithm::Lia => lia::coupling(flows, index, base),
            Algorithm::Olia => olia::coupling(&self.olia, flows, index, base),
            Algorithm::Balia => balia::coupling(flows, index, base),
            Algorithm::Wvegas => wvegas::coupling(base),
        }
    }

    /// `flows[index]` has had `octets` acknowledged; the views are those after the ACK.
    #[inline(always)]
    pub(crate) fn on_acked(
        &mut self,
        flows: &[SubflowView],
        index: usize,
        octets: u32,
    ) -> Option<WindowUpdate> {
        let id = flows[index].id.0 as usize;
        match self.algorithm {
            Algorithm::Olia => {
                at(&mut self.olia, id).on_acked(octets);
                None
            }
            Algorithm::Wvegas => wvegas::on_acked(&mut self.wvegas, flows, index),
            _ => None,
        }
    }

    /// `flows[index]` has entered fast recovery or had a timeout.
    pub(crate) fn on_loss(&mut self, flows: &[SubflowView], index: usize) {
        let view = &flows[index];
        let id = view.id.0 as usize;
        match self.algorithm {
            Algorithm::Olia => at(&mut self.olia, id).on_loss(),
            Algorithm::Wvegas => at(&mut self.wvegas, id).on_loss(view.in_timeout_recovery),
            _ => {}
        }
    }

    /// A place in the connection has another subflow.
    #[cold]
    pub(crate) fn forget(&mut self, place: usize) {
        if let Some(intervals) = self.olia.get_mut(place) {
            *intervals = olia::Intervals::default();
        }
        if let Some(flow) = self.wvegas.get_mut(place) {
            *flow = wvegas::Flow::default();
        }
    }

    /// What the decrease is a share of, in segments.
    #[inline]
    fn decrease_base(&self, flow: &SubflowView) -> f64 {
        // RFC 5681 §3.1 eq. (4): FlightSize; the papers and Linux: cwnd.
        let octets = if self.from_cwnd { flow.cwnd } else { flow.flight };
        f64::from(octets) / f64::from(flow.smss.max(1))
    }
}

/// The entry of subflow `id`, made if need be.
fn at<T: Clone + Default>(entries: &mut Vec<T>, id: usize) -> &mut T {
    if id >= entries.len() {
        entries.resize(id + 1, T::default());
    }
    &mut entries[id]
}

/// RFC 5681: one segment per window, half of `base`.
#[inline]
fn reno(flow: &SubflowView, base: f64) -> Coupling {
    Coupling { increase: 1.0 / flow.window_segments(), ssthresh_after_loss: halved(base) }
}

/// RFC 5681 §3.1 eq. (4): half, two segments at least.
#[inline]
fn halved(base: f64) -> f64 {
    (base / 2.0).max(2.0)
}

/// The flows that count.
#[inline]
fn coupled(flows: &[SubflowView]) -> impl Iterator<Item = &SubflowView> + Clone {
    flows.iter().filter(|flow| flow.coupled)
}
