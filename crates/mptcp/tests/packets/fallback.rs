//! The ways back to plain TCP, and MP_FASTCLOSE (RFC 8684 §3.5, §3.7).

use crate::agreement::with_checksums;
use crate::script::{Script, config, small_window};
use ropewalk_mptcp::{
    Config, Event, FailureReason, FallbackReason, ReinjectAfterTimeout, Scheduler, SubflowCloseReason,
    SubflowId,
};
use ropewalk_wire::{Flags, MptcpOption, ResetReason};

fn fell_back(script: &mut Script) -> Option<FallbackReason> {
    script.events().iter().find_map(|event| match event {
        Event::FellBack(reason) => Some(*reason),
        _ => None,
    })
}

/// Half of a mapping waits for its checksum, which covers the whole, and half of the next one above a hole.
#[test]
fn octets_that_wait_are_held_until_they_are_read() {
    let mut server = with_checksums();
    server.run(
        "0 < . 1:51 ack 1 win 60000 dack 0 map 0 1 100 sum
         0 > . 1:1 ack 51
         0 < . 121:141 ack 1 win 60000 dack 0
         0 > . 1:1 ack 51",
    );
    assert_eq!(server.connection.held_octets(), 50 + 20);
    let _ = server.take_out();
    server.run("0 < . 51:101 ack 1 win 60000 dack 0");
    let _ = server.take_out();
    assert_eq!(server.connection.held_octets(), 100 + 20);
    server.run("read");
    assert_eq!(server.connection.held_octets(), 20);
}

#[test]
fn data_acknowledged_without_options_on_the_only_subflow_is_plain_tcp() {
    let mut server = Script::server(config());
    server.run(
        "push 100
         0 > . 1:101 ack 1 map 0 1 100
         +20 0 < . 1:1 ack 101 win 60000",
    );
    assert!(fell_back(&mut server).is_some());
    server.run(
        "push 100
         0 > . 101:201 ack 1 map 100 101 0
         +20 0 < . 1:1 ack 201 win 60000
         push 100",
    );
    let [(_, segment)] = &server.take_out()[..] else { panic!("one segment") };
    assert!(segment.options.mptcp.is_empty(), "no options behind the infinite mapping: {segment:?}");
}

/// Where a timeout has put everything into the queue for other subflows, nothing of it comes a second time in the plain stream.
#[test]
fn what_waits_to_be_reinjected_is_not_sent_twice_after_a_fallback() {
    let mut server = Script::server(Config { reinject_after_timeout: ReinjectAfterTimeout::All, ..config() });
    server.run("push 40000");
    let _ = server.take_out();
    // The tail loss probe, then the timeout.
    for _ in 0..2 {
        server.pass_until_output(3000);
        let _ = server.take_out();
    }
    server.run("0 < . 1:1 ack 1001 win 60000");
    assert_eq!(fell_back(&mut server), Some(FallbackReason::Stripped));
    let mut next = 1001;
    while next < 40_001 {
        for (_, segment) in server.take_out() {
            let first = segment.seq.since(server.ends[0].iss);
            assert_eq!(segment.payload.offset + 1, u64::from(first), "the stream as it is");
            next = next.max(first + segment.payload.len);
        }
        server.run(&format!("0 < . 1:1 ack {next} win 60000"));
    }
}

/// Only the way back drops options: what was sent before the infinite mapping keeps its own, and its ACKs count.
#[test]
fn what_was_sent_before_a_silent_fallback_is_sent_again_with_its_mapping() {
    let mut server = Script::server(config());
    server.run(
        "push 2000
         0 > . 1:1001 ack 1 map 0 1 1000
         0 > . 1001:2001 ack 1 map 1000 1001 1000
         +20 0 < . 1:1 ack 1001 win 60000",
    );
    assert_eq!(server.connection.stats().bytes_acked, 1000);
    server.run("+1500 0 > . 1001:2001 ack 1 map 1000 1001 1000");
}

/// A DATA_ACK that acknowledges no data does not show that options come through with data.
#[test]
fn a_data_ack_of_nothing_does_not_keep_the_connection_from_falling_back() {
    let mut server = Script::server(config());
    server.run(
        "+1 0 < . 1:1 ack 1 win 60000 dack 0
         push 100
         0 > . 1:101 ack 1 map 0 1 100
         +20 0 < . 1:1 ack 101 win 60000",
    );
    assert_eq!(fell_back(&mut server), Some(FallbackReason::Stripped));
}

