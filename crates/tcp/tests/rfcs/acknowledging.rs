//! What is acknowledged, when, and which acknowledgements count (RFC 9293 §3.8.6.3, §3.10.7.4; RFC 5961 §5).

use crate::script::Script;
use crate::script::configs::plain;
use ropewalk_tcp::{Config, DelayedAck, TimerKind};
use ropewalk_units::{Duration, Instant};

#[test]
fn what_lies_in_a_queue_is_acknowledged_together() {
    let mut s = Script::established(plain());
    s.run(
        "
        << . 1:1001 ack 1
        << . 1001:2001 ack 1
        << . 2001:3001 ack 1
        << . 3001:4001 ack 1
        < . 4001:5001 ack 1
        > . 1:1 ack 5001
        > nothing
    ",
    );
    assert_eq!(s.tcp.stats().acks_sent, 2, "the handshake's, and one for all five");
}

#[test]
fn no_ack_waits_half_a_second() {
    for preset in [Config::linux(), Config::classic()] {
        let delayed_ack = DelayedAck { quick_acks: 0, ..preset.delayed_ack };
        let mut s = Script::established(Config { delayed_ack, ..preset });
        s.run("< . 1:1001 ack 1\n > nothing");
        let (at, kind) = s.tcp.poll_timeout().expect("an ACK is due");
        assert_eq!(kind, TimerKind::DelayedAck);
        let arrived = Instant::ZERO + Duration::from_millis(119);
        assert!(at.saturating_since(arrived) < Duration::from_millis(500), "{at:?}");
    }
}

#[test]
fn an_ack_of_what_was_not_sent_is_answered_and_dropped_with_its_data() {
    let mut s = Script::established(plain());
    s.run("push 1000\n > . 1:1001\n < . 1:501 ack 1002\n > . 1001:1001 ack 1");
    assert_eq!((s.tcp.readable(), s.tcp.flight_size()), (0, 1000));
}

#[test]
fn an_ack_older_than_any_window_is_challenged_and_dropped_with_its_data() {
    let mut s = Script::established(plain());
    s.send_much(70_000);
    // The peer's windows were 60 000 octets at most.
    s.run("< . 1:501 ack 10000\n > . 70001:70001 ack 1");
    assert_eq!(s.tcp.readable(), 0);
    s.run("< . 1:501 ack 10001\n > nothing");
    assert_eq!(s.tcp.readable(), 500);
}

#[test]
fn challenges_are_limited() {
    let mut s = Script::established(plain());
    s.run("< S 5:6\n > . 1:1 ack 1\n +499 < S 5:6\n < R 7:7\n > nothing\n +1 < R 7:7\n > . 1:1 ack 1");
}
