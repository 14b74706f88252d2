//! No coupling: every subflow runs a congestion control by itself.

use super::rule::{Control, CouplingRule, reno};
use crate::view::SubflowView;
use ropewalk_tcp::Coupling;

/// NewReno.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct NewReno;

/// CUBIC (RFC 9438), as upstream Linux does by default.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Cubic;

/// BBR.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Bbr;

impl CouplingRule for NewReno {
    const CONTROL: Control = Control::NewReno;
    const DEPENDS_ON_OTHERS: bool = false;

    fn coupling(&self, flows: &[SubflowView], index: usize, base: f64) -> Coupling {
        reno(&flows[index], base)
    }
}

impl CouplingRule for Cubic {
    const CONTROL: Control = Control::Cubic;
    const DEPENDS_ON_OTHERS: bool = false;

    fn coupling(&self, flows: &[SubflowView], index: usize, base: f64) -> Coupling {
        reno(&flows[index], base)
    }
}

impl CouplingRule for Bbr {
    const CONTROL: Control = Control::Bbr;
    const DEPENDS_ON_OTHERS: bool = false;

    fn coupling(&self, flows: &[SubflowView], index: usize, base: f64) -> Coupling {
        reno(&flows[index], base)
    }
}
