//! How a connection ends when it does not end in order, and what its owner is told.

use crate::script::{Script, address, config};
use ropewalk_mptcp::{Config, Event, FailureReason, Path, PathManager};
use ropewalk_units::Duration;
use ropewalk_wire::Flags;

fn failure(script: &mut Script) -> Option<FailureReason> {
    script.events().into_iter().find_map(|event| match event {
        Event::Failed(reason) => Some(reason),
        _ => None,
    })
}

#[test]
fn a_connection_whose_first_syn_is_refused_was_refused() {
    let mut client = Script::connect(config());
    client.run(
        "0 > S 0:1 capable
         +20 0 < R. 0:0 ack 1",
    );
    assert_eq!(failure(&mut client), Some(FailureReason::Refused));
}

/// The connection had been established.
#[test]
fn a_connection_whose_last_join_is_refused_was_not() {
    let paths = [0, 1].map(|subnet| Path { local: address(subnet, 1, 40_000), remote: address(0, 2, 5001) });
    let config = Config { path_manager: PathManager::FullMesh, close_timeout: Duration::ZERO, ..config() };
    let mut client = Script::connect_over(config, paths.to_vec());
    client.run(
        "0 > S 0:1 capable
         +20 0 < S. 0:1 ack 1 win 60000 mss 1024 sackok capable
         0 > . 1:1 ack 1 capable
         +1 0 < . 1:1 ack 1 win 60000 dack 0
         1 > S 0:1 join
         0 < R 1:1
         1 < R. 0:0 ack 1",
    );
    assert_eq!(failure(&mut client), Some(FailureReason::NoSubflowLeft));
}

/// No other subflow can come up.
#[test]
fn a_reset_ends_a_connection_that_has_fallen_back_at_once() {
    let mut server = Script::server(config());
    server.run(
        "push 100
         0 > . 1:101 ack 1 map 0 1 100
         +20 0 < . 1:1 ack 101 win 60000
         0 < R 1:1",
    );
    assert_eq!(failure(&mut server), Some(FailureReason::PeerAborted));
}

/// As Linux's `tcp_fin_timeout`, however much else the peer says meanwhile.
#[test]
fn a_subflow_whose_fin_does_not_come_is_reset_when_its_time_is_over() {
    let mut server = Script::server(config());
    server.run("push 100 finish");
    let _ = server.take_out();
    server.run("+20 0 < . 1:1 ack 101 win 60000 dack 101 map 0 0 1 fin");
    let _ = server.take_out();
    for _ in 0..8 {
        server.run("0 < . 1:1 ack 102 win 60000 dack 101");
        let _ = server.take_out();
        server.run("+9000");
        if server.take_out().iter().any(|(_, segment)| segment.flags.contains(Flags::RST)) {
            return assert!(server.events().contains(&Event::Closed));
        }
    }
    panic!("it lives: {:?}", server.events());
}
