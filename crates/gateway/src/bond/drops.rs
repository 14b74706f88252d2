//! Counts of dropped packets and datagrams, by reason.

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
    /// A datagram from outside that is not of this protocol.
    Malformed = "malformed",
    /// Another version of the protocol.
    Version = "version",
    /// A handshake whose sender does not know the hub's key, or one that fails or is not expected.
    Handshake = "handshake",
    /// A handshake of a key that no site has.
    UnknownSite = "unknown-site",
    /// Too many handshakes from one address.
    TooMany = "too-many",
    /// A datagram of a session that is not known.
    UnknownSession = "unknown-session",
    /// A sealed datagram that is not authentic.
    Forged = "forged",
    /// A sealed datagram that came before, or that is older than the replay window.
    Replayed = "replayed",
    /// The session's keys are too old.
    Expired = "expired",
    /// An authentic datagram that neither the session nor the bond understands.
    NotUnderstood = "not-understood",
    /// A copy of a packet that came before.
    Duplicate = "duplicate",
    /// A packet that came after it had been given up.
    Late = "late",
    /// Too many packets wait for the inside.
    Full = "full",
    /// Something from inside that is no IPv4 or IPv6 packet.
    NotIp = "not-ip",
    /// A packet from inside to an address that no site has.
    NoRoute = "no-route",
    /// There is no session with the other end.
    NoSession = "no-session",
    /// A site's packet with a source address that is not among its prefixes.
    Source = "source",
    /// A datagram for a path whose other end is not known yet.
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
    /// Counts one drop.
    pub fn count(&mut self, reason: Reason) {
        self.0[reason as usize] += 1;
    }

    /// Adds the counts of `others`.
    pub fn add(&mut self, others: &Self) {
        self.0.iter_mut().zip(others.0).for_each(|(own, other)| *own += other);
    }

    /// The count of a reason.
    pub const fn get(&self, reason: Reason) -> u64 {
        self.0[reason as usize]
    }

    /// The counts that are not zero, in the order of [`Reason::ALL`].
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
            Unopened::Forged => Self::Forged,
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
