//! Both windows: large, closed, shrinking (RFC 9293 §3.1, §3.8.6).

use crate::script::Script;
use crate::script::configs::plain;
use ropewalk_tcp::{Config, State};
use std::fmt::Write;

/// Lines that expect full segments of 1000 octets, from the first of them to the last.
fn full(from: u32, to: u32) -> String {
    (from..to).fold(String::new(), |mut lines, n| {
        writeln!(lines, "> . {}:{}", 1000 * n + 1, 1000 * (n + 1) + 1).expect("a string takes all");
        lines
    })
}

#[test]
fn a_window_above_32767_is_not_negative() {
    let mut s = Script::established(Config { initial_window: 100, ..plain() });
    s.run(&format!("push 70000\n {} > nothing", full(0, 60)));
    // Of a later segment as well as of a SYN.
    let mut s = Script::established(Config { initial_window: 100, ..plain() });
    s.run(&format!("< . 1:1 ack 1 win 40000\n push 70000\n {} > nothing", full(0, 40)));
}

#[test]
fn a_scaled_window_takes_more_than_16_bits() {
    let config = Config { initial_window: 300, window_scale: Some(0), ..plain() };
    let mut s = Script::connect(config);
    s.run("> S 0:1 wscale 0\n +20 < S. 0:1 ack 1 win 60000 mss 1000 wscale 2\n > . 1:1 ack 1");
    s.run("< . 1:1 ack 1 win 60000");
    s.run(&format!("push 250000\n {} > nothing", full(0, 240)));
}

#[test]
fn a_window_that_shrinks_stops_new_data_and_no_retransmission() {
    let mut s = Script::established(plain());
    s.run(&format!("push 5000\n {}", full(0, 5)));
    s.run(
        "
        +20 < . 1:1 ack 1001 win 2000
        push 1000
        > nothing
        +200 > . 1001:2001
        +20 < . 1:1 ack 3001 win 2000
        > . 3001:4001
        > . 4001:5001
        +20 < . 1:1 ack 5001 win 2000
        > . 5001:6001
    ",
    );
}

#[test]
fn a_window_may_stay_closed_for_ever() {
    let mut s = Script::established(plain());
    s.run("push 1000\n > . 1:1001\n +20 < . 1:1 ack 1001 win 0\n push 500\n > nothing");
    for probe in 0..40 {
        let wait = (200u64 << probe.min(20)).min(60_000);
        s.run(&format!("+{wait} > . 1000:1000\n < . 1:1 ack 1001 win 0"));
    }
    s.assert_state(State::Established);
    s.run("+5 < . 1:1 ack 1001 win 500\n > . 1001:1501");
}

#[test]
fn the_right_edge_of_our_window_stays_where_it_was() {
    let mut s = Script::established(Config { receive_buffer: 4000, ..plain() });
    s.run(
        "
        < . 1:1001 ack 1
        < . 1001:2001 ack 1
        > . 1:1 ack 2001 win 2000
        < . 2001:3001 ack 1
        < . 3001:4001 ack 1
        > . 1:1 ack 4001 win 0
        read
        > . 1:1 ack 4001 win 4000
    ",
    );
}

#[test]
fn our_window_does_not_open_bit_by_bit() {
    let mut s = Script::established(Config { receive_buffer: 2000, ..plain() });
    s.run(
        "
        < . 1:1001 ack 1
        < . 1001:2001 ack 1
        > . 1:1 ack 2001 win 0
        read 999
        > nothing
        read 1
        > . 1:1 ack 2001 win 1000
    ",
    );
}

#[test]
fn acks_count_while_our_window_is_closed() {
    let mut s = Script::established(Config { receive_buffer: 2000, ..plain() });
    s.run(
        "
        push 1000
        > . 1:1001
        < . 1:1001 ack 1
        < . 1001:2001 ack 1
        > . 1001:1001 ack 2001 win 0
        +20 < . 2001:2001 ack 1001
        > nothing
    ",
    );
    assert_eq!(s.tcp.flight_size(), 0);
}
