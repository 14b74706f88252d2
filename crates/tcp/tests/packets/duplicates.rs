//! DSACKs as the sender reads them (RFC 2883, RFC 3708).

use crate::script::Script;
use crate::script::configs::{rack, sack};
use ropewalk_tcp::{Config, SpuriousResponse};

/// Five segments of which the first four were sent again in vain: they come late, all of them.
fn two_repaired() -> Script {
    let spurious = SpuriousResponse { dsack: true, ..SpuriousResponse::default() };
    let mut s = Script::established(Config { spurious, ..sack() });
    s.run(
        "
        push 6000
        > . 1:1001
        > . 1001:2001
        > . 2001:3001
        > . 3001:4001
        > . 4001:5001
        > . 5001:6001
        +20 < . 1:1 ack 1 sack 2001-6001
        > . 1:1001
        > . 1001:2001
        +1 < . 1:1 ack 6001
    ",
    );
    assert_eq!(s.tcp.stats().retransmissions, 2);
    s
}

#[test]
fn a_dsack_over_several_segments_counts_all_of_them() {
    let mut s = two_repaired();
    s.run("+20 < . 1:1 ack 6001 sack 1-2001");
    assert_eq!((s.tcp.stats().undone, s.tcp.stats().spurious_retransmissions), (1, 2));
}

#[test]
fn one_report_for_each_segment_is_the_same() {
    let mut s = two_repaired();
    s.run("+20 < . 1:1 ack 6001 sack 1-1001");
    assert_eq!((s.tcp.stats().undone, s.tcp.stats().spurious_retransmissions), (0, 1));
    s.run("< . 1:1 ack 6001 sack 1001-2001");
    assert_eq!((s.tcp.stats().undone, s.tcp.stats().spurious_retransmissions), (1, 2));
}

/// RFC 3708 §3 (A): what was not sent again was doubled on the way, and tells nothing of our retransmissions.
#[test]
fn a_dsack_beyond_what_was_repaired_ends_the_search() {
    let mut s = two_repaired();
    s.run("+20 < . 1:1 ack 6001 sack 1001-3001\n < . 1:1 ack 6001 sack 1-2001");
    assert_eq!(s.tcp.stats().undone, 0);
}

#[test]
fn a_dsack_for_what_was_never_sent_counts_nothing() {
    let mut s = two_repaired();
    for block in ["0-1001", "4294967000-4294967100", "4294967000-2001", "7001-8001", "2001-1"] {
        s.run(&format!("+20 < . 1:1 ack 6001 sack {block}"));
        assert_eq!(s.tcp.stats().spurious_retransmissions, 0, "{block}");
    }
    s.run("+20 < . 1:1 ack 6001 sack 1-2001");
    assert_eq!(s.tcp.stats().undone, 1, "and does not end the search");
}

fn counts(s: &Script) -> (u64, u64, u64) {
    let stats = s.tcp.stats();
    (stats.retransmissions, stats.undone, stats.spurious_retransmissions)
}

/// Two timeouts, of which the second was in vain: Eifel has found that, and its report comes after.
fn undone_and_reported() -> Script {
    let spurious = SpuriousResponse { eifel: true, ..SpuriousResponse::default() };
    let mut s =
        Script::accept(Config { spurious, timestamps: true, ..sack() }, "S 0:1 mss 1000 sackok ts 5/0");
    s.run(
        "
        > S. 0:1 ack 1
        +20 < . 1:1 ack 1 ts 25/100
        push 988
        > . 1:989 ts 120/25
        +200 > . 1:989 ts 320/25
        +20 < . 1:1 ack 989 ts 245/320
        push 1976
        > . 989:1977 ts 340/245
        > . 1977:2965 ts 340/245
        +200 > . 989:1977 ts 540/245
        +5 < . 1:1 ack 1977 ts 450/340
    ",
    );
    assert_eq!(counts(&s), (2, 1, 1));
    s.run("+5 < . 1:1 ack 2965 sack 989-1977 ts 455/340");
    s
}

/// What Eifel has found to be spurious is not counted again when the report of it comes.
#[test]
fn a_retransmission_that_was_undone_counts_once() {
    assert_eq!(counts(&undone_and_reported()), (2, 1, 1));
}

/// … and what is reported later is another one.
#[test]
fn a_retransmission_after_one_that_was_undone_counts_by_itself() {
    let mut s = undone_and_reported();
    s.run(
        "
        push 2964
        > . 2965:3953
        > . 3953:4941
        > . 4941:5929
        +20 < . 1:1 ack 5929 ts 475/550
        push 3952
        > . 5929:6917
        > . 6917:7905
        > . 7905:8893
        > . 8893:9881
        +20 < . 1:1 ack 5929 sack 6917-9881 ts 495/570
        > . 5929:6917 ts 590/495
        +20 < . 1:1 ack 9881 ts 515/590
        +1 < . 1:1 ack 9881 sack 5929-6917 ts 516/590
    ",
    );
    assert_eq!(counts(&s), (3, 1, 2));
}

/// RFC 2018 §3: blocks above SND.NXT or upside down are no blocks.
#[test]
fn sack_blocks_of_what_was_never_sent_mark_nothing() {
    let mut s = Script::established(rack());
    s.run(
        "
        push 3000
        > . 1:1001
        > . 1001:2001
        > . 2001:3001
        +20 < . 1:1 ack 1 sack 2001-4001,5001-6001,3001-1001
        > nothing
    ",
    );
    assert_eq!((s.tcp.pipe(), s.tcp.stats().duplicate_acks_received), (3000, 0));
}

/// RFC 2018 §8: a peer may drop what it has reported. The timer forgets the reports.
#[test]
fn a_peer_that_reneges_gets_all_again() {
    let mut s = Script::established(rack());
    s.run(
        "
        push 3000
        > . 1:1001
        > . 1001:2001
        > . 2001:3001
        +20 < . 1:1 ack 1 sack 1001-3001
        +5 > . 1:1001
        +20 < . 1:1 ack 1001
        > nothing
        +200 > . 1001:2001
        +20 < . 1:1 ack 2001
        > . 2001:3001
        +20 < . 1:1 ack 3001
    ",
    );
    assert_eq!(s.tcp.flight_size(), 0);
}

/// RFC 2018 §8: what the peer reports after it has dropped all is believed again.
#[test]
fn a_peer_that_reneges_may_report_anew() {
    let mut s = Script::established(rack());
    s.run(
        "
        push 4000
        > . 1:1001
        > . 1001:2001
        > . 2001:3001
        > . 3001:4001
        +20 < . 1:1 ack 1 sack 1001-4001
        > . 1:1001
        +20 < . 1:1 ack 1001
        > nothing
        +200 > . 1001:2001
        +20 < . 1:1 ack 1001 sack 3001-4001
        > nothing
    ",
    );
    s.tcp.audit();
    s.run("< . 1:1 ack 2001 sack 3001-4001\n > . 2001:3001\n > nothing\n +20 < . 1:1 ack 4001");
    assert_eq!((s.tcp.flight_size(), s.tcp.stats().timeouts), (0, 1));
}
