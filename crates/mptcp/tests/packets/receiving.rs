//! What subflows deliver and where it goes: pieces, what waits above holes, and what a failed or infinite mapping leaves
//! (RFC 8684 §3.3.1, §3.3.5, §3.7).

use crate::agreement::with_checksums;
use crate::script::{PEER_KEY, Script, config, small_window};
use ropewalk_mptcp::{Config, Event, FallbackReason, Subflow, SubflowId, keys};
use ropewalk_units::Duration;
use ropewalk_wire::{Flags, Payload};

/// Lines one by one; what leaves is not looked at.
fn hear(script: &mut Script, lines: &str) {
    for line in lines.lines() {
        script.run(line);
        let _ = script.take_out();
    }
}

fn subflow(script: &Script, id: u32) -> &Subflow {
    script.connection.subflow(SubflowId(id)).expect("it is there")
}

/// What is held, in the order of the generated stream.
fn held(script: &Script) -> Vec<(u64, u32)> {
    let mut held = Vec::new();
    script.connection.visit_held(&mut |piece: Payload| held.push((piece.offset, piece.len)));
    held.sort_unstable();
    held
}

/// The subflow delivers two pieces at once: the second belongs behind a hole of the connection.
#[test]
fn all_pieces_that_a_filled_hole_sets_free_are_taken_at_once() {
    // The second piece goes on where the first one ends, or is from another part of the generated stream.
    for offset in ["", "at 100"] {
        let mut server = Script::server(config());
        server.join();
        hear(
            &mut server,
            &format!(
                "+1 0 < . 101:201 ack 1 win 60000 dack 0 map 500 101 100 {offset}
                 +1 0 < . 1:101 ack 1 win 60000 dack 0 map 0 1 100"
            ),
        );
        let stats = server.connection.stats();
        assert_eq!((stats.bytes_delivered, stats.reorder_buffer), (100, 100), "{offset}");
        hear(&mut server, "+1 1 < . 1:401 ack 1 win 60000 dack 0 map 100 1 400");
        assert_eq!(server.connection.readable(), 600, "{offset}");
    }
}

/// A host keeps real octets for just these.
#[test]
fn each_range_that_is_held_is_named_once() {
    let mut server = Script::server(config());
    assert_eq!(held(&server), []);
    hear(
        &mut server,
        "+1 0 < . 1:101 ack 1 win 60000 dack 0 map 0 1 100
         +1 0 < . 101:201 ack 1 win 60000 dack 0 map 100 101 100 at 5000
         +1 0 < . 201:301 ack 1 win 60000 dack 0 map 700 201 100",
    );
    assert_eq!(held(&server), [(0, 100), (700, 100), (5000, 100)]);
    server.run("read");
    assert_eq!(held(&server), [(700, 100)], "nothing of what was read");
}

#[test]
fn the_dsn_that_is_expected_next_is_that_behind_what_came_in_order() {
    let mut server = Script::server(config());
    hear(&mut server, "+1 0 < . 1:101 ack 1 win 60000 dack 0 map 0 1 100");
    assert_eq!(server.connection.expected_dsn(), keys::initial_dsn(PEER_KEY) + 101);
}

/// RFC 8684 §3.3.5: one buffer for all subflows. What waits above their holes shares it.
#[test]
fn what_waits_above_holes_of_all_subflows_fits_into_the_receive_buffer() {
    let mut server = Script::server(small_window());
    server.join();
    hear(
        &mut server,
        "+1 0 < . 1001:6001 ack 1 win 60000 dack 0 map 1000 1001 5000
         +1 1 < . 1001:6001 ack 1 win 60000 dack 0 map 1000 1001 5000",
    );
    assert_eq!(server.connection.held_octets(), 10_000);
    hear(&mut server, "+1 1 < . 6001:6002 ack 1 win 60000 dack 0 map 6000 6001 1");
    assert_eq!(server.connection.held_octets(), 10_000, "no room for another octet");
    hear(&mut server, "+1 0 < . 1:1001 ack 1 win 60000 dack 0 map 0 1 1000");
    assert_eq!(server.connection.readable(), 6000, "what is next always finds room");
}

/// A receive buffer of ten pieces; a subflow may have one mapping at least.
fn few_pieces() -> Config {
    let mut config = Config { least_mappings: 1, ..small_window() };
    config.tcp.octets_per_piece = 1000;
    config.tcp.least_pieces = 1;
    config
}

