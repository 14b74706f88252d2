//! What limits and endpoints of the kernel's path manager say (docs/models/mptcp.md), beside those that change.

use crate::endpoints::{NONE, SIGNAL, SUBFLOW, endpoint, host, opened, two_with, wait, with};
use crate::script::{Script, address};
use ropewalk_mptcp::{
    Config, EndpointFlags, Event, FallbackReason, KernelCommand, KernelEndpoint, KernelHost, KernelLimits,
};
use ropewalk_units::Duration;
use ropewalk_wire::{Join, MptcpOption};

fn limited(subflows: u8, endpoints: Vec<KernelEndpoint>) -> KernelHost {
    let limits = KernelLimits { subflows, add_addr_accepted: 8 };
    KernelHost { limits, ..host(endpoints, vec![]) }
}

/// The end that accepts looks at its limit when the third ACK comes, and the peer's subflows count.
#[test]
fn a_join_beyond_the_limit_of_subflows_is_reset_at_its_third_ack() {
    let mut server = Script::server(with(limited(1, vec![])));
    server.join();
    server.run(
        "+1 2 < S 0:1 win 60000 mss 1024 sackok join
         2 > S. 0:1 ack 1 join
         +20 2 < . 1:1 ack 1 win 60000 join
         2 > R. tcprst 3",
    );
    assert!(server.connection.subflows().nth(1).expect("there").is_usable());
}

/// B of the SYN/ACK that answers a join at this endpoint, and whether the subflow is a backup then.
fn backup_at(flags: EndpointFlags) -> (bool, bool) {
    let mut server = Script::server(with(host(vec![endpoint(1, 2, flags)], vec![])));
    let _ = server.take_out();
    server.join_at = Some(address(1, 2, 5001));
    server.run("+1 1 < S 0:1 win 60000 mss 1024 sackok join");
    let asks = |option: &MptcpOption| match option {
        MptcpOption::Join(Join::SynAck { backup, .. }) => Some(*backup),
        _ => None,
    };
    let told = server.take_out().iter().find_map(|(_, s)| s.options.mptcp.rare().iter().find_map(asks));
    let joined = server.connection.subflows().nth(1).expect("it has come in");
    (told.expect("a SYN/ACK"), joined.backup())
}

#[test]
fn a_backup_endpoint_of_a_server_says_so_in_its_syn_ack() {
    assert_eq!(backup_at(EndpointFlags { backup: true, ..SIGNAL }), (true, true));
    assert_eq!(backup_at(SIGNAL), (false, false));
}

#[test]
fn an_announced_address_is_joined_from_the_address_that_the_routes_pick() {
    let routed = [(6, 2), (5, 1)].map(|(to, from)| (address(to, 2, 0).ip(), address(from, 1, 0).ip()));
    let mut client = Script::client(with(KernelHost { routed: routed.to_vec(), ..host(vec![], vec![]) }));
    let _ = opened(&mut client);
    client.run("+1 0 < . 1:1 ack 1 win 60000 add 5 10.5.0.2");
    let _ = client.take_out();
    let path = opened(&mut client).pop().expect("opened");
    assert_eq!((path.local.ip(), path.remote.ip()), (address(1, 1, 0).ip(), address(5, 2, 0).ip()));
}

#[test]
fn the_next_address_is_announced_when_the_first_is_echoed_and_no_sooner() {
    let mut server = Script::server(with(host(vec![endpoint(1, 2, SIGNAL), endpoint(7, 2, SIGNAL)], vec![])));
    server.run(
        "0 > . 1:1 ack 1 add 1 10.1.0.2
         +1 0 < . 1:1 ack 1 win 60000 echo 9 10.9.0.2
         > nothing
         +1 0 < . 1:1 ack 1 win 60000 echo 1 10.1.0.2
         0 > . 1:1 ack 1 add 7 10.7.0.2",
    );
}

#[test]
fn the_next_address_is_announced_when_the_first_is_given_up() {
    let path_manager = with(host(vec![endpoint(1, 2, SIGNAL), endpoint(7, 2, SIGNAL)], vec![])).path_manager;
    let mut server = Script::server(Config {
        path_manager,
        add_addr_timeout: Duration::from_secs(1),
        ..crate::script::config()
    });
    for _ in 0..4 {
        server.pass_until_output(3000);
        server.run("0 > . 1:1 ack 1 add 1 10.1.0.2");
    }
    server.pass_until_output(3000);
    server.run("0 > . 1:1 ack 1 add 7 10.7.0.2");
}

#[test]
fn an_address_that_is_deleted_is_announced_no_more_and_others_are() {
    let deleted = vec![KernelCommand::Add(endpoint(8, 2, SIGNAL)), KernelCommand::Delete { id: 7 }];
    let mut server = Script::server(with(host(vec![endpoint(7, 2, SIGNAL)], deleted)));
    server.run("0 > . 1:1 ack 1 add 7 10.7.0.2");
    server.pass_until_output(300);
    server.run(
        "0 > . 1:1 ack 1 add 8 10.8.0.2
         0 > . 1:1 ack 1 remove 7",
    );
    server.pass_until_output(300);
    server.run("0 > . 1:1 ack 1 add 8 10.8.0.2");
}

