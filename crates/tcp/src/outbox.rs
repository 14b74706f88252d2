//! Segments that are due whatever the windows say.

use ropewalk_units::Seq;

/// What a RST says.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Reset {
    pub(crate) seq: Seq,
    pub(crate) ack: Option<Seq>,
}

/// What the ACK before a change of marks says: up to where, with or without ECN-Echo.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct EchoedAck {
    pub(crate) ack: Seq,
    pub(crate) ece: bool,
}

/// Segments that are due at the next [`crate::Connection::poll_transmit`]. One bit for each kind, since every segment
/// asks several times whether there is any.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Outbox {
    due: u8,
    reset: Reset,
    echoed: EchoedAck,
}

impl Outbox {
    /// A SYN, or SYN/ACK.
    pub(crate) const SYN: u8 = 1;
    /// A RST.
    const RESET: u8 = 2;
    /// A zero-window probe.
    pub(crate) const WINDOW_PROBE: u8 = 4;
    /// A tail loss probe.
    pub(crate) const TAIL_PROBE: u8 = 8;
    /// DCTCP: an ACK for what came before the marks changed.
    const ECHO: u8 = 16;

    /// Of a connection that opens.
    pub(crate) fn with_syn() -> Self {
        Self { due: Self::SYN, ..Self::default() }
    }

    pub(crate) const fn is_empty(self) -> bool {
        self.due == 0
    }

    /// A segment of this kind is due.
    pub(crate) fn put(&mut self, kind: u8) {
        self.due |= kind;
    }

    /// A RST is due.
    pub(crate) fn put_reset(&mut self, seq: Seq, ack: Option<Seq>) {
        self.put(Self::RESET);
        self.reset = Reset { seq, ack };
    }

    /// A RST answers a segment for a connection that is over. The RST of an abort has precedence: its number is
    /// SND.NXT, which the peer expects, while the acknowledgement of the segment may be an old one.
    pub(crate) fn put_answer(&mut self, seq: Seq, ack: Option<Seq>) {
        let aborts = self.due & Self::RESET != 0 && self.reset.ack.is_some();
        if !aborts {
            self.put_reset(seq, ack);
        }
    }

    /// An ACK for what came before the marks changed is due.
    pub(crate) fn put_echoed(&mut self, ack: Seq, ece: bool) {
        self.put(Self::ECHO);
        self.echoed = EchoedAck { ack, ece };
    }

    /// Is one of this kind due? Then it no longer is.
    pub(crate) fn take(&mut self, kind: u8) -> bool {
        let due = self.due & kind != 0;
        self.due &= !kind;
        due
    }

    pub(crate) fn take_reset(&mut self) -> Option<Reset> {
        self.take(Self::RESET).then_some(self.reset)
    }

    pub(crate) fn take_echoed(&mut self) -> Option<EchoedAck> {
        self.take(Self::ECHO).then_some(self.echoed)
    }

    /// None of these kinds is due any more.
    pub(crate) fn cancel(&mut self, kinds: u8) {
        self.due &= !kinds;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_taken_or_cancelled_is_no_longer_due() {
        let mut outbox = Outbox::with_syn();
        outbox.put(Outbox::TAIL_PROBE);
        outbox.put_reset(Seq::new(7), None);
        assert!(outbox.take(Outbox::SYN) && !outbox.take(Outbox::SYN));
        outbox.cancel(Outbox::TAIL_PROBE | Outbox::WINDOW_PROBE);
        assert!(!outbox.take(Outbox::TAIL_PROBE));
        assert_eq!(outbox.take_reset(), Some(Reset { seq: Seq::new(7), ack: None }));
        assert_eq!(outbox.take_echoed(), None);
        assert!(outbox.is_empty());
    }
}
