//! ADD_ADDR, REMOVE_ADDR and MP_PRIO (RFC 8684 §3.3.8, §3.4).

use crate::script::{Script, config};
use ropewalk_mptcp::{Event, Scheduler};

#[test]
fn an_announcement_is_echoed_and_one_with_a_wrong_hmac_is_not() {
    let mut client = Script::client(config());
    client.run(
        "+1 0 < . 1:1 ack 1 win 60000 add 3 10.3.0.2
         0 > . 1:1 ack 1 echo 3 10.3.0.2
         +1 0 < . 1:1 ack 1 win 60000 badadd 4 10.4.0.2
         > nothing",
    );
    let announced = client.events().iter().filter(|e| matches!(e, Event::AddressAnnounced { .. })).count();
    assert_eq!(announced, 1);
}

#[test]
fn signals_are_no_duplicate_acks() {
    let mut server = Script::server(config());
    server.run("push 9000");
    let _ = server.take_out();
    let mut lines = String::from("+20 0 < . 1:1 ack 1001 win 60000 dack 1000\n");
    for _ in 0..6 {
        lines += "+1 0 < . 1:1 ack 1001 win 60000 prio 0\n";
        lines += "0 < . 1:1 ack 1001 win 60000 dack 1000\n";
    }
    for line in lines.lines() {
        server.run(line);
        let out = server.take_out();
        let again = out.iter().any(|(_, s)| s.payload.len > 0 && s.seq.since(server.ends[0].iss) == 1001);
        assert!(!again, "{line}: taken for a loss");
    }
    assert_eq!(server.connection.subflows().next().expect("there").tcp().stats().retransmissions, 0);
}

#[test]
fn mp_prio_moves_data_to_the_other_subflow() {
    let mut server = Script::server(ropewalk_mptcp::Config { scheduler: Scheduler::RoundRobin, ..config() });
    server.join();
    server.run("+1 0 < . 1:1 ack 1 win 60000 dack 0 prio 1");
    let _ = server.take_out();
    server.run("push 5000");
    let out = server.take_out();
    assert!(out.iter().all(|(id, segment)| id.0 == 1 || segment.payload.len == 0), "{out:?}");
    assert!(server.events().iter().any(|e| matches!(e, Event::PriorityChanged { backup: true, .. })));
}

#[test]
fn an_unknown_address_identifier_is_ignored() {
    let mut server = Script::server(config());
    server.join();
    server.run(
        "+1 0 < . 1:1 ack 1 win 60000 remove 77
         +5000 > nothing",
    );
    assert!(server.events().iter().all(|event| !matches!(event, Event::SubflowClosed { .. })));
}
