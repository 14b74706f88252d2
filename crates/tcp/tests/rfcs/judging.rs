//! What an ACK is taken for: a duplicate, a round trip, a reason to repair.

use crate::script::Script;
use crate::script::configs::{plain, rack, sack};
use ropewalk_tcp::{CloseReason, Config, Event};
use ropewalk_units::Duration;

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// RFC 5681 §2 (b) and (e).
#[test]
fn three_segments_with_data_or_windows_of_their_own_are_no_duplicates() {
    for three in [
        ["1:11 ack 1 win 60000", "11:21 ack 1 win 60000", "21:31 ack 1 win 60000"],
        ["1:1 ack 1 win 50000", "1:1 ack 1 win 40000", "1:1 ack 1 win 30000"],
    ] {
        let mut s = Script::ten_in_flight(plain());
        for segment in three {
            s.run(&format!("<< . {segment}"));
        }
        assert_eq!((s.tcp.in_recovery(), s.tcp.stats().duplicate_acks_received), (false, 0), "{three:?}");
        assert_eq!(s.tcp.cwnd(), 10_000);
    }
}

#[test]
fn every_duplicate_ack_is_counted() {
    let mut s = Script::ten_in_flight(plain());
    s.run("+20 < . 1:1 ack 1 win 60000\n < . 1:1 ack 1 win 60000");
    assert_eq!(s.tcp.stats().duplicate_acks_received, 2);
}

/// RFC 2018 §2: SACK is used only if the SYNs permitted it.
#[test]
fn blocks_that_were_not_agreed_on_say_nothing() {
    let mut s = Script::ten_in_flight(plain());
    s.run("+20 < . 1:1 ack 1001 win 60000 sack 2001-4001");
    assert_eq!((s.tcp.pipe(), s.tcp.flight_size()), (9000, 9000));
}

#[test]
fn blocks_of_what_was_never_sent_say_nothing() {
    for block in ["9001-11001", "20001-21001"] {
        let mut s = Script::ten_in_flight(sack());
        s.run(&format!("+20 < . 1:1 ack 1 win 60000 sack {block}"));
        assert_eq!((s.tcp.pipe(), s.tcp.stats().duplicate_acks_received), (10_000, 0), "{block}");
    }
}

/// RFC 6675 §4: three segments above a hole, whatever the acknowledgement number does meanwhile.
#[test]
fn an_ack_that_advances_may_tell_of_a_loss() {
    let mut s = Script::ten_in_flight(sack());
    s.run("+20 < . 1:1 ack 1001 win 60000 sack 2001-5001\n > . 1001:2001");
    assert!(s.tcp.in_recovery());
}

/// RFC 6298 §4 with SACK: data that a block reports for the first time gives a round trip, too.
#[test]
fn a_block_gives_a_round_trip() {
    let mut s = Script::ten_in_flight(sack());
    s.run("+100 < . 1:1 ack 1 win 60000 sack 1001-2001");
    // 7/8 of 20 ms and 1/8 of 100 ms.
    assert_eq!(s.tcp.srtt(), Some(ms(30)));
    assert_eq!(s.tcp.min_rtt(), Some(ms(20)));
    // 3/4 of 10 ms and 1/4 of 80 ms.
    assert_eq!(s.tcp.rttvar(), Some(Duration::from_micros(27_500)));
}

/// A window of which half or less was used says nothing about the path, also in slow start (as Linux).
#[test]
fn slow_start_goes_on_if_more_than_half_of_the_window_was_used() {
    for (octets, cwnd) in [(4000, 10_000), (5000, 10_000), (6000, 12_000)] {
        let mut s = Script::established(plain());
        s.run(&format!("push {octets}"));
        s.expect_segments(octets / 1000);
        s.run(&format!("+20 < . 1:1 ack {} win 60000", octets + 1));
        assert_eq!(s.tcp.cwnd(), cwnd, "{octets}");
    }
}

/// RFC 6582 §3.2 step 3, option (1): cwnd is one segment more than what is on its way, which is one at least.
#[test]
fn a_full_acknowledgement_makes_no_burst() {
    let mut s = Script::ten_in_flight(plain());
    s.run("+20 < . 1:1 ack 1 win 60000\n < . 1:1 ack 1 win 60000\n < . 1:1 ack 1 win 60000\n > . 1:1001");
    s.run("+20 < . 1:1 ack 10001 win 60000");
    assert_eq!((s.tcp.in_recovery(), s.tcp.ssthresh(), s.tcp.cwnd()), (false, 5000, 2000));
}

