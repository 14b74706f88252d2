//! The receiving half: the stream as it is put together, the window, and the peer's DATA_FIN.

use super::order::{Held, Place, Waiting};
use super::window::ReceiveWindow;
use crate::event::Event;
use crate::id::SubflowId;
use crate::reassembly::Reassembly;
use crate::subflow::Subflow;
use ropewalk_units::{Dsn, Instant, Seq};
use ropewalk_wire::{DataAck, Segment};
use std::collections::VecDeque;

/// What the peer has sent, until the application reads it.
#[derive(Clone, Debug)]
pub(super) struct Receiving {
    pub(super) reassembly: Reassembly,
    pub(super) window: ReceiveWindow,
    /// DSN of the peer's first octet.
    pub(super) first: Dsn,
    /// The peer has sent a mapping, so that DATA_ACKs have 64 bits.
    pub(super) mapped: bool,
    fin: Option<u64>,
    finished: bool,
    /// Segments that wait for the order of data.
    held: Held,
    /// ACKs that subflows owe one by one.
    owed: VecDeque<(SubflowId, Seq)>,
    /// Since when the trace says that data waits behind a hole.
    blocked_since: Option<Instant>,
}

/// An ACK that a subflow owes by itself.
pub(super) struct OwedAck {
    pub(super) ack: Seq,
    /// Does the subflow owe others too?
    pub(super) more: bool,
}

impl Receiving {
    /// Nothing has come yet.
    pub(super) fn new(reassembly: Reassembly, window: ReceiveWindow) -> Self {
        Self {
            reassembly,
            window,
            first: Dsn::new(0),
            mapped: false,
            fin: None,
            finished: false,
            held: Held::default(),
            owed: VecDeque::new(),
            blocked_since: None,
        }
    }

    /// What the trace has to say of data behind a hole, if that has changed.
    pub(super) fn trace_blocking(&mut self, now: Instant) -> Option<Event> {
        let data = self.reassembly.next();
        match (self.reassembly.pieces() > 0, self.blocked_since) {
            (true, None) => {
                self.blocked_since = Some(now);
                Some(Event::Blocked { data })
            }
            (false, Some(since)) => {
                self.blocked_since = None;
                Some(Event::Unblocked { data, waited: now.saturating_since(since) })
            }
            _ => None,
        }
    }

    /// Where the peer's DATA_FIN lies, if one has come.
    pub(super) fn fin(&self) -> Option<u64> {
        self.fin
    }

    /// Has all come before the peer's DATA_FIN (or FIN), and the application been told?
    pub(super) fn is_finished(&self) -> bool {
        self.finished
    }

    /// A DATA_FIN (RFC 8684 §3.3.3): within the window and above all that has arrived, as a FIN must be. The first one counts.
    /// Is it that one, so that it is acknowledged?
    pub(super) fn on_data_fin(&mut self, data: u64) -> bool {
        let allowed = self.reassembly.end()..=self.window.edge();
        if self.fin.is_none() && allowed.contains(&data) {
            self.fin = Some(data);
        }
        self.fin == Some(data)
    }

    /// A checksum failed. The DATA_FIN may be of the same mapping; the peer repeats it.
    pub(super) fn forget_fin(&mut self) {
        if !self.finished {
            self.fin = None;
        }
    }

    /// Has the DATA_FIN come into order just now?
    pub(super) fn reaches_fin(&mut self) -> bool {
        let reached = !self.finished && self.fin == Some(self.reassembly.next());
        self.finished |= reached;
        reached
    }

    /// Plain TCP's FIN has come into order. Is that new?
    pub(super) fn finish(&mut self) -> bool {
        !std::mem::replace(&mut self.finished, true)
    }

    /// Keeps a segment that acknowledges in the order of data, if its turn has not come. Has it not?
    pub(super) fn hold(&mut self, flow: &Subflow, segment: &Segment) -> bool {
        let place = Place { first: self.first, next: self.reassembly.next(), edge: self.window.edge() };
        self.held.hold(flow, segment, place)
    }

    /// The segments kept of one subflow, whose turn it is now.
    pub(super) fn release_of(&mut self, subflow: SubflowId) -> Vec<Waiting> {
        self.held.release_of(subflow)
    }

    /// The segments kept whose turn has come.
    pub(super) fn release_next(&mut self) -> Vec<Waiting> {
        self.held.release_before(self.reassembly.next())
    }

    /// Where what waits on one subflow ends.
    pub(super) fn held_end(&self, subflow: SubflowId) -> Option<Seq> {
        self.held.end_of(subflow)
    }

    /// A subflow has to send an ACK of its own, with this number.
    pub(super) fn owe(&mut self, subflow: SubflowId, ack: Seq) {
        self.owed.push_back((subflow, ack));
    }

    /// Are there ACKs that are owed one by one?
    #[inline]
    pub(super) fn owes(&self) -> bool {
        !self.owed.is_empty()
    }

    /// Takes out the oldest ACK that a subflow owes.
    pub(super) fn take_owed_ack(&mut self, subflow: SubflowId) -> Option<OwedAck> {
        let first = self.owed.iter().position(|owed| owed.0 == subflow)?;
        let (_, ack) = self.owed.remove(first)?;
        Some(OwedAck { ack, more: self.owed.iter().any(|owed| owed.0 == subflow) })
    }

    /// The octet that is expected next.
    pub(super) fn expected(&self) -> Dsn {
        self.first + self.reassembly.next()
    }

    /// The DATA_ACK for the options: 64 bits once the peer has sent a mapping.
    pub(super) fn data_ack(&self) -> DataAck {
        if self.mapped { DataAck::Long(self.acknowledged()) } else { self.short_data_ack() }
    }

    /// The DATA_ACK in 32 bits.
    pub(super) fn short_data_ack(&self) -> DataAck {
        DataAck::Short(self.acknowledged().get() as u32)
    }

    /// What a DATA_ACK says is expected. RFC 8684 §3.3.3: a DATA_FIN that arrived in order takes one octet.
    fn acknowledged(&self) -> Dsn {
        let next = self.reassembly.next();
        self.first + next + u64::from(self.fin == Some(next))
    }

    /// The window field of a segment that is not a SYN, on a subflow that offers `offered` octets of the buffer; `segment` octets are
    /// what the edge moves by at least.
    pub(super) fn window_field(&mut self, offered: u32, scale: u8, segment: u64) -> u16 {
        self.window.field((self.window_base(), self.reassembly.next()), offered, scale, segment)
    }

    /// Has reading made so much room that the peer should hear of it at once?
    pub(super) fn wants_window_update(&self, segment: u64) -> bool {
        self.window.wants_update(self.window_base(), self.reassembly.next(), segment)
    }

    /// … on a subflow whose own window has `told` octets left?
    pub(super) fn wants_window_update_on(&self, told: u32) -> bool {
        self.window.wants_update_on(self.window_base(), self.reassembly.next(), told)
    }

    /// Where the window begins.
    fn window_base(&self) -> u64 {
        self.window.base(self.reassembly.read_position(), self.reassembly.waiting())
    }
}
