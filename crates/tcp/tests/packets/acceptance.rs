//! Which segments are taken, and what is said of the others (RFC 9293 §3.10.7.4, RFC 5961, RFC 7323 §5).

use crate::script::Script;
use crate::script::configs::{plain, sack};
use ropewalk_tcp::{CloseReason, Config, Event, State};

fn with_timestamps() -> Script {
    let config = Config { timestamps: true, ..sack() };
    let mut s = Script::accept(config, "S 0:1 mss 1000 sackok ts 50/0");
    s.run("> S. 0:1 ack 1\n +10 < . 1:1 ack 1 ts 60/100");
    s
}

/// RFC 2018 §3, RFC 2883 §4: a block says that the octets are here.
#[test]
fn octets_beyond_the_window_are_reported_by_no_block() {
    let mut s = Script::established(Config { receive_buffer: 4000, ..sack() });
    s.run(
        "
        < . 20001:21001 ack 1
        > . 1:1 ack 1 nosack
        < . 4001:5001 ack 1
        > . 1:1 ack 1 nosack
        < . 3001:6001 ack 1
        > . 1:1 ack 1 sack 3001-4001
    ",
    );
    assert_eq!(s.tcp.stats().duplicate_bytes_received, 4000);
}

#[test]
fn an_octet_that_probes_a_closed_window_is_reported_by_no_block() {
    let mut s = Script::established(Config { receive_buffer: 2000, ..sack() });
    s.run(
        "
        < . 1:1001 ack 1
        < . 1001:2001 ack 1
        > . 1:1 ack 2001 win 0
        < . 2001:2002 ack 1
        > . 1:1 ack 2001 win 0 nosack
        < . 2000:2001 ack 1
        > . 1:1 ack 2001 win 0 sack 2000-2001
    ",
    );
}

#[test]
fn what_an_old_timestamp_keeps_out_is_reported_below_rcv_nxt_only() {
    let mut s = with_timestamps();
    s.run(
        "
        < . 1:989 ack 1 ts 70/100
        < . 989:1977 ack 1 ts 71/100
        > . 1:1 ack 1977
        < . 2965:3953 ack 1 ts 65/100
        > . 1:1 ack 1977 nosack
        < . 989:2965 ack 1 ts 65/100
        > . 1:1 ack 1977 sack 989-1977
        < . 1:989 ack 1 ts 65/100
        > . 1:1 ack 1977 sack 1-989
    ",
    );
    assert_eq!(s.tcp.readable(), 1976);
}

/// What lies below the peer's SYN cannot have arrived twice, and neither has what comes with an impossible ACK.
#[test]
fn forged_duplicates_are_not_reported() {
    let mut s = Script::established(sack());
    s.run(
        "
        < . 1:1001 ack 1
        < . 4294967196:4294967246 ack 1
        > . 1:1 ack 1001 nosack
        < . 4294967196:101 ack 1
        > . 1:1 ack 1001 nosack
        < . 1:1001 ack 70000
        > . 1:1 ack 1001 nosack
        < . 1:1001 ack 1
        > . 1:1 ack 1001 sack 1-1001
    ",
    );
}

#[test]
fn a_fin_that_comes_again_is_a_duplicate_octet() {
    let mut s = Script::established(sack());
    s.run("< F. 1:502 ack 1\n > . 1:1 ack 502\n < F. 1:502 ack 1\n > . 1:1 ack 502 sack 1-502");
}

/// RFC 9293 §3.10.7.4: the FIN is the last octet.
#[test]
fn nothing_beyond_a_fin_is_taken() {
    let mut s = Script::established(sack());
    s.run(
        "
        < F. 1001:1502 ack 1
        > . 1:1 ack 1 sack 1001-1502
        < . 1501:2501 ack 1
        > . 1:1 ack 1 sack 1001-1502
        < . 2501:3501 ack 1
        > . 1:1 ack 1 sack 1001-1502
        < F. 3501:3502 ack 1
        > . 1:1 ack 1 sack 1001-1502
        < . 1:1701 ack 1
        > . 1:1 ack 1502 sack 1001-1501
        < . 1502:2502 ack 1
        > nothing
    ",
    );
    s.assert_state(State::CloseWait);
    assert_eq!(s.tcp.readable(), 1500);
}

#[test]
fn data_in_order_ends_at_a_fin_that_came_alone() {
    let mut s = Script::established(sack());
    s.run("< F. 501:502 ack 1\n > . 1:1 ack 1 sack 501-502\n < . 1:1001 ack 1\n > . 1:1 ack 502 nosack");
    s.assert_state(State::CloseWait);
    assert_eq!(s.tcp.readable(), 500);
}

#[test]
fn a_fin_below_data_that_has_arrived_is_none() {
    let mut s = Script::established(sack());
    s.run(
        "
        < . 2001:3001 ack 1
        > . 1:1 ack 1 sack 2001-3001
        < F. 1501:1502 ack 1
        > . 1:1 ack 1 sack 2001-3001
        < F. 1001:1502 ack 1
        > . 1:1 ack 1 sack 1001-1501,2001-3001
        < . 1:1001 ack 1
        > . 1:1 ack 1501 sack 2001-3001
        < . 1501:2001 ack 1
        > . 1:1 ack 3001 nosack
    ",
    );
    s.assert_state(State::Established);
}

