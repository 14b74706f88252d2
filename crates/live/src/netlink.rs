//! The kernel's settings by netlink: one request, and its answers.

mod attribute;
mod diag;
mod mptcp;
mod raw;
mod route;

pub(crate) use diag::{Diag, TcpInfo, TcpSocket};
pub(crate) use mptcp::{Endpoint, EndpointFlags, MptcpPm};
pub(crate) use route::{Route, RouteMetrics, Routing};

use netlink_packet_core::{
    NLM_F_ACK, NLM_F_DUMP, NLM_F_REQUEST, NetlinkDeserializable, NetlinkHeader, NetlinkMessage,
    NetlinkPayload, NetlinkSerializable,
};
use netlink_sys::{Socket, SocketAddr};
use std::fmt::Debug;
use std::io;

/// A socket of one of netlink's protocols. It stays in the namespace in which it was opened.
pub(crate) struct Netlink {
    socket: Socket,
    sequence: u32,
}

impl Netlink {
    fn open(protocol: isize) -> io::Result<Self> {
        let mut socket = Socket::new(protocol)?;
        socket.bind_auto()?;
        socket.connect(&SocketAddr::new(0, 0))?;
        Ok(Self { socket, sequence: 0 })
    }

    /// Asks for something to be done; what the kernel has to say to it.
    fn request<T>(&mut self, message: T, flags: u16) -> io::Result<Vec<T>>
    where
        T: NetlinkSerializable + NetlinkDeserializable + Debug,
    {
        // A dump ends by itself.
        let ends = if flags & NLM_F_DUMP == NLM_F_DUMP { 0 } else { NLM_F_ACK };
        self.send(message, NLM_F_REQUEST | flags | ends)?;
        let mut answers = Vec::new();
        loop {
            let (octets, _) = self.socket.recv_from_full()?;
            if self.read(&octets, &mut answers)? {
                return Ok(answers);
            }
        }
    }

    fn send<T: NetlinkSerializable + Debug>(&mut self, message: T, flags: u16) -> io::Result<()> {
        self.sequence += 1;
        let mut header = NetlinkHeader::default();
        header.flags = flags;
        header.sequence_number = self.sequence;
        let mut message = NetlinkMessage::new(header, NetlinkPayload::InnerMessage(message));
        message.finalize();
        let mut octets = vec![0; message.buffer_len()];
        message.serialize(&mut octets);
        self.socket.send(&octets, 0).map(drop)
    }

    /// Reads one datagram's messages. Is the answer complete?
    fn read<T: NetlinkDeserializable + Debug>(
        &self,
        octets: &[u8],
        answers: &mut Vec<T>,
    ) -> io::Result<bool> {
        let mut rest = octets;
        while !rest.is_empty() {
            let message = NetlinkMessage::<T>::deserialize(rest).map_err(io::Error::other)?;
            let len = (message.header.length as usize).next_multiple_of(4);
            match message.payload {
                NetlinkPayload::Done(_) => return Ok(true),
                NetlinkPayload::Error(error) => {
                    return error.code.map_or(Ok(true), |_| Err(error.to_io()));
                }
                NetlinkPayload::InnerMessage(answer) => answers.push(answer),
                _ => {}
            }
            rest = rest.get(len..).unwrap_or_default();
        }
        Ok(false)
    }
}
