//! DATA_FIN and the end of subflows (RFC 8684 §3.3.3).

use crate::script::{Script, config};
use ropewalk_mptcp::{Config, Event, FailureReason, PathManager, ScriptedAction, ScriptedStep};
use ropewalk_units::{Duration, Instant};
use ropewalk_wire::Flags;

fn fins(script: &mut Script) -> Vec<u32> {
    let out = script.take_out();
    let mut with_fin: Vec<u32> =
        out.iter().filter(|(_, segment)| segment.flags.contains(Flags::FIN)).map(|(id, _)| id.0).collect();
    with_fin.dedup();
    with_fin
}

#[test]
fn a_data_fin_without_data_has_subflow_number_0_and_length_1() {
    let mut server = Script::server(config());
    server.run(
        "push 100
         0 > . 1:101 ack 1 map 0 1 100
         +20 0 < . 1:1 ack 101 win 60000 dack 100
         finish
         0 > . 101:101 ack 1 map 100 0 1 fin",
    );
}

#[test]
fn no_subflow_is_closed_while_data_is_outstanding() {
    let mut server = Script::server(config());
    server.run("push 3000 finish");
    assert_eq!(fins(&mut server), [0; 0], "not even the DATA_FIN is acknowledged");
    server.run("+20 0 < . 1:1 ack 3001 win 60000 dack 2000");
    assert_eq!(fins(&mut server), [0; 0]);
}

#[test]
fn both_data_fins_acknowledged_close_every_subflow_with_a_fin() {
    let mut server = Script::server(config());
    server.join();
    server.run("push 100 finish");
    let _ = server.take_out();
    server.run("+20 0 < . 1:1 ack 101 win 60000 dack 101 map 0 0 1 fin");
    assert_eq!(fins(&mut server), [0, 1], "on every subflow");
}

/// As Linux 6.18 does: in M_FINWAIT-2 the peer may still send, on all subflows (figure 22 closes them there already).
#[test]
fn subflows_stay_until_the_peer_has_finished_too() {
    let mut server = Script::server(config());
    server.join();
    server.run("push 100 finish");
    let _ = server.take_out();
    server.run(
        "+20 0 < . 1:1 ack 101 win 60000 dack 101\n +5000 1 < . 1:101 ack 1 win 60000 dack 101 map 0 1 100",
    );
    assert_eq!(fins(&mut server), [0; 0]);
    assert_eq!(server.connection.readable(), 100);
    server.run("+20 0 < . 1:1 ack 101 win 60000 dack 101 map 100 0 1 fin");
    assert_eq!(fins(&mut server), [0, 1]);
}

#[test]
fn a_data_fin_counts_once_all_before_it_has_come() {
    let mut server = Script::server(config());
    server.run("+1 0 < . 1:1 ack 1 win 60000 dack 0 map 100 0 1 fin");
    let _ = server.take_out();
    assert!(!server.connection.peer_finished());
    server.run("+1 0 < . 1:101 ack 1 win 60000 dack 0 map 0 1 100");
    let out = server.take_out();
    assert!(!out.is_empty(), "acknowledged with 101");
    server.run("read");
    assert!(server.connection.peer_finished());
    assert!(server.events().contains(&Event::PeerFinished));
}

/// Both have finished and data before the peer's DATA_FIN is missing: the subflow that brings it may have to be opened yet.
#[test]
fn a_subflow_may_be_joined_after_a_data_fin_that_overtook_data() {
    let mut server = Script::server(config());
    server.run("push 100 finish");
    let _ = server.take_out();
    server.run("+20 0 < . 1:1 ack 101 win 60000 dack 101 map 100 0 1 fin");
    let _ = server.take_out();
    server.join();
    assert!(server.events().iter().any(|event| matches!(event, Event::SubflowEstablished(id) if id.0 == 1)));
    server.run("+20 1 < . 1:101 ack 1 win 60000 dack 101 map 0 1 100");
    let _ = server.take_out();
    server.run("read");
    assert!(server.connection.peer_finished());
}

#[test]
fn a_subflow_that_works_is_closed_with_a_fin_and_its_address_stays_announced() {
    let steps = vec![ScriptedStep { at: Duration::from_millis(1), path: 0, action: ScriptedAction::Close }];
    let mut server = Script::server(Config { path_manager: PathManager::Scripted { steps }, ..config() });
    server.pass_until_output(20);
    let out = server.take_out();
    assert!(out.iter().any(|(_, segment)| segment.flags.contains(Flags::FIN)), "{out:?}");
    assert!(out.iter().all(|(_, segment)| !segment.options.mptcp.has_rare()), "{out:?}");
}

/// The times between the segments that leave without an answer and that `wanted` describes, the first six.
fn gaps(script: &mut Script, wanted: impl Fn(&ropewalk_wire::Segment) -> bool) -> Vec<u64> {
    let mut times: Vec<Instant> = Vec::new();
    while times.len() < 7 {
        script.pass_until_output(30_000);
        if script.take_out().iter().any(|(_, segment)| wanted(segment)) {
            times.push(script.now);
        }
    }
    times.windows(2).map(|pair| pair[1].saturating_since(pair[0]).as_nanos() / 1_000_000).collect()
}

/// Is each but the first about twice as long as the one before? The first may be a tail loss probe's.
fn doubles(gaps: &[u64]) -> bool {
    gaps[1..].windows(2).all(|pair| pair[1].abs_diff(2 * pair[0]) <= pair[0] / 10 + 2)
}

