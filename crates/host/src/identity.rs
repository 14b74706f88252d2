//! What a host must choose so that no two of its connections are taken for one another: initial
//! sequence numbers, and tokens.

use ropewalk_mptcp::Secret;
use ropewalk_units::{Instant, Seq};
use ropewalk_wire::Token;
use siphasher::sip::SipHasher24;
use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr};

/// Nanoseconds of one tick of the clock behind initial sequence numbers (RFC 9293 §3.4.1).
const TICK: u64 = 4_000;

/// How often a token is drawn, at most, until one is not in use. In practice one is found.
const DRAWS: u32 = 1_000;

/// A host's secret, and the tokens that are in use there.
#[derive(Debug)]
pub struct Identity {
    function: SipHasher24,
    tokens: BTreeSet<Token>,
}

impl Identity {
    /// With a secret that the host has drawn, which nobody else may know.
    pub fn new([first, second]: [u64; 2]) -> Self {
        Self { function: SipHasher24::new_with_keys(first, second), tokens: BTreeSet::new() }
    }

    /// The initial sequence number of a connection or subflow between these ends (RFC 6528 §3): a
    /// clock, and a function of the 4-tuple that nobody can compute without the secret.
    pub fn initial_sequence(&self, now: Instant, local: SocketAddr, remote: SocketAddr) -> Seq {
        let clock = (now.as_nanos() / TICK) as u32;
        Seq::new(clock.wrapping_add(self.of(local, remote)))
    }

    /// Where the search for a local port begins, of connections from this address to that end
    /// (RFC 6056 §3.3.3).
    pub(crate) fn first_port(&self, from: IpAddr, remote: SocketAddr) -> u32 {
        self.of(SocketAddr::new(from, 0), remote)
    }

    fn of(&self, local: SocketAddr, remote: SocketAddr) -> u32 {
        let mut tuple = [0; 36];
        write(&mut tuple[..18], local);
        write(&mut tuple[18..], remote);
        self.function.hash(&tuple) as u32
    }

    /// A function of the 4-tuple and of `more` that nobody can compute without the secret. It says
    /// nothing of the initial sequence numbers: their input is shorter.
    pub(crate) fn function_of(&self, local: SocketAddr, remote: SocketAddr, more: &[u8; 13]) -> u64 {
        let mut input = [0; 36 + 13];
        write(&mut input[..18], local);
        write(&mut input[18..36], remote);
        input[36..].copy_from_slice(more);
        self.function.hash(&input)
    }

    /// A secret for a new connection whose token no other one of the host has (RFC 8684 §3.1).
    ///
    /// # Panics
    /// If a thousand draws gave tokens that are in use.
    pub fn secret(&mut self, mut draw: impl FnMut() -> Secret) -> Secret {
        let secret = (0..DRAWS).map(|_| draw()).find(|secret| self.tokens.insert(secret.token()));
        secret.expect("a host has far fewer connections than there are tokens")
    }

    /// Has a connection of the host this secret's token?
    pub(crate) fn has(&self, secret: &Secret) -> bool {
        self.tokens.contains(&secret.token())
    }

    /// Takes a secret that follows from a cookie, if no other connection of the host has its token.
    pub(crate) fn claim(&mut self, secret: &Secret) -> bool {
        self.tokens.insert(secret.token())
    }

    /// The connection with this token is over.
    pub fn release(&mut self, token: Token) {
        self.tokens.remove(&token);
    }
}

/// Random numbers that nobody can tell without the secret: a keyed function of a counter.
#[derive(Debug)]
pub(crate) struct Random {
    function: SipHasher24,
    drawn: u64,
}

impl Random {
    pub(crate) fn new([first, second]: [u64; 2]) -> Self {
        Self { function: SipHasher24::new_with_keys(first, second), drawn: 0 }
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.drawn += 1;
        self.function.hash(&self.drawn.to_le_bytes())
    }
}

/// An address in 16 octets and a port in two.
fn write(place: &mut [u8], end: SocketAddr) {
    let address = match end.ip() {
        IpAddr::V4(address) => address.to_ipv6_mapped(),
        IpAddr::V6(address) => address,
    };
    place[..16].copy_from_slice(&address.octets());
    place[16..].copy_from_slice(&end.port().to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use ropewalk_units::Duration;
    use std::net::Ipv4Addr;

    fn host(number: u64) -> Identity {
        Identity::new([number, 1])
    }

    fn end(host: u8, port: u16) -> SocketAddr {
        SocketAddr::new(Ipv4Addr::new(10, 0, 0, host).into(), port)
    }

    /// A moment that lies so many microseconds after the start.
    fn at(microseconds: u64) -> Instant {
        Instant::ZERO + Duration::from_micros(microseconds)
    }

    #[test]
    fn the_numbers_of_one_4_tuple_follow_a_clock_of_four_microseconds() {
        let host = host(1);
        let number = |microseconds| host.initial_sequence(at(microseconds), end(1, 40_000), end(2, 5001));
        let first = number(0);
        assert_eq!(number(3), first);
        // The second connection comes later, and so does its number, over the wrap of the whole
        // space too.
        let mut last = first;
        for second in 1..20_000 {
            let next = number(second * 1_000_000);
            assert_eq!(next.since(last), 250_000, "after {second} s");
            last = next;
        }
    }

    #[test]
    fn the_numbers_of_other_4_tuples_and_of_other_hosts_are_unrelated() {
        let (one, other) = (host(1), host(2));
        let mut numbers = vec![other.initial_sequence(at(0), end(1, 40_000), end(2, 5001))];
        for local in [end(1, 40_000), end(1, 40_001), end(3, 40_000)] {
            for remote in [end(2, 5001), end(2, 5002), end(4, 5001)] {
                numbers.push(one.initial_sequence(at(0), local, remote));
            }
        }
        // The ends in the other order are another 4-tuple.
        numbers.push(one.initial_sequence(at(0), end(2, 5001), end(1, 40_000)));
        for (i, number) in numbers.iter().enumerate() {
            for earlier in &numbers[..i] {
                // Random numbers lie that close once in ten thousand times.
                let apart = number.since(*earlier);
                assert!(apart.min(apart.wrapping_neg()) > 100_000, "{earlier:?} tells {number:?}");
            }
        }
    }

    #[test]
    fn a_token_in_use_is_drawn_again() {
        let mut host = host(1);
        let first = host.secret(|| Secret([7; 32]));
        let mut keys = [7, 7, 9].into_iter();
        let second = host.secret(|| Secret([keys.next().expect("three draws"); 32]));
        assert_eq!((first, second), (Secret([7; 32]), Secret([9; 32])));
        assert_ne!(first.token(), second.token());
        assert!(host.has(&first) && !host.claim(&first), "in use");
        host.release(first.token());
        assert!(!host.has(&first));
        assert!(host.claim(&first));
    }
}
