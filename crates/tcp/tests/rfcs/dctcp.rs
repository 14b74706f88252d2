//! The receiver of DCTCP (RFC 8257 §3.2): its ECN-Echo says of each octet whether it came with a mark.

use crate::script::Script;
use crate::script::configs::plain;
use ropewalk_tcp::{Config, CongestionControl, DelayedAck};
use ropewalk_units::Duration;

/// A receiver that delays every second ACK, the peer's window 60 000.
fn established() -> Script {
    let delayed_ack =
        DelayedAck { segments: 2, timeout: Duration::from_millis(40), quick_acks: 0, after_reading: false };
    let mut s =
        Script::connect(Config { congestion_control: CongestionControl::Dctcp, delayed_ack, ..plain() });
    s.run("> SEW 0:1 notect\n +20 < S.E 0:1 ack 1 mss 1000\n > . 1:1 ack 1");
    s
}

/// … to which a marked segment has come.
fn marked() -> Script {
    let mut s = established();
    s.run("< . 1:1001 ack 1 ce\n > .E 1:1 ack 1001");
    s
}

#[test]
fn without_a_change_acks_are_delayed_and_echo_the_state() {
    let mut s = established();
    s.run(
        "
        < . 1:1001 ack 1
        > nothing
        < . 1001:2001 ack 1
        > . 1:1 ack 2001
        < . 2001:3001 ack 1 ce
        > .E 1:1 ack 3001
        < . 3001:4001 ack 1 ce
        > nothing
        < . 4001:5001 ack 1 ce
        > .E 1:1 ack 5001
    ",
    );
}

#[test]
fn a_first_mark_is_told_at_once_and_what_came_before_with_the_old_state() {
    let mut s = established();
    s.run(
        "
        < . 1:1001 ack 1
        > nothing
        < . 1001:2001 ack 1 ce
        > . 1:1 ack 1001
        > .E 1:1 ack 2001
    ",
    );
    // SYN, the third packet of the handshake, and these two.
    assert_eq!((s.tcp.stats().segments_sent, s.tcp.stats().acks_sent), (4, 3));
}

/// RFC 8257 §3.3: at the end of each window alpha moves by a sixteenth towards the share of marked octets. The first
/// window begins with the first ACK, whether it tells of a mark or not.
#[test]
fn a_window_without_marks_makes_alpha_smaller() {
    for first in [".", ".E"] {
        let mut s = established();
        s.run("push 20000");
        s.expect_segments(10);
        let mut alpha = Vec::new();
        for ack in
            [format!("{first} 1:1 ack 5001"), ". 1:1 ack 9001".to_owned(), ". 1:1 ack 10001".to_owned()]
        {
            s.run(&format!("<< {ack} win 60000"));
            alpha.push(s.tcp.alpha().expect("DCTCP has it"));
        }
        assert_eq!(alpha, [1.0, 1.0, 0.9375], "{first}");
    }
}

#[test]
fn the_end_of_the_marks_is_told_at_once_and_what_came_before_with_the_old_state() {
    let mut s = marked();
    s.run(
        "
        < . 1001:2001 ack 1 ce
        > nothing
        < . 2001:3001 ack 1
        > .E 1:1 ack 2001
        > . 1:1 ack 3001
    ",
    );
}

#[test]
fn cwr_does_not_end_the_echo() {
    let mut s = marked();
    s.run(
        "
        < .W 1001:2001 ack 1 ce
        > nothing
        < . 2001:3001 ack 1 ce
        > .E 1:1 ack 3001
    ",
    );
}

#[test]
fn a_delayed_ack_tells_the_state_of_what_it_acknowledges() {
    let mut s = marked();
    s.run(
        "
        < . 1001:2001 ack 1 ce
        +40 > .E 1:1 ack 2001
        < . 2001:3001 ack 1
        > . 1:1 ack 3001
        < . 3001:4001 ack 1
        +40 > . 1:1 ack 4001
    ",
    );
}

/// RFC 9293 §3.8.6: the ACK of what came before the marks does not move the right edge of a scaled window.
#[test]
fn both_acks_of_a_change_tell_the_same_edge() {
    let dctcp = CongestionControl::Dctcp;
    let config =
        Config { congestion_control: dctcp, window_scale: Some(2), receive_buffer: 40_000, ..plain() };
    let mut s = Script::connect(config);
    s.run("> SEW 0:1 wscale 2\n +20 < S.E 0:1 ack 1 mss 1000 wscale 0\n > . 1:1 ack 1 win 10000");
    s.run(
        "
        < . 1:1001 ack 1
        > nothing
        < . 1001:2001 ack 1 ce
        > . 1:1 ack 1001 win 9750
        > .E 1:1 ack 2001 win 9500
    ",
    );
}