/// RFC 9293 §3.10.7.4: with a window of zero no data is taken, but a valid ACK is; a FIN needs no room.
#[test]
fn a_closed_window_takes_acknowledgements_and_a_fin() {
    let mut s = Script::established(Config { receive_buffer: 2000, ..plain() });
    s.run(
        "
        < . 1:1001 ack 1
        < . 1001:2001 ack 1
        > . 1:1 ack 2001 win 0
        push 500
        > . 1:501 ack 2001
        < . 2001:3001 ack 501
        > . 501:501 ack 2001 win 0
    ",
    );
    assert_eq!((s.tcp.flight_size(), s.tcp.readable()), (0, 2000));
    s.run("< F. 2001:2002 ack 501\n > . 501:501 ack 2002 win 0");
    s.assert_state(State::CloseWait);
}

#[test]
fn a_rst_needs_the_exact_number_with_a_closed_window_too() {
    let mut s = Script::established(Config { receive_buffer: 1000, ..plain() });
    s.run("< . 1:1001 ack 1\n +100 > . 1:1 ack 1001 win 0\n < R 1002:1002\n > nothing");
    s.assert_state(State::Established);
    s.run("< R 1001:1001\n > nothing");
    assert_eq!(s.events().last(), Some(&Event::Closed(CloseReason::Reset)));
}

/// RFC 9293 §3.10.7.4: only who opened actively is told that the connection was refused.
#[test]
fn a_rst_in_syn_received_refuses_an_active_open_only() {
    let mut active = Script::connect(plain());
    active.run("> S 0:1\n +5 < S 0:1 mss 1000\n > S. 0:1 ack 1\n < R 1:1\n > nothing");
    assert_eq!(active.events(), [Event::Closed(CloseReason::Refused)]);
    let mut passive = Script::accept(plain(), "S 0:1 mss 1000");
    passive.run("> S. 0:1 ack 1\n < R 1:1\n > nothing");
    assert_eq!(passive.events(), [Event::Closed(CloseReason::Reset)]);
    passive.assert_state(State::Closed);
}

/// RFC 5961 §7, per connection.
#[test]
fn challenges_are_limited() {
    let mut s = Script::established(plain());
    s.run(
        "
        +1000 < R 5:5 ack 1
        > . 1:1 ack 1
        < S 5:6
        > nothing
        < . 1:1 ack 5
        > nothing
        < . 4294960000:4294960000 ack 1
        > nothing
        < S 4294960000:4294960001
        > nothing
        +499 < R 7:7
        > nothing
        +1 < S 9:10
        > . 1:1 ack 1
    ",
    );
}

/// A flood of forged segments must not use up the answers that an honest peer waits for.
#[test]
fn probes_and_repeated_data_are_answered_during_a_flood() {
    let mut s = Script::established(Config { receive_buffer: 2000, ..sack() });
    s.run(
        "
        < . 1:1001 ack 1
        < . 1001:2001 ack 1
        > . 1:1 ack 2001 win 0
        +300 < . 4294960000:4294960000 ack 1
        > . 1:1 ack 2001
        +100 < . 2000:2000 ack 1
        > . 1:1 ack 2001 win 0
        < . 2000:2000 ack 1
        > nothing
        +100 < R 7000:7000
        > nothing
        < . 2000:2000 ack 1
        > . 1:1 ack 2001 win 0
        < . 1:1001 ack 1
        > . 1:1 ack 2001 sack 1-1001
        < . 1001:2001 ack 1
        > . 1:1 ack 2001 sack 1001-2001
    ",
    );
}

#[test]
fn a_syn_ack_that_comes_again_is_acknowledged_during_a_flood() {
    let mut s = Script::established(plain());
    s.run(
        "
        +1000 < . 4294960000:4294960000 ack 1
        > . 1:1 ack 1
        < S. 0:1 ack 1 mss 1000
        > . 1:1 ack 1
    ",
    );
}

/// RFC 7323 §5.3 R3: the clock of a segment whose ACK is no good is not believed.
#[test]
fn a_forged_clock_does_not_keep_honest_segments_out() {
    let mut s = with_timestamps();
    s.run(
        "
        < . 1:1 ack 70000 ts 2000000000/100
        > . 1:1 ack 1
        < . 1:101 ack 1 ts 61/100
        +100 > . 1:1 ack 101 ts 210/61
    ",
    );
}

/// RFC 9293 §3.10.7.4: the FIN that comes again, not any FIN.
#[test]
fn only_the_peers_fin_restarts_time_wait() {
    let mut s = Script::established(plain());
    s.run("finish\n > F. 1:2\n +20 < F. 1:2 ack 2\n > . 2:2 ack 2");
    s.assert_state(State::TimeWait);
    s.run("+30000 < F. 4294960000:4294960001 ack 2\n > . 2:2 ack 2\n +30000 > nothing");
    s.assert_state(State::Closed);
}

