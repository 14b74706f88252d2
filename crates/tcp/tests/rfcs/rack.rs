//! Loss detection by time (RFC 8985).

use crate::script::Script;
use crate::script::configs::{rack, sack};
use ropewalk_tcp::Config;

#[test]
fn without_sack_three_duplicates_are_what_counts() {
    let mut s = Script::connect(rack());
    s.run(
        "
        > S 0:1 sackok
        +20 < S. 0:1 ack 1 mss 1000
        > . 1:1 ack 1
        push 4000
        > . 1:1001
        > . 1001:2001
        > . 2001:3001
        > . 3001:4001
        +20 < . 1:1 ack 1
        < . 1:1 ack 1
        +15 > nothing
        < . 1:1 ack 1
        > . 1:1001
    ",
    );
}

#[test]
fn a_loss_that_only_the_probe_repaired_costs_the_window() {
    let mut s = Script::established(Config { tail_loss_probe: true, ..rack() });
    s.run(
        "
        push 3000
        > . 1:1001
        > . 1001:2001
        > . 2001:3001
        +42 > . 2001:3001
        +20 < . 1:1 ack 3001
        push 1000
        > . 3001:4001
    ",
    );
    assert_eq!(s.tcp.cwnd(), 10_000);
    s.run("+20 < . 1:1 ack 4001");
    assert!(s.tcp.cwnd() <= 5000, "{}", s.tcp.cwnd());
}

#[test]
fn a_probe_in_vain_costs_nothing() {
    let mut s = Script::established(Config { tail_loss_probe: true, ..rack() });
    s.run(
        "
        push 2000
        > . 1:1001
        > . 1001:2001
        +42 > . 1001:2001
        +1 < . 1:1 ack 2001
        +20 < . 1:1 ack 2001 sack 1001-2001
        push 1000
        > . 2001:3001
        +20 < . 1:1 ack 3001
    ",
    );
    assert_eq!(s.tcp.cwnd(), 10_000);
}

#[test]
fn duplicates_reported_widen_the_reordering_window_up_to_a_round_trip() {
    for (rounds, window) in [(0, 5), (1, 10), (2, 15), (3, 20), (4, 20), (40, 20)] {
        let mut s = Script::established(rack());
        for round in 0..rounds {
            let (from, to) = (1000 * round + 1, 1000 * round + 1001);
            s.run(&format!("push 1000\n > . {from}:{to}\n +20 < . 1:1 ack {to} sack {from}-{to}"));
        }
        let at = |segment: u32| 1000 * (rounds + segment) + 1;
        s.run(&format!("push 2000\n > . {}:{}\n > . {}:{}", at(0), at(1), at(1), at(2)));
        s.run(&format!("+20 < . 1:1 ack {} sack {}-{}", at(0), at(1), at(2)));
        s.run(&format!("+{} > nothing\n +1 > . {}:{}", window - 1, at(0), at(1)));
    }
}

/// RFC 8985 §6.2, step 4: one round trip, one step, however many segments were sent twice.
#[test]
fn duplicates_reported_in_one_round_trip_widen_the_window_once() {
    let mut s = Script::established(rack());
    s.run(
        "
        push 3000
        > . 1:1001
        > . 1001:2001
        > . 2001:3001
        +20 < . 1:1 ack 1001 sack 1-1001
        < . 1:1 ack 2001 sack 1001-2001
        < . 1:1 ack 3001
        push 2000
        > . 3001:4001
        > . 4001:5001
        +20 < . 1:1 ack 3001 sack 4001-5001
        +9 > nothing
        +1 > . 3001:4001
    ",
    );
}

/// RFC 8985 §6.2, step 4: the window that a DSACK has widened lasts for 16 recoveries.
#[test]
fn a_widened_reordering_window_lasts_for_16_recoveries() {
    let mut s = Script::established(rack());
    s.run("push 1000\n > . 1:1001\n +20 < . 1:1 ack 1001 sack 1-1001");
    let mut recover = |round: u32, window: u32| {
        let at = |segment: u32| 1001 + 2000 * round + 1000 * segment;
        s.run(&format!("push 2000\n > . {}:{}\n > . {}:{}", at(0), at(1), at(1), at(2)));
        s.run(&format!("+20 < . 1:1 ack {} sack {}-{}", at(0), at(1), at(2)));
        s.run(&format!("+{} > nothing\n +1 > . {}:{}", window - 1, at(0), at(1)));
        s.run(&format!("+20 < . 1:1 ack {}", at(2)));
    };
    for round in 0..16 {
        recover(round, 10);
    }
    recover(16, 5);
}

