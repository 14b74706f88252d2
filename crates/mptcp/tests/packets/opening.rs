//! What an opener offers and for how long, and what it makes of the answers (RFC 8684 §3.1, §3.2, §3.7).

use crate::script::{PEER_KEY, Script, address, config};
use ropewalk_mptcp::{
    Accepting, Config, Connecting, Connection, Event, FallbackReason, Path, PathManager, Secret, SubflowId,
    TimerKind, Wanted,
};
use ropewalk_units::{Instant, Seq};
use ropewalk_wire::{Flags, MptcpOption, MptcpOptions, Segment};

fn first() -> Path {
    Path { local: address(0, 1, 40_000), remote: address(0, 2, 5001) }
}

fn fell_back(script: &mut Script) -> Option<FallbackReason> {
    script.events().into_iter().find_map(|event| match event {
        Event::FellBack(reason) => Some(reason),
        _ => None,
    })
}

/// SYNs that leave one after the other, and whether each has MP_CAPABLE.
fn syns(client: &mut Script, number: usize) -> Vec<bool> {
    let mut capable = Vec::new();
    while capable.len() < number {
        client.pass_until_output(100_000);
        capable.extend(client.take_out().iter().map(|(_, syn)| syn.options.mptcp.has_rare()));
    }
    capable
}

fn retrying(repeated: u32) -> Script {
    Script::connect(Config { syn_retrans_before_tcp_fallback: repeated, ..config() })
}

#[test]
fn so_many_syns_are_repeated_with_mp_capable_before_one_goes_without() {
    assert_eq!(syns(&mut retrying(0), 3), [true, false, false]);
    assert_eq!(syns(&mut retrying(1), 3), [true, true, false]);
    assert_eq!(syns(&mut retrying(2), 4), [true, true, true, false]);
    assert_eq!(syns(&mut retrying(128), 5), [true; 5]);
}

/// The last SYN did not offer it, so that the answer can be none to an offer that still holds.
#[test]
fn an_answer_to_a_syn_without_mp_capable_is_plain_tcp_whatever_it_says() {
    for option in ["", "capable"] {
        let mut client = retrying(0);
        assert_eq!(syns(&mut client, 2), [true, false]);
        client.run(&format!(
            "+20 0 < S. 0:1 ack 1 win 60000 mss 1024 sackok {option}
             0 > . 1:1 ack 1 nomptcp"
        ));
        assert_eq!(fell_back(&mut client), Some(FallbackReason::Blackhole), "{option}");
    }
}

#[test]
fn a_host_that_knows_of_a_black_hole_does_not_offer_multipath_tcp() {
    let connecting = Connecting { paths: vec![first()], iss: Seq::new(1), secret: Secret([7; 32]) };
    let mut client = Connection::connect(config(), connecting, Instant::ZERO);
    client.avoid_blackhole();
    let (_, syn) = client.poll_transmit(Instant::ZERO).expect("a SYN");
    assert!(syn.flags == Flags::SYN && syn.options.mptcp.is_empty(), "{syn:?}");
    let mut events = std::iter::from_fn(|| client.poll_event());
    assert!(events.any(|event| event == Event::FellBack(FallbackReason::NotOffered)));
}

/// RFC 8684 §3.1: the third packet repeats the key that this host has sent. One with another key is none of this connection's.
#[test]
fn a_third_packet_with_a_key_that_was_not_sent_is_plain_tcp() {
    let mut server = Script::accept(config(), "S 0:1 win 60000 mss 1024 sackok capable");
    server.run("0 > S. 0:1 ack 1 capable");
    let mut ack = server.segment(0, ". 1:1 ack 1 win 60000");
    ack.options.mptcp = MptcpOptions::default();
    ack.options.mptcp.push(MptcpOption::Capable {
        checksum_required: false,
        no_more_subflows: false,
        sender_key: Some(PEER_KEY),
        receiver_key: Some(PEER_KEY),
        data: None,
    });
    server.connection.handle_segment(server.now, SubflowId(0), &ack);
    server.run(
        "push 100
         0 > . 1:101 ack 1 nomptcp",
    );
    assert_eq!(fell_back(&mut server), Some(FallbackReason::HandshakeStripped));
}

/// A host that kept nothing of a SYN makes the connection of the third packet.
#[test]
fn a_connection_whose_syn_ack_has_left_before_goes_on_with_the_third_packet() {
    let path = Path { local: address(0, 2, 5001), remote: address(0, 1, 40_000) };
    let mut syn = Segment { flags: Flags::SYN, seq: Seq::new(7), window: 60_000, ..Segment::default() };
    syn.options.mptcp.push(MptcpOption::Capable {
        checksum_required: false,
        no_more_subflows: false,
        sender_key: None,
        receiver_key: None,
        data: None,
    });
    let accepting = |secret| Accepting { path, local_addresses: vec![path.local], iss: Seq::new(50), secret };
    let now = Instant::ZERO;
    let mut before = Connection::accept(config(), accepting(Secret([7; 32])), &syn, now);
    let (_, syn_ack) = before.poll_transmit(now).expect("a SYN/ACK");
    let key = syn_ack.options.mptcp.rare().iter().find_map(|option| match option {
        MptcpOption::Capable { sender_key, .. } => *sender_key,
        _ => None,
    });
    let mut server = Connection::accept_answered(config(), accepting(Secret([7; 32])), &syn, now);
    assert_eq!(server.poll_transmit(now).map(|(_, segment)| segment.flags), None, "it has left");
    let (seq, ack) = (Seq::new(8), Seq::new(51));
    let mut third = Segment { flags: Flags::ACK, seq, ack, window: 60_000, ..Segment::default() };
    third.options.mptcp.push(MptcpOption::Capable {
        checksum_required: false,
        no_more_subflows: false,
        sender_key: Some(PEER_KEY),
        receiver_key: key,
        data: None,
    });
    server.handle_segment(now, SubflowId(0), &third);
    let mut events = std::iter::from_fn(|| server.poll_event());
    assert!(events.any(|event| event == Event::Established));
    assert!(!server.is_fallen_back());
}

