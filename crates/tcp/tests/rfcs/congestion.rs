//! Windows at the start and after a loss (RFC 5681).

use crate::script::Script;
use crate::script::configs::{plain, sack};
use ropewalk_tcp::{Config, LossRecovery};

#[test]
fn the_handshake_does_not_open_the_window() {
    let s = Script::established(Config { initial_window: 2, ..plain() });
    assert_eq!((s.tcp.cwnd(), s.tcp.ssthresh()), (2000, u32::MAX));
    let mut s = Script::accept(Config { initial_window: 2, ..plain() }, "S 0:1 mss 1000");
    s.run("> S. 0:1 ack 1\n +20 < . 1:1 ack 1");
    assert_eq!(s.tcp.cwnd(), 2000);
}

#[test]
fn a_syn_lost_twice_leaves_one_segment() {
    let mut s = Script::connect(plain());
    s.run("> S 0:1\n +1000 > S 0:1\n +2000 > S 0:1\n +20 < S. 0:1 ack 1 mss 1000\n > . 1:1 ack 1");
    assert_eq!(s.tcp.cwnd(), 1000);
}

#[test]
fn fast_recovery_inflates_and_deflates() {
    let mut s = Script::ten_in_flight(plain());
    s.run("+20 < . 1:1 ack 1\n < . 1:1 ack 1\n > nothing\n < . 1:1 ack 1\n > . 1:1001");
    assert_eq!((s.tcp.ssthresh(), s.tcp.cwnd()), (5000, 8000));
    s.run("push 20000\n < . 1:1 ack 1\n < . 1:1 ack 1");
    assert_eq!(s.tcp.cwnd(), 10_000);
    s.run("< . 1:1 ack 1\n > . 10001:11001\n < . 1:1 ack 1\n > . 11001:12001");
    s.run("< . 1:1 ack 1\n > . 12001:13001\n < . 1:1 ack 1\n > . 13001:14001");
    // Four segments are on their way: no more than ssthresh, and no burst.
    s.run("+20 < . 1:1 ack 10001\n > . 14001:15001");
    assert_eq!((s.tcp.cwnd(), s.tcp.in_recovery()), (5000, false));
}

#[test]
fn what_sack_blocks_tell_does_not_inflate_the_window_too() {
    let mut s = Script::established(Config {
        loss_recovery: LossRecovery::NewReno,
        limited_transmit: false,
        ..sack()
    });
    s.run("push 40000");
    s.expect_segments(10);
    s.run("+20 < . 1:1 ack 1 sack 1001-2001\n < . 1:1 ack 1 sack 1001-3001\n > nothing");
    s.run("< . 1:1 ack 1 sack 1001-4001\n > . 1:1001");
    assert_eq!((s.tcp.ssthresh(), s.tcp.cwnd(), s.tcp.pipe()), (5000, 5000, 7000));
    s.run("< . 1:1 ack 1 sack 1001-5001\n < . 1:1 ack 1 sack 1001-6001\n > nothing");
    // The window is full: one segment for each that has arrived.
    s.run("< . 1:1 ack 1 sack 1001-7001\n > . 10001:11001\n > nothing");
    s.run("< . 1:1 ack 1 sack 1001-8001\n > . 11001:12001\n > nothing");
    assert_eq!((s.tcp.cwnd(), s.tcp.pipe()), (5000, 5000));
}

#[test]
fn congestion_avoidance_follows_a_recovery() {
    let mut s = Script::established(Config { initial_window: 4, ..plain() });
    s.run("push 30000\n > . 1:1001\n > . 1001:2001\n > . 2001:3001\n > . 3001:4001");
    s.run("+20 < . 1:1 ack 1\n < . 1:1 ack 1\n < . 1:1 ack 1\n > . 1:1001\n > . 4001:5001");
    s.run("+20 < . 1:1 ack 4001\n > . 5001:6001\n > nothing");
    assert_eq!((s.tcp.cwnd(), s.tcp.ssthresh(), s.tcp.in_slow_start()), (2000, 2000, false));
    // One segment more in a round trip, not two.
    s.run("+20 < . 1:1 ack 6001\n > . 6001:7001\n > . 7001:8001\n > . 8001:9001\n > nothing");
}

#[test]
fn a_divided_ack_opens_the_window_no_further() {
    let mut s = Script::established(Config { initial_window: 1, ..plain() });
    s.run("push 20000\n > . 1:1001");
    s.run("+20 < . 1:1 ack 101\n < . 1:1 ack 301\n < . 1:1 ack 501\n > . 1001:2001\n < . 1:1 ack 801");
    assert_eq!(s.tcp.cwnd(), 1800);
    s.run("< . 1:1 ack 1001\n > . 2001:3001\n > nothing");
    assert_eq!(s.tcp.cwnd(), 2000);
}
