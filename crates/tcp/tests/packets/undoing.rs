//! What finds a recovery to be in vain, what takes it back, and what each leaves alone.

use crate::script::Script;
use crate::script::configs::{rack, sack};
use ropewalk_tcp::{Config, Event, SpuriousResponse};
use ropewalk_units::Duration;

const NONE: SpuriousResponse = SpuriousResponse { dsack: false, eifel: false, frto: false, door: false };
const DSACK: SpuriousResponse = SpuriousResponse { dsack: true, ..NONE };
const EIFEL: SpuriousResponse = SpuriousResponse { eifel: true, ..NONE };
const FRTO: SpuriousResponse = SpuriousResponse { frto: true, ..NONE };
const DOOR: SpuriousResponse = SpuriousResponse { door: true, ..NONE };

/// Ten segments of 1000 octets are on their way, sent at 120 ms, with timestamps.
fn stamped(config: Config) -> Script {
    let mut s = Script::connect(Config { mss: 1012, timestamps: true, ..config });
    s.run("> S 0:1\n +20 < S. 0:1 ack 1 win 60000 mss 1012 sackok ts 1/100\n > . 1:1 ack 1\n push 10000");
    s.expect_segments(10);
    s
}

/// RFC 5682 §3.1 (2a): without anything new to send cwnd is two segments at most, however much was acknowledged.
#[test]
fn frto_that_cannot_tell_leaves_two_segments() {
    let mut s = Script::ten_in_flight(Config { spurious: FRTO, slow_start_limit: None, ..rack() });
    s.run("+200 > . 1:1001\n +10 < . 1:1 ack 5001\n > . 5001:6001\n > . 6001:7001\n > nothing");
    assert_eq!(s.tcp.cwnd(), 2000);
}

/// RFC 5682 §3.1 (3a): an answer to the new data leaves three.
#[test]
fn frto_that_finds_a_loss_leaves_three_segments() {
    let mut s = Script::established(Config { spurious: FRTO, slow_start_limit: None, ..rack() });
    s.run("push 12000");
    s.expect_segments(10);
    s.run("+200 > . 1:1001\n +10 < . 1:1 ack 5001\n > . 10001:11001\n > . 11001:12001\n > nothing");
    assert_eq!(s.tcp.cwnd(), 5000);
    s.run("+20 << . 1:1 ack 5001 sack 10001-11001");
    assert_eq!(s.tcp.cwnd(), 3000);
}

/// … and a window below the limit stays as it is.
#[test]
fn frto_makes_no_window_larger() {
    let mut s = Script::established(Config { spurious: FRTO, ..rack() });
    s.run("push 20000");
    s.expect_segments(10);
    s.run("+200 > . 1:1001\n +10 < . 1:1 ack 1001\n > . 10001:11001\n > . 11001:12001");
    s.run("+20 << . 1:1 ack 1001 sack 10001-11001");
    assert_eq!(s.tcp.cwnd(), 2000);
}

/// RFC 5682 §3.1 (3): the answer is the next ACK that acknowledges or reports something. A window is no answer.
#[test]
fn frto_waits_through_a_new_window() {
    let mut s = Script::established(Config { spurious: FRTO, ..rack() });
    s.run("push 20000");
    s.expect_segments(10);
    s.run(
        "
        +200 > . 1:1001
        +10 < . 1:1 ack 1001
        > . 10001:11001
        > . 11001:12001
        < . 1:1 ack 1001 win 50000
        > nothing
        << . 1:1 ack 2001
    ",
    );
    assert_eq!(s.tcp.stats().undone, 1);
}

/// Three of ten segments have overtaken the first, whose repair was undone. Four duplicates are needed from now on.
fn undone_once() -> Script {
    let mut s = stamped(Config { spurious: EIFEL, ..sack() });
    s.run(
        "+20 < . 1:1 ack 1 sack 1001-4001 ts 2/120\n > . 1:1001\n +1 < . 1:1 ack 4001 ts 3/120\n > nothing",
    );
    assert_eq!(s.tcp.stats().undone, 1);
    s
}

/// An undo walks all that is on its way. So a peer gets one for each flight, not one for each ACK.
#[test]
fn what_was_on_its_way_at_an_undo_is_not_undone_again() {
    let mut s = undone_once();
    s.run("+1 < . 1:1 ack 4001 sack 5001-9001 ts 4/120\n > . 4001:5001\n > . 9001:10001");
    s.run("+1 < . 1:1 ack 9001 ts 5/120");
    assert_eq!((s.tcp.stats().fast_recoveries, s.tcp.stats().undone), (2, 1));
}

