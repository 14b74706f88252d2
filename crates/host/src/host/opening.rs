//! How connections come to be: by a SYN, by a join, or by a cookie that comes back. All others are
//! refused.

use super::{Host, Origin, Protocol};
use crate::cookie::{self, CookiePolicy};
use crate::reset::reset_for;
use crate::socket::{Socket, Transport};
use crate::tuple::FourTuple;
use ropewalk_mptcp::{self as mptcp, Refusal, Secret};
use ropewalk_tcp as tcp;
use ropewalk_units::{Duration, Instant, Seq};
use ropewalk_wire::read::TcpPacket;
use ropewalk_wire::{Flags, Join, MptcpOption, MptcpOptions, Segment, Token};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;

/// At most so many handshakes may be unfinished. Beyond that the oldest is given up, or SYNs are
/// answered with cookies. It is Linux's `net.ipv4.tcp_max_syn_backlog` on a small machine.
pub(super) const BACKLOG: usize = 128;
/// The least time that a handshake gets, however many others begin. An honest peer answers within
/// it: it is the RTO before any measurement (RFC 6298 §2.1).
const HANDSHAKE: Duration = Duration::from_secs(1);

/// The SYN/ACK of a connection that is accepted.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SynAck {
    /// The connection sends it.
    Due,
    /// It has left with a cookie, and its acknowledgement came.
    Sent,
}

/// How a connection begins that is accepted.
struct Start<'a> {
    tuple: FourTuple,
    /// The peer's SYN, or what a cookie tells of it.
    syn: &'a Segment,
    /// The own initial sequence number.
    iss: Seq,
    syn_ack: SynAck,
}

impl Host {
    /// A segment without a connection: for a listener, for a connection that is joined, or for
    /// nobody. `after` is the number behind the last one of a connection that had the same 4-tuple
    /// and was in TIME-WAIT until now.
    pub(super) fn open(
        &mut self,
        now: Instant,
        tuple: FourTuple,
        packet: &TcpPacket<'_>,
        after: Option<Seq>,
    ) {
        let segment = packet.segment(ropewalk_units::Dsn::new(0));
        let opens = segment.flags.contains(Flags::SYN)
            && !segment.flags.contains(Flags::ACK)
            && !segment.flags.contains(Flags::RST);
        if !opens {
            return self.resume(now, tuple, packet, &segment);
        }
        let join = segment.options.mptcp.rare().iter().find_map(|option| match option {
            MptcpOption::Join(Join::Syn { token, .. }) => Some(*token),
            _ => None,
        });
        match (join, self.listeners.get(&tuple.local.port()).cloned()) {
            (Some(token), _) => self.join(now, tuple, &segment, token),
            (None, Some(protocol)) if self.keeps_nothing(now) => {
                self.answer_with_cookie(now, tuple, &segment, &protocol);
            }
            (None, Some(protocol)) => {
                let iss = self.initial_sequence(now, tuple, after);
                self.accept(now, &Start { tuple, syn: &segment, iss, syn_ack: SynAck::Due }, &protocol);
            }
            (None, None) => self.refuse(now, tuple, &segment, None),
        }
    }

    /// May another handshake begin? If too many are unfinished, the oldest is given up
    /// (RFC 4987 §3.4), unless it is younger than [`HANDSHAKE`]: a flood of SYNs does not end
    /// handshakes of honest peers.
    fn has_room(&mut self, now: Instant) -> bool {
        if self.opening.len() < BACKLOG {
            return true;
        }
        self.counters.overflows += 1;
        let oldest = self.opening.first_key_value().filter(|(_, since)| **since + HANDSHAKE <= now);
        let Some((&id, _)) = oldest else { return false };
        self.remove(id);
        self.closed(id, Some(tcp::CloseReason::TimedOut.to_string()));
        true
    }

    /// RFC 8684 §3.2: the token names the connection, whatever port the SYN goes to.
    fn join(&mut self, now: Instant, tuple: FourTuple, syn: &Segment, token: Token) {
        let iss = self.identity.initial_sequence(now, tuple.local, tuple.remote);
        let socket = self.tokens.get(&token).and_then(|id| Some((*id, self.sockets.get_mut(id)?)));
        let Some((id, Socket { transport: Transport::Mptcp(connection, _), .. })) = socket else {
            return self.refuse(now, tuple, syn, Some(Refusal::UNKNOWN));
        };
        match connection.accept_join(now, tuple.into(), syn, iss) {
            Ok(_) => self.attend(now, id),
            Err(refusal) => self.refuse(now, tuple, syn, Some(refusal)),
        }
    }

    /// Are SYNs answered with cookies now?
    fn keeps_nothing(&mut self, now: Instant) -> bool {
        self.cookies.policy == CookiePolicy::Always || !self.has_room(now)
    }

