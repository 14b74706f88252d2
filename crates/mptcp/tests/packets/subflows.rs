//! What a host asks of subflows and hears of them.

use crate::script::{Script, address, config};
use ropewalk_mptcp::{
    Config, Event, Limits, Path, PathManager, ReinjectAfterTimeout, Scheduler, Secret, Subflow, SubflowId,
    keys,
};
use ropewalk_tcp::Blame;

/// Lines one by one; what leaves is not looked at.
fn hear(script: &mut Script, lines: &str) {
    for line in lines.lines() {
        script.run(line);
        let _ = script.take_out();
    }
}

fn subflow(script: &Script, id: u32) -> &Subflow {
    script.connection.subflow(SubflowId(id)).expect("it is there")
}

/// A client that joins over its second path, both established.
fn joined() -> Script {
    let paths = vec![
        Path { local: address(0, 1, 40_000), remote: address(0, 2, 5001) },
        Path { local: address(1, 1, 0), remote: address(0, 2, 5001) },
    ];
    let mut client = Script::connect_over(Config { path_manager: PathManager::FullMesh, ..config() }, paths);
    client.run(
        "0 > S 0:1 capable
         +20 0 < S. 0:1 ack 1 win 60000 mss 1024 sackok capable
         0 > . 1:1 ack 1 capable
         +1 0 < . 1:1 ack 1 win 60000 dack 0
         1 > S 0:1 join
         +20 1 < S. 0:1 ack 1 win 60000 mss 1024 sackok join
         1 > . 1:1 ack 1 join
         +20 1 < . 1:1 ack 1 win 60000 dack 0",
    );
    client
}

#[test]
fn a_subflow_tells_who_opened_it_and_how_far_it_has_come() {
    let client = joined();
    assert!(subflow(&client, 0).is_active() && subflow(&client, 1).is_active());
    let mut server = Script::server(config());
    hear(&mut server, "+1 1 < S 0:1 win 60000 mss 1024 sackok join");
    let state = |server: &Script| {
        let joined = subflow(server, 1);
        (joined.is_active(), joined.was_established(), joined.is_usable())
    };
    assert_eq!(state(&server), (false, false, false));
    hear(&mut server, "+20 1 < . 1:1 ack 1 win 60000 join");
    assert_eq!(state(&server), (false, true, true));
    hear(&mut server, "+20 1 < R 1:1");
    assert_eq!(state(&server), (false, true, false));
}

/// A driver chooses another secret if the token is in use (RFC 8684 §3.1), so it must be that of the key.
#[test]
fn a_secret_tells_the_token_of_the_key_that_is_drawn_from_it() {
    let server = Script::server_with(config(), Secret([9; 32]));
    let key = server.keys(0).own.expect("it was sent");
    assert_eq!(Secret([9; 32]).token(), keys::token(key));
}

/// It costs bounded memory, and learns what it must know of ports and four-tuples.
#[test]
fn a_driver_that_does_not_poll_events_misses_those_that_only_inform() {
    let limits = Limits { events: 0, ..Limits::default() };
    let mut server = Script::server(Config { limits, ..config() });
    server.join();
    hear(
        &mut server,
        "+1 1 < . 1:1 ack 1 win 60000 dack 0 prio 1
         +1 1 < R 1:1",
    );
    let events = server.events();
    let has = |wanted: fn(&Event) -> bool| events.iter().any(wanted);
    assert!(has(|event| matches!(event, Event::SubflowEstablished(SubflowId(1)))), "{events:?}");
    assert!(has(|event| matches!(event, Event::SubflowClosed { id: SubflowId(1), .. })), "{events:?}");
    assert!(!has(|event| matches!(event, Event::PriorityChanged { .. })), "{events:?}");
}

/// A full mesh tries again what failed, and this has not.
#[test]
fn a_subflow_that_the_peer_ends_with_a_fin_is_not_opened_again() {
    let mut client = joined();
    client.run(
        "+1 1 < F. 1:2 ack 1 win 60000 dack 0
         1 > F. 1:2 ack 2
         +20 1 < . 2:2 ack 2 win 60000 dack 0",
    );
    let _ = client.events();
    for _ in 0..600 {
        hear(&mut client, "+1000");
    }
    assert!(!client.events().iter().any(|event| matches!(event, Event::SubflowWanted(_))));
}

/// RFC 8684 §3.2: the third packet is the opener's.
#[test]
fn a_third_packet_to_the_one_who_opened_the_subflow_is_not_answered() {
    let mut client = joined();
    client.run("+1 1 < . 1:1 ack 1 win 60000 join\n > nothing");
}

/// RFC 8684 §3.1: only the client sends MP_CAPABLE with data.
#[test]
fn mp_capable_of_the_server_maps_nothing() {
    let mut client = Script::client(config());
    hear(&mut client, "+1 0 < . 1:101 ack 1 win 60000 capable 100");
    assert!(client.connection.is_fallen_back(), "data without a mapping");
}

/// RFC 7323 §2.2: unlike that of a SYN.
#[test]
fn the_window_of_the_third_packet_is_scaled() {
    let mut wide = config();
    wide.tcp.initial_window = 100;
    let mut server = Script::accept(wide, "S 0:1 win 500 mss 1024 sackok wscale 4 capable");
    server.run(
        "0 > S. 0:1 ack 1 capable
         +20 0 < . 1:1 ack 1 win 1000 capable
         push 100000",
    );
    let sent: u32 = server.take_out().iter().map(|(_, segment)| segment.payload.len).sum();
    assert_eq!(sent, 16_000);
}

