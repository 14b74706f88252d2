//! What is not taken, counted by its reason.

use crate::session::message::Malformed;
use crate::session::transport::Unopened;
use ropewalk_bonding::Refusal;

macro_rules! reasons {
    ($($(#[$doc:meta])* $reason:ident = $label:literal,)*) => {
        /// Why something was dropped.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum Reason { $($(#[$doc])* $reason,)* }

        impl Reason {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$reason,)*];

            /// As metrics and the status name it.
            pub const fn label(self) -> &'static str {
                match self { $(Self::$reason => $label,)* }
            }
        }
    };
}

reasons! {
    /// From outside: no datagram of this protocol.
    Malformed = "malformed",
    /// Another version of the protocol.
    Version = "version",
    /// A handshake of somebody who does not know this hub's key, or one that fails.
    Handshake = "handshake",
    /// A handshake of a key that no site has.
    UnknownSite = "unknown-site",
    /// Too many handshakes from one address.
    TooMany = "too-many",
    /// A session that is not known (any more).
    UnknownSession = "unknown-session",
    /// Sealed by somebody else.
    Forged = "forged",
    /// It came before, or too late to tell.
    Replayed = "replayed",
    /// The session's keys are too old.
    Expired = "expired",
    /// Sealed rightly, but nothing that the bond knows.
    NotUnderstood = "not-understood",
    /// A copy of what was taken before.
    Duplicate = "duplicate",
    /// Given up before it came.
    Late = "late",
    /// The inside is full.
    Full = "full",
    /// From inside: no packet of IPv4 or IPv6.
    NotIp = "not-ip",
    /// No site has this address.
    NoRoute = "no-route",
    /// There is no session with the other end.
    NoSession = "no-session",
    /// A site's packet with an address that is not among its prefixes.
    Source = "source",
    /// A path whose other end is not known yet.
    NoWay = "no-way",
    /// The operating system did not take it.
    NotSent = "not-sent",
    /// Longer than its path takes.
    TooLong = "too-long",
}

/// A counter for each reason.
#[derive(Clone, Debug)]
pub struct Drops([u64; Reason::ALL.len()]);

impl Default for Drops {
    fn default() -> Self {
        Self([0; Reason::ALL.len()])
    }
}

impl Drops {
    /// One more.
    pub fn count(&mut self, reason: Reason) {
        self.0[reason as usize] += 1;
    }

    /// Those of another count, too.
    pub fn add(&mut self, others: &Self) {
        self.0.iter_mut().zip(others.0).for_each(|(own, other)| *own += other);
    }

    /// How many.
    pub const fn get(&self, reason: Reason) -> u64 {
        self.0[reason as usize]
    }

    /// Those that are not zero, in their order.
    pub fn iter(&self) -> impl Iterator<Item = (Reason, u64)> + '_ {
        Reason::ALL.iter().map(|&reason| (reason, self.get(reason))).filter(|(_, count)| *count > 0)
    }
}

impl From<Malformed> for Reason {
    fn from(malformed: Malformed) -> Self {
        match malformed {
            Malformed::Version(_) => Self::Version,
            Malformed::Length | Malformed::Kind(_) => Self::Malformed,
        }
    }
}

impl From<Unopened> for Reason {
    fn from(unopened: Unopened) -> Self {
        match unopened {
            Unopened::Forged | Unopened::Path => Self::Forged,
            Unopened::Replayed => Self::Replayed,
            Unopened::Expired => Self::Expired,
        }
    }
}

impl From<Refusal> for Reason {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Duplicate => Self::Duplicate,
            Refusal::Late => Self::Late,
            Refusal::Full => Self::Full,
            Refusal::UnknownPath => Self::NotUnderstood,
        }
    }
}
