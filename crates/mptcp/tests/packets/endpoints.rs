//! Endpoints and limits that `ip mptcp` changes while a connection lives. What Linux 6.18 sends then is in docs/models/mptcp.md.

use crate::script::{Script, address, config};
use ropewalk_mptcp::{
    Config, EndpointFlags, Event, KernelChange, KernelCommand, KernelEndpoint, KernelHost, KernelLimits,
    Path, PathManager, Scheduler, SubflowId,
};
use ropewalk_units::{Duration, Instant};
use ropewalk_wire::{Flags, Segment};

pub(crate) const NONE: EndpointFlags =
    EndpointFlags { subflow: false, signal: false, backup: false, fullmesh: false, laminar: false };
pub(crate) const SUBFLOW: EndpointFlags = EndpointFlags { subflow: true, ..NONE };
pub(crate) const SIGNAL: EndpointFlags = EndpointFlags { signal: true, ..NONE };

/// When the change happens, in milliseconds: after the handshakes of a script.
const LATER: u64 = 300;

/// The endpoint of a host's address on the network with this number, which is its identifier too.
pub(crate) fn endpoint(id: u8, host: u8, flags: EndpointFlags) -> KernelEndpoint {
    KernelEndpoint { id, address: address(id, host, 0).ip(), port: None, flags }
}

pub(crate) fn host(endpoints: Vec<KernelEndpoint>, commands: Vec<KernelCommand>) -> KernelHost {
    let at = Instant::ZERO + Duration::from_millis(LATER);
    let changes = commands.into_iter().map(|command| KernelChange { at, command }).collect();
    let limits = KernelLimits { subflows: 8, add_addr_accepted: 8 };
    KernelHost { limits, endpoints, changes, ..KernelHost::default() }
}

pub(crate) fn with(host: KernelHost) -> Config {
    let path_manager = PathManager::Kernel { client: host.clone(), server: host };
    Config { path_manager, ..config() }
}

/// Until the change happens.
pub(crate) fn wait(script: &mut Script) {
    let left = (Instant::ZERO + Duration::from_millis(LATER)).saturating_since(script.now);
    script.run(&format!("+{} > nothing", left.as_millis() - 1));
    script.pass_until_output(2);
}

/// A client with subflows from its first two addresses.
pub(crate) fn two(commands: Vec<KernelCommand>, flags: EndpointFlags) -> Script {
    two_with(with(host(vec![endpoint(1, 1, flags)], commands)))
}

pub(crate) fn two_with(config: Config) -> Script {
    let mut client = Script::client(config);
    client.run(
        "1 > S 0:1 join
         +20 1 < S. 0:1 ack 1 win 60000 mss 1024 sackok join
         1 > . 1:1 ack 1 join
         +20 1 < . 1:1 ack 1 win 60000 dack 0",
    );
    let _ = client.events();
    client
}

/// Where the subflows of a script were opened from and to since the last call.
pub(crate) fn opened(script: &mut Script) -> Vec<Path> {
    let path = |event: Event| match event {
        Event::SubflowCreated { path, .. } => Some(path),
        _ => None,
    };
    script.events().into_iter().filter_map(path).collect()
}

#[test]
fn an_added_endpoint_opens_its_subflow_at_once() {
    let mut client = Script::client(with(host(vec![], vec![KernelCommand::Add(endpoint(3, 1, SUBFLOW))])));
    wait(&mut client);
    client.run("1 > S 0:1 join");
    assert_eq!(opened(&mut client).last().map(|path| path.local.ip()), Some(address(3, 1, 0).ip()));
}

#[test]
fn an_endpoint_that_was_added_before_the_connection_was_there_from_its_start() {
    let mut host = host(vec![], vec![KernelCommand::Add(endpoint(3, 1, SUBFLOW))]);
    host.changes[0].at = Instant::ZERO;
    Script::client(with(host)).run("1 > S 0:1 join");
}

#[test]
fn an_added_address_is_announced_at_once_with_its_identifier() {
    let added = endpoint(7, 2, SIGNAL);
    let mut server = Script::server(with(host(vec![], vec![KernelCommand::Add(added)])));
    wait(&mut server);
    server.run("0 > . 1:1 ack 1 add 7 10.7.0.2");
}

