//! Acknowledgements, windows and marks that come late, too early, or lie (RFC 9293 §3.10.7.4, RFC 5961 §5, RFC 3168).

use crate::script::Script;
use crate::script::configs::{plain, sack};
use ropewalk_tcp::{CloseReason, Config, Event, State, WindowOwner};
use ropewalk_units::Duration;

const TWO: &str = "
    push 2000
    > . 1:1001
    > . 1001:2001
";

/// RFC 9293 §3.10.7.4: SND.UNA =< SEG.ACK.
#[test]
fn an_old_ack_does_not_tell_the_window() {
    let mut s = Script::established(plain());
    s.run(TWO);
    s.run("+20 < . 1:1 ack 2001 win 5000\n < . 1:1 ack 1001 win 0");
    assert_eq!(s.tcp.peer_window(), 5000);
    s.run("< . 1:11 ack 1001 win 0");
    s.run("< . 11:21 ack 1001 win 0\n > . 2001:2001 ack 21");
    assert_eq!((s.tcp.peer_window(), s.tcp.readable()), (5000, 20), "its data counts");
    s.run("< . 31:41 ack 2001 win 4500\n > . 2001:2001 ack 21");
    assert_eq!(s.tcp.peer_window(), 4500);
    s.run("< . 21:26 ack 2001 win 4000\n > . 2001:2001 ack 26");
    assert_eq!(s.tcp.peer_window(), 4500, "SEG.SEQ is below SND.WL1");
    s.run("< . 41:41 ack 2001 win 4000");
    assert_eq!(s.tcp.peer_window(), 4000);
}

/// RFC 5961 §5.2: not older than the largest window, and not older than the connection.
#[test]
fn a_very_old_ack_is_challenged_and_its_data_dropped() {
    for owner in [WindowOwner::Own, WindowOwner::Shared] {
        let mut s = Script::connect(Config { window_owner: owner, ..plain() });
        s.run("> S 0:1\n +20 < S. 0:1 ack 1 win 1500 mss 1000\n > . 1:1 ack 1");
        s.run("push 1000\n > . 1:1001\n +20 < . 1:1 ack 1001 win 1500");
        s.run("push 1000\n > . 1001:2001\n +20 < . 1:1 ack 2001 win 1500");
        s.run(
            "< . 1:501 ack 501\n +100 > . 2001:2001 ack 501\n < . 501:1001 ack 500\n > . 2001:2001 ack 501",
        );
        assert_eq!(s.tcp.readable(), 500, "{owner:?}");
    }
    let mut s = Script::established(plain());
    s.run("push 100\n > . 1:101\n +20 < . 1:1 ack 101");
    s.run("< . 1:501 ack 0\n +100 > . 101:101 ack 501");
    s.run("< . 501:1001 ack 4294967295\n > . 101:101 ack 501");
    assert_eq!(s.tcp.readable(), 500, "nothing was ever sent below the SYN");
}

/// RFC 9293 §3.10.7.4, RFC 5961 §7.
#[test]
fn an_ack_of_what_was_never_sent_is_answered_with_a_limit() {
    let mut s = Script::established(Config { rto_min: Duration::from_secs(2), ..plain() });
    s.run(TWO);
    s.run(
        "
        < . 1:101 ack 2002
        > . 2001:2001 ack 1
        < . 1:101 ack 9000
        > nothing
        +500 < . 1:1 ack 2000000000
        > . 2001:2001 ack 1
    ",
    );
    assert_eq!((s.tcp.flight_size(), s.tcp.readable()), (2000, 0));
}

/// RFC 9293 §3.8.6.1: the connection stays as long as the peer answers.
#[test]
fn a_window_shrunk_to_zero_over_data_on_its_way_is_no_dead_peer() {
    for window_owner in [WindowOwner::Own, WindowOwner::Shared] {
        let mut s = Script::established(Config { max_retransmissions: 3, window_owner, ..plain() });
        s.run("push 1000\n > . 1:1001\n +20 < . 1:1 ack 1 win 0");
        for timeouts in 1..12 {
            let (at, _) = s.tcp.poll_timeout().expect("a timer runs");
            s.until(at);
            s.run("> . 1:1001\n < . 1:1 ack 1 win 0");
            assert_eq!(s.tcp.consecutive_timeouts(), timeouts, "the owner hears of each");
        }
        // The window opens again, and the repairs are lost: as many as ever are tried.
        s.run("< . 1:1 ack 1 win 5000");
        for _ in 0..3 {
            let (at, _) = s.tcp.poll_timeout().expect("a timer runs");
            s.until(at);
            s.run("> . 1:1001");
        }
        s.assert_state(State::Established);
        s.run("< . 1:1 ack 1001 win 5000\n push 500\n > . 1001:1501");
        assert_eq!(s.tcp.consecutive_timeouts(), 0);
    }
}

#[test]
fn a_peer_that_falls_silent_behind_a_closed_window_is_dead() {
    let mut s = Script::established(Config { max_retransmissions: 3, ..plain() });
    s.run("push 1000\n > . 1:1001\n +20 < . 1:1 ack 1 win 0");
    for _ in 0..3 {
        let (at, _) = s.tcp.poll_timeout().expect("a timer runs");
        s.until(at);
        s.run("> . 1:1001");
    }
    let (at, _) = s.tcp.poll_timeout().expect("a timer runs");
    s.until(at);
    assert_eq!(s.events().last(), Some(&Event::Closed(CloseReason::TimedOut)));
}

/// RFC 3168 §6.1.2: the echo lasts until CWR has arrived, and that is above the mark.
#[test]
fn the_echo_of_one_mark_reduces_once() {
    let mut s = Script::connect(Config { ecn: true, ..plain() });
    s.run("> SEW 0:1\n +20 < S.E 0:1 ack 1 mss 1000\n > . 1:1 ack 1");
    s.run(TWO);
    s.run("+20 < .E 1:1 ack 1001");
    s.run("push 1000\n > .W 2001:3001");
    s.run("+20 < .E 1:1 ack 2001");
    assert_eq!(s.tcp.stats().ecn_reductions, 1, "all below the mark: the peer cannot have seen CWR");
    s.run("< .E 1:1 ack 3001");
    assert_eq!(s.tcp.stats().ecn_reductions, 2, "CWR has arrived, and there was congestion again");
}

/// RFC 9293 §3.7.1; Linux `tcp_min_snd_mss`.
#[test]
fn a_tiny_mss_does_not_make_segments_of_an_octet() {
    for (mss, octets) in [(0, 536), (1, 48), (47, 48), (49, 49), (1200, 1000)] {
        let mut s = Script::connect(plain());
        s.run(&format!("> S 0:1\n +20 < S. 0:1 ack 1 mss {mss}\n > . 1:1 ack 1"));
        assert_eq!(s.tcp.smss(), octets, "MSS {mss}");
    }
    let mut s = Script::connect(Config { timestamps: true, option_reserve: 28, ..sack() });
    s.run("> S 0:1\n +20 < S. 0:1 ack 1 mss 8 ts 5/100\n > . 1:1 ack 1");
    assert_eq!(s.tcp.smss(), 8, "options come out of it");
}