/// Single octets with gaps between them cost a piece each.
#[test]
fn what_waits_above_holes_of_all_subflows_is_in_no_more_pieces_than_the_buffer_allows() {
    let mut server = Script::server(few_pieces());
    server.join();
    hear(&mut server, "push 1000");
    let carrier = usize::from(subflow(&server, 0).tcp().flight_size() == 0);
    for i in 1..=8 {
        for at in 0..2 {
            let (from, to) = (2 * i, 2 * i + 1);
            hear(&mut server, &format!("+1 {at} < . {from}:{to} ack 1 win 60000 dack 0 map 0 1 5000"));
        }
    }
    assert_eq!(server.connection.held_octets(), 10);
    // An acknowledgement from above the hole takes no room.
    hear(&mut server, &format!("+1 {carrier} < . 100:100 ack 1001 win 60000 dack 1000"));
    assert_eq!(subflow(&server, carrier as u32).tcp().flight_size(), 0);
}

/// A mapping for each octet: a subflow may have its share of them, so that others can have theirs.
#[test]
fn the_mappings_that_wait_are_shared_among_the_subflows() {
    let mut server = Script::server(few_pieces());
    server.join();
    for i in 1..=8 {
        let (from, to) = (2 * i, 2 * i + 1);
        let data = from - 1;
        hear(&mut server, &format!("+1 0 < . {from}:{to} ack 1 win 60000 dack 0 map {data} {from} 1"));
    }
    assert_eq!(server.connection.held_octets(), 5, "half of them for one of two subflows");
}

/// It comes a second time, on a copy of a segment that TCP has not acknowledged yet.
#[test]
fn a_mapping_that_is_only_about_octets_to_come_is_not_kept() {
    let mut server = Script::server(config());
    hear(
        &mut server,
        "+1 0 < . 11:21 ack 1 win 60000 dack 0 map 10 11 10
         +1 0 < . 11:21 ack 1 win 60000 dack 0 map 600 500 100
         +1 0 < . 1:11 ack 1 win 60000 dack 0 map 0 1 10
         +1 0 < . 21:1021 ack 1 win 60000 dack 0 map 20 21 1000",
    );
    assert_eq!(server.connection.readable(), 1020, "it does not contradict that of the octets themselves");
}

/// RFC 8684 §3.3.1: the checksum covers the octets of its mapping, whatever segments bring them.
#[test]
fn octets_that_were_changed_in_one_of_several_segments_fail_the_checksum() {
    let mut server = with_checksums();
    server.join();
    hear(
        &mut server,
        "+1 0 < . 1:51 ack 1 win 60000 dack 0 map 0 1 100 sum
         +1 0 < . 51:101 ack 1 win 60000 dack 0 at 7777",
    );
    assert_eq!(server.connection.stats().checksum_failures, 1);
    assert_eq!(server.connection.stats().bytes_delivered, 0);
}

/// However small the receive buffer is: octets that follow each other are one piece.
#[test]
fn a_mapping_that_comes_octet_by_octet_is_verified_as_a_whole() {
    let mut server = Script::accept(small_window(), "S 0:1 win 60000 mss 1024 sackok capable sum");
    server.run(
        "0 > S. 0:1 ack 1 capable sum
         +20 0 < . 1:1 ack 1 win 60000 capable sum",
    );
    hear(&mut server, "+1 0 < . 1:2 ack 1 win 60000 dack 0 map 0 1 600 sum");
    for from in 2..=600 {
        hear(&mut server, &format!("+1 0 < . {from}:{} ack 1 win 60000 dack 0", from + 1));
    }
    assert_eq!(server.connection.readable(), 600);
}

#[test]
fn octets_of_a_later_mapping_that_wait_for_its_checksum_are_held() {
    let mut server = with_checksums();
    hear(
        &mut server,
        "+1 0 < . 1:101 ack 1 win 60000 dack 0 map 0 1 100 sum
         read
         +1 0 < . 101:151 ack 1 win 60000 dack 0 map 100 101 100 sum",
    );
    assert_eq!(server.connection.held_octets(), 50);
}