#[test]
fn a_port_is_announced_and_takes_joins_once_it_is() {
    let door = KernelEndpoint { port: Some(6000), ..endpoint(7, 2, SIGNAL) };
    let mut server = Script::server(with(host(vec![], vec![KernelCommand::Add(door)])));
    let at = address(7, 2, 6000);
    assert!(!server.connection.listens_at(at));
    server.join_at = Some(at);
    server.run("+1 1 < S 0:1 win 60000 mss 1024 sackok join");
    assert!(server.refused());
    wait(&mut server);
    server.run("0 > . 1:1 ack 1 add 7 10.7.0.2:6000");
    assert!(server.connection.listens_at(at) && !server.connection.listens_at(address(7, 2, 6001)));
    server.join();
    let joined = server.connection.subflows().last().expect("there");
    assert!(joined.is_usable() && joined.path().local == at);
}

#[test]
fn a_port_that_this_connection_has_not_announced_is_prohibited() {
    let door = KernelEndpoint { port: Some(6000), ..endpoint(7, 2, SIGNAL) };
    // One announcement at a time: the second waits for the echo of the first.
    let mut server = Script::server(with(host(vec![endpoint(1, 2, SIGNAL), door], vec![])));
    server.run("0 > . 1:1 ack 1 add 1 10.1.0.2");
    server.join_at = Some(address(7, 2, 6000));
    assert!(server.connection.listens_at(address(7, 2, 6000)));
    server.run("+1 1 < S 0:1 win 60000 mss 1024 sackok join");
    assert!(server.refused());
}

#[test]
fn a_deleted_address_is_told_on_another_subflow_and_its_own_get_a_fin() {
    let mut client = two(vec![KernelCommand::Delete { id: 1 }], SUBFLOW);
    wait(&mut client);
    client.run(
        "0 > . 1:1 ack 1 remove 1
         1 > F. 1:2 ack 1",
    );
    // What it has not delivered goes another way.
    client.run("push 1000");
    assert!(client.take_out().iter().all(|(id, segment)| id.0 == 0 || segment.payload.len == 0));
}

#[test]
fn what_a_deleted_address_had_not_delivered_goes_another_way() {
    let mut config = with(host(vec![endpoint(1, 1, SUBFLOW)], vec![KernelCommand::Delete { id: 1 }]));
    config.scheduler = Scheduler::RoundRobin;
    let mut client = two_with(config);
    let left = (Instant::ZERO + Duration::from_millis(LATER)).saturating_since(client.now);
    client.run(&format!("+{}", left.as_millis() - 1));
    client.run("push 4000");
    let on_the_second = |out: &[(SubflowId, Segment)]| -> Vec<u64> {
        let data = out.iter().filter(|(id, segment)| id.0 == 1 && segment.payload.len > 0);
        data.map(|(_, segment)| segment.payload.offset).collect()
    };
    let sent = on_the_second(&client.take_out());
    assert!(!sent.is_empty());
    client.run("+1");
    let again = client.take_out();
    assert!(sent.iter().all(|offset| {
        again
            .iter()
            .any(|(id, segment)| id.0 == 0 && segment.payload.len > 0 && segment.payload.offset == *offset)
    }));
}

#[test]
fn a_deleted_announcement_is_withdrawn_though_no_subflow_uses_it() {
    let mut server =
        Script::server(with(host(vec![endpoint(7, 2, SIGNAL)], vec![KernelCommand::Delete { id: 7 }])));
    server.run(
        "0 > . 1:1 ack 1 add 7 10.7.0.2
         +20 0 < . 1:1 ack 1 win 60000 echo 7 10.7.0.2",
    );
    wait(&mut server);
    server.run("0 > . 1:1 ack 1 remove 7");
    assert!(!server.connection.listens_at(address(7, 2, 6000)));
}

#[test]
fn a_deleted_endpoint_that_was_never_used_is_not_told() {
    let deleted = vec![KernelCommand::Delete { id: 7 }];
    let mut client = Script::client(with(host(vec![endpoint(7, 1, NONE)], deleted)));
    client.run("+1000 > nothing");
}

#[test]
fn a_deleted_port_is_closed_with_its_subflows() {
    let door = KernelEndpoint { port: Some(6000), ..endpoint(7, 2, SIGNAL) };
    let mut server = Script::server(with(host(vec![door], vec![KernelCommand::Delete { id: 7 }])));
    server.run("0 > . 1:1 ack 1 add 7 10.7.0.2:6000");
    server.join_at = Some(address(7, 2, 6000));
    server.run("+1 0 < . 1:1 ack 1 win 60000 echo 7 10.7.0.2:6000");
    server.join();
    wait(&mut server);
    server.run(
        "0 > . 1:1 ack 1 remove 7
         1 > F. 1:2 ack 1",
    );
    assert!(!server.connection.listens_at(address(7, 2, 6000)));
}

