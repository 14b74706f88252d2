//! Which events a run writes down.

use super::table::Value;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Declares the kinds of events: documentation, variant, and name in files.
macro_rules! event_kinds {
    ($($(#[$meta:meta])* $variant:ident = $name:literal,)*) => {
        /// A kind of events.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "kebab-case")]
        pub enum EventKind {
            $($(#[$meta])* $variant,)*
            /// All of them.
            All,
        }

        impl EventKind {
            /// Every kind by itself.
            const EACH: &[Self] = &[$(Self::$variant),*];

            /// As files say it.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                    Self::All => "all",
                }
            }
        }
    };
}

event_kinds! {
    /// The congestion window or the slow-start threshold changed.
    Window = "window",
    /// A round-trip time was measured.
    Rtt = "rtt",
    /// A recovery began or ended, or proved needless; a tail loss probe went out.
    Recovery = "recovery",
    /// The retransmission timer fired.
    Timeout = "timeout",
    /// TCP sent a segment again.
    Retransmission = "retransmission",
    /// A sender learned by a selective acknowledgement that data beyond a hole has arrived.
    Sack = "sack",
    /// A scheduler of Multipath TCP gave octets to a subflow, and why.
    Scheduling = "scheduling",
    /// Octets went to a further subflow, or a subflow's window was reduced (penalization), and why.
    Reinjection = "reinjection",
    /// Connections and subflows came up or ended, addresses were announced, a connection fell back to TCP.
    PathManager = "path-manager",
    /// Data began to wait behind a hole, or waits no more (head-of-line blocking).
    Blocking = "blocking",
    /// A segment or datagram with data left the link of the host that sends it.
    Segment = "segment",
    /// A packet was dropped: by a full queue, by active queue management, lost on the medium, or by a link that is down.
    Drop = "drop",
    /// A queue marked a packet with congestion experienced.
    Mark = "mark",
    /// A path of a bond changed its state or weight, or a gateway gave packets up.
    Bond = "bond",
    /// A gateway of a bond gave a packet to a path, and why.
    BondDecision = "bond-decision",
    /// A radio lost a frame to others' signals.
    Collision = "collision",
    /// A station moved.
    Movement = "movement",
}

/// A set of kinds of events.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct EventKinds(u32);

impl EventKinds {
    /// None: nothing is written down.
    pub const NONE: Self = Self(0);

    /// Every kind.
    pub const ALL: Self = Self((1 << EventKind::EACH.len()) - 1);

    /// Is this kind wanted?
    pub const fn contains(self, kind: EventKind) -> bool {
        self.0 & 1 << kind as u32 != 0
    }

    /// Is nothing wanted?
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    const fn with(self, kind: EventKind) -> Self {
        match kind {
            EventKind::All => Self::ALL,
            kind => Self(self.0 | 1 << kind as u32),
        }
    }
}

impl Value<Vec<EventKind>> for EventKinds {
    fn read(form: &Vec<EventKind>) -> Self {
        form.iter().fold(Self::NONE, |kinds, &kind| kinds.with(kind))
    }

    /// Nothing for none: a scenario that does not ask is named as if there was no such key.
    fn show(&self) -> Option<Vec<EventKind>> {
        let each = EventKind::EACH.iter().copied();
        (!self.is_empty()).then(|| each.filter(|&kind| self.contains(kind)).collect())
    }
}
