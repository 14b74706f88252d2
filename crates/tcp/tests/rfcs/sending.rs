//! How data is cut and pushed, and what is measured (RFC 9293 §3.7.4, §3.8.1, §3.9.1.2).

use crate::script::Script;
use crate::script::configs::plain;
use ropewalk_tcp::Config;
use ropewalk_units::Duration;

#[test]
fn without_nagle_small_segments_leave_at_once() {
    let mut s = Script::established(Config { nagle: false, ..plain() });
    s.run("push 100\n > . 1:101\n push 100\n > . 101:201\n push 1\n > . 201:202");
}

#[test]
fn the_last_segment_of_what_is_queued_is_pushed() {
    let mut s = Script::established(plain());
    s.run("push 2500\n > . 1:1001 nopush\n > . 1001:2001 nopush\n > . 2001:2501 push");
}

#[test]
fn what_waits_leaves_in_full_segments() {
    let mut s = Script::established(Config { initial_window: 1, ..plain() });
    s.run(
        "
        push 1000
        > . 1:1001
        push 300
        push 300
        push 900
        > nothing
        +20 < . 1:1 ack 1001
        > . 1001:2001
        > . 2001:2501 push
    ",
    );
}

#[test]
fn a_retransmitted_segment_tells_no_round_trip_time() {
    let mut s = Script::established(plain());
    s.run("push 1000\n > . 1:1001\n +200 > . 1:1001\n +150 < . 1:1 ack 1001");
    assert_eq!((s.tcp.srtt(), s.tcp.latest_rtt()), (Some(Duration::from_millis(20)), s.tcp.srtt()));
    // Nor does one that arrived before, and is acknowledged with it.
    s.run("push 2000\n > . 1001:2001\n > . 2001:3001\n +400 > . 1001:2001\n +150 < . 1:1 ack 3001");
    assert_eq!(s.tcp.latest_rtt(), s.tcp.srtt());
    // The next one, sent once, does.
    s.run("push 1000\n > . 3001:4001\n +150 < . 1:1 ack 4001");
    assert_eq!(s.tcp.latest_rtt(), Some(Duration::from_millis(150)));
}

/// Linux `__tcp_transmit_skb`: what leaves as one packet, for the device to cut, ends with PSH. A segment that leaves alone does not.
#[test]
fn the_last_of_several_segments_that_leave_together_is_pushed() {
    let mut s = Script::established(Config { push_packets: true, initial_window: 4, ..plain() });
    // A packet has half of cwnd at most.
    s.run("push 20000\n > . 1:1001 nopush\n > . 1001:2001 push\n > . 2001:3001 nopush\n > . 3001:4001 push");
    s.run("+5 < . 1:1 ack 1001\n > . 4001:5001 nopush\n > . 5001:6001 push\n > nothing");
    // Four may leave: more than a millisecond's at the rate of pacing, so packets have the least, two.
    s.run("+5 < . 1:1 ack 3001\n > . 6001:7001 nopush\n > . 7001:8001 push\n > . 8001:9001 nopush");
    s.run("> . 9001:10001 push\n > nothing");
    // The peer's window lets one out.
    s.run("+5 < . 1:1 ack 10001 win 1000\n > . 10001:11001 nopush\n > nothing");
}

#[test]
fn a_packet_at_a_high_rate_has_what_leaves_in_a_millisecond() {
    // 40 segments in 20 ms, and twice as many while they double: four in a millisecond.
    let mut s = Script::established(Config { push_packets: true, initial_window: 40, ..plain() });
    s.run("< . 1:1 ack 1 win 60000\n push 9000");
    s.run("> . 1:1001 nopush\n > . 1001:2001 nopush\n > . 2001:3001 nopush\n > . 3001:4001 push");
    s.run("> . 4001:5001 nopush\n > . 5001:6001 nopush\n > . 6001:7001 nopush\n > . 7001:8001 push");
    s.run("> . 8001:9001 push");
}

#[test]
fn a_window_of_three_segments_lets_them_out_one_by_one() {
    let mut s = Script::established(Config { push_packets: true, initial_window: 3, ..plain() });
    s.run("push 9000\n > . 1:1001 nopush\n > . 1001:2001 nopush\n > . 2001:3001 nopush\n > nothing");
}

#[test]
fn a_packet_whose_rest_nagle_holds_back_does_not_go_on_later() {
    let mut s = Script::established(Config { push_packets: true, nagle: true, ..plain() });
    s.run("push 300\n > . 1:301 push\n push 1300\n > . 301:1301 nopush\n > nothing");
    s.run("+1 push 1000\n > . 1301:2301 nopush\n > nothing");
}