/// RFC 8684 §3.7: on the only subflow, what comes is discarded until the infinite mapping, which may begin within a segment.
#[test]
fn after_a_failed_checksum_the_stream_goes_on_where_the_infinite_mapping_begins() {
    let mut server = with_checksums();
    server.run(
        "+1 0 < . 1:101 ack 1 win 60000 dack 0 map 0 1 100 badsum
         0 > . 1:1 ack 101 fail 0",
    );
    hear(
        &mut server,
        "+1 0 < . 101:201 ack 1 win 60000 dack 0 map 100 101 100 sum
         +1 0 < . 201:401 ack 1 win 60000 dack 0 map 0 251 0 at 1000",
    );
    assert_eq!(server.connection.read(u64::MAX), Some(Payload { offset: 1050, len: 150 }));
    hear(&mut server, "+1 0 < . 401:501 ack 1 win 60000");
    assert_eq!(server.connection.stats().bytes_delivered, 250);
    let why = Event::FellBack(FallbackReason::ChecksumFailed);
    assert!(server.events().contains(&why));
}

/// RFC 8684 §3.3.3: it is part of its mapping, and nobody knows what the path has changed.
#[test]
fn a_data_fin_whose_mapping_fails_its_checksum_is_forgotten() {
    let mut server = with_checksums();
    server.join();
    hear(
        &mut server,
        "+1 1 < . 1:101 ack 1 win 60000 dack 0 map 0 1 101 fin badsum
         +1 0 < . 1:201 ack 1 win 60000 dack 0 map 0 1 200 sum",
    );
    assert_eq!(server.connection.readable(), 200);
    assert!(!server.events().contains(&Event::PeerFinished));
}

/// RFC 8684 §3.7: an infinite mapping says what follows, though an earlier mapping went on beyond its beginning.
#[test]
fn an_infinite_mapping_replaces_what_was_mapped_before() {
    let mut server = Script::server(config());
    hear(
        &mut server,
        "+1 0 < . 1:501 ack 1 win 60000 dack 0 map 0 1 1000
         +1 0 < . 501:1001 ack 1 win 60000 map 200 501 0",
    );
    assert!(server.connection.is_fallen_back());
    assert_eq!(server.connection.stats().bytes_delivered, 700);
}

#[test]
fn an_infinite_mapping_may_begin_in_the_midst_of_the_window() {
    let mut server = Script::server(small_window());
    hear(
        &mut server,
        "+1 0 < . 1:5001 ack 1 win 60000 dack 0 map 0 1 5000
         +1 0 < . 5001:9001 ack 1 win 60000 map 5000 5001 0",
    );
    assert!(server.connection.is_fallen_back());
    assert_eq!(server.connection.stats().bytes_delivered, 9000);
}

/// The subflow had acknowledged all of it before it turned out that nothing is mapped.
#[test]
fn what_a_fallback_finds_beyond_the_window_is_not_lost() {
    let mut server = Script::server(small_window());
    hear(&mut server, "+1 0 < . 1:11001 ack 1 win 60000");
    assert!(server.connection.is_fallen_back());
    assert_eq!(subflow(&server, 0).tcp().rcv_nxt().since(server.ends[0].irs), 11_001);
    assert_eq!(server.connection.stats().bytes_delivered, 11_000);
}

/// A server whose peer has no Multipath TCP.
fn plain() -> Script {
    let mut server = Script::accept(small_window(), "S 0:1 win 60000 mss 1024 sackok");
    server.run(
        "0 > S. 0:1 ack 1 nomptcp
         +20 0 < . 1:1 ack 1 win 60000",
    );
    server
}

/// RFC 9293 §3.10.7.4: though the octet of a window probe was not taken, the peer counts it as sent.
#[test]
fn after_a_fallback_an_acknowledgement_beyond_a_closed_window_counts() {
    let mut server = plain();
    hear(
        &mut server,
        "+1 0 < . 1:10001 ack 1 win 60000
         push 100
         +1 0 < . 10001:10002 ack 1 win 60000
         +1 0 < . 10002:10002 ack 101 win 60000",
    );
    assert_eq!(server.connection.stats().bytes_acked, 100);
}