    /// RFC 4987 §3.6: the SYN/ACK that a connection would have sent, with a cookie for its number.
    /// Nothing is kept: a key of Multipath TCP follows from the cookie.
    fn answer_with_cookie(&mut self, now: Instant, tuple: FourTuple, syn: &Segment, protocol: &Protocol) {
        let (mut syn, cookie) = self.cookies.make(now, &self.identity, tuple, syn);
        let secret = cookie::secret(&self.identity, tuple, syn.seq, cookie);
        if self.identity.has(&secret) {
            // RFC 8684 §3.1: the key's token is in use, and no other key follows from the cookie.
            syn.options.mptcp = MptcpOptions::default();
        }
        let mut answer = Segment::default();
        let answers = match protocol {
            Protocol::Tcp(config) => {
                tcp::Connection::accept(Arc::clone(config), &syn, cookie, now).transmit(now, &mut answer)
            }
            Protocol::Mptcp(config) => {
                let accepting = self.accepting(tuple, cookie, secret);
                let mut connection = mptcp::Connection::accept((**config).clone(), accepting, &syn, now);
                connection.transmit(now, &mut answer).is_some()
            }
        };
        if answers {
            cookie::stamp(&mut answer, &syn);
            self.counters.cookies_sent += 1;
            self.answers.push_back((tuple, answer));
        }
    }

    /// A segment that opens nothing, of no connection: it may bring a cookie back.
    fn resume(&mut self, now: Instant, tuple: FourTuple, packet: &TcpPacket<'_>, segment: &Segment) {
        let protocol = self.listeners.get(&tuple.local.port()).cloned();
        let acknowledges =
            segment.flags.contains(Flags::ACK) && !segment.flags.intersects(Flags::SYN | Flags::RST);
        let known = protocol
            .filter(|_| acknowledges)
            .and_then(|protocol| Some((self.cookies.read(now, &self.identity, tuple, segment)?, protocol)));
        let Some(((syn, iss), protocol)) = known else { return self.refuse(now, tuple, segment, None) };
        if cookie::lacks_keys(segment) {
            return;
        }
        self.counters.cookies_accepted += 1;
        self.accept(now, &Start { tuple, syn: &syn, iss, syn_ack: SynAck::Sent }, &protocol);
        self.handle_segment(now, tuple, packet);
    }

    fn accepting(&self, tuple: FourTuple, iss: Seq, secret: Secret) -> mptcp::Accepting {
        let port = tuple.local.port();
        let local_addresses = self.addresses.iter().map(|address| SocketAddr::new(*address, port)).collect();
        mptcp::Accepting { path: tuple.into(), local_addresses, iss, secret }
    }

    fn accept(&mut self, now: Instant, start: &Start<'_>, protocol: &Protocol) {
        let &Start { tuple, syn, iss, syn_ack } = start;
        let transport = match protocol {
            Protocol::Tcp(config) => {
                let open = match syn_ack {
                    SynAck::Due => tcp::Connection::accept,
                    SynAck::Sent => tcp::Connection::accept_answered,
                };
                Transport::Tcp(Box::new(open(Arc::clone(config), syn, iss, now)), tuple)
            }
            Protocol::Mptcp(config) => {
                let (secret, syn) = match syn_ack {
                    SynAck::Due => (self.secret(), syn.clone()),
                    SynAck::Sent => self.secret_of_cookie(start),
                };
                let accepting = self.accepting(tuple, iss, secret);
                let open = match syn_ack {
                    SynAck::Due => mptcp::Connection::accept,
                    SynAck::Sent => mptcp::Connection::accept_answered,
                };
                let connection = open((**config).clone(), accepting, &syn, now);
                Transport::Mptcp(Box::new(connection), BTreeMap::new())
            }
        };
        self.add(now, transport, tuple, Origin::Accepted);
    }

    /// The secret that the SYN/ACK's key was made of, and the SYN. If another connection has got
    /// that token meanwhile, the connection is TCP's: its SYN is then one without options of
    /// Multipath TCP.
    fn secret_of_cookie(&mut self, start: &Start<'_>) -> (Secret, Segment) {
        let mut syn = start.syn.clone();
        let secret = cookie::secret(&self.identity, start.tuple, syn.seq, start.iss);
        if self.identity.claim(&secret) {
            return (secret, syn);
        }
        syn.options.mptcp = MptcpOptions::default();
        (self.secret(), syn)
    }

    fn refuse(&mut self, now: Instant, tuple: FourTuple, segment: &Segment, why: Option<Refusal>) {
        self.counters.unexpected += 1;
        if let Some(reset) = reset_for(segment, why)
            && self.limit.allows(now)
        {
            self.answers.push_back((tuple, reset));
        }
    }
}