/// RFC 8684 §3.4.1: an identifier means one address. 1 has been given to the server's second address.
#[test]
fn an_endpoint_whose_identifier_is_in_use_gets_another_one() {
    let added = KernelEndpoint { id: 1, ..endpoint(7, 2, SIGNAL) };
    let mut server = Script::server(with(host(vec![], vec![KernelCommand::Add(added)])));
    wait(&mut server);
    server.run("0 > . 1:1 ack 1 add 2 10.7.0.2");
}

/// … which had got one by itself, as an address that the host was found to have.
#[test]
fn an_address_that_becomes_an_endpoint_has_the_endpoint_s_identifier_until_it_goes() {
    let named = KernelEndpoint { id: 7, ..endpoint(1, 2, SIGNAL) };
    let commands = vec![
        KernelCommand::Add(named),
        KernelCommand::Add(endpoint(8, 2, SIGNAL)),
        KernelCommand::Delete { id: 7 },
    ];
    let mut server = Script::server(with(host(vec![], commands)));
    wait(&mut server);
    server.run(
        "0 > . 1:1 ack 1 add 7 10.1.0.2
         0 > . 1:1 ack 1 add 8 10.8.0.2
         0 > . 1:1 ack 1 remove 7",
    );
}

/// On a host without an endpoint to use, Linux does not know whose the first subflow's address is (docs/models/mptcp.md).
#[test]
fn an_endpoint_of_the_first_address_goes_silently_where_the_host_had_nothing_to_use() {
    let initial = |flags| KernelEndpoint { id: 9, ..endpoint(0, 1, flags) };
    let delete = vec![KernelCommand::Delete { id: 9 }];
    Script::client(with(host(vec![initial(NONE)], delete.clone()))).run("+1000 > nothing");
    let none = KernelLimits { subflows: 0, add_addr_accepted: 8 };
    let host = KernelHost { limits: none, ..host(vec![initial(SUBFLOW)], delete) };
    Script::client(with(host)).run("+1000 > nothing");
}

/// … but it knows whose a subflow is that goes to an announced address.
#[test]
fn an_endpoint_that_followed_an_announcement_goes_with_its_subflow() {
    let laminar = EndpointFlags { laminar: true, ..NONE };
    let mut client =
        Script::client(with(host(vec![endpoint(1, 1, laminar)], vec![KernelCommand::Delete { id: 1 }])));
    client.run(
        "+1 0 < . 1:1 ack 1 win 60000 add 5 10.5.0.2
         0 > . 1:1 ack 1 echo 5 10.5.0.2
         1 > S 0:1 join
         +20 1 < S. 0:1 ack 1 win 60000 mss 1024 sackok join
         1 > . 1:1 ack 1 join
         +20 1 < . 1:1 ack 1 win 60000 dack 0",
    );
    wait(&mut client);
    client.run(
        "0 > . 1:1 ack 1 remove 1
         1 > F. 1:2 ack 1",
    );
}

/// The first subflow does not count.
#[test]
fn the_first_address_leaves_no_room_for_another_endpoint() {
    let gone = KernelCommand::DeleteInitial { address: address(0, 1, 0).ip() };
    let mut host = host(vec![endpoint(1, 1, SUBFLOW), endpoint(2, 1, SUBFLOW)], vec![gone]);
    host.limits.subflows = 1;
    let mut client = two_with(with(host));
    wait(&mut client);
    client.run(
        "0 > F. 1:2 ack 1
         1 > . 1:1 ack 1 remove 0
         > nothing",
    );
}

/// RFC 8684 §3.7: one stream goes on alone, and nothing is joined to it.
#[test]
fn after_a_fallback_no_other_endpoint_takes_the_place_of_a_join() {
    let endpoints = vec![endpoint(1, 1, SUBFLOW), endpoint(2, 1, SUBFLOW)];
    let mut client = Script::client(with(limited(1, endpoints)));
    client.run(
        "1 > S 0:1 join
         push 100
         0 > . 1:101 ack 1
         +20 0 < . 1:1 ack 101 win 60000",
    );
    let events = client.events();
    assert!(events.contains(&Event::FellBack(FallbackReason::Stripped)), "{events:?}");
    let wanted = events.iter().filter(|event| matches!(event, Event::SubflowWanted(_)));
    assert_eq!(wanted.count(), 1, "before it");
}

/// Its endpoints were tried before its application had accepted the connection, and are not tried again.
#[test]
fn a_server_opens_nothing_when_there_is_occasion_to() {
    let endpoints = vec![endpoint(1, 2, SIGNAL), endpoint(3, 2, SUBFLOW)];
    let mut server = Script::server(with(host(endpoints, vec![])));
    server.run(
        "0 > . 1:1 ack 1 add 1 10.1.0.2
         +1 0 < . 1:1 ack 1 win 60000 echo 1 10.1.0.2
         > nothing",
    );
}
