//! MP_CAPABLE and MP_JOIN: how a connection and its further subflows are opened (RFC 8684 §3.1, §3.2).

use super::receive::Admission;
use super::{Connection, Finish, Mode};
use crate::event::{Event, FallbackReason, Refusal};
use crate::id::{Path, SubflowId, Wanted};
use crate::keys;
use crate::path_manager;
use crate::role::Role;
use crate::subflow::{self, New, Phase};
use ropewalk_tcp as tcp;
use ropewalk_units::{Instant, Seq};
use ropewalk_wire::{Flags, Join, Key, MptcpOption, Nonce, ResetReason, Segment};
use std::net::SocketAddr;
use std::sync::Arc;

/// Does a SYN open a further subflow of a connection that exists? It never opens one of its own: where nobody has
/// its token, it is refused ([`Refusal::UNKNOWN`]).
pub fn is_join(syn: &Segment) -> bool {
    syn.options.mptcp.rare().iter().any(|option| matches!(option, MptcpOption::Join(Join::Syn { .. })))
}

/// What a SYN with MP_JOIN says.
struct JoinRequest {
    /// B.
    backup: bool,
    remote_id: u8,
    peer_nonce: Nonce,
}

/// A subflow that MP_JOIN opens.
struct Joining {
    path: Path,
    path_index: u32,
    tcp: tcp::Connection,
    local_id: u8,
    remote_id: u8,
    /// B, as the MP_JOIN says.
    backup: bool,
    /// The peer's random number. Without one this host opens the subflow.
    peer_nonce: Option<Nonce>,
}

impl Connection {
    /// The initial subflow's handshake.
    pub(super) fn admit_initial(&mut self, segment: &Segment) -> Admission {
        if segment.flags.contains(Flags::RST) {
            return Admission::Pass;
        }
        match self.role {
            Role::Client => self.admit_syn_ack(segment),
            Role::Server => self.admit_third_ack(segment),
        }
    }

    fn admit_syn_ack(&mut self, segment: &Segment) -> Admission {
        let asked = self.config.offers(self.subflows[0].syns);
        let capable = segment.options.mptcp.rare().iter().find_map(|option| match option {
            MptcpOption::Capable {
                sender_key: Some(key),
                receiver_key: None,
                checksum_required,
                no_more_subflows,
                ..
            } => Some((*key, *checksum_required, *no_more_subflows)),
            _ => None,
        });
        match capable {
            Some((key, checksum, denies)) if asked && segment.flags.contains(Flags::ACK) => {
                self.agreement.checksum |= checksum;
                if denies {
                    self.path_manager.deny_initial();
                }
                self.learn_peer_key(key);
            }
            _ if asked => self.fall_back(FallbackReason::NotCapable),
            _ => self.fall_back(FallbackReason::Blackhole),
        }
        Admission::Pass
    }

    fn admit_third_ack(&mut self, segment: &Segment) -> Admission {
        if segment.flags.contains(Flags::SYN) {
            return Admission::Pass;
        }
        let keys = segment.options.mptcp.rare().iter().find_map(|option| match option {
            MptcpOption::Capable { sender_key: Some(sender), receiver_key: Some(receiver), .. } => {
                Some((*sender, *receiver))
            }
            _ => None,
        });
        match keys {
            Some((sender, receiver)) if receiver == self.agreement.own_key => {
                self.learn_peer_key(sender);
                self.agreement.confirmed = true;
            }
            // RFC 8684 §3.7: an ACK without the option means that it was stripped, or not understood.
            None if !segment.options.mptcp.is_empty() => return Admission::Drop,
            _ => self.fall_back(FallbackReason::HandshakeStripped),
        }
        Admission::Pass
    }

    fn learn_peer_key(&mut self, key: Key) {
        self.receiving.first = self.agreement.learn_peer_key(key);
        self.mode = Mode::Multipath;
    }

    /// The client has proof that the server knows both keys: from now on it sends DSS only, and may join.
    #[cold]
    pub(super) fn confirm(&mut self, now: Instant) {
        self.agreement.confirmed = true;
        self.established(now);
    }

    /// Emits [`Event::Established`] once, and lets the path manager begin when the connection may be joined.
    pub(super) fn established(&mut self, now: Instant) {
        if !self.agreement.announced {
            self.agreement.announced = true;
            self.emit(Event::Established);
        }
        if self.agreement.confirmed && !self.agreement.managed {
            self.agreement.managed = true;
            self.notify_path_manager(now, path_manager::Event::Established);
        }
    }