#[test]
fn data_acknowledged_without_options_on_a_joined_subflow_costs_that_subflow() {
    let mut config = config();
    config.scheduler = ropewalk_mptcp::Scheduler::RoundRobin;
    let mut server = Script::server(config);
    server.join();
    server.run("push 2000");
    let out = server.take_out();
    assert!(out.iter().any(|(id, segment)| id.0 == 1 && segment.payload.len == 1000), "{out:?}");
    server.run("+20 1 < . 1:1 ack 1001 win 60000");
    let out = server.take_out();
    let reset = out.iter().find(|(id, segment)| id.0 == 1 && segment.flags.contains(Flags::RST));
    let (_, reset) = reset.expect("a RST on the joined subflow");
    let why = MptcpOption::Reset { transient: false, reason: ResetReason::Middlebox };
    assert!(reset.options.mptcp.rare().contains(&why), "{reset:?}");
    assert_eq!(fell_back(&mut server), None, "the connection goes on");
}

/// … and on the first subflow too, once there has been another: its stream is not the connection's any more.
#[test]
fn data_acknowledged_without_options_on_the_first_of_two_subflows_costs_that_subflow() {
    let mut server = Script::server(Config { scheduler: Scheduler::RoundRobin, ..config() });
    server.join();
    server.run("push 2000");
    let out = server.take_out();
    assert!(out.iter().any(|(id, segment)| id.0 == 0 && segment.payload.len == 1000), "{out:?}");
    server.run("+20 0 < . 1:1 ack 1001 win 60000");
    let out = server.take_out();
    assert!(out.iter().any(|(id, segment)| id.0 == 0 && segment.flags.contains(Flags::RST)), "{out:?}");
    assert_eq!(fell_back(&mut server), None, "the connection goes on");
}

#[test]
fn mp_fail_on_the_only_subflow_is_answered_and_both_directions_are_plain_tcp() {
    let mut server = with_checksums();
    server.run(
        "push 1000
         0 > . 1:1001 ack 1 map 0 1 1000 sum
         +20 0 < . 1:1 ack 1001 win 60000 dack 0 fail 0",
    );
    assert!(fell_back(&mut server).is_some());
    let out = server.take_out();
    let fails = out.iter().any(|(_, segment)| {
        segment.options.mptcp.rare().iter().any(|option| matches!(option, MptcpOption::Fail(_)))
    });
    assert!(fails, "an MP_FAIL in return: {out:?}");
    let infinite = out.iter().filter_map(|(_, s)| s.options.mptcp.dss.and_then(|dss| dss.mapping()));
    assert!(infinite.map(|mapping| mapping.len).any(|len| len == 0), "an infinite mapping: {out:?}");
}

/// RFC 8684 §3.7: it answers a checksum, and names data that was sent.
#[test]
fn mp_fail_without_checksums_or_of_what_was_not_sent_is_ignored() {
    for (mut server, dsn) in [(Script::server(config()), 0), (with_checksums(), 1001)] {
        server.run("push 1000");
        let _ = server.take_out();
        server.run(&format!("+20 0 < . 1:1 ack 1001 win 60000 dack 0 fail {dsn}"));
        let _ = server.take_out();
        assert_eq!(fell_back(&mut server), None, "{dsn}");
    }
    let mut server = with_checksums();
    server.run("push 1000");
    let _ = server.take_out();
    server.run("+20 0 < . 1:1 ack 1001 win 60000 dack 0 fail 1000");
    assert_eq!(fell_back(&mut server), Some(FallbackReason::PeerFellBack));
}

/// RFC 8684 §3.7: while there are others, the subflow that failed is reset, and the connection goes on.
#[test]
fn mp_fail_on_one_of_two_subflows_costs_that_subflow() {
    let mut server = with_checksums();
    server.join();
    server.run("push 1000");
    let _ = server.take_out();
    server.run("+20 0 < . 1:1 ack 1001 win 60000 dack 0 fail 0");
    let out = server.take_out();
    assert!(out.iter().any(|(id, segment)| id.0 == 0 && segment.flags.contains(Flags::RST)), "{out:?}");
    assert!(out.iter().any(|(id, segment)| id.0 == 1 && segment.payload.len == 1000), "{out:?}");
    assert_eq!(fell_back(&mut server), None);
}

