//! On the way back to plain TCP, and after it (RFC 8684 §3.3.1, §3.7).

use crate::agreement::with_checksums;
use crate::script::{Script, config, small_window};
use ropewalk_mptcp::{Event, FallbackReason, SubflowId};
use ropewalk_wire::{Flags, MptcpOption, Payload};

fn fell_back(script: &mut Script) -> Option<FallbackReason> {
    script.events().into_iter().find_map(|event| match event {
        Event::FellBack(reason) => Some(reason),
        _ => None,
    })
}

/// It ends the agreement: what follows has no checksums.
#[test]
fn an_infinite_mapping_needs_no_checksum() {
    let mut server = with_checksums();
    server.run("+1 0 < . 1:101 ack 1 win 60000 dack 0 map 0 1 0");
    assert_eq!(server.connection.readable(), 100);
    assert_eq!(fell_back(&mut server), Some(FallbackReason::PeerFellBack));
}

/// The peer had sent it before it heard of the MP_FAIL that answers its own.
#[test]
fn what_was_mapped_before_the_peer_s_infinite_mapping_still_arrives() {
    let mut server = with_checksums();
    server.run(
        "push 1000
         0 > . 1:1001 ack 1 map 0 1 1000 sum
         +20 0 < . 1:1 ack 1001 win 60000 dack 0 fail 0",
    );
    let _ = server.take_out();
    server.run("+1 0 < . 1:101 ack 1001 win 60000 map 0 1 100 sum");
    assert_eq!(server.connection.readable(), 100);
}

/// MP_FAIL may be lost, and nothing acknowledges it but the infinite mapping.
#[test]
fn mp_fail_is_repeated_until_an_infinite_mapping_comes() {
    let mut server = with_checksums();
    server.run(
        "+1 0 < . 1:101 ack 1 win 60000 dack 0 map 0 1 100 badsum
         0 > . 1:1 ack 101 fail 0
         +1 0 < . 101:201 ack 1 win 60000 dack 0 map 100 101 100 sum
         0 > . 1:1 ack 201 fail 0
         +1 0 < . 201:301 ack 1 win 60000 map 0 201 0",
    );
    assert_eq!(server.connection.stats().bytes_delivered, 100);
    assert_eq!(fell_back(&mut server), Some(FallbackReason::ChecksumFailed));
}

#[test]
fn one_segment_s_failure_is_told_once() {
    let mut server = with_checksums();
    server.run("+1 0 < . 101:201 ack 1 win 60000 dack 0 map 100 101 100 sum");
    let _ = server.take_out();
    server.run("+1 0 < . 1:101 ack 1 win 60000 dack 0 map 0 1 100 badsum");
    let out = server.take_out();
    let fails = out.iter().flat_map(|(_, segment)| segment.options.mptcp.rare());
    assert_eq!(fails.filter(|option| matches!(option, MptcpOption::Fail(_))).count(), 1, "{out:?}");
}

#[test]
fn joins_under_way_are_reset_by_a_fallback() {
    let mut server = Script::server(config());
    server.run(
        "+1 1 < S 0:1 win 60000 mss 1024 sackok join
         1 > S. 0:1 ack 1 join
         push 100
         0 > . 1:101 ack 1 map 0 1 100
         +20 0 < . 1:1 ack 101 win 60000
         1 > R.",
    );
    assert_eq!(fell_back(&mut server), Some(FallbackReason::Stripped));
}

fn octets_sent(script: &mut Script, octets: u64) -> u32 {
    script.run(&format!("push {octets}"));
    script.take_out().iter().map(|(_, segment)| segment.payload.len).sum()
}

/// RFC 9293 §3.10.7.4: an older segment says nothing of the window.
#[test]
fn after_a_fallback_an_ack_that_was_overtaken_opens_no_window() {
    let mut server = Script::accept(config(), "S 0:1 win 1000 mss 1024 sackok capable");
    server.run(
        "0 > S. 0:1 ack 1 capable
         +20 0 < . 1:1 ack 1 win 1000 capable
         push 100
         0 > . 1:101 ack 1 map 0 1 100
         +20 0 < . 1:1 ack 101 win 1000
         0 < . 1:1 ack 1 win 60000",
    );
    assert_eq!(fell_back(&mut server), Some(FallbackReason::Stripped));
    assert_eq!(octets_sent(&mut server, 5000), 1000);
}

