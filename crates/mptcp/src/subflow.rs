//! One subflow: a TCP connection, its place in the Multipath TCP connection, and the mappings of its two
//! directions.

use crate::event::Refusal;
use crate::id::{Path, SubflowId};
use crate::mapping::Mappings;
use crate::send_queue::Slots;
use crate::silence::Silence;
use crate::upkeep::Upkeep;
use ropewalk_tcp as tcp;
use ropewalk_units::{Instant, Seq, Ssn};
use ropewalk_wire::{MptcpOption, Nonce, Payload, ResetReason, Segment};
use std::collections::VecDeque;

/// How far a subflow has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Phase {
    /// The handshake of TCP or of MP_JOIN is not over: no data.
    Opening,
    /// Fully established.
    Open,
    /// FIN asked for or received, or its address withdrawn: no new data.
    Closing,
    /// Over, as the connection sees it; TIME-WAIT may be left.
    Closed,
}

/// What MP_JOIN needs to remember.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Join {
    pub(crate) own_nonce: Nonce,
    pub(crate) peer_nonce: Nonce,
    /// When the third ACK is sent again, as long as nothing proves that it arrived (RFC 8684 §3.2).
    pub(crate) third_ack_due: Option<Instant>,
    pub(crate) third_acks: u32,
}

/// A direction without further mappings: from `position` of the subflow's stream on it is the connection's
/// from `data` on (RFC 8684 §3.7).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Infinite {
    pub(crate) position: u64,
    pub(crate) data: u64,
    /// By a mapping on the wire; otherwise both hosts just go on (the options are stripped).
    pub(crate) announced: bool,
}

/// A mapping whose octets are gathered until its checksum can be verified.
#[derive(Clone, Debug, Default)]
pub(crate) struct Unverified {
    pub(crate) start: u64,
    pub(crate) parts: Vec<Payload>,
}

impl Unverified {
    /// The next octets; those that follow the last ones in the stream lie in one part with them.
    pub(crate) fn gather(&mut self, part: Payload) {
        match self.parts.last_mut() {
            Some(last) if last.offset + u64::from(last.len) == part.offset => last.len += part.len,
            _ => self.parts.push(part),
        }
    }
}

/// One subflow of a connection.
#[derive(Clone, Debug)]
pub struct Subflow {
    pub(crate) id: SubflowId,
    pub(crate) path: Path,
    pub(crate) path_index: u32,
    pub(crate) tcp: tcp::Connection,
    pub(crate) phase: Phase,
    /// Where the connection keeps it, and its bit in the send queue's sets.
    pub(crate) place: u8,
    pub(crate) active: bool,
    pub(crate) join: Option<Join>,
    pub(crate) local_id: u8,
    pub(crate) remote_id: u8,
    /// We asked the peer to treat it as a backup, or the peer asked us.
    pub(crate) backup_own: bool,
    pub(crate) backup_peer: bool,
    /// It was fully established at some time.
    pub(crate) was_established: bool,
    /// A DATA_ACK has come together with an acknowledgement of data: options pass both ways.
    pub(crate) data_acked: bool,
    /// Segments came without any option since the last DATA_ACK.
    pub(crate) optionless: bool,
    /// The peer withdrew its address, and a probe is to tell whether it is still there (RFC 8684 §3.4.2).
    pub(crate) doubted: bool,
    /// Octets given to it: the end of its outgoing stream.
    pub(crate) pushed: u64,
    /// Octets read from it: the position in its incoming stream.
    pub(crate) read: u64,
    pub(crate) mappings: Mappings,
    pub(crate) unverified: Unverified,
    /// Outgoing data from here on is mapped once and for all.
    pub(crate) infinite_out: Option<Infinite>,
    pub(crate) infinite_in: Option<Infinite>,
    /// A checksum failed: what arrives is discarded until an infinite mapping comes.
    pub(crate) discarding: bool,
    /// Options to go out on pure ACKs.
    pub(crate) rare: VecDeque<MptcpOption>,
    pub(crate) data_fin_due: bool,
    /// The right edge of the window that it announced last, in its own sequence numbers.
    pub(crate) told_edge: Seq,
    /// The last pure ACK carried the keys, so that a waiting DATA_FIN may follow.
    pub(crate) keys_sent: bool,
    /// The reason on a RST of ours.
    pub(crate) reset: Option<ResetReason>,
    pub(crate) fast_close: bool,
    /// The reason on the peer's RST.
    pub(crate) peer_reset: Option<Refusal>,
    /// What is to be done after its changes.
    pub(crate) upkeep: Upkeep,
    /// A timeout fired, and nothing was acknowledged since.
    pub(crate) timed_out: bool,
    /// For how long its peer has been silent.
    pub(crate) silence: Silence,
    /// What it adds to the connection's send buffer: memory for its queue.
    pub(crate) send_buffer: u64,
    /// Redundant scheduling: next octet of the connection that it carries.
    pub(crate) pointer: u64,
    /// Closed by us at the latest then: we withdrew its address and the peer should have closed it.
    pub(crate) close_by: Option<Instant>,
    pub(crate) finished: bool,
    pub(crate) reinjected: u64,
    pub(crate) penalized_at: Option<Instant>,
    pub(crate) syns: u32,
    pub(crate) loss_events: u64,
}

