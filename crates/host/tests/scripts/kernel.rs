//! The kernel of this machine, by a TUN interface in a namespace of the script's own, in real time.

use crate::namespace;
use crate::witness::Clock;
use crate::words::{Act, Told};
use crate::world::{MTU, PEER, PORT, SUBJECT, Setting, Tolerance, World};
use ropewalk_units::{Duration, Instant};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use socket2::{Domain, Protocol, Socket, Type};
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, SocketAddrV4};
use std::os::fd::AsFd;
use tun_rs::{DeviceBuilder, SyncDevice};

/// Timers of the kernel count ticks: one may come a tick early, since the tick that runs is
/// counted. It may come two late: times are rounded up, and so are the times that were measured. No
/// kernel has longer ticks than this (CONFIG_HZ = 100); most have 4 ms or less, and the rest is for
/// the scheduler and this process.
const TICK: Duration = Duration::from_millis(10);
/// The kernel's timer wheel may fire a timer late by this part of its time (Linux,
/// kernel/time/timer.c).
const WHEEL: u64 = 8;

pub(crate) struct Kernel {
    device: SyncDevice,
    clock: Clock,
    settings: Vec<Setting>,
    listener: Option<Socket>,
    socket: Option<Socket>,
    established: bool,
    buffer: Vec<u8>,
}

impl Kernel {
    pub(crate) fn new(settings: &[Setting]) -> Self {
        namespace::prepare();
        let has = |setting| settings.contains(&setting);
        let flag = |on: bool| if on { "1" } else { "0" };
        for (key, value) in [
            // Nothing but the script's packets on the interface.
            ("net/ipv6/conf/all/disable_ipv6", "1"),
            ("net/ipv6/conf/default/disable_ipv6", "1"),
            // What `Config::linux()` stands for, whatever this machine has for its default.
            ("net/ipv4/tcp_rmem", "4096 131072 6291456"),
            ("net/ipv4/tcp_wmem", "4096 16384 4194304"),
            ("net/ipv4/tcp_ecn", if has(Setting::Ecn) { "1" } else { "2" }),
            ("net/ipv4/route/mtu_expires", if has(Setting::ShortMtuLifetime) { "1" } else { "600" }),
            ("net/ipv4/tcp_early_retrans", if has(Setting::NoTailLossProbe) { "0" } else { "3" }),
            ("net/ipv4/tcp_sack", flag(!has(Setting::NoSack))),
            ("net/ipv4/tcp_syncookies", if has(Setting::Cookies) { "2" } else { "1" }),
        ] {
            std::fs::write(format!("/proc/sys/{key}"), value)
                .unwrap_or_else(|error| panic!("{key}: {error}"));
        }
        let device = DeviceBuilder::new().name("script").mtu(MTU).ipv4(SUBJECT, 24u8, None);
        let device = device.build_sync().expect("root opens TUN interfaces");
        device.set_nonblocking(true).expect("a device that does not block");
        Self {
            device,
            clock: Clock::new(),
            settings: settings.to_vec(),
            listener: None,
            socket: None,
            established: false,
            buffer: vec![0; usize::from(u16::MAX)],
        }
    }

    fn new_socket(&self) -> Socket {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::TCP)).expect("a socket");
        socket.set_nonblocking(true).expect("a socket that does not block");
        let no_delay = self.settings.contains(&Setting::NoDelay);
        socket.set_tcp_nodelay(no_delay).expect("an option");
        socket.set_tcp_congestion(b"cubic").expect("the kernel has CUBIC");
        socket
    }

    fn listen(&mut self) {
        let listener = self.new_socket();
        listener.bind(&SocketAddrV4::new(SUBJECT, PORT).into()).expect("an address of the kernel's");
        listener.listen(8).expect("a listener");
        self.listener = Some(listener);
    }

    fn accept(&mut self) -> Result<(), String> {
        let listener = self.listener.as_ref().ok_or("nobody listens")?;
        let (socket, _) = listener.accept().map_err(|error| error.to_string())?;
        socket.set_nonblocking(true).map_err(|error| error.to_string())?;
        self.socket = Some(socket);
        self.established = true;
        Ok(())
    }

    fn connect(&mut self) {
        let socket = self.new_socket();
        socket.bind(&SocketAddrV4::new(SUBJECT, 0).into()).expect("an address of the kernel's");
        let to = SocketAddr::new(PEER.into(), PORT);
        match socket.connect(&to.into()) {
            Err(error) if error.raw_os_error() == Some(rustix::io::Errno::INPROGRESS.raw_os_error()) => {}
            result => panic!("a connection that is not there yet, but {result:?}"),
        }
        self.socket = Some(socket);
    }

    fn socket(&mut self) -> Result<&mut Socket, String> {
        self.socket.as_mut().ok_or_else(|| "there is no connection".to_owned())
    }

    /// Is this a packet of TCP over IPv4? The kernel may have others to send.
    fn is_segment(packet: &[u8]) -> bool {
        const TCP: u8 = 6;
        packet.len() > 20 && packet[0] >> 4 == 4 && packet[9] == TCP
    }
}

