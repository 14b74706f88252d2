//! Part of a packet waits for the next ACK (Linux `tcp_tso_should_defer`).

use crate::script::Script;
use crate::script::configs::plain;
use ropewalk_tcp::Config;

fn deferring() -> Config {
    Config { defer_packets: true, ..plain() }
}

/// The window lets out five segments: two packets of a millisecond's worth, and half of one.
const FIVE_MORE: &str = "
    +20 < . 1:1 ack 3001
    > . 10001:11001
    > . 11001:12001
    > . 12001:13001
    > . 13001:14001
";

#[test]
fn half_a_packet_waits_for_the_next_ack() {
    let mut s = Script::ten_in_flight(deferring());
    s.run("push 20000");
    s.run(FIVE_MORE);
    s.run(
        "
        > nothing
        < . 1:1 ack 4001
        > . 14001:15001
        > . 15001:16001
        > nothing
    ",
    );
}

#[test]
fn without_the_key_nothing_waits() {
    let mut s = Script::ten_in_flight(plain());
    s.run("push 20000");
    s.run(FIVE_MORE);
    s.run("> . 14001:15001\n > nothing");
}

/// The oldest segment on its way left five milliseconds after the ones that were acknowledged.
#[test]
fn nothing_waits_where_the_next_ack_is_far() {
    let mut s = Script::established(deferring());
    s.run("push 3000");
    s.expect_segments(3);
    s.run("+5 push 20000");
    (3..10).for_each(|n| s.run(&format!("> . {}:{}", 1000 * n + 1, 1000 * n + 1001)));
    s.run("+15 > nothing");
    s.run("< . 1:1 ack 3001");
    (10..15).for_each(|n| s.run(&format!("> . {}:{}", 1000 * n + 1, 1000 * n + 1001)));
}

/// What was sent more than a millisecond ago is no reason to wait.
#[test]
fn nothing_waits_after_a_pause() {
    let mut s = Script::ten_in_flight(deferring());
    s.run("+20 < . 1:1 ack 10001");
    s.run("+1000 push 13000");
    (10..22).for_each(|n| s.run(&format!("> . {}:{}", 1000 * n + 1, 1000 * n + 1001)));
}

/// A single segment is Nagle's business.
#[test]
fn a_last_segment_does_not_wait() {
    let mut s = Script::ten_in_flight(deferring());
    s.run("push 5000");
    s.run(FIVE_MORE);
    s.run("> . 14001:15001");
}

/// Where one packet ends and another begins, half of it is a packet's end, and leaves.
#[test]
fn a_packet_that_was_written_to_its_end_leaves() {
    let mut s = Script::established(deferring());
    // Half of the peer's window is the most that is written into one packet: 30 segments. Nine of them are left.
    s.tcp.set_cwnd(21_000, 21_000);
    s.run("push 60000");
    s.expect_segments(21);
    s.run("+20 < . 1:1 ack 9001\n > . 21001:22001");
    (22..30).for_each(|n| s.run(&format!("> . {}:{}", 1000 * n + 1, 1000 * n + 1001)));
}

/// What is held back leaves room in the window, so the send buffer grows (Linux `tcp_should_expand_sndbuf`).
#[test]
fn the_send_buffer_grows_while_a_packet_waits() {
    for defer_packets in [true, false] {
        let buffers =
            Config { send_autotuning: true, memory_overhead: 512, slow_start_limit: None, ..plain() };
        let mut s = Script::established(Config { defer_packets, ..buffers });
        // Two packets of 31 segments fill the buffer. Of the first one a segment is left after thirty.
        s.run("+1 < . 1:1 ack 1 win 62000\n push 62000");
        s.expect_segments(10);
        s.run("+20 < . 1:1 ack 10001 win 62000");
        (10..30).for_each(|n| s.run(&format!("> . {}:{}", 1000 * n + 1, 1000 * n + 1001)));
        assert_eq!(s.tcp.send_space(), 0);
        s.run("+20 < . 1:1 ack 11001 win 62000\n > . 30001:31001");
        if defer_packets {
            s.run("> nothing");
            assert!(s.tcp.send_space() > 0);
        } else {
            s.run("> . 31001:32001\n > nothing");
            assert_eq!(s.tcp.send_space(), 0);
        }
    }
}

/// Packets depend on the peer's window and MSS, so a tuned buffer has room once both are known, were the window closed.
#[test]
fn an_application_writes_once_it_is_connected() {
    for window in [0, 60_000] {
        let mut s = Script::connect(Config { send_autotuning: true, memory_overhead: 512, ..deferring() });
        s.run("> S 0:1");
        assert_eq!(s.tcp.send_space(), 0);
        s.run(&format!("+20 < S. 0:1 ack 1 win {window} mss 1000\n > . 1:1 ack 1"));
        assert!(s.tcp.send_space() > 0, "{window}");
    }
}
