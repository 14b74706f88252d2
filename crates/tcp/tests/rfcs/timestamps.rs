//! Window scaling and timestamps (RFC 7323).

use crate::script::Script;
use crate::script::configs::plain;
use ropewalk_tcp::{CloseReason, Config, Event, State};
use ropewalk_units::Duration;

fn scaling() -> Config {
    Config { window_scale: Some(3), receive_buffer: 100_000, ..plain() }
}

fn stamped() -> Config {
    Config { mss: 1012, timestamps: true, ..plain() }
}

/// An active opener at 119 ms, the peer's clock at 1000.
fn established() -> Script {
    let mut s = Script::connect(stamped());
    s.run("> S 0:1 ts 100/0\n +20 < S. 0:1 ack 1 mss 1012 ts 1000/100\n > . 1:1 ack 1 ts 120/1000");
    s
}

#[test]
fn windows_are_scaled_if_both_sides_say_so() {
    let mut s = Script::connect(scaling());
    s.run("> S 0:1 win 65535 wscale 3\n +20 < S. 0:1 ack 1 mss 1000 win 1000\n > . 1:1 ack 1 win 65535");
    assert_eq!((s.tcp.own_window_scale(), s.tcp.peer_window_scale(), s.tcp.peer_window()), (0, 0, 1000));
    let mut s = Script::connect(scaling());
    s.run("> S 0:1 wscale 3\n +20 < S. 0:1 ack 1 mss 1000 win 1000 wscale 2\n > . 1:1 ack 1 win 12500");
    assert_eq!((s.tcp.own_window_scale(), s.tcp.peer_window_scale()), (3, 2));
    let mut s = Script::accept(scaling(), "S 0:1 mss 1000");
    s.run("> S. 0:1 ack 1 win 65535 nowscale\n +20 < . 1:1 ack 1 win 1000");
    assert_eq!((s.tcp.own_window_scale(), s.tcp.peer_window()), (0, 1000));
}

#[test]
fn the_window_of_a_syn_is_not_scaled() {
    let mut s = Script::connect(scaling());
    s.run("> S 0:1 win 65535\n +20 < S. 0:1 ack 1 mss 1000 win 1000 wscale 2\n > . 1:1 ack 1");
    assert_eq!(s.tcp.peer_window(), 1000);
    s.run("< . 1:1 ack 1 win 1000");
    assert_eq!(s.tcp.peer_window(), 4000);
    let mut s = Script::accept(scaling(), "S 0:1 mss 1000 win 1000 wscale 2");
    s.run("> S. 0:1 ack 1 win 65535 wscale 3");
    assert_eq!(s.tcp.peer_window(), 1000);
}

#[test]
fn a_shift_above_14_counts_as_14() {
    let mut s = Script::connect(scaling());
    s.run("> S 0:1\n +20 < S. 0:1 ack 1 mss 1000 wscale 15\n > . 1:1 ack 1\n < . 1:1 ack 1 win 2");
    assert_eq!((s.tcp.peer_window_scale(), s.tcp.peer_window()), (14, 2 << 14));
}

#[test]
fn every_segment_carries_a_timestamp_once_both_syns_did() {
    let mut s = established();
    s.run(
        "
        push 1500
        > . 1:1001 ts 120/1000
        > . 1001:1501 ts 120/1000
        +20 < . 1:1 ack 1001 ts 1020/120
        +200 > . 1001:1501 ts 340/1020
        +20 < . 1:1 ack 1501 win 0 ts 1240/340
        push 100
        +200 > . 1500:1500 ts 560/1240
        +1 < . 1:1 ack 1501 win 5000 ts 1441/560
        > . 1501:1601 ts 561/1441
        < . 1:1001 ack 1601 ts 1442/561
        < . 1001:2001 ack 1601 ts 1443/561
        > . 1601:1601 ack 2001 ts 561/1442
        finish
        > F. 1601:1602 ts 561/1442
    ",
    );
}

#[test]
fn without_timestamps_of_the_peer_none_are_sent() {
    let mut s = Script::connect(stamped());
    s.run("> S 0:1 ts 100/0\n +20 < S. 0:1 ack 1 mss 1000\n > . 1:1 ack 1 nots\n push 10\n > . 1:11 nots");
    let mut s = Script::accept(stamped(), "S 0:1 mss 1000");
    s.run("> S. 0:1 ack 1 nots");
}

