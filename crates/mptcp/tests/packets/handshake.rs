//! MP_CAPABLE (RFC 8684 §3.1), and MP_JOIN (§3.2).

use crate::script::{Script, config};
use ropewalk_mptcp::{Config, Event, FallbackReason};

fn fell_back(script: &mut Script) -> Option<FallbackReason> {
    let reason = |event: &Event| if let Event::FellBack(reason) = event { Some(*reason) } else { None };
    script.events().iter().find_map(reason)
}

#[test]
fn an_opener_without_data_sends_both_keys_on_the_third_packet() {
    let mut client = Script::connect(config());
    client.run(
        "0 > S 0:1 capable
         +20 0 < S. 0:1 ack 1 win 60000 mss 1024 sackok capable
         0 > . 1:1 ack 1 capable nodss",
    );
    assert_eq!(fell_back(&mut client), None);
}

#[test]
fn the_first_data_repeats_the_keys_and_maps_itself() {
    let mut client = Script::connect(config());
    client.run(
        "0 > S 0:1 capable
         +20 0 < S. 0:1 ack 1 win 60000 mss 1024 sackok capable
         0 > . 1:1 ack 1 capable
         push 100
         0 > . 1:101 ack 1 capable 100 nodss",
    );
}

#[test]
fn a_syn_ack_without_mp_capable_is_plain_tcp() {
    let mut client = Script::connect(config());
    client.run(
        "0 > S 0:1 capable
         +20 0 < S. 0:1 ack 1 win 60000 mss 1024 sackok
         0 > . 1:1 ack 1 nomptcp
         push 100
         0 > . 1:101 ack 1 nomptcp",
    );
    assert_eq!(fell_back(&mut client), Some(FallbackReason::NotCapable));
}

#[test]
fn a_syn_without_mp_capable_is_answered_without() {
    let mut server = Script::accept(config(), "S 0:1 win 60000 mss 1024 sackok");
    server.run(
        "0 > S. 0:1 ack 1 nomptcp
         +20 0 < . 1:1 ack 1 win 60000
         push 100
         0 > . 1:101 ack 1 nomptcp",
    );
    assert_eq!(fell_back(&mut server), Some(FallbackReason::NotCapable));
}

#[test]
fn a_third_packet_without_mp_capable_is_plain_tcp() {
    let mut server = Script::accept(config(), "S 0:1 win 60000 mss 1024 sackok capable");
    server.run(
        "0 > S. 0:1 ack 1 capable
         +20 0 < . 1:1 ack 1 win 60000
         push 100
         0 > . 1:101 ack 1 nomptcp",
    );
    assert_eq!(fell_back(&mut server), Some(FallbackReason::HandshakeStripped));
}

#[test]
fn checksums_are_used_if_only_the_answer_asks_for_them() {
    let mut client = Script::connect(config());
    client.run(
        "0 > S 0:1 capable
         +20 0 < S. 0:1 ack 1 win 60000 mss 1024 sackok capable sum
         0 > . 1:1 ack 1 capable sum
         push 100
         0 > . 1:101 ack 1 capable 100 sum
         +20 0 < . 1:1 ack 101 win 60000 dack 100
         push 50
         0 > . 101:151 ack 1 map 100 101 50 sum",
    );
}

#[test]
fn checksums_are_used_if_only_the_opener_asks_for_them() {
    let mut server = Script::accept(config(), "S 0:1 win 60000 mss 1024 sackok capable sum");
    server.run(
        "0 > S. 0:1 ack 1 capable sum
         +20 0 < . 1:1 ack 1 win 60000 capable sum
         push 50
         0 > . 1:51 ack 1 map 0 1 50 sum",
    );
}

#[test]
fn syns_without_an_answer_end_in_one_without_mp_capable() {
    let mut client = Script::connect(Config::linux());
    client.run("0 > S 0:1 capable");
    let mut plain = 0;
    for _ in 0..10 {
        client.run("+2000");
        plain += client.take_out().iter().filter(|(_, syn)| syn.options.mptcp.is_empty()).count();
    }
    assert!(plain > 0, "a path that drops SYNs with MP_CAPABLE keeps the connection from opening");
}

#[test]
fn a_join_is_open_after_its_third_packet_which_is_acknowledged_at_once() {
    let mut server = Script::server(config());
    server.join();
    assert!(server.events().iter().any(|event| matches!(event, Event::SubflowEstablished(id) if id.0 == 1)));
}

#[test]
fn a_third_packet_without_mp_join_is_reset_and_says_why() {
    let mut server = Script::server(config());
    server.run(
        "+1 1 < S 0:1 win 60000 mss 1024 sackok join
         1 > S. 0:1 ack 1 join
         +20 1 < . 1:1 ack 1 win 60000
         1 > R. tcprst 6",
    );
}

/// RFC 8684 §3.2: the fourth packet may be lost, and the opener sends no data before it has one.
#[test]
fn a_third_packet_that_comes_again_is_acknowledged_again() {
    let mut server = Script::server(config());
    server.join();
    for _ in 0..3 {
        server.run(
            "+200 1 < . 1:1 ack 1 win 60000 join
             1 > . 1:1 ack 1 dack32 0
             > nothing",
        );
    }
}

#[test]
fn a_join_with_another_token_is_refused() {
    let mut server = Script::server(config());
    server.run("+1 1 < S 0:1 win 60000 mss 1024 sackok badjoin");
    assert!(server.refused());
}

#[test]
fn a_third_packet_of_a_join_with_a_wrong_hmac_is_reset_and_says_why() {
    let mut server = Script::server(config());
    server.run(
        "+1 1 < S 0:1 win 60000 mss 1024 sackok join
         1 > S. 0:1 ack 1 join
         +20 1 < . 1:1 ack 1 win 60000 badjoin
         1 > R. tcprst 1",
    );
}

#[test]
fn a_client_takes_a_subflow_that_its_peer_opens() {
    let mut client = Script::client(config());
    client.join();
    assert!(client.events().iter().any(|event| matches!(event, Event::SubflowEstablished(id) if id.0 == 1)));
}

/// RFC 8684 §3.1: until the server has proven that it has both keys, ACKs repeat them. A DATA_FIN has no room beside them.
#[test]
fn a_data_fin_follows_the_keys_in_an_ack_of_its_own() {
    let mut client = Script::connect(config());
    client.run(
        "0 > S 0:1 capable
         finish
         +20 0 < S. 0:1 ack 1 win 60000 mss 1024 sackok capable
         0 > . 1:1 ack 1 capable
         0 > . 1:1 ack 1 fin
         > nothing",
    );
}
