//! What both hosts have agreed upon in MP_CAPABLE (RFC 8684 §3.1).

use crate::keys::{self, Draws, Secret};
use crate::mapping::LastOctet;
use ropewalk_units::Dsn;
use ropewalk_wire::{Key, Mapping, MptcpOption, Nonce, Segment, Token};

/// Keys, and what follows from them; checksums.
#[derive(Clone, Debug)]
pub(super) struct Agreement {
    draws: Draws,
    pub(super) own_key: Key,
    pub(super) own_token: Token,
    pub(super) peer_key: Option<Key>,
    pub(super) peer_token: Token,
    /// Is the connection's handshake proven to have reached the peer (RFC 8684 §3.1)?
    pub(super) confirmed: bool,
    /// [`Event::Established`] was emitted.
    pub(super) announced: bool,
    /// The path manager knows that the connection may be joined.
    pub(super) managed: bool,
    /// Each mapping carries a checksum, and none may come without.
    pub(super) checksum: bool,
}

impl Agreement {
    /// Only our key is known.
    pub(super) fn new(secret: Secret) -> Self {
        let mut draws = Draws::new(secret);
        let own_key = draws.key();
        Self {
            draws,
            own_key,
            own_token: keys::token(own_key),
            peer_key: None,
            peer_token: 0,
            confirmed: false,
            announced: false,
            managed: false,
            checksum: false,
        }
    }

    /// A random number for MP_JOIN.
    pub(super) fn nonce(&mut self) -> Nonce {
        self.draws.nonce()
    }

    /// The peer's key is known. Returns the DSN of its first octet.
    pub(super) fn learn_peer_key(&mut self, key: Key) -> Dsn {
        self.peer_key = Some(key);
        self.peer_token = keys::token(key);
        keys::initial_dsn(key) + 1
    }

    /// RFC 8684 §3.3: a checksum is there if and only if both hosts agreed on checksums; otherwise the peer does not
    /// behave as negotiated. An infinite mapping ends the agreement.
    pub(super) fn is_broken_by(&self, mapping: &Mapping, last: LastOctet) -> bool {
        mapping.checksum.is_some() != self.checksum && (mapping.len > 0 || last == LastOctet::DataFin)
    }

    /// The same for the first data's mapping, in MP_CAPABLE (§3.1).
    #[cold]
    pub(super) fn is_broken_by_first_mapping(&self, segment: &Segment) -> bool {
        segment.options.mptcp.rare().iter().any(|option| {
            matches!(option, MptcpOption::Capable { data: Some((_, checksum)), .. }
                if checksum.is_some() != self.checksum)
        })
    }
}