#[test]
fn after_an_infinite_mapping_only_subflow_acks_count_and_none_of_ours_is_a_data_ack() {
    let mut server = with_checksums();
    server.run(
        "push 1000
         0 > . 1:1001 ack 1 map 0 1 1000 sum
         +20 0 < . 1:1 ack 1001 win 60000 dack 0 fail 0",
    );
    let _ = server.take_out();
    server.run("+20 0 < . 1:1 ack 2001 win 60000");
    let _ = server.take_out();
    assert_eq!(server.connection.stats().bytes_acked, 1000, "acknowledged by the subflow");
    server.run("+20 0 < . 1:101 ack 2001 win 60000 map 0 1 0");
    let out = server.take_out();
    assert!(
        out.iter().all(|(_, s)| s.options.mptcp.dss.is_none_or(|dss| dss.data_ack().is_none())),
        "{out:?}"
    );
}

#[test]
fn a_connection_that_fell_back_takes_no_joins_and_sends_no_options_again() {
    let mut server = Script::accept(config(), "S 0:1 win 60000 mss 1024 sackok capable");
    server.run(
        "0 > S. 0:1 ack 1 capable
         +20 0 < . 1:1 ack 1 win 60000
         +20 0 < . 1:101 ack 1 win 60000 dack 0 map 0 1 100
         0 > . 1:1 ack 101 nomptcp
         push 10
         0 > . 1:11 ack 101 nomptcp
         +20 1 < S 0:1 win 60000 mss 1024 sackok join",
    );
    assert!(server.refused());
}

/// The subflow's own FINs, for there is no DATA_FIN any more.
#[test]
fn after_a_fallback_a_fin_ends_each_direction() {
    let mut server = Script::accept(config(), "S 0:1 win 60000 mss 1024 sackok");
    server.run(
        "0 > S. 0:1 ack 1 nomptcp
         +20 0 < . 1:1 ack 1 win 60000
         +20 0 < F. 1:102 ack 1 win 60000
         0 > . 1:1 ack 102 nomptcp",
    );
    assert!(server.events().contains(&Event::PeerFinished));
    assert!(!server.connection.is_closed());
    server.run(
        "push 100
         0 > . 1:101 ack 102 nomptcp
         finish
         0 > F. 101:102 ack 102 nomptcp
         +20 0 < . 102:102 ack 102 win 60000",
    );
    assert!(server.events().contains(&Event::FinishAcknowledged));
    assert!(server.connection.is_closed());
}

#[test]
fn a_fast_close_with_our_key_ends_the_connection_on_an_ack_or_a_rst() {
    for flags in [".", "R"] {
        let mut server = Script::server(config());
        server.join();
        server.run(&format!("+1 0 < {flags} 1:1 ack 1 fastclose"));
        let reasons: Vec<Event> = server.events();
        assert!(reasons.contains(&Event::Failed(FailureReason::PeerAborted)), "{flags}: {reasons:?}");
        let out = server.take_out();
        let reset = |id: u32| out.iter().any(|(at, s)| at.0 == id && s.flags.contains(Flags::RST));
        assert!(reset(1), "{flags}: the other subflow is reset: {out:?}");
        assert!(flags == "R" || reset(0), "{flags}: an ACK is answered with a RST: {out:?}");
    }
}

#[test]
fn a_fast_close_with_another_key_changes_nothing() {
    let mut server = Script::server(config());
    server.run("+1 0 < . 1:1 ack 1 win 60000 badfastclose");
    let _ = server.take_out();
    assert!(!server.connection.is_closed());
    server.run("+1 0 < . 1:101 ack 1 win 60000 dack 0 map 0 1 100");
    assert_eq!(server.connection.readable(), 100);
}

#[test]
fn a_failed_checksum_costs_one_of_several_subflows_and_tells_where() {
    let mut server = with_checksums();
    server.join();
    server.run(
        "+1 1 < . 1:101 ack 1 win 60000 dack 0 map 0 1 100 badsum
         1 > R. tcprst 6 fail 0",
    );
    let lost = server.events().iter().any(|event| {
        matches!(event, Event::SubflowClosed { id, reason: SubflowCloseReason::Aborted(ResetReason::Middlebox) }
            if id.0 == 1)
    });
    assert!(lost);
    assert_eq!(server.connection.stats().bytes_delivered, 0, "what failed is not DATA_ACKed");
    assert_eq!(server.connection.stats().checksum_failures, 1);
    server.run("+1 0 < . 1:101 ack 1 win 60000 dack 0 map 0 1 100 sum");
    assert_eq!(server.connection.readable(), 100, "it comes by the other one");
}