impl World for Kernel {
    fn now(&self) -> Instant {
        self.clock.now()
    }

    fn tolerance(&self, after: Duration) -> Tolerance {
        Tolerance { early: TICK, late: TICK * 2 + after / WHEEL }
    }

    fn next_packet(&mut self, deadline: Instant) -> Option<(Instant, Vec<u8>)> {
        loop {
            match self.device.recv(&mut self.buffer) {
                Ok(len) if Self::is_segment(&self.buffer[..len]) => {
                    return Some((self.now(), self.buffer[..len].to_vec()));
                }
                Ok(_) => continue,
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) => panic!("the interface works: {error}"),
            }
            let left = deadline.saturating_since(self.now());
            if left.is_zero() {
                return None;
            }
            let nanos = left.as_nanos();
            let timeout =
                Timespec { tv_sec: (nanos / 1_000_000_000) as i64, tv_nsec: (nanos % 1_000_000_000) as i64 };
            let _ = poll(&mut [PollFd::from_borrowed_fd(self.device.as_fd(), PollFlags::IN)], Some(&timeout));
        }
    }

    fn inject(&mut self, packet: &[u8]) {
        self.device.send(packet).expect("the interface works");
    }

    fn act(&mut self, act: Act) -> Result<(), String> {
        match act {
            Act::Listen => self.listen(),
            Act::Accept => self.accept()?,
            Act::Connect => self.connect(),
            Act::Finish => {
                self.socket()?.shutdown(std::net::Shutdown::Write).map_err(|error| error.to_string())?;
            }
            Act::Close => drop(self.socket.take()),
            Act::Abort => {
                // The last handle resets when it goes.
                self.socket()?.set_linger(Some(std::time::Duration::ZERO)).expect("an option");
                drop(self.socket.take());
            }
            Act::Write(_) | Act::Read(_) => unreachable!("octets have calls of their own"),
        }
        Ok(())
    }

    fn write(&mut self, octets: &[u8]) -> usize {
        self.socket().map_or(0, |socket| socket.write(octets).unwrap_or(0))
    }

    fn read(&mut self, most: usize) -> Vec<u8> {
        let mut seen = vec![0; most];
        let len = self.socket().map_or(0, |socket| socket.read(&mut seen).unwrap_or(0));
        seen.truncate(len);
        seen
    }

    fn told(&mut self) -> Told {
        let established = self.established;
        let Ok(socket) = self.socket() else { return Told::Nothing };
        if let Some(error) = socket.take_error().expect("the socket tells") {
            return failure(error.kind());
        }
        if !established && socket.peer_addr().is_err() {
            return Told::Nothing;
        }
        let mut peeked = [std::mem::MaybeUninit::uninit()];
        match socket.peek(&mut peeked) {
            Ok(0) => Told::End,
            Ok(_) => Told::Established,
            Err(error) if error.kind() == ErrorKind::WouldBlock => Told::Established,
            Err(error) => failure(error.kind()),
        }
    }
}

fn failure(kind: ErrorKind) -> Told {
    match kind {
        ErrorKind::ConnectionRefused => Told::Refused,
        ErrorKind::TimedOut => Told::Timeout,
        _ => Told::Reset,
    }
}
