//! SYNs, their options, and resets that answer them (RFC 9293 §3.5, §3.7.1, §3.10.7.3).

use crate::script::Script;
use crate::script::configs::{plain, sack};
use ropewalk_tcp::{CloseReason, Config, Event, State};

/// With every option that a SYN can carry.
fn with_options() -> Config {
    Config { window_scale: Some(3), timestamps: true, receive_buffer: 100_000, ..sack() }
}

#[test]
fn without_an_mss_option_536_octets_are_assumed() {
    let mut s = Script::connect(plain());
    s.run(
        "
        > S 0:1 mss 1000
        +20 < S. 0:1 ack 1
        > . 1:1 ack 1
        push 1072
        > . 1:537
        > . 537:1073
    ",
    );
    assert_eq!(s.tcp.smss(), 536);
}

#[test]
fn segments_are_as_long_as_both_ends_can_take() {
    for (offered, size) in [(1400, 1000), (600, 600)] {
        let mut s = Script::connect(plain());
        s.run(&format!("> S 0:1\n +20 < S. 0:1 ack 1 mss {offered}\n > . 1:1 ack 1"));
        s.run(&format!("push 5000\n > . 1:{}\n > . {}:{}", 1 + size, 1 + size, 1 + 2 * size));
    }
}

#[test]
fn options_of_a_syn_are_on_no_other_segment() {
    let mut s = Script::connect(with_options());
    s.run(
        "
        > S 0:1 mss 1000 wscale 3 sackok
        +20 < S. 0:1 ack 1 mss 1000 wscale 2 sackok ts 7/100
        > . 1:1 ack 1 bare
        push 500
        > . 1:501 bare
        +20 < . 1:1 ack 501 ts 8/120
        < . 1:1001 ack 501 ts 9/120
        < . 2001:3001 ack 501 ts 9/120
        > . 501:501 ack 1001 bare
        finish
        > F. 501:502 bare
    ",
    );
}

#[test]
fn options_of_a_syn_on_other_segments_change_nothing() {
    let mut s = Script::established(sack());
    s.run(
        "
        < . 1:1001 ack 1 mss 500 wscale 9 sackok
        < . 1001:2001 ack 1 mss 500 wscale 9 sackok
        > . 1:1 ack 2001
        push 2000
        > . 1:1001
        > . 1001:2001
    ",
    );
    assert_eq!((s.tcp.smss(), s.tcp.peer_window_scale(), s.tcp.peer_window()), (1000, 0, 60_000));
}

#[test]
fn a_passive_open_that_is_reset_was_not_refused() {
    let mut s = Script::accept(plain(), "S 0:1 mss 1000");
    s.run("> S. 0:1 ack 1\n < R 1:1\n > nothing");
    s.assert_state(State::Closed);
    assert_eq!(s.events(), [Event::Closed(CloseReason::Reset)]);
}

#[test]
fn an_active_open_that_is_reset_was_refused_even_where_both_opened() {
    let mut s = Script::connect(plain());
    s.run(
        "
        > S 0:1
        +5 < S 0:1 mss 1000
        > S. 0:1 ack 1
        +5 < R 1:1
        > nothing
    ",
    );
    assert_eq!(s.events(), [Event::Closed(CloseReason::Refused)]);
}

#[test]
fn in_syn_sent_only_a_reset_that_acknowledges_the_syn_counts() {
    let mut s = Script::connect(plain());
    s.run(
        "
        > S 0:1
        +20 < R 0:0
        < R 1:1
        < R. 0:0 ack 0
        < R. 0:0 ack 77
        > nothing
    ",
    );
    s.assert_state(State::SynSent);
    s.run("< R. 0:0 ack 1\n > nothing");
    s.assert_state(State::Closed);
}
