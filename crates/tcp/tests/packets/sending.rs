//! What leaves, when, and what is counted of it: edges of the sender's rules.

use crate::script::Script;
use crate::script::configs::{plain, rack, sack};
use ropewalk_tcp::{
    Acceptance, Config, CongestionControl, Event, HyStart, SpuriousResponse, State, WindowOwner,
};
use ropewalk_units::{Duration, Instant};
use ropewalk_wire::{Flags, Segment};

/// Pushes and expects so many segments of 1000 octets from the first, and acknowledges them 20 ms later.
fn flight(s: &mut Script, first: u32, count: u32) {
    s.run(&format!("push {}", 1000 * count));
    for n in first..first + count {
        s.run(&format!("> . {}:{}", 1000 * n + 1, 1000 * n + 1001));
    }
    s.run(&format!("> nothing\n +20 < . 1:1 ack {}", 1000 * (first + count) + 1));
}

/// Such an opener as [`Script::established`], with timestamps and segments of 1000 octets. It is 119 ms, and timestamps 120.
fn stamped(config: Config) -> Script {
    let mut s = Script::connect(Config { mss: 1012, timestamps: true, ..config });
    s.run("> S 0:1\n +20 < S. 0:1 ack 1 win 60000 mss 1012 sackok ts 1/100\n > . 1:1 ack 1");
    s
}

/// RFC 9293 §3.8.6.2.1: less than half of the largest window waits for the override timeout, also after probes.
#[test]
fn a_closed_window_that_opens_a_little_is_used_after_a_timeout() {
    let mut s = Script::established(plain());
    s.run(
        "
        push 1000
        > . 1:1001
        +20 < . 1:1 ack 1001 win 0
        push 1000
        > nothing
        +200 > . 1000:1000
        +1 < . 1:1 ack 1001 win 400
        > nothing
        +199 > nothing
        +1 > . 1001:1401
    ",
    );
}

/// … which runs on, however often the peer says that its window is small.
#[test]
fn a_window_that_opens_bit_by_bit_does_not_put_the_timeout_off() {
    let mut s = Script::established(plain());
    s.run(
        "
        push 1000
        > . 1:1001
        +20 < . 1:1 ack 1001 win 0
        push 1000
        > nothing
        +100 < . 1:1 ack 1001 win 400
        +50 < . 1:1 ack 1001 win 500
        > nothing
        +49 > nothing
        +1 > . 1001:1501
    ",
    );
}

/// RFC 9293 §3.8.6.2.1, rule (3).
#[test]
fn half_of_the_largest_window_is_used_at_once() {
    let mut s = Script::connect(plain());
    s.run(
        "
        > S 0:1
        +20 < S. 0:1 ack 1 win 1500 mss 1000
        > . 1:1 ack 1
        push 5000
        > . 1:1001
        > nothing
        +20 < . 1:1 ack 1001 win 800
        > . 1001:1801
        +20 < . 1:1 ack 1801 win 700
        > nothing
    ",
    );
}

/// RFC 9293 §3.7.4: Nagle's algorithm holds back no full segment.
#[test]
fn a_full_segment_does_not_wait_for_a_small_one() {
    let mut s = Script::established(Config { nagle: true, ..plain() });
    s.run("push 100\n > . 1:101\n push 1000\n > . 101:1101");
}

/// RFC 7323 §2.2: the window of a SYN/ACK is not scaled.
#[test]
fn where_both_open_at_once_the_syn_ack_tells_the_window() {
    let mut s = Script::connect(Config { window_scale: Some(3), ..plain() });
    s.run(
        "
        > S 0:1
        +5 < S 0:1 win 1000 mss 1000 wscale 3
        > S. 0:1 ack 1
        +5 < S. 0:1 ack 1 win 500 mss 1000 wscale 3
        > . 1:1 ack 1
    ",
    );
    assert_eq!(s.tcp.peer_window(), 500);
}

/// RFC 9293 §3.8.6.1: a peer that has closed its window and answers is not dead, whatever it answers.
#[test]
fn a_peer_that_only_signals_is_not_given_up() {
    let config = Config { max_retransmissions: 2, window_owner: WindowOwner::Shared, ..plain() };
    let mut s = Script::established(config);
    s.run("push 1000\n > . 1:1001\n < . 1:1 ack 1 win 0");
    let mut now = 119;
    for wait in [200, 400, 800, 1600, 3200] {
        s.run(&format!("+{wait} > . 1:1001"));
        now += wait;
        let (seq, ack) = (s.tcp.rcv_nxt(), s.tcp.snd_una());
        let signal = Segment { seq, ack, flags: Flags::ACK, window: 0, ..Segment::default() };
        assert_eq!(s.tcp.judge(Instant::ZERO + Duration::from_millis(now), &signal), Acceptance::Current);
        s.tcp.process(&signal, Acceptance::Signal);
    }
    s.assert_state(State::Established);
}