/// … and what is sent once all of that is acknowledged is.
#[test]
fn what_is_sent_after_an_undo_may_be_undone() {
    let mut s = undone_once();
    s.run("+1 < . 1:1 ack 10001 ts 4/120\n push 6000");
    for from in (10_001..16_000).step_by(1000) {
        s.run(&format!("> . {from}:{} ts 142/4", from + 1000));
    }
    s.run(
        "+20 < . 1:1 ack 10001 sack 11001-15001 ts 5/142\n > . 10001:11001\n +1 < . 1:1 ack 15001 ts 6/142",
    );
    assert_eq!((s.tcp.stats().fast_recoveries, s.tcp.stats().undone), (2, 2));
}

/// RFC 3522 §3.2 (1): a timeout within a recovery does not begin the search anew. All that both sent again has to be reported.
#[test]
fn a_timeout_in_a_recovery_belongs_to_it() {
    let mut s = Script::ten_in_flight(Config { spurious: DSACK, ..sack() });
    s.run("+20 < . 1:1 ack 1 sack 1001-4001\n > . 1:1001\n +200 > . 1:1001\n +20 < . 1:1 ack 10001");
    s.run("+1 < . 1:1 ack 10001 sack 1-1001");
    assert_eq!(s.tcp.stats().undone, 0, "one of two");
    s.run("+1 < . 1:1 ack 10001 sack 1-1001");
    assert_eq!((s.tcp.stats().undone, s.tcp.cwnd()), (1, 10_000));
}

/// RFC 3522 §3.2 (6): only a spurious fast retransmit shows reordering.
#[test]
fn a_timeout_in_vain_does_not_raise_the_threshold_of_duplicates() {
    let mut s = stamped(Config { spurious: EIFEL, ..sack() });
    s.run(
        "
        +20 < . 1:1 ack 1 sack 1001-7001 ts 2/120
        > . 1:1001
        > . 9001:10001
        +20 < . 1:1 ack 10001 ts 3/140
        push 5000
        > . 10001:11001
        > . 11001:12001
        > . 12001:13001
        > . 13001:14001
        > . 14001:15001
        +200 > . 10001:11001
        +5 < . 1:1 ack 11001 ts 4/160
        > nothing
    ",
    );
    assert_eq!(s.tcp.stats().undone, 1);
    // Six segments had overtaken the one that was lost. Three are enough nevertheless.
    s.run("+1 < . 1:1 ack 11001 sack 12001-15001 ts 5/160\n > . 11001:12001");
}

/// Wang and Zhang 2002, §3: after something has arrived out of order, losses are repaired in a recovery that leaves the window as it is.
#[test]
fn door_repairs_without_reduction_while_it_is_quiet() {
    let mut s = Script::ten_in_flight(Config { spurious: DOOR, ..sack() });
    s.run("+20 < . 1:1 ack 1 sack 1001-2001\n < . 1:1 ack 2001");
    let cwnd = s.tcp.cwnd();
    s.events();
    s.run("+1 < . 1:1 ack 2001 sack 3001-6001\n > . 2001:3001\n > . 9001:10001");
    assert_eq!((s.tcp.cwnd(), s.tcp.in_recovery(), s.tcp.stats().fast_recoveries), (cwnd, true, 1));
    assert!(matches!(s.events().as_slice(), [Event::RecoveryEntered { .. }]));
    s.run("+20 < . 1:1 ack 10001");
    assert_eq!((s.tcp.cwnd(), s.tcp.in_recovery()), (cwnd, false));
    assert_eq!(s.events(), [Event::RecoveryLeft]);
}

/// RFC 7323 §4.1: a round trip is measured by what advances SND.UNA. A repair that is only reported measures nothing.
#[test]
fn a_repair_behind_a_hole_measures_no_round_trip() {
    let mut s = stamped(sack());
    s.run(
        "
        +20 < . 1:1 ack 1 sack 2001-10001 ts 2/120
        > . 1:1001
        > . 1001:2001
        +35 < . 1:1 ack 1 sack 1001-10001 ts 3/140
        > . 1:1001
    ",
    );
    assert_eq!(s.tcp.latest_rtt(), Some(Duration::from_millis(20)));
    s.run("+1 < . 1:1 ack 10001 ts 4/140");
    assert_eq!(s.tcp.latest_rtt(), Some(Duration::from_millis(36)));
}

/// … nor does a part of a segment, whatever its timestamp.
#[test]
fn a_part_of_a_segment_measures_no_round_trip() {
    let mut s = stamped(sack());
    s.run("+20 < . 1:1 ack 1001 ts 2/120\n +15 < . 1:1 ack 1501 ts 3/120\n > nothing");
    assert_eq!(s.tcp.latest_rtt(), Some(Duration::from_millis(20)));
}
