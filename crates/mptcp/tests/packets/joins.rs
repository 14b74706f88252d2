//! Subflows that this host opens (RFC 8684 §3.2).

use crate::script::{Script, address, config};
use ropewalk_mptcp::{
    Config, Event, FailureReason, Limits, Path, PathManager, Scheduler, ScriptedAction, ScriptedStep,
    SubflowCloseReason, SubflowId,
};
use ropewalk_units::Duration;
use ropewalk_wire::ResetReason;

fn two_paths() -> Vec<Path> {
    vec![
        Path { local: address(0, 1, 40_000), remote: address(0, 2, 5001) },
        Path { local: address(1, 1, 0), remote: address(0, 2, 5001) },
    ]
}

/// A client with two paths, before anything but the handshake.
fn opener() -> Script {
    let mut client = Script::connect_over(
        Config { path_manager: PathManager::FullMesh, scheduler: Scheduler::RoundRobin, ..config() },
        two_paths(),
    );
    client.run(
        "0 > S 0:1 capable
         +20 0 < S. 0:1 ack 1 win 60000 mss 1024 sackok capable
         0 > . 1:1 ack 1 capable",
    );
    client
}

/// … which has opened its second subflow's SYN.
fn opening() -> Script {
    let mut client = opener();
    client.run(
        "+1 0 < . 1:1 ack 1 win 60000 dack 0
         1 > S 0:1 join",
    );
    client
}

#[test]
fn no_subflow_is_opened_before_a_dss_has_come() {
    let mut client = opener();
    client.run(
        "+500 > nothing
         0 < . 1:1 ack 1 win 60000 dack 0
         1 > S 0:1 join",
    );
}

#[test]
fn no_data_leaves_before_the_third_packet_is_acknowledged() {
    let mut client = opening();
    client.run(
        "+20 1 < S. 0:1 ack 1 win 60000 mss 1024 sackok join
         1 > . 1:1 ack 1 join
         push 20000",
    );
    assert!(client.take_out().iter().all(|(id, segment)| id.0 == 0 || segment.payload.len == 0));
    client.run("+20 1 < . 1:1 ack 1 win 60000 dack 0");
    assert!(client.take_out().iter().any(|(id, segment)| id.0 == 1 && segment.payload.len > 0));
}

#[test]
fn the_third_packet_is_sent_again_until_it_is_acknowledged() {
    let mut client = opening();
    client.run(
        "+20 1 < S. 0:1 ack 1 win 60000 mss 1024 sackok join
         1 > . 1:1 ack 1 join",
    );
    client.pass_until_output(3000);
    client.run("1 > . 1:1 ack 1 join");
    client.run("+20 1 < . 1:1 ack 1 win 60000 dack 0");
    assert!(client.events().iter().any(|event| matches!(event, Event::SubflowEstablished(id) if id.0 == 1)));
}

/// A driver may call for the sake of another timer.
#[test]
fn the_third_packet_is_not_sent_again_before_its_time() {
    let mut client = opening();
    client.run(
        "+20 1 < S. 0:1 ack 1 win 60000 mss 1024 sackok join
         1 > . 1:1 ack 1 join",
    );
    client.connection.handle_timeout(client.now);
    client.run("read\n > nothing");
}

/// As a SYN: so many times, and then the subflow is given up.
#[test]
fn a_third_packet_is_repeated_as_often_as_a_syn() {
    let mut config = Config { path_manager: PathManager::FullMesh, ..config() };
    config.tcp.max_syn_retransmissions = 2;
    let mut client = Script::client(config);
    client.run(
        "+1 0 < . 1:1 ack 1 win 60000 add 3 10.3.0.2
         0 > . 1:1 ack 1 echo 3 10.3.0.2
         1 > S 0:1 join
         +20 1 < S. 0:1 ack 1 win 60000 mss 1024 sackok join
         1 > . 1:1 ack 1 join",
    );
    for _ in 0..2 {
        client.pass_until_output(5_000);
        client.run("1 > . 1:1 ack 1 join");
    }
    client.pass_until_output(5_000);
    client.run("1 > R. tcprst 0");
}

/// Why subflow 1 ended.
fn ended(script: &mut Script) -> Option<SubflowCloseReason> {
    script.events().iter().find_map(|event| match event {
        Event::SubflowClosed { id, reason } if id.0 == 1 => Some(*reason),
        _ => None,
    })
}

