//! Beyond 2³¹ octets: nothing that is remembered may be compared the wrong way round (RFC 9293 §3.4).

use crate::script::Script;
use crate::script::configs::{plain, rack, sack};
use ropewalk_tcp::{Config, LossRecovery};
use ropewalk_units::{Duration, Instant};
use ropewalk_wire::{Flags, Payload, Segment};

const SEGMENT: u64 = 60_000;
/// More than half of the circle, in whole segments.
const MUCH: u64 = (1 << 31) / SEGMENT * SEGMENT + 20 * SEGMENT;

/// Sends in large segments to a peer whose window is never full.
fn fast(config: Config) -> Script {
    let mut s = Script::connect(Config {
        mss: SEGMENT as u16,
        window_scale: Some(14),
        receive_buffer: 1 << 29,
        congestion_control: ropewalk_tcp::CongestionControl::NewReno { byte_counting: true },
        ..config
    });
    let ecn = if s.tcp.config().ecn { "E" } else { "" };
    let syn = if s.tcp.config().ecn { "SEW" } else { "S" };
    s.run(&format!("> {syn} 0:1\n +20 < S.{ecn} 0:1 ack 1 mss 60000 wscale 14 sackok\n > . 1:1 ack 1"));
    s.run("< . 1:1 ack 1");
    s
}

/// The relative sequence number of the octet at this position of the stream.
fn at(octets: u64) -> u32 {
    (octets + 1) as u32
}

/// Five segments from the position on; the first is lost, and the next three arrive.
fn lose_one(s: &mut Script, from: u64) {
    s.run(&format!("push {}", 5 * SEGMENT));
    for i in 0..5 {
        s.run(&format!("> . {}:{}", at(from + i * SEGMENT), at(from + (i + 1) * SEGMENT)));
    }
    let (ack, left) = (at(from), at(from + SEGMENT));
    s.run(&format!("+20 < . 1:1 ack {ack}"));
    for i in 2..5 {
        s.run(&format!("< . 1:1 ack {ack} sack {left}-{}", at(from + i * SEGMENT)));
    }
    s.run(&format!("> . {ack}:{left}"));
}

#[test]
fn a_small_write_leaves_after_two_gigabytes_of_full_segments() {
    let mut s = fast(Config { nagle: true, ..plain() });
    for total in [0, MUCH + 100, 2 * (MUCH + 100)] {
        s.run(&format!("push 100\n > . {}:{}", at(total), at(total + 100)));
        s.run(&format!("+20 < . 1:1 ack {}", at(total + 100)));
        s.send_much(MUCH);
    }
}

#[test]
fn a_loss_is_found_after_two_gigabytes_without_one() {
    for config in [sack(), rack()] {
        let mut s = fast(config);
        s.send_on(MUCH);
        lose_one(&mut s, MUCH);
        assert_eq!((s.tcp.stats().fast_recoveries, s.tcp.stats().timeouts), (1, 0));
        s.run(&format!("+20 < . 1:1 ack {}", at(MUCH + 5 * SEGMENT)));
        // Once more, across the whole circle.
        s.send_on(2 * MUCH);
        lose_one(&mut s, 3 * MUCH + 5 * SEGMENT);
        assert_eq!((s.tcp.stats().fast_recoveries, s.tcp.stats().timeouts), (2, 0));
    }
}

#[test]
fn newreno_begins_another_recovery_after_two_gigabytes() {
    let mut s = fast(Config { loss_recovery: LossRecovery::NewReno, ..plain() });
    let mut total = 0;
    for recoveries in 1..4 {
        s.run(&format!("push {}", 5 * SEGMENT));
        for i in 0..5 {
            s.run(&format!("> . {}:{}", at(total + i * SEGMENT), at(total + (i + 1) * SEGMENT)));
        }
        let ack = at(total);
        s.run(&format!("+20 < . 1:1 ack {ack}\n < . 1:1 ack {ack}\n < . 1:1 ack {ack}"));
        s.run(&format!("> . {ack}:{}", at(total + SEGMENT)));
        assert_eq!(s.tcp.stats().fast_recoveries, recoveries);
        total += 5 * SEGMENT;
        s.run(&format!("+20 < . 1:1 ack {}", at(total)));
        s.send_much(MUCH);
        total += MUCH;
    }
}

