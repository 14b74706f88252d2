//! Sockets of a connection, as its plan says.

use crate::wait::wait;
use ropewalk_mptcp::Coupling;
use ropewalk_scenario::plan::{ConnectionPlan, Plan, Protocol};
use ropewalk_tcp::CongestionControl;
use ropewalk_units::Duration;
use rustix::event::{PollFd, PollFlags};
use rustix::net::sockopt::set_socket_recv_buffer_size_force;
use socket2::{Domain, SockAddr, Socket, Type};
use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, Shutdown, SocketAddr};
use std::sync::atomic::{AtomicBool, Ordering};

/// Linux's number of Multipath TCP as a protocol.
const IPPROTO_MPTCP: i32 = 262;
/// First port that servers listen on: connection k has the k-th from here, as in simulation.
const FIRST_SERVER_PORT: u16 = 5001;
/// First port of clients, likewise.
const FIRST_CLIENT_PORT: u16 = 35_001;
/// Octets of memory for datagrams that wait for their receiver. A simulated receiver takes whatever
/// comes. The kernel's default holds some ninety datagrams, fewer than a resequencer lets go at
/// once.
const WAITING: usize = 16 << 20;
/// A thread that waits checks this often whether the run is over.
const LOOK: Duration = Duration::from_millis(20);

/// The kernel's name of a connection's congestion control.
pub(crate) fn control(protocol: &Protocol) -> &'static str {
    let of_tcp = |control| match control {
        CongestionControl::NewReno { .. } => "reno",
        CongestionControl::Dctcp => "dctcp",
        CongestionControl::Bbr => "bbr",
        _ => "cubic",
    };
    match protocol {
        Protocol::Tcp(config) => of_tcp(config.congestion_control),
        Protocol::Mptcp(config) => match config.coupling {
            Coupling::Cubic => "cubic",
            Coupling::Bbr => "bbr",
            // The kernel has no coupled congestion control. Reno on each subflow is nearest to
            // that.
            _ => "reno",
        },
        Protocol::Udp => "",
    }
}

/// The port of the server of the connection with this index.
pub(crate) const fn server_port(connection: usize) -> u16 {
    FIRST_SERVER_PORT + connection as u16
}

/// Makes the sockets of one connection.
pub(super) struct Sockets<'a> {
    connection: &'a ConnectionPlan,
    local: SocketAddr,
    remote: SocketAddr,
}

impl<'a> Sockets<'a> {
    /// Of the connection with this index.
    pub(super) fn new(plan: &Plan, connection: &'a ConnectionPlan, index: usize) -> Self {
        let [local, remote] = connection.paths[0].addresses().map(|address| plan.address(address));
        Self {
            connection,
            local: SocketAddr::new(local, FIRST_CLIENT_PORT + index as u16),
            remote: SocketAddr::new(remote, server_port(index)),
        }
    }

    const fn domain(&self) -> Domain {
        if self.local.is_ipv4() { Domain::IPV4 } else { Domain::IPV6 }
    }

    /// All addresses of a host.
    const fn everywhere(&self) -> IpAddr {
        match self.remote {
            SocketAddr::V4(_) => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
            SocketAddr::V6(_) => IpAddr::V6(Ipv6Addr::UNSPECIFIED),
        }
    }

    fn set_dscp(&self, socket: &Socket) -> io::Result<()> {
        let class = u32::from(self.connection.dscp) << 2;
        if class == 0 {
            return Ok(());
        }
        if self.local.is_ipv4() { socket.set_tos_v4(class) } else { socket.set_tclass_v6(class) }
    }

    fn socket(&self) -> io::Result<Socket> {
        let protocol = match self.connection.protocol {
            Protocol::Mptcp(_) => socket2::Protocol::from(IPPROTO_MPTCP),
            Protocol::Tcp(_) | Protocol::Udp => socket2::Protocol::TCP,
        };
        let socket = Socket::new(self.domain(), Type::STREAM, Some(protocol))?;
        socket.set_reuse_address(true)?;
        socket.set_tcp_congestion(control(&self.connection.protocol).as_bytes())?;
        self.set_dscp(&socket)?;
        if self.connection.protocol.tcp().is_some_and(|tcp| !tcp.nagle) {
            socket.set_tcp_nodelay(true)?;
        }
        socket.set_nonblocking(true)?;
        Ok(socket)
    }

    /// Listens on all addresses: subflows come to others than the first.
    pub(super) fn server(&self) -> io::Result<Server> {
        let socket = self.socket()?;
        socket.bind(&SockAddr::from(SocketAddr::new(self.everywhere(), self.remote.port())))?;
        socket.listen(8)?;
        Ok(Server(socket))
    }

    /// The client's socket for datagrams, which knows the server.
    pub(super) fn client_datagrams(&self) -> io::Result<Stream> {
        self.datagrams(self.local, self.remote)
    }