#[test]
fn a_trace_tells_of_each_change_of_the_window() {
    let mut s = Script::established(Config { trace: true, initial_window: 2, ..plain() });
    s.events();
    flight(&mut s, 0, 2);
    assert!(s.events().contains(&Event::CwndUpdated { cwnd: 4000, ssthresh: u32::MAX }));
    s.tcp.penalize();
    assert_eq!(s.events(), [Event::CwndUpdated { cwnd: 2000, ssthresh: u32::MAX }]);
}

#[test]
fn penalization_halves_the_window_and_outside_slow_start_its_threshold() {
    for (initial_ssthresh, after) in [(None, u32::MAX), (Some(8000), 4000)] {
        let mut s = Script::ten_in_flight(Config { initial_ssthresh, ..plain() });
        s.tcp.penalize();
        assert_eq!((s.tcp.cwnd(), s.tcp.ssthresh()), (5000, after));
    }
}

/// RFC 6928 §2.
#[test]
fn a_syn_lost_once_leaves_the_initial_window() {
    let mut s = Script::connect(plain());
    s.run("> S 0:1\n +1000 > S 0:1\n +20 < S. 0:1 ack 1 mss 1000\n > . 1:1 ack 1");
    assert_eq!(s.tcp.cwnd(), 10_000);
}

/// RFC 5681 §4.1: an interval that exceeds the RTO, here 200 ms. Each RTO of it halves the window.
#[test]
fn an_idle_time_longer_than_the_timeout_counts_where_that_is_asked_for() {
    for (idle_restart, idle, cwnd) in [(false, 10_000, 6000), (true, 200, 6000), (true, 201, 3000)] {
        let mut s = Script::established(Config { initial_window: 2, idle_restart, ..plain() });
        flight(&mut s, 0, 2);
        flight(&mut s, 2, 4);
        // What was sent last left 20 ms ago.
        s.run(&format!("+{} push 1000\n > . 6001:7001", idle - 20));
        assert_eq!(s.tcp.cwnd(), cwnd, "{idle} ms, {idle_restart}");
    }
}

#[test]
fn what_has_never_sent_has_nothing_to_restart() {
    let config = Config { idle_restart: true, initial_ssthresh: Some(2000), ..plain() };
    let mut s = Script::established(config);
    s.run("+10000 push 1000\n > . 1:1001");
    assert_eq!((s.tcp.cwnd(), s.tcp.ssthresh()), (10_000, 2000));
}

#[test]
fn octets_sent_again_are_counted_and_a_fin_alone_is_no_data() {
    let mut s = Script::ten_in_flight(plain());
    s.run("+200 > . 1:1001");
    let stats = s.tcp.stats();
    assert_eq!((stats.data_segments_sent, stats.retransmissions, stats.retransmitted_bytes), (11, 1, 1000));
    let mut s = Script::established(plain());
    s.run("finish\n > F. 1:2");
    assert_eq!(s.tcp.stats().data_segments_sent, 0);
}

/// A host keeps the octets that these ranges name.
#[test]
fn what_is_not_acknowledged_is_named_whether_it_was_sent_or_not() {
    let mut s = Script::established(Config { initial_window: 2, ..plain() });
    s.run("push 9500 finish\n > . 1:1001\n > . 1001:2001\n +20 < . 1:1 ack 1501\n > . 2001:3001\n > . 3001:4001");
    let mut named = Vec::new();
    s.tcp.visit_unacknowledged(&mut |range| named.push(range));
    named.sort_unstable_by_key(|range| range.offset);
    let end = named.iter().fold(1500, |next, range| {
        assert_eq!(range.offset, next);
        next + u64::from(range.len)
    });
    assert_eq!(end, 9500);
}

/// RFC 2018 §3: a block names octets. A segment whose beginning is missing has not arrived.
#[test]
fn a_block_that_holds_only_the_end_of_a_segment_does_not_report_it() {
    let mut s = Script::ten_in_flight(sack());
    s.run("+20 < . 1:1 ack 1 sack 1501-7001\n > . 1:1001\n > . 1001:2001\n > nothing");
}

