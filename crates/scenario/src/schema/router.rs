//! Routers: `[routers.NAME]`.

use super::clock::{ClockPlan, ClockTable, JitterPlan, LatenessTable};
use super::table::{Value, named_value, plain_value, table};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

table! {
    /// A router: it forwards and has no connections.
    #[derive(Default)]
    RouterTable =>
    /// What a router does beside forwarding.
    #[derive(Clone, PartialEq, Debug)]
    pub(crate) struct RouterKeys {
        own {
            /// So many of them, called NAME-1, NAME-2, …; NAME stands for all of them in links and connections.
            count: u32;
        }
        keys {
            /// Who forwards. The two gateways of a bond between Linux hosts are the daemon `ropewalk-gateway`.
            stack: RouterStack = RouterStack::Ropewalk;
            /// Of several shortest ways to a host, each flow takes one, by a hash of its addresses and ports (RFC 2992).
            ecmp: bool = false;
            /// TCP options that it takes out of the segments it forwards, as some middleboxes do.
            strips: StrippedOptions as Vec<OptionName> = StrippedOptions::default();
            /// Out of which segments.
            strips_from: StripFrom as StripsFromName = StripFrom::All;
            /// Its clock, if it is the gateway of a bond (default: true time).
            clock: Option<ClockPlan> as ClockTable = None;
            /// How late it is with timers and arrivals (default: never).
            jitter: Option<JitterPlan> as LatenessTable = None;
        }
    }
}

plain_value! {
    RouterStack,
}

/// Who forwards at a router.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RouterStack {
    /// The simulator.
    #[default]
    Ropewalk,
    /// Linux's kernel and the daemon `ropewalk-gateway`, in a network namespace, on links that are simulated in real time.
    Gateway,
}

/// Declares the TCP options that routers take out: for each its documentation, its name in files, its name here, and what it is
/// called in words. A new one is a line, and where it is taken out.
macro_rules! strippable_options {
    ($($(#[$doc:meta])* $name:ident $option:ident $words:literal;)*) => {
        /// A TCP option.
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "kebab-case")]
        pub(crate) enum OptionName {
            $($(#[$doc])* $name,)*
        }

        impl OptionName {
            /// In words.
            pub(crate) const fn describe(self) -> &'static str {
                match self {
                    $(Self::$name => $words,)*
                }
            }
        }

        /// TCP options that a router takes out of the segments it forwards.
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
        pub struct StrippedOptions {
            $($(#[$doc])* pub $option: bool,)*
        }

        impl StrippedOptions {
            /// Their names.
            pub(crate) fn names(&self) -> Vec<OptionName> {
                let all = [$((self.$option, OptionName::$name)),*];
                all.into_iter().filter_map(|(is_taken, name)| is_taken.then_some(name)).collect()
            }
        }

        impl Value<Vec<OptionName>> for StrippedOptions {
            fn read(names: &Vec<OptionName>) -> Self {
                Self { $($option: names.contains(&OptionName::$name),)* }
            }

            fn show(&self) -> Option<Vec<OptionName>> {
                Some(self.names())
            }
        }
    };
}

strippable_options! {
    /// Multipath TCP's (RFC 8684).
    Mptcp mptcp "Multipath TCP";
    /// "SACK permitted" and SACK blocks (RFC 2018).
    Sack sack "SACK";
    /// Timestamps (RFC 7323).
    Timestamps timestamps "timestamps";
    /// The window scale (RFC 7323).
    WindowScale window_scale "window scale";
    /// The maximum segment size (RFC 9293).
    Mss mss "MSS";
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

named_value!(StripFrom as StripsFromName { All, Syn, Established });

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