#[test]
fn congestion_is_heeded_two_gigabytes_after_it_was_last() {
    let mut s = fast(Config { ecn: true, ..plain() });
    let mut total = 0;
    for reductions in 1..4 {
        s.run(&format!("push {SEGMENT}\n > . {}:{}", at(total), at(total + SEGMENT)));
        total += SEGMENT;
        s.run(&format!("+20 < .E 1:1 ack {}", at(total)));
        assert_eq!(s.tcp.stats().ecn_reductions, reductions);
        s.send_much(MUCH);
        total += MUCH;
    }
}

/// RFC 8985 §6.2 step 3: what lies above the highest octet delivered was not overtaken.
#[test]
fn order_is_not_taken_for_reordering_after_two_gigabytes() {
    let mut s = fast(rack());
    lose_one(&mut s, 0);
    s.run(&format!("+20 < . 1:1 ack {}", at(5 * SEGMENT)));
    s.send_much(MUCH);
    // Without reordering three segments above the hole are enough, at once.
    lose_one(&mut s, MUCH + 5 * SEGMENT);
    assert_eq!(s.tcp.stats().fast_recoveries, 2);
}

/// RFC 8985 §6.2 step 4: one DSACK in a round widens the reordering window.
#[test]
fn a_dsack_widens_the_reordering_window_two_gigabytes_after_the_last() {
    let mut s = fast(rack());
    s.run(&format!("push {SEGMENT}\n > . 1:{}\n +20 < . 1:1 ack {} sack 1-1000", at(SEGMENT), at(SEGMENT)));
    s.send_much(MUCH);
    let total = SEGMENT + MUCH;
    s.run(&format!("< . 1:1 ack {} sack {}-{}", at(total), at(total - SEGMENT), at(total)));
    s.run(&format!("push {}", 2 * SEGMENT));
    s.run(&format!("> . {}:{}", at(total), at(total + SEGMENT)));
    s.run(&format!("> . {}:{}", at(total + SEGMENT), at(total + 2 * SEGMENT)));
    let sacked = format!("sack {}-{}", at(total + SEGMENT), at(total + 2 * SEGMENT));
    s.run(&format!("+20 < . 1:1 ack {} {sacked}", at(total)));
    // A quarter of the round trip, and another for each round with a DSACK.
    s.run(&format!("+14 > nothing\n +1 > . {}:{}", at(total), at(total + SEGMENT)));
}

#[test]
fn the_window_is_heard_of_after_two_gigabytes_received() {
    let mut s = fast(plain());
    for window in [1000, 2000, 3000] {
        s.receive_much(MUCH, SEGMENT as u32);
        let next = s.tcp.rcv_nxt().since(s.tcp.irs());
        s.run(&format!("< . {next}:{next} ack 1 win {window}"));
        assert_eq!(s.tcp.peer_window(), window << 14);
    }
    assert_eq!(s.tcp.stats().bytes_received, 3 * MUCH);
}

/// … also if no segment among them acknowledges as much as one before: SND.WL1 follows RCV.NXT.
#[test]
fn the_window_is_heard_of_after_two_gigabytes_with_an_old_acknowledgement() {
    let mut s = fast(plain());
    s.run("push 1000\n > . 1:1001\n +20 < . 1:1 ack 1001");
    let (now, ack) = (Instant::ZERO + Duration::from_millis(139), s.tcp.iss() + 1);
    for n in 0..MUCH / SEGMENT {
        let (seq, payload) = (s.tcp.rcv_nxt(), Payload { offset: n * SEGMENT, len: SEGMENT as u32 });
        let segment = Segment { seq, ack, flags: Flags::ACK, window: 1, payload, ..Segment::default() };
        s.tcp.handle_segment(now, &segment);
        while s.tcp.read(u64::MAX).is_some() {}
        while s.tcp.poll_transmit(now).is_some() {}
    }
    assert_eq!((s.tcp.stats().bytes_received, s.tcp.peer_window()), (MUCH, 60_000 << 14));
    let next = s.tcp.rcv_nxt().since(s.tcp.irs());
    s.run(&format!("< . {next}:{next} ack 1001 win 1000"));
    assert_eq!(s.tcp.peer_window(), 1000 << 14);
}
