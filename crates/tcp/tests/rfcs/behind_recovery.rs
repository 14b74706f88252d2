//! What comes behind a fast recovery, and what Linux does within it.

use crate::script::Script;
use crate::script::configs::{plain, rack, sack};
use ropewalk_tcp::Config;

/// RFC 5681 §4.3: a loss in what was sent after the recovery had begun is another loss. It was sent again already when the recovery
/// ends.
#[test]
fn a_loss_above_the_recovery_point_begins_another_recovery() {
    let mut s = Script::established(Config { initial_window: 8, ..sack() });
    s.run("push 13000");
    s.expect_segments(8);
    s.run(
        "
        +20 < . 1:1 ack 1 sack 1001-4001
        > . 1:1001
        +1 < . 1:1 ack 1 sack 1001-6001
        > . 8001:9001
        +1 < . 1:1 ack 1 sack 1001-8001
        > . 9001:10001
        > . 10001:11001
        +20 < . 1:1 ack 1 sack 9001-10001,1001-8001
        > . 11001:12001
        +1 < . 1:1 ack 1 sack 9001-11001,1001-8001
        > . 12001:13001
        +18 < . 1:1 ack 1 sack 9001-12001,1001-8001
        > . 8001:9001
        > nothing
    ",
    );
    assert_eq!((s.tcp.ssthresh(), s.tcp.stats().fast_recoveries), (4000, 1));
    s.run("< . 1:1 ack 8001 sack 9001-12001");
    assert!(s.tcp.in_recovery());
    assert_eq!((s.tcp.ssthresh(), s.tcp.stats().fast_recoveries), (2500, 2));
    s.run("+20 < . 1:1 ack 13001");
    assert!(!s.tcp.in_recovery());
}

/// Linux: the ACK that ends a recovery makes the window grow by what it delivers. RFC 5681 §3.2 lets it end alone.
#[test]
fn the_ack_that_ends_a_recovery_counts_by_delivery() {
    for (growth_by_delivery, cwnd) in [(true, 3000), (false, 2000)] {
        let mut s = Script::established(Config { initial_window: 4, growth_by_delivery, ..rack() });
        s.run("push 6000");
        s.expect_segments(4);
        s.run(
            "
            +20 < . 1:1 ack 1 sack 1001-4001
            > . 1:1001
            > . 4001:5001
            +20 < . 1:1 ack 4001
            > . 5001:6001
        ",
        );
        assert_eq!(s.tcp.cwnd(), 2000);
        s.run("+20 < . 1:1 ack 5001");
        assert_eq!(s.tcp.cwnd(), cwnd, "{growth_by_delivery}");
    }
}

/// What was SACKed before does not count again.
#[test]
fn by_delivery_an_advance_counts_without_what_was_sacked() {
    for (growth_by_delivery, cwnd) in [(true, 3000), (false, 4000)] {
        let mut s = Script::established(Config { initial_window: 2, growth_by_delivery, ..rack() });
        s.run("push 2000");
        s.expect_segments(2);
        s.run(
            "
            +20 < . 1:1 ack 1 sack 1001-2001
            +1 < . 1:1 ack 2001
        ",
        );
        assert_eq!(s.tcp.cwnd(), cwnd, "{growth_by_delivery}");
    }
}

/// Linux's `tcp_rack_advance`: the ACK that advances tells the round-trip time of what it advances over, with the receiver's delay.
#[test]
fn racks_round_trip_time_is_that_of_what_is_looked_at_last() {
    for (rack_rtt_as_linux, later) in [(false, 0), (true, 15)] {
        let mut s = Script::established(Config { rack_rtt_as_linux, ..rack() });
        s.run(
            "
            push 1000
            > . 1:1001
            +10 push 1000
            > . 1001:2001
            +20 push 1000
            > . 2001:3001
            +20 < . 1:1 ack 1001 sack 2001-3001
        ",
        );
        if later > 0 {
            s.run(&format!("+{} > nothing\n+1 > . 1001:2001", later - 1));
        } else {
            s.run("> . 1001:2001");
        }
    }
}

/// RFC 5681 §5: a peer that sends more duplicate ACKs than segments can have arrived gets no more data for them.
#[test]
fn duplicates_tell_of_no_more_than_was_outstanding() {
    let mut s = Script::established(Config { initial_window: 4, ..plain() });
    s.run("push 9000");
    s.expect_segments(4);
    s.run(
        "
        +20 < . 1:1 ack 1
        < . 1:1 ack 1
        < . 1:1 ack 1
        > . 1:1001
        > . 4001:5001
    ",
    );
    (0..20).for_each(|_| s.run("<< . 1:1 ack 1"));
    s.run("< . 1:1 ack 1\n> . 5001:6001\n> nothing");
}