/// RFC 2018 §8: what is reported and not acknowledged at the next timeout is sent again.
#[test]
fn a_block_that_begins_at_the_acknowledgement_is_believed_until_the_timeout() {
    let mut s = Script::ten_in_flight(sack());
    s.run(
        "
        +20 < . 1:1 ack 1 sack 1-4001
        > nothing
        +180 > . 1:1001
        +20 < . 1:1 ack 1001
        > . 1001:2001
        > . 2001:3001
        > nothing
    ",
    );
}

/// RFC 6675 §4, IsLost: three discontiguous runs above, though in octets they are less than two segments.
#[test]
fn three_runs_of_small_segments_are_enough_to_deem_one_lost() {
    let mut s = Script::established(sack());
    for n in 0..8 {
        s.run(&format!("push 100\n > . {}:{}", 100 * n + 1, 100 * n + 101));
    }
    s.run("+20 << . 1:1 ack 1 sack 501-601,301-401,101-201");
    assert!(s.tcp.in_recovery());
}

/// RFC 6675 §4, NextSeg (4): a single one for each recovery.
#[test]
fn there_is_one_rescue_retransmission() {
    let mut s = Script::ten_in_flight(sack());
    s.run(
        "
        +20 < . 1:1 ack 1 sack 1001-7001
        > . 1:1001
        > . 9001:10001
        +30 < . 1:1 ack 1 sack 1001-8001
        > nothing
    ",
    );
}

/// RFC 6298 §3: of all that an ACK reports, the segment sent first tells the round trip.
#[test]
fn what_is_reported_above_a_hole_tells_the_round_trip_time() {
    let mut s = Script::established(sack());
    s.run(
        "
        push 1000
        > . 1:1001
        +10 push 1000
        > . 1001:2001
        +10 push 1000
        > . 2001:3001
        +30 < . 1:1 ack 1 sack 1001-3001
    ",
    );
    assert_eq!(s.tcp.latest_rtt(), Some(Duration::from_millis(40)));
}

/// RFC 8985 §6.2, step 2: the echo says whether the ACK is the original's or the retransmission's. Only the latter tells that
/// what was sent before it, and is not acknowledged, is lost.
#[test]
fn a_timestamp_tells_of_which_transmission_an_acknowledgement_is() {
    for (echo, third_is_lost) in [(120, false), (320, true)] {
        let mut s = stamped(rack());
        s.run(&format!(
            "
            push 2000
            > . 1:1001
            > . 1001:2001
            +190 push 1000
            > . 2001:3001
            +10 > . 1:1001
            > nothing
            +30 < . 1:1 ack 1001 ts 2/{echo}
            > . 1001:2001
        "
        ));
        s.run(if third_is_lost { "> . 2001:3001" } else { "> nothing" });
    }
}

/// TCP-DOOR: an original that arrives after its retransmission has left is out of order, too.
#[test]
fn door_takes_the_reduction_back_for_an_original_that_was_only_late() {
    let spurious = SpuriousResponse { door: true, ..SpuriousResponse::default() };
    for (echo, undone) in [(120, 1), (140, 0)] {
        let mut s = stamped(Config { spurious, ..sack() });
        s.run("push 10000");
        s.expect_segments(10);
        s.run(&format!(
            "
            +20 < . 1:1 ack 1 sack 1001-2001 ts 2/120
            < . 1:1 ack 1 sack 1001-3001 ts 2/120
            < . 1:1 ack 1 sack 1001-4001 ts 2/120
            > . 1:1001
            +20 << . 1:1 ack 4001 ts 3/{echo}
        "
        ));
        assert_eq!(s.tcp.stats().undone, undone, "{echo}");
    }
}

/// RFC 2861 §3: a window that is not full says nothing about what the path would carry.
#[test]
fn a_window_with_room_for_a_segment_does_not_grow() {
    let mut s = Script::established(Config { initial_ssthresh: Some(10_000), ..plain() });
    flight(&mut s, 0, 9);
    flight(&mut s, 9, 9);
    assert_eq!(s.tcp.cwnd(), 10_000);
    flight(&mut s, 18, 10);
    assert_eq!(s.tcp.cwnd(), 11_000);
}

/// … nor one that has room for less than a segment is taken for one that is not full.
#[test]
fn a_window_without_room_for_a_segment_grows() {
    let mut s = Script::established(plain());
    s.tcp.set_cwnd(10_500, 10_500);
    flight(&mut s, 0, 10);
    flight(&mut s, 10, 10);
    assert!(s.tcp.cwnd() > 11_000, "{}", s.tcp.cwnd());
}

/// As Linux: in slow start, half of the window is use enough. What counts is the most that was on its way in a round.
#[test]
fn in_slow_start_a_window_grows_of_which_more_than_half_was_used() {
    for (used, cwnd) in [(5, 10_000), (6, 12_000)] {
        let mut s = Script::established(plain());
        flight(&mut s, 0, used);
        assert_eq!(s.tcp.cwnd(), cwnd, "{used} segments");
    }
}

