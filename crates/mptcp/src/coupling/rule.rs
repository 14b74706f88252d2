//! What a coupling is: its decisions, and what it needs for them.

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

/// What the TCP of every subflow runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Control {
    /// Increase and decrease come from the rule.
    Coupled,
    NewReno,
    Cubic,
    Bbr,
}

impl Control {
    /// Windows that a subflow's send buffer holds (Linux `tcp_sndbuf_expand`).
    pub(crate) const fn send_windows(self) -> u64 {
        match self {
            Self::Bbr => 3,
            Self::Coupled | Self::NewReno | Self::Cubic => 2,
        }
    }
}

/// A rule, with what it remembers of the subflows. The views are those of *all* subflows, and `index` is the position of
/// the one that is meant.
pub(crate) trait CouplingRule: Default {
    /// What the subflows run.
    const CONTROL: Control = Control::Coupled;
    /// Does [`Self::on_acked`] look at more of the views than at windows? Then all of them are brought up to date.
    const LOOKS_AFTER_ACK: bool = false;
    /// Does the window of one subflow depend on the others? The goodput guard's model asks.
    const DEPENDS_ON_OTHERS: bool = true;

    /// Increase and decrease of `flows[index]` now. `base` segments are what the decrease is a share of.
    fn coupling(&self, flows: &[SubflowView], index: usize, base: f64) -> Coupling;

    /// `flows[index]` has had `octets` acknowledged; the views are those after the ACK.
    fn on_acked(&mut self, _flows: &[SubflowView], _index: usize, _octets: u32) -> Option<WindowUpdate> {
        None
    }

    /// `flows[index]` has entered fast recovery or had a timeout.
    fn on_loss(&mut self, _flows: &[SubflowView], _index: usize) {}

    /// Another subflow has this place from now on.
    fn forget(&mut self, _place: usize) {}
}

/// What is remembered of each subflow, by place.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct PerPlace<T>(Vec<T>);

impl<T> Default for PerPlace<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: Clone + Default> PerPlace<T> {
    /// The entry of a place, made if need be.
    pub(super) fn at(&mut self, place: usize) -> &mut T {
        if place >= self.0.len() {
            self.0.resize(place + 1, T::default());
        }
        &mut self.0[place]
    }

    /// The entry of a place, if there is one.
    pub(super) fn get(&self, place: usize) -> Option<&T> {
        self.0.get(place)
    }

    /// The place has another subflow.
    pub(super) fn forget(&mut self, place: usize) {
        if let Some(entry) = self.0.get_mut(place) {
            *entry = T::default();
        }
    }
}

/// RFC 5681: one segment per window, half of `base`.
pub(super) fn reno(flow: &SubflowView, base: f64) -> Coupling {
    Coupling { increase: 1.0 / flow.window_segments(), ssthresh_after_loss: halved(base) }
}

/// RFC 5681 §3.1 eq. (4): half, two segments at least.
pub(super) fn halved(base: f64) -> f64 {
    (base / 2.0).max(2.0)
}

/// The flows that count.
pub(super) fn coupled(flows: &[SubflowView]) -> impl Iterator<Item = &SubflowView> + Clone {
    flows.iter().filter(|flow| flow.coupled)
}
