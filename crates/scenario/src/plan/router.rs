//! What a router does beside forwarding.

use crate::schema::router::{RouterKeys, RouterTable};
pub use crate::schema::router::{StripFrom, StrippedOptions};

/// TCP options that a router takes out of the segments it forwards.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct StripPlan {
    /// Which.
    pub options: StrippedOptions,
    /// Out of which segments.
    pub from: StripFrom,
}

impl StripPlan {
    /// Is nothing taken out?
    pub fn is_idle(&self) -> bool {
        self.options == StrippedOptions::default()
    }

    pub(super) fn new(table: &RouterTable) -> Self {
        let RouterKeys { strips, strips_from, .. } = table.read();
        Self { options: strips, from: strips_from }
    }
}