/// RFC 9937 §6.2: one segment more leaves only for an ACK that advances and tells of no further loss.
#[test]
fn an_advance_without_a_loss_is_safe_for_prr() {
    let config = Config { prr: true, limited_transmit: false, ..sack() };
    let mut s = Script::ten_in_flight(config);
    s.run("+20 < . 1:1 ack 1 win 60000 sack 7001-10001\n > . 1:1001\n > . 1001:2001\n > . 2001:3001\n > nothing");
    s.run("+20 < . 1:1 ack 1 win 60000 sack 1001-2001,7001-10001\n > . 3001:4001\n > nothing");
    s.run("+1 < . 1:1 ack 2001 win 60000 sack 7001-10001\n > . 4001:5001\n > . 5001:6001\n > nothing");
}

/// RFC 8985 §7.4.2: a DSACK of the probe says that nothing was lost, whatever else the ACK acknowledges.
#[test]
fn a_probe_that_arrived_twice_costs_nothing() {
    let mut s = Script::established(Config { tail_loss_probe: true, ..rack() });
    s.run("push 2000\n > . 1:1001\n > . 1001:2001\n +42 > . 1001:2001");
    assert_eq!(s.tcp.stats().tail_loss_probes, 1);
    let before = (s.tcp.cwnd(), s.tcp.ssthresh());
    s.run("push 1000\n > . 2001:3001\n +20 < . 1:1 ack 3001 win 60000 sack 1001-2001");
    assert_eq!((s.tcp.cwnd().max(before.0), s.tcp.ssthresh()), (s.tcp.cwnd(), before.1));
}

/// … and so does a duplicate ACK of a peer that sends no DSACK.
#[test]
fn a_duplicate_ack_of_the_probe_says_that_it_was_not_needed() {
    let mut s = Script::established(Config { tail_loss_probe: true, ..rack() });
    s.run("push 2000\n > . 1:1001\n > . 1001:2001\n +42 > . 1001:2001");
    let ssthresh = s.tcp.ssthresh();
    s.run("+20 < . 1:1 ack 2001 win 60000\n < . 1:1 ack 2001 win 60000");
    s.run("push 1000\n > . 2001:3001\n +20 < . 1:1 ack 3001 win 60000");
    assert_eq!(s.tcp.ssthresh(), ssthresh);
}

/// RFC 9293 §3.8.6.1: so many probes are left without an answer, and one more ends the connection.
#[test]
fn a_closed_window_is_probed_as_often_as_a_segment_is_sent_again() {
    let mut s = Script::established(Config { max_retransmissions: 3, ..plain() });
    s.run("< . 1:1 ack 1 win 0\n push 1000");
    while let Some((at, _)) = s.tcp.poll_timeout() {
        s.tcp.handle_timeout(at);
        while s.tcp.poll_transmit(at).is_some() {}
    }
    assert_eq!(s.tcp.stats().window_probes, 3);
    assert_eq!(s.events().last(), Some(&Event::Closed(CloseReason::TimedOut)));
}

/// Multipath TCP's penalization: cwnd and, outside slow start, ssthresh are halved.
#[test]
fn a_penalty_halves_the_window() {
    let mut s = Script::ten_in_flight(plain());
    s.tcp.penalize();
    assert_eq!(s.tcp.cwnd(), 5000);
}

/// Nothing that was due leaves a connection that is over, except its RST.
#[test]
fn what_was_due_does_not_leave_after_an_abort() {
    let mut s = Script::established(Config { tail_loss_probe: true, ..rack() });
    s.tcp.probe();
    s.run("abort\n > R. 1:1 ack 1\n > nothing");
}

/// RFC 8985 §7.4.2: a segment with data is no duplicate ACK. So the probe repaired a loss, which costs one reduction.
#[test]
fn data_of_the_peer_do_not_say_that_the_probe_was_not_needed() {
    let mut s = Script::established(Config { tail_loss_probe: true, ..rack() });
    s.run("push 2000\n > . 1:1001\n > . 1001:2001\n +42 > . 1001:2001");
    s.run("+20 < . 1:1 ack 2001 win 60000\n < . 1:11 ack 2001 win 60000");
    s.run("push 1000\n > . 2001:3001\n +20 < . 11:11 ack 3001 win 60000");
    assert_eq!((s.tcp.ssthresh(), s.tcp.cwnd()), (2000, 2000));
}

#[test]
fn a_trace_tells_each_round_trip() {
    let mut s = Script::established(Config { trace: true, ..plain() });
    let told = |event: &Event| matches!(event, Event::RttMeasured { sample, .. } if *sample == ms(20));
    assert!(s.events().iter().any(told));
}

#[test]
fn what_waits_above_a_hole_is_counted_with_its_pieces() {
    let mut s = Script::established(sack());
    s.run("<< . 1001:1501 ack 1\n << . 2001:2501 ack 1");
    assert_eq!((s.tcp.out_of_order().octets, s.tcp.out_of_order().pieces), (1000, 2));
}