#[test]
fn an_answer_with_a_wrong_hmac_is_reset_and_told_why() {
    let mut client = opening();
    client.run(
        "+20 1 < S. 0:1 ack 1 win 60000 mss 1024 sackok badjoin
         1 > R. tcprst 1",
    );
    assert_eq!(ended(&mut client), Some(SubflowCloseReason::Aborted(ResetReason::Mptcp)));
}

#[test]
fn an_answer_without_mp_join_is_reset() {
    let mut client = opening();
    client.run("+20 1 < S. 0:1 ack 1 win 60000 mss 1024 sackok");
    let out = client.take_out();
    assert!(out.iter().any(|(id, s)| id.0 == 1 && s.flags.contains(ropewalk_wire::Flags::RST)), "{out:?}");
    assert!(ended(&mut client).is_some());
}

#[test]
fn a_further_subflow_goes_to_the_port_of_the_first() {
    let mut client = opening();
    let path = client.events().iter().find_map(|event| match event {
        Event::SubflowCreated { id, path } if id.0 == 1 => Some(*path),
        _ => None,
    });
    assert_eq!(path.expect("created").remote, address(0, 2, 5001));
}

#[test]
fn a_third_packet_is_repeated_more_than_once_until_something_answers_it() {
    let config = Config { path_manager: PathManager::FullMesh, ..config() };
    let mut client = Script::client(config);
    client.run(
        "+1 0 < . 1:1 ack 1 win 60000 add 3 10.3.0.2
         0 > . 1:1 ack 1 echo 3 10.3.0.2
         1 > S 0:1 join
         +20 1 < S. 0:1 ack 1 win 60000 mss 1024 sackok join
         1 > . 1:1 ack 1 join",
    );
    let mut waits = Vec::new();
    for _ in 0..3 {
        let before = client.now;
        client.pass_until_output(5_000);
        waits.push((client.now - before).as_millis());
        client.run("1 > . 1:1 ack 1 join");
    }
    assert!(waits[1] >= 2 * waits[0] - 1 && waits[2] >= 2 * waits[1] - 1, "ever more rarely: {waits:?}");
    client.run(
        "+1 1 < . 1:1 ack 1 win 60000 dack 0
         +60000 > nothing",
    );
}

/// RFC 8684 §3.3.3: the time for another subflow to come up is that since the last one, however often it is tried.
#[test]
fn joins_that_nobody_answers_do_not_keep_a_connection_whose_last_subflow_has_ended() {
    let config =
        Config { path_manager: PathManager::FullMesh, close_timeout: Duration::from_secs(10), ..config() };
    let mut client = Script::connect_over(config, two_paths());
    client.run(
        "0 > S 0:1 capable
         +20 0 < S. 0:1 ack 1 win 60000 mss 1024 sackok capable
         0 > . 1:1 ack 1 capable
         +1 0 < . 1:1 ack 1 win 60000 dack 0
         1 > S 0:1 join
         push 1000
         0 > . 1:1001 ack 1",
    );
    client.run("0 < R 1:1");
    for millisecond in 0..10_000 {
        assert!(!client.connection.is_closed(), "{millisecond} ms");
        let _ = client.take_out();
        client.run("+1");
    }
    assert!(client.events().contains(&Event::Failed(FailureReason::NoSubflowLeft)));
}

/// A place that a subflow in TIME-WAIT has is given to another one, and nothing is left of the first: whoever keeps its addresses
/// and ports is told so.
#[test]
fn a_subflow_in_time_wait_makes_room_for_another_one_and_is_gone_then() {
    let steps = vec![ScriptedStep { at: Duration::from_secs(1), path: 1, action: ScriptedAction::Close }];
    let limits = Limits { subflows: 2, ..Limits::default() };
    let path_manager = PathManager::Scripted { steps };
    let mut server = Script::server(Config { path_manager, limits, ..config() });
    server.join_at = Some(address(1, 2, 5001));
    server.join();
    server.run(
        "+1000 1 > F. 1:2 ack 1
         +20 1 < . 1:1 ack 2 win 60000 dack 0
         1 < F. 1:2 ack 2 win 60000 dack 0
         1 > . 2:2 ack 2",
    );
    let gone = |server: &mut Script| {
        let events = server.events().into_iter();
        events.filter(|event| matches!(event, Event::SubflowGone(_))).collect::<Vec<_>>()
    };
    assert_eq!(gone(&mut server), []);
    server.join();
    assert_eq!(gone(&mut server), [Event::SubflowGone(SubflowId(1))]);
}