/// The same of a segment whose text is refused: the peer sent it for its octet, and it is as new as any.
#[test]
fn what_a_refused_octet_acknowledges_counts() {
    let mut server = plain();
    hear(
        &mut server,
        "+1 0 < . 1:10001 ack 1 win 0
         push 100
         +1 0 < . 10001:10002 ack 1 win 60000
         +1 0 < . 10001:10002 ack 101 win 60000",
    );
    assert_eq!(
        server.connection.stats().bytes_acked,
        100,
        "the window opened, and what left was acknowledged"
    );
    let mut server = Script::server(small_window());
    hear(
        &mut server,
        "+1 0 < . 1:10001 ack 1 win 60000 dack 0 map 0 1 10000
         push 100
         +1 0 < . 10001:10101 ack 101 win 60000 dack 100 map 10000 10001 100",
    );
    assert_eq!(server.connection.stats().bytes_acked, 100);
    assert_eq!(server.connection.stats().bytes_delivered, 10_000);
}

/// RFC 9293 §3.10.7.1: a segment for a subflow that is gone is answered with a RST, each of them.
#[test]
fn a_segment_for_a_subflow_that_was_reset_is_answered_with_a_reset() {
    let mut server = Script::server(config());
    server.join();
    server.run("+1 1 < R 1:1\n > nothing");
    for _ in 0..2 {
        server.run("+1 1 < . 1:1 ack 1 win 60000 dack 0");
        let out = server.take_out();
        let [(SubflowId(1), answer)] = &out[..] else { panic!("one segment on subflow 1: {out:?}") };
        assert!(answer.flags.contains(Flags::RST), "{answer:?}");
    }
    hear(&mut server, "+1 0 < . 1:101 ack 1 win 60000 dack 0 map 0 1 100");
    assert_eq!(server.connection.readable(), 100);
}

/// Linux, "dynamic right-sizing": what was read in the last round trip, twice, is the next one's window.
#[test]
fn the_window_grows_once_a_round_trip_is_over() {
    let mut server = Script::accept(config(), "S 0:1 win 60000 mss 1024 sackok wscale 7 capable");
    server.run(
        "0 > S. 0:1 ack 1 capable
         +20 0 < . 1:1 ack 1 win 1000 capable",
    );
    assert_eq!(subflow(&server, 0).tcp().srtt().map(Duration::as_millis), Some(20));
    let scale = subflow(&server, 0).tcp().own_window_scale();
    let mut arrives = |wait: u32, from: u32, to: u32| {
        let (data, len) = (from - 1, to - from);
        server
            .run(&format!("+{wait} 0 < . {from}:{to} ack 1 win 1000 dack 0 map {data} {from} {len}\n read"));
        server.take_out().iter().map(|(_, segment)| u64::from(segment.window) << scale).max()
    };
    assert!(arrives(1, 1, 101) < Some(66_000));
    assert!(arrives(0, 101, 60_101) < Some(66_000));
    assert!(arrives(19, 60_101, 61_101) < Some(66_000), "too early");
    // What is offered of the larger buffer follows, by two segments for each that arrives (Linux `tcp_grow_window`).
    let offered = (61..95).map(|kilo| arrives(1, kilo * 1000 + 101, kilo * 1000 + 1101));
    let offered = offered.map(|window| window.expect("each is acknowledged at once")).collect::<Vec<_>>();
    let growth = offered.windows(2).map(|pair| pair[1] - pair[0]).skip(1).collect::<Vec<_>>();
    assert!(offered[0] < 66_000 && growth.iter().all(|octets| *octets == 2048), "{offered:?}");
    // Short segments make it no larger.
    let last = offered.last().copied().expect("there are some");
    assert!(arrives(1, 95_101, 95_201) < Some(last + 1024));
}

/// Linux `mptcp_cleanup_rbuf`: not as long as something waits behind a hole, which may be another subflow's.
#[test]
fn the_ends_of_writes_are_acknowledged_once_the_application_has_read_all() {
    let mut config = config();
    config.tcp.delayed_ack.quick_acks = 0;
    // All of it is offered from the beginning. An offer that grows is told at once.
    config.receive_buffer = 60_000;
    let mut server = Script::server(config);
    server.join();
    server.run(
        "+1 0 < P. 1:501 ack 1 win 60000 dack 0 map 0 1 500
         > nothing
         read
         0 > . ack 501 dack 500
         > nothing
         +1 1 < P. 1:101 ack 1 win 60000 dack 0 map 600 1 100
         > nothing
         +1 0 < P. 501:551 ack 1 win 60000 dack 0 map 500 501 50
         read
         > nothing
         +1 0 < P. 551:601 ack 1 win 60000 dack 0 map 550 551 50
         read
         0 > . ack 601 dack 700
         1 > . ack 101 dack 700
         > nothing",
    );
}
