//! Selective acknowledgements: what is reported, and what a report does (RFC 2018, RFC 2883, RFC 6675).

use crate::script::Script;
use crate::script::configs::sack;
use ropewalk_tcp::Config;

#[test]
fn no_blocks_without_permission() {
    let mut s = Script::connect(sack());
    s.run("> S 0:1 sackok\n +20 < S. 0:1 ack 1 mss 1000\n > . 1:1 ack 1\n < . 1001:2001 ack 1\n > . 1:1 ack 1 nosack");
    s.run("< . 1001:2001 ack 1\n > . 1:1 ack 1 nosack\n push 500\n > . 1:501 nosack");
}

#[test]
fn blocks_are_in_all_acks_until_the_hole_is_filled() {
    let mut s = Script::established(sack());
    s.run(
        "
        < . 2001:3001 ack 1
        > . 1:1 ack 1 sack 2001-3001
        push 500
        > . 1:501 ack 1 sack 2001-3001
        < . 1:501 ack 1
        > . 501:501 ack 501 sack 2001-3001
        < . 501:2001 ack 1
        > . 501:501 ack 3001 nosack
    ",
    );
}

#[test]
fn an_option_holds_four_blocks_or_three_beside_timestamps() {
    let holes = "
        < . 1001:1501 ack 1 ts 1/100
        > . 1:1 ack 1
        < . 2001:2501 ack 1 ts 1/100
        > . 1:1 ack 1
        < . 3001:3501 ack 1 ts 1/100
        > . 1:1 ack 1
        < . 4001:4501 ack 1 ts 1/100
    ";
    let mut s = Script::established(sack());
    s.run(holes);
    s.run("> . 1:1 ack 1 sack 4001-4501,3001-3501,2001-2501,1001-1501");
    let mut s = Script::accept(Config { timestamps: true, ..sack() }, "S 0:1 mss 1000 sackok ts 1/0");
    s.run("> S. 0:1 ack 1\n +20 < . 1:1 ack 1 ts 1/100");
    s.run(holes);
    s.run("> . 1:1 ack 1 sack 4001-4501,3001-3501,2001-2501");
}

#[test]
fn a_duplicate_is_reported_though_its_timestamp_is_old() {
    let mut s = Script::accept(Config { timestamps: true, ..sack() }, "S 0:1 mss 1000 sackok ts 50/0");
    s.run(
        "
        > S. 0:1 ack 1
        +20 < . 1:1 ack 1 ts 70/100
        < . 1:1001 ack 1 ts 71/120
        < . 1001:2001 ack 1 ts 71/120
        > . 1:1 ack 2001 nosack
        < . 1:1001 ack 1 ts 60/120
        > . 1:1 ack 2001 sack 1-1001
    ",
    );
}

#[test]
fn what_was_reported_is_kept_until_it_is_acknowledged() {
    let mut s = Script::established(sack());
    s.run(
        "
        push 3000
        > . 1:1001
        > . 1001:2001
        > . 2001:3001
        +20 < . 1:1 ack 1 sack 1001-3001
        < . 1:1 ack 1001
        > nothing
        +200 > . 1001:2001
        +20 < . 1:1 ack 2001
        > . 2001:3001
    ",
    );
}

#[test]
fn holes_that_are_not_deemed_lost_are_repaired_when_there_is_nothing_else() {
    let mut s = Script::ten_in_flight(sack());
    s.run(
        "
        +20 < . 1:1 ack 1 sack 1001-7001,8001-9001
        > . 1:1001
        > . 7001:8001
        > . 9001:10001
        > nothing
    ",
    );
}

#[test]
fn progress_forgets_the_duplicates_before_it() {
    // Small segments: only the number of duplicates can tell of a loss.
    let mut s = Script::established(sack());
    for n in 0..8 {
        s.run(&format!("push 100\n > . {}:{}", 100 * n + 1, 100 * n + 101));
    }
    s.run(
        "
        +20 < . 1:1 ack 1 sack 101-201
        < . 1:1 ack 1 sack 101-301
        < . 1:1 ack 301
        < . 1:1 ack 301 sack 401-501
        < . 1:1 ack 301 sack 401-601
        > nothing
        < . 1:1 ack 301 sack 401-701
        > . 301:401
    ",
    );
}

#[test]
fn a_timeout_ends_recovery_and_none_begins_below_its_mark() {
    let mut s = Script::ten_in_flight(sack());
    s.run(
        "
        +20 < . 1:1 ack 1 sack 1001-2001
        < . 1:1 ack 1 sack 1001-3001
        < . 1:1 ack 1 sack 1001-4001
        > . 1:1001
        push 2000
        < . 1:1 ack 1 sack 1001-9001
        > . 10001:11001
        > . 11001:12001
    ",
    );
    assert!(s.tcp.in_recovery());
    s.run("+200 > . 1:1001");
    assert!(!s.tcp.in_recovery() && s.tcp.in_timeout_recovery());
    // The mark is what was sent last, not what was sent before the recovery that it ended.
    s.run(
        "< . 1:1 ack 1 sack 1001-9001,10001-12001\n +20 < . 1:1 ack 9001 sack 10001-12001\n > . 9001:10001",
    );
    assert!(!s.tcp.in_recovery() && s.tcp.in_timeout_recovery());
    s.run("+20 < . 1:1 ack 11001");
    assert!(s.tcp.in_timeout_recovery());
    s.run("< . 1:1 ack 12001");
    assert!(!s.tcp.in_timeout_recovery());
    assert_eq!(s.tcp.stats().fast_recoveries, 1);
}

