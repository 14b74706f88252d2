//! The retransmission timer (RFC 6298).

use crate::script::Script;
use crate::script::configs::plain;
use ropewalk_tcp::Config;
use ropewalk_units::Duration;

#[test]
fn the_timer_repeats_the_earliest_segment_and_none_too_early() {
    let mut s = Script::established(plain());
    s.run(
        "
        push 1000
        > . 1:1001
        +150 push 1000
        > . 1001:2001
        +49 > nothing
        +1 > . 1:1001
        > nothing
    ",
    );
}

#[test]
fn an_ack_of_new_data_restarts_the_timer() {
    let mut s = Script::established(plain());
    s.run(
        "
        push 2000
        > . 1:1001
        > . 1001:2001
        +100 < . 1:1 ack 1001
        +199 > nothing
        +1 > . 1001:2001
    ",
    );
}

#[test]
fn the_timer_stops_when_all_is_acknowledged() {
    let mut s = Script::established(plain());
    s.run("push 1000\n > . 1:1001\n +20 < . 1:1 ack 1001");
    assert_eq!(s.tcp.poll_timeout(), None);
}

#[test]
fn after_a_lost_syn_data_starts_with_three_seconds() {
    let mut s = Script::connect(plain());
    s.run(
        "
        > S 0:1
        +1000 > S 0:1
        +20 < S. 0:1 ack 1 mss 1000
        > . 1:1 ack 1
        push 1000
        > . 1:1001
        +2999 > nothing
        +1 > . 1:1001
        +5999 > nothing
        +1 > . 1:1001
    ",
    );
    assert_eq!(s.tcp.srtt(), None, "Karn");
}

/// RFC 6298 §5.7's note, and Karn and Partridge: what acknowledges a retransmission says nothing of the round trip, so the RTO
/// that was too short does not come back.
#[test]
fn the_back_off_stays_until_a_measurement() {
    let mut s = Script::established(plain());
    s.run(
        "
        push 1000
        > . 1:1001
        +200 > . 1:1001
        +50 < . 1:1 ack 1001
        push 1000
        > . 1001:2001
        +399 > nothing
        +1 > . 1001:2001
        +50 < . 1:1 ack 2001
        push 1000
        > . 2001:3001
        +50 < . 1:1 ack 3001
        push 1000
        > . 3001:4001
        +200 > . 3001:4001
    ",
    );
}

/// Delayed ACKs make round trips of 210 ms, the least RTO is 200 ms, and an early round trip was short. With the back-off the
/// next segment is measured, and no further one is sent twice.
#[test]
fn a_round_trip_as_long_as_the_least_timeout_is_measured_in_the_end() {
    let mut s = Script::established(plain());
    s.run("push 1000\n > . 1:1001\n +20 < . 1:1 ack 1001");
    s.run("push 1000\n > . 1001:2001\n +200 > . 1001:2001\n +10 < . 1:1 ack 2001");
    for n in 2..20 {
        let (from, to) = (1000 * n + 1, 1000 * n + 1001);
        s.run(&format!("push 1000\n > . {from}:{to}\n +210 < . 1:1 ack {to}"));
    }
    assert_eq!(s.tcp.stats().timeouts, 1);
}

#[test]
fn every_round_trip_is_measured() {
    let mut s = Script::established(plain());
    for round in 0..10u32 {
        let (from, to, rtt) = (1 + 1000 * round, 1001 + 1000 * round, 30 + 7 * u64::from(round));
        s.run(&format!("push 1000\n > . {from}:{to}\n +{rtt} < . 1:1 ack {to}"));
        assert_eq!(s.tcp.latest_rtt(), Some(Duration::from_millis(rtt)));
    }
}

/// RFC 5681 §3.1: of further timeouts of a segment only the first lowers ssthresh, though cwnd is one segment then.
#[test]
fn further_timeouts_leave_ssthresh_as_it_is() {
    let mut s = Script::ten_in_flight(Config { ssthresh_from_cwnd: true, ..plain() });
    s.run("+200 > . 1:1001");
    assert_eq!((s.tcp.cwnd(), s.tcp.ssthresh()), (1000, 5000));
    s.run("+400 > . 1:1001\n +800 > . 1:1001");
    assert_eq!(s.tcp.ssthresh(), 5000);
}

/// As Linux: a fast recovery has reduced the window already, so that a timeout in its midst does not reduce it again.
#[test]
fn a_timeout_in_fast_recovery_does_not_lower_ssthresh_again() {
    let mut s = Script::ten_in_flight(Config { ssthresh_from_cwnd: true, ..plain() });
    s.run("+20 < . 1:1 ack 1\n < . 1:1 ack 1\n < . 1:1 ack 1\n > . 1:1001");
    assert_eq!(s.tcp.ssthresh(), 5000);
    s.run("+200 > . 1:1001");
    assert_eq!((s.tcp.stats().timeouts, s.tcp.cwnd(), s.tcp.ssthresh()), (1, 1000, 5000));
}

/// RFC 5681 §3.2, step 1: what limited transmit has sent beyond cwnd is no part of the flight that is halved.
#[test]
fn limited_transmit_does_not_raise_ssthresh() {
    let mut s = Script::ten_in_flight(Config { limited_transmit: true, ..plain() });
    s.run(
        "
        push 2000
        +20 < . 1:1 ack 1
        > . 10001:11001
        < . 1:1 ack 1
        > . 11001:12001
        +180 > . 1:1001
    ",
    );
    assert_eq!(s.tcp.ssthresh(), 5000);
}

/// Linux's `tcp_retransmit_timer` asks no pacer: what has timed out goes at once.
#[test]
fn what_times_out_is_not_held_by_the_pacer() {
    let tenth = Duration::from_millis(100);
    let config = Config { pacing: true, timestamps: true, initial_window: 1, rto_initial: tenth, ..plain() };
    let mut s = Script::connect(Config { rto_min: tenth, rto_max: tenth, ..config });
    s.run(
        "
        > S 0:1
        +99 < S. 0:1 ack 1 mss 1000 ts 7/100
        > . 1:1
        push 3000
        > . 1:989 ts 199/7
        +100 > . 1:989
        +100 > . 1:989
        +100 > . 1:989
        +99 < . 1:1 ack 989 ts 8/199
        > . 989:1977
        > . 1977:2965
    ",
    );
    // Two segments at 1.2 times cwnd per round trip hold the next for 114 ms.
    assert_eq!((s.tcp.srtt(), s.tcp.cwnd()), (Some(Duration::from_micros(136_500)), 1976));
    s.run("+99 > nothing\n +1 > . 989:1977");
}
