//! What a model of the path is told (draft-ietf-ccwg-bbr): all that arrives, and all that is lost.

use crate::script::Script;
use crate::script::configs::rack;
use ropewalk_tcp::{Config, CongestionControl, Connection, WindowOwner};
use ropewalk_units::{Duration, Instant, Rate};
use ropewalk_wire::{Flags, Payload, SackBlocks, Segment};
use std::collections::VecDeque;

fn bbr() -> Script {
    let congestion_control = CongestionControl::Bbr;
    Script::established(Config { congestion_control, window_owner: WindowOwner::Shared, ..rack() })
}

/// A line that carries a segment in so many microseconds and acknowledges it 20 ms later.
struct Line {
    microseconds: u64,
    /// The segments that it loses when they come first.
    lost: Vec<usize>,
}

/// The peer: which segments have arrived.
struct Peer {
    arrived: Vec<bool>,
    next: usize,
}

impl Peer {
    /// A segment arrives. Returns the ACK: the run that it belongs to comes first.
    fn take(&mut self, tcp: &Connection, index: usize) -> Segment {
        self.arrived[index] = true;
        while self.arrived[self.next] {
            self.next += 1;
        }
        let seq_of = |index: usize| tcp.iss() + 1 + 1000 * u32::try_from(index).expect("small");
        let mut sack = SackBlocks::EMPTY;
        if index > self.next {
            let from = (0..index).rfind(|at| !self.arrived[*at]).map_or(0, |hole| hole + 1);
            let to = (index..).find(|at| !self.arrived[*at]).expect("an end");
            sack.push(seq_of(from), seq_of(to));
        }
        let (seq, ack) = (tcp.rcv_nxt(), seq_of(self.next));
        let mut segment = Segment { seq, ack, flags: Flags::ACK, window: 60_000, ..Segment::default() };
        segment.options.sack = sack;
        segment
    }
}

/// Sends as much as it may for so many milliseconds.
fn run(s: &mut Script, line: &Line, milliseconds: u64) {
    s.tcp.push(Payload { offset: 0, len: 10_000_000 });
    let mut peer = Peer { arrived: vec![false; 10_000], next: 0 };
    let mut now = Instant::ZERO + Duration::from_millis(119);
    let (mut free, mut acks, mut sent) = (now, VecDeque::new(), 0);
    for _ in 0..milliseconds * 10 {
        now += Duration::from_micros(100);
        if s.tcp.poll_timeout().is_some_and(|(at, _)| at <= now) {
            s.tcp.handle_timeout(now);
        }
        while acks.front().is_some_and(|(at, _)| *at <= now) {
            let ack = acks.pop_front().map(|(_, ack)| ack).unwrap_or_default();
            s.tcp.handle_segment(now, &ack);
        }
        while let Some(segment) = s.tcp.poll_transmit(now) {
            free = free.max(now) + Duration::from_micros(line.microseconds);
            let index = segment.seq.since(s.tcp.iss()) as usize / 1000;
            let is_first = index == sent;
            sent = sent.max(index + 1);
            if !(is_first && line.lost.contains(&index)) {
                acks.push_back((free + Duration::from_millis(20), peer.take(&s.tcp, index)));
            }
        }
    }
}

/// BBR's factor on what it has measured.
fn gain(s: &Script) -> f64 {
    let bandwidth = s.tcp.bandwidth().expect("measured").bits_per_sec();
    s.tcp.pacing_rate().bits_per_sec() as f64 / bandwidth as f64
}

/// BBRStartupFullLossCnt: six ranges lost in a round, and more than two percent. A burst is one range.
#[test]
fn losses_here_and_there_end_startup_and_one_burst_does_not() {
    let gain_after = |lost: Vec<usize>| {
        let mut s = bbr();
        run(&mut s, &Line { microseconds: 100, lost }, 110);
        assert_eq!(s.tcp.stats().retransmissions, 8);
        gain(&s)
    };
    let burst = gain_after((40..48).collect());
    let ranges = gain_after((40..56).step_by(2).collect());
    assert!(burst > 2.5 && ranges < 2.0, "{burst} after a burst, {ranges} after ranges");
}

/// Karn's rule: what was sent again tells no round-trip time, and none of zero.
#[test]
fn a_repaired_loss_leaves_the_model_its_round_trip_time() {
    let mut s = bbr();
    run(&mut s, &Line { microseconds: 1000, lost: vec![30] }, 400);
    assert_eq!(s.tcp.stats().retransmissions, 1);
    // 20 ms take 20 segments.
    assert!(s.tcp.cwnd() >= 20_000, "{}", s.tcp.cwnd());
}

#[test]
fn what_is_reported_above_a_hole_counts_for_the_bandwidth() {
    let mut s = bbr();
    s.run("push 2000\n > . 1:1001\n > . 1001:2001\n +20 << . 1:1 ack 1 sack 1001-2001");
    // A segment in 20 ms.
    assert_eq!(s.tcp.bandwidth(), Some(Rate::from_bits_per_sec(400_000)));
}

#[test]
fn a_piece_of_what_was_too_long_counts_for_the_bandwidth() {
    let mut s = bbr();
    s.run("push 1000\n > . 1:1001\n too-big 600 1\n > . 1:601\n > . 601:1001\n +20 << . 1:1 ack 601");
    assert_eq!(s.tcp.bandwidth(), Some(Rate::from_bits_per_sec(240_000)));
}
