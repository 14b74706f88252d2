//! Datagrams that leave together: by UDP_SEGMENT, else by `sendmmsg`.

use super::Unsent;
use nix::sys::socket::{MsgFlags, MultiHeaders, SockaddrStorage, sendmmsg};
use quinn_udp::{Transmit, UdpSocketState};
use rustix::io::Errno;
use std::io::{self, IoSlice};
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::os::fd::AsRawFd;

/// The most datagrams that wait: as many as UDP_SEGMENT takes.
const MOST: usize = 64;
/// Octets that UDP_SEGMENT takes: those of one IP packet, less its headers.
const LONGEST_RUN: usize = 65_535 - 48;

/// Datagrams of one socket in their order.
#[derive(Default)]
pub(super) struct Batch {
    octets: Vec<u8>,
    parts: Vec<Part>,
}

#[derive(Clone, Copy)]
struct Part {
    len: usize,
    to: SocketAddr,
    /// The own address that it leaves from. `None`: the kernel chooses.
    from: Option<IpAddr>,
}

/// Datagrams that one system call takes: to one address, all but the last of one length.
struct Run {
    count: usize,
    octets: usize,
    first: Part,
}

/// A socket that sends, and its offloads.
pub(super) struct Carrier<'a> {
    pub(super) socket: &'a UdpSocket,
    pub(super) state: Option<&'a UdpSocketState>,
}

impl Carrier<'_> {
    /// Does the kernel cut one buffer into several datagrams?
    pub(super) fn segments(&self) -> bool {
        self.state.is_some_and(|state| state.max_gso_segments() > 1)
    }
}

/// The first datagrams that go together. `None`: there are none.
fn run(parts: &[Part]) -> Option<Run> {
    let first = *parts.first()?;
    let mut run = Run { count: 0, octets: 0, first };
    for part in parts {
        let fits = (part.to, part.from) == (first.to, first.from)
            && part.len <= first.len
            && run.octets + part.len <= LONGEST_RUN;
        if run.count > 0 && !fits {
            break;
        }
        run.count += 1;
        run.octets += part.len;
        if part.len < first.len {
            break;
        }
    }
    Some(run)
}

impl Batch {
    pub(super) fn push(&mut self, datagram: &[u8], to: SocketAddr, from: Option<IpAddr>) {
        self.octets.extend_from_slice(datagram);
        self.parts.push(Part { len: datagram.len(), to, from });
    }

    pub(super) fn is_full(&self) -> bool {
        self.parts.len() >= MOST
    }

    pub(super) fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Forgets all of them. Returns how many there were.
    pub(super) fn discard(&mut self) -> u64 {
        let count = self.parts.len() as u64;
        self.octets.clear();
        self.parts.clear();
        count
    }

    /// Sends all of them. Returns what did not leave, and the last error of the socket.
    pub(super) fn send(&mut self, carrier: &Carrier<'_>) -> (Unsent, Option<io::Error>) {
        let mut tally = Tally::default();
        let (mut parts, mut octets) = (self.parts.as_slice(), self.octets.as_slice());
        while carrier.segments() {
            let Some(run) = run(parts) else { break };
            let (own, rest) = octets.split_at(run.octets);
            if !send_run(carrier, &run, own) {
                // A datagram is too long, or the kernel does not segment here. Sent by itself, each
                // datagram gets its own error.
                break;
            }
            (parts, octets) = (&parts[run.count..], rest);
        }
        // `sendmmsg` lets the kernel choose the address.
        while let Some(part) = parts.first().filter(|part| part.from.is_some()) {
            let (own, rest) = octets.split_at(part.len);
            send_one(carrier, part, own, &mut tally);
            (parts, octets) = (&parts[1..], rest);
        }
        send_many(carrier, parts, octets, &mut tally);
        self.discard();
        (tally.unsent, tally.last)
    }
}

/// Hands a run to the kernel. Returns whether the kernel took it.
fn send_run(carrier: &Carrier<'_>, run: &Run, octets: &[u8]) -> bool {
    let Some(state) = carrier.state else { return false };
    let segment_size = (run.count > 1).then_some(run.first.len);
    let transmit = Transmit {
        destination: run.first.to,
        ecn: None,
        contents: octets,
        segment_size,
        src_ip: run.first.from,
    };
    state.try_send(carrier.socket.into(), &transmit).is_ok()
}