#[test]
fn after_fallback_what_is_beyond_the_connection_s_window_is_not_acknowledged() {
    let mut server = Script::accept(small_window(), "S 0:1 win 60000 mss 1024 sackok");
    server.run(
        "0 > S. 0:1 ack 1 win 10000 nomptcp
         +20 0 < . 1:1 ack 1 win 60000",
    );
    for i in 0..10 {
        server.run(&format!("+1 0 < . {}:{} ack 1 win 60000", 1000 * i + 1, 1000 * (i + 1) + 1));
        let _ = server.take_out();
    }
    server.run(
        "+1000
         0 < . 10001:10002 ack 1 win 60000
         0 > . 1:1 ack 10001 win 0
         read
         0 > . 1:1 ack 10001
         +1 0 < . 10001:11001 ack 1 win 60000",
    );
    let _ = server.take_out();
    assert_eq!(server.connection.readable(), 1000, "nothing was lost");
}

/// Without an MP_FAIL an infinite mapping needs a stream that is the connection's: not after there was another subflow.
#[test]
fn an_infinite_mapping_after_another_subflow_is_ignored() {
    let mut server = Script::server(config());
    server.join();
    server.run("+1 1 < R 1:1");
    let _ = server.take_out();
    server.run("+1 0 < . 1:101 ack 1 win 60000 map 0 1 0");
    assert_eq!(fell_back(&mut server), None);
    let mut alone = Script::server(config());
    alone.run("+1 0 < . 1:101 ack 1 win 60000 map 0 1 0");
    assert_eq!(fell_back(&mut alone), Some(FallbackReason::PeerFellBack));
}

/// It may leave out nothing: what it says of octets to come begins with the next one.
#[test]
fn an_infinite_mapping_of_data_to_come_leaves_no_gap() {
    let mut server = Script::server(config());
    server.run("+1 0 < . 1:101 ack 1 win 60000 map 500 1 0");
    assert_eq!(server.connection.stats().bytes_delivered, 100);
}

/// The peer did not notice that this end fell back, and then falls back itself: it begins again, with an infinite mapping.
#[test]
fn an_infinite_mapping_after_a_silent_fallback_says_what_comes_again() {
    let mut server = Script::server(config());
    server.run(
        "push 100
         0 > . 1:101 ack 1 map 0 1 100
         +20 0 < . 1:501 ack 101 win 60000",
    );
    assert!(fell_back(&mut server).is_some());
    let mut delivered = |line: &str| {
        let _ = server.take_out();
        server.run(line);
        server.connection.stats().bytes_delivered
    };
    assert_eq!(delivered("0 < . 501:1001 ack 101 win 60000 map 0 501 0"), 500);
    assert_eq!(delivered("0 < . 1001:1301 ack 101 win 60000"), 800);
    // The same once more is a repetition, whatever it says; one from another place counts.
    assert_eq!(delivered("0 < . 501:1001 ack 101 win 60000 map 200 501 0"), 800);
    assert_eq!(delivered("0 < . 1301:1401 ack 101 win 60000 map 750 1301 0"), 850);
    // Other mappings mean nothing any more.
    assert_eq!(delivered("0 < . 1401:1501 ack 101 win 60000 map 0 1401 100"), 950);
}

/// Two subflows, of which the second is a backup; the first has begun to lose its options on the way back.
fn stripped_later() -> Script {
    let mut server = Script::server(config());
    server.join();
    server.run(
        "1 < . 1:1 ack 1 win 60000 dack 0 prio 1
         push 1000
         0 > . 1:1001 ack 1
         +20 0 < . 1:1 ack 1001 win 60000 dack 1000
         push 1000
         0 > . 1001:2001 ack 1
         +20 0 < . 1:1 ack 2001 win 60000
         > nothing",
    );
    server.pass_until_output(3000);
    server.run("0 > . 2000:2000 ack 1");
    server
}

/// RFC 8684 §3.7: asked for a DATA_ACK, the peer answers without options. Where another subflow can do its work, that is enough.
#[test]
fn a_subflow_that_begins_to_lose_its_options_is_left_to_another_at_once() {
    let mut server = stripped_later();
    server.run("+20 0 < . 1:1 ack 2001 win 60000");
    server.pass_until_output(3000);
    server.run(
        "0 > R. tcprst 6
         1 > . 1:1001 map 1000 1 1000",
    );
}