/// RFC 7323 §2.2: all windows are scaled but those of SYNs.
#[test]
fn without_multipath_tcp_windows_are_scaled_but_on_syns() {
    let mut server = Script::accept(config(), "S 0:1 win 1000 mss 1024 sackok wscale 7");
    server.run(
        "0 > S. 0:1 ack 1 nomptcp
         +20 0 < . 1:1 ack 1 win 30",
    );
    assert_eq!(octets_sent(&mut server, 9000), 30 << 7);
    let mut client = Script::connect(config());
    client.run(
        "0 > S 0:1 capable
         +20 0 < S. 0:1 ack 1 win 2000 mss 1024 sackok wscale 7
         0 > . 1:1 ack 1 nomptcp",
    );
    assert_eq!(octets_sent(&mut client, 9000), 2000);
}

/// Of octets that lie apart in memory, as a host keeps real ones.
#[test]
fn a_mapping_may_wait_for_its_checksum_in_256_parts() {
    let mut server = Script::accept(small_window(), "S 0:1 win 60000 mss 1024 sackok capable sum");
    server.run(
        "0 > S. 0:1 ack 1 capable sum
         +20 0 < . 1:1 ack 1 win 60000 capable sum",
    );
    let mut parts = 0;
    let reset = loop {
        parts += 1;
        let mapping = if parts == 1 { "map 0 1 300 sum" } else { "" };
        let (end, place) = (parts + 1, 1000 * parts);
        server.run(&format!("0 < . {parts}:{end} ack 1 win 60000 dack 0 {mapping} at {place}"));
        if let Some((_, reset)) = server.take_out().into_iter().find(|(_, s)| s.flags.contains(Flags::RST)) {
            break reset;
        }
    };
    assert_eq!(parts, 257);
    let why = MptcpOption::Reset { transient: true, reason: ropewalk_wire::ResetReason::Resources };
    assert!(reset.options.mptcp.rare().contains(&why), "{reset:?}");
}

/// Nobody knows where they belong.
#[test]
fn octets_before_an_infinite_mapping_that_none_covers_cost_the_subflow() {
    let mut server = Script::server(config());
    server.run("+1 0 < . 501:1001 ack 1 win 60000 map 500 501 0");
    let _ = server.take_out();
    assert_eq!(fell_back(&mut server), Some(FallbackReason::PeerFellBack));
    server.run("0 < . 1:501 ack 1 win 60000");
    assert!(server.take_out().iter().any(|(_, segment)| segment.flags.contains(Flags::RST)));
}

/// The lines, whatever leaves between them.
fn hear(server: &mut Script, lines: &str) {
    for line in lines.lines() {
        server.run(line);
        let _ = server.take_out();
    }
}

/// What the application reads, as one piece. The script's octets say where in the stream they belong.
fn read(server: &mut Script) -> Payload {
    let mut all = Payload::default();
    while let Some(part) = server.connection.read(u64::MAX) {
        assert_eq!(part.offset, u64::from(all.len), "the stream as it is");
        all.len += part.len;
    }
    all
}

/// This end falls back since an ACK of data came without options. The peer's next octet is `next` then.
fn silently_plain() -> Script {
    let mut server = Script::server(config());
    hear(&mut server, "push 100\n+20 0 < . 1:1 ack 101 win 60000");
    assert_eq!(fell_back(&mut server), Some(FallbackReason::Stripped));
    server
}

/// RFC 8684 §3.3.1: a mapping says where its own octets belong. The peer lost a segment when it fell back.
#[test]
fn an_infinite_mapping_beyond_a_hole_leaves_the_hole_its_room() {
    let mut server = Script::server(config());
    hear(
        &mut server,
        "+1 0 < . 1:251 ack 1 win 60000 dack 0 map 0 1 500
         0 < . 501:1001 ack 1 win 60000 map 500 501 0",
    );
    assert_eq!(fell_back(&mut server), Some(FallbackReason::PeerFellBack));
    assert_eq!(server.connection.readable(), 250);
    hear(
        &mut server,
        "0 < . 251:501 ack 1 win 60000 map 0 1 500
         0 < . 1001:1201 ack 1 win 60000",
    );
    assert_eq!(read(&mut server).len, 1200);
}

