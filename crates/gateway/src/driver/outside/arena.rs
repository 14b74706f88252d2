//! Buffers for datagrams that arrive together.

use quinn_udp::{RecvMeta, UdpSocketState};
use std::io::{self, IoSliceMut};
use std::net::{IpAddr, SocketAddr, UdpSocket};

/// Buffers of one system call.
const COUNT: usize = 8;
/// The most octets that the kernel joins into one buffer.
const LONGEST: usize = 65_535;

/// The buffers, for all sockets.
pub(in crate::driver) struct Arena(Vec<Vec<u8>>);

impl Default for Arena {
    fn default() -> Self {
        Self(vec![vec![0; LONGEST]; COUNT])
    }
}

impl Arena {
    /// Passes on what waits at a socket, each datagram by itself, with the sender's address and, if the kernel tells, the one that
    /// it was sent to.
    pub(super) fn receive(
        &mut self,
        socket: &UdpSocket,
        state: Option<&UdpSocketState>,
        mut take: impl FnMut(&mut [u8], SocketAddr, Option<IpAddr>),
    ) -> io::Result<()> {
        let Some(state) = state else {
            let (len, from) = socket.recv_from(&mut self.0[0])?;
            take(&mut self.0[0][..len], from, None);
            return Ok(());
        };
        let mut metas = [RecvMeta::default(); COUNT];
        let mut slices = self.0.iter_mut().map(|buffer| IoSliceMut::new(buffer));
        let mut slices: [IoSliceMut<'_>; COUNT] =
            std::array::from_fn(|_| slices.next().expect("as many buffers"));
        let count = state.recv(socket.into(), &mut slices, &mut metas)?;
        for (meta, buffer) in metas[..count].iter().zip(&mut self.0) {
            // An empty datagram has a stride of 0.
            for datagram in buffer[..meta.len].chunks_mut(meta.stride.max(1)) {
                take(datagram, meta.addr, meta.dst_ip);
            }
        }
        Ok(())
    }
}