#[test]
fn the_first_address_may_go_and_the_connection_goes_on() {
    let gone = KernelCommand::DeleteInitial { address: address(0, 1, 0).ip() };
    let mut client = two(vec![gone], SUBFLOW);
    wait(&mut client);
    client.run(
        "0 > F. 1:2 ack 1
         1 > . 1:1 ack 1 remove 0
         +20 0 < F. 1:2 ack 2 win 60000
         0 > . 2:2 ack 2
         push 1000
         1 > P. 1:1001 ack 1",
    );
    assert!(!client.connection.is_closed());
}

#[test]
fn the_first_address_of_others_is_no_concern() {
    let gone = KernelCommand::DeleteInitial { address: address(5, 1, 0).ip() };
    two(vec![gone], SUBFLOW).run("+1000 > nothing");
}

#[test]
fn a_backup_is_told_on_the_subflow_itself_and_taken_back_likewise() {
    let flags = |backup| KernelCommand::Change { id: 1, backup, fullmesh: false };
    let mut client = two(vec![flags(true)], SUBFLOW);
    wait(&mut client);
    client.run(
        "1 > . 1:1 ack 1 prio 1
         push 1000
         0 > P. 1:1001 ack 1",
    );
    let mut client = two(vec![flags(true), flags(false)], SUBFLOW);
    wait(&mut client);
    client.run(
        "1 > . 1:1 ack 1 prio 1
         1 > . 1:1 ack 1 prio 0",
    );
    // What is so already is not told.
    two(vec![flags(false)], SUBFLOW).run("+1000 > nothing");
}

#[test]
fn a_full_mesh_is_opened_anew_to_every_address_of_the_peer() {
    let mesh = KernelCommand::Change { id: 1, backup: false, fullmesh: true };
    let mut client = two(vec![mesh], SUBFLOW);
    // An announced address, used from the first one.
    client.run(
        "+1 0 < . 1:1 ack 1 win 60000 add 5 10.5.0.2
         0 > . 1:1 ack 1 echo 5 10.5.0.2
         2 > S 0:1 join
         +20 2 < S. 0:1 ack 1 win 60000 mss 1024 sackok join
         2 > . 1:1 ack 1 join
         +20 2 < . 1:1 ack 1 win 60000 dack 0",
    );
    let _ = opened(&mut client);
    wait(&mut client);
    client.run("1 > F. 1:2 ack 1");
    let syns = client.take_out();
    assert!(syns.len() == 2 && syns.iter().all(|(_, segment)| segment.flags == Flags::SYN), "{syns:?}");
    let paths: Vec<_> = opened(&mut client).iter().map(|path| (path.local.ip(), path.remote.ip())).collect();
    let from = address(1, 1, 0).ip();
    assert_eq!(paths, [(from, address(0, 2, 0).ip()), (from, address(5, 2, 0).ip())]);
}

#[test]
fn greater_limits_open_nothing_by_themselves() {
    let limits = KernelLimits { subflows: 8, add_addr_accepted: 8 };
    let mut host = host(vec![endpoint(1, 1, SUBFLOW)], vec![KernelCommand::SetLimits(limits)]);
    host.limits.subflows = 0;
    host.endpoints.push(endpoint(2, 1, SUBFLOW));
    let mut client = Script::client(with(host));
    client.run("+1000 > nothing");
}

#[test]
fn a_deleted_endpoint_makes_room_for_one_that_waited() {
    let mut host =
        host(vec![endpoint(1, 1, SUBFLOW), endpoint(2, 1, SUBFLOW)], vec![KernelCommand::Delete { id: 1 }]);
    host.limits.subflows = 1;
    let mut client = two_with(with(host));
    wait(&mut client);
    client.run(
        "0 > . 1:1 ack 1 remove 1
         1 > F. 1:2 ack 1
         2 > S 0:1 join",
    );
}

