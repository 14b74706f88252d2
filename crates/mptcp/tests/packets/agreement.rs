//! What the handshake agreed on: checksums (RFC 8684 §3.3), and where no joins are taken (§3.1).

use crate::script::{Script, address, config};
use ropewalk_mptcp::{Config, Event, Path, PathManager};

/// A server whose peer asked for checksums.
pub(crate) fn with_checksums() -> Script {
    let mut server = Script::accept(config(), "S 0:1 win 60000 mss 1024 sackok capable sum");
    server.run(
        "0 > S. 0:1 ack 1 capable sum
         +20 0 < . 1:1 ack 1 win 60000 capable sum",
    );
    server
}

#[test]
fn a_checksum_covers_the_length_with_the_data_fin() {
    let mut server = with_checksums();
    server.run(
        "+1 0 < . 1:101 ack 1 win 60000 dack 0 map 0 1 101 fin sum
         0 > . 1:1 ack 101 dack 101
         read",
    );
    assert!(server.events().contains(&Event::PeerFinished));
    assert_eq!(server.connection.stats().checksum_failures, 0);
}

#[test]
fn a_data_fin_with_a_wrong_checksum_is_as_if_it_had_not_come() {
    let mut server = with_checksums();
    server.run("+1 0 < . 1:1 ack 1 win 60000 dack 0 map 0 0 1 fin badsum");
    let _ = server.take_out();
    assert!(!server.events().contains(&Event::PeerFinished));
    server.run(
        "+1 0 < . 1:1 ack 1 win 60000 dack 0 map 0 0 1 fin sum
         0 > . 1:1 ack 1 dack32 1",
    );
    assert!(server.events().contains(&Event::PeerFinished));
}

#[test]
fn a_mapping_without_the_checksum_that_was_agreed_on_ends_the_subflow() {
    let mut server = with_checksums();
    server.join();
    server.run(
        "+1 1 < . 1:101 ack 1 win 60000 dack 0 map 0 1 100
         1 > R. tcprst 1
         +1 0 < . 1:101 ack 1 win 60000 dack 0 map 0 1 100 sum
         0 > . 1:1 ack 101 dack 100",
    );
}

#[test]
fn a_mapping_with_a_checksum_that_was_not_agreed_on_ends_the_subflow() {
    let mut server = Script::server(config());
    server.join();
    server.run(
        "+1 1 < . 1:101 ack 1 win 60000 dack 0 map 0 1 100 sum
         1 > R. tcprst 1
         +1 0 < . 1:101 ack 1 win 60000 dack 0 map 0 1 100
         0 > . 1:1 ack 101 dack 100",
    );
}

#[test]
fn first_data_without_the_checksum_that_was_agreed_on_ends_the_subflow() {
    let mut server = Script::accept(config(), "S 0:1 win 60000 mss 1024 sackok capable sum");
    server.run(
        "0 > S. 0:1 ack 1 capable sum
         +20 0 < . 1:101 ack 1 win 60000 capable 100
         0 > R. tcprst 1",
    );
}

#[test]
fn a_host_that_takes_no_joins_where_it_was_found_says_so_and_refuses_them() {
    let config = Config { allow_join_initial_addr_port: false, ..config() };
    let mut server = Script::accept(config, "S 0:1 win 60000 mss 1024 sackok capable");
    server.run(
        "0 > S. 0:1 ack 1 capable c
         +20 0 < . 1:1 ack 1 win 60000 capable
         +1 1 < S 0:1 win 60000 mss 1024 sackok join",
    );
    assert!(server.refused());
}

/// Subflows that a client wants whose peer set C, or not; its other path leads to `remote`.
fn wanted(c: &str, remote: std::net::SocketAddr) -> usize {
    let first = Path { local: address(0, 1, 40_000), remote: address(0, 2, 5001) };
    let second = Path { local: address(1, 1, 0), remote };
    let config = Config { path_manager: PathManager::FullMesh, ..config() };
    let mut client = Script::connect_over(config, vec![first, second]);
    client.run(&format!(
        "0 > S 0:1 capable
         +20 0 < S. 0:1 ack 1 win 60000 mss 1024 sackok capable {c}
         0 > . 1:1 ack 1 capable
         +1 0 < . 1:1 ack 1 win 60000 dack 0"
    ));
    client.events().iter().filter(|event| matches!(event, Event::SubflowWanted(_))).count()
}

#[test]
fn no_subflow_goes_to_the_address_and_port_of_a_peer_that_takes_no_joins_there() {
    assert_eq!(wanted("", address(0, 2, 5001)), 1);
    assert_eq!(wanted("c", address(0, 2, 5001)), 0);
    assert_eq!(wanted("c", address(1, 2, 5001)), 1, "another address of the peer's");
}