/// RFC 2883 §4: a report has octets. A block without any is none.
#[test]
fn an_empty_block_does_not_widen_the_reordering_window() {
    let mut s = Script::established(rack());
    s.run(
        "
        push 3000
        > . 1:1001
        > . 1001:2001
        > . 2001:3001
        +20 < . 1:1 ack 1001 sack 501-501
        +1 < . 1:1 ack 1001 sack 2001-3001
        +4 > nothing
        +1 > . 1001:2001
    ",
    );
}

/// RFC 8985 §7.2: no probe while something is SACKed, though that is not enough to deem anything lost.
#[test]
fn what_is_reported_stops_the_probe() {
    let mut s = Script::established(Config { tail_loss_probe: true, ..sack() });
    s.run(
        "
        push 3000
        > . 1:1001
        > . 1001:2001
        > . 2001:3001
        +20 < . 1:1 ack 1 sack 1001-2001
        +179 > nothing
        +1 > . 1:1001
    ",
    );
}

/// RFC 8985 §7.2: the probe's time counts from the last ACK that acknowledged or reported something.
#[test]
fn a_new_window_does_not_put_the_probe_off() {
    let mut s = Script::established(Config { tail_loss_probe: true, ..rack() });
    s.run(
        "
        push 2000
        > . 1:1001
        > . 1001:2001
        +20 < . 1:1 ack 1 win 50000
        +21 > nothing
        +1 > . 1001:2001
    ",
    );
}

/// RFC 8985 §6.3: a loss that the reordering timer finds within a recovery is repaired by that recovery.
#[test]
fn the_reordering_timer_begins_one_recovery() {
    let mut s = Script::ten_in_flight(rack());
    s.run(
        "
        +20 < . 1:1 ack 1 sack 1001-2001
        < . 1:1 ack 2001
        < . 1:1 ack 2001 sack 3001-4001
        +4 > nothing
        +1 > . 2001:3001
        +1 < . 1:1 ack 2001 sack 3001-4001,6001-7001
        +4 > nothing
        +1 > nothing
    ",
    );
    // Two more are deemed lost. Half of the flight is on its way.
    assert_eq!((s.tcp.pipe(), s.tcp.cwnd(), s.tcp.stats().fast_recoveries), (4000, 4000, 1));
}

/// A timeout ends the probe's episode: the next tail has a probe of its own.
#[test]
fn after_a_timeout_the_next_tail_is_probed() {
    let mut s = Script::established(Config { tail_loss_probe: true, ..rack() });
    s.run(
        "
        push 2000
        > . 1:1001
        > . 1001:2001
        +42 > . 1001:2001
        +200 > . 1:1001
        +20 < . 1:1 ack 1001
        > . 1001:2001
        +20 < . 1:1 ack 2001
        push 2000
        > . 2001:3001
        > . 3001:4001
        +42 > . 3001:4001
    ",
    );
}

/// RFC 8985 §6.3: a timeout marks the first segment, and what was sent a round trip and the reordering window ago.
#[test]
fn a_timeout_leaves_alone_what_was_sent_less_than_a_round_trip_ago() {
    // 25 ms: the round trip, and a quarter of it.
    for (age, pipe) in [(25, 1000), (24, 2000)] {
        let mut s = Script::established(rack());
        s.run(&format!(
            "
            push 1000
            > . 1:1001
            +20 < . 1:1 ack 1001
            push 2000
            > . 1001:2001
            > . 2001:3001
            +{}
            push 1000
            > . 3001:4001
            +{age} > . 1001:2001
        ",
            200 - age
        ));
        assert_eq!((s.tcp.stats().timeouts, s.tcp.pipe()), (1, pipe), "{age} ms");
    }
}

/// … the handshake tells a round trip, too: a SYN is a segment that was delivered.
#[test]
fn before_any_data_is_acknowledged_the_handshake_tells_how_old_a_lost_segment_is() {
    let mut s = Script::established(rack());
    s.run(
        "
        push 2000
        > . 1:1001
        > . 1001:2001
        +180
        push 1000
        > . 2001:3001
        +20 > . 1:1001
    ",
    );
    assert_eq!((s.tcp.stats().timeouts, s.tcp.pipe()), (1, 2000));
}