#[test]
fn a_subflow_whose_place_another_one_has_is_unknown() {
    let limits = Limits { subflows: 2, ..Limits::default() };
    let mut server = Script::server(Config { limits, ..config() });
    server.join();
    hear(&mut server, "+1 1 < R 1:1");
    server.join();
    assert!(server.connection.subflow(SubflowId(1)).is_none());
    assert!(subflow(&server, 2).is_usable());
    // A late segment of it is nobody's.
    server.run("+1 1 < R 1:1\n > nothing");
    assert!(subflow(&server, 2).is_usable());
}

/// Subflow 1 carries again what timed out on the first one.
#[test]
fn what_a_healthy_subflow_carries_too_is_given_to_no_third_when_the_first_one_ends() {
    let config = Config { reinject_after_timeout: ReinjectAfterTimeout::Head, ..config() };
    let mut server = Script::server(config);
    hear(&mut server, "push 1000");
    server.join();
    while server.connection.stats().reinjected_bytes == 0 {
        hear(&mut server, "+10");
    }
    assert_eq!([0, 1].map(|id| subflow(&server, id).reinjected_bytes()), [0, 1000]);
    server.join();
    hear(&mut server, "+1 0 < R 1:1");
    assert_eq!(server.connection.stats().reinjected_bytes, 1000);
    assert_eq!(subflow(&server, 2).reinjected_bytes(), 0);
}

/// RFC 8684 §3.3.6: the wait for a DATA_ACK begins anew with each that advances.
#[test]
fn no_data_ack_is_asked_for_while_they_advance() {
    let mut server = Script::server(config());
    hear(&mut server, "push 10000");
    server.run("+20 0 < . 1:1 ack 10001 win 60000 dack 0\n > nothing");
    for acknowledged in 1..10 {
        server.run(&format!("+150 0 < . 1:1 ack 10001 win 60000 dack {acknowledged}000\n > nothing"));
    }
    server.pass_until_output(1000);
}

/// RFC 8684 §3.3.2: a DATA_FIN that is sent again says nothing about what its subflow has lost. Here ACKs are counted, for want of
/// SACK.
#[test]
fn an_ack_with_a_data_fin_is_no_duplicate_ack() {
    let mut server = Script::accept(config(), "S 0:1 win 60000 mss 1024 capable");
    server.run(
        "0 > S. 0:1 ack 1 capable
         +20 0 < . 1:1 ack 1 win 60000 capable",
    );
    hear(&mut server, "push 5000");
    for _ in 0..5 {
        server.run("+1 0 < . 1:1 ack 1 win 60000 dack 0 map 0 0 1 fin");
        assert!(server.take_out().iter().all(|(_, segment)| segment.payload.len == 0));
    }
    for _ in 0..3 {
        server.run("+1 0 < . 1:1 ack 1 win 60000 dack 0");
    }
    server.run("0 > . 1:1001 map 0 1 1000");
}

/// … but what it reports counts.
#[test]
fn sack_blocks_beside_an_option_count() {
    let mut server = Script::server(config());
    hear(&mut server, "push 5000");
    server.run(
        "+20 0 < . 1:1 ack 1 win 60000 dack 0 prio 1 sack 1001-5001
         0 > . 1:1001 map 0 1 1000",
    );
}

/// A server whose duplicate ACKs count for the subflow that blocks, with two subflows; `first` is said of the second one.
fn blaming(first: &str) -> Script {
    let mut config = Config { scheduler: Scheduler::RoundRobin, ..config() };
    config.tcp.quirks.duplicates_blame = Blame::Blocking;
    let mut server = Script::server(config);
    server.join();
    hear(&mut server, &format!("1 < . 1:1 ack 1 win 60000 dack 0 {first}\n push 4000"));
    server
}

fn recoveries(script: &Script) -> u64 {
    [0, 1].iter().map(|&id| subflow(script, id).tcp().stats().fast_recoveries).sum()
}

#[test]
fn nobody_is_blamed_for_acks_with_data_or_of_a_subflow_with_nothing_on_its_way() {
    let mut idle = blaming("prio 1");
    assert_eq!(subflow(&idle, 1).tcp().flight_size(), 0);
    let mut busy = blaming("");
    assert!(subflow(&busy, 1).tcp().flight_size() > 0);
    for at in 1..=4 {
        hear(&mut idle, "+1 1 < . 1:1 ack 1 win 60000 dack 0");
        hear(&mut busy, &format!("+1 1 < . {at}:{} ack 1 win 60000 dack 0 map {} {at} 1", at + 1, at - 1));
    }
    assert_eq!((recoveries(&idle), recoveries(&busy)), (0, 0));
    for _ in 0..3 {
        hear(&mut busy, "+1 1 < . 5:5 ack 1 win 60000 dack 0");
    }
    assert_eq!(recoveries(&busy), 1);
}

/// Nobody has polled what it was given: it is as busy as the other one.
#[test]
fn a_subflow_whose_segments_have_not_left_yet_is_not_idle() {
    let config = Config {
        scheduler: Scheduler::RoundRobin,
        reinject_after_timeout: ReinjectAfterTimeout::Idle,
        ..config()
    };
    let mut server = Script::server(config);
    server.join();
    server.connection.push(2000);
    assert!(server.connection.poll_transmit(server.now).is_some_and(|(id, _)| id.0 == 0));
    assert_eq!((subflow(&server, 1).tcp().flight_size(), subflow(&server, 1).tcp().unsent()), (0, 1000));
    for _ in 0..10 {
        let (due, _) = server.connection.poll_timeout().expect("it waits for a DATA_ACK");
        server.now = server.now.max(due);
        server.connection.handle_timeout(server.now);
    }
    assert_eq!(server.connection.stats().reinjected_bytes, 0);
}