#[test]
fn a_segment_without_its_timestamp_is_dropped_in_silence() {
    let mut s = established();
    s.run("< . 1:1001 ack 1\n +1000 > nothing");
    assert_eq!(s.tcp.readable(), 0);
    s.assert_state(State::Established);
    s.run("< . 1:1001 ack 1 ts 1001/120\n < . 1001:2001 ack 1 ts 1001/120\n > . 1:1 ack 2001");
}

#[test]
fn an_older_timestamp_is_refused_and_answered() {
    let mut s = established();
    s.run("< . 1:1001 ack 1 ts 999/120\n > . 1:1 ack 1 ts 120/1000");
    assert_eq!(s.tcp.readable(), 0);
    // Half of the circle behind, or ahead.
    s.run("+500 < . 1:1001 ack 1 ts 2147484649/120\n > . 1:1 ack 1");
    assert_eq!(s.tcp.readable(), 0);
    s.run("< . 1:1001 ack 1 ts 1000/120");
    assert_eq!(s.tcp.readable(), 1000);
}

#[test]
fn a_reset_counts_whatever_its_timestamp() {
    let mut s = established();
    s.run("< R 1:1 ts 5/0");
    assert_eq!(s.events().last(), Some(&Event::Closed(CloseReason::Reset)));
}

#[test]
fn a_resets_timestamp_is_not_remembered() {
    let mut s = established();
    s.run("< R 5:5 ts 900000/0\n > . 1:1 ack 1 ts 120/1000\n < . 1:501 ack 1 ts 1001/120\n +100 > . 1:1 ack 501 ts 220/1001");
}

#[test]
fn what_lies_above_a_hole_does_not_move_the_echo() {
    let mut s = established();
    s.run(
        "
        < . 1001:2001 ack 1 ts 1010/120
        > . 1:1 ack 1 ts 120/1000
        < . 1:1001 ack 1 ts 1005/120
        > . 1:1 ack 2001 ts 120/1005
    ",
    );
}

#[test]
fn the_echo_of_a_syn_without_ack_means_nothing() {
    let mut s = Script::accept(stamped(), "S 0:1 mss 1000 ts 7/42");
    s.run("> S. 0:1 ack 1 ts 100/7");
    assert_eq!(s.tcp.srtt(), None);
    s.run("+20 < . 1:1 ack 1 ts 27/100");
    assert_eq!(s.tcp.srtt(), Some(Duration::from_millis(20)));
}

#[test]
fn a_segment_without_ack_echoes_nothing() {
    let mut s = Script::accept(stamped(), "S 0:1 mss 1000 ts 7/0");
    s.run("> S. 0:1 ack 1 ts 100/7\n +20 < . 1:1 ack 77 ts 27/100\n > R 77:77 ts 120/0");
    let mut s = Script::connect(stamped());
    s.run("> S 0:1 ts 100/0");
}

#[test]
fn a_reset_carries_a_timestamp_too() {
    let mut s = established();
    s.run("push 500\n > . 1:501\n +30 abort\n > R. 501:501 ack 1 ts 150/1000");
    let mut s = Script::connect(stamped());
    s.run("> S 0:1\n +20 < . 5:5 ack 77\n > R 77:77 nots");
}

/// RFC 7323 §4.1: the echo says which transmission was acknowledged, to the millisecond.
#[test]
fn the_echo_measures_the_round_trip_of_what_was_sent_twice() {
    for (echo, milliseconds) in [(320, 30), (120, 230)] {
        let mut s = established();
        s.run("push 1000\n > . 1:1001 ts 120/1000\n +200 > . 1:1001 ts 320/1000");
        s.run(&format!("+30 < . 1:1 ack 1001 ts 1230/{echo}"));
        assert_eq!(s.tcp.latest_rtt(), Some(Duration::from_millis(milliseconds)));
    }
}

/// RFC 6191 §2: who decides about TIME-WAIT asks for it.
#[test]
fn the_last_clock_of_the_peer_is_known() {
    let mut s = established();
    assert_eq!(s.tcp.recent_timestamp(), Some(1000));
    s.run("< . 1:1001 ack 1 ts 1020/120");
    assert_eq!(s.tcp.recent_timestamp(), Some(1020));
    assert_eq!(Script::established(plain()).tcp.recent_timestamp(), None);
}
