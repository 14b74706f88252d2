//! How much of a tuned receive buffer is offered, and when (Linux `tcp_grow_window`).

use crate::script::Script;
use crate::script::configs::{plain, sack};
use ropewalk_tcp::{Config, DelayedAck};

/// What Linux offers at first, and the shift of the window field here.
const FIRST: u32 = 65_535;
const SCALE: u8 = 5;

/// A receiver whose application has read 20 segments of 988 octets within a round trip: its buffer has grown, and
/// nothing of that is offered yet.
fn grown(config: Config) -> Script {
    let config = Config {
        receive_autotuning: true,
        receive_buffer: 1_000_000,
        window_scale: Some(SCALE),
        timestamps: true,
        ..config
    };
    let mut s = Script::connect(config);
    s.run(
        "
        > S 0:1 ts 100/0
        +20 < S. 0:1 ack 1 mss 1000 wscale 7 sackok ts 7/100
        > . 1:1 ack 1
    ",
    );
    for n in 0..20 {
        s.run(&format!("<< . {}:{} ack 1 ts 8/120", 988 * n + 1, 988 * (n + 1) + 1));
    }
    s.run(&format!(
        "read\n > . 1:1 ack 19761\n +20 < . 19761:20749 ack 1 ts 28/140\n +100 > . 1:1 ack 20749 win {}\n read",
        field(0)
    ));
    s
}

/// The window field after so many segments that let the offer grow. What lies in the buffer takes nothing from it, as the buffer has
/// room for more than is offered.
fn field(grown: u32) -> u32 {
    (FIRST + 2 * 988 * grown) >> SCALE
}

#[test]
fn each_segment_lets_the_offer_grow_by_two_and_is_told_at_once() {
    let mut s = grown(plain());
    for n in 0..4 {
        let (from, to) = (20_749 + 988 * n, 20_749 + 988 * (n + 1));
        let win = field(n + 1);
        s.run(&format!("+1 < . {from}:{to} ack 1 ts 129/240\n > . 1:1 ack {to} win {win}\n read"));
    }
}

/// What arrives above a hole lets it grow, too, where SACK tells duplicate ACKs from window updates. Without SACK a duplicate
/// ACK repeats the window (RFC 5681 §2).
#[test]
fn a_segment_above_a_hole_lets_the_offer_grow_where_sack_is_agreed() {
    for (config, segments) in [(sack(), 1), (plain(), 0)] {
        let mut s = grown(config);
        let win = field(segments);
        s.run(&format!("+1 < . 21737:22725 ack 1 ts 129/240\n > . 1:1 ack 20749 win {win}"));
    }
}

#[test]
fn a_segment_that_fills_a_hole_lets_the_offer_grow() {
    let mut s = grown(plain());
    s.run("+1 < . 21737:22725 ack 1 ts 129/240\n > . 1:1 ack 20749");
    let win = field(1);
    s.run(&format!("+1 < . 20749:21737 ack 1 ts 130/241\n > . 1:1 ack 22725 win {win}"));
}

/// Linux `tcp_rcv_rtt_measure_ts`: a small segment may have waited at the sender, and an echo of 0 is none (RFC 7323 §3.2).
#[test]
fn only_full_segments_that_echo_measure_the_round_trip_of_a_receiver() {
    let config = Config { receive_autotuning: true, receive_buffer: 1_000_000, timestamps: true, ..plain() };
    let mut s = Script::connect(config);
    s.run("> S 0:1 ts 100/0\n +20 < S. 0:1 ack 1 mss 1000 ts 7/100\n > . 1:1 ack 1 ts 120/7");
    let mut after = |line: &str| {
        s.run(line);
        s.tcp.receiver_rtt().map(|rtt| rtt.as_nanos() / 1000)
    };
    assert_eq!(after("+30 << . 1:989 ack 1 ts 40/120"), Some(30_000));
    assert_eq!(after("+50 << . 989:1089 ack 1 ts 41/130"), Some(30_000), "a small one");
    assert_eq!(after("<< . 1089:2077 ack 1 ts 42/0"), Some(30_000), "no echo");
    assert_eq!(after("<< . 2077:3065 ack 1 ts 43/150"), Some((7 * 30_000 + 50_000) / 8));
}

/// Linux `__tcp_select_window`: what waits above a hole is memory that is taken, also from a window that reaches over it. So the edge
/// stands still until all is there.
#[test]
fn what_waits_above_a_hole_takes_from_the_window() {
    for (memory_overhead, window) in [(512, 8000), (0, 10_000)] {
        let mut s = Script::established(Config { memory_overhead, ..plain() });
        s.run(&format!(
            "
            +1 < . 1001:2001 ack 1
            > . 1:1 ack 1 win 10000
            +1 < . 3001:4001 ack 1
            > . 1:1 ack 1 win 10000
            +1 < . 1:1001 ack 1
            > . 1:1 ack 2001 win 8000
            read
            +1 < . 4001:5001 ack 1
            > . 1:1 ack 2001 win {window}
            +1 << . 2001:3001 ack 1
            read
            > . 1:1 ack 5001 win 10000
        "
        ));
    }
}

/// Linux: the ACK of a segment that fills a hole leaves before the application has read what waited. The next one, which tells of the room,
/// is no duplicate then (RFC 5681 §2 (e)).
#[test]
fn the_ack_that_fills_a_hole_leaves_before_reading() {
    for (after_reading, window) in [(true, 8000), (false, 10_000)] {
        let delayed_ack = DelayedAck { after_reading, ..plain().delayed_ack };
        let mut s = Script::established(Config { delayed_ack, ..plain() });
        s.run(&format!(
            "
            +1 < . 1001:2001 ack 1
            > . 1:1 ack 1 win 10000
            +1 << . 1:1001 ack 1
            read
            > . 1:1 ack 2001 win {window}
            +1 < . 3001:4001 ack 1
            > . 1:1 ack 2001 win 10000
        "
        ));
    }
}
