//! What Linux does without SACK, where duplicate ACKs say little.

use crate::script::Script;
use crate::script::configs::plain;
use ropewalk_tcp::{Config, Event, SpuriousResponse};

/// As Linux, without what is not at issue: octets for windows, and no timestamps.
fn as_linux() -> Config {
    Config { recovery_ends_above: true, prr: true, ssthresh_from_cwnd: true, ..plain() }
}

fn with_frto() -> Config {
    let spurious = SpuriousResponse { frto: true, ..SpuriousResponse::default() };
    Config { initial_window: 4, spurious, ..as_linux() }
}

/// Ten segments were on their way, of which the first was lost; all of them are acknowledged, and five more are on their way.
fn at_the_recovery_point(config: Config) -> Script {
    let mut s = Script::ten_in_flight(config);
    s.run(
        "
        push 9000
        +20 < . 1:1 ack 1
        < . 1:1 ack 1
        < . 1:1 ack 1
        > . 1:1001
        +20 < . 1:1 ack 10001
        > . 10001:11001
        > . 11001:12001
        > . 12001:13001
        > . 13001:14001
        > . 14001:15001
        > nothing
    ",
    );
    s
}

/// Linux (`tcp_fastretrans_alert`, state D): as long as nothing above the recovery point is acknowledged, it counts no duplicate ACK and
/// repairs nothing.
#[test]
fn what_is_lost_at_the_recovery_point_waits_for_a_timeout() {
    let mut s = at_the_recovery_point(as_linux());
    s.run(
        "
        +20 < . 1:1 ack 10001
        < . 1:1 ack 10001
        < . 1:1 ack 10001
        < . 1:1 ack 10001
        > nothing
    ",
    );
    assert_eq!((s.tcp.cwnd(), s.tcp.pipe(), s.tcp.in_recovery()), (5000, 5000, true));
    s.run("+179 > nothing\n +1 > . 10001:11001");
    assert_eq!((s.tcp.ssthresh(), s.tcp.stats().timeouts), (2000, 1), "the window is reduced once more");
}

/// … and otherwise the recovery ends with the next ACK.
#[test]
fn what_arrives_above_the_recovery_point_ends_the_recovery() {
    let mut s = at_the_recovery_point(as_linux());
    s.run("+1 < . 1:1 ack 11001");
    assert_eq!((s.tcp.cwnd(), s.tcp.in_recovery()), (5000, false));
}

/// The same after a timeout: the recovery ends above its point. Nothing is under repair any more, and a scheduler may give it data.
#[test]
fn a_timeout_ends_above_its_point_as_well() {
    let mut s = Script::established(Config { initial_window: 2, ..as_linux() });
    s.run("push 2000");
    s.expect_segments(2);
    s.run("+200 > . 1:1001\n +20 push 4000\n < . 1:1 ack 2001");
    assert!(!s.tcp.in_timeout_recovery());
    s.run(
        "
        > . 2001:3001
        > . 3001:4001
        +20 < . 1:1 ack 2001
        < . 1:1 ack 2001
        < . 1:1 ack 2001
        > nothing
    ",
    );
    let left = |s: &mut Script| s.events().contains(&Event::RecoveryLeft);
    assert!(!left(&mut s));
    s.run("< . 1:1 ack 3001");
    assert!(left(&mut s));
}

/// RFC 5682 §2.1 (2b) and (3a): two new segments go out before anything is repaired, and a duplicate ACK says that the loss was real.
#[test]
fn frto_needs_no_sack() {
    let mut s = Script::established(with_frto());
    s.run("push 8000");
    s.expect_segments(4);
    s.run(
        "
        +200 > . 1:1001
        > nothing
        +20 < . 1:1 ack 1001
        > . 4001:5001
        > . 5001:6001
        > nothing
        +20 < . 1:1 ack 1001
        > . 1001:2001
    ",
    );
}

/// RFC 5682 §2.1 (3b): an original arrives, so the timeout was spurious.
#[test]
fn frto_without_sack_takes_a_timeout_back() {
    let mut s = Script::established(with_frto());
    s.run("push 8000");
    s.expect_segments(4);
    s.run(
        "
        +200 > . 1:1001
        +20 < . 1:1 ack 1001
        > . 4001:5001
        > . 5001:6001
        +1 < . 1:1 ack 2001
        > . 6001:7001
    ",
    );
    assert_eq!((s.tcp.stats().undone, s.tcp.in_timeout_recovery()), (1, false));
}

/// Linux (`tcp_enter_loss`): a timeout within a recovery is no case for it, also at the recovery's point.
#[test]
fn frto_leaves_a_timeout_at_the_recovery_point_alone() {
    let spurious = SpuriousResponse { frto: true, ..SpuriousResponse::default() };
    let mut s = at_the_recovery_point(Config { spurious, ..as_linux() });
    s.run(
        "
        +200 > . 10001:11001
        +20 < . 1:1 ack 11001
        > . 11001:12001
        > . 12001:13001
        > nothing
    ",
    );
}

/// … but a second timeout of the same segment is one (Linux: "recurring timeouts on the same SND.UNA").
#[test]
fn frto_takes_a_second_timeout_of_the_same_segment() {
    let spurious = SpuriousResponse { frto: true, ..SpuriousResponse::default() };
    let mut s = at_the_recovery_point(Config { spurious, ..as_linux() });
    s.run(
        "
        +200 > . 10001:11001
        +400 > . 10001:11001
        +20 < . 1:1 ack 11001
        > . 15001:16001
        > . 16001:17001
        > nothing
    ",
    );
}

/// RFC 9937 §6 with the window as RecoverFS, as Linux has it: what limited transmit sent before is no part of it.
#[test]
fn what_limited_transmit_sent_makes_no_reduction_smaller() {
    for (whole_segments, second) in [(true, "> . 12001:13001"), (false, "> nothing")] {
        let mut s = Script::ten_in_flight(Config { whole_segments, limited_transmit: true, ..as_linux() });
        s.run(&format!(
            "
            push 9000
            +20 < . 1:1 ack 1
            > . 10001:11001
            < . 1:1 ack 1
            > . 11001:12001
            < . 1:1 ack 1
            > . 1:1001
            < . 1:1 ack 1
            < . 1:1 ack 1
            {second}
        "
        ));
    }
}