    /// Opens a subflow that [`Event::SubflowWanted`] asked for with MP_JOIN, `from` a port of this host and with an
    /// initial sequence number for that 4-tuple. Without a port, or with too many subflows, the path manager hears that it
    /// failed.
    #[cold]
    pub fn open_subflow(
        &mut self,
        now: Instant,
        wanted: Wanted,
        from: Option<(u16, Seq)>,
    ) -> Option<SubflowId> {
        let Wanted { mut path, path_index, backup } = wanted;
        if self.mode != Mode::Multipath || self.is_closing() {
            return None;
        }
        let (Some((port, iss)), Some(at)) = (from, self.subflows.free_place(&self.config.limits)) else {
            let event = path_manager::Event::SubflowClosed { path_index, failed: true, path };
            self.notify_path_manager(now, event);
            return None;
        };
        path.local.set_port(port);
        let tcp = tcp::Connection::connect(Arc::clone(&self.tcp_config), iss, now);
        let (local_id, remote_id) =
            (self.addresses.local_id(path.local), self.addresses.remote_id(path.remote));
        let joining = Joining { path, path_index, tcp, local_id, remote_id, backup, peer_nonce: None };
        Some(self.add_joined(at, joining))
    }

    /// Does the path manager want the host to take joins of this connection there? At ports that are not the connection's
    /// own, endpoints come and go.
    pub fn listens_at(&self, local: SocketAddr) -> bool {
        self.path_manager.listens_at(local)
    }

    /// Answers a SYN with MP_JOIN; `iss` is the new subflow's initial sequence number.
    ///
    /// # Errors The SYN must be answered with a RST that bears [`Refusal::option`]. The token is not this
    /// connection's, or the connection is closing, has fallen back, or has too many subflows.
    #[cold]
    pub fn accept_join(
        &mut self,
        now: Instant,
        path: Path,
        syn: &Segment,
        iss: Seq,
    ) -> Result<SubflowId, Refusal> {
        let JoinRequest { backup, remote_id, peer_nonce } = self.join_request(syn)?;
        if !self.config.allow_join_initial_addr_port && path.local == self.subflows[0].path.local {
            return Err(Refusal::PROHIBITED);
        }
        if !self.path_manager.has_announced(path.local) {
            return Err(Refusal::PROHIBITED);
        }
        if let Some(at) = self.subflows.join_too_many(self.config.limits.half_open_subflows as usize) {
            self.reset_subflow(now, at, ResetReason::Resources);
        }
        let at = self.subflows.free_place(&self.config.limits).ok_or(Refusal::RESOURCES)?;
        let tcp = tcp::Connection::accept(Arc::clone(&self.tcp_config), syn, iss, now);
        let (path_index, local_id) =
            (self.addresses.path_index(path.local), self.addresses.joined_id(path.local));
        let peer_nonce = Some(peer_nonce);
        Ok(self.add_joined(at, Joining { path, path_index, tcp, local_id, remote_id, backup, peer_nonce }))
    }

    /// What the peer's SYN asks for, if it may open a subflow.
    fn join_request(&self, syn: &Segment) -> Result<JoinRequest, Refusal> {
        let join = syn.options.mptcp.rare().iter().find_map(|option| match option {
            MptcpOption::Join(Join::Syn { backup, address_id, token, nonce })
                if *token == self.agreement.own_token =>
            {
                Some(JoinRequest { backup: *backup, remote_id: *address_id, peer_nonce: *nonce })
            }
            _ => None,
        });
        let joinable = self.mode == Mode::Multipath && self.agreement.confirmed;
        let join = join.filter(|_| joinable).ok_or(Refusal::UNKNOWN)?;
        if self.is_closing() { Err(Refusal::PROHIBITED) } else { Ok(join) }
    }

    /// Puts a joined subflow in its place.
    fn add_joined(&mut self, at: usize, joining: Joining) -> SubflowId {
        let Joining { path, path_index, tcp, local_id, remote_id, backup, peer_nonce } = joining;
        let active = peer_nonce.is_none();
        let (own_nonce, peer_nonce) = (self.agreement.nonce(), peer_nonce.unwrap_or(0));
        let join = Some(subflow::Join { own_nonce, peer_nonce, third_ack_due: None, third_acks: 0 });
        self.planner.due.request_poll();
        self.timers.on_slow_change();
        let (id, place) = (self.subflows.next_id(), at as u8);
        let new = New { id, path, path_index, tcp, place, active, join, local_id, remote_id, backup };
        self.occupy(at, new);
        self.follow_window();
        self.subflows[at].backup_own |= !active && self.path_manager.is_backup(path.local);
        id
    }

    /// Puts a subflow into a place, perhaps into that of another.
    fn occupy(&mut self, at: usize, new: New) {
        let (id, path) = (new.id, new.path);
        let used = at < self.subflows.len();
        if let Some(gone) = self.subflows.occupy(at, new) {
            self.emit(Event::SubflowGone(gone));
        }
        if used {
            self.planner.on_occupied(&mut self.subflows, at);
        }
        self.emit(Event::SubflowCreated { id, path });
    }

