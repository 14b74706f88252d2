//! Which address, which path and which subflow an identifier or a step of a script means, and how many are kept.

use crate::script::{Script, address, config};
use ropewalk_mptcp::{
    Config, Event, Limits, Path, PathManager, ScriptedAction, ScriptedStep, Subflow, SubflowId,
};
use ropewalk_units::Duration;
use ropewalk_wire::{Flags, MptcpOption};
use std::net::SocketAddr;

/// These steps, so many milliseconds after the connection was established.
fn scripted(steps: &[(u64, u32, ScriptedAction)]) -> Config {
    let step = |&(at, path, action)| ScriptedStep { at: Duration::from_millis(at), path, action };
    let path_manager = PathManager::Scripted { steps: steps.iter().map(step).collect() };
    Config { path_manager, add_addr_timeout: Duration::from_secs(1), ..config() }
}

/// Subflows on which a FIN has left within half a second.
fn fins(script: &mut Script) -> Vec<u32> {
    script.run("+500");
    let out = script.take_out();
    let mut fins: Vec<u32> =
        out.iter().filter(|(_, s)| s.flags.contains(Flags::FIN)).map(|(id, _)| id.0).collect();
    fins.sort_unstable();
    fins.dedup();
    fins
}

#[test]
fn a_server_s_step_is_about_the_subflows_that_came_in_at_its_address() {
    let closed = |join_at: SocketAddr| {
        let mut server = Script::server(scripted(&[(200, 1, ScriptedAction::Close)]));
        server.join_at = Some(join_at);
        server.join();
        fins(&mut server)
    };
    assert_eq!(closed(address(1, 2, 5001)), [1]);
    assert_eq!(closed(address(0, 2, 5001)), [0; 0], "none came in at the second address");
}

/// RFC 8684 §3.4.2: the peer closes them. If it does not hear of it, this end does.
#[test]
fn the_subflows_of_a_withdrawn_address_are_left_to_the_peer_for_a_while() {
    let mut server = Script::server(scripted(&[(200, 1, ScriptedAction::Withdraw)]));
    server.join_at = Some(address(1, 2, 5001));
    server.join();
    server.pass_until_output(300);
    server.run(
        "0 > . 1:1 ack 1 remove 1
         +300 > nothing",
    );
    assert_eq!(fins(&mut server), [1]);
}

#[test]
fn an_address_that_is_withdrawn_is_announced_no_more() {
    let mut server =
        Script::server(scripted(&[(1, 1, ScriptedAction::Announce), (100, 1, ScriptedAction::Withdraw)]));
    server.run(
        "+1 0 > . 1:1 ack 1 add 1 10.1.0.2
         +99 0 > . 1:1 ack 1 remove 1
         +60000 > nothing",
    );
}

/// A FIN is on its way: there is nothing to ask for.
#[test]
fn a_subflow_that_this_end_has_closed_is_not_probed_when_its_address_goes() {
    let mut server = Script::server(scripted(&[(100, 0, ScriptedAction::Close)]));
    server.pass_until_output(200);
    server.run(
        "0 > F. 1:2 ack 1
         +1 0 < . 1:1 ack 1 win 60000 dack 0 remove 0
         > nothing",
    );
}

/// Until a SYN/ACK names the identifier, it is the one under which the peer has announced the address.
#[test]
fn a_join_to_another_address_than_the_removed_one_goes_on() {
    let paths = [0, 1].map(|subnet| Path { local: address(subnet, 1, 40_000), remote: address(0, 2, 5001) });
    let config = Config { path_manager: PathManager::FullMesh, ..config() };
    let mut client = Script::connect_over(config, paths.to_vec());
    client.run(
        "0 > S 0:1 capable
         +20 0 < S. 0:1 ack 1 win 60000 mss 1024 sackok capable
         0 > . 1:1 ack 1 capable
         +1 0 < . 1:1 ack 1 win 60000 add 3 10.3.0.2",
    );
    let _ = client.take_out();
    let mut remotes = Vec::new();
    let mut closed = Vec::new();
    client.run("+1 0 < . 1:1 ack 1 win 60000 dack 0 remove 3");
    for event in client.events() {
        match event {
            Event::SubflowCreated { id, path } => remotes.push((id, path.remote)),
            Event::SubflowClosed { id, .. } => closed.push(id),
            _ => {}
        }
    }
    let to = |remote| {
        let at = |(id, at): &(SubflowId, SocketAddr)| (*at == remote).then_some(*id);
        remotes.iter().filter_map(at).collect::<Vec<_>>()
    };
    assert_eq!(closed, to(address(3, 2, 5001)));
    assert_eq!((closed.len(), to(address(0, 2, 5001)).len()), (2, 2));
}