/// What a new subflow is made of.
pub(crate) struct New {
    pub(crate) id: SubflowId,
    pub(crate) path: Path,
    pub(crate) path_index: u32,
    pub(crate) tcp: tcp::Connection,
    pub(crate) place: u8,
    pub(crate) active: bool,
    pub(crate) join: Option<Join>,
    pub(crate) local_id: u8,
    pub(crate) remote_id: u8,
    pub(crate) backup: bool,
}

impl Subflow {
    pub(crate) fn new(new: New) -> Self {
        Self {
            id: new.id,
            path: new.path,
            path_index: new.path_index,
            tcp: new.tcp,
            phase: Phase::Opening,
            place: new.place,
            active: new.active,
            join: new.join,
            local_id: new.local_id,
            remote_id: new.remote_id,
            backup_own: new.active && new.backup,
            backup_peer: !new.active && new.backup,
            was_established: false,
            data_acked: false,
            optionless: false,
            doubted: false,
            pushed: 0,
            told_edge: Seq::new(0),
            read: 0,
            mappings: Mappings::default(),
            unverified: Unverified::default(),
            infinite_out: None,
            infinite_in: None,
            discarding: false,
            rare: VecDeque::new(),
            data_fin_due: false,
            keys_sent: false,
            reset: None,
            fast_close: false,
            peer_reset: None,
            upkeep: Upkeep::ALL,
            timed_out: false,
            silence: Silence::NONE,
            send_buffer: 0,
            pointer: 0,
            close_by: None,
            finished: false,
            reinjected: 0,
            penalized_at: None,
            syns: 0,
            loss_events: 0,
        }
    }

    /// Octets whose checksum cannot be verified yet.
    pub(crate) fn unverified_octets(&self) -> u64 {
        if self.unverified.parts.is_empty() { 0 } else { self.read - self.unverified.start }
    }

    /// Its identifier.
    pub fn id(&self) -> SubflowId {
        self.id
    }

    /// Its two ends.
    pub fn path(&self) -> Path {
        self.path
    }

    /// Is it a backup in either host's eyes?
    pub fn backup(&self) -> bool {
        self.backup_own || self.backup_peer
    }

    /// The TCP connection underneath.
    pub fn tcp(&self) -> &tcp::Connection {
        &self.tcp
    }

    /// Fully established and not closing: new data may travel on it.
    pub fn is_usable(&self) -> bool {
        self.phase == Phase::Open
    }

    /// Opened by this host?
    pub fn is_active(&self) -> bool {
        self.active
    }

    /// Has it been fully established at some time?
    pub fn was_established(&self) -> bool {
        self.was_established
    }

    /// Over, as far as the connection is concerned.
    pub fn is_closed(&self) -> bool {
        self.phase == Phase::Closed
    }

    /// Octets it was given that another subflow had carried before.
    pub fn reinjected_bytes(&self) -> u64 {
        self.reinjected
    }

    /// Its set of one.
    pub(crate) fn bit(&self) -> Slots {
        1 << self.place
    }

    /// Alive, carrying data, and not waiting for the peer after a timeout.
    pub(crate) fn is_healthy(&self) -> bool {
        matches!(self.phase, Phase::Open | Phase::Closing) && self.tcp.consecutive_timeouts() == 0
    }

    /// Does it carry data that TCP has not acknowledged, sent or not?
    pub(crate) fn has_queue(&self) -> bool {
        self.tcp.flight_size() > 0 || self.tcp.unsent() > 0
    }

    /// A join that the peer has begun and not finished?
    pub(crate) fn is_half_open(&self) -> bool {
        self.phase == Phase::Opening && self.join.is_some() && !self.active
    }

    /// Marks that the TCP connection may have something to send and that views of it are out of date.
    pub(crate) fn touch(&mut self) {
        self.upkeep.on_change();
    }

    /// May its TCP have something to send? What it was given has been given because there is room for it.
    #[inline]
    pub(crate) fn wants_to_transmit(&self) -> bool {
        self.tcp.unsent() > 0 || self.tcp.wants_to_transmit()
    }

    /// Has its TCP something to tell, or ended?
    pub(crate) fn has_news(&self) -> bool {
        self.tcp.has_events() || self.tcp.state() == tcp::State::Closed
    }

    /// A segment announces a window: `window` octets above what has arrived on this subflow.
    #[inline]
    pub(crate) fn on_announced(&mut self, window: u32) {
        self.told_edge = self.tcp.rcv_nxt() + window;
    }

    /// Octets of the window that it announced last which its peer has not used.
    pub(crate) fn told_window(&self) -> u32 {
        let next = self.tcp.rcv_nxt();
        if next.before(self.told_edge) { self.told_edge.since(next) } else { 0 }
    }

    /// A pure ACK at the next opportunity.
    pub(crate) fn request_ack(&mut self) {
        self.tcp.request_ack();
        self.upkeep.on_request();
    }

    /// An option on a pure ACK at the next opportunity.
    pub(crate) fn signal(&mut self, option: MptcpOption) {
        self.rare.push_back(option);
        self.request_ack();
    }

    /// Is the acknowledgement of a segment that TCP has accepted one of data, not of the SYN only?
    pub(crate) fn acknowledges_data(&self, segment: &Segment) -> bool {
        segment.ack.after(self.tcp.iss() + 1)
    }

    /// The position in the incoming stream that a relative subflow sequence number means, near what has been
    /// read; `None` for one before the stream's start.
    pub(crate) fn position_in(&self, ssn: Ssn) -> Option<u64> {
        let behind = ssn.get().wrapping_sub(1).wrapping_sub(self.read as u32) as i32;
        self.read.checked_add_signed(i64::from(behind))
    }
}
