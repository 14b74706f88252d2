//! The transports of an endpoint behind one face: a TCP connection, or a Multipath TCP connection.

use super::application::Writer;
use super::packet::Socket;
use ropewalk_mptcp as mptcp;
use ropewalk_sim::Port;
use ropewalk_tcp as tcp;
use ropewalk_units::Instant;
use ropewalk_wire::Payload;

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

/// A Multipath TCP connection and the 4-tuples of its subflows.
#[derive(Debug)]
pub(crate) struct MptcpStream {
    pub(crate) connection: mptcp::Connection,
    /// By subflow id.
    pub(crate) tuples: Vec<FourTuple>,
    finished: bool,
}

impl MptcpStream {
    /// Wraps a connection; its subflows' 4-tuples follow as it creates them.
    pub(crate) fn new(connection: mptcp::Connection) -> Self {
        Self { connection, tuples: Vec::new(), finished: false }
    }

    /// The subflow between these two ends.
    pub(crate) fn subflow(&self, local: Socket, remote: Socket) -> Option<mptcp::SubflowId> {
        let found = self.tuples.iter().rposition(|tuple| tuple.remote == remote && tuple.local == local);
        found.map(|index| mptcp::SubflowId(index as u32))
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
#[expect(clippy::large_enum_variant, reason = "an endpoint lives in a Vec and is never moved per packet")]
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
