use super::*;
use crate::plan::AddressFamily;
use crate::world::packet::Socket;
use ropewalk_mptcp::Refusal;
use ropewalk_sim::Streams;
use ropewalk_units::Seq;
use ropewalk_wire::{Flags, Join, MptcpOption};

/// The way from the server, which has address 1, to a client at address 0.
const PATH: EndPath = EndPath {
    local: Socket::new(AddressFamily::Ipv4, AddressIndex(1), 5001),
    remote: Socket::new(AddressFamily::Ipv4, AddressIndex(0), 35_001),
};

fn host() -> Interfaces {
    let addresses = AddressFamily::Ipv4.of_link(0).to_vec();
    let identity = Identity::new([1, 2]);
    let mut host = Interfaces::new(Arc::new(AddressBook::new(AddressFamily::Ipv4, addresses)), identity);
    host.add(AddressIndex(1), Port(0));
    host
}

/// A server before the first SYN.
fn listener(protocol: Protocol) -> StreamEndpoint {
    StreamEndpoint {
        dscp: 0,
        sink: Sink::default(),
        source: Source::None,
        transport: Transport::Listening,
        protocol: Arc::new(protocol),
        trace: None,
        paths: vec![PATH],
        start: Instant::ZERO,
        error: None,
        randomness: Streams::new(1).stream("connection/c/server"),
    }
}

fn multipath() -> Protocol {
    Protocol::Mptcp(Box::new(mptcp::Config::linux()))
}

/// A SYN, with MP_JOIN if `token` is given, else with MP_CAPABLE.
fn syn(token: Option<u32>) -> Segment {
    let mut syn = Segment { seq: Seq::new(7), flags: Flags::SYN, window: 60_000, ..Segment::default() };
    syn.options.mptcp.push(match token {
        Some(token) => MptcpOption::Join(Join::Syn { backup: false, address_id: 1, token, nonce: 5 }),
        None => MptcpOption::Capable {
            checksum_required: false,
            no_more_subflows: false,
            sender_key: None,
            receiver_key: None,
            data: None,
        },
    });
    syn
}

#[test]
fn a_join_is_refused_while_nothing_can_be_joined() {
    let mut server = listener(multipath());
    let answer = server.handle_segment(Instant::ZERO, (PATH, Port(0)), &syn(Some(1)), &mut host());
    let Err(Unexpected(why)) = answer else { panic!("taken") };
    assert_eq!(why, Some(Refusal::UNKNOWN));
    assert!(matches!(server.transport, Transport::Listening), "it listens on");
}

#[test]
fn tcp_does_not_know_what_a_join_is() {
    let config = Arc::new(tcp::Config::linux());
    let mut server = listener(Protocol::Tcp(config));
    assert!(server.handle_segment(Instant::ZERO, (PATH, Port(0)), &syn(Some(1)), &mut host()).is_ok());
    assert!(matches!(server.transport, Transport::Tcp(_)));
}

#[test]
fn a_second_syn_from_elsewhere_is_refused_with_a_reason_only_if_it_is_a_join() {
    let (mut server, mut host) = (listener(multipath()), host());
    assert!(server.handle_segment(Instant::ZERO, (PATH, Port(0)), &syn(None), &mut host).is_ok());
    let _ = match &mut server.transport {
        Transport::Mptcp(stream) => {
            let mut notes = Notes { error: &mut None, trace: &mut None };
            stream.process_events(Instant::ZERO, &mut notes, &host)
        }
        _ => panic!("no connection"),
    };
    let elsewhere = EndPath { remote: Socket::new(AddressFamily::Ipv4, AddressIndex(0), 40_000), ..PATH };
    let mut why =
        |syn: Segment| match server.handle_segment(Instant::ZERO, (elsewhere, Port(0)), &syn, &mut host) {
            Err(Unexpected(why)) => why,
            Ok(()) => panic!("taken"),
        };
    assert_eq!(why(syn(Some(1))), Some(Refusal::UNKNOWN));
    assert_eq!(why(syn(None)), None);
}

#[test]
fn one_4_tuple_after_the_other_has_a_later_number_and_each_connection_its_own_token() {
    let mut host = host();
    let mut opened = |seconds| {
        let now = Instant::ZERO + ropewalk_units::Duration::from_secs(seconds);
        let mut server = listener(multipath());
        assert!(server.handle_segment(now, (PATH, Port(0)), &syn(None), &mut host).is_ok());
        let mut answer = Segment::default();
        let Transport::Mptcp(stream) = &mut server.transport else { panic!("no connection") };
        assert!(stream.connection.transmit(now, &mut answer).is_some());
        let key = answer.options.mptcp.rare().iter().find_map(|option| match option {
            MptcpOption::Capable { sender_key, .. } => *sender_key,
            _ => None,
        });
        (answer.seq, key.expect("MP_CAPABLE"))
    };
    // Both endpoints draw from streams of one name, so that the second draws the first one's key.
    let ((first, one), (second, other)) = (opened(0), opened(1));
    assert_eq!(second.since(first), 250_000, "four microseconds a step");
    assert_ne!(mptcp::keys::token(one), mptcp::keys::token(other));
}
