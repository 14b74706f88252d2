//! What a script is played against.

use crate::words::{Act, Told};
use ropewalk_units::{Duration, Instant};
use std::net::Ipv4Addr;

/// The host that is tried.
pub(crate) const SUBJECT: Ipv4Addr = Ipv4Addr::new(10, 9, 0, 1);
/// The script's end of the connection.
pub(crate) const PEER: Ipv4Addr = Ipv4Addr::new(10, 9, 0, 2);
/// The port of whoever listens.
pub(crate) const PORT: u16 = 5001;
/// MTU of the path, in octets.
pub(crate) const MTU: u16 = 1500;

/// What a script's host is asked to do, beside what is the default in Linux.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Setting {
    /// It asks for ECN (RFC 3168), and not only answers.
    Ecn,
    /// Nothing waits for Nagle's algorithm.
    NoDelay,
    /// It does not permit SACK.
    NoSack,
    /// Nothing is probed before a timeout (RFC 8985 §7).
    NoTailLossProbe,
    /// Every SYN is answered with a cookie (RFC 4987 §3.6).
    Cookies,
    /// What a router said of the path's MTU holds for a second.
    ShortMtuLifetime,
}

/// How much earlier or later than a script says a segment may leave.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tolerance {
    pub(crate) early: Duration,
    pub(crate) late: Duration,
}

/// A host with one application, and a clock.
pub(crate) trait World {
    /// The time.
    fn now(&self) -> Instant;
    /// How exact its times are, of something that comes so long after the last line.
    fn tolerance(&self, after: Duration) -> Tolerance;
    /// Lets time pass until a packet leaves, or until `deadline`. The packet, and when it left.
    fn next_packet(&mut self, deadline: Instant) -> Option<(Instant, Vec<u8>)>;
    /// A packet arrives.
    fn inject(&mut self, packet: &[u8]);
    /// Opens, finishes, closes or aborts.
    fn act(&mut self, act: Act) -> Result<(), String>;
    /// Writes these octets; how many were taken.
    fn write(&mut self, octets: &[u8]) -> usize;
    /// Reads what is there, so many octets at the most.
    fn read(&mut self, most: usize) -> Vec<u8>;
    /// What the application is told last.
    fn told(&mut self) -> Told;
}
