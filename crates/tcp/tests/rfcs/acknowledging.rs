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
        // All of the buffer is offered from the beginning. An offer that grows is told at once.
        let mut s = Script::established(Config { delayed_ack, receive_buffer: 60_000, ..preset });
        s.run("< . 1:1001 ack 1\n > nothing");
        let (at, kind) = s.tcp.poll_timeout().expect("an ACK is due");
        assert_eq!(kind, TimerKind::DelayedAck);
        let arrived = Instant::ZERO + Duration::from_millis(119);
        assert!(at.saturating_since(arrived) < Duration::from_millis(500), "{at:?}");
    }
}

/// As `plain`, with the ACK after reading.
fn after_reading() -> Config {
    let config = plain();
    Config { delayed_ack: DelayedAck { after_reading: true, ..config.delayed_ack }, ..config }
}

#[test]
fn the_end_of_a_write_is_acknowledged_once_it_is_read() {
    let mut s = Script::established(after_reading());
    s.run("< P. 1:1001 ack 1\n > nothing\n read 999\n > nothing\n read\n > . 1:1 ack 1001\n > nothing");
    // The end of another write, told by its length alone.
    s.run("< . 1001:1501 ack 1\n > nothing\n read\n > . 1:1 ack 1501");
    // A full segment without PSH waits for the next one.
    s.run("< . 1501:2501 ack 1\n read\n > nothing\n +99 > nothing\n +1 > . 1:1 ack 2501");
    let mut s = Script::established(plain());
    s.run("< P. 1:1001 ack 1\n read\n > nothing");
}

#[test]
fn what_an_answer_will_acknowledge_is_not_acknowledged_after_reading() {
    let mut s = Script::established(after_reading());
    // The answer makes this end one that answers.
    s.run("< P. 1:501 ack 1\n +50 push 300\n > P. 1:301 ack 501\n < . 501:501 ack 301");
    s.run("< P. 501:1001 ack 301\n read\n > nothing\n +50 push 300\n > P. 301:601 ack 1001");
    // Once no answer has come in time it is none any more.
    s.run("< P. 1001:1501 ack 601\n read\n > nothing\n +100 > . 601:601 ack 1501");
    s.run("< P. 1501:2001 ack 601\n read\n > . 601:601 ack 2001");
    // Nor is one whose data leaves long after the peer's.
    s.run("+100 push 300\n > P. 601:901 ack 2001\n < P. 2001:2501 ack 901\n read\n > . 901:901 ack 2501");
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