/// It may leave out nothing, wherever it begins.
#[test]
fn an_infinite_mapping_beyond_a_hole_of_data_to_come_leaves_no_gap() {
    let mut server = Script::server(config());
    hear(
        &mut server,
        "+1 0 < . 1:251 ack 1 win 60000 dack 0 map 0 1 500
         0 < . 501:1001 ack 1 win 60000 map 900 501 0 at 500
         0 < . 251:501 ack 1 win 60000 at 250",
    );
    assert_eq!(read(&mut server).len, 1000);
}

/// … and one that begins before what was read no less.
#[test]
fn an_infinite_mapping_of_what_was_read_leaves_no_gap() {
    let mut server = Script::server(config());
    hear(
        &mut server,
        "+1 0 < . 1:501 ack 1 win 60000 dack 0 map 0 1 500
         0 < . 501:1001 ack 1 win 60000 map 300 101 0 at 500",
    );
    assert_eq!(read(&mut server).len, 1000);
}

/// What is discarded until the infinite mapping begins takes no room.
#[test]
fn an_infinite_mapping_after_mp_fail_leaves_no_gap_for_what_is_discarded() {
    let mut server = with_checksums();
    hear(
        &mut server,
        "+1 0 < . 1:101 ack 1 win 60000 dack 0 map 0 1 100 badsum
         0 < . 301:501 ack 1 win 60000 map 50 301 0 at 0
         0 < . 101:301 ack 1 win 60000 dack 0 map 100 101 200 sum",
    );
    assert_eq!(read(&mut server).len, 200);
}

/// The retransmission of what was lost before the peer fell back has its own mapping.
#[test]
fn what_is_missing_before_an_infinite_mapping_may_still_be_mapped() {
    let mut server = Script::server(config());
    hear(
        &mut server,
        "+1 0 < . 1:501 ack 1 win 60000 dack 0 map 0 1 500
         0 < . 1001:1501 ack 1 win 60000 map 1000 1001 0
         0 < . 501:1001 ack 1 win 60000 map 500 501 500",
    );
    assert_eq!(read(&mut server).len, 1500);
    assert!(!server.connection.is_closed());
}

/// It says nothing of octets of the infinite one, however long it is.
#[test]
fn a_mapping_before_an_infinite_one_ends_where_that_begins() {
    let mut server = Script::server(config());
    hear(
        &mut server,
        "+1 0 < . 1001:1501 ack 1 win 60000 map 500 1001 0 at 500
         0 < . 1:1001 ack 1 win 60000 map 0 1 2000",
    );
    assert_eq!(server.connection.stats().bytes_delivered, 1000);
    assert_eq!(read(&mut server).len, 1000);
}

/// The receive buffer holds no more than was offered.
#[test]
fn what_is_mapped_before_an_infinite_mapping_lies_within_the_window() {
    let mut server = Script::server(small_window());
    hear(
        &mut server,
        "+1 0 < . 1001:1501 ack 1 win 60000 map 1000 1001 0
         0 < . 1:1001 ack 1 win 60000 map 9900 1 1000",
    );
    assert_eq!(server.connection.stats().bytes_beyond_window, 900);
    assert_eq!(server.connection.readable(), 0);
}

/// Half of it came before. The infinite one begins with what was not acknowledged, or goes on behind it.
#[test]
fn a_mapping_that_waits_for_its_checksum_outlives_an_infinite_one_beyond_it() {
    for (again, delivered) in [(100, 400), (200, 500)] {
        let mut server = with_checksums();
        hear(
            &mut server,
            &format!(
                "push 1000
                 +20 0 < . 1:1 ack 1001 win 60000 dack 0 fail 0
                 0 < . 1:101 ack 1001 win 60000 map 0 1 100 sum
                 0 < . 101:151 ack 1001 win 60000 map 100 101 100 sum
                 0 < . 201:501 ack 1001 win 60000 map {again} 201 0
                 0 < . 151:201 ack 1001 win 60000 map 100 101 100 sum"
            ),
        );
        assert_eq!(server.connection.stats().checksum_failures, 0);
        assert_eq!(read(&mut server).len, delivered);
        assert_eq!(server.connection.held_octets(), 0);
    }
}