/// RFC 9293 §3.10.5: where both FINs have been sent, ABORT deletes and tells nobody.
#[test]
fn an_abort_after_both_fins_sends_no_reset() {
    let mut closing = Script::established(plain());
    closing.run("finish\n > F. 1:2 ack 1\n < F. 1:2 ack 1\n > . 2:2 ack 2");
    closing.assert_state(State::Closing);
    let mut last_ack = Script::established(plain());
    last_ack.run("< F. 1:2 ack 1\n > . 1:1 ack 2\n finish\n > F. 1:2 ack 2");
    last_ack.assert_state(State::LastAck);
    for mut s in [closing, last_ack] {
        s.run("abort\n > nothing");
        s.assert_state(State::Closed);
    }
    let mut waits = Script::established(plain());
    waits.run("finish\n > F. 1:2 ack 1\n < . 1:1 ack 2\n abort\n > R. 2:2 ack 1");
}

/// RFC 9293 §3.10.7.4, RFC 5961 §3.2 and §4.2: in SYN-RECEIVED too.
#[test]
fn a_half_open_connection_challenges_a_reset_and_a_syn_in_its_window() {
    for attack in ["< R 11:11", "< S 11:12"] {
        let mut s = Script::accept(plain(), "S 0:1 mss 1000");
        s.run(&format!("> S. 0:1 ack 1\n +10 {attack}\n > . 1:1 ack 1\n {attack}\n > nothing"));
        s.assert_state(State::SynReceived);
    }
    // Data beyond the window is told what is expected.
    let mut s = Script::accept(plain(), "S 0:1 mss 1000");
    s.run("> S. 0:1 ack 1\n +10 < . 900001:900101 ack 1\n > . 1:1 ack 1");
}

/// RFC 9293 §3.10.7.4: what lies beyond the window is cut off, also of a segment that is otherwise the next.
#[test]
fn data_in_order_is_cut_at_the_edge_of_the_window() {
    for timestamps in [true, false] {
        let config = Config { timestamps, receive_buffer: 4000, ..sack() };
        let mut s = Script::accept(config, "S 0:1 mss 1000 sackok ts 50/0");
        s.run("> S. 0:1 ack 1\n +10 < . 1:1 ack 1 ts 60/100");
        s.run("< . 1:5001 ack 1 ts 61/100\n > . 1:1 ack 4001 win 0");
        assert_eq!((s.tcp.readable(), s.tcp.stats().duplicate_bytes_received), (4000, 1000));
    }
}

/// A peer that has filled our window acknowledges from its right edge, though we lack what was lost below.
#[test]
fn an_acknowledgement_at_the_right_edge_counts_and_none_beyond() {
    let mut s = Script::established(Config { receive_buffer: 4000, ..plain() });
    s.run("push 1000\n > . 1:1001\n < . 4002:4002 ack 1001\n > . 1001:1001 ack 1");
    assert_eq!(s.tcp.flight_size(), 1000);
    s.run("< . 4001:4001 ack 1001\n > nothing");
    assert_eq!(s.tcp.flight_size(), 0);
}

/// RFC 9293 §3.10.7.4: what is not acceptable is dropped, its acknowledgement too.
#[test]
fn data_just_beyond_the_window_acknowledge_nothing() {
    let mut s = Script::established(Config { receive_buffer: 4000, ..plain() });
    s.run("push 1000\n > . 1:1001\n < . 4501:5501 ack 1001\n > . 1001:1001 ack 1");
    assert_eq!((s.tcp.flight_size(), s.tcp.readable()), (1000, 0));
}

/// … of which neither the first octet nor the last lies in the window.
#[test]
fn a_segment_around_the_whole_window_fills_it() {
    let mut s = Script::established(Config { receive_buffer: 2000, ..plain() });
    s.run("< . 1:1001 ack 1\n > nothing\n < . 501:3001 ack 1\n > . 1:1 ack 2001 win 0");
    assert_eq!((s.tcp.readable(), s.tcp.stats().duplicate_bytes_received), (2000, 1500));
}

/// RFC 9293 §3.10.5: the TCB is deleted. No timer runs on, and no acknowledgement follows the RST.
#[test]
fn an_aborted_connection_owes_no_acknowledgement() {
    let mut delayed = Script::established(plain());
    delayed.run("< . 1:1001 ack 1\n abort\n > R. 1:1 ack 1001\n > nothing");
    assert_eq!((delayed.tcp.poll_timeout(), delayed.tcp.wants_to_transmit()), (None, false));
    let mut opened = Script::connect(plain());
    opened.run("> S 0:1\n +20 << S. 0:1 ack 1 mss 1000\n abort\n > R. 1:1 ack 1\n > nothing");
    assert_eq!((opened.tcp.poll_timeout(), opened.tcp.wants_to_transmit()), (None, false));
}