/// Sends one datagram from the address that it names, or if that is gone from another.
fn send_one(carrier: &Carrier<'_>, part: &Part, octets: &[u8], tally: &mut Tally) {
    let transmit =
        Transmit { destination: part.to, ecn: None, contents: octets, segment_size: None, src_ip: part.from };
    let sent = carrier.state.map(|state| state.try_send(carrier.socket.into(), &transmit));
    let gone = [Errno::INVAL, Errno::ADDRNOTAVAIL, Errno::NETUNREACH].map(|errno| Some(errno.raw_os_error()));
    match sent {
        Some(Ok(())) => {}
        Some(Err(error)) if !gone.contains(&error.raw_os_error()) => tally.note(error),
        _ => send_many(carrier, &[Part { from: None, ..*part }], octets, tally),
    }
}

#[derive(Default)]
struct Tally {
    unsent: Unsent,
    last: Option<io::Error>,
}

impl Tally {
    fn note(&mut self, error: io::Error) {
        if error.raw_os_error() == Some(Errno::MSGSIZE.raw_os_error()) {
            self.unsent.too_long += 1;
        } else {
            self.unsent.refused += 1;
            self.last = Some(error);
        }
    }

    /// Judges a call of `sendmmsg` for the datagrams that are `left`. Returns how many of them it
    /// has dealt with.
    fn judge(&mut self, sent: nix::Result<usize>, left: usize) -> usize {
        match sent {
            Ok(0) => {
                // A kernel that takes none and names no error takes the others no better.
                self.unsent.refused += left as u64;
                left
            }
            Ok(count) => count,
            Err(errno) => {
                self.note(errno.into());
                1
            }
        }
    }
}