/// … but not where the answer itself was lost.
#[test]
fn a_subflow_that_does_not_answer_has_not_begun_to_lose_its_options() {
    let mut server = stripped_later();
    server.pass_until_output(3000);
    let out = server.take_out();
    assert!(out.iter().all(|(_, segment)| !segment.flags.contains(Flags::RST)), "{out:?}");
}

/// The peer's window was 1000 octets and is full, and more waits.
fn closed_window() -> Script {
    closed_window_of(config())
}

fn closed_window_of(config: Config) -> Script {
    let mut server = Script::accept(config, "S 0:1 win 1000 mss 1024 sackok capable");
    server.run(
        "0 > S. 0:1 ack 1 capable
         +20 0 < . 1:1 ack 1 win 1000 capable
         push 1000
         0 > P. 1:1001 ack 1
         +20 0 < . 1:1 ack 1001 win 0 dack 1000
         push 1000
         > nothing",
    );
    server
}

/// A window that is told in DSS opens for nobody who does not see them (RFC 8684 §3.7): such a subflow is given up.
#[test]
fn a_closed_window_is_not_probed_for_ever_where_options_are_stripped() {
    let mut server = closed_window();
    let mut reset = None;
    for _ in 0..600_000 {
        for (_, segment) in server.take_out() {
            if segment.flags.contains(Flags::RST) {
                reset = Some(segment);
            } else {
                server.run("0 < . 1:1 ack 1001 win 60000");
            }
        }
        if reset.is_some() {
            break;
        }
        server.run("+1");
    }
    let why = MptcpOption::Reset { transient: false, reason: ResetReason::Middlebox };
    assert!(reset.expect("given up").options.mptcp.rare().contains(&why));
    assert!(server.connection.stats().window_probes >= 6, "not at once");
}

/// … and a subflow that never carried data, and so never had any acknowledged, no less.
#[test]
fn no_subflow_is_probed_for_ever_where_options_are_stripped() {
    let mut server = closed_window();
    server.join();
    let mut alive = [true; 2];
    for _ in 0..600_000 {
        for (id, segment) in server.take_out() {
            let at = id.0 as usize;
            if segment.flags.contains(Flags::RST) {
                alive[at] = false;
            } else {
                server.run(["0 < . 1:1 ack 1001 win 60000", "1 < . 1:1 ack 1 win 60000"][at]);
            }
        }
        if alive == [false; 2] {
            return;
        }
        server.run("+1");
    }
    panic!("{alive:?}");
}

/// … and one whose answers have them is probed as long as the window stays closed.
#[test]
fn a_closed_window_that_is_told_is_probed_for_ever() {
    let mut server = closed_window();
    let mut answers = 0;
    for _ in 0..600_000 {
        for (_, segment) in server.take_out() {
            assert!(!segment.flags.contains(Flags::RST));
            // One answer without options says nothing.
            answers += 1;
            server.run(&format!("0 < . 1:1 ack 1001 win 0{}", if answers == 1 { "" } else { " dack 1000" }));
        }
        server.run("+1");
    }
    assert!(server.connection.stats().window_probes > 10);
}

/// RFC 9293 §3.8.3: … but a peer that does not answer at all is given up, as if it did not acknowledge data.
#[test]
fn a_closed_window_is_not_probed_for_ever_where_nobody_answers() {
    let mut config = config();
    config.tcp.max_retransmissions = 3;
    let mut server = closed_window_of(config);
    let mut probes = 0;
    for _ in 0..600_000 {
        probes += server.take_out().iter().filter(|(_, s)| !s.flags.contains(Flags::RST)).count();
        server.run("+1");
    }
    assert_eq!(probes, 3);
    let reason = SubflowCloseReason::TimedOut;
    let events = server.events();
    assert!(events.contains(&Event::SubflowClosed { id: SubflowId(0), reason }), "{events:?}");
    assert!(events.contains(&Event::Failed(FailureReason::NoSubflowLeft)), "{events:?}");
}

/// RFC 9293 §3.8.6.1, on every subflow: a path that has died silently carries nothing that would show it.
#[test]
fn a_closed_window_is_probed_on_every_subflow() {
    let mut server = closed_window();
    server.join();
    server.pass_until_output(3000);
    let mut probed: Vec<u32> = server.take_out().iter().map(|(id, _)| id.0).collect();
    probed.sort_unstable();
    assert_eq!(probed, [0, 1]);
}