/// The infinite one begins in the midst of it, and the peer sends nothing of it again.
#[test]
fn a_mapping_that_never_gets_whole_holds_nothing() {
    let mut server = with_checksums();
    hear(
        &mut server,
        "push 1000
         +20 0 < . 1:1 ack 1001 win 60000 dack 0 fail 0
         0 < . 1:51 ack 1001 win 60000 map 0 1 100 sum
         0 < . 51:351 ack 1001 win 60000 map 0 51 0",
    );
    assert_eq!(read(&mut server).len, 300);
    assert_eq!(server.connection.held_octets(), 0);
}

/// The peer falls back after this end, and a segment from before is late.
#[test]
fn an_infinite_mapping_after_a_silent_fallback_leaves_what_is_before_it_as_it_was() {
    let mut server = silently_plain();
    hear(
        &mut server,
        "0 < . 501:1001 ack 101 win 60000 map 500 501 0
         0 < . 1:501 ack 101 win 60000",
    );
    assert_eq!(read(&mut server).len, 1000);
    assert!(!server.connection.is_closed());
}

/// Each holds up to the next, whatever late mappings say.
#[test]
fn of_several_infinite_mappings_each_holds_up_to_the_next() {
    let mut server = silently_plain();
    hear(
        &mut server,
        "0 < . 501:601 ack 101 win 60000 map 400 501 0
         0 < . 701:801 ack 101 win 60000 map 500 701 0
         0 < . 601:701 ack 101 win 60000 at 500
         0 < . 1:501 ack 101 win 60000 map 7 1 500 at 0",
    );
    assert_eq!(server.connection.stats().bytes_delivered, 600);
    assert_eq!(server.connection.stats().duplicate_bytes, 200);
    assert_eq!(read(&mut server).len, 600);
}

/// A mapping from before, which is half read, would need a checksum over octets that have gone.
#[test]
fn a_silent_fallback_needs_no_checksums_even_before_an_infinite_mapping() {
    let mut server = with_checksums();
    hear(
        &mut server,
        "push 100
         0 < . 501:1001 ack 1 win 60000 dack 0 map 500 501 500 sum
         +20 0 < . 1:1 ack 101 win 60000
         0 < . 1:501 ack 101 win 60000",
    );
    assert_eq!(fell_back(&mut server), Some(FallbackReason::Stripped));
    assert_eq!(server.connection.stats().bytes_delivered, 1000);
}

/// Data with the third segment, whose MP_CAPABLE does not map them.
#[test]
fn a_subflow_is_established_that_becomes_plain_with_the_third_segment() {
    let mut server = Script::accept(config(), "S 0:1 win 60000 mss 1024 sackok capable");
    server.run(
        "0 > S. 0:1 ack 1 capable
         +20 0 < . 1:101 ack 1 win 60000 capable",
    );
    let events = server.events();
    assert!(events.contains(&Event::FellBack(FallbackReason::Stripped)), "{events:?}");
    assert!(events.contains(&Event::SubflowEstablished(SubflowId(0))), "{events:?}");
    assert_eq!(server.connection.readable(), 100);
}

/// A peer gains no memory by them: no more of them wait than mappings may.
#[test]
fn infinite_mappings_without_number_are_not_kept() {
    let mut server = Script::server(small_window());
    hear(&mut server, "push 100\n+20 0 < . 1:1 ack 101 win 60000");
    assert_eq!(fell_back(&mut server), Some(FallbackReason::Stripped));
    for place in (3..9000).step_by(2) {
        hear(&mut server, &format!("0 < . {place}:{place} ack 101 win 60000 map 0 {place} 0"));
    }
    hear(&mut server, "0 < . 1:9001 ack 101 win 60000");
    // Each that is kept begins again. The first 64 are.
    assert_eq!(server.connection.stats().bytes_delivered, 9000 - 2 * 64);
}
