//! The transport of an endpoint: a TCP connection, or a Multipath TCP connection.

use super::addresses::EndPath;
use super::blackhole::Way;
use super::packet::Socket;
use super::ports::OwnPorts;
use crate::application::Writer;
use ropewalk_mptcp as mptcp;
use ropewalk_sim::Port;
use ropewalk_tcp as tcp;
use ropewalk_units::Instant;
use ropewalk_wire::Payload;
use std::collections::VecDeque;

/// One 4-tuple of a connection, and the interface that its packets leave by.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FourTuple {
    /// This end.
    pub(crate) local: Socket,
    /// The other end.
    pub(crate) remote: Socket,
    /// Outgoing interface, looked up once per flow.
    pub(crate) port: Port,
}

/// A TCP connection and how much of its stream has been written.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct TcpStream {
    pub(crate) tuple: FourTuple,
    written: u64,
    finished: bool,
    // Last: it begins with what every packet needs.
    pub(crate) connection: tcp::Connection,
}

impl TcpStream {
    /// Wraps a connection.
    pub(crate) fn new(connection: tcp::Connection, tuple: FourTuple) -> Self {
        Self { connection, tuple, written: 0, finished: false }
    }
}

impl Writer for TcpStream {
    fn space(&self) -> u64 {
        self.connection.send_space()
    }

    fn write(&mut self, mut octets: u64) {
        while octets > 0 {
            let len = octets.min(1 << 30) as u32;
            self.connection.push(Payload { offset: self.written, len });
            self.written += u64::from(len);
            octets -= u64::from(len);
        }
    }

    fn finish(&mut self) {
        if !self.finished {
            self.finished = true;
            self.connection.finish();
        }
    }
}

/// How a connection was opened.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Opening {
    /// By this host.
    Active,
    /// By the peer.
    Passive,
}

/// A Multipath TCP connection and the 4-tuples of its subflows.
#[derive(Debug)]
pub(crate) struct MptcpStream {
    pub(crate) connection: mptcp::Connection,
    /// Subflows of which something is left, TIME-WAIT included: theirs are the 4-tuples in use.
    living: Vec<(mptcp::SubflowId, FourTuple)>,
    /// What is to be told of those of which nothing is left.
    ended: Vec<(mptcp::Subflow, FourTuple)>,
    finished: bool,
    /// Which open it made. Nobody may join at the ports of an active one.
    pub(crate) opening: Opening,
    /// A handshake is over that says something about the way.
    pub(crate) way: Option<Way>,
    /// Subflows to be opened, once the host has given them ports.
    pub(crate) wanted: VecDeque<mptcp::Wanted>,
    /// The local ports that it has used.
    pub(crate) ports: OwnPorts,
}

impl MptcpStream {
    /// Wraps a connection; its subflows' 4-tuples follow as it creates them. `port` is its first local port.
    pub(crate) fn new(connection: mptcp::Connection, port: u16, opening: Opening) -> Self {
        let (living, ended, wanted) = (Vec::new(), Vec::new(), VecDeque::new());
        Self {
            connection,
            living,
            ended,
            finished: false,
            opening,
            way: None,
            wanted,
            ports: OwnPorts::new(port),
        }
    }

    /// The subflow between these two ends.
    pub(crate) fn subflow(&self, local: Socket, remote: Socket) -> Option<mptcp::SubflowId> {
        let found = self.living.iter().find(|(_, at)| at.remote == remote && at.local == local);
        found.map(|(id, _)| *id)
    }

    /// The same. Nearly always a host has one subflow for each interface: then it is the one of the interface, by which a segment came.
    #[inline]
    pub(crate) fn subflow_by(&self, by: Port, path: EndPath) -> Option<mptcp::SubflowId> {
        match self.living.get(by.0 as usize) {
            Some((id, at)) if at.remote == path.remote && at.local == path.local => Some(*id),
            _ => self.subflow(path.local, path.remote),
        }
    }