#[test]
fn so_many_addresses_of_the_peer_are_kept_and_no_more() {
    let limits = Limits { remote_addresses: 2, ..Limits::default() };
    let mut client = Script::client(Config { limits, ..config() });
    client.run(
        "+1 0 < . 1:1 ack 1 win 60000 add 3 10.3.0.2
         0 > . 1:1 ack 1 echo 3 10.3.0.2
         +1 0 < . 1:1 ack 1 win 60000 add 4 10.4.0.2
         0 > . 1:1 ack 1 echo 4 10.4.0.2
         +1 0 < . 1:1 ack 1 win 60000 add 5 10.5.0.2
         > nothing
         +1 0 < . 1:1 ack 1 win 60000 add 3 10.3.0.2
         0 > . 1:1 ack 1 echo 3 10.3.0.2",
    );
}

#[test]
fn so_many_echoes_wait_for_an_ack_and_no_more_and_each_only_once() {
    let limits = Limits { queued_options: 1, ..Limits::default() };
    let mut client = Script::client(Config { limits, ..config() });
    client.run(
        "+1 0 < . 1:1 ack 1 win 60000 add 3 10.3.0.2 add 4 10.4.0.2
         0 > . 1:1 ack 1 echo 3 10.3.0.2
         > nothing",
    );
    let mut client = Script::client(config());
    client.run(
        "+1 0 < . 1:1 ack 1 win 60000 add 3 10.3.0.2 add 3 10.3.0.2
         0 > . 1:1 ack 1 echo 3 10.3.0.2
         > nothing",
    );
}

/// A host with one of the path managers that know no ports takes joins at all of its own.
#[test]
fn without_endpoints_a_host_listens_for_joins_at_every_port() {
    for path_manager in [PathManager::FullMesh, PathManager::Scripted { steps: Vec::new() }] {
        let server = Script::server(Config { path_manager, ..config() });
        assert!(server.connection.listens_at(address(1, 2, 6000)));
    }
}

/// RFC 8684 §3.1: a host finds the connection that an MP_JOIN is for by the token of its key.
#[test]
fn a_connection_is_found_by_the_token_of_its_key() {
    let server = Script::server(config());
    let (own, _) = server.keys(0).outgoing().keys();
    assert_eq!(server.connection.token(), ropewalk_mptcp::keys::token(own));
}

#[test]
fn a_connection_says_whether_it_has_events() {
    let mut server = Script::server(config());
    assert!(!server.connection.has_events());
    let segment = server.segment(0, ". 1:1 ack 1 win 60000 add 3 10.3.0.2");
    server.connection.handle_segment(server.now, SubflowId(0), &segment);
    assert!(server.connection.has_events());
    while server.connection.poll_event().is_some() {}
    assert!(!server.connection.has_events());
}

#[test]
fn each_end_knows_who_opened_a_subflow() {
    let opened = |script: &Script| script.connection.subflows().map(Subflow::is_active).collect::<Vec<_>>();
    let mut client = Script::client(config());
    client.join();
    assert_eq!(opened(&client), [true, false]);
    assert_eq!(opened(&Script::server(config())), [false]);
}

/// RFC 8684 §3.4.1: the announcement itself is still repeated.
#[test]
fn an_echo_of_what_was_not_announced_means_nothing() {
    let mut server = Script::server(scripted(&[(1, 1, ScriptedAction::Announce)]));
    server.run(
        "+1 0 > . 1:1 ack 1 add 1 10.1.0.2
         +1 0 < . 1:1 ack 1 win 60000 echo 9 10.9.0.2
         > nothing",
    );
    server.pass_until_output(1000);
    let again = |option: &MptcpOption| matches!(option, MptcpOption::AddAddress(add) if add.hmac.is_some());
    assert!(server.take_out().iter().any(|(_, s)| s.options.mptcp.rare().iter().any(again)));
}