    /// The server's socket for datagrams, which knows the client.
    pub(super) fn server_datagrams(&self) -> io::Result<Stream> {
        self.datagrams(self.remote, self.local)
    }

    fn datagrams(&self, own: SocketAddr, peer: SocketAddr) -> io::Result<Stream> {
        let socket = roomy(self.domain())?;
        self.set_dscp(&socket)?;
        socket.bind(&SockAddr::from(own))?;
        socket.connect(&SockAddr::from(peer))?;
        Stream::new(socket, None)
    }

    /// Bound to the first path's address.
    pub(super) fn client(&self) -> io::Result<Client> {
        let socket = self.socket()?;
        socket.bind(&SockAddr::from(self.local))?;
        Ok(Client { socket, remote: self.remote })
    }
}

/// A socket in which datagrams may wait for their receiver.
fn roomy(domain: Domain) -> io::Result<Socket> {
    let socket = Socket::new(domain, Type::DGRAM, Some(socket2::Protocol::UDP))?;
    set_socket_recv_buffer_size_force(&socket, WAITING)?;
    Ok(socket)
}

/// Waits for `most`, but not longer than [`LOOK`]. Returns what the socket is ready for.
fn look(socket: &Socket, flags: PollFlags, most: Duration) -> io::Result<PollFlags> {
    let mut asked = [PollFd::new(socket, flags)];
    wait(&mut asked, most.min(LOOK))?;
    Ok(asked[0].revents())
}

/// A socket that listens.
pub(super) struct Server(Socket);

impl Server {
    /// The first connection; nothing if the run is over before.
    pub(super) fn accept(self, stop: &AtomicBool) -> io::Result<Option<Stream>> {
        while !stop.load(Ordering::Relaxed) {
            if !look(&self.0, PollFlags::IN, LOOK)?.is_empty() {
                let (socket, _) = self.0.accept()?;
                return Stream::new(socket, Some(self.0)).map(Some);
            }
        }
        Ok(None)
    }
}

/// A socket that is bound.
pub(super) struct Client {
    socket: Socket,
    remote: SocketAddr,
}

impl Client {
    /// Connects; nothing if the run is over before.
    pub(super) fn connect(self, stop: &AtomicBool) -> io::Result<Option<Stream>> {
        match self.socket.connect(&SockAddr::from(self.remote)) {
            Err(error) if error.raw_os_error() == Some(rustix::io::Errno::INPROGRESS.raw_os_error()) => {}
            done => done?,
        }
        while !stop.load(Ordering::Relaxed) {
            if !look(&self.socket, PollFlags::OUT, LOOK)?.is_empty() {
                return match self.socket.take_error()? {
                    Some(error) => Err(error),
                    None => Stream::new(self.socket, None).map(Some),
                };
            }
        }
        Ok(None)
    }
}

/// A connected socket. Its calls return at once, done or not.
pub(super) struct Stream {
    socket: Socket,
    /// Joins come to it as long as the connection lasts.
    _listener: Option<Socket>,
}

impl Stream {
    fn new(socket: Socket, listener: Option<Socket>) -> io::Result<Self> {
        socket.set_nonblocking(true)?;
        Ok(Self { socket, _listener: listener })
    }

    /// Waits until a call has something to do, or for `most`, or until it is time to look whether
    /// the run is over. What can be done is returned, errors included.
    pub(super) fn wait(&self, flags: PollFlags, most: Duration) -> io::Result<PollFlags> {
        look(&self.socket, flags, most)
    }

    pub(super) fn write(&self, octets: &[u8]) -> io::Result<usize> {
        (&self.socket).write(octets)
    }

    pub(super) fn read(&self, octets: &mut [u8]) -> io::Result<usize> {
        (&self.socket).read(octets)
    }

    /// Says that nothing more will be written.
    pub(super) fn finish(&self) -> io::Result<()> {
        self.socket.shutdown(Shutdown::Write)
    }
}

/// `None` for a call that could not be done at once. It is to be made again.
pub(super) fn again<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::process::geteuid;

    #[test]
    fn a_thousand_datagrams_wait_for_their_receiver() {
        if !geteuid().is_root() {
            println!("skipped: the kernel gives so much memory to root alone");
            return;
        }
        let [sender, receiver] =
            [roomy(Domain::IPV4), roomy(Domain::IPV4)].map(|socket| socket.expect("a socket"));
        receiver.bind(&SockAddr::from(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))).expect("a port");
        receiver.set_nonblocking(true).expect("it is a socket");
        sender.connect(&receiver.local_addr().expect("it is bound")).expect("it is there");
        for _ in 0..1000 {
            assert_eq!(sender.send(&[1; 1400]).expect("loopback takes it"), 1400);
        }
        let mut octets = [0; 1500];
        let came = std::iter::from_fn(|| again((&receiver).read(&mut octets)).expect("it is open")).count();
        assert_eq!(came, 1000);
    }
}