#[test]
fn after_a_timeout_what_was_reported_is_not_sent_again() {
    let mut s = Script::ten_in_flight(sack());
    s.run(
        "
        +20 < . 1:1 ack 1 sack 3001-10001
        > . 1:1001
        > . 1001:2001
        > . 2001:3001
        > nothing
        +200 > . 1:1001
        +20 < . 1:1 ack 1001 sack 3001-10001
        > . 1001:2001
        > . 2001:3001
        > nothing
        +20 < . 1:1 ack 10001
        > nothing
    ",
    );
    assert!(!s.tcp.in_timeout_recovery());
}

/// RFC 9293 §3.7.1: options and data together are no longer than the MSS. Other segments carry the blocks.
#[test]
fn blocks_make_no_segment_longer_than_the_mss() {
    for (timestamps, option_reserve, full) in [(false, 0, 1000), (true, 0, 988), (false, 20, 980)] {
        let stamp = if timestamps { "ts 1/100" } else { "" };
        let config = Config { timestamps, option_reserve, ..sack() };
        let mut s = Script::accept(config, &format!("S 0:1 mss 1000 sackok {stamp}"));
        assert_eq!(s.tcp.smss(), full);
        s.run(&format!("> S. 0:1 ack 1\n +20 < . 1:1 ack 1 {stamp}\n < . 2001:2501 ack 1 {stamp}"));
        s.run("> . 1:1 ack 1 sack 2001-2501");
        s.run(&format!("push {full}\n > . 1:{} nosack\n > nothing", full + 1));
        s.run(&format!("push 100\n > . {}:{} sack 2001-2501", full + 1, full + 101));
    }
}

/// RFC 2883 §4: where data of ours leave no room, the report of a duplicate follows in an ACK of its own.
#[test]
fn a_duplicate_that_finds_no_room_is_reported_next() {
    let mut s = Script::established(sack());
    s.run(
        "
        < . 1:1001 ack 1
        +100 > . 1:1 ack 1001
        << . 1:1001 ack 1
        push 1000
        > . 1:1001 ack 1001 nosack
        > . 1001:1001 ack 1001 sack 1-1001
        > nothing
    ",
    );
}

/// RFC 2883 §4.1 and §4.2: the part of a segment that had arrived, below RCV.NXT or above the hole.
#[test]
fn of_an_overlapping_segment_the_part_that_came_twice_is_reported() {
    let mut s = Script::established(sack());
    s.run("< . 1:1001 ack 1\n < . 501:1501 ack 1\n > . 1:1 ack 1501 sack 501-1001");
    assert_eq!(s.tcp.stats().duplicate_bytes_received, 500);
    s.run("< . 2001:3001 ack 1\n > . 1:1 ack 1501 sack 2001-3001");
    s.run("< . 1501:2301 ack 1\n > . 1:1 ack 3001 sack 2001-2301");
    assert_eq!(s.tcp.stats().duplicate_bytes_received, 800);
}

/// RFC 2018 §3: the edges of a block are sequence numbers, also after the hole below it was filled.
#[test]
fn blocks_are_where_the_octets_are_after_the_first_hole_was_filled() {
    let mut s = Script::established(sack());
    s.run(
        "
        < . 1001:2001 ack 1
        > . 1:1 ack 1 sack 1001-2001
        < . 3001:4001 ack 1
        > . 1:1 ack 1 sack 3001-4001,1001-2001
        < . 1:1001 ack 1
        > . 1:1 ack 2001 sack 3001-4001
        < . 5001:6001 ack 1
        > . 1:1 ack 2001 sack 5001-6001,3001-4001
        < . 4001:5001 ack 1
        > . 1:1 ack 2001 sack 3001-6001
        < . 2001:3001 ack 1
        > . 1:1 ack 6001 nosack
    ",
    );
    assert_eq!(s.tcp.stats().out_of_order_segments, 4);
}

/// RFC 2018 §3: a block is contiguous, and the FIN is an octet as any other.
#[test]
fn a_fin_alone_belongs_to_the_block_below_it() {
    let mut s = Script::established(sack());
    s.run(
        "
        < . 1001:2001 ack 1
        > . 1:1 ack 1 sack 1001-2001
        < F. 2001:2002 ack 1
        > . 1:1 ack 1 sack 1001-2002
        < . 1:1001 ack 1
        > . 1:1 ack 2002 nosack
    ",
    );
}
