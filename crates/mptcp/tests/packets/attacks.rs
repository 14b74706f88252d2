//! One segment of an attacker that knows everything but TCP's numbers changes nothing; one that TCP accepts costs its subflow
//! at most (RFC 5961, RFC 8684 §3.3, §3.4.2, §3.7).

use crate::script::{Script, config};
use ropewalk_mptcp::Event;
use ropewalk_wire::Flags;

/// Options that end or stall a connection if they are believed.
const HARM: [&str; 7] = [
    "win 60000 dack 0 map 0 1 0",
    "win 60000",
    "win 60000 dack 0 map 50 0 1 fin",
    "win 60000 remove 0",
    "win 60000 dack 0 fail 0",
    "win 60000 dack 0 prio 1",
    "win 60000 dack 0 map 700 1 60000",
];

/// Lines one by one; what leaves is not looked at.
fn hear(server: &mut Script, lines: &str) {
    for line in lines.lines() {
        server.run(line);
        let _ = server.take_out();
    }
}

/// After it: the honest stream arrives, on the same subflow, under Multipath TCP.
fn is_well(server: &mut Script, what: &str) {
    let _ = server.take_out();
    server.run("+1 0 < . 1:101 ack 1 win 60000 dack 0 map 0 1 100");
    assert_eq!(server.connection.readable(), 100, "{what}");
    assert!(!server.connection.is_fallen_back(), "{what}");
    assert!(!server.connection.is_closed(), "{what}");
    let harmed =
        |event: &Event| matches!(event, Event::PriorityChanged { .. } | Event::AddressRemoved { .. });
    assert!(!server.events().iter().any(harmed), "{what}");
}

#[test]
fn no_option_counts_on_a_segment_outside_the_window_or_with_an_ack_of_nothing_sent() {
    for harm in HARM {
        for numbers in ["900000000:900000000 ack 1", "1:1 ack 5000", "1000000000:1000000100 ack 700000"] {
            let mut server = Script::server(config());
            server.run(&format!("+1 0 < . {numbers} {harm}"));
            is_well(&mut server, &format!("{numbers} {harm}"));
        }
    }
}

#[test]
fn no_option_counts_on_a_reset_that_tcp_does_not_believe() {
    for harm in ["fastclose", "tcprst 1", "fail 0"] {
        let mut server = Script::server(config());
        server.run(&format!("+1 0 < R 5:5 {harm}"));
        is_well(&mut server, harm);
    }
}

#[test]
fn a_mapping_that_is_not_about_its_own_segment_is_not_kept() {
    let mut server = Script::server(config());
    hear(
        &mut server,
        "+1 0 < . 1:1 ack 1 win 60000 dack 0 map 700 1 60000
         +1 0 < . 1:11 ack 1 win 60000 dack 0 map 0 1 10
         +1 0 < . 11:21 ack 1 win 60000 dack 0 map 600 500 100",
    );
    assert_eq!(server.connection.readable(), 10);
}

/// It begins with octets that have come and goes on beyond them, on a segment that has none.
#[test]
fn a_mapping_on_a_bare_ack_is_not_kept() {
    let mut server = Script::server(config());
    hear(
        &mut server,
        "+1 0 < . 1:11 ack 1 win 60000 dack 0 map 0 1 10
         +1 0 < . 11:11 ack 1 win 60000 dack 0 map 600 5 100
         +1 0 < . 11:21 ack 1 win 60000 dack 0 map 10 11 10",
    );
    assert_eq!(server.connection.readable(), 20);
}

#[test]
fn a_contradiction_costs_the_subflow_and_not_the_connection() {
    let mut server = Script::server(config());
    server.join();
    server.run("+1 1 < . 101:201 ack 1 win 60000 dack 0 map 100 101 100");
    let _ = server.take_out();
    server.run("+1 1 < . 101:201 ack 1 win 60000 dack 0 map 300 101 100");
    let out = server.take_out();
    assert!(out.iter().any(|(id, s)| id.0 == 1 && s.flags.contains(Flags::RST)), "{out:?}");
    server.run("+1 0 < . 1:201 ack 1 win 60000 dack 0 map 0 1 200");
    assert_eq!(server.connection.readable(), 200);
}

#[test]
fn an_infinite_mapping_needs_the_only_subflow() {
    let mut server = Script::server(config());
    server.join();
    hear(&mut server, "+1 1 < . 1:101 ack 1 win 60000 dack 0 map 0 1 0");
    assert!(!server.connection.is_fallen_back());
    hear(&mut server, "+1 0 < . 1:101 ack 1 win 60000 dack 0 map 0 1 100");
    assert_eq!(server.connection.readable(), 100);
}

#[test]
fn a_data_fin_lies_within_the_window_and_not_below_what_arrived() {
    for position in [99, 10_000_000] {
        let mut server = Script::server(config());
        hear(
            &mut server,
            &format!(
                "+1 0 < . 1:101 ack 1 win 60000 dack 0 map 0 1 100
             +1 0 < . 101:101 ack 1 win 60000 dack 0 map {position} 0 1 fin
             +1 0 < . 101:201 ack 1 win 60000 dack 0 map 100 101 100
             +1 0 < . 201:201 ack 1 win 60000 dack 0 map 200 0 1 fin"
            ),
        );
        assert_eq!(server.connection.readable(), 200, "{position}");
        assert!(server.events().contains(&Event::PeerFinished), "{position}");
    }
}

#[test]
fn nothing_beyond_the_data_fin_is_taken() {
    let mut server = Script::server(config());
    hear(
        &mut server,
        "+1 0 < . 1:1 ack 1 win 60000 dack 0 map 150 0 1 fin
         +1 0 < . 1:201 ack 1 win 60000 dack 0 map 0 1 200",
    );
    assert_eq!(server.connection.readable(), 150);
    assert!(server.events().contains(&Event::PeerFinished));
}

#[test]
fn a_bare_ack_is_no_reason_to_fall_back_and_neither_is_one_of_data_after_a_data_ack() {
    let mut server = Script::server(config());
    server.run(
        "+1 0 < . 1:1 ack 1 win 60000
         push 100
         0 > . 1:101 ack 1 map 0 1 100
         +20 0 < . 1:1 ack 101 win 60000 dack 100
         push 100
         0 > . 101:201 ack 1 map 100 101 100
         +20 0 < . 1:1 ack 201 win 60000",
    );
    assert!(!server.connection.is_fallen_back());
}

#[test]
fn the_last_subflow_s_address_is_removed_only_if_a_probe_stays_unanswered() {
    for answered in [true, false] {
        let mut server = Script::server(config());
        server.run("+1 0 < . 1:1 ack 1 win 60000 dack 0 remove 0");
        let out = server.take_out();
        assert!(!out.iter().any(|(_, s)| s.flags.contains(Flags::FIN)), "a probe first: {out:?}");
        assert!(!out.is_empty(), "a probe");
        if answered {
            server.run("+20 0 < . 1:1 ack 1 win 60000 dack 0");
        }
        server.run("+60000");
        let closing = server.take_out().iter().any(|(_, s)| s.flags.contains(Flags::FIN));
        assert_eq!(closing, !answered);
    }
}
