//! Resets of subflows: what MP_TCPRST says and what it does (RFC 8684 §3.6), and who carries on after a timeout.

use crate::script::{Script, address, config};
use ropewalk_mptcp::{Config, Event, Path, PathManager, ReinjectAfterTimeout};

/// A client whose second subflow has been refused with this option; how often it has tried after ten minutes.
fn attempts(option: &str) -> usize {
    let first = Path { local: address(0, 1, 40_000), remote: address(0, 2, 5001) };
    let second = Path { local: address(1, 1, 0), remote: address(1, 2, 5001) };
    let config = Config { path_manager: PathManager::FullMesh, ..config() };
    let mut client = Script::connect_over(config, vec![first, second]);
    client.run(&format!(
        "0 > S 0:1 capable
         +20 0 < S. 0:1 ack 1 win 60000 mss 1024 sackok capable
         0 > . 1:1 ack 1 capable
         +1 0 < . 1:1 ack 1 win 60000 dack 0
         1 > S 0:1 join
         +20 1 < R. 0:0 ack 1 {option}"
    ));
    for _ in 0..600 {
        let _ = client.take_out();
        client.run("+1000");
    }
    client.events().iter().filter(|event| matches!(event, Event::SubflowWanted(_))).count()
}

#[test]
fn a_path_is_tried_again_unless_the_peer_says_that_it_is_of_no_use() {
    assert_eq!(attempts("tcprst 3"), 1, "permanent");
    assert!(attempts("transient 2") > 1, "transient");
    assert!(attempts("") > 1, "no word about it");
}

#[test]
fn a_join_too_many_is_reset_for_want_of_resources_which_may_pass() {
    let mut config = config();
    config.limits.half_open_subflows = 1;
    let mut server = Script::server(config);
    server.run(
        "+1 1 < S 0:1 win 60000 mss 1024 sackok join
         1 > S. 0:1 ack 1 join
         +1 2 < S 0:1 win 60000 mss 1024 sackok join
         1 > R. transient 2
         2 > S. 0:1 ack 1 join",
    );
}

/// Octets that the first subflow is given after the second one's timeout.
fn reinjected(reinject_after_timeout: ReinjectAfterTimeout) -> u64 {
    let mut config = Config { reinject_after_timeout, ..config() };
    config.scheduler = ropewalk_mptcp::Scheduler::RoundRobin;
    let mut server = Script::server(config);
    server.join();
    server.run("push 12000");
    let out = server.take_out();
    let sent = out.iter().filter(|(id, _)| id.0 == 0).map(|(_, segment)| segment.payload.len).sum::<u32>();
    // All of the first subflow's is acknowledged there, and nothing of the second's.
    server.run(&format!("+20 0 < . 1:1 ack {} win 60000 dack 0", 1 + sent));
    while server.connection.stats().reinjected_bytes == 0 {
        let _ = server.take_out();
        server.run("+10");
    }
    server.connection.stats().reinjected_bytes
}

#[test]
fn after_a_timeout_the_oldest_octets_are_carried_by_another_subflow_or_all() {
    let head = reinjected(ReinjectAfterTimeout::Head);
    let all = reinjected(ReinjectAfterTimeout::All);
    assert!(head > 0 && 2 * head < all, "{head} and {all} octets");
}
