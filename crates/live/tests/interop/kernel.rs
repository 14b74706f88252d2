//! Applications on the kernel's sockets: they send or receive so many octets and give back what
//! they saw.

use ropewalk_adversary::{Random, Source};
use sha2::{Digest, Sha256};
use socket2::{Domain, Protocol, Socket, Type};
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Linux's number of Multipath TCP as a protocol.
const IPPROTO_MPTCP: i32 = 262;
/// No test takes so long.
const PATIENCE: Duration = Duration::from_secs(180);

/// What a stream was: its octets, and their SHA-256.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Seen {
    pub(crate) octets: u64,
    pub(crate) digest: [u8; 32],
}

/// The stream of a test: `octets` of noise that is the same for each seed.
pub(crate) struct Noise {
    random: Random,
    left: u64,
}

impl Noise {
    pub(crate) fn new(seed: u64, octets: u64) -> Self {
        Self { random: Random::new(seed), left: octets }
    }

    /// Octets that are still to come.
    pub(crate) const fn left(&self) -> u64 {
        self.left
    }

    /// The next octets, `most` at the most; none at the end.
    pub(crate) fn next(&mut self, most: usize) -> Vec<u8> {
        let len = self.left.min(most as u64) as usize;
        self.left -= len as u64;
        let mut octets = Vec::with_capacity(len);
        for _ in 0..len {
            octets.push(self.random.next() as u8);
        }
        octets
    }

    /// What a receiver of all of it sees.
    pub(crate) fn seen(mut self) -> Seen {
        let mut digest = Digester::default();
        loop {
            let octets = self.next(1 << 16);
            if octets.is_empty() {
                return digest.seen();
            }
            digest.take(&octets);
        }
    }
}

#[derive(Default)]
pub(crate) struct Digester {
    octets: u64,
    digest: Sha256,
}

impl Digester {
    pub(crate) fn take(&mut self, octets: &[u8]) {
        self.octets += octets.len() as u64;
        self.digest.update(octets);
    }

    pub(crate) const fn octets(&self) -> u64 {
        self.octets
    }

    pub(crate) fn seen(self) -> Seen {
        Seen { octets: self.octets, digest: self.digest.finalize().into() }
    }
}

fn socket(multipath: bool, address: SocketAddr) -> Socket {
    let protocol = if multipath { Protocol::from(IPPROTO_MPTCP) } else { Protocol::TCP };
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(protocol)).expect("a socket");
    socket.set_read_timeout(Some(PATIENCE)).expect("a timeout");
    socket.set_write_timeout(Some(PATIENCE)).expect("a timeout");
    socket
}

/// Receives so many octets, sends nothing, and aborts.
fn abort(mut socket: Socket, after: u64) -> Seen {
    let (mut digest, mut buffer) = (Digester::default(), vec![0; 1 << 16]);
    while digest.octets() <= after {
        let len = socket.read(&mut buffer).expect("the peer's stream");
        digest.take(&buffer[..len]);
    }
    // The last handle that goes resets: of Multipath TCP by MP_FASTCLOSE.
    socket.set_linger(Some(Duration::ZERO)).expect("an option");
    digest.seen()
}

/// Sends `out` octets of noise while it receives whatever comes.
fn talk(socket: Socket, mut out: Noise, aborts_after: Option<u64>) -> Seen {
    if let Some(after) = aborts_after {
        return abort(socket, after);
    }
    let mut writer = socket.try_clone().expect("a second handle");
    let sender = thread::spawn(move || {
        loop {
            let octets = out.next(1 << 16);
            if octets.is_empty() {
                return writer.shutdown(Shutdown::Write).expect("the end of the stream");
            }
            // A connection that was reset: its reader sees that too little came.
            if writer.write_all(&octets).is_err() {
                return;
            }
        }
    });
    let mut reader = socket;
    let (mut digest, mut buffer) = (Digester::default(), vec![0; 1 << 16]);
    loop {
        match reader.read(&mut buffer) {
            Ok(0) | Err(_) => break,
            Ok(len) => digest.take(&buffer[..len]),
        }
    }
    sender.join().expect("the sender");
    digest.seen()
}

/// A server for one connection, that listens when this returns.
pub(crate) fn serve(
    multipath: bool,
    address: SocketAddr,
    out: Noise,
    aborts_after: Option<u64>,
) -> JoinHandle<Seen> {
    let listener = socket(multipath, address);
    listener.set_reuse_address(true).expect("an option");
    listener.bind(&address.into()).expect("an address of the kernel's");
    listener.listen(8).expect("a listener");
    thread::spawn(move || {
        let (socket, _) = listener.accept().expect("a connection");
        socket.set_read_timeout(Some(PATIENCE)).expect("a timeout");
        socket.set_write_timeout(Some(PATIENCE)).expect("a timeout");
        talk(socket, out, aborts_after)
    })
}

/// A client.
pub(crate) fn connect(
    multipath: bool,
    from: SocketAddr,
    to: SocketAddr,
    out: Noise,
    aborts_after: Option<u64>,
) -> JoinHandle<Seen> {
    thread::spawn(move || {
        let socket = socket(multipath, from);
        socket.bind(&from.into()).expect("an address of the kernel's");
        socket.connect(&to.into()).expect("a connection");
        talk(socket, out, aborts_after)
    })
}
