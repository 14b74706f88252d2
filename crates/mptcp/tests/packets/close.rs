//! DATA_FIN and the end of subflows (RFC 8684 §3.3.3).

use crate::script::{Script, config};
use ropewalk_mptcp::{Config, Event, PathManager, ScriptedAction, ScriptedStep};
use ropewalk_units::Duration;
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

#[test]
fn a_subflow_that_works_is_closed_with_a_fin_and_its_address_stays_announced() {
    let steps = vec![ScriptedStep { at: Duration::from_millis(1), path: 0, action: ScriptedAction::Close }];
    let mut server = Script::server(Config { path_manager: PathManager::Scripted { steps }, ..config() });
    server.pass_until_output(20);
    let out = server.take_out();
    assert!(out.iter().any(|(_, segment)| segment.flags.contains(Flags::FIN)), "{out:?}");
    assert!(out.iter().all(|(_, segment)| !segment.options.mptcp.has_rare()), "{out:?}");
}