    /// A segment for a joined subflow that is not fully established.
    pub(super) fn admit_joined(&mut self, now: Instant, at: usize, segment: &Segment) -> Admission {
        let subflow = &self.subflows[at];
        if segment.flags.contains(Flags::RST) {
            return Admission::Pass;
        }
        if !subflow.active {
            return self.admit_join_ack(at, segment);
        }
        if segment.flags.contains(Flags::SYN) {
            return self.admit_join_syn_ack(at, segment);
        }
        // RFC 8684 §3.2: the fourth packet, an ACK with a DATA_ACK, proves that the third arrived.
        if subflow.tcp.is_established() && segment.options.mptcp.dss.is_some() {
            self.open_joined(now, at);
        }
        Admission::Pass
    }

    fn admit_join_syn_ack(&mut self, at: usize, segment: &Segment) -> Admission {
        if !segment.flags.contains(Flags::ACK) {
            return Admission::Pass;
        }
        let subflow = &mut self.subflows[at];
        let (Some(peer_key), Some(join)) = (self.agreement.peer_key, &mut subflow.join) else {
            return Admission::Abort(ResetReason::Mptcp);
        };
        for option in segment.options.mptcp.rare() {
            if let MptcpOption::Join(Join::SynAck { backup, address_id, hmac, nonce }) = option {
                let expected = keys::join_hmac(peer_key, self.agreement.own_key, *nonce, join.own_nonce);
                if !keys::hmacs_agree(&expected[..8], &hmac.to_be_bytes()) {
                    return Admission::Abort(ResetReason::Mptcp);
                }
                join.peer_nonce = *nonce;
                subflow.remote_id = *address_id;
                subflow.backup_peer = *backup;
                return Admission::Pass;
            }
        }
        // RFC 8684 §3.2: no MP_JOIN on the SYN/ACK.
        Admission::Abort(ResetReason::Middlebox)
    }

    fn admit_join_ack(&mut self, at: usize, segment: &Segment) -> Admission {
        if segment.flags.contains(Flags::SYN) {
            return Admission::Pass;
        }
        let subflow = &self.subflows[at];
        let (Some(peer_key), Some(join)) = (self.agreement.peer_key, &subflow.join) else {
            return Admission::Abort(ResetReason::Mptcp);
        };
        for option in segment.options.mptcp.rare() {
            if let MptcpOption::Join(Join::Ack { hmac }) = option {
                let expected =
                    keys::join_hmac(peer_key, self.agreement.own_key, join.peer_nonce, join.own_nonce);
                if !keys::hmacs_agree(&expected[..20], hmac) {
                    return Admission::Abort(ResetReason::Mptcp);
                }
                // As Linux: the limits are looked at when the third ACK comes.
                let admitted = self.path_manager.admits();
                return if admitted { Admission::Joined } else { Admission::Abort(ResetReason::Prohibited) };
            }
        }
        if segment.options.mptcp.is_empty() {
            return Admission::Abort(ResetReason::Middlebox);
        }
        // Later segments overtook the third ACK: it is sent again until we acknowledge it.
        Admission::Drop
    }

    /// A joined subflow is fully established.
    #[cold]
    pub(super) fn open_joined(&mut self, now: Instant, at: usize) {
        let subflow = &mut self.subflows[at];
        if subflow.phase != Phase::Opening {
            return;
        }
        subflow.phase = Phase::Open;
        subflow.was_established = true;
        subflow.touch();
        if let Some(join) = &mut subflow.join {
            join.third_ack_due = None;
        }
        if !subflow.active {
            // RFC 8684 §3.2: the fourth packet.
            subflow.request_ack();
        }
        let (id, path_index, path) = (subflow.id, subflow.path_index, subflow.path);
        subflow.pointer = self.sending.queue.una();
        self.subflows.sum_stale = true;
        self.subflows.joined = true;
        self.tend_send_buffer();
        self.timers.stop_closing();
        self.emit(Event::SubflowEstablished(id));
        self.planner.due.request_schedule();
        self.reinject_timed_out();
        if !self.is_closing() {
            self.notify_path_manager(now, path_manager::Event::SubflowEstablished { path_index, path });
        }
        if matches!(self.sending.finish, Finish::Sent(_)) {
            self.subflows[at].data_fin_due = true;
            self.subflows[at].request_ack();
        }
    }

    /// The initial subflow's TCP handshake is over.
    pub(super) fn open_initial(&mut self, now: Instant) {
        let subflow = &mut self.subflows[0];
        if subflow.phase != Phase::Opening || self.mode == Mode::Opening {
            return;
        }
        subflow.phase = Phase::Open;
        subflow.was_established = true;
        subflow.touch();
        let id = subflow.id;
        self.subflows.sum_stale = true;
        self.tend_send_buffer();
        self.planner.due.request_schedule();
        self.emit(Event::SubflowEstablished(id));
        self.established(now);
    }

    /// The remote address of a pair, with the port under which the peer announced it.
    pub(super) fn note_peer_address(&mut self, address_id: u8, address: SocketAddr) {
        self.addresses.note_remote(address_id, address);
    }
}
