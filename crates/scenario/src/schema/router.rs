//! Routers: `[routers.NAME]`.

use super::clock::{ClockTable, JitterTable};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A router: it forwards and has no connections.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RouterTable {
    /// TCP options that it takes out of the segments it forwards, as some middleboxes do (default: none).
    pub(crate) strips: Option<Vec<OptionName>>,
    /// Out of which segments (default all).
    pub(crate) strips_from: Option<StripsFromName>,
    /// Its clock, if it is the gateway of a bond (default: true time).
    pub(crate) clock: Option<ClockTable>,
    /// How late it is with timers and arrivals (default: never).
    pub(crate) jitter: Option<JitterTable>,
}

/// A TCP option.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum OptionName {
    /// Multipath TCP's (RFC 8684).
    Mptcp,
    /// "SACK permitted" and SACK blocks (RFC 2018).
    Sack,
    /// Timestamps (RFC 7323).
    Timestamps,
    /// The window scale (RFC 7323).
    WindowScale,
    /// The maximum segment size (RFC 9293).
    Mss,
}

impl OptionName {
    /// In words.
    pub(crate) const fn describe(self) -> &'static str {
        match self {
            Self::Mptcp => "Multipath TCP",
            Self::Sack => "SACK",
            Self::Timestamps => "timestamps",
            Self::WindowScale => "window scale",
            Self::Mss => "MSS",
        }
    }
}

/// Out of which segments.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum StripsFromName {
    /// All.
    All,
    /// Those with SYN: the option is not agreed on.
    Syn,
    /// Those without SYN: the option is agreed on and then missing.
    Established,
}
