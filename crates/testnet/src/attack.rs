//! An attacker beside two honest hosts: what the tests with a blind one and with one on the path
//! share.

use crate::datagram::address;
use crate::line::Line;
use crate::middlebox::Middlebox;
use crate::mptcp::MptcpHost;
use crate::network::Network;
use crate::stack::{Phase, Stack};
use crate::tcp::TcpHost;
use ropewalk_adversary::{Knowledge, Numbers, Random, Source, Target, must_accept, segment};
use ropewalk_mptcp::Path;
use ropewalk_units::{Duration, Instant};
use ropewalk_wire::{Flags, Segment};
use std::collections::BTreeMap;

/// Segments of the attacker to each end.
pub const SEGMENTS: u32 = 500;
/// Segments sent to each end, at most: before the connection is open, before it closes, and in all.
const SHARES: [u32; 3] = [150, 350, SEGMENTS];
/// The time at which a run ends. No chain of back-offs after honest losses takes so long.
pub const LIMIT: Instant = Instant::from_nanos(2_000_000_000_000);

/// What became of an attacker's segments.
#[derive(Debug, Default)]
pub struct Tally {
    /// Segments that came to a host.
    pub delivered: u64,
    /// Segments that a host would have to accept, by the reason.
    pub left_out: BTreeMap<String, u64>,
}

impl Tally {
    /// All segments, delivered or left out.
    pub fn shots(&self) -> u64 {
        self.delivered + self.left_out.values().sum::<u64>()
    }

    /// Adds the tally of another connection.
    pub fn add(&mut self, other: Self) {
        self.delivered += other.delivered;
        for (reason, count) in other.left_out {
            *self.left_out.entry(reason).or_default() += count;
        }
    }

    /// Counts a segment that was left out.
    pub fn leave_out(&mut self, reason: &str) {
        *self.left_out.entry(reason.to_owned()).or_default() += 1;
    }

    /// Checks, for so many connections, that enough was sent and little was left out.
    ///
    /// # Panics
    /// When that is not so.
    pub fn judge(&self, connections: u64) {
        let (shots, left_out) = (self.shots(), self.left_out.values().sum::<u64>());
        // A few connections do not come about, since the path loses every SYN.
        assert!(shots * 10 >= connections * u64::from(SEGMENTS) * 2 * 9, "{shots} segments are too few");
        // In the handshake a host cannot tell an attacker's SYN from its peer's.
        let opening = |reason: &str| ["Listening", "SynSent", "SynReceived"].contains(&reason);
        let later: u64 = self.left_out.iter().filter(|(reason, _)| !opening(reason)).map(|(_, n)| n).sum();
        assert!(left_out * 20 < shots, "{left_out} of {shots} left out");
        assert!(later * 10_000 <= shots, "{later} of {shots} left out once the connection was open");
    }
}

/// What the tests of one protocol add to the blind attacker.
pub trait Blind: Stack + Sized {
    /// Do the segments of this shot carry options of Multipath TCP?
    fn is_multipath(random: &mut Random) -> bool;

    /// A segment that is not for one of the sockets, or [`Elsewhere::No`].
    fn shoot_elsewhere(
        network: &Network<Self>,
        side: usize,
        random: &mut Random,
        tally: &mut Tally,
    ) -> Elsewhere;
}

impl Blind for TcpHost {
    fn is_multipath(random: &mut Random) -> bool {
        random.one_in(16)
    }

    fn shoot_elsewhere(_: &Network<Self>, _: usize, _: &mut Random, _: &mut Tally) -> Elsewhere {
        Elsewhere::No
    }
}

impl Blind for MptcpHost {
    fn is_multipath(_: &mut Random) -> bool {
        true
    }

    /// From addresses that no subflow has, as a MP_JOIN would come.
    fn shoot_elsewhere(
        network: &Network<Self>,
        side: usize,
        random: &mut Random,
        tally: &mut Tally,
    ) -> Elsewhere {
        let host = network.host(side);
        if !host.sockets.is_empty() && !random.one_in(32) {
            return Elsewhere::No;
        }
        let target = Target { knowledge: Knowledge::default(), numbers: Numbers::Blind, multipath: true };
        let shot = segment(random, &target);
        let opens = shot.flags.contains(Flags::SYN) && !shot.flags.intersects(Flags::ACK | Flags::RST);
        if opens && host.connection.is_none() {
            // RFC 9293 §3.10.7.2: a listening host takes the first SYN that comes.
            tally.leave_out("Listening");
            return Elsewhere::LeftOut;
        }
        let local = random.pick(&[40_000, 5001, 50_000]);
        let path = Path {
            local: address(0, 1 + side as u8, local),
            remote: address(random.below(5) as usize, 2 - side as u8, random.next() as u16 | 1),
        };
        Elsewhere::At(path, Box::new(shot))
    }
}