    /// A subflow exists.
    pub(crate) fn subflow_created(&mut self, id: mptcp::SubflowId, tuple: FourTuple) {
        debug_assert_eq!(self.subflow(tuple.local, tuple.remote), None, "two subflows with one 4-tuple");
        self.living.push((id, tuple));
    }

    /// The 4-tuple of a subflow that lives.
    #[inline]
    pub(crate) fn tuple(&self, id: mptcp::SubflowId) -> Option<&FourTuple> {
        // Identifiers are places until the first subflow is gone.
        let is_it = |living: &&(mptcp::SubflowId, FourTuple)| living.0 == id;
        let at_its_place = self.living.get(id.0 as usize).filter(is_it);
        at_its_place.or_else(|| self.living.iter().find(is_it)).map(|(_, tuple)| tuple)
    }

    /// All subflows that there have been, in order of creation, but for joins that the other end never finished.
    pub(crate) fn subflows(&self) -> Vec<(&mptcp::Subflow, &FourTuple)> {
        let living =
            self.living.iter().filter_map(|(id, tuple)| Some((self.connection.subflow(*id)?, tuple)));
        let ended = self.ended.iter().map(|(subflow, tuple)| (subflow, tuple));
        let mut subflows: Vec<_> = ended.chain(living).collect();
        subflows.sort_by_key(|(subflow, _)| subflow.id());
        subflows
    }

    /// Nothing is left of a subflow.
    pub(crate) fn subflow_gone(&mut self, now: Instant, id: mptcp::SubflowId) {
        let Some(index) = self.living.iter().position(|(living, _)| *living == id) else { return };
        let (_, tuple) = self.living.remove(index);
        let subflow = self.connection.subflow(id);
        // Only this end's own opens could use the 4-tuple again.
        if subflow.is_some_and(mptcp::Subflow::is_active) {
            self.ports.rest(now, tuple.local, tuple.remote);
        }
        // A join that the other end begins and never finishes leaves nothing.
        let counts = |subflow: &&mptcp::Subflow| subflow.is_active() || subflow.was_established();
        if let Some(subflow) = subflow.filter(counts) {
            self.ended.push((subflow.clone(), tuple));
        }
    }

    /// A port of its own from which nothing goes from this local address to that remote end, and has not for
    /// a while.
    pub(crate) fn free_port(&mut self, now: Instant, local: Socket, remote: Socket) -> Option<u16> {
        self.ports.forget(now);
        let free = |&&port: &&u16| {
            let local = local.with_port(port);
            self.subflow(local, remote).is_none() && !self.ports.rests(local, remote)
        };
        self.ports.own().iter().find(free).copied()
    }
}

impl Writer for MptcpStream {
    fn space(&self) -> u64 {
        self.connection.send_space()
    }

    fn write(&mut self, octets: u64) {
        self.connection.push(octets);
    }

    fn finish(&mut self) {
        if !self.finished {
            self.finished = true;
            self.connection.finish();
        }
    }
}

/// An endpoint's transport.
#[derive(Debug)]
pub(crate) enum Transport {
    /// A client before its start.
    Waiting,
    /// A server before the SYN.
    Listening,
    /// TCP.
    Tcp(TcpStream),
    /// Multipath TCP.
    Mptcp(MptcpStream),
}

impl Transport {
    /// When the transport's next timer fires; [`Instant::MAX`] if none will.
    #[inline(always)]
    pub(crate) fn deadline(&self) -> Instant {
        match self {
            Self::Waiting | Self::Listening => Instant::MAX,
            Self::Tcp(stream) => stream.connection.deadline(),
            Self::Mptcp(stream) => stream.connection.deadline(),
        }
    }

    /// Time has come.
    pub(crate) fn handle_timeout(&mut self, now: Instant) {
        match self {
            Self::Waiting | Self::Listening => {}
            Self::Tcp(stream) => stream.connection.handle_timeout(now),
            Self::Mptcp(stream) => stream.connection.handle_timeout(now),
        }
    }
}