/// What is sent again fills the window as new data do.
#[test]
fn after_a_timeout_the_window_grows_though_it_was_not_full_before() {
    let mut s = Script::established(Config { initial_window: 30, ..plain() });
    s.run("push 20000");
    s.expect_segments(20);
    s.run("+200 > . 1:1001");
    for n in 1..=20 {
        s.run(&format!("<< . 1:1 ack {}", 1000 * n + 1));
    }
    // Slow start up to half of the flight, and one segment more for a window that was acknowledged.
    assert_eq!((s.tcp.ssthresh(), s.tcp.cwnd()), (10_000, 11_000));
}

/// RFC 3042 §2: one segment for each of the first two duplicate ACKs; a scheduler is told so.
#[test]
fn without_sack_two_duplicates_give_a_subflow_room_for_two_segments() {
    let config = Config { window_owner: WindowOwner::Shared, limited_transmit: true, ..plain() };
    let mut s = Script::ten_in_flight(config);
    s.run("+20 < . 1:1 ack 1");
    assert_eq!(s.tcp.room().cwnd_space, 1000);
    s.run("< . 1:1 ack 1");
    assert_eq!(s.tcp.room().cwnd_space, 2000);
}

/// RFC 9406 §4.2, Ha and Rhee 2008: the delay of new data ends slow start.
#[test]
fn hystart_sees_the_round_trips_of_a_connection() {
    for (delay, leaves) in [(20, false), (40, true)] {
        let congestion_control = CongestionControl::Cubic { hystart: HyStart::Linux };
        let mut s = Script::established(Config { congestion_control, initial_window: 20, ..plain() });
        for (first, delay) in [(0, 20), (20, delay)] {
            s.run(&format!("push 20000\n > . {}:{}", 1000 * first + 1, 1000 * first + 1001));
            for n in first + 1..first + 20 {
                s.run(&format!("> . {}:{}", 1000 * n + 1, 1000 * n + 1001));
            }
            s.run(&format!("+{delay} > nothing"));
            for n in first + 1..=first + 20 {
                s.run(&format!("<< . 1:1 ack {}", 1000 * n + 1));
            }
        }
        assert_eq!(!s.tcp.in_slow_start(), leaves, "{delay} ms");
    }
}

/// Linux `tcp_write_xmit`: what the pacer lets out together ends a packet, though cwnd would let more into it.
#[test]
fn a_paced_burst_ends_its_packet() {
    let config = Config { pacing: true, push_packets: true, initial_window: 7, ..plain() };
    let mut s = Script::connect(config);
    // Twice cwnd in 3 ms: five segments are more than a millisecond's worth. Half of cwnd are three.
    s.run(
        "
        > S 0:1
        +3 < S. 0:1 ack 1 win 60000 mss 1000
        > . 1:1 ack 1
        push 10000
        > . 1:1001 nopush
        > . 1001:2001 nopush
        > . 2001:3001 push
        > . 3001:4001 nopush
        > . 4001:5001 push
        > nothing
    ",
    );
}

/// Linux `tcp_sndbuf_expand`: memory for two windows, ten segments at least. It follows when the application waits and leaves a part of the
/// window unused.
#[test]
fn a_tuned_send_buffer_follows_the_window() {
    let config = Config { send_autotuning: true, memory_overhead: 512, slow_start_limit: None, ..plain() };
    let mut s = Script::established(config);
    let expect = |s: &mut Script, from: u32, to: u32| {
        (from..to).for_each(|n| s.run(&format!("> . {}:{}", 1000 * n + 1, 1000 * n + 1001)));
    };
    // 46 080 octets, in packets of half the peer's window.
    assert_eq!(s.tcp.send_space(), 60_000);
    s.run("push 60000");
    expect(&mut s, 0, 10);
    assert_eq!(s.tcp.send_space(), 0);
    s.run("+20 < . 1:1 ack 10001 win 60000");
    expect(&mut s, 10, 30);
    assert_eq!((s.tcp.cwnd(), s.tcp.send_space()), (20_000, 0), "30 segments wait, and fill the window");
    s.run("+20 < . 1:1 ack 30001 win 60000");
    expect(&mut s, 30, 60);
    assert_eq!(s.tcp.cwnd(), 40_000);
    // 184 320 octets, of which 30 000 and the memory of two packets are taken.
    assert_eq!(s.tcp.send_space(), 5 * 30_000);
}
