//! Paths that carry less than was sent (RFC 1191 §6.5, RFC 8201 §5.4), and who may say so (RFC 5927 §4.1, §7.2).

use crate::script::Script;
use crate::script::configs::{plain, rack, sack};
use ropewalk_tcp::{State, TooBig};

#[test]
fn what_was_too_long_leaves_again_in_pieces_and_cwnd_stays() {
    for config in [plain(), sack(), rack()] {
        let mut s = Script::established(config);
        s.run("push 2500\n > . 1:1001\n > . 1001:2001\n > . 2001:2501");
        let cwnd = s.tcp.cwnd();
        s.run(
            "
            too-big 600 1
            > . 1:601
            > . 601:1001
            > . 1001:1601
            > . 1601:2001
            > nothing
        ",
        );
        assert_eq!((s.told, s.tcp.smss()), (Some(TooBig::Obeyed), 600));
        assert!(s.tcp.cwnd() >= cwnd.min(10 * 600) && !s.tcp.in_recovery());
        // The small one was not too long, and is waited for.
        s.run("+20 < . 1:1 ack 2501\n push 1000\n > . 2501:3101\n > . 3101:3501\n +20 < . 1:1 ack 3501");
        assert_eq!((s.tcp.flight_size(), s.tcp.in_recovery(), s.tcp.stats().timeouts), (0, false, 0));
        s.tcp.audit();
    }
}

#[test]
fn a_fin_stays_with_the_last_piece() {
    let mut s = Script::established(plain());
    s.run(
        "
        push 900 finish
        > F. 1:902
        too-big 400 1
        > . 1:401
        > . 401:801
        > F. 801:902
        +20 < . 1:1 ack 902
    ",
    );
    s.assert_state(State::FinWait2);
}

#[test]
fn what_has_arrived_is_not_sent_again() {
    let mut s = Script::established(sack());
    s.run(
        "
        push 3000
        > . 1:1001
        > . 1001:2001
        > . 2001:3001
        +20 < . 1:1 ack 1 sack 1001-2001
        too-big 600 1
        > . 1:601
        > . 601:1001
        > . 2001:2601
        > . 2601:3001
        > nothing
        +20 < . 1:1 ack 3001
    ",
    );
    assert_eq!(s.tcp.flight_size(), 0);
    s.tcp.audit();
}

#[test]
fn a_message_about_nothing_that_is_on_its_way_changes_nothing() {
    let mut s = Script::established(plain());
    s.run("push 1200\n > . 1:1001\n > . 1001:1201");
    for line in [
        // Below SND.UNA, at SND.NXT, and far away.
        "too-big 600 0",
        "too-big 600 1201",
        "too-big 600 100000",
        // No less than what is sent; and about a segment that would have passed.
        "too-big 1000 1",
        "too-big 2000 1",
        "too-big 600 1001",
    ] {
        s.run(line);
        assert_eq!((s.told, s.tcp.smss()), (Some(TooBig::Ignored), 1000), "{line}");
    }
    s.run("> nothing");
}

#[test]
fn a_length_that_has_arrived_before_is_doubted_until_a_timeout() {
    let mut s = Script::established(plain());
    s.run("push 1000\n > . 1:1001\n +20 < . 1:1 ack 1001\n push 1000\n > . 1001:2001\n too-big 600 1001\n > nothing");
    assert_eq!((s.told, s.tcp.smss()), (Some(TooBig::Doubted), 1000));
    // It arrives: the message was a lie, and no later timeout makes it true.
    s.run("+20 < . 1:1 ack 2001\n push 1000\n > . 2001:3001\n +200 > . 2001:3001\n +20 < . 1:1 ack 3001");
    assert_eq!(s.tcp.smss(), 1000);
    // It does not arrive: it was true.
    s.run("push 1000\n > . 3001:4001\n too-big 600 3001\n +400 > . 3001:3601");
    assert_eq!(s.tcp.smss(), 600);
    s.run("+20 < . 1:1 ack 3601\n > . 3601:4001\n +20 < . 1:1 ack 4001");
    assert_eq!(s.tcp.flight_size(), 0);
}

#[test]
fn the_length_may_be_lowered_again_but_never_below_what_a_segment_needs() {
    let mut s = Script::established(plain());
    s.run("push 1000\n > . 1:1001\n too-big 600 1\n > . 1:601\n > . 601:1001\n too-big 500 1\n > . 1:501\n > . 501:601");
    assert_eq!(s.tcp.smss(), 500);
    s.run("too-big 1 1");
    assert_eq!(s.tcp.smss(), 48);
    s.tcp.audit();
}

#[test]
fn a_connection_that_is_not_open_hears_nothing() {
    let mut s = Script::connect(plain());
    s.run("> S 0:1\n too-big 600 0");
    assert_eq!(s.told, Some(TooBig::Ignored));
}

/// RFC 1191 §6.3, RFC 8201 §4: after ten minutes full segments are tried again, whether something was on its way all the time or
/// not; a path that is narrow still says so.
#[test]
fn a_path_may_have_become_wider_after_ten_minutes() {
    for config in [plain(), sack(), rack()] {
        let mut s = Script::established(config);
        s.run(
            "
            push 1000
            > . 1:1001
            too-big 600 1
            > . 1:601
            > . 601:1001
            +20 < . 1:1 ack 1001
            push 1000
            > . 1001:1601
            > . 1601:2001
            +20 < . 1:1 ack 2001
            +599000 push 1000
            > . 2001:2601
            > . 2601:3001
            +20 < . 1:1 ack 3001
            +1000 push 2000
            > . 3001:4001
            > . 4001:5001
        ",
        );
        assert_eq!(s.tcp.smss(), 1000);
        s.tcp.audit();
        s.run(
            "
            too-big 600 3001
            > . 3001:3601
            > . 3601:4001
            > . 4001:4601
            > . 4601:5001
            > nothing
            +20 < . 1:1 ack 5001
        ",
        );
        assert_eq!((s.told, s.tcp.smss(), s.tcp.flight_size()), (Some(TooBig::Obeyed), 600, 0));
        s.tcp.audit();
    }
}