/// What became of a shot at something else than a socket.
#[derive(Debug)]
pub enum Elsewhere {
    /// It is to be at a socket.
    No,
    /// It was left out.
    LeftOut,
    /// It comes by this path.
    At(Path, Box<Segment>),
}

/// A blind attacker at work.
pub struct Attack {
    random: Random,
    /// Sent to each end.
    sent: [u32; 2],
    /// What became of them.
    pub tally: Tally,
    /// Print what is sent?
    pub log: bool,
}

impl Attack {
    /// An attacker whose choices follow from `seed`.
    pub fn new(seed: u64) -> Self {
        Self { random: Random::new(seed ^ 0xbad), sent: [0; 2], tally: Tally::default(), log: false }
    }

    /// Attacks a connection until both hosts are done, or until nothing more happens before
    /// [`LIMIT`].
    pub fn run<S: Blind>(&mut self, network: &mut Network<S>, octets: u64) {
        network.watch();
        while network.over.is_none() {
            self.strike(network, octets);
            if network.over.is_none() && !network.step(LIMIT) {
                return;
            }
        }
    }

    /// Sends the segments that are left, to hosts in TIME-WAIT or CLOSED.
    pub fn pursue<S: Blind>(&mut self, network: &mut Network<S>) {
        for side in 0..2 {
            while self.sent[side] < SEGMENTS {
                self.shoot(network, side);
            }
        }
    }

    /// Sends some segments before the next event. Time passes before some of them.
    fn strike<S: Blind>(&mut self, network: &mut Network<S>, octets: u64) {
        // The index of the share that applies.
        let phase = match network.host(0).phase().min(network.host(1).phase()) {
            Phase::Opening => 0,
            _ => 1 + usize::from(network.hosts().iter().any(|host| host.phase() == Phase::Closing)),
        };
        let most = [60, 4 + 400_000 / (1000 + octets), 120][phase];
        for side in 0..2 {
            let left = u64::from(SHARES[phase].saturating_sub(self.sent[side]));
            for _ in 0..self.random.below(most).min(left) {
                if self.random.one_in(8) {
                    let gap = Duration::from_nanos(self.random.below(2_000_000));
                    network.run_until(network.now() + gap);
                }
                self.shoot(network, side);
            }
        }
    }

    fn shoot<S: Blind>(&mut self, network: &mut Network<S>, side: usize) {
        self.sent[side] += 1;
        let elsewhere = S::shoot_elsewhere(network, side, &mut self.random, &mut self.tally);
        let (path, shot) = match elsewhere {
            Elsewhere::LeftOut => return,
            Elsewhere::At(path, shot) => (path, *shot),
            Elsewhere::No => match self.aim(network, side) {
                Some(shot) => shot,
                None => return,
            },
        };
        self.tally.delivered += 1;
        if self.log {
            println!("{} to {side} by {path:?}: {shot:?}", network.now());
        }
        network.inject(side, path, shot);
    }

    /// A segment to a socket; none if the host would have to accept it.
    fn aim<S: Blind>(&mut self, network: &Network<S>, side: usize) -> Option<(Path, Segment)> {
        let host = network.host(side);
        let sockets = host.sockets();
        let socket = self.random.below(sockets.len() as u64) as usize;
        let knowledge = host.knowledge(socket);
        let target =
            Target { knowledge, numbers: Numbers::Blind, multipath: S::is_multipath(&mut self.random) };
        let shot = segment(&mut self.random, &target);
        if let Some(reason) = must_accept(&host.victim(socket, network.host(1 - side)), &shot) {
            self.tally.leave_out(&format!("{reason:?}"));
            return None;
        }
        Some((sockets[socket], shot))
    }
}

/// Draws a line.
pub fn line(random: &mut Random) -> Line {
    Line {
        jitter: Duration::from_micros(random.pick(&[0, 0, 500, 30_000])),
        loss: random.pick(&[0.0, 0.0, 0.01, 0.03]),
        duplicates: random.pick(&[0.0, 0.0, 0.02]),
        middlebox: Middlebox::default(),
        ..Line::ideal(Duration::from_millis(1 + random.below(60)))
    }
}

/// By how much a connection may be slower than ten times its time without an attacker. An
/// unacceptable segment is answered with an ACK. The peer takes that for a duplicate ACK, which can
/// cost it cwnd. Honest losses also fall on other packets than without an attacker. Those of SYNs
/// and FINs cost a back-off that begins with 3 s.
pub fn patience<'a>(lines: impl IntoIterator<Item = &'a Line>) -> Duration {
    let loses = lines.into_iter().any(|line| line.loss > 0.0);
    Duration::from_secs(if loses { 200 } else { 5 })
}

/// The number in a variable of the environment, if it has one.
pub fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

/// How many connections are attacked.
pub fn connections() -> u64 {
    number("ROPEWALK_CONNECTIONS").unwrap_or(2_000)
}

/// The first one's seed.
pub fn first_seed() -> u64 {
    number("PROPTEST_RNG_SEED").unwrap_or(1) << 32
}