fn scale_of(config: Config) -> Option<u8> {
    let syn = Script::connect(config).take_out().remove(0).1;
    syn.options.window_scale
}

/// RFC 7323 §2.3.
#[test]
fn the_window_scale_is_the_least_that_expresses_the_receive_buffer() {
    let with = |receive_buffer, given| {
        let mut config = Config { receive_buffer, ..config() };
        config.tcp.window_scale = given;
        scale_of(config)
    };
    assert_eq!(with(10_000_000, None), Some(8));
    assert_eq!(with(65_535 << 3, None), Some(3));
    assert_eq!(with((65_535 << 3) + 1, None), Some(4));
    assert_eq!(with(10_000_000, Some(9)), Some(9), "a greater one is asked for");
    assert_eq!(with(65_535, None), None, "none is needed");
    assert_eq!(with(65_535, Some(0)), Some(0), "it is asked for");
}

/// A client whose second subflow waits for the fourth packet.
fn joining() -> Script {
    let mut client = Script::connect_over(
        Config { path_manager: PathManager::FullMesh, ..config() },
        vec![first(), Path { local: address(1, 1, 0), ..first() }],
    );
    client.run(
        "0 > S 0:1 capable
         +20 0 < S. 0:1 ack 1 win 60000 mss 1024 sackok capable
         0 > . 1:1 ack 1 capable
         +1 0 < . 1:1 ack 1 win 60000 dack 0
         1 > S 0:1 join",
    );
    client
}

#[test]
fn the_fourth_packet_of_a_join_has_a_data_ack() {
    let mut client = joining();
    client.run(
        "+20 1 < S. 0:1 ack 1 win 60000 mss 1024 sackok join
         1 > . 1:1 ack 1 join
         +20 1 < . 1:1 ack 1 win 60000",
    );
    let established = |client: &mut Script| {
        client.events().iter().any(|event| matches!(event, Event::SubflowEstablished(id) if id.0 == 1))
    };
    assert!(!established(&mut client));
    client.run("+20 1 < . 1:1 ack 1 win 60000 dack 0");
    assert!(established(&mut client));
}

/// RFC 9293 §3.5: both have sent a SYN. What stands in the field of the acknowledgement means nothing without ACK.
#[test]
fn a_syn_that_crosses_a_join_s_is_no_answer_to_it() {
    let mut client = joining();
    client.run(
        "+10 1 < S 0:1 ack 1 win 60000 mss 1024 sackok
         1 > S. 0:1 ack 1",
    );
}

/// The driver may be late with the port.
#[test]
fn a_subflow_that_was_wanted_is_not_opened_when_the_connection_is_over_or_plain() {
    let wanted = Wanted { path: Path { local: address(1, 1, 0), ..first() }, path_index: 1, backup: false };
    let opens = |client: &mut Script| {
        let from = Some((41_000, Seq::new(9)));
        client.connection.open_subflow(client.now, wanted, from).is_some()
    };
    assert!(opens(&mut Script::client(config())));
    let mut over = Script::client(config());
    over.run("abort");
    assert!(!opens(&mut over));
    let mut plain = Script::client(config());
    plain.run(
        "push 100
         0 > . 1:101 ack 1
         +20 0 < . 1:1 ack 101 win 60000",
    );
    assert!(plain.connection.is_fallen_back());
    assert!(!opens(&mut plain));
}

/// Before the client has proof that the server has both keys, nobody may join (RFC 8684 §3.1).
#[test]
fn a_client_takes_no_join_before_its_handshake_is_proven() {
    let mut client = Script::connect(config());
    client.run(
        "0 > S 0:1 capable
         +20 0 < S. 0:1 ack 1 win 60000 mss 1024 sackok capable
         0 > . 1:1 ack 1 capable
         +1 1 < S 0:1 win 60000 mss 1024 sackok join",
    );
    assert!(client.refused());
}

#[test]
fn a_server_that_has_fallen_back_later_takes_no_join_either() {
    let mut server = Script::server(config());
    server.run(
        "push 100
         0 > . 1:101 ack 1
         +20 0 < . 1:1 ack 101 win 60000
         +1 1 < S 0:1 win 60000 mss 1024 sackok join",
    );
    assert!(server.connection.is_fallen_back() && server.refused());
}

/// RFC 8684 §3.3.6: the timer is that of data, and none can be on its way.
#[test]
fn what_is_written_before_the_handshake_starts_no_timer_of_data() {
    let mut client = Script::connect(config());
    client.run(
        "0 > S 0:1 capable
         +100 push 1000",
    );
    for _ in 0..3 {
        assert!(!matches!(client.connection.poll_timeout(), Some((_, TimerKind::Data))));
        client.pass_until_output(10_000);
        let _ = client.take_out();
    }
}
