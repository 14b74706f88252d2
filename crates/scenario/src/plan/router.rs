//! What a router does beside forwarding.

use crate::schema::router::{OptionName, RouterTable, StripsFromName};

/// TCP options that a router takes out of the segments it forwards.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct StripPlan {
    /// Multipath TCP's.
    pub mptcp: bool,
    /// "SACK permitted" and SACK blocks.
    pub sack: bool,
    /// Timestamps.
    pub timestamps: bool,
    /// The window scale.
    pub window_scale: bool,
    /// The maximum segment size.
    pub mss: bool,
    /// Out of which segments.
    pub from: StripFrom,
}

/// Out of which segments options are taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum StripFrom {
    /// All.
    #[default]
    All,
    /// Those with SYN.
    Syn,
    /// Those without SYN.
    Established,
}

impl StripPlan {
    /// Is nothing taken out?
    pub fn is_idle(&self) -> bool {
        *self == Self { from: self.from, ..Self::default() }
    }

    pub(super) fn new(table: &RouterTable) -> Self {
        let names = table.strips.as_deref().unwrap_or_default();
        let has = |name| names.contains(&name);
        Self {
            mptcp: has(OptionName::Mptcp),
            sack: has(OptionName::Sack),
            timestamps: has(OptionName::Timestamps),
            window_scale: has(OptionName::WindowScale),
            mss: has(OptionName::Mss),
            from: match table.strips_from {
                None | Some(StripsFromName::All) => StripFrom::All,
                Some(StripsFromName::Syn) => StripFrom::Syn,
                Some(StripsFromName::Established) => StripFrom::Established,
            },
        }
    }

    /// The names of what is taken out.
    pub(crate) fn names(&self) -> Vec<OptionName> {
        let all = [
            (self.mptcp, OptionName::Mptcp),
            (self.sack, OptionName::Sack),
            (self.timestamps, OptionName::Timestamps),
            (self.window_scale, OptionName::WindowScale),
            (self.mss, OptionName::Mss),
        ];
        all.into_iter().filter_map(|(is_taken, name)| is_taken.then_some(name)).collect()
    }

    /// The table that would say it.
    pub(crate) fn explicit(&self) -> RouterTable {
        RouterTable {
            strips: Some(self.names()),
            strips_from: (!self.is_idle()).then_some(match self.from {
                StripFrom::All => StripsFromName::All,
                StripFrom::Syn => StripsFromName::Syn,
                StripFrom::Established => StripsFromName::Established,
            }),
            clock: None,
            jitter: None,
        }
    }
}