#[test]
fn the_room_of_a_removed_address_is_free_at_once() {
    let mut host = host(vec![], vec![]);
    host.limits = KernelLimits { subflows: 1, add_addr_accepted: 1 };
    let mut client = Script::client(with(host));
    client.run(
        "+1 0 < . 1:1 ack 1 win 60000 add 1 10.5.0.2
         0 > . 1:1 ack 1 echo 1 10.5.0.2
         1 > S 0:1 join
         +20 1 < S. 0:1 ack 1 win 60000 mss 1024 sackok join
         1 > . 1:1 ack 1 join
         +20 1 < . 1:1 ack 1 win 60000 dack 0
         +1 0 < . 1:1 ack 1 win 60000 remove 1
         1 > F. 1:2 ack 1
         +1 0 < . 1:1 ack 1 win 60000 add 2 10.6.0.2
         0 > . 1:1 ack 1 echo 2 10.6.0.2
         2 > S 0:1 join",
    );
}

#[test]
fn the_only_subflow_may_go_and_says_so_itself() {
    let gone = KernelCommand::DeleteInitial { address: address(0, 1, 0).ip() };
    let mut client = Script::client(with(host(vec![], vec![gone])));
    wait(&mut client);
    client.run(
        "0 > . 1:1 ack 1 remove 0
         0 > F. 1:2 ack 1",
    );
}

#[test]
fn the_first_address_opens_another_subflow_only_if_others_had_been_there() {
    let added = vec![KernelCommand::Add(KernelEndpoint { id: 9, ..endpoint(0, 1, SUBFLOW) })];
    let mut alone = Script::client(with(host(vec![], added.clone())));
    alone.run("+1000 > nothing");
    let mut client = two(added, SUBFLOW);
    wait(&mut client);
    client.run("2 > S 0:1 join");
    assert_eq!(opened(&mut client).last().map(|path| path.local.ip()), Some(address(0, 1, 0).ip()));
}

#[test]
fn a_deleted_endpoint_of_the_first_address_closes_the_first_subflow() {
    let mut host = host(vec![endpoint(1, 1, SUBFLOW)], vec![KernelCommand::Delete { id: 9 }]);
    host.endpoints.push(KernelEndpoint { id: 9, ..endpoint(0, 1, NONE) });
    let mut client = two_with(with(host));
    wait(&mut client);
    client.run(
        "0 > F. 1:2 ack 1
         1 > . 1:1 ack 1 remove 0",
    );
}

#[test]
fn a_subflow_at_another_port_of_the_first_address_outlives_that_port() {
    let door = KernelEndpoint { id: 4, port: Some(6000), ..endpoint(0, 2, SIGNAL) };
    let mut server = Script::server(with(host(vec![door], vec![KernelCommand::Delete { id: 4 }])));
    server.run(
        "0 > . 1:1 ack 1 add 4 10.0.0.2:6000
         +1 0 < . 1:1 ack 1 win 60000 echo 4 10.0.0.2:6000",
    );
    server.join_at = Some(address(0, 2, 6000));
    server.join();
    wait(&mut server);
    server.run(
        "0 > . 1:1 ack 1 remove 4
         > nothing",
    );
    assert!(!server.connection.listens_at(address(0, 2, 6000)));
}

#[test]
fn a_server_joins_at_the_client_s_first_address_from_an_endpoint_that_is_added() {
    let mut server = Script::server(with(host(vec![], vec![KernelCommand::Add(endpoint(3, 2, SUBFLOW))])));
    wait(&mut server);
    server.run("1 > S 0:1 join");
    let path = opened(&mut server).pop().expect("opened");
    assert_eq!((path.local.ip(), path.remote), (address(3, 2, 0).ip(), address(0, 1, 40_000)));
    // One that was there from the start was tried before the application had accepted the connection.
    Script::server(with(host(vec![endpoint(3, 2, SUBFLOW)], vec![]))).run("+1000 > nothing");
}

#[test]
fn limits_of_before_the_connection_hold_from_its_start() {
    let limits = KernelLimits { subflows: 1, add_addr_accepted: 1 };
    let mut host = host(vec![], vec![KernelCommand::SetLimits(limits)]);
    host.limits = KernelLimits { subflows: 0, add_addr_accepted: 0 };
    host.changes[0].at = Instant::ZERO;
    let mut client = Script::client(with(host));
    client.run(
        "+1 0 < . 1:1 ack 1 win 60000 add 1 10.5.0.2
         0 > . 1:1 ack 1 echo 1 10.5.0.2
         1 > S 0:1 join
         +1 0 < . 1:1 ack 1 win 60000 add 2 10.6.0.2
         0 > . 1:1 ack 1 echo 2 10.6.0.2
         > nothing",
    );
}
