//! Coupled congestion control: pure rules that see all subflows and lay down the increase and the decrease of
//! one of them.
//!
//! How a connection drives it: before a subflow handles an ACK or a timeout, it passes [`CoupledControl::coupling`]
//! of the current views to `tcp::Connection::set_coupling`. Afterwards it calls [`CoupledControl::on_acked`] with the
//! octets newly acknowledged, and [`CoupledControl::on_loss`] if `loss_events` rose. A [`WindowUpdate`] from
//! `on_acked` goes into `set_cwnd`. Every function takes the views of *all* subflows and the position of the one it
//! is about. A subflow whose `coupled` is false does not count in the others' sums, and is not coupled itself.

mod alone;
mod balia;
mod lia;
mod olia;
mod paper;
mod rule;
mod wvegas;

#[cfg(test)]
mod tests;

pub(crate) use rule::{Control, WindowUpdate};

use crate::config;
use crate::view::SubflowView;
use ropewalk_tcp::Coupling;
use rule::{CouplingRule, reno};

macro_rules! rules {
    ($($(#[$doc:meta])* $name:ident = $rule:ty;)*) => {
        /// What the TCP of every subflow runs.
        pub(crate) const fn control_of(coupling: config::Coupling) -> Control {
            match coupling {
                $(config::Coupling::$name => <$rule>::CONTROL,)*
            }
        }

        /// One rule and what it remembers of the subflows.
        #[derive(Clone, PartialEq, Debug)]
        enum Rules {
            $($(#[$doc])* $name($rule),)*
        }

        impl Rules {
            fn new(coupling: config::Coupling) -> Self {
                match coupling {
                    $(config::Coupling::$name => Self::$name(<$rule>::default()),)*
                }
            }

            fn control(&self) -> Control {
                match self {
                    $(Self::$name(_) => <$rule>::CONTROL,)*
                }
            }

            fn depends_on_others(&self) -> bool {
                match self {
                    $(Self::$name(_) => <$rule>::DEPENDS_ON_OTHERS,)*
                }
            }

            fn looks_after_ack(&self) -> bool {
                match self {
                    $(Self::$name(_) => <$rule>::LOOKS_AFTER_ACK,)*
                }
            }

            #[inline(always)]
            fn coupling(&self, flows: &[SubflowView], index: usize, base: f64) -> Coupling {
                match self {
                    $(Self::$name(rule) => rule.coupling(flows, index, base),)*
                }
            }

            fn on_acked(&mut self, flows: &[SubflowView], index: usize, octets: u32) -> Option<WindowUpdate> {
                match self {
                    $(Self::$name(rule) => rule.on_acked(flows, index, octets),)*
                }
            }

            fn on_loss(&mut self, flows: &[SubflowView], index: usize) {
                match self {
                    $(Self::$name(rule) => rule.on_loss(flows, index),)*
                }
            }

            fn forget(&mut self, place: usize) {
                match self {
                    $(Self::$name(rule) => rule.forget(place),)*
                }
            }
        }
    };
}

couplings!(rules);

/// What the decrease of a window starts from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Decrease {
    /// RFC 5681 §3.1 eq. (4).
    FromFlightSize,
    /// The papers and Linux.
    FromCwnd,
}

impl Decrease {
    /// As [`ropewalk_tcp::Config::ssthresh_from_cwnd`] says.
    pub(crate) fn of(config: &ropewalk_tcp::Config) -> Self {
        if config.ssthresh_from_cwnd { Self::FromCwnd } else { Self::FromFlightSize }
    }
}

/// One algorithm at work.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct CoupledControl {
    rules: Rules,
    decrease: Decrease,
}

impl CoupledControl {
    /// For `coupling`, whose windows fall from `decrease`.
    pub(crate) fn new(coupling: config::Coupling, decrease: Decrease) -> Self {
        Self { rules: Rules::new(coupling), decrease }
    }

    /// What the TCP of every subflow runs.
    pub(crate) fn control(&self) -> Control {
        self.rules.control()
    }

    /// See [`CouplingRule::DEPENDS_ON_OTHERS`].
    pub(crate) fn depends_on_others(&self) -> bool {
        self.rules.depends_on_others()
    }

    /// Must the subflows be told their coupling?
    pub(crate) fn is_coupled(&self) -> bool {
        self.control() == Control::Coupled
    }

    /// Does [`Self::on_acked`] look at whole views, not only at windows?
    pub(crate) fn looks_after_ack(&self) -> bool {
        self.rules.looks_after_ack()
    }

    /// Increase and decrease of `flows[index]` now.
    #[inline(always)]
    pub(crate) fn coupling(&self, flows: &[SubflowView], index: usize) -> Coupling {
        let flow = &flows[index];
        let base = self.decrease_base(flow);
        if !flow.coupled {
            return reno(flow, base);
        }
        self.rules.coupling(flows, index, base)
    }

    /// `flows[index]` has had `octets` acknowledged; the views are those after the ACK.
    pub(crate) fn on_acked(
        &mut self,
        flows: &[SubflowView],
        index: usize,
        octets: u32,
    ) -> Option<WindowUpdate> {
        self.rules.on_acked(flows, index, octets)
    }

    /// `flows[index]` has entered fast recovery or had a timeout.
    pub(crate) fn on_loss(&mut self, flows: &[SubflowView], index: usize) {
        self.rules.on_loss(flows, index);
    }

    /// A place in the connection has another subflow.
    pub(crate) fn forget(&mut self, place: usize) {
        self.rules.forget(place);
    }

    /// What the decrease is a share of, in segments.
    fn decrease_base(&self, flow: &SubflowView) -> f64 {
        let octets = match self.decrease {
            Decrease::FromCwnd => flow.cwnd,
            Decrease::FromFlightSize => flow.flight,
        };
        f64::from(octets) / f64::from(flow.smss.max(1))
    }
}
