//! On the way back to plain TCP, and after it (RFC 8684 §3.3.1, §3.7).

use crate::agreement::with_checksums;
use crate::script::{Script, config, small_window};
use ropewalk_mptcp::{Event, FallbackReason};
use ropewalk_wire::{Flags, MptcpOption};

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
