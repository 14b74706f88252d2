//! One end of a connection at a host of ours: the scenario's source and sink on the sans-IO host.

use super::stream::{CHUNK, Outgoing, follows, tell, wrong_at};
use super::{DataEnd, Progress, server_port};
use crate::board::{Report, Seen};
use crate::netlink::TcpInfo;
use ropewalk_host::{Host, Protocol, SocketId};
use ropewalk_mptcp::{Path, Subflow};
use ropewalk_scenario::MptcpSample;
use ropewalk_scenario::application::{Sink, Source};
use ropewalk_tcp as tcp;
use ropewalk_units::Instant;
use ropewalk_wire::{Payload, fill_stream};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

/// How the end gets its connection.
#[derive(Debug)]
pub(super) enum Opening {
    /// The end opens the connection at `start`, over these paths.
    Active { start: Instant, paths: Vec<Path>, protocol: Protocol },
    /// The end waits for the connection.
    Passive { protocol: Protocol },
}

/// One end, as it runs.
pub(crate) struct OwnEnd {
    /// Index in the plan.
    connection: usize,
    opening: Opening,
    source: Source,
    outgoing: Outgoing,
    data: DataEnd,
    sink: Sink,
    progress: Arc<Progress>,
    socket: Option<SocketId>,
    is_shut: bool,
    octets: Vec<u8>,
}

impl OwnEnd {
    pub(super) fn new(
        connection: usize,
        opening: Opening,
        (source, data): (Source, DataEnd),
        progress: Arc<Progress>,
    ) -> Self {
        Self {
            connection,
            opening,
            source,
            outgoing: Outgoing::default(),
            data,
            sink: Sink::default(),
            progress,
            socket: None,
            is_shut: false,
            octets: Vec::new(),
        }
    }

    /// Before time zero: listens, if this end waits for its connection.
    pub(crate) fn prepare(&self, host: &mut Host) {
        if let Opening::Passive { protocol } = &self.opening {
            host.listen(server_port(self.connection), protocol.clone());
        }
    }

    /// Takes a connection that has come to this port, if it is the one.
    pub(crate) fn accept(&mut self, id: SocketId, port: u16) -> bool {
        let waits = matches!(self.opening, Opening::Passive { .. }) && self.socket.is_none();
        let mine = waits && port == server_port(self.connection);
        if mine {
            self.socket = Some(id);
        }
        mine
    }

    /// Its connection is over; an error tells why it failed.
    pub(crate) fn close(&mut self, id: SocketId, error: Option<String>) {
        if self.socket == Some(id)
            && let Some(error) = error
        {
            self.progress.fail(&io::Error::other(error));
        }
    }

    /// Reads what has come and writes what is due.
    pub(crate) fn work(&mut self, host: &mut Host, now: Instant) {
        self.open(host, now);
        let Some(id) = self.socket else { return };
        self.receive(host, id, now);
        self.send(host, id, now);
        tell(&self.progress, self.data, &self.source, &self.sink);
    }

    fn open(&mut self, host: &mut Host, now: Instant) {
        let Opening::Active { start, paths, protocol } = &self.opening else { return };
        if self.socket.is_some() || now < *start {
            return;
        }
        // The time of a request counts from here on, as in simulation.
        self.source.pump(now, &Sink::default(), &mut self.outgoing);
        self.socket = host.connect_over(now, paths, protocol);
    }

    fn send(&mut self, host: &mut Host, id: SocketId, now: Instant) {
        loop {
            self.source.pump(now, &self.sink, &mut self.outgoing);
            let unsent = self.outgoing.unsent();
            if unsent == 0 {
                break;
            }
            self.octets.resize(unsent, 0);
            fill_stream(self.outgoing.sent(), &mut self.octets);
            let written = host.write(now, id, &self.octets);
            if written == 0 {
                return;
            }
            self.outgoing.advance(written as u64);
        }
        if self.outgoing.is_finished() && !self.is_shut && !follows(&self.source) {
            self.is_shut = true;
            host.finish(now, id);
        }
    }

    /// Compares every octet with the one that was sent.
    fn receive(&mut self, host: &mut Host, id: SocketId, now: Instant) {
        loop {
            self.octets.clear();
            let len = host.read(now, id, CHUNK, &mut self.octets);
            if len == 0 {
                break;
            }
            let offset = self.sink.bytes;
            if let Some(at) = wrong_at(offset, &self.octets) {
                let message = format!("octet {at} of the stream was not the one that was sent");
                return self.progress.fail(&io::Error::other(message));
            }
            self.sink.process(now, Payload { offset, len: len as u32 });
        }
        if self.sink.finished_at.is_none() && host.peer_finished(id) {
            self.sink.finish(now);
        }
    }

    /// When it wants to work although nothing arrives.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        match &self.opening {
            Opening::Active { start, .. } if self.socket.is_none() => Some(*start),
            _ => self.source.deadline(),
        }
    }

    /// If this end sends the data: the index of its connection, and what a kernel would report of
    /// the subflows.
    pub(crate) fn report(&self, host: &Host) -> Option<(usize, Report)> {
        let id = self.socket.filter(|_| self.data == DataEnd::Sender)?;
        if let Some(connection) = host.mptcp(id) {
            let established = connection.subflows().filter(|subflow| subflow.was_established());
            let seen = established.map(|subflow| {
                let path = subflow.path();
                seen(path.local, path.remote, subflow.tcp())
            });
            let is_open = !connection.is_closed() && connection.subflows().any(Subflow::was_established);
            let multipath = Some(MptcpSample::of(connection));
            return Some((self.connection, Report { subflows: seen.collect(), multipath, is_open }));
        }
        let (local, remote) = host.ends(id)?;
        let subflows = vec![seen(local, remote, host.tcp(id)?)];
        Some((self.connection, Report { subflows, ..Report::default() }))
    }
}

/// What a kernel would tell of this connection.
fn seen(local: SocketAddr, remote: SocketAddr, tcp: &tcp::Connection) -> Seen {
    let (stats, mss) = (tcp.stats(), tcp.smss().max(1));
    let count = |count: u64| count.min(u64::from(u32::MAX)) as u32;
    let info = TcpInfo {
        mss,
        unacked: tcp.flight_size().div_ceil(mss),
        rtt_us: tcp.srtt().map_or(0, |srtt| count(srtt.as_micros())),
        ssthresh: tcp.ssthresh() / mss,
        cwnd: tcp.cwnd() / mss,
        retransmissions: count(stats.retransmissions),
        bytes_acked: stats.bytes_acked,
        bytes_received: stats.bytes_received,
        segments_out: count(stats.segments_sent),
        dsack_dups: Some(count(stats.spurious_retransmissions)),
        timeouts: Some(stats.timeouts.min(u64::from(u16::MAX)) as u16),
    };
    Seen { local, remote, info, bytes: stats.bytes_acked }
}