/// Sends each datagram by itself, many in one system call. A call stops at a datagram that fails,
/// and the next call goes on behind it.
fn send_many(carrier: &Carrier<'_>, parts: &[Part], octets: &[u8], tally: &mut Tally) {
    let mut rest = octets;
    let slices = parts.iter().map(|part| {
        let (own, behind) = rest.split_at(part.len);
        rest = behind;
        [IoSlice::new(own)]
    });
    let slices = slices.collect::<Vec<_>>();
    let addresses = parts.iter().map(|part| Some(SockaddrStorage::from(part.to))).collect::<Vec<_>>();
    let mut done = 0;
    while done < parts.len() {
        let left = parts.len() - done;
        let mut headers = MultiHeaders::preallocate(left, None);
        let fd = carrier.socket.as_raw_fd();
        let sent =
            sendmmsg(fd, &mut headers, &slices[done..], &addresses[done..], [], MsgFlags::MSG_DONTWAIT);
        done += tally.judge(sent.map(Iterator::count), left);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn to(port: u16) -> SocketAddr {
        SocketAddr::from(([127, 0, 0, 1], port))
    }

    proptest! {
        /// Each run is what UDP_SEGMENT takes. Together the runs are all datagrams, in order.
        #[test]
        fn runs_are_all_there_is(lens in prop::collection::vec((1usize..4, 1u16..3), 1..100)) {
            let parts = lens.iter().map(|&(len, port)| Part { len: len * 700, to: to(port), from: None }).collect::<Vec<_>>();
            let mut rest = parts.as_slice();
            while let Some(run) = run(rest) {
                let (own, behind) = rest.split_at(run.count);
                prop_assert!(run.count > 0 && run.octets <= LONGEST_RUN);
                prop_assert_eq!(own.iter().map(|part| part.len).sum::<usize>(), run.octets);
                let (last, before) = own.split_last().expect("it has one");
                prop_assert!(before.iter().all(|part| part.len == run.first.len) && last.len <= run.first.len);
                prop_assert!(own.iter().all(|part| part.to == run.first.to));
                rest = behind;
            }
            prop_assert!(rest.is_empty());
        }
    }

    #[test]
    fn each_leaves_from_the_address_that_it_names_while_that_is_there() {
        let sender = UdpSocket::bind("0.0.0.0:0").expect("a port");
        let receiver = UdpSocket::bind(to(0)).expect("loopback has ports");
        receiver.set_read_timeout(Some(std::time::Duration::from_secs(2))).expect("a time");
        let address = receiver.local_addr().expect("it is bound");
        let state = UdpSocketState::new((&sender).into()).expect("a socket");
        let carrier = Carrier { socket: &sender, state: Some(&state) };
        // The last is nobody's here.
        let from = ["127.0.0.5", "127.0.0.5", "127.0.0.6", "192.0.2.77"]
            .map(|text| text.parse().expect("an address"));
        let mut batch = Batch::default();
        from.iter().for_each(|own| batch.push(&[1; 100], address, Some(*own)));
        let (unsent, last) = batch.send(&carrier);
        assert_eq!(unsent, Unsent::default(), "{last:?}");
        let mut octets = [0; 200];
        let mut heard = || receiver.recv_from(&mut octets).expect("it comes").1.ip();
        assert_eq!([heard(), heard(), heard()], from[..3]);
        assert!(heard().is_loopback());
    }

    /// The datagrams that arrive at a socket, in order.
    fn heard(socket: &UdpSocket) -> Vec<Vec<u8>> {
        let (mut all, mut buffer) = (Vec::new(), [0; 4096]);
        while let Ok(len) = socket.recv(&mut buffer) {
            all.push(buffer[..len].to_vec());
        }
        all
    }

    #[test]
    fn what_is_sent_together_comes_as_it_was() {
        for is_segmented in [true, false] {
            let bind = || UdpSocket::bind(to(0)).expect("loopback has ports");
            let (sender, receivers) = (bind(), [bind(), bind()]);
            for receiver in &receivers {
                receiver.set_read_timeout(Some(std::time::Duration::from_millis(200))).expect("a time");
            }
            let state = UdpSocketState::new((&sender).into()).expect("a socket");
            let carrier = Carrier { socket: &sender, state: Some(&state).filter(|_| is_segmented) };
            let (mut batch, mut expected) = (Batch::default(), BTreeMap::<usize, Vec<Vec<u8>>>::new());
            for number in 0..60usize {
                let receiver = number / 20 % 2;
                let datagram = vec![number as u8; 100 + 50 * (number % 7 / 5)];
                let address = receivers[receiver].local_addr().expect("it is bound");
                batch.push(&datagram, address, None);
                expected.entry(receiver).or_default().push(datagram);
            }
            let (unsent, last) = batch.send(&carrier);
            assert_eq!(unsent, Unsent::default(), "{last:?}");
            for (place, receiver) in receivers.iter().enumerate() {
                assert_eq!(heard(receiver), expected[&place], "segmented: {is_segmented}");
            }
        }
    }

    #[test]
    fn what_no_call_takes_is_counted() {
        let mut tally = Tally::default();
        assert_eq!(tally.judge(Ok(2), 7), 2);
        assert_eq!(tally.judge(Err(nix::Error::EMSGSIZE), 5), 1);
        assert_eq!(tally.judge(Err(nix::Error::ENETUNREACH), 4), 1);
        assert_eq!(tally.judge(Ok(0), 3), 3);
        assert_eq!(tally.unsent, Unsent { refused: 4, too_long: 1 });
    }

    #[test]
    fn one_that_is_too_long_takes_no_other_with_it() {
        let bind = || UdpSocket::bind(to(0)).expect("loopback has ports");
        let (sender, receiver) = (bind(), bind());
        receiver.set_read_timeout(Some(std::time::Duration::from_millis(200))).expect("a time");
        let state = UdpSocketState::new((&sender).into()).expect("a socket");
        let address = receiver.local_addr().expect("it is bound");
        let mut batch = Batch::default();
        for len in [1000, 1000, 65_527, 1000, 1000] {
            batch.push(&vec![0; len], address, None);
        }
        let (unsent, _) = batch.send(&Carrier { socket: &sender, state: Some(&state) });
        assert_eq!(unsent, Unsent { refused: 0, too_long: 1 });
        assert_eq!(heard(&receiver).len(), 4);
    }
}