#[test]
fn a_data_fin_that_is_lost_is_repeated_with_back_off_until_it_is_acknowledged() {
    let mut server = Script::server(config());
    server.run(
        "push 100
         0 > . 1:101 ack 1 map 0 1 100
         +20 0 < . 1:1 ack 101 win 60000 dack 100
         finish",
    );
    let gaps = gaps(&mut server, |segment| segment.options.mptcp.dss.is_some_and(|dss| dss.data_fin()));
    assert!(doubles(&gaps), "{gaps:?} ms");
    server.run(
        "+1 0 < . 1:1 ack 101 win 60000 dack 101
         +100000 > nothing",
    );
    assert!(server.events().contains(&Event::FinishAcknowledged));
}

#[test]
fn a_back_off_of_data_that_is_acknowledged_keeps_no_data_fin_off() {
    let mut server = Script::server(config());
    server.run("push 100");
    let waits = gaps(&mut server, |segment| segment.payload.len > 0);
    // The round trip of what was sent again is not known, so that the subflow keeps its back-off.
    server.run(
        "+20 0 < . 1:1 ack 101 win 60000 dack 100
         finish",
    );
    let repeats = gaps(&mut server, |segment| segment.options.mptcp.dss.is_some_and(|dss| dss.data_fin()));
    assert!(
        doubles(&repeats) && repeats[0] * 4 < *waits.last().expect("some"),
        "{repeats:?} after {waits:?} ms"
    );
}

#[test]
fn a_subflow_s_fin_that_is_lost_is_repeated_with_back_off_until_it_is_acknowledged() {
    let mut server = Script::server(config());
    server.run("push 100 finish");
    let _ = server.take_out();
    server.run("+20 0 < . 1:1 ack 101 win 60000 dack 101 map 0 0 1 fin");
    let gaps = gaps(&mut server, |segment| segment.flags.contains(Flags::FIN));
    assert!(doubles(&gaps), "{gaps:?} ms");
    server.run(
        "+1 0 < F. 1:2 ack 102 win 60000 dack 101
         0 > . 102:102 ack 2
         +100000 > nothing",
    );
    assert!(server.events().contains(&Event::Closed));
}

/// A server whose only subflow both ends have closed with FINs, without a DATA_FIN.
fn without_subflows(config: Config) -> Script {
    let mut server = Script::server(config);
    server.run(
        "push 100
         0 > . 1:101 ack 1 map 0 1 100
         +20 0 < . 1:1 ack 101 win 60000 dack 100
         +1 0 < F. 1:2 ack 101 win 60000 dack 100",
    );
    assert_eq!(fins(&mut server), [0]);
    server.run("+20 0 < . 2:2 ack 102 win 60000 dack 100");
    server
}

fn failed(script: &mut Script) -> bool {
    script.events().contains(&Event::Failed(FailureReason::NoSubflowLeft))
}

#[test]
fn a_connection_whose_subflows_have_all_ended_waits_for_another_one() {
    let mut server = without_subflows(config());
    server.run(
        "push 50
         +59000 > nothing",
    );
    server.join();
    server.run("1 > . 1:51 ack 1 map 100 1 50");
    server.run("+20 1 < . 1:1 ack 51 win 60000 dack 150");
    server.run("+300000 > nothing");
    assert!(!failed(&mut server), "break before make");
}

#[test]
fn without_another_subflow_it_is_over_after_the_timeout() {
    let mut server = without_subflows(config());
    server.run("+59900 > nothing");
    assert!(!failed(&mut server));
    server.run("+200 > nothing");
    assert!(failed(&mut server));
    server.run("+1 1 < S 0:1 win 60000 mss 1024 sackok join");
    assert!(server.refused(), "nothing is left to be joined");
    let mut server = without_subflows(Config { close_timeout: Duration::ZERO, ..config() });
    assert!(failed(&mut server), "at once");
}

#[test]
fn a_join_that_never_finishes_does_not_prolong_the_wait() {
    let mut server = without_subflows(config());
    server.run("+50000 1 < S 0:1 win 60000 mss 1024 sackok join");
    let _ = server.take_out();
    for _ in 0..11 {
        server.run("+1000");
        let _ = server.take_out();
    }
    assert!(failed(&mut server));
}

#[test]
fn a_subflow_that_the_peer_closes_is_closed_by_us_too_and_no_other() {
    let mut server = Script::server(config());
    server.join();
    server.run("+1 1 < F. 1:2 ack 1 win 60000 dack 0");
    assert_eq!(fins(&mut server), [1]);
    server.run(
        "push 100
         0 > . 1:101 ack 1 map 0 1 100",
    );
}

/// The only subflow is reset, for a cause that passes: the path manager opens another one.
#[test]
fn a_client_whose_only_subflow_was_reset_opens_another_one() {
    let mut client = Script::client(Config { path_manager: PathManager::FullMesh, ..config() });
    client.run("+1 0 < R. 1:1 ack 1 transient 2");
    for _ in 0..50 {
        client.run("+1000");
        let joins = |segment: &ropewalk_wire::Segment| segment.flags == Flags::SYN;
        if client.take_out().iter().any(|(id, segment)| id.0 == 1 && joins(segment)) {
            return;
        }
    }
    panic!("no second subflow: {:?}", client.events());
}
